"""The shapes of questions to isl: what is left of expressions where atoms have numbers for names.

In: quasi-affine expressions, and the numbers of their atoms. Out: equal numbers for those that isl can't tell apart, as
the dimensions of one boundary condition.

    (x - a) mod n with x, a, n = 0, 1, 2   and   (y - b) mod m with y, b, m = 0, 1, 2   ->   one shape
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core.bounds.engines.quasi_affine import operands
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm

QuestionShape = tuple[object, ...]


class Shapes:
    """Numbers for shapes, the same for all questions of a query."""

    def __init__(self) -> None:
        self._numbers: dict[QuestionShape, int] = {}

    def number(self, shape: QuestionShape) -> int:
        """The number of a shape."""
        return self._numbers.setdefault(shape, len(self._numbers))

    def of(self, e: ExprNode | None, atoms: Mapping[ExprNode, int], known: dict[ExprNode, int]) -> int:
        """The number of an expression's shape. ``known``: those of the same atoms' other expressions."""
        if e is None:
            return -1
        found = known.get(e)
        if found is None:
            inner = operands(e)
            shape: QuestionShape
            if inner is None:
                shape = ("atom", atoms[e], e.type)
            elif isinstance(e, IntImm):
                shape = (e.value, e.type)
            else:
                by = e.b if isinstance(e, Binary) and e.op in (BinaryOp.DIV, BinaryOp.MOD) else None
                shape = (
                    type(e),
                    e.op if isinstance(e, Binary) else None,
                    by,
                    *(self.of(a, atoms, known) for a in inner),
                )
            found = known[e] = self.number(shape)
        return found
