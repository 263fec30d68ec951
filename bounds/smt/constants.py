"""Arithmetic of constants, for terms of a solver.

In: Python numbers. Out: Python numbers, as the language's semantics have them.
"""

from __future__ import annotations


def euclid(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder; both are 0 where the divisor is."""
    if b == 0:
        return 0, 0
    r = a % abs(b)
    return (a - r) // b, r


def all_ones(most: int) -> int:
    """The greatest number of as many bits."""
    return int((1 << most.bit_length()) - 1)
