"""Integers and truth values of z3 whose operators cost little more than making the term.

In: names, numbers, and one another. Out: z3's own objects, of classes that say what they are. z3's operators in Python
ask each operand for its sort and cast it, which takes ten times as long as all the rest; terms of claims are of two
sorts only, and each has a class here. What is built is the same.

    integer("x", context) + 1 <= integer("y", context)    ->    x + 1 <= y
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import z3

from halide_core.ir import BinaryOp

_PAIR = z3.Ast * 2
_INT64 = range(-(1 << 63), 1 << 63)
_Formula = TypeVar("_Formula", "Truth", "Number")


class _Known:
    """A term whose class says its sort: z3 is not asked for it."""

    def __init__(self, ast: Any, context: Any) -> None:
        self.ast = ast
        self.ctx = context
        z3.Z3_inc_ref(context.ctx, ast)


class Truth(_Known, z3.BoolRef):  # type: ignore[misc]  # z3 has no type hints
    """A z3 truth value."""

    __hash__ = z3.BoolRef.__hash__

    def __eq__(self, other: Truth) -> Truth:  # type: ignore[override]
        context = self.ctx
        return Truth(z3.Z3_mk_eq(context.ctx, self.ast, other.ast), context)

    def __ne__(self, other: Truth) -> Truth:  # type: ignore[override]
        context = self.ctx
        return Truth(z3.Z3_mk_distinct(context.ctx, 2, _PAIR(self.ast, other.ast)), context)


class Number(_Known, z3.ArithRef):  # type: ignore[misc]
    """A z3 integer."""

    __hash__ = z3.ArithRef.__hash__

    def _like(self, other: Number | int) -> Any:
        """Another operand, as z3 knows it."""
        if isinstance(other, int):
            return literal(other, self.ctx).ast
        return other.ast

    def _many(self, make: Callable[..., Any], other: Number | int) -> Number:
        context, pair = self.ctx, _PAIR(self.ast, self._like(other))
        return Number(make(context.ctx, 2, pair), context)

    def _two(self, make: Callable[..., Any], other: Number | int) -> Number:
        context = self.ctx
        return Number(make(context.ctx, self.ast, self._like(other)), context)

    def _truth(self, make: Callable[..., Any], other: Number | int) -> Truth:
        context = self.ctx
        return Truth(make(context.ctx, self.ast, self._like(other)), context)

    def __add__(self, other: Number | int) -> Number:
        return self._many(z3.Z3_mk_add, other)

    def __sub__(self, other: Number | int) -> Number:
        return self._many(z3.Z3_mk_sub, other)

    def __mul__(self, other: Number | int) -> Number:
        return self._many(z3.Z3_mk_mul, other)

    def __rmul__(self, other: int) -> Number:
        return literal(other, self.ctx) * self

    def __truediv__(self, other: Number | int) -> Number:
        return self._two(z3.Z3_mk_div, other)

    def __mod__(self, other: Number | int) -> Number:
        return self._two(z3.Z3_mk_mod, other)

    def __neg__(self) -> Number:
        context = self.ctx
        return Number(z3.Z3_mk_unary_minus(context.ctx, self.ast), context)

    def __lt__(self, other: Number | int) -> Truth:
        return self._truth(z3.Z3_mk_lt, other)

    def __le__(self, other: Number | int) -> Truth:
        return self._truth(z3.Z3_mk_le, other)

    def __gt__(self, other: Number | int) -> Truth:
        return self._truth(z3.Z3_mk_gt, other)

    def __ge__(self, other: Number | int) -> Truth:
        return self._truth(z3.Z3_mk_ge, other)

    def __eq__(self, other: Number | int) -> Truth:  # type: ignore[override]
        return self._truth(z3.Z3_mk_eq, other)

    def __ne__(self, other: Number | int) -> Truth:  # type: ignore[override]
        context, pair = self.ctx, _PAIR(self.ast, self._like(other))
        return Truth(z3.Z3_mk_distinct(context.ctx, 2, pair), context)


# ---------------------------------------------------------------------------------------------------------
# Unknowns and literals.


def integer(name: str, context: Any) -> Number:
    """An unknown integer."""
    return Number(z3.Int(name, context).ast, context)


def boolean(name: str, context: Any) -> Truth:
    """An unknown truth value."""
    return Truth(z3.Bool(name, context).ast, context)


def literal(value: int, context: Any) -> Number:
    """A known integer, of any size."""
    sort = z3.Z3_mk_int_sort(context.ctx)
    if value in _INT64:
        return Number(z3.Z3_mk_int64(context.ctx, value, sort), context)
    return Number(z3.Z3_mk_numeral(context.ctx, str(value), sort), context)


def literal_truth(value: bool, context: Any) -> Truth:
    """A known truth value."""
    return Truth((z3.Z3_mk_true if value else z3.Z3_mk_false)(context.ctx), context)


# ---------------------------------------------------------------------------------------------------------
# Logic.


def both(*parts: Truth) -> Truth:
    """All of some truth values, one at least."""
    context = parts[0].ctx
    return Truth(z3.Z3_mk_and(context.ctx, len(parts), (z3.Ast * len(parts))(*(p.ast for p in parts))), context)


def either(*parts: Truth) -> Truth:
    """One of some truth values, of which there is one at least."""
    context = parts[0].ctx
    return Truth(z3.Z3_mk_or(context.ctx, len(parts), (z3.Ast * len(parts))(*(p.ast for p in parts))), context)


def opposite(a: Truth) -> Truth:
    """That a truth value is false."""
    return Truth(z3.Z3_mk_not(a.ctx.ctx, a.ast), a.ctx)


def implies(a: Truth, b: Truth) -> Truth:
    """That one truth value has another one follow."""
    return Truth(z3.Z3_mk_implies(a.ctx.ctx, a.ast, b.ast), a.ctx)


def choice(condition: Truth, a: _Formula, b: _Formula) -> _Formula:
    """One of two, by a condition."""
    context = condition.ctx
    return type(a)(z3.Z3_mk_ite(context.ctx, condition.ast, a.ast, b.ast), context)


def as_number(a: Truth) -> Number:
    """1 for what is true, 0 for what is false."""
    return choice(a, literal(1, a.ctx), literal(0, a.ctx))


def logical(op: BinaryOp, a: Truth, b: Truth) -> Truth | None:
    """An operator on truth values; None where it has no meaning there."""
    match op:
        case BinaryOp.AND | BinaryOp.BIT_AND | BinaryOp.MIN | BinaryOp.MUL:
            return both(a, b)
        case BinaryOp.OR | BinaryOp.BIT_OR | BinaryOp.MAX:
            return either(a, b)
        case BinaryOp.EQ:
            return a == b
        case BinaryOp.NE | BinaryOp.BIT_XOR:
            return a != b
        case BinaryOp.LT:
            return both(opposite(a), b)
        case BinaryOp.LE:
            return either(opposite(a), b)
    return None
