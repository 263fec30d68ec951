"""Compares compiled results with numpy and with the reference semantics, bit for bit.

In: a Func, a window, numpy's answer. Out: an AssertionError where one of the three differs.

    check(blur, [61, 43], expected)
    check(blur, [(-5, 61), (2, 43)], expected)  # into a Buffer that starts there
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import halide_core as hl

Array: TypeAlias = "npt.NDArray[Any]"
Window: TypeAlias = "Sequence[int] | Sequence[tuple[int, int]]"

_REFERENCE_POINTS = 120  # the reference walks point by point: so many of a larger window are enough


def same(found: Any, wanted: Array) -> None:
    """Both have one type, one shape, and the same values; NaN equals NaN."""
    array = np.asarray(found)
    assert array.dtype == wanted.dtype
    np.testing.assert_array_equal(array, wanted, strict=True)


def computed(f: hl.Func | hl.Pipeline, window: Window) -> Array:
    """The compiled result in a window: by ``realize`` of sizes, or into a Buffer where a least coordinate is given."""
    if all(isinstance(w, int) for w in window):
        return np.asarray(f.realize(list(window)))  # type: ignore[arg-type]  # integers, as just seen
    assert isinstance(f, hl.Func)
    box = [w if isinstance(w, tuple) else (0, w) for w in window]
    buffer = hl.Buffer(f.type(), [extent for _, extent in box])
    buffer.set_min([low for low, _ in box])
    assert f.realize(buffer) is None
    return np.asarray(buffer)


def check(f: hl.Func, window: Window, wanted: Array) -> None:
    """The compiled result is ``wanted`` in the whole window, and so is the reference at its end, where tails are."""
    same(computed(f, window), wanted)
    check_reference(f, window, wanted)


def check_reference(f: hl.Func, window: Window, wanted: Array) -> None:
    """The reference semantics give ``wanted`` at the end of the window."""
    box = [w if isinstance(w, tuple) else (0, w) for w in window]
    side = max(1, int(_REFERENCE_POINTS ** (1 / max(1, len(box)))))
    part = [(low + max(0, n - side), min(n, side)) for low, n in box]
    corner = tuple(slice(max(0, n - side), None) for n in wanted.shape)
    same(f.evaluate(part), wanted[corner])


def variables(names: str) -> tuple[hl.Var, ...]:
    """Vars by name."""
    return tuple(map(hl.Var, names.split()))


def image(array: Array, name: str = "input") -> hl.ImageParam:
    """An ImageParam that holds an array."""
    type = hl.Buffer(array).type()
    param = hl.ImageParam(type, array.ndim, name)
    param.set(array)
    return param


def numbers(shape: Sequence[int], dtype: Any, seed: int = 1) -> Array:
    """Random numbers over the whole of an integer type, or around zero."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return random.normal(0, 10, shape).astype(kind)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(kind)
    info = np.iinfo(kind)
    return random.integers(info.min, info.max, shape, kind, endpoint=True)
