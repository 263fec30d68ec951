"""A convolutional layer with a rectifier: N pictures, 128 channels to 128, 3 x 3, float32, channels innermost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, random_array

_VECTORS, _COLUMNS = 4, 5
"""Accumulators in registers: so many vectors of 16 output channels by so many columns."""


def _inputs(size: Size) -> Inputs:
    channels, width, height, pictures = size
    image = random_array((pictures, height + 2, width + 2, channels), "float32", 9)
    weights = random_array((channels, 3, 3, channels), "float32", 10) - np.float32(0.5)
    return image, weights, random_array((channels,), "float32", 11)


def _build(hl: Any, size: Size) -> Built:
    channels, _, _, _ = size
    c, x, y, n = hl.Var("c"), hl.Var("x"), hl.Var("y"), hl.Var("n")
    image = hl.ImageParam(hl.Float(32), 4, "image")
    weights = hl.ImageParam(hl.Float(32), 4, "weights")
    bias = hl.ImageParam(hl.Float(32), 1, "bias")
    conv, relu = hl.Func("conv"), hl.Func("relu")
    r = hl.RDom([(0, channels), (0, 3), (0, 3)], "r")
    conv[c, x, y, n] = bias[c]
    conv[c, x, y, n] += weights[c, r[1], r[2], r[0]] * image[r[0], x + r[1], y + r[2], n]
    relu[c, x, y, n] = hl.max(hl.f32(0.0), conv[c, x, y, n])
    return Built(hl, relu, (image, weights, bias), SimpleNamespace(conv=conv, r=r, size=size, c=c, x=x, y=y, n=n))


def _plain(b: Built) -> None:
    b.funcs.conv.compute_root()


def _expert(b: Built) -> None:
    """Each tile of 64 channels by 5 columns is summed in registers over all weights."""
    f = b.funcs
    co, xo = b.var("co xo")
    channels, width, height, pictures = f.size
    for var, extent in ((f.c, channels), (f.x, width), (f.y, height), (f.n, pictures)):
        b.output.bound(var, 0, extent)
    b.output.split(f.c, co, f.c, 16 * _VECTORS).split(f.x, xo, f.x, _COLUMNS).reorder(f.c, f.x, xo, f.y, f.n, co)
    b.output.vectorize(f.c, 16).unroll(f.c).unroll(f.x).parallel(f.y).parallel(f.n).parallel(co)
    f.conv.compute_at(b.output, xo).vectorize(f.c, 16).unroll(f.c).unroll(f.x)
    update = f.conv.update().reorder(f.c, f.x, f.y, f.r[0], f.r[1], f.r[2], f.n)
    update.vectorize(f.c, 16).unroll(f.c).unroll(f.x)


def _reference(inputs: Inputs, size: Size) -> Array:
    image, weights, bias = inputs
    assert isinstance(image, np.ndarray)
    assert isinstance(weights, np.ndarray)
    channels, width, height, pictures = size
    total = np.zeros((pictures, height, width, channels), np.float32) + bias
    for dy in range(3):
        for dx in range(3):
            total += image[:, dy : dy + height, dx : dx + width] @ weights[:, dy, dx, :]
    return np.maximum(total, np.float32(0))


APP = App(
    name="conv_layer",
    about="3 x 3 convolution, 128 channels, f32",
    sizes={"full": (128, 100, 80, 5), "small": (64, 10, 4, 2)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: size,
    dtype="float32",
    work=lambda size: Work(
        18 * size[0] ** 2 * size[1] * size[2] * size[3],
        4 * (2 * size[0] * size[1] * size[2] * size[3] + 9 * size[0] ** 2),
    ),
    tolerance=Tolerance(1e-3, 1e-3),
)
