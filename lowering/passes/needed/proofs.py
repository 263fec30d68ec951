"""Proofs of what trimmed loops rest on, by what did not find the limits.

In: a path, and a conclusion. Out: whether it was proven in each state that reaches the end of the path.

    o.min <= x, x < o.min + n, x < 100   =>   x <= min(o.min + n - 1, 99)
"""

from __future__ import annotations

from halide_core.bounds.query.query import Define, ForAll, Path, Where
from halide_core.bounds.verify.by_cases import CaseProver
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, nothing
from halide_core.ir import ExprNode
from halide_core.ir.logic import within

_SHARE = 8
"""Of the work that slides are worth, by so much less is looked for a proof: most are found at once, or never."""


class PathProver:
    """Proves conclusions at paths of one tree."""

    def __init__(self) -> None:
        self._quick, self._thorough = CaseProver(searches=False, share=_SHARE), CaseProver(share=_SHARE)
        self._contexts: dict[Path, Context] = {}

    def proves(self, path: Path, conclusion: ExprNode, *, searches: bool) -> bool:
        """True where it was proven. ``searches``: with more work, where less does not do."""
        prover = self._thorough if searches else self._quick
        return prover.proves(Claim(ClaimKind.COVERAGE, "", (), self._context(path), conclusion))

    def _context(self, path: Path) -> Context:
        known = self._contexts.get(path)
        if known is None:
            known = self._contexts[path] = self._below(path)
        return known

    def _below(self, path: Path) -> Context:
        if path.parent is None:
            return nothing()
        context = self._context(path.parent)
        match path.binder:
            case ForAll(var=var, bounds=bounds):
                return context.ranges(var, bounds)
            case Define(var=var, value=value, within=kept):
                context = context.defines(var, value)
                return context if kept is None else context.holds(within(var, kept))
            case Where(condition=condition):
                return context.holds(condition)
        return context
