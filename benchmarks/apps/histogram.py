"""Histogram equalisation of a uint8 picture: luminance, its histogram, the cumulative one as a table, and back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, picture

_RED, _GREEN, _BLUE = (float(np.float32(w)) for w in (0.299, 0.587, 0.114))
_CR, _CB = (float(np.float32(w)) for w in (0.713, 0.564))
_OF_CR, _OF_CB = (float(np.float32(w)) for w in (1.403, 1.773))
_G_CB, _G_CR = (float(np.float32(w)) for w in (0.344, 0.714))


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (picture(width, height, 3, "uint8", 200, 4),)


def _build(hl: Any, size: Size) -> Built:
    width, height = size
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.UInt(8), 3, "image")
    luma, cr, cb = hl.Func("luma"), hl.Func("cr"), hl.Func("cb")
    weighed = hl.f32(_RED) * image[x, y, 0] + hl.f32(_GREEN) * image[x, y, 1] + hl.f32(_BLUE) * image[x, y, 2]
    luma[x, y] = hl.u8(hl.clamp(weighed, 0.0, 255.0))
    cr[x, y] = (hl.f32(image[x, y, 0]) - hl.f32(luma[x, y])) * hl.f32(_CR) + hl.f32(128.0)
    cb[x, y] = (hl.f32(image[x, y, 2]) - hl.f32(luma[x, y])) * hl.f32(_CB) + hl.f32(128.0)

    rows, counts, table = hl.Func("rows"), hl.Func("counts"), hl.Func("table")
    along, down, steps = hl.RDom([(0, width)], "along"), hl.RDom([(0, height)], "down"), hl.RDom([(1, 255)], "steps")
    rows[x, y] = 0
    rows[hl.clamp(hl.i32(luma[along, y]), 0, 255), y] += 1
    counts[x] = 0
    counts[x] += rows[x, down]
    table[x] = counts[0]
    table[steps.x] = table[steps.x - 1] + counts[steps.x]

    equal, output = hl.Func("equal"), hl.Func("output")
    share = hl.f32(table[hl.clamp(hl.i32(luma[x, y]), 0, 255)]) * hl.f32(255.0 / (width * height))
    equal[x, y] = hl.clamp(share, 0.0, 255.0)
    red = equal[x, y] + (cr[x, y] - hl.f32(128.0)) * hl.f32(_OF_CR)
    blue = equal[x, y] + (cb[x, y] - hl.f32(128.0)) * hl.f32(_OF_CB)
    green = equal[x, y] - hl.f32(_G_CB) * (cb[x, y] - hl.f32(128.0)) - hl.f32(_G_CR) * (cr[x, y] - hl.f32(128.0))
    chosen = hl.select(c == 0, red, hl.select(c == 1, green, blue))
    output[x, y, c] = hl.u8(hl.clamp(chosen, 0.0, 255.0))
    funcs = SimpleNamespace(luma=luma, cr=cr, cb=cb, rows=rows, counts=counts, table=table, equal=equal, x=x, y=y, c=c)
    return Built(hl, output, (image,), funcs)


def _plain(b: Built) -> None:
    f = b.funcs
    for each in (f.luma, f.rows, f.counts, f.table):
        each.compute_root()


def _expert(b: Built) -> None:
    """Rows are counted in parallel, then added up; the colours are computed once for the three channels."""
    f = b.funcs
    (yi,) = b.var("yi")
    f.luma.compute_root().parallel(f.y, 16).vectorize(f.x, 16)
    f.rows.compute_root().vectorize(f.x, 16).parallel(f.y, 16)
    f.rows.update().parallel(f.y, 16)
    f.counts.compute_root().vectorize(f.x, 16)
    f.counts.update().vectorize(f.x, 16)
    f.table.compute_root()
    b.output.bound(f.c, 0, 3).split(f.y, f.y, yi, 16).reorder(f.x, f.c, yi, f.y).parallel(f.y)
    b.output.unroll(f.c).vectorize(f.x, 16)
    for each in (f.equal, f.cr, f.cb):
        each.compute_at(b.output, yi).vectorize(f.x, 16)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    r, g, b = (plane.astype(np.float32) for plane in image)
    luma = np.float32(_RED) * r + np.float32(_GREEN) * g + np.float32(_BLUE) * b
    y = np.clip(luma, 0, 255).astype(np.uint8)
    cr, cb = (r - y) * np.float32(_CR), (b - y) * np.float32(_CB)
    table = np.cumsum(np.bincount(y.ravel(), minlength=256)).astype(np.float32)
    equal = np.clip(table[y] * np.float32(255.0 / (width * height)), 0, 255)
    green = equal - np.float32(_G_CB) * cb - np.float32(_G_CR) * cr
    planes = (equal + cr * np.float32(_OF_CR), green, equal + cb * np.float32(_OF_CB))
    return np.stack([np.clip(p, 0, 255).astype(np.uint8) for p in planes])


APP = App(
    name="histogram",
    about="histogram equalisation, u8 RGB",
    sizes={"full": (2560, 1536), "small": (128, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (*size, 3),
    dtype="uint8",
    work=lambda size: Work(30 * size[0] * size[1], 6 * size[0] * size[1]),
    tolerance=Tolerance(2, 0, 1e-3),
)
