"""Harris corners of a float32 picture: gradients, their products summed over 3 x 3, and the response."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, random_array

_RED, _GREEN, _BLUE = (float(np.float32(w)) for w in (0.299, 0.587, 0.114))
_TWELFTH = float(np.float32(1 / 12))
_KAPPA = float(np.float32(0.04))


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (random_array((3, height + 4, width + 4), "float32", 3),)


def _build(hl: Any, size: Size) -> Built:
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 3, "image")
    gray, gx, gy = hl.Func("gray"), hl.Func("gx"), hl.Func("gy")
    gray[x, y] = hl.f32(_RED) * image[x, y, 0] + hl.f32(_GREEN) * image[x, y, 1] + hl.f32(_BLUE) * image[x, y, 2]
    small, double = hl.f32(_TWELFTH), hl.f32(2 * _TWELFTH)
    gx[x, y] = (
        (gray[x + 2, y] - gray[x, y]) * small
        + (gray[x + 2, y + 1] - gray[x, y + 1]) * double
        + (gray[x + 2, y + 2] - gray[x, y + 2]) * small
    )
    gy[x, y] = (
        (gray[x, y + 2] - gray[x, y]) * small
        + (gray[x + 1, y + 2] - gray[x + 1, y]) * double
        + (gray[x + 2, y + 2] - gray[x + 2, y]) * small
    )

    def window(a: Any, b: Any) -> Any:
        total = None
        for dy in range(3):
            for dx in range(3):
                term = a[x + dx, y + dy] * b[x + dx, y + dy]
                total = term if total is None else total + term
        return total

    xx, xy, yy = hl.Func("xx"), hl.Func("xy"), hl.Func("yy")
    xx[x, y], xy[x, y], yy[x, y] = window(gx, gx), window(gx, gy), window(gy, gy)
    output = hl.Func("output")
    trace = xx[x, y] + yy[x, y]
    output[x, y] = xx[x, y] * yy[x, y] - xy[x, y] * xy[x, y] - hl.f32(_KAPPA) * trace * trace
    return Built(hl, output, (image,), SimpleNamespace(gray=gray, gx=gx, gy=gy, sums=(xx, xy, yy), x=x, y=y))


def _plain(b: Built) -> None:
    for f in (b.funcs.gray, b.funcs.gx, b.funcs.gy, *b.funcs.sums):
        f.compute_root()


def _expert(b: Built) -> None:
    """Strips; in each, a row at a time. ``gray`` and the gradients are meant to slide."""
    (yi,) = b.var("yi")
    x, y = b.funcs.x, b.funcs.y
    b.output.split(y, y, yi, 32).vectorize(x, 16).parallel(y)
    for f in (b.funcs.gray, b.funcs.gx, b.funcs.gy):
        f.store_at(b.output, y).compute_at(b.output, yi).vectorize(x, 16)


def _tiled(b: Built) -> None:
    """Tiles, whose producers are computed at once."""
    xi, yi = b.var("xi yi")
    x, y = b.funcs.x, b.funcs.y
    b.output.tile(x, y, xi, yi, 256, 32).vectorize(xi, 16).parallel(y)
    for f in (b.funcs.gray, b.funcs.gx, b.funcs.gy):
        f.compute_at(b.output, x).vectorize(x, 16)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    gray = np.float32(_RED) * image[0] + np.float32(_GREEN) * image[1] + np.float32(_BLUE) * image[2]
    across, down = gray[:, 2:] - gray[:, :-2], gray[2:] - gray[:-2]
    gx = np.float32(_TWELFTH) * (across[:-2] + 2 * across[1:-1] + across[2:])
    gy = np.float32(_TWELFTH) * (down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:])

    def window(product: Array) -> Array:
        rows = product[:-2] + product[1:-1] + product[2:]
        return np.asarray(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:])

    xx, xy, yy = window(gx * gx), window(gx * gy), window(gy * gy)
    return np.asarray(xx * yy - xy * xy - np.float32(_KAPPA) * (xx + yy) ** 2, np.float32)


APP = App(
    name="harris",
    about="Harris corners, f32 RGB",
    sizes={"full": (2560, 1536), "small": (256, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert, "tiled": _tiled},
    reference=_reference,
    shape=lambda size: size,
    dtype="float32",
    work=lambda size: Work(72 * size[0] * size[1], 16 * size[0] * size[1]),
    tolerance=Tolerance(1e-6, 1e-4),
)
