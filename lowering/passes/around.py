"""Constant ranges of coordinates in a vectorized loop, by what stands around it.

In: the loops around, the checks and lets before. Out: constants between which an int64 expression is. They are looked
for where an index is no ramp, and nowhere else: most loops have none.

    assert f.min.1 + f.extent.1 - 1 <= 2^30;  for y in (f.min.1, f.extent.1): vectorized x   ->   y + 5 is an int32
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from halide_core.analysis.interval import Range, of_integers
from halide_core.analysis.linear import Linear, linear_of
from halide_core.ir import Assert, Binary, BinaryOp, Block, ExprNode, For, Let, Load, Stmt, Variable
from halide_core.ir.visitor import Rewriter, has
from halide_core.lowering.passes.variable_ranges import CoordinateRanges


class Around:
    """The statements around a place, the outermost first."""

    def __init__(self, outside: Around | None = None, last: Stmt | None = None) -> None:
        self._outside, self._last = outside, last
        self._ranges: CoordinateRanges | None = None

    def inside(self, s: Stmt) -> Around:
        """The place in a loop, or behind a check or a let."""
        return Around(self, s)

    def definition(self, var: Variable) -> tuple[Around, ExprNode] | None:
        """The value of a let's variable, and where that stands; None of others."""
        at: Around | None = self
        while at is not None and not (isinstance(at._last, Let) and at._last.var is var):
            at = at._outside
        if at is None or at._outside is None:
            return None
        assert isinstance(at._last, Let)
        return at._outside, at._last.value

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
    return has(e, Load)


class AroundRewriter(Rewriter):
    """Rewrites statements, and knows of each what stands around it. Expressions are memoised for one place."""

    def __init__(self) -> None:
        super().__init__()
        self._around = Around()

    @contextmanager
    def _in(self, *around: Stmt) -> Iterator[None]:
        """Statements around what is rewritten, or before it in its scope."""
        outside = self._around, self._memo
        for s in around:
            self._enter(s)
        yield
        self._around, self._memo = outside

    def _enter(self, s: Stmt) -> None:
        """Goes on in a loop, or behind a check or a let, where there is more to know of expressions."""
        self._around, self._memo = self._around.inside(s), {}

    def rewrite_Block(self, s: Block) -> Stmt:
        """The statements, each with what those before it tell of coordinates."""
        with self._in():
            found: list[Stmt] = []
            for each in s.stmts:
                found.append(self.stmt(each))
                if isinstance(each, Assert | Let):
                    self._enter(each)
        return s if all(a is b for a, b in zip(found, s.stmts, strict=True)) else Block(tuple(found))
