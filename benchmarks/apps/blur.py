"""A 3 x 3 box blur of uint16, in two passes of three taps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Work, random_array


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (random_array((height + 2, width + 2), "uint16", 1, 20000),)


def _build(hl: Any, size: Size) -> Built:
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    across, blur = hl.Func("across"), hl.Func("blur")
    across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
    blur[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
    return Built(hl, blur, (image,), SimpleNamespace(across=across, x=x, y=y))


def _plain(b: Built) -> None:
    b.funcs.across.compute_root()


def _expert(b: Built) -> None:
    """Strips of rows, in which each row of ``across`` is made once and kept for three: this needs a sliding window."""
    (yi,) = b.var("yi")
    x, y = b.funcs.x, b.funcs.y
    b.output.split(y, y, yi, 32).vectorize(x, 32).parallel(y)
    b.funcs.across.store_at(b.output, y).compute_at(b.output, yi).vectorize(x, 32)


def _tiled(b: Built) -> None:
    """Tiles, whose producers are computed at once: the best schedule that does without a sliding window."""
    xi, yi = b.var("xi yi")
    x, y = b.funcs.x, b.funcs.y
    b.output.tile(x, y, xi, yi, 512, 32).vectorize(xi, 32).parallel(y)
    b.funcs.across.compute_at(b.output, x).vectorize(x, 32)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    across = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) // 3
    return (across[:-2] + across[1:-1] + across[2:]) // 3  # type: ignore[no-any-return]


APP = App(
    name="blur",
    about="3 x 3 box blur, u16",
    sizes={"full": (2560, 1920), "small": (512, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert, "tiled": _tiled},
    reference=_reference,
    shape=lambda size: size,
    dtype="uint16",
    work=lambda size: Work(6 * size[0] * size[1], 4 * size[0] * size[1]),
)
