"""The functions that an expression can call: choices and mathematics.

In: operands and numbers. Out: Exprs. Names are Halide's, so several shadow Python's own on purpose.

    select(x < 0, 0, x > 9, 9, x)   ->   select(x < 0, 0, select(9 < x, 9, x))
    sqrt(u8)                        ->   sqrt(float32(u8))
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, overload

from halide_core import ir
from halide_core.errors import DefinitionError, HalideWarning, TypeMismatchError, warn_user
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import BOOL, Float, Type, UInt
from halide_core.lang.expr import Expr, ExprLike, arithmetic, as_node, is_plain, matched, power, promoted
from halide_core.lang.tuple import Tuple, TupleLike, is_several, several

_FLOAT32, _FLOAT64 = Float(32), Float(64)


# ---------------------------------------------------------------------------------------------------------
# Choices.


def _in_one_type(values: Sequence[ExprLike]) -> list[ir.ExprNode]:
    """The values in their common type; Python numbers take the type of the others."""
    typed = [as_node(v).type for v in values if not is_plain(v)]
    if not typed:
        typed = [as_node(v).type for v in values]
    elif typed[0].is_integer():
        wrong = next((v for v in values if isinstance(v, float) and is_plain(v)), None)
        if wrong is not None:
            raise TypeMismatchError(f"{wrong!r} is not a value of {typed[0]}, the type of the other values.")
    common = reduce(promoted, typed)
    anchor = Expr.of(ir.const(0, common))
    return [matched(v, anchor)[0] for v in values]


@overload
def select(*args: ExprLike) -> Expr: ...


@overload
def select(*args: ExprLike | TupleLike) -> Any: ...


def select(*args: ExprLike | TupleLike) -> Any:
    """``select(c, a, b)``: ``a`` where ``c`` holds, else ``b``; ``select(c1, v1, c2, v2, …, otherwise)``: the first
    value whose condition holds. All values are evaluated. They are of one type, which Python numbers take.

    The values may be Tuples of one size: then the result is a Tuple, and a condition one for all components or a Tuple
    of one for each.

    Raises:
        TypeMismatchError: a condition that is no bool, values of two types, or Tuples of two sizes.
    """
    if len(args) < 3 or len(args) % 2 == 0:
        raise DefinitionError(
            f"select() takes a condition, a value, more such pairs, and a last value: "
            f"an odd number of at least 3 arguments, not {len(args)}."
        )
    given = args[1::2] + args[-1:]
    if any(map(is_several, args)):
        if len({is_several(c) for c in args[:-1:2]}) > 1:
            raise TypeMismatchError("select() on Tuples may not mix Expr and Tuple for the condition elements.")
        size = _one_size("select", given)
        spread = [several(a) if is_several(a) else (a,) * size for a in args[:-1:2]]
        conditions = [_of_size("select", c, size) for c in spread]
        values = [several(v) for v in given]
        chosen = [_select([c[k] for c in conditions], [v[k] for v in values]) for k in range(size)]
        return Tuple(chosen)
    return _select(args[:-1:2], given)


def _select(conditions: Sequence[Any], given: Sequence[Any]) -> Expr:
    _check_one_type("select", given)
    values = _in_one_type(given)
    result = values[-1]
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        test = as_node(condition)
        if not test.type.is_bool():
            raise TypeMismatchError(f"A condition of select() must be a bool, not {test.type}: write a comparison.")
        result = ir.Select(value.type, test, value, result)
    return Expr.of(result)


def _one_size(name: str, values: Sequence[object]) -> int:
    size = len(several(values[0]))
    for value in values:
        _of_size(name, several(value), size)
    return size


def _of_size(name: str, value: tuple[object, ...], size: int) -> tuple[object, ...]:
    if len(value) != size:
        raise TypeMismatchError(
            f"{name}() on Tuples requires all Tuples to have identical sizes, not {size} and {len(value)} values."
        )
    return value


def _check_one_type(name: str, values: Sequence[ExprLike]) -> None:
    """Raises TypeMismatchError for values of two types. Constants don't count: they take the others' type."""
    types = [node.type for node in map(as_node, values) if not isinstance(node, ir.IntImm | ir.FloatImm)]
    different = next((t for t in types if t is not types[0]), None)
    if different is not None:
        raise TypeMismatchError(
            f"{name}() needs values of one type, not {types[0]} and {different}. Convert one of them with hl.cast(…)."
        )


@overload
def mux(index: ExprLike, values: Sequence[ExprLike]) -> Expr: ...


@overload
def mux(index: ExprLike, values: Sequence[ExprLike | TupleLike]) -> Any: ...


def mux(index: ExprLike, values: Sequence[ExprLike | TupleLike]) -> Any:
    """``values[index]``; the last value for any index that has none. The values, a list or a Tuple, must be of one
    type, or Tuples of one size, whose components are."""
    listed = values if isinstance(values, list | tuple) or not is_several(values) else several(values)
    if not isinstance(listed, list | tuple) or not listed:
        raise DefinitionError("mux() needs a list of at least one value.")
    if any(map(is_several, listed)):
        size = _one_size("mux", listed)
        return Tuple([_mux(index, [several(v)[k] for v in listed]) for k in range(size)])
    return _mux(index, listed)


def _mux(index: ExprLike, values: Sequence[Any]) -> Expr:
    types = [as_node(v).type for v in values if not is_plain(v)]
    different = next((t for t in types if t is not types[0]), None)
    if different is not None:
        raise TypeMismatchError(f"mux() needs values of one type, not {types[0]} and {different}.")
    nodes = _in_one_type(values)
    result = nodes[-1]
    for i in reversed(range(len(nodes) - 1)):
        result = ir.Select(result.type, arithmetic(BinaryOp.EQ, index, i)._node(), nodes[i], result)
    return Expr.of(result)


def _extreme(op: BinaryOp, args: Sequence[ExprLike]) -> Expr:
    if len(args) < 2:
        raise DefinitionError(f"{op.value}() needs at least 2 arguments, not {len(args)}.")
    nodes = [as_node(a) for a in args]
    result = nodes[-1]
    for node in reversed(nodes[:-1]):
        common = promoted(node.type, result.type)
        result = ir.binary(op, ir.cast(common, node), ir.cast(common, result))
    return Expr.of(result)


def min(*args: ExprLike) -> Expr:
    """The least of two or more values. As in Halide a Python int counts as int32, a float as float32."""
    return _extreme(BinaryOp.MIN, args)


def max(*args: ExprLike) -> Expr:
    """The greatest of two or more values. As in Halide a Python int counts as int32, a float as float32."""
    return _extreme(BinaryOp.MAX, args)


def clamp(value: ExprLike, low: ExprLike, high: ExprLike) -> Expr:
    """``value`` moved into [low, high], in its own type; bounds are of that type, or constants of it."""
    node = as_node(value)
    least, most = (bound_in(b, node.type) for b in (low, high))
    return Expr.of(ir.maximum(ir.minimum(node, most), least))


def bound_in(bound: ExprLike, type: Type) -> ir.ExprNode:
    """A bound in the value's type, where no value of it is changed by that."""
    node = as_node(bound)
    if isinstance(node, ir.IntImm) and type.can_represent(node.value):
        return ir.const(node.value, type)
    if isinstance(bound, float) and is_plain(bound) and type.is_float():
        return ir.const(bound, type)
    if isinstance(node, ir.FloatImm) and node.value.is_integer() and type.can_represent(int(node.value)):
        return ir.const(int(node.value), type)
    if type.can_represent(node.type):
        return ir.cast(type, node)
    raise TypeMismatchError(
        f"clamp() of {type} has the bound {node!r} of {node.type}. Convert it, or the value, first."
    )


def likely(value: ExprLike) -> Expr:
    """The value itself. A hint to Halide's loop partitioning, which finds steady states by proof here."""
    return Expr(value)


def likely_if_innermost(value: ExprLike) -> Expr:
    """The value itself; see ``likely``."""
    return Expr(value)


def logical_not(value: ExprLike) -> Expr:
    """``~value`` of a truth value."""
    return Expr(value).logical_not()


# ---------------------------------------------------------------------------------------------------------
# Mathematics.


def abs(value: ExprLike) -> Expr:
    """The absolute value; of a signed integer it is unsigned, so that it always fits."""
    node = as_node(value)
    if node.type.is_uint():
        warn_user(f"abs() of the unsigned type {node.type} does nothing.", HalideWarning)
        return Expr.of(node)
    type = UInt(node.type.bits()) if node.type.is_int() else node.type
    return Expr.of(ir.Call(type, Intrinsic.ABS, (node,)))


def absd(a: ExprLike, b: ExprLike) -> Expr:
    """The absolute difference; of integers it is unsigned, so that it always fits."""
    x, y = matched(Expr(a), Expr(b))
    if x.type.is_float():
        return abs(Expr.of(ir.sub(x, y)))
    if x.type.is_bool():
        return Expr.of(ir.binary(BinaryOp.NE, x, y))
    type = UInt(x.type.bits())
    p, q = ir.cast(type, x), ir.cast(type, y)
    return Expr.of(ir.Select(type, ir.less(x, y), ir.sub(q, p), ir.sub(p, q)))


def _as_float(value: ExprLike) -> ir.ExprNode:
    node = as_node(value)
    return node if node.type.is_float() and not node.type.is_bfloat() else ir.cast(_FLOAT32, node)


def _call(function: Intrinsic, value: ExprLike) -> Expr:
    node = _as_float(value)
    return Expr.of(ir.Call(node.type, function, (node,)))


def sqrt(value: ExprLike) -> Expr:
    """The square root. An integer becomes float32 first, as in all functions below."""
    return _call(Intrinsic.SQRT, value)


def exp(value: ExprLike) -> Expr:
    """The exponential function."""
    return _call(Intrinsic.EXP, value)


def log(value: ExprLike) -> Expr:
    """The natural logarithm."""
    return _call(Intrinsic.LOG, value)


def sin(value: ExprLike) -> Expr:
    """The sine of an angle in radians."""
    return _call(Intrinsic.SIN, value)


def cos(value: ExprLike) -> Expr:
    """The cosine of an angle in radians."""
    return _call(Intrinsic.COS, value)


def tan(value: ExprLike) -> Expr:
    """The tangent of an angle in radians."""
    return _call(Intrinsic.TAN, value)


def asin(value: ExprLike) -> Expr:
    """The inverse sine, in radians."""
    return _call(Intrinsic.ASIN, value)


def acos(value: ExprLike) -> Expr:
    """The inverse cosine, in radians."""
    return _call(Intrinsic.ACOS, value)


def atan(value: ExprLike) -> Expr:
    """The inverse tangent, in radians."""
    return _call(Intrinsic.ATAN, value)


def atan2(y: ExprLike, x: ExprLike) -> Expr:
    """The angle of the point (x, y), in radians; of the type of ``y`` where that is a float, else float32."""
    over = _as_float(y)
    return Expr.of(ir.Call(over.type, Intrinsic.ATAN2, (over, ir.cast(over.type, as_node(x)))))


def sinh(value: ExprLike) -> Expr:
    """The hyperbolic sine."""
    return _call(Intrinsic.SINH, value)


def cosh(value: ExprLike) -> Expr:
    """The hyperbolic cosine."""
    return _call(Intrinsic.COSH, value)


def tanh(value: ExprLike) -> Expr:
    """The hyperbolic tangent."""
    return _call(Intrinsic.TANH, value)


def pow(base: ExprLike, exponent: ExprLike) -> Expr:
    """``base ** exponent``: of the base's type for a constant integer exponent, else a float."""
    return power(base, exponent)


def floor(value: ExprLike) -> Expr:
    """The greatest whole number that is not above, as a float."""
    return _call(Intrinsic.FLOOR, value)


def ceil(value: ExprLike) -> Expr:
    """The least whole number that is not below, as a float."""
    return _call(Intrinsic.CEIL, value)


def round(value: ExprLike) -> Expr:
    """The nearest whole number, the even one of two, as a float."""
    node = as_node(value)
    exact = node if node.type.is_float() else ir.cast(_FLOAT32, node)
    return Expr.of(ir.Call(exact.type, Intrinsic.ROUND, (exact,)))


def trunc(value: ExprLike) -> Expr:
    """The whole number towards zero, as a float."""
    return _call(Intrinsic.TRUNC, value)


def fract(value: ExprLike) -> Expr:
    """The fraction that ``trunc`` cuts off; it has the sign of the value."""
    node = _as_float(value)
    return Expr.of(ir.sub(node, ir.Call(node.type, Intrinsic.TRUNC, (node,))))


def hypot(x: ExprLike, y: ExprLike) -> Expr:
    """``sqrt(x*x + y*y)``, in floats from the start."""
    a, b = matched(Expr.of(_as_float(x)), Expr.of(_as_float(y)))
    return _call(Intrinsic.SQRT, Expr.of(ir.add(ir.mul(a, a), ir.mul(b, b))))


def _float_only(name: str, value: ExprLike) -> ir.ExprNode:
    node = as_node(value)
    if not node.type.is_float():
        raise TypeMismatchError(f"{name}() needs a float, not {node.type}.")
    return node


def is_nan(value: ExprLike) -> Expr:
    """True where a float is not a number."""
    return Expr.of(ir.Call(BOOL, Intrinsic.IS_NAN, (_float_only("is_nan", value),)))


def is_inf(value: ExprLike) -> Expr:
    """True where a float is infinite."""
    node = _float_only("is_inf", value)
    return Expr.of(ir.equal(abs(Expr.of(node))._node(), ir.const(float("inf"), node.type)))


def is_finite(value: ExprLike) -> Expr:
    """True where a float is a number and not infinite."""
    node = _float_only("is_finite", value)
    return Expr.of(ir.less(abs(Expr.of(node))._node(), ir.const(float("inf"), node.type)))
