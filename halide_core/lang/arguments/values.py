"""Python numbers that are to become values of one given type: of a Param, of a Buffer's element, of an argument.

In: a type and a number. Out: the number as Python's int or float, or an error where the type can't hold it.

    checked_value(UInt(8), 300, 'Param "p"')   ->   TypeMismatchError: 300 is not a value of uint8, …
"""

from __future__ import annotations

import sys
from ctypes import c_void_p
from math import isinf

import numpy as np

from halide_core.checks import shown
from halide_core.errors import TypeMismatchError
from halide_core.ir.float16 import rounded
from halide_core.ir.types import Type, computed_type


def checked_value(type: Type, value: object, what: str) -> int | float:
    """``value`` as a number of ``type``.

    Raises:
        TypeMismatchError: not a number, a float where an integer is needed, or a finite number that doesn't fit.
    """
    if type.is_handle():
        value, type = (value.value or 0) if isinstance(value, c_void_p) else value, computed_type(type)
        if not isinstance(value, int | np.integer) or not type.can_represent(int(value)):
            given = shown(value)
            raise TypeMismatchError(f"{what} is a pointer: it needs an address or a ctypes.c_void_p, not {given}.")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, bool | int | float):
        kind = value.__class__.__name__
        raise TypeMismatchError(f"{what} is of {type}: it needs a number, not a {kind}.")
    if type.is_float():
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            told = f"An integer of {value.bit_length()} bits"
            raise TypeMismatchError(f"{told} is not a value of {type}, the type of {what}.")
        return _checked_float(type, float(value), what)
    if isinstance(value, float):
        raise TypeMismatchError(f"{what} is of {type}: it can't be the float {value!r}. Write int({value!r}).")
    number = int(value)
    if not type.can_represent(number):
        low, high = type.range
        given = shown(number)
        given = given[0].upper() + given[1:]
        raise TypeMismatchError(f"{given} is not a value of {type}, the type of {what}: {low} to {high}.")
    return number


def _checked_float(type: Type, value: float, what: str) -> float:
    """The number; rounded where the type has 16 bits, and as it is where C rounds it."""
    with np.errstate(over="ignore"):
        nearest = rounded(value, type) if type.is_narrow_float() else float(type.dtype.type(value))
    if isinf(nearest) and not isinf(value):
        raise TypeMismatchError(f"{value!r} is not a value of {type}, the type of {what}: it is beyond the largest.")
    return nearest if type.is_narrow_float() else value
