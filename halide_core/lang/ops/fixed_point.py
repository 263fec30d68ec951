"""Fixed-point arithmetic: operations that widen, halve, saturate or round, so that nothing overflows on the way.

In: integers, brought to one type as ``min`` does it (a Python int is an int32). Out: Exprs of the ordinary operators.

    widening_mul(u8 200, u8 200)   ->   uint16 40000
    halving_add(u8 255, u8 254)    ->   uint8 254           (a & b) + ((a ^ b) >> 1)
    saturating_sub(u8 3, u8 5)     ->   uint8 0
"""

from __future__ import annotations

from halide_core import ir
from halide_core.errors import TypeMismatchError
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.lang.expr import Expr, ExprLike, as_node, is_plain, promoted, shift
from halide_core.lang.ops.casts import saturating_cast

_BEYOND = 127
"""More bits than a value has, and more than that: a shift by so many gives what any longer one does."""


def _integer(name: str, value: ExprLike) -> ExprNode:
    node = as_node(value)
    if not node.type.is_integer() or node.type.is_bool():
        raise TypeMismatchError(f"{name}() needs integers, not {node.type}.")
    return node


def _matched(name: str, a: ExprLike, b: ExprLike) -> tuple[ExprNode, ExprNode]:
    """Two integers in their common type."""
    x, y = _integer(name, a), _integer(name, b)
    common = promoted(x.type, y.type)
    return ir.cast(common, x), ir.cast(common, y)


def _wider(name: str, type: Type) -> Type:
    if type is Float(32):
        return Float(64)
    if not type.is_integer() or type.is_bool():
        raise TypeMismatchError(f"{name}() needs integers or float32, not {type}.")
    if type.bits() == 64:
        raise TypeMismatchError(f"{name}() of {type} would need 128 bits, which no type has.")
    return type.with_bits(2 * type.bits())


def _signed(type: Type) -> Type:
    return Int(type.bits()) if type.is_integer() else type


def _bit(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    return ir.binary(op, a, b)


def _shifted(op: BinaryOp, a: ExprNode, count: int) -> ExprNode:
    return ir.binary(op, a, ir.const(count, _signed(a.type)))


# ---------------------------------------------------------------------------------------------------------
# Widening.


def widening_add(a: ExprLike, b: ExprLike) -> Expr:
    """``a + b`` in twice the bits."""
    x, y = as_node(a), as_node(b)
    type = _wider("widening_add", promoted(x.type, y.type))
    return Expr.of(ir.add(ir.cast(type, x), ir.cast(type, y)))


def widening_sub(a: ExprLike, b: ExprLike) -> Expr:
    """``a - b`` in twice the bits; signed, as the result may be negative."""
    x, y = as_node(a), as_node(b)
    type = _signed(_wider("widening_sub", promoted(x.type, y.type)))
    return Expr.of(ir.sub(ir.cast(type, x), ir.cast(type, y)))


def widening_mul(a: ExprLike, b: ExprLike) -> Expr:
    """``a * b`` in twice the bits; signed if one of the two is."""
    x, y = as_node(a), as_node(b)
    type = _wider("widening_mul", promoted(x.type, y.type))
    return Expr.of(ir.mul(ir.cast(type, x), ir.cast(type, y)))


def widening_shift_left(a: ExprLike, b: ExprLike) -> Expr:
    """``a << b`` in twice the bits of the wider of the two; a Python int as a count widens nothing."""
    return shift(BinaryOp.SHL, _widened("widening_shift_left", a, b), b)


def widening_shift_right(a: ExprLike, b: ExprLike) -> Expr:
    """``a >> b`` in twice the bits of the wider of the two: a negative count loses nothing."""
    return shift(BinaryOp.SHR, _widened("widening_shift_right", a, b), b)


def _widened(name: str, a: ExprLike, count: ExprLike) -> Expr:
    """The number that is shifted, in twice the bits of itself or of the count."""
    x = _integer(name, a)
    bits = x.type.bits() if is_plain(count) else max(x.type.bits(), _integer(name, count).type.bits())
    return Expr.of(ir.cast(_wider(name, x.type.with_bits(bits)), x))


def _right(name: str, a: ExprLike, b: ExprLike) -> tuple[ExprNode, ExprNode]:
    """``a``, and ``b`` of half its bits widened to its type."""
    x, y = as_node(a), as_node(b)
    if y.type.lanes() != x.type.lanes() or _wider(name, y.type) is not x.type:
        raise TypeMismatchError(f"{name}() needs operands such as uint16 and uint8, not {x.type} and {y.type}.")
    return x, ir.cast(x.type, y)


def widen_right_add(a: ExprLike, b: ExprLike) -> Expr:
    """``a + b``, where ``b`` has half the bits of ``a`` and is widened first."""
    return Expr.of(ir.add(*_right("widen_right_add", a, b)))


def widen_right_sub(a: ExprLike, b: ExprLike) -> Expr:
    """``a - b``, where ``b`` has half the bits of ``a`` and is widened first."""
    return Expr.of(ir.sub(*_right("widen_right_sub", a, b)))


def widen_right_mul(a: ExprLike, b: ExprLike) -> Expr:
    """``a * b``, where ``b`` has half the bits of ``a`` and is widened first."""
    return Expr.of(ir.mul(*_right("widen_right_mul", a, b)))


# ---------------------------------------------------------------------------------------------------------
# Halving. Bits that two numbers share count once in their mean, the others half.


def halving_add(a: ExprLike, b: ExprLike) -> Expr:
    """The mean of two integers, rounded down."""
    x, y = _matched("halving_add", a, b)
    different = _shifted(BinaryOp.SHR, _bit(BinaryOp.BIT_XOR, x, y), 1)
    return Expr.of(ir.add(_bit(BinaryOp.BIT_AND, x, y), different))


def rounding_halving_add(a: ExprLike, b: ExprLike) -> Expr:
    """The mean of two integers, rounded up."""
    x, y = _matched("rounding_halving_add", a, b)
    different = _shifted(BinaryOp.SHR, _bit(BinaryOp.BIT_XOR, x, y), 1)
    return Expr.of(ir.sub(_bit(BinaryOp.BIT_OR, x, y), different))


def halving_sub(a: ExprLike, b: ExprLike) -> Expr:
    """Half of the difference, rounded down; of unsigned integers it wraps where it is negative."""
    x, y = _matched("halving_sub", a, b)
    borrow = _bit(BinaryOp.BIT_AND, ir.sub(ir.const(1, x.type), _bit(BinaryOp.BIT_AND, x, ir.const(1, x.type))), y)
    return Expr.of(ir.sub(ir.sub(_shifted(BinaryOp.SHR, x, 1), _shifted(BinaryOp.SHR, y, 1)), borrow))


# ---------------------------------------------------------------------------------------------------------
# Saturating.


def saturating_add(a: ExprLike, b: ExprLike) -> Expr:
    """``a + b``; what the type can't hold becomes its least or greatest value."""
    x, y = _matched("saturating_add", a, b)
    if x.type.bits() < 64:
        return saturating_cast(x.type, widening_add(Expr.of(x), Expr.of(y)))
    total = _wrapped(BinaryOp.ADD, x, y)
    if x.type.is_uint():
        return Expr.of(ir.Select(x.type, ir.less(total, x), ir.const(x.type.range[1], x.type), total))
    # Signed overflow: the operands have one sign, and the sum has the other.
    outside = _bit(BinaryOp.BIT_AND, _bit(BinaryOp.BIT_XOR, x, total), _bit(BinaryOp.BIT_XOR, y, total))
    return _unless(outside, x, total)


def saturating_sub(a: ExprLike, b: ExprLike) -> Expr:
    """``a - b``; what the type can't hold becomes its least or greatest value."""
    x, y = _matched("saturating_sub", a, b)
    if x.type.bits() < 64:
        return saturating_cast(x.type, widening_sub(Expr.of(x), Expr.of(y)))
    rest = _wrapped(BinaryOp.SUB, x, y)
    if x.type.is_uint():
        return Expr.of(ir.Select(x.type, ir.less(x, y), ir.const(0, x.type), rest))
    outside = _bit(BinaryOp.BIT_AND, _bit(BinaryOp.BIT_XOR, x, y), _bit(BinaryOp.BIT_XOR, x, rest))
    return _unless(outside, x, rest)


def _wrapped(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """``a op b`` modulo 2**64."""
    return ir.cast(a.type, ir.binary(op, ir.cast(UInt(64), a), ir.cast(UInt(64), b)))


def _unless(outside: ExprNode, a: ExprNode, result: ExprNode) -> Expr:
    """``result``; where ``outside`` is negative the extreme of the sign of ``a``."""
    zero, (low, high) = ir.const(0, a.type), a.type.range
    extreme = ir.Select(a.type, ir.less(a, zero), ir.const(low, a.type), ir.const(high, a.type))
    return Expr.of(ir.Select(a.type, ir.less(outside, zero), extreme, result))


# ---------------------------------------------------------------------------------------------------------
# Shifts that round, and products that are shifted.


def rounding_shift_right(a: ExprLike, b: ExprLike) -> Expr:
    """``a / 2**b``, halves rounded up; a negative count shifts left."""
    value, count = Expr.of(_integer("rounding_shift_right", a)), _integer("rounding_shift_right", b)
    return _rounded_up(shift(BinaryOp.SHR, value, b), value, Expr.of(count))


def rounding_shift_left(a: ExprLike, b: ExprLike) -> Expr:
    """``a * 2**b``; a negative count shifts right, halves rounded up."""
    value, count = Expr.of(_integer("rounding_shift_left", a)), _integer("rounding_shift_left", b)
    shifted = shift(BinaryOp.SHL, value, b)
    if count.type.is_uint():
        return shifted
    if count.type.bits() < 64:
        opposite = -Expr.of(ir.cast(Int(2 * count.type.bits()), count))  # has the negative of the least count too
    else:
        opposite = -Expr.of(ir.maximum(count, ir.const(-_BEYOND, count.type)))
    return _rounded_up(shifted, value, opposite)


def _rounded_up(shifted: Expr, value: Expr, count: Expr) -> Expr:
    """``shifted``, which is ``value >> count``, and one more where the last bit that is lost is set: no sum is formed
    that could overflow."""
    type = shifted.type()
    last = ir.cast(type, (shift(BinaryOp.SHR, value, count - 1) & 1)._node())
    carry = ir.Select(type, (count > 0)._node(), last, ir.const(0, type))
    return Expr.of(ir.add(shifted._node(), carry))


def mul_shift_right(a: ExprLike, b: ExprLike, shift_count: ExprLike) -> Expr:
    """``a*b / 2**shift_count``, formed in twice the bits, rounded down, and kept inside the type, which is as wide as
    the widest of the three; a number as a count widens nothing.

    Raises:
        TypeMismatchError: integers of 64 bits; a count that is negative, or of a signed type.
    """
    product, type, count = _product("mul_shift_right", a, b, shift_count)
    return saturating_cast(type, shift(BinaryOp.SHR, product, count))


def rounding_mul_shift_right(a: ExprLike, b: ExprLike, shift_count: ExprLike) -> Expr:
    """``mul_shift_right`` with halves rounded up."""
    product, type, count = _product("rounding_mul_shift_right", a, b, shift_count)
    return saturating_cast(type, rounding_shift_right(product, count))


def _product(name: str, a: ExprLike, b: ExprLike, count: ExprLike) -> tuple[Expr, Type, Expr]:
    x, y, n = _integer(name, a), _integer(name, b), _integer(name, count)
    type = promoted(x.type, y.type)
    if n.type.is_uint():
        type = type.with_bits(max(type.bits(), n.type.bits()))
    wide = _wider(name, type)
    if isinstance(n, ir.IntImm):
        if not type.can_represent(n.value) or n.value < 0:
            raise TypeMismatchError(f"The count of {name}() of {type} can't be {n.value}.")
    elif not n.type.is_uint():
        raise TypeMismatchError(f"The count of {name}() must be unsigned, not {n.type}.")
    product = Expr.of(ir.mul(ir.cast(wide, x), ir.cast(wide, y)))  # of two signs, each keeps its value
    return product, type, Expr.of(ir.cast(UInt(wide.bits()), n))


# ---------------------------------------------------------------------------------------------------------
# Division as C has it.


def div_round_to_zero(a: ExprLike, b: ExprLike) -> Expr:
    """``a / b`` rounded towards zero, as C does it; 0 where ``b`` is."""
    x, y = _matched("div_round_to_zero", a, b)
    return Expr.of(_quotient(x, y))


def mod_round_to_zero(a: ExprLike, b: ExprLike) -> Expr:
    """The remainder of ``div_round_to_zero``, which has the sign of ``a``; 0 where ``b`` is."""
    x, y = _matched("mod_round_to_zero", a, b)
    if x.type.is_uint():
        return Expr.of(ir.mod(x, y))
    magnitude = ir.cast(x.type, ir.mod(_magnitude(x), _magnitude(y)))
    zero = ir.const(0, x.type)
    return Expr.of(ir.Select(x.type, ir.less(x, zero), ir.sub(zero, magnitude), magnitude))


def _quotient(x: ExprNode, y: ExprNode) -> ExprNode:
    if x.type.is_uint():
        return ir.div(x, y)
    zero = ir.const(0, x.type)
    magnitude = ir.cast(x.type, ir.div(_magnitude(x), _magnitude(y)))
    negative = ir.binary(BinaryOp.NE, ir.less(x, zero), ir.less(y, zero))
    return ir.Select(x.type, negative, ir.sub(zero, magnitude), magnitude)


def _magnitude(e: ExprNode) -> ExprNode:
    return ir.Call(UInt(e.type.bits()), ir.Intrinsic.ABS, (e,))
