"""Floats of 16 bits: how numbers are rounded to them, and what their bits mean.

In: a number, or an array of them. Out: the bits of the nearest float16 or bfloat16, ties to even; and back.

    pattern_of(1.5, Float(16))   ->   0x3e00        value_of_pattern(0x3fc0, BFloat(16))   ->   1.5

There is one NaN, the positive quiet one of no payload, as everywhere in the language. numpy has no bfloat16: memory of
it is an array of records of one field, ``bfloat16``, which holds the bits as a uint16.
"""

from __future__ import annotations

import math
import struct
from ctypes import c_float
from typing import Any

import numpy as np
import numpy.typing as npt

from halide_core.ir.types import BFLOAT16_DTYPE, Type

NAN = {False: 0x7E00, True: 0x7FC0}
"""The bits of NaN: of a float16, and of a bfloat16."""


def pattern_of(value: float, type: Type) -> int:
    """The bits of the float of 16 bits that is nearest to a number, infinite where it overflows."""
    if math.isnan(value):
        return NAN[type.is_bfloat()]
    if not type.is_bfloat():
        try:
            packed = struct.pack("<e", float(value))  # of a great integer it says no OverflowError
        except OverflowError:
            packed = struct.pack("<e", math.copysign(math.inf, value))
        bits: int = struct.unpack("<H", packed)[0]
        return bits
    word = _odd_float32(value)
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16


def _odd_float32(value: float) -> int:
    """The bits of a float32 near a number: exact, or else the odd one of the two around it, so that rounding it once
    more gives what rounding the number at once does (Boldo and Melquiond 2008)."""
    near = c_float(value).value
    word: int = struct.unpack("<I", struct.pack("<f", near))[0]
    if near == value or word & 1:
        return word
    return word - 1 if abs(near) > abs(value) else word + 1


def value_of_pattern(bits: int, type: Type) -> float:
    """The number that 16 bits stand for."""
    packed = struct.pack("<I", bits << 16) if type.is_bfloat() else struct.pack("<H", bits)
    value: float = struct.unpack("<f" if type.is_bfloat() else "<e", packed)[0]
    return value


def rounded(value: float, type: Type) -> float:
    """The float of 16 bits that is nearest to a number, as a Python float."""
    return value_of_pattern(pattern_of(value, type), type)


def numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array as one of numbers: of bfloat16 a float32 array of the same values, any other as it is."""
    if array.dtype != BFLOAT16_DTYPE:
        return array
    return (array["bfloat16"].astype(np.uint32) << 16).view(np.float32)


def element(value: float, type: Type) -> Any:
    """A number in the form that an element of an array of the type takes."""
    return (pattern_of(value, type),) if type.is_bfloat() else value
