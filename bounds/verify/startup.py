"""Claims about start-up arithmetic: what start-up checks compute is what they say.

In: the statements before the body, in their order. Out: claims that their arithmetic stays in int64.

    assert z <= limit/(x*y)   ->   x*y stays in int64, by the checks that multiply less

What windows that are refused would make of the arithmetic is never used, nor is what stands in a case that is not
taken: it may wrap. But a check refuses only what it computes rightly: what it rests on stays in int64 because of other
checks, and never because of itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.bounds.query.path_conditions import Guards, guards
from halide_core.bounds.verify.arithmetic import fits_int64, overflowing
from halide_core.bounds.verify.memory import Reads
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text, nothing
from halide_core.ir import ExprNode, Stmt, Variable
from halide_core.ir.logic import all_of
from halide_core.ir.visitor import factors, free_variables, stmt_exprs, subexpressions

_Guarded = tuple[ExprNode, Guards]
"""An expression, and where it counts."""


class StartupArithmetic:
    """Collects what is computed at start-up, and then makes the claims."""

    def __init__(self, ranges: ConstantRanges) -> None:
        self._ranges = ranges
        self._risky: dict[_Guarded, None] = {}
        """Expressions that constants do not keep in int64."""
        self._made_of: dict[Variable, dict[_Guarded, None]] = {}
        """Of that, what the value of each variable rests on."""
        self._checks: list[tuple[ir.Assert, dict[_Guarded, None]]] = []
        """The checks, with what each rests on."""

    def meet(self, stmt: Stmt, reads: Reads) -> None:
        """One statement of the start-up."""
        needed = self._resting_on(_that_count(stmt), reads)
        self._risky |= needed
        match stmt:
            case ir.Let(var=var):
                self._made_of[var] = needed
            case ir.Assert():
                self._checks.append((stmt, needed))

    def _resting_on(self, exprs: Iterable[ExprNode], reads: Reads) -> dict[_Guarded, None]:
        read = [reads.expr(e) for e in exprs]
        made_of = [each for whole in read for v in free_variables(whole) for each in self._made_of.get(v, ())]
        guarded = guards(read)
        return dict.fromkeys([*made_of, *((e, guarded[e]) for e in overflowing(read, self._ranges))])

    def claims(self, context: Context) -> Iterator[Claim]:
        """The claims, given the context after all checks. All have passed, so that those may come first of which the
        least is to be shown."""
        if not self._risky:
            return
        at = nothing()
        for node in context.below(None):
            if node.variable is not None:
                at = at.defines(node.variable, node.fact)
            elif node.check is None:
                at = at.holds(node.fact)
        claimed: set[_Guarded] = set()
        for check, needed in sorted(self._checks, key=lambda each: max(map(_most_factors, each[1]), default=0)):
            yield from _stays(needed, claimed, at)
            at = at.checked(check)
        yield from _stays(self._risky, claimed, at)


def _that_count(stmt: Stmt) -> Sequence[ExprNode]:
    """The expressions of a statement without those of a message, which is about windows that are refused."""
    return (stmt.condition,) if isinstance(stmt, ir.Assert) else tuple(stmt_exprs(stmt))


def _stays(exprs: Mapping[_Guarded, None], claimed: set[_Guarded], context: Context) -> Iterator[Claim]:
    for e, where in exprs:
        everywhere = (e, ()) in claimed or (where and (e, ()) in exprs)
        if not everywhere and (e, where) not in claimed:
            claimed.add((e, where))
            text: Text = ("start-up arithmetic stays in int64: ", e, *((" where ", all_of(where)) if where else ()))
            here = context.holds(*where)
            yield Claim(ClaimKind.INT64, "", text, here, fits_int64([e], here))


def _most_factors(guarded: _Guarded) -> int:
    """Of the products in an expression, how many factors the longest has."""
    return max(sum(1 for _ in factors(part)) for part in subexpressions([guarded[0]]))
