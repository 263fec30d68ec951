"""Facts along paths: what one engine knows at each place of a query.

In: a path. Out: the Facts there, which see those of the paths above. Each engine has its own, so that a query can be
answered any number of times, and no answer depends on another engine's.

    facts = PathFacts();  facts.at(top).assume_at_least(n, ONE);  facts.at(top.then(binder)).proves_le(ZERO, n)
"""

from __future__ import annotations

from collections.abc import Iterator

from halide_core.analysis.prover import Facts
from halide_core.bounds.query.query import Path
from halide_core.ir import ExprNode


class PathFacts:
    """The facts of paths, made when first asked for."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at: dict[Path, Facts] = {}

    def at(self, path: Path) -> Facts:
        """The facts where a path ends."""
        known = self._at.get(path)
        if known is None:
            missing = [path]
            while (above := missing[-1].parent) is not None and above not in self._at:
                missing.append(above)
            known = None if above is None else self._at[above]
            for each in reversed(missing):
                known = self._at[each] = Facts(known)
            assert known is not None, "a path is below itself"
        return known

    def said(self) -> Iterator[tuple[Path, tuple[ExprNode, ExprNode]]]:
        """Every fact, with the path that it is said of: a pair of which the second is not below the first."""
        for path, facts in self._at.items():
            for each in facts.said():
                yield path, each
