"""Types that go together in an operator or a function.

In: the type of the result, and those of the operands. Out: whether there is such a value.

    of_floats(float32, float32, float32)   ->   True
    of_magnitude(uint8, int8)              ->   True
"""

from __future__ import annotations

from halide_core.ir.types import BOOL, Type


def is_truth(type: Type) -> bool:
    """A bool, or lanes of them."""
    return type.element_of() is BOOL


def is_number(type: Type) -> bool:
    """True for types that have sums."""
    return type.is_float() or (type.is_integer() and not type.is_bool())


def computes(type: Type) -> bool:
    """True where there is arithmetic on a type: floats of 16 bits are only stored and converted."""
    return not type.is_handle() and not type.is_narrow_float()


def of_floats(type: Type, *args: Type) -> bool:
    """Floats, of which a float comes."""
    return type.is_float() and computes(type) and all(a is type for a in args)


def of_magnitude(type: Type, a: Type) -> bool:
    """A number, of which comes one without a sign."""
    if a.is_integer():
        return type.is_uint() and type.bits() == a.bits() and is_number(a)
    return of_floats(type, a)


def of_bits(type: Type, a: Type) -> bool:
    """A float of which an integer of as many bits comes, or the other way round."""
    return type.bits() == a.bits() and type.is_float() != a.is_float() and type.is_integer() != a.is_integer()


def of_nan(type: Type, a: Type) -> bool:
    """A float, of which a bool comes."""
    return is_truth(type) and a.is_float() and computes(a)


def of_numbers(type: Type, a: Type) -> bool:
    """A float, of which an integer comes."""
    return of_integers(type) and a.is_float() and computes(a)


def of_integers(type: Type, *args: Type) -> bool:
    """Integers, of which one of their type comes."""
    return type.is_integer() and is_number(type) and all(a is type for a in args)
