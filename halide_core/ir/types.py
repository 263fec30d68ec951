"""Value types: a code, a number of bits and a number of lanes.

In: ``Int(16)``, ``UInt(8)``, ``Float(32)``, ``Bool()``. Out: one shared ``Type`` object for each, so that
types are compared with ``is`` as well as ``==``.

    Int(16).can_represent(UInt(8))   -> True
    UInt(8).range                    -> (0, 255)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np

from halide_core.checks import integer, of_kind, shown
from halide_core.errors import ArgumentTypeError, DefinitionError
from halide_core.own_name import stands_for_halide

_as_expr: Callable[[int | float, Any], Any]


def make_limits_with(literal: Callable[[int | float, Any], Any]) -> None:
    """Sets how a type makes an Expr of its limits; expressions, which sit above the types, call this once."""
    global _as_expr
    _as_expr = literal


class TypeCode(IntEnum):
    """The kind of a value; the numbers are those of ``halide_type_code_t``."""

    Int = 0
    UInt = 1
    Float = 2
    Handle = 3
    BFloat = 4


_CODES = frozenset(map(int, TypeCode))
_MOST_BITS, _MOST_LANES = 255, (1 << 31) - 1
"""Bits are those of ``halide_type_t``; lanes are what a loop has iterations."""


class Type:
    """An immutable value type. Equal types are the same object."""

    __slots__ = ("_bits", "_code", "_lanes", "range")
    _code: TypeCode
    _bits: int
    _lanes: int
    range: tuple[int, int]
    """Least and greatest integer of the type; ``(0, 0)`` for a type that is not an integer."""

    _shared: ClassVar[dict[tuple[int, int, int], Type]] = {}

    def __new__(cls, code: TypeCode = TypeCode.Handle, bits: int = 0, lanes: int | None = None) -> Type:
        if lanes is None:
            _check_parts(code, bits)
            lanes = min(bits, 1)  # ``Type()`` is of no value
        key = (code, bits, lanes)
        try:
            known = cls._shared.get(key)
        except TypeError:  # a list, say, is no key
            known = None
        if known is not None:
            return known
        _check_parts(code, bits, lanes)
        if (
            code not in _CODES
            or not 0 <= bits <= _MOST_BITS
            or not 0 <= lanes <= _MOST_LANES
            or (bits == 0 and code == TypeCode.Int)
        ):
            raise DefinitionError(
                f"There is no Type of code {shown(code)} with {shown(bits)} bits and {shown(lanes)} lanes."
            )
        self = object.__new__(cls)
        self._code, self._bits, self._lanes = TypeCode(code), bits, lanes
        if code == TypeCode.Int:
            self.range = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        elif code == TypeCode.UInt:
            self.range = (0, (1 << bits) - 1)
        else:
            self.range = (0, 0)
        cls._shared[key] = self
        return self

    def __reduce__(self) -> tuple[type, tuple[int, int, int]]:
        return (Type, (int(self._code), self._bits, self._lanes))

    def code(self) -> TypeCode:
        """The type's code."""
        return self._code

    def bits(self) -> int:
        """Bits of one lane (1 for bool)."""
        return self._bits

    def bytes(self) -> int:
        """Bytes of one lane in memory."""
        return (self._bits + 7) // 8

    def lanes(self) -> int:
        """Lanes: 1 for a scalar."""
        return self._lanes

    def is_bool(self) -> bool:
        """True where this is the one-bit unsigned type."""
        return self._code == TypeCode.UInt and self._bits == 1

    def is_int(self) -> bool:
        """True where this is a signed integer type."""
        return self._code == TypeCode.Int

    def is_uint(self) -> bool:
        """True where this is an unsigned integer type, bool among them."""
        return self._code == TypeCode.UInt

    def is_integer(self) -> bool:
        """True where this is an integer type, signed or not."""
        return self._code in (TypeCode.Int, TypeCode.UInt)

    def is_float(self) -> bool:
        """True where this is a floating-point type, bfloat16 among them."""
        return self._code in (TypeCode.Float, TypeCode.BFloat)

    def is_narrow_float(self) -> bool:
        """True where this is float16 or bfloat16, whose arithmetic is that of float32."""
        return self._bits == 16 and self.is_float()

    def is_handle(self) -> bool:
        """True where this is an opaque pointer type."""
        return self._code == TypeCode.Handle

    def is_scalar(self) -> bool:
        """True where there is one lane."""
        return self._lanes == 1

    def is_vector(self) -> bool:
        """True where there is more than one lane."""
        return self._lanes > 1

    def with_bits(self, bits: int) -> Type:
        """The same code and lanes with another width."""
        return Type(self._code, bits, self._lanes)

    def with_code(self, code: TypeCode) -> Type:
        """The same width and lanes with another code."""
        return Type(code, self._bits, self._lanes)

    def with_lanes(self, lanes: int) -> Type:
        """The same element type with another number of lanes."""
        return Type(self._code, self._bits, lanes)

    def element_of(self) -> Type:
        """The scalar type of one lane."""
        return self if self._lanes == 1 else self.with_lanes(1)

    def can_represent(self, other: Type | int) -> bool:
        """True where every value of ``other`` (a type, or one integer) is a value of this type."""
        if isinstance(other, int):
            if self.is_float():
                return _is_exact(other, self)
            return self.range[0] <= other <= self.range[1]
        if other is self:
            return True
        if not isinstance(other, Type):
            raise ArgumentTypeError(f"can_represent() takes a hl.Type or an integer, not {shown(other)}.")
        if self.is_narrow_float():
            return False  # as in Halide, integers of 8 bits neither
        if self.is_float():
            mantissa = 24 if self._bits == 32 else 53
            if other.is_float():
                return other._bits <= self._bits
            return other.is_integer() and other._bits - other.is_int() <= mantissa
        return (
            self.is_integer()
            and other.is_integer()
            and self.range[0] <= other.range[0]
            and other.range[1] <= self.range[1]
        )

    def is_max(self, value: int) -> bool:
        """True where ``value`` is the greatest one of an integer type."""
        return self.is_integer() and integer(value, "is_max() takes an integer") == self.range[1]

    def is_min(self, value: int) -> bool:
        """True where ``value`` is the least one of an integer type."""
        return self.is_integer() and integer(value, "is_min() takes an integer") == self.range[0]

    def is_bfloat(self) -> bool:
        """True where this is bfloat16: the upper half of a float32."""
        return self._code == TypeCode.BFloat

    def same_handle_type(self, other: Type) -> bool:
        """Always true, as in Halide: a handle points to nothing in particular here, and other types to nothing."""
        of_kind(other, Type, "same_handle_type() takes a hl.Type")
        return True

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy dtype of one lane; of bfloat16, which numpy doesn't have, a record of its bits."""
        if self.is_bfloat():
            return BFLOAT16_DTYPE
        return np.dtype(str(self.element_of())) if not self.is_bool() else np.dtype(np.bool_)

    def min(self) -> Any:
        """The least value, as an Expr of the type; minus infinity for a float."""
        return self._limit(-math.inf, self.range[0])

    def max(self) -> Any:
        """The greatest value, as an Expr of the type; infinity for a float."""
        return self._limit(math.inf, self.range[1])

    def _limit(self, real: float, whole: int) -> Any:
        if self.is_handle():
            raise DefinitionError(f"{self} has no least and no greatest value: a pointer is no number.")
        return _as_expr(real if self.is_float() else whole, self)

    def __str__(self) -> str:
        if self.is_bool():
            name = "bool"
        else:
            name = f"{self._code.name.lower()}{self._bits}"
        return name if self._lanes <= 1 else f"{name}x{self._lanes}"

    def __repr__(self) -> str:
        return f"<halide.Type {self}>" if stands_for_halide() else str(self)


def _check_parts(*parts: object) -> None:
    """Refuses parts of a type that are no integers."""
    wrong = [p for p in parts if not isinstance(p, int)]
    if wrong:
        raise ArgumentTypeError(f"A Type is made of a hl.TypeCode, bits and lanes, not of {shown(wrong[0])}.")


def _is_exact(value: int, type: Type) -> bool:
    """True where an integer is a number of a floating-point type."""
    digits, most = (8, 128) if type.is_bfloat() else {16: (11, 16), 32: (24, 128), 64: (53, 1024)}[type.bits()]
    size = abs(value)
    lost = max(0, size.bit_length() - digits)
    return size.bit_length() <= most and size >> lost << lost == size


BFLOAT16_DTYPE: np.dtype[np.generic] = np.dtype([("bfloat16", np.uint16)])
"""The numpy type of bfloat16: records of one field, the bits."""


def _checked(code: TypeCode, bits: int, lanes: int, legal: tuple[int, ...]) -> Type:
    if not isinstance(bits, int) or bits not in legal or not isinstance(lanes, int) or not 1 <= lanes <= _MOST_LANES:
        known = ", ".join(map(str, legal))
        raise DefinitionError(
            f"{code.name}({shown(bits)}, {shown(lanes)}) is not a type; legal widths are {known}, in 1 lane or more."
        )
    return Type(code, bits, lanes)


def Int(bits: int, lanes: int = 1) -> Type:
    """A signed integer of 8, 16, 32 or 64 bits."""
    return _checked(TypeCode.Int, bits, lanes, (8, 16, 32, 64))


def UInt(bits: int, lanes: int = 1) -> Type:
    """An unsigned integer of 1 (bool), 8, 16, 32 or 64 bits."""
    return _checked(TypeCode.UInt, bits, lanes, (1, 8, 16, 32, 64))


def Float(bits: int, lanes: int = 1) -> Type:
    """An IEEE 754 number of 16, 32 or 64 bits. Arithmetic on 16 bits is that of float32, rounded."""
    return _checked(TypeCode.Float, bits, lanes, (16, 32, 64))


def BFloat(bits: int = 16, lanes: int = 1) -> Type:
    """The upper 16 bits of a float32: its range, with 8 binary digits. Arithmetic is that of float32, rounded."""
    return _checked(TypeCode.BFloat, bits, lanes, (16,))


def Handle(lanes: int = 1) -> Type:
    """A pointer of 64 bits to what only C functions know: the type of a Param, whose value is an address."""
    return _checked(TypeCode.Handle, 64, lanes, (64,))


def Bool(lanes: int = 1) -> Type:
    """A truth value: the one-bit unsigned integer, one byte in memory."""
    return Type(TypeCode.UInt, 1, lanes)


def computed_type(type: Type) -> Type:
    """The type that a scalar is computed with: a pointer is its address."""
    return UInt(64) if type.is_handle() else type


INT32 = Int(32)
INT64 = Int(64)
BOOL = Bool()


@functools.cache
def type_of_dtype(dtype: np.dtype[np.generic]) -> Type | None:
    """The type of a numpy dtype, or None where there is none (complex, structured, foreign byte order…)."""
    if dtype == BFLOAT16_DTYPE or dtype.name == "bfloat16":  # the latter is the library ml_dtypes's
        return BFloat(16)
    if not dtype.isnative:
        return None
    match dtype.kind, dtype.itemsize:
        case "b", 1:
            return BOOL
        case "i", size if size in (1, 2, 4, 8):
            return Int(8 * size)
        case "u", size if size in (1, 2, 4, 8):
            return UInt(8 * size)
        case "f", size if size in (2, 4, 8):
            return Float(8 * size)
        case _:
            return None
