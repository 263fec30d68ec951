"""Operands of expressions: two tables of values for every type.

In: the name of a type. Out: ``POINTS`` values. ``a_u8`` in the source of a case is the Buffer of the first table of
``uint8`` at ``x``, ``b_u8`` that of the second. They meet in many pairs, the extremes of the type among them.

int32 and int64 stay small in both, and uint32 as int32: Halide leaves the overflow of these undefined. Float tables
hold no zero, no NaN and no infinity: what is special about those has cases of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

POINTS = 48

_SMALL = [0, 1, 2, 3, 5, 7, 10, 25, 60, 100]
_SIGNED = [0, 1, -1, 2, -2, 3, 7, -7, 10, -25, 60, 100]
_FLOATS = [1.0, -1.0, 0.5, 2.5, -2.5, 3.0, 0.1, -7.25, 10.0, 100.5, 1e-3, 33.0, -0.75]

# The name of a type in a source -> its numpy type and its values.
_VALUES: dict[str, tuple[str, list[Any]]] = {
    "i8": ("int8", [*_SIGNED, -128, 127, -127]),
    "u8": ("uint8", [*_SMALL, 127, 128, 200, 254, 255]),
    "i16": ("int16", [*_SIGNED, -32768, 32767, 255, -300]),
    "u16": ("uint16", [*_SMALL, 255, 256, 40000, 65535]),
    "i32": ("int32", [*_SIGNED, 255, -300, 1000]),
    "u32": ("uint32", [*_SMALL, 255, 256, 65536, 2**32 - 300, 2**32 - 1]),
    "i64": ("int64", [*_SIGNED, 255, -300, 1000]),
    "u64": ("uint64", [*_SMALL, 255, 2**32, 2**63, 2**64 - 1]),
    "f32": ("float32", _FLOATS),
    "f64": ("float64", _FLOATS),
    "bool": ("bool", [False, True, True, False, True]),
}

TYPES = tuple(_VALUES)


def table(type: str, which: str) -> npt.NDArray[Any]:
    """The values of ``a_<type>`` or ``b_<type>``; ``which`` is "a" or "b"."""
    dtype, values = _VALUES[type]
    n = len(values)
    step = 1 if which == "a" else next(s for s in (7, 11, 13, 17) if n % s)
    return np.array([values[(i * step + (i // n if which == "b" else 0)) % n] for i in range(POINTS)], dtype)
