"""Comparison of two arrays, to the bit.

In: what a judge found, what the reference says. Out: nothing, or a Mismatch that shows the first point that differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.campaigns.fuzz.case import Window
from tests.campaigns.fuzz.verdict import Mismatch

Array = npt.NDArray[Any]


def _same(found: Array, wanted: Array) -> Array:
    """Where two arrays of one type agree: to the bit, NaN being NaN."""
    if found.dtype.kind != "f":
        return np.asarray(found == wanted)
    bits = f"u{found.dtype.itemsize}"
    equal = np.ascontiguousarray(found).view(bits) == np.ascontiguousarray(wanted).view(bits)
    return np.asarray(equal | (np.isnan(found) & np.isnan(wanted)))


def compare(judge: str, name: str, found: Array, wanted: Array, window: Window) -> None:
    """Raises Mismatch where two arrays (axes reversed) differ.

    Args:
        judge: who found it.
        name: the output.
        found, wanted: the values in the window.
        window: where the first value stands.
    """
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        raise Mismatch(f"shape {judge}", f"{found.dtype} {found.shape}, not {wanted.dtype} {wanted.shape}")
    same = np.atleast_1d(_same(np.atleast_1d(found), np.atleast_1d(wanted)))
    if same.all():
        return
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    point = tuple(i + low for i, (low, _) in zip(reversed(at), window, strict=False))
    one, other = np.atleast_1d(found)[at], np.atleast_1d(wanted)[at]
    told = f"{name}{list(point)} is {one!r}, not {other!r}; {int((~same).sum())} of {same.size} points differ"
    raise Mismatch(f"value {judge}", told)
