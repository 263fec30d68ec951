"""Fills the transparent parts of a picture: a pyramid of premultiplied colours, read back from coarse to fine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, picture

_LEVELS = 10
_CLAMPED = 4
"""Up to this level the picture's own edges are repeated far enough; here, where all is small, once more."""


def _inputs(size: Size) -> Inputs:
    width, height = size
    image = picture(width, height, 4, "float32", 1.0, 12)
    image[3] = np.random.default_rng(13).random((height, width), np.float32) < 0.25
    return (image,)


def _build(hl: Any, size: Size) -> Built:
    width, height = size
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.Float(32), 3, "image")
    padded = hl.BoundaryConditions.repeat_edge(image)
    quarter, one_half = hl.f32(0.25), hl.f32(0.5)
    down, half, filled, up = [], [], [], []
    for level in range(_LEVELS):
        f = hl.Func(f"down_{level}")
        down.append(f)
        if level == 0:
            f[x, y, c] = hl.select(c < 3, padded[x, y, c] * padded[x, y, 3], padded[x, y, 3])
            continue
        before, across = down[level - 1], hl.Func(f"half_{level}")
        if level == _CLAMPED:
            before, finer = hl.Func("clamped"), before
            last_x, last_y = width >> (level - 1), height >> (level - 1)
            before[x, y, c] = finer[hl.clamp(x, 0, last_x), hl.clamp(y, 0, last_y), c]
        across[x, y, c] = (
            before[2 * x - 1, y, c] * quarter + before[2 * x, y, c] * one_half + before[2 * x + 1, y, c] * quarter
        )
        f[x, y, c] = (
            across[x, 2 * y - 1, c] * quarter + across[x, 2 * y, c] * one_half + across[x, 2 * y + 1, c] * quarter
        )
        half.append(across)
    for level in range(_LEVELS - 1, -1, -1):
        f = hl.Func(f"filled_{level}")
        if level == _LEVELS - 1:
            f[x, y, c] = down[level][x, y, c]
        else:
            coarse, across, wide = filled[0], hl.Func(f"up_x_{level}"), hl.Func(f"up_{level}")
            across[x, y, c] = (coarse[x / 2, y, c] + coarse[(x + 1) / 2, y, c]) * one_half
            wide[x, y, c] = (across[x, y / 2, c] + across[x, (y + 1) / 2, c]) * one_half
            f[x, y, c] = down[level][x, y, c] + (hl.f32(1.0) - down[level][x, y, 3]) * wide[x, y, c]
            up.insert(0, across)
        filled.insert(0, f)
    output = hl.Func("output")
    output[x, y, c] = filled[0][x, y, c] / filled[0][x, y, 3]
    return Built(hl, output, (image,), SimpleNamespace(down=down, half=half, filled=filled, up=up, x=x, y=y, c=c))


def _plain(b: Built) -> None:
    for f in (*b.funcs.down, *b.funcs.half, *b.funcs.filled, *b.funcs.up):
        f.compute_root()


def _expert(b: Built) -> None:
    """Each level is made in parallel rows, its half-wide producer row by row; the finest belongs to the output."""
    x, y, c, down, half, filled = b.funcs.x, b.funcs.y, b.funcs.c, b.funcs.down, b.funcs.half, b.funcs.filled
    (yi,) = b.var("yi")
    for level in range(1, _LEVELS):
        down[level].compute_root().vectorize(x, 8).parallel(y, 8)
        half[level - 1].compute_at(down[level], y).vectorize(x, 8)
        filled[level].compute_root().vectorize(x, 8).parallel(y, 8)
    b.output.bound(c, 0, 3).split(y, y, yi, 8).reorder(x, c, yi, y).parallel(y).vectorize(x, 8)
    filled[0].compute_at(b.output, yi).vectorize(x, 8)


def _windows(extent: int) -> list[tuple[int, int]]:
    """From where to where each level is needed along one axis, with what its coarser neighbours read of it."""
    last = [extent - 1]
    for _ in range(1, _LEVELS):
        last.append((last[-1] + 1) // 2)
    windows = [(0, last[-1])]
    for level in range(_LEVELS - 2, -1, -1):
        low, high = windows[0]
        if level + 1 == _CLAMPED:
            windows.insert(0, (0, max(extent >> level, last[level])))
        else:
            windows.insert(0, (2 * low - 1, max(2 * high + 1, last[level])))
    return windows


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    columns, rows = _windows(width), _windows(height)

    def along(bounds: tuple[int, int]) -> Array:
        return np.arange(bounds[0], bounds[1] + 1)

    xs, ys = np.clip(along(columns[0]), 0, width - 1), np.clip(along(rows[0]), 0, height - 1)
    first = image[:, ys][:, :, xs]
    down = [np.concatenate([first[:3] * first[3], first[3:]])]
    for level in range(1, _LEVELS):
        at_x, at_y = 2 * along(columns[level]), 2 * along(rows[level])

        def taps(at: Array, finest: int, low: int, *, level: int = level) -> list[Array]:
            steps = [at - 1, at, at + 1]
            if level == _CLAMPED:
                steps = [np.clip(s, 0, finest >> (level - 1)) for s in steps]
            return [s - low for s in steps]

        (a, b, c), source = taps(at_x, width, columns[level - 1][0]), down[-1]
        across = (
            source[:, :, a] * np.float32(0.25) + source[:, :, b] * np.float32(0.5) + source[:, :, c] * np.float32(0.25)
        )
        a, b, c = taps(at_y, height, rows[level - 1][0])
        down.append(across[:, a] * np.float32(0.25) + across[:, b] * np.float32(0.5) + across[:, c] * np.float32(0.25))
    wide, high = [width], [height]
    for _ in range(1, _LEVELS):
        wide.append(wide[-1] // 2 + 1)
        high.append(high[-1] // 2 + 1)
    filled: Array | None = None
    for level in range(_LEVELS - 1, -1, -1):
        left, top = -columns[level][0], -rows[level][0]
        own = down[level][:, top : top + high[level], left : left + wide[level]]
        if filled is not None:
            x, y = np.arange(own.shape[2]), np.arange(own.shape[1])
            half = (filled[:, :, x // 2] + filled[:, :, (x + 1) // 2]) * np.float32(0.5)
            own = own + (1 - own[3]) * (half[:, y // 2] + half[:, (y + 1) // 2]) * np.float32(0.5)
        filled = own
    assert filled is not None
    return np.asarray(filled[:3] / filled[3], np.float32)


APP = App(
    name="interpolate",
    about="filling by a pyramid of 10 levels, f32 RGBA",
    sizes={"full": (2560, 1536), "small": (192, 128)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (*size, 3),
    dtype="float32",
    work=lambda size: Work(80 * size[0] * size[1], 28 * size[0] * size[1]),
    tolerance=Tolerance(1e-5, 1e-4),
)
