"""An unsharp mask of a float32 picture: the luminance is sharpened against its 7 x 7 Gaussian, the colours follow."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, random_array

_SIGMA = 1.5
_WEIGHTS = [math.exp(-k * k / (2 * _SIGMA**2)) / (math.sqrt(2 * math.pi) * _SIGMA) for k in range(4)]
_KERNEL = [float(np.float32(w)) for w in _WEIGHTS]
_RED, _GREEN, _BLUE = (float(np.float32(w)) for w in (0.299, 0.587, 0.114))


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (random_array((3, height, width), "float32", 2) + np.float32(0.25),)


def _taps(hl: Any, at: Any) -> Any:
    """The symmetric 7 taps; ``at(k)`` is the value k steps away."""
    total = hl.f32(_KERNEL[0]) * at(0)
    for k in (1, 2, 3):
        total = total + hl.f32(_KERNEL[k]) * (at(-k) + at(k))
    return total


def _build(hl: Any, size: Size) -> Built:
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.Float(32), 3, "image")
    padded = hl.BoundaryConditions.repeat_edge(image)
    gray, down, across, ratio, output = (hl.Func(n) for n in ("gray", "down", "across", "ratio", "output"))
    gray[x, y] = hl.f32(_RED) * padded[x, y, 0] + hl.f32(_GREEN) * padded[x, y, 1] + hl.f32(_BLUE) * padded[x, y, 2]
    down[x, y] = _taps(hl, lambda k: gray[x, y + k])
    across[x, y] = _taps(hl, lambda k: down[x + k, y])
    ratio[x, y] = (hl.f32(2.0) * gray[x, y] - across[x, y]) / gray[x, y]
    output[x, y, c] = ratio[x, y] * image[x, y, c]
    funcs = SimpleNamespace(gray=gray, down=down, across=across, ratio=ratio, x=x, y=y, c=c)
    return Built(hl, output, (image,), funcs)


def _plain(b: Built) -> None:
    for f in (b.funcs.gray, b.funcs.down, b.funcs.across, b.funcs.ratio):
        f.compute_root()


def _expert(b: Built) -> None:
    """Strips; in each, a row at a time. Both ``gray`` and ``down`` are meant to slide."""
    (yi,) = b.var("yi")
    x, y, c = b.funcs.x, b.funcs.y, b.funcs.c
    b.output.split(y, y, yi, 32).reorder(x, c, yi, y).vectorize(x, 16).parallel(y)
    b.funcs.gray.store_at(b.output, y).compute_at(b.output, yi).vectorize(x, 16)
    b.funcs.down.store_at(b.output, y).compute_at(b.output, yi).vectorize(x, 16)
    b.funcs.ratio.store_at(b.output, y).compute_at(b.output, yi).vectorize(x, 16)


def _tiled(b: Built) -> None:
    """As expert, but each strip's ``gray`` is computed at once: no sliding window."""
    (yi,) = b.var("yi")
    x, y, c = b.funcs.x, b.funcs.y, b.funcs.c
    b.output.split(y, y, yi, 32).reorder(x, c, yi, y).vectorize(x, 16).parallel(y)
    b.funcs.gray.compute_at(b.output, y).vectorize(x, 16)
    b.funcs.down.compute_at(b.output, yi).vectorize(x, 16)
    b.funcs.ratio.compute_at(b.output, yi).vectorize(x, 16)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    gray = np.float32(_RED) * image[0] + np.float32(_GREEN) * image[1] + np.float32(_BLUE) * image[2]
    padded = np.pad(gray, 3, mode="edge")
    down = sum(np.float32(_KERNEL[abs(k)]) * padded[3 + k : 3 + k + height] for k in range(-3, 4))
    across = sum(np.float32(_KERNEL[abs(k)]) * down[:, 3 + k : 3 + k + width] for k in range(-3, 4))  # type: ignore[index]
    return np.asarray((2 * gray - across) / gray * image, np.float32)


APP = App(
    name="unsharp",
    about="unsharp mask, f32 RGB",
    sizes={"full": (2560, 1536), "small": (128, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert, "tiled": _tiled},
    reference=_reference,
    shape=lambda size: (*size, 3),
    dtype="float32",
    work=lambda size: Work(31 * size[0] * size[1], 24 * size[0] * size[1]),
    tolerance=Tolerance(1e-5, 1e-4),
)
