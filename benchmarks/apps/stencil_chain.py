"""A chain of 5 x 5 stencils of uint16, 32 of them, whose sums wrap around."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Work, random_array

_GROUP = 4


def _inputs(size: Size) -> Inputs:
    width, height, _ = size
    return (random_array((height, width), "uint16", 5),)


def _build(hl: Any, size: Size) -> Built:
    _, _, stages = size
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    funcs = [hl.BoundaryConditions.repeat_edge(image)]
    for number in range(stages):
        before, f = funcs[-1], hl.Func(f"stage_{number}")
        total = None
        for dy in range(-2, 3):
            for dx in range(-2, 3):
                term = before[x + dx, y + dy] * hl.u16((dx + 3) * (dy + 3))
                total = term if total is None else total + term
        f[x, y] = total
        funcs.append(f)
    return Built(hl, funcs[-1], (image,), SimpleNamespace(stages=funcs[1:], x=x, y=y))


def _plain(b: Built) -> None:
    for f in b.funcs.stages[:-1]:
        f.compute_root()


def _expert(b: Built) -> None:
    """Groups of four stages; the last of a group is tiled, and the others are computed at its tiles."""
    x, y, stages = b.funcs.x, b.funcs.y, b.funcs.stages
    xi, yi = b.var("xi yi")
    last = None
    for number in range(len(stages) - 1, -1, -1):
        f = stages[number]
        if (len(stages) - 1 - number) % _GROUP == 0:
            if f is not b.output:
                f.compute_root()
            f.tile(x, y, xi, yi, 512, 128).vectorize(xi, 32).parallel(y)
            last = f
        else:
            f.compute_at(last, x).vectorize(x, 32)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    _, _, stages = size
    value = np.pad(image, 2 * stages, mode="edge")
    for _ in range(stages):
        height, width = value.shape
        total = np.zeros((height - 4, width - 4), np.uint16)
        for dy in range(-2, 3):
            for dx in range(-2, 3):
                part = value[2 + dy : height - 2 + dy, 2 + dx : width - 2 + dx]
                total += part * np.uint16((dx + 3) * (dy + 3))
        value = total
    return value


APP = App(
    name="stencil_chain",
    about="32 stencils of 5 x 5, u16",
    sizes={"full": (2560, 1536, 32), "small": (512, 128, 5)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: size[:2],
    dtype="uint16",
    work=lambda size: Work(50 * size[0] * size[1] * size[2], 4 * size[0] * size[1]),
)
