"""Index expressions for property tests: a small evaluator that shares nothing with the compiler's, and random ones.

    value(x + 1, {x: 3})   ->   4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Not, Select, Variable
from halide_core.ir.types import BOOL, INT64, Type

Environment = Mapping[Any, int]


def _div(a: int, b: int) -> int:
    """The quotient whose remainder is not negative; by zero it is zero."""
    return 0 if b == 0 else (a - a % abs(b)) // b


def _mod(a: int, b: int) -> int:
    return 0 if b == 0 else a % abs(b)


_OPERATORS: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUB: lambda a, b: a - b,
    BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.DIV: _div,
    BinaryOp.MOD: _mod,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
    BinaryOp.EQ: lambda a, b: int(a == b),
    BinaryOp.NE: lambda a, b: int(a != b),
    BinaryOp.LT: lambda a, b: int(a < b),
    BinaryOp.LE: lambda a, b: int(a <= b),
    BinaryOp.AND: lambda a, b: a & b,
    BinaryOp.OR: lambda a, b: a | b,
}


def _wrapped(type: Type, value: int) -> int:
    low, high = type.range
    return low + (value - low) % (high - low + 1)


def value(e: ExprNode, leaves: Environment) -> int:
    """The value of an integer or truth expression; everything stays far from the ends of int64.

    Raises: LookupError for a leaf without a value.
    """
    return _value(e, leaves, {})


def _value(e: ExprNode, leaves: Environment, memo: dict[ExprNode, int]) -> int:
    known = memo.get(e)
    if known is None:
        known = memo[e] = _compute(e, leaves, memo)
        assert abs(known) < 1 << 62
    return known


def _compute(e: ExprNode, leaves: Environment, memo: dict[ExprNode, int]) -> int:
    if e in leaves:
        return leaves[e]
    match e:
        case IntImm(value=number):
            return int(number)
        case Binary(op=op, a=a, b=b):
            return _OPERATORS[op](_value(a, leaves, memo), _value(b, leaves, memo))
        case Not(a=a):
            return 1 - _value(a, leaves, memo)
        case Select(condition=condition, a=a, b=b):
            return _value(a if _value(condition, leaves, memo) else b, leaves, memo)
        case Cast(a=a, type=type):
            return _wrapped(type, _value(a, leaves, memo))
    raise LookupError(f"no value for {e}")


def variables(*names: str) -> tuple[Variable, ...]:
    """Index variables."""
    return tuple(map(ir.index_variable, names))


def _arithmetic(parts: st.SearchStrategy[ExprNode]) -> st.SearchStrategy[ExprNode]:
    sums = st.sampled_from([BinaryOp.ADD, BinaryOp.SUB, BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MIN, BinaryOp.MAX])
    scale = st.integers(-4, 5).map(ir.i64)
    divisor = st.sampled_from([1, 2, 3, 4, 8, -2, -3, 0]).map(ir.i64)
    return st.one_of(
        st.builds(lambda op, a, b: Binary(INT64, op, a, b), sums, parts, parts),
        st.builds(ir.mul, parts, scale),
        st.builds(ir.div, parts, divisor),
        st.builds(ir.mod, parts, divisor),
        st.builds(lambda op, a, b: Binary(INT64, op, a, b), st.sampled_from(_ANY), parts, parts),
        st.builds(lambda c, a, b: Select(INT64, c, a, b), conditions(parts), parts, parts),
        st.builds(lambda a, low, high: ir.maximum(ir.minimum(a, high), low), parts, scale, parts),
    )


_ANY = [BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD]
_TESTS = [BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE]


def conditions(parts: st.SearchStrategy[ExprNode]) -> st.SearchStrategy[ExprNode]:
    """Comparisons of ``parts``, and what logic makes of them."""
    comparison = st.builds(lambda op, a, b: Binary(BOOL, op, a, b), st.sampled_from(_TESTS), parts, parts)
    pair = st.builds(
        lambda op, a, b: Binary(BOOL, op, a, b), st.sampled_from([BinaryOp.AND, BinaryOp.OR]), comparison, comparison
    )
    return st.one_of(comparison, comparison, pair, comparison.map(lambda c: Not(BOOL, c)))


def expressions(leaves: tuple[ExprNode, ...], most: int = 8) -> st.SearchStrategy[ExprNode]:
    """Expressions of at most ``most`` leaves."""
    leaf = st.one_of(st.sampled_from(leaves), st.sampled_from(leaves), st.integers(-20, 20).map(ir.i64))
    return st.recursive(leaf, _arithmetic, max_leaves=most)


def linear_expressions(leaves: tuple[ExprNode, ...]) -> st.SearchStrategy[ExprNode]:
    """Sums of products with constants."""
    term = st.builds(lambda v, c: ir.mul(v, ir.i64(c)), st.sampled_from(leaves), st.integers(-4, 4))
    return st.builds(
        _total, st.lists(term, min_size=1, max_size=4), st.integers(-20, 20).map(ir.i64)
    )


def _total(terms: list[ExprNode], constant: ExprNode) -> ExprNode:
    for t in terms:
        constant = ir.add(constant, t)
    return constant
