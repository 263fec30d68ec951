"""The law of an operator by which a reduction takes in one more value: associative, with a neutral element.

In: expressions of a state ``x`` and a value ``y``. Out: a Law, which ``associativity`` finds and a prover proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, Variable
from halide_core.ir.visitor import subexpressions, substitute

KNOWN_OPERATORS = frozenset(
    {
        BinaryOp.ADD, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX, BinaryOp.AND, BinaryOp.OR,
        BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR,
    }
)  # fmt: skip
"""Associative and commutative on integers of any width, which wrap, and on truth values."""


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """``combine`` is associative, and ``neutral``, as its second operand, changes nothing; where ``commutes``, the
    order of second operands doesn't matter either.

    ``combine`` has a value for each component, over the variables ``x`` and ``y``, one for each too.
    """

    x: tuple[Variable, ...]
    y: tuple[Variable, ...]
    combine: tuple[ExprNode, ...]
    neutral: tuple[ExprNode, ...]
    commutes: bool

    @property
    def exact(self) -> bool:
        """True where it speaks of no float: floats round, so that no law of theirs holds to the last bit."""
        return not any(e.type.is_float() for e in subexpressions(self.combine))

    @property
    def known(self) -> bool:
        """True where each component has an operator of the table, of floats as if none of them were rounded."""
        return all(_is_known(_unrounded(e), x, y) for e, x, y in zip(self.combine, self.x, self.y, strict=True))

    def applied(self, x: Sequence[ExprNode], y: Sequence[ExprNode]) -> tuple[ExprNode, ...]:
        """``combine`` of two values."""
        to: dict[ExprNode, ExprNode] = {**dict(zip(self.x, x, strict=True)), **dict(zip(self.y, y, strict=True))}
        return tuple([substitute(e, to) for e in self.combine])

    def told(self) -> str:
        """``combine`` as text."""
        shown = ", ".join(map(repr, self.combine))
        return shown if len(self.combine) == 1 else f"({shown})"


def _is_known(e: ExprNode, x: Variable, y: Variable) -> bool:
    return isinstance(e, Binary) and e.op in KNOWN_OPERATORS and {_unrounded(e.a), _unrounded(e.b)} == {x, y}


def _unrounded(e: ExprNode) -> ExprNode:
    """A float without casts to other floats."""
    while isinstance(e, Cast) and e.type.is_float() and e.a.type.is_float():
        e = e.a
    return e
