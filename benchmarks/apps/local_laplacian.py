"""Local Laplacian filters (Paris, Hasinoff, Kautz, 2011): detail of a uint16 picture changed level by level."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, picture

_PYRAMID = 8
_INTENSITIES = 8
_ALPHA, _BETA = float(np.float32(1 / 7)), 1.0
_RED, _GREEN, _BLUE = (float(np.float32(w)) for w in (0.299, 0.587, 0.114))
_EPSILON = float(np.float32(0.01))
_ROOT = 5
"""From this level on everything is so small that it is computed before all else."""


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (picture(width, height, 3, "uint16", 60000, 15), _ALPHA, _BETA)


def _build(hl: Any, size: Size) -> Built:
    x, y, c, k = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("k")
    image = hl.ImageParam(hl.UInt(16), 3, "image")
    alpha, beta = hl.Param(hl.Float(32), "alpha"), hl.Param(hl.Float(32), "beta")
    padded = hl.BoundaryConditions.repeat_edge(image)
    steps = _INTENSITIES - 1
    one, eighth = hl.f32(1.0), hl.f32(0.125)

    remap, floating, gray = hl.Func("remap"), hl.Func("floating"), hl.Func("gray")
    at = hl.f32(x) / hl.f32(256.0)
    remap[x] = alpha * at * hl.exp(-at * at / hl.f32(2.0))
    floating[x, y, c] = hl.f32(padded[x, y, c]) / hl.f32(65535.0)
    gray[x, y] = (
        hl.f32(_RED) * floating[x, y, 0] + hl.f32(_GREEN) * floating[x, y, 1] + hl.f32(_BLUE) * floating[x, y, 2]
    )

    def downsample(f: Any, name: str, rest: list[Any]) -> tuple[Any, Any]:
        across, down = hl.Func(f"{name}_x"), hl.Func(name)
        taps = [f[(2 * x + d, y, *rest)] for d in (-1, 0, 1, 2)]
        across[(x, y, *rest)] = (taps[0] + hl.f32(3.0) * (taps[1] + taps[2]) + taps[3]) * eighth
        taps = [across[(x, 2 * y + d, *rest)] for d in (-1, 0, 1, 2)]
        down[(x, y, *rest)] = (taps[0] + hl.f32(3.0) * (taps[1] + taps[2]) + taps[3]) * eighth
        return across, down

    def upsample(f: Any, name: str, rest: list[Any]) -> Any:
        across, up = hl.Func(f"{name}_x"), hl.Func(name)
        across[(x, y, *rest)] = (
            hl.f32(0.25) * f[(x / 2 - 1 + 2 * (x % 2), y, *rest)] + hl.f32(0.75) * f[(x / 2, y, *rest)]
        )
        up[(x, y, *rest)] = (
            hl.f32(0.25) * across[(x, y / 2 - 1 + 2 * (y % 2), *rest)] + hl.f32(0.75) * across[(x, y / 2, *rest)]
        )
        return up

    gaussian, own, halves = [hl.Func("gaussian_0")], [hl.Func("own_0")], []
    level = hl.f32(k) * hl.f32(1.0 / steps)
    index = hl.clamp(hl.i32(gray[x, y] * hl.f32(steps * 256.0)), 0, steps * 256)
    gaussian[0][x, y, k] = beta * (gray[x, y] - level) + level + remap[index - 256 * k]
    own[0][x, y] = gray[x, y]
    for j in range(1, _PYRAMID):
        a, f = downsample(gaussian[-1], f"gaussian_{j}", [k])
        b, g = downsample(own[-1], f"own_{j}", [])
        gaussian.append(f)
        own.append(g)
        halves.append((a, b))
    laplacian = [hl.Func(f"laplacian_{j}") for j in range(_PYRAMID)]
    laplacian[-1][x, y, k] = gaussian[-1][x, y, k]
    for j in range(_PYRAMID - 1):
        laplacian[j][x, y, k] = gaussian[j][x, y, k] - upsample(gaussian[j + 1], f"back_{j}", [k])[x, y, k]
    chosen = [hl.Func(f"chosen_{j}") for j in range(_PYRAMID)]
    for j in range(_PYRAMID):
        value = own[j][x, y] * hl.f32(steps)
        lower = hl.clamp(hl.i32(value), 0, _INTENSITIES - 2)
        share = value - hl.f32(lower)
        chosen[j][x, y] = (one - share) * laplacian[j][x, y, lower] + share * laplacian[j][x, y, lower + 1]
    result = [hl.Func(f"result_{j}") for j in range(_PYRAMID)]
    result[-1][x, y] = chosen[-1][x, y]
    for j in range(_PYRAMID - 2, -1, -1):
        result[j][x, y] = upsample(result[j + 1], f"up_{j}", [])[x, y] + chosen[j][x, y]
    output = hl.Func("output")
    coloured = result[0][x, y] * (floating[x, y, c] + hl.f32(_EPSILON)) / (gray[x, y] + hl.f32(_EPSILON))
    output[x, y, c] = hl.u16(hl.clamp(coloured, 0.0, 1.0) * hl.f32(65535.0))
    funcs = SimpleNamespace(
        remap=remap, gray=gray, gaussian=gaussian, own=own, halves=halves, result=result, x=x, y=y, c=c, k=k
    )
    return Built(hl, output, (image, alpha, beta), funcs)


def _plain(b: Built) -> None:
    f = b.funcs
    for each in (f.remap, f.gray, *f.gaussian, *f.own[1:], *f.result):
        each.compute_root()


def _expert(b: Built) -> None:
    """The Gaussian pyramids in parallel rows; the finest levels of the result at strips of the output."""
    f = b.funcs
    x, y, c, k = f.x, f.y, f.c, f.k
    (yi,) = b.var("yi")
    f.remap.compute_root()
    b.output.bound(c, 0, 3).split(y, y, yi, 32).reorder(x, c, yi, y).vectorize(x, 16).parallel(y)
    f.gray.compute_root().parallel(y, 32).vectorize(x, 16)
    for j in range(1, _PYRAMID):
        f.own[j].compute_root().vectorize(x, 16)
        f.gaussian[j].compute_root().reorder(x, k, y).vectorize(x, 16)
        if j < _ROOT:
            f.own[j].parallel(y, 8)
            f.gaussian[j].parallel(y, 8)
            f.result[j].compute_at(b.output, y).vectorize(x, 16)
        else:
            f.gaussian[j].parallel(y)
            f.result[j].compute_root().vectorize(x, 16)
    f.result[0].compute_at(b.output, yi).vectorize(x, 16)


class _Window:
    """A function on a plane, known in a window [low, …] of both axes; its values are [.., y, x]."""

    def __init__(self, values: Array, x: int, y: int) -> None:
        self.values, self.x, self.y = values, x, y

    def at(self, x: Array, y: Array) -> Array:
        return np.asarray(self.values[..., y - self.y, :][..., x - self.x])


def _down(f: _Window, xs: Array, ys: Array) -> _Window:
    wide = np.arange(2 * ys[0] - 1, 2 * ys[-1] + 3)
    taps = [f.at(2 * xs + d, wide) for d in (-1, 0, 1, 2)]
    half = _Window((taps[0] + 3 * (taps[1] + taps[2]) + taps[3]) * np.float32(0.125), xs[0], wide[0])
    taps = [half.at(xs, 2 * ys + d) for d in (-1, 0, 1, 2)]
    return _Window((taps[0] + 3 * (taps[1] + taps[2]) + taps[3]) * np.float32(0.125), xs[0], ys[0])


def _up(f: _Window, xs: Array, ys: Array) -> Array:
    near, far = np.float32(0.75), np.float32(0.25)
    rows = np.arange(ys[0] // 2 - 1, ys[-1] // 2 + 2)
    half = _Window(far * f.at(xs // 2 - 1 + 2 * (xs % 2), rows) + near * f.at(xs // 2, rows), xs[0], rows[0])
    return np.asarray(far * half.at(xs, ys // 2 - 1 + 2 * (ys % 2)) + near * half.at(xs, ys // 2))


def _needed(extent: int) -> list[tuple[int, int]]:
    """The window of each level along one axis: what its upsampling reads, and what coarser levels are made of."""
    windows = [(0, extent - 1)]
    for _ in range(1, _PYRAMID):
        low, high = windows[-1]
        windows.append((low // 2 - 1, high // 2 + 1))
    for j in range(_PYRAMID - 2, -1, -1):
        low, high = windows[j + 1]
        windows[j] = (min(windows[j][0], 2 * low - 1), max(windows[j][1], 2 * high + 2))
    return windows


def _reference(inputs: Inputs, size: Size) -> Array:
    image, alpha, beta = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    steps = _INTENSITIES - 1
    floating = image.astype(np.float32) / np.float32(65535)
    gray = np.float32(_RED) * floating[0] + np.float32(_GREEN) * floating[1] + np.float32(_BLUE) * floating[2]
    columns, rows = _needed(width), _needed(height)
    axes = [(np.arange(a, b + 1), np.arange(c, d + 1)) for (a, b), (c, d) in zip(columns, rows, strict=True)]
    xs, ys = axes[0]
    wide = gray[np.clip(ys, 0, height - 1)][:, np.clip(xs, 0, width - 1)]
    own = [_Window(wide, xs[0], ys[0])]
    table = np.arange(-256 * steps, 256 * steps + 1, dtype=np.float32) / np.float32(256)
    table = np.asarray(np.float32(alpha) * table * np.exp(-table * table / np.float32(2)), np.float32)  # type: ignore[arg-type]  # a float
    index = np.clip((wide * np.float32(steps * 256)).astype(np.int32), 0, steps * 256)
    planes = []
    for number in range(_INTENSITIES):
        level = np.float32(number) * np.float32(1 / steps)
        planes.append(np.float32(beta) * (wide - level) + level + table[index - 256 * number + 256 * steps])  # type: ignore[arg-type]  # a float
    gaussian = [_Window(np.stack(planes), xs[0], ys[0])]
    for x, y in axes[1:]:
        own.append(_down(own[-1], x, y))
        gaussian.append(_down(gaussian[-1], x, y))
    windows = [(0, extent) for extent in (width, height)]
    spans = [windows]
    for _ in range(1, _PYRAMID):
        spans.append([(low // 2 - 1, (high - 1) // 2 + 2) for low, high in spans[-1]])
    result: _Window | None = None
    for j in range(_PYRAMID - 1, -1, -1):
        (x0, x1), (y0, y1) = spans[j]
        x, y = np.arange(x0, x1), np.arange(y0, y1)
        laplacian = gaussian[j].at(x, y)
        if j < _PYRAMID - 1:
            laplacian = laplacian - _up(gaussian[j + 1], x, y)
        value = own[j].at(x, y) * np.float32(steps)
        lower = np.clip(value.astype(np.int32), 0, _INTENSITIES - 2)
        share = value - lower
        low, high = (np.take_along_axis(laplacian, (lower + d)[None], 0)[0] for d in (0, 1))
        chosen = (1 - share) * low + share * high
        result = _Window(chosen if result is None else _up(result, x, y) + chosen, x0, y0)
    assert result is not None
    coloured = result.values * (floating + np.float32(_EPSILON)) / (gray + np.float32(_EPSILON))
    return np.asarray((np.clip(coloured, 0, 1) * np.float32(65535)).astype(np.uint16))


APP = App(
    name="local_laplacian",
    about="local Laplacian, 8 levels, u16 RGB",
    sizes={"full": (2560, 1536), "small": (192, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (*size, 3),
    dtype="uint16",
    work=lambda size: Work(500 * size[0] * size[1], 12 * size[0] * size[1]),
    tolerance=Tolerance(16, 1e-3, 1e-3),
)
