"""Funcs, Pipelines, Buffers, Params and Callables in pickles and deep copies, before and after they ran."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl

Again = Callable[[Any], Any]


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.fixture(params=[_pickled, copy.deepcopy], ids=["pickle", "deepcopy"])
def again(request: pytest.FixtureRequest) -> Again:
    """An object made again from another."""
    made: Again = request.param
    return made


x, y = hl.Var("x"), hl.Var("y")


def _blur(image: hl.ImageParam) -> tuple[hl.Func, hl.Func]:
    padded = hl.BoundaryConditions.repeat_edge(image)
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = padded[x - 1, y] + padded[x + 1, y]
    down[x, y] = across[x, y - 1] + across[x, y + 1]
    down[x, 0] += 1
    across.compute_at(down, y)
    down.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    return across, down


def test_a_func_with_its_schedule_and_its_inputs(again: Again) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    _, down = _blur(image)
    image.set(np.arange(20, dtype=np.int32).reshape(4, 5))
    want = np.asarray(down.realize([5, 4]))
    other = again(down)
    assert np.array_equal(np.asarray(other.realize([5, 4])), want)
    assert other.loop_nest() == down.loop_nest()


def test_what_is_shared_stays_shared(again: Again) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    across, down, image = again((*_blur(image), image))
    across.compute_root()
    image.set(np.ones((4, 5), np.int32))
    assert "across.compute_root()" in str(hl.Schedule(down))
    assert np.asarray(down.realize([5, 4])).sum() == 4 * 20 + 5


def test_expressions_are_the_nodes_that_there_are_already(again: Again) -> None:
    p = hl.Param(hl.Int(32), "p")
    e = (x + p) * hl.select(x < 3, p, y)
    other, q = again((e, p))
    assert other._node() is not e._node(), "another parameter"
    q_source = q.source
    again_made = (x + q) * hl.select(x < 3, q, y)
    assert other._node() is again_made._node() and q_source is not p.source
    pure = (x + y) * 3
    assert again(pure)._node() is pure._node()


def test_depth_is_no_limit(again: Again) -> None:
    e = hl.Expr(x)
    for k in range(3000):
        e = e * 3 + k
    assert again(e)._node() is e._node()
    f = hl.Func("f")
    f[x] = x
    for _ in range(200):
        g = hl.Func("g")
        g[x] = f[x] + 1
        f = g
    assert again(f).function.definitions[0].values[0].type is hl.Int(32)


def test_reductions_params_and_pipelines(again: Again) -> None:
    p = hl.Param(hl.Int(32), "p", 7)
    r = hl.RDom([(0, 10)], "r")
    r.where(r.x != 3)
    total, twice = hl.Func("total"), hl.Func("twice")
    total[()] = p
    total[()] += r.x
    twice[x] = total[()] * 2 + x
    total.compute_root()
    other = again(twice)
    want = 2 * (7 + 45 - 3)
    assert np.asarray(other.realize([4])).tolist() == [want, want + 1, want + 2, want + 3]
    both = again(hl.Pipeline([twice, total]))
    assert [f.name() for f in both.outputs()] == ["twice", "total"] and both.infer_arguments()[0].name == "p"


def test_a_callable_that_ran(again: Again) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    _, down = _blur(image)
    run = down.compile_to_callable([image])
    picture = np.arange(20, dtype=np.int32).reshape(4, 5)
    want, got = np.zeros((4, 5), np.int32), np.zeros((4, 5), np.int32)
    run(picture, want)
    run(picture, want)
    again(run)(picture, got)
    assert np.array_equal(got, want)


def test_buffers(again: Again) -> None:
    b = hl.Buffer(np.arange(6, dtype=np.uint8).reshape(2, 3))
    b.set_min([5, -1])
    f = hl.Func("f")
    f[x, y] = b[x, y] + hl.u8(1)
    out = hl.Buffer(hl.UInt(8), [3, 2])
    out.set_min([5, -1])
    f.realize(out)
    other = again(out)
    assert other.dim(0).min() == 5 and np.array_equal(np.asarray(other), np.asarray(b) + 1)
    again(f).realize(other)
    assert np.array_equal(np.asarray(other), np.asarray(b) + 1)
