"""Constant ranges of coordinates in a vectorized loop, by what stands around it.

In: the loops around, the checks and lets before. Out: constants between which an int64 expression is. They are looked
for where an index is no ramp, and nowhere else: most loops have none.

    assert f.min.1 + f.extent.1 - 1 <= 2^30;  for y in (f.min.1, f.extent.1): vectorized x   ->   y + 5 is an int32
"""

from __future__ import annotations

from halide_core.analysis.interval import Range, of_integers
from halide_core.analysis.linear import Linear, linear_of
from halide_core.ir import Assert, Binary, BinaryOp, ExprNode, For, Let, Load, Stmt
from halide_core.ir.visitor import subexpressions
from halide_core.lowering.passes.variable_ranges import CoordinateRanges


class Around:
    """The statements around a place, the outermost first."""

    def __init__(self, outside: Around | None = None, last: Stmt | None = None) -> None:
        self._outside, self._last = outside, last
        self._ranges: CoordinateRanges | None = None

    def inside(self, s: Stmt) -> Around:
        """The place in a loop, or behind a check or a let."""
        return Around(self, s)

    def range(self, e: ExprNode) -> Range:
        """Constants between which an expression is. Coordinates are looked at together: what is known of their sum says
        nothing of one with a number from memory in it."""
        known, form = self._known(), linear_of(e)
        low, high = known.of(form)
        apart = {atom: c for atom, c in form.terms.items() if reads_memory(atom)}
        if not apart:
            return (low, high)
        together = {atom: c for atom, c in form.terms.items() if atom not in apart}
        least, most = known.of(Linear(together, form.const))
        for atom, c in apart.items():
            ends = [c * end for end in self._range_of_one(atom)]
            least, most = least + min(ends), most + max(ends)
        return (max(low, least), min(high, most))

    def _range_of_one(self, atom: ExprNode) -> Range:
        match atom:
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                return of_integers(op, self.range(a), self.range(b))
        return self._known().of(Linear({atom: 1}, 0))

    def _known(self) -> CoordinateRanges:
        """Everything that is known here. What is outside of a loop is kept, for its other loops."""
        places: list[Around] = []
        at: Around | None = self
        while at is not None and at._ranges is None:
            places.append(at)
            at = at._outside
        found = CoordinateRanges() if at is None or at._ranges is None else at._ranges.inside()
        for place in reversed(places):
            match place._last:
                case Assert(condition=condition):
                    found.learn(condition)
                case Let() as let:
                    found.define(let)
                case For() as loop:
                    assert place._outside is not None, "there is something around a loop"
                    place._outside._ranges, found = found, found.inside()
                    found.enter(loop)
        self._ranges = found
        return found


def reads_memory(e: ExprNode) -> bool:
    """True where a part of an expression is loaded: it is no coordinate."""
    return any(isinstance(part, Load) for part in subexpressions([e]))
