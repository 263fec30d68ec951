"""The maximum over a disc: vertical maxima of every power of two, then one slice of the disc after another.

A vertical run of any length is the maximum of two overlapping runs whose length is a power of two.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Work, random_array


def _inputs(size: Size) -> Inputs:
    width, height, _ = size
    return (random_array((3, height, width), "float32", 6),)


def _build(hl: Any, size: Size) -> Built:
    width, height, radius = size
    x, y, c, t = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("t")
    image = hl.ImageParam(hl.Float(32), 3, "image")
    padded = hl.BoundaryConditions.repeat_edge(image, [(0, width), (0, height)])
    levels = math.ceil(math.log2(2 * radius + 1)) + 1

    runs = hl.Func("runs")  # runs[x, y, c, t]: the maximum of 2**t values downward from y
    runs[x, y, c, t] = padded[x, y, c]
    grow = hl.RDom([(-radius, height + 2 * radius), (1, levels - 1)], "grow")
    reach = hl.clamp(hl.i32(1) << (grow[1] - 1), 0, 2 * radius)
    runs[x, grow[0], c, grow[1]] = hl.max(
        runs[x, grow[0], c, grow[1] - 1],
        runs[x, hl.min(grow[0] + reach, height + radius - 1), c, grow[1] - 1],
    )

    dx = hl.Var("dx")
    half = hl.Func("half")  # the disc's half height, dx beside its centre
    half[dx] = hl.i32(hl.floor(hl.sqrt(hl.f32((radius + hl.f32(0.25)) * (radius + hl.f32(0.25)) - hl.f32(dx * dx)))))
    level = hl.Func("level")  # the power of two that fits into the slice
    fitting = hl.i32(0)
    for power in range(1, levels):
        fitting = fitting + hl.select(2 * half[dx] + 1 >= 1 << power, 1, 0)
    level[dx] = fitting

    output = hl.Func("output")
    across = hl.RDom([(-radius, 2 * radius + 1)], "across")
    most = hl.clamp(half[across], 0, radius)
    which = hl.clamp(level[across], 0, levels - 1)
    top = runs[x + across, y - most, c, which]
    length = hl.clamp(hl.i32(1) << which, 1, 1 << (levels - 1))  # a shift alone tells bounds inference nothing
    bottom = runs[x + across, y + most + 1 - length, c, which]
    output[x, y, c] = hl.maximum(hl.max(top, bottom))
    return Built(hl, output, (image,), SimpleNamespace(runs=runs, grow=grow, half=half, level=level, x=x, y=y, c=c))


def _plain(b: Built) -> None:
    for f in (b.funcs.runs, b.funcs.half, b.funcs.level):
        f.compute_root()


def _expert(b: Built) -> None:
    """A strip of columns at a time, whose runs stay in the cache."""
    f = b.funcs
    (xo,) = b.var("xo")
    f.half.compute_root()
    f.level.compute_root()
    b.output.split(f.x, xo, f.x, 128).reorder(f.x, f.y, xo, f.c).vectorize(f.x, 16).parallel(xo).parallel(f.c)
    f.runs.compute_at(b.output, xo).vectorize(f.x, 16)
    f.runs.update().reorder(f.x, f.grow[0], f.grow[1]).vectorize(f.x, 16)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height, radius = size
    padded = np.pad(image, ((0, 0), (radius, radius), (radius, radius)), mode="edge")
    result = np.full_like(image, -np.inf)
    runs = [padded]  # runs[t][y]: the maximum of 2**t rows from y
    while 2 << (len(runs) - 1) <= 2 * radius + 1:
        step = 1 << (len(runs) - 1)
        runs.append(np.maximum(runs[-1][:, :-step], runs[-1][:, step:]))
    for dx in range(-radius, radius + 1):
        half = math.floor(math.sqrt((radius + 0.25) ** 2 - dx * dx))
        level = (2 * half + 1).bit_length() - 1
        columns = runs[level][:, :, radius + dx : radius + dx + width]
        for top in (radius - half, radius + half + 1 - (1 << level)):
            np.maximum(result, columns[:, top : top + height], out=result)
    return result


APP = App(
    name="max_filter",
    about="maximum over a disc of radius 26, f32 RGB",
    sizes={"full": (2560, 1536, 26), "small": (128, 40, 5)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (*size[:2], 3),
    dtype="float32",
    work=lambda size: Work(3 * size[0] * size[1] * (6 + 2 * (2 * size[2] + 1)), 24 * size[0] * size[1]),
)
