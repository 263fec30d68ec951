"""Funcs that are an input inside of it and read others of these outside: near an edge blocks read all that they do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.blocks.pipelines import x

BC = hl.BoundaryConditions
Maker = Callable[[hl.ImageParam, hl.ImageParam], hl.Func]


def _outside(image: hl.ImageParam, value: hl.Expr) -> hl.Func:
    """The image, and beyond it a value."""
    f, n = hl.Func("edged"), image.width()
    f[x] = hl.select((x < 0) | (x >= n), value, image[hl.clamp(x, 0, n - 1)])
    return f


def _by_way_of_a_third(a: hl.ImageParam, _b: hl.ImageParam) -> hl.Func:
    edge, twice = BC.repeat_edge(a), hl.Func("twice")
    twice[x] = edge[x] * 2
    return _outside(a, twice[x + 50])


def _further_than_its_own(a: hl.ImageParam, _b: hl.ImageParam) -> hl.Func:
    f, image, n = hl.Func("further"), BC.repeat_image(a), a.width()
    f[x] = hl.select((x < 0) | (x >= n), image[x + 130], image[x])
    return f


MAKERS: dict[str, Maker] = {
    "a boundary condition of another": lambda a, b: BC.repeat_image(BC.repeat_edge(a), [(0, a.width())]),
    "the other one further away": _further_than_its_own,
    "by way of a third": _by_way_of_a_third,
    "of another input": lambda a, b: _outside(a, BC.repeat_image(b)[x + 50]),
}


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("both", [False, True])
def test_all_that_is_read_near_an_edge_is_there(name: str, *, both: bool) -> None:
    a, b = (hl.ImageParam(hl.Int(32), 1, image) for image in "ab")
    edged, f = MAKERS[name](a, b), hl.Func("f")
    f[x] = edged[x - 5] + 3 * edged[x + 5] + (BC.repeat_image(b)[x] if both else 0)
    inputs = {a: np.arange(100, dtype=np.int32) * 7, b: np.arange(100, dtype=np.int32) * 11 + 100000}
    for image, array in inputs.items():
        image.set(array)
    want = np.asarray(f.realize([100]))
    given = {image: inputs[image] for image in (a, b) if both or image is a or "input" in name}
    assert np.array_equal(hl.dask.realize(f, (100,), chunks=(34,), inputs=given).compute(), want)


def test_an_input_that_no_block_needs_may_have_an_edge() -> None:
    a, n, f, total = hl.ImageParam(hl.Int(32), 1, "a"), hl.Param(hl.Int(32), "n", 0), hl.Func("f"), hl.Func("total")
    b, r = hl.ImageParam(hl.Int(32), 1, "b"), hl.RDom([(0, n)], "r")
    total[x] = 0
    total[x] += BC.repeat_image(b)[x + r]
    f[x] = total[x] + BC.repeat_edge(a)[x - 1]
    inputs = {a: np.arange(100, dtype=np.int32), b: np.arange(9, dtype=np.int32)}
    got = hl.dask.realize(f, (100,), chunks=(34,), inputs=inputs).compute()
    assert got.tolist() == [0, *range(99)]
