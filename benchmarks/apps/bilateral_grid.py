"""A bilateral filter through a grid: splat into (x, y, value) cells, blur the grid, slice it at every pixel.

The range's sigma is a constant and cells are clamped as integers: halide_core does not bound float expressions yet, so
that a clamped float tells it nothing of the cell that it falls into.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, picture

_CELL = 8
"""Pixels of a grid cell along x and along y."""

_STEPS = 10.0
"""Cells of the value range; one over the range's sigma."""


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (picture(width, height, 1, "float32", 1.0, 14),)


def _five(at: Any) -> Any:
    """Weights 1, 4, 6, 4, 1."""
    return at(-2) + at(-1) * 4 + at(0) * 6 + at(1) * 4 + at(2)


def _build(hl: Any, size: Size) -> Built:
    x, y, z, c = hl.Var("x"), hl.Var("y"), hl.Var("z"), hl.Var("c")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    padded = hl.BoundaryConditions.repeat_edge(image)
    grid, along_z, along_x, along_y, output = (hl.Func(n) for n in ("grid", "along_z", "along_x", "along_y", "output"))
    cell = hl.RDom([(0, _CELL), (0, _CELL)], "cell")
    value = padded[x * _CELL + cell[0] - _CELL // 2, y * _CELL + cell[1] - _CELL // 2]
    value = hl.clamp(value, 0.0, 1.0)
    at = hl.clamp(hl.i32(value * hl.f32(_STEPS) + hl.f32(0.5)), 0, int(_STEPS))
    grid[x, y, z, c] = hl.f32(0.0)
    grid[x, y, at, c] += hl.select(c == 0, value, hl.f32(1.0))
    along_z[x, y, z, c] = _five(lambda k: grid[x, y, z + k, c])
    along_x[x, y, z, c] = _five(lambda k: along_z[x + k, y, z, c])
    along_y[x, y, z, c] = _five(lambda k: along_x[x, y + k, z, c])

    here = hl.clamp(image[x, y], 0.0, 1.0) * hl.f32(_STEPS)
    zi = hl.clamp(hl.i32(here), 0, int(_STEPS))
    zf = here - hl.f32(zi)
    xf, yf = hl.f32(x % _CELL) / hl.f32(_CELL), hl.f32(y % _CELL) / hl.f32(_CELL)
    xi, yi = x / _CELL, y / _CELL
    sliced = hl.Func("sliced")

    def plane(k: Any) -> Any:
        top = hl.lerp(along_y[xi, yi, k, c], along_y[xi + 1, yi, k, c], xf)
        bottom = hl.lerp(along_y[xi, yi + 1, k, c], along_y[xi + 1, yi + 1, k, c], xf)
        return hl.lerp(top, bottom, yf)

    sliced[x, y, c] = hl.lerp(plane(zi), plane(zi + 1), zf)
    output[x, y] = sliced[x, y, 0] / sliced[x, y, 1]
    funcs = SimpleNamespace(
        grid=grid, along_z=along_z, along_x=along_x, along_y=along_y, sliced=sliced, cell=cell, x=x, y=y, z=z, c=c
    )
    return Built(hl, output, (image,), funcs)


def _plain(b: Built) -> None:
    for f in (b.funcs.grid, b.funcs.along_z, b.funcs.along_x, b.funcs.along_y):
        f.compute_root()


def _expert(b: Built) -> None:
    """The grid is made row by row beside its first blur; the two channels are computed together."""
    f = b.funcs
    f.along_z.compute_root().reorder(f.c, f.z, f.x, f.y).parallel(f.y).vectorize(f.x, 16).unroll(f.c, 2)
    f.grid.compute_at(f.along_z, f.y)
    f.grid.update().reorder(f.c, f.cell[0], f.cell[1], f.x, f.y).unroll(f.c, 2)
    f.along_x.compute_root().reorder(f.c, f.x, f.y, f.z).parallel(f.z).vectorize(f.x, 16).unroll(f.c, 2)
    f.along_y.compute_root().reorder(f.c, f.x, f.y, f.z).parallel(f.z).vectorize(f.x, 16).unroll(f.c, 2)
    b.output.parallel(f.y, 16).vectorize(f.x, 16)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    one = np.float32(1)
    scale = np.float32(_STEPS)
    across, down = (width - 1) // _CELL + 2, (height - 1) // _CELL + 2
    xs = np.clip(np.arange(-2 * _CELL, (across + 2) * _CELL) - _CELL // 2, 0, width - 1)
    ys = np.clip(np.arange(-2 * _CELL, (down + 2) * _CELL) - _CELL // 2, 0, height - 1)
    values = np.clip(image[np.ix_(ys, xs)], 0, 1)
    levels = (values * scale + np.float32(0.5)).astype(np.int32)
    depth = int(_STEPS) + 2 + 4
    grid = np.zeros((2, depth, down + 4, across + 4), np.float32)
    cy, cx = np.mgrid[0 : len(ys), 0 : len(xs)] // _CELL
    np.add.at(grid[0], (levels + 2, cy, cx), values)
    np.add.at(grid[1], (levels + 2, cy, cx), one)

    def blurred(a: Array, axis: int) -> Array:
        taps = [np.take(a, np.arange(k, a.shape[axis] - 4 + k), axis) for k in range(5)]
        return np.asarray(taps[0] + taps[1] * 4 + taps[2] * 6 + taps[3] * 4 + taps[4], np.float32)

    grid = blurred(blurred(blurred(grid, 1), 3), 2)
    here = np.clip(image, 0, 1) * scale
    zi = here.astype(np.int32)
    zf = here - zi
    y, x = np.mgrid[0:height, 0:width]
    xf, yf = (x % _CELL / np.float32(_CELL)).astype(np.float32), (y % _CELL / np.float32(_CELL)).astype(np.float32)

    def plane(k: Array) -> Array:
        rows = []
        for dy in (0, 1):
            a, b = (grid[:, k, y // _CELL + dy, x // _CELL + dx] for dx in (0, 1))
            rows.append(a * (1 - xf) + b * xf)
        return rows[0] * (1 - yf) + rows[1] * yf

    sliced = plane(zi) * (1 - zf) + plane(zi + 1) * zf
    return np.asarray(sliced[0] / sliced[1], np.float32)


APP = App(
    name="bilateral_grid",
    about="bilateral filter through a grid, f32",
    sizes={"full": (2560, 1536), "small": (192, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: size,
    dtype="float32",
    work=lambda size: Work(65 * size[0] * size[1], 8 * size[0] * size[1]),
    tolerance=Tolerance(1e-4, 1e-4, 1e-3),
)
