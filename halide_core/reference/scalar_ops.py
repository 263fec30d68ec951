"""The meaning of operators on single values: the scalar half of the executable semantics (figure 2.6).

In: an operator and the types it works on. Out: a Python function on plain numbers. A value of an integer type is
an int inside the type's range, a truth value a bool (or 0, 1), a floating-point value a Python float that its
type can represent. All operators are total (section 2.4.1): none of the functions ever raises.

    binary_function(BinaryOp.ADD, UInt(8))(200, 100)      ->  44
    binary_function(BinaryOp.DIV, Int(32))(-7, 2)         ->  -4
    cast_function(Float(32), UInt(8))(300.5)              ->  255

float32 results are computed in float64 and rounded once more. For ``+ - * /`` and the square root that second
rounding is innocuous, because 53 >= 2*24 + 2 (Figueroa 1995), so these are the exact IEEE 754 results.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from ctypes import c_float
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.float16 import pattern_of, rounded, value_of_pattern
from halide_core.ir.types import Float, Type
from halide_core.reference import hyperbolic
from halide_core.reference.elementary import steps_of
from halide_core.reference.fma import fused_product
from halide_core.reference.steps import reference

Value: TypeAlias = "int | float"
Unary: TypeAlias = Callable[[Any], Any]
BinaryFunction: TypeAlias = Callable[[Any, Any], Any]


# ---------------------------------------------------------------------------------------------------------
# Bringing a mathematical result into its type.


def round_to_float32(value: float) -> float:
    """The float32 nearest to ``value``, ties to even, infinite where it overflows."""
    return c_float(value).value


def _same(value: Any) -> Any:
    return value


def wrap_function(type: Type) -> Unary:
    """The function that takes an integer modulo 2**bits into the range of an integer type."""
    low, high = type.range
    mask = high - low
    if type.is_bool():
        return lambda value: bool(value & 1)
    if low == 0:
        return lambda value: value & mask
    return lambda value: ((value - low) & mask) + low


def _fit_function(type: Type) -> Unary:
    """Integers wrap, floats of 16 and 32 bits round, float64 is what Python computes."""
    if type.is_narrow_float():
        return lambda value: rounded(value, type)
    if type.is_float():
        return round_to_float32 if type.bits() == 32 else _same
    return wrap_function(type)


# ---------------------------------------------------------------------------------------------------------
# Binary operators.


def euclidean_quotient(a: int, b: int) -> int:
    """The ``q`` of ``a == q*b + r`` with ``0 <= r < abs(b)``; zero where ``b`` is."""
    if b > 0:
        return a // b
    return -(a // -b) if b else 0


def euclidean_remainder(a: int, b: int) -> int:
    """The ``r`` of ``a == q*b + r`` with ``0 <= r < abs(b)``; zero where ``b`` is."""
    return a % abs(b) if b else 0


def _float_quotient(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_remainder(fit: Unary) -> BinaryFunction:
    """``a - b*floor(a/b)``, each of the four operations rounded."""

    def remainder(a: float, b: float) -> float:
        whole = _floor(fit(_float_quotient(a, b)))
        result: float = fit(a - fit(b * whole))
        return result

    return remainder


# Not Python's min and max: on NaN and on zeros of both signs the second operand is the result.
def _lesser(a: Any, b: Any) -> Any:
    return a if a < b else b  # noqa: FURB136


def _greater(a: Any, b: Any) -> Any:
    return a if a > b else b  # noqa: FURB136


def _shift_functions(type: Type) -> tuple[BinaryFunction, BinaryFunction]:
    """Left and right shift. A negative count shifts the other way; from ``bits`` on only the sign is left."""
    bits, wrap = type.bits(), wrap_function(type)

    def left(a: int, count: int) -> int:
        if count < 0:
            return a >> min(-count, bits)
        shifted: int = wrap(a << count) if count < bits else 0
        return shifted

    def right(a: int, count: int) -> int:
        return left(a, -count)

    return left, right


def _logical_and(a: Any, b: Any) -> bool:
    return bool(a) and bool(b)


def _logical_or(a: Any, b: Any) -> bool:
    return bool(a) or bool(b)


# Operators whose result needs no fitting.
_EXACT: dict[BinaryOp, BinaryFunction] = {
    BinaryOp.MIN: _lesser,
    BinaryOp.MAX: _greater,
    BinaryOp.EQ: operator.eq,
    BinaryOp.NE: operator.ne,
    BinaryOp.LT: operator.lt,
    BinaryOp.LE: operator.le,
    BinaryOp.AND: _logical_and,
    BinaryOp.OR: _logical_or,
    BinaryOp.BIT_AND: operator.and_,
    BinaryOp.BIT_OR: operator.or_,
    BinaryOp.BIT_XOR: operator.xor,
}
_INTEGER: dict[BinaryOp, BinaryFunction] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.DIV: euclidean_quotient,
    BinaryOp.MOD: euclidean_remainder,
}
_FLOAT: dict[BinaryOp, BinaryFunction] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.DIV: _float_quotient,
}


@cache
def binary_function(op: BinaryOp, type: Type) -> BinaryFunction:
    """``op`` on two values of ``type``, the operands' type; a shift's count is signed and as wide.

    Raises:
        InternalError: ``type`` is a handle or a vector, or the operator isn't defined on it.
    """
    if type.lanes() > 1 or type.is_handle():
        raise InternalError(f'The operator "{op.value}" has no scalar meaning on {type}.')
    exact = _EXACT.get(op)
    if exact is not None:
        return exact
    fit = _fit_function(type)
    if op in (BinaryOp.SHL, BinaryOp.SHR) and type.is_integer():
        left, right = _shift_functions(type)
        return left if op is BinaryOp.SHL else right
    if op is BinaryOp.MOD and type.is_float():
        return _float_remainder(fit)
    plain = (_FLOAT if type.is_float() else _INTEGER).get(op)
    if plain is None:
        raise InternalError(f'The operator "{op.value}" is not defined on {type}.')
    if fit is _same:
        return plain
    return lambda a, b: fit(plain(a, b))


# ---------------------------------------------------------------------------------------------------------
# Not and select.


def logical_not(a: Value) -> bool:
    """Negation of a truth value."""
    return not a


def select(condition: Value, a: Value, b: Value) -> Value:
    """``a`` where ``condition`` holds, else ``b``; as arguments of a function, both are evaluated."""
    return a if condition else b


# ---------------------------------------------------------------------------------------------------------
# Conversions.


def _integer_to_float32(value: int) -> float:
    """Rounds once: what float64 would lose beyond 40 digits is kept as one sticky bit."""
    excess = abs(value).bit_length() - 40
    if excess <= 0:
        return round_to_float32(float(value))
    kept, lost = abs(value) >> excess, abs(value) & ((1 << excess) - 1)
    rounded = round_to_float32(math.ldexp(float(kept << 1 | (lost != 0)), excess - 1))
    return -rounded if value < 0 else rounded


def _float_to_integer(type: Type) -> Unary:
    low, high = type.range

    def convert(value: float) -> int:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return max(low, min(high, math.trunc(value)))

    return convert


def _is_nonzero(value: Value) -> bool:
    return value != 0


@cache
def cast_function(source: Type, target: Type) -> Unary:
    """Conversion by value: integers wrap, floats truncate and saturate into integers, NaN gives 0, bool is ``!= 0``.

    Raises:
        InternalError: one of the types is a handle or a vector.
    """
    for type in (source, target):
        if type.lanes() > 1 or type.is_handle():
            raise InternalError(f"The cast of {source} to {target} has no scalar meaning.")
    if source is target:
        return _same
    if target.is_bool():
        return _is_nonzero
    if target.is_float():
        if source.is_float():
            return _fit_function(target)
        if target.is_narrow_float():
            return lambda value: rounded(_integer_to_float32(value), target)
        return _integer_to_float32 if target.bits() == 32 else float
    return _float_to_integer(target) if source.is_float() else wrap_function(target)


def value_of(number: object, type: Type) -> Value | None:
    """A Python or numpy number that a user passes, as a value of ``type``; None where it would be changed.

    Rounding a float to the type is no change.
    """
    if isinstance(number, np.generic):
        number = number.item()
    if not isinstance(number, int | float):
        return None
    if type.is_float():
        source_float = cast_function(Float(64), type)
        value: float = source_float(number) if isinstance(number, float) else _number_to_float(number, type)
        return value
    if isinstance(number, float):
        if not number.is_integer():
            return None
        number = int(number)
    low, high = type.range
    if not low <= number <= high:
        return None
    return bool(number) if type.is_bool() else int(number)


def _number_to_float(number: int, type: Type) -> float:
    try:
        if type.is_narrow_float():
            return rounded(float(number), type)
        return _integer_to_float32(int(number)) if type.bits() == 32 else float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# ---------------------------------------------------------------------------------------------------------
# Mathematical functions.


def _whole(rounding: Callable[[float], int]) -> Unary:
    """A rounding to integers that keeps infinities, NaN and the sign of zero."""

    def rounded(value: float) -> float:
        if not math.isfinite(value):
            return value
        return math.copysign(float(rounding(value)), value)

    return rounded


_floor = _whole(math.floor)


def _total(function: Callable[..., float], ufunc: Callable[..., Any]) -> Callable[..., float]:
    """``function``, and where Python refuses (a pole, outside of the domain, overflow) what IEEE 754 says."""

    def total(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                return float(ufunc(*args))

    return total


def _is_nan(value: float) -> bool:
    return value != value  # noqa: PLR0124  # the definition of NaN


_REAL: dict[Intrinsic, Callable[..., float]] = {
    Intrinsic.SQRT: _total(math.sqrt, np.sqrt),
    Intrinsic.EXP: _total(math.exp, np.exp),
    Intrinsic.LOG: _total(math.log, np.log),
    Intrinsic.SIN: _total(math.sin, np.sin),
    Intrinsic.COS: _total(math.cos, np.cos),
    Intrinsic.TAN: _total(math.tan, np.tan),
    Intrinsic.ASIN: _total(math.asin, np.arcsin),
    Intrinsic.ACOS: _total(math.acos, np.arccos),
    Intrinsic.ATAN: _total(math.atan, np.arctan),
    Intrinsic.ATAN2: _total(math.atan2, np.arctan2),
    Intrinsic.SINH: _total(math.sinh, np.sinh),
    Intrinsic.COSH: _total(math.cosh, np.cosh),
    Intrinsic.TANH: hyperbolic.tanh,
    Intrinsic.POW: _total(math.pow, np.power),
}
_FLOAT_TO_FLOAT: dict[Intrinsic, Unary] = {
    Intrinsic.ABS: abs,
    Intrinsic.FLOOR: _floor,
    Intrinsic.CEIL: _whole(math.ceil),
    Intrinsic.ROUND: _whole(round),
    Intrinsic.TRUNC: _whole(math.trunc),
    Intrinsic.IS_NAN: _is_nan,
}


def _reinterpretation(argument: Type, result: Type) -> Callable[..., Any]:
    """The bits of a float as an integer, or an integer's as a float. There is one NaN, the positive quiet one of no
    payload, so that its bits are the same for everybody."""
    real, word = (argument, result) if argument.is_float() else (result, argument)
    if real.is_narrow_float():
        if argument.is_float():
            wrap = wrap_function(word)
            return lambda a: wrap(pattern_of(a, real))
        return lambda a: value_of_pattern(a & 0xFFFF, real)
    code, letter = ("<f", "i") if real.bits() == 32 else ("<d", "q")
    bits = f"<{letter.upper() if word.is_uint() else letter}"
    if argument.is_float():
        return lambda a: struct.unpack(bits, struct.pack(code, math.nan if _is_nan(a) else a))[0]
    return lambda a: struct.unpack(code, struct.pack(bits, a))[0]


def _truncation(result: Type) -> Unary:
    """The conversion of floats that the compiler takes for numbers of a type."""

    def truncated(value: float) -> int:
        if not (math.isfinite(value) and result.can_represent(math.trunc(value))):
            raise InternalError(f"{value!r} is no number of {result}, and was taken for one.")
        return math.trunc(value)

    return truncated


@cache
def call_function(function: Intrinsic, argument: Type, result: Type) -> Callable[..., Any]:
    """A mathematical function of values of type ``argument``. ROUND rounds halves to even; integers have ABS only.

    The transcendental functions of float32 take the same steps as compiled code (``elementary``), and those of float64
    are the C library's for both: the bits are the same.

    Raises:
        InternalError: the function isn't defined on ``argument``.
    """
    if function is Intrinsic.REINTERPRET:
        return _reinterpretation(argument, result)
    if argument.is_integer() and function is Intrinsic.ROUNDING_HALVING_ADD:
        return lambda a, b: (a + b + 1) >> 1
    if argument.is_integer() and function is Intrinsic.ABS:
        fit = _fit_function(result)
        return lambda value: fit(abs(value))
    if function is Intrinsic.FMA:
        return fused_product(argument)
    if function is Intrinsic.TRUNCATED and argument.is_float():
        return _truncation(result)
    if not argument.is_float() or argument.lanes() > 1:
        raise InternalError(f'The function "{function.value}" has no scalar meaning on {argument}.')
    exact = _FLOAT_TO_FLOAT.get(function)
    if exact is not None:
        return exact
    real = _REAL[function]
    traced = steps_of(function) if argument.bits() == 32 else None
    if traced is not None:
        return reference(traced, lambda name: _REAL[Intrinsic(name)])
    return (lambda *args: round_to_float32(real(*args))) if result.bits() == 32 else real
