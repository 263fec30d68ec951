"""The product of two float32 matrices, C[i, j] = sum over k of A[i, k] B[k, j]."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, random_array

_TILES = {8: (24, 4), 16: (32, 8)}
"""The tile of C whose accumulators stay in registers, by the lanes of one: 3 x 4 of 16, or 2 x 8 of 32."""


def _inputs(size: Size) -> Inputs:
    (n,) = size
    return random_array((n, n), "float32", 7), random_array((n, n), "float32", 8)


def _build(hl: Any, size: Size) -> Built:
    (n,) = size
    x, y, k = hl.Var("x"), hl.Var("y"), hl.Var("k")
    a, b = hl.ImageParam(hl.Float(32), 2, "a"), hl.ImageParam(hl.Float(32), 2, "b")
    panel, product, output = hl.Func("panel"), hl.Func("product"), hl.Func("output")
    along = hl.RDom([(0, n)], "along")
    panel[x, k] = b[x, k]
    product[x, y] = hl.f32(0.0)
    product[x, y] += a[along, y] * panel[x, along]
    output[x, y] = product[x, y]
    return Built(hl, output, (a, b), SimpleNamespace(panel=panel, product=product, along=along, n=n, x=x, y=y))


def _plain(b: Built) -> None:
    b.funcs.product.compute_root()


def _expert(b: Built) -> None:
    """A panel of B is copied to be dense; each tile of C is summed in registers."""
    x, y, along = b.funcs.x, b.funcs.y, b.funcs.along
    xi, yi = b.var("xi yi")
    lanes = b.lanes(b.hl.Float(32))
    wide, high = _TILES.get(lanes, (2 * lanes, 4))
    b.output.bound(x, 0, b.funcs.n).bound(y, 0, b.funcs.n)
    b.output.tile(x, y, xi, yi, wide, high).reorder(xi, yi, y, x).vectorize(xi, lanes).unroll(xi).unroll(yi)
    b.output.parallel(x)
    b.funcs.panel.compute_at(b.output, x).vectorize(x, lanes).unroll(x)
    b.funcs.product.compute_at(b.output, y).vectorize(x, lanes).unroll(x).unroll(y)
    b.funcs.product.update().reorder(x, y, along).vectorize(x, lanes).unroll(x).unroll(y)


def _reference(inputs: Inputs, size: Size) -> Array:
    a, b = inputs
    return np.asarray(a @ b)  # type: ignore[operator]  # both are arrays


APP = App(
    name="sgemm",
    about="matrix product, f32",
    sizes={"full": (1024,), "992": (992,), "small": (64,)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (size[0], size[0]),
    dtype="float32",
    work=lambda size: Work(2 * size[0] ** 3, 12 * size[0] ** 2),
    tolerance=Tolerance(1e-3, 1e-4),
)
