"""Refusals of pipelines that can't be computed in blocks, and of wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest

import halide_core as hl
from tests.blocks.pipelines import unsharp, x, y

A = np.ones((8, 9), np.float32)
B = A.copy()


def _copy() -> hl.Func:
    f = hl.Func("copy")
    f[x, y] = hl.f32(x)
    return f


def _scan() -> tuple[hl.Func, dict[hl.ImageParam, Any]]:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    r = hl.RDom([(1, image.height() - 1)], "r")
    f, g = hl.Func("scan"), hl.Func("g")
    f[x, y] = image[x, y]
    f[x, r] += f[x, r - 1]
    g[x, y] = f[x, y]
    f.compute_root()
    return g, {image: np.ones((500, 9), np.int32)}


def _mean() -> tuple[hl.Func, dict[hl.ImageParam, Any]]:
    image = hl.ImageParam(hl.Float(32), 2, "image")
    r = hl.RDom(image, "r")
    f, g = hl.Func("total"), hl.Func("g")
    f[()] = hl.f32(0)
    f[()] += image[r.x, r.y]
    g[x, y] = image[x, y] / f[()]
    f.compute_root()
    return g, {image: np.ones((50, 90), np.float32)}


def _anywhere() -> tuple[hl.Func, dict[hl.ImageParam, Any]]:
    image, at = hl.ImageParam(hl.Float(32), 1, "image"), hl.ImageParam(hl.Int(32), 1, "at")
    f = hl.Func("f")
    f[x] = image[hl.clamp(at[x], 0, image.width() - 1)]
    return f, {image: np.ones(5000, np.float32), at: np.ones(5000, np.int32)}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (_scan, "f[x, r] += f[x, r - 1], is no reduction by an associative operator (such as a scan"),
        (_mean, "image[r.x, r.y], takes in floats, whose sums depend on how they are bracketed."),
        (_anywhere, 'reads 19.5 KiB of "image", which has 19.5 KiB: more than memory=4.0 KiB'),
    ],
)
def test_what_takes_in_all_of_an_input_is_refused(make: Callable[[], Any], told: str) -> None:
    f, inputs = make()
    shape = (50, 9) if len(f.args()) == 2 else (5000,)
    with pytest.raises(hl.PipelineError) as caught:
        hl.dask.realize(f, shape, chunks=10, inputs=inputs, memory="4KiB")
    assert told in str(caught.value) and "can't be computed in blocks" in str(caught.value)
    assert " reads image[" in str(caught.value) and "test_errors.py" in str(caught.value)


def test_what_is_refused_is_computed_where_the_whole_input_is_allowed() -> None:
    f, inputs = _anywhere()
    got = hl.dask.realize(f, (5000,), chunks=500, inputs=inputs, memory="4KiB", whole=["image"])
    assert got.compute().tolist() == [1] * 5000


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda f, i: hl.dask.realize(f, (8, 9)), 'Input "image", made at'),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={"other": A}), 'There is no input "other". The inputs: image.'),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={3: A}), "not by 3"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A.astype("f8")}), "but its array is of float64"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A[0]}), "has 2 dimensions, its array 1"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: 3}), "needs an array, not 3"),
        (lambda f, i: hl.dask.realize(f, (8,), inputs={i: A}), "has 2 dimensions, and the shape (8,) has 1"),
        (lambda f, i: hl.dask.realize(f, (8, -1), inputs={i: A}), "A shape can't be negative"),
        (lambda f, i: hl.dask.realize(f, (8, 1.5), inputs={i: A}), "A shape is of integers"),
        (lambda f, i: hl.dask.realize(f, 8, inputs={i: A}), "A shape is a list of extents, not 8"),
        (lambda f, i: hl.dask.realize(f, (8, 9), chunks=(3, 4, 5), inputs={i: A}), "don't fit the shape (8, 9)"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A}, memory="much"), 'not \'much\''),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A}, whole=["q"]), 'There is no input "q"'),
        (lambda f, i: hl.dask.realize("f", (8, 9), inputs={i: A}), "of a Func or a Pipeline, not of 'f'"),
        (lambda f, i: hl.stream(f, A, A[:3, :3].astype("f8")), "needs an array of shape (3, 3) and type float32"),
        (lambda f, i: hl.stream(f, A, A[:, ::-1]), 'The array of "image" is written too'),
        (lambda f, i: hl.stream(f, A, [A, A]), "has 1 values at a point, and 2 arrays are given"),
        (lambda f, i: hl.stream(f, A, []), "needs an array to be written to, not list"),
        (lambda f, i: hl.stream(f, A, None), "needs an array to be written to, not NoneType"),
        (lambda f, i: hl.stream("f", A, A.copy()), "of a Func or a Pipeline, not of 'f'"),
        (lambda f, i: hl.stream(f, A, A.copy(), progress=3), "progress is a function of two numbers, not 3"),
        (lambda f, i: hl.stream(hl.Pipeline([f, _copy()]), {i: A}, [B, B]), 'Two values of "sharp" would be written'),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs=[A]), "Inputs are named, {image: array}: not list"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A.tolist()}), "needs an array, not list"),
        (lambda f, i: hl.dask.realize(f, (8, 9), chunks=(0, 4), inputs={i: A}), "a length is 0"),
        (lambda f, i: hl.dask.realize(f, (8, 9), chunks={5: 4}, inputs={i: A}), "{5: 4} don't fit the shape (8, 9)"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A}, mins=(3,)), "the shape (8, 9) differ in length"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A}, mins=3), "mins are a list of coordinates, not 3"),
        (lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: A}, mins=(0.5, 0)), "not (8, 9) from (0.5, 0)"),
        (
            lambda f, i: hl.dask.realize(f, (8, 9), inputs={i: da.from_array(A)[da.from_array(A[:, 0]) > 0]}),
            "chunks of unknown sizes",
        ),
    ],
)
def test_what_a_call_may_not_be_given(call: Callable[[Any, Any], Any], told: str) -> None:
    app = unsharp()
    with pytest.raises(hl.PipelineError) as caught:
        call(app.func, next(iter(app.inputs)))
    assert told in str(caught.value)


def test_reads_beyond_an_input_are_told_before_anything_runs() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "image")
    f = hl.Func("f")
    f[x] = image[x + 1]
    with pytest.raises(hl.PipelineError, match=r'reads "image" from 9 to 10 in dimension 0, but the array has 10 from'):
        hl.dask.realize(f, (10,), chunks=4, inputs={image: np.zeros(10, np.int32)})


def test_promises_of_shapes_hold_for_the_whole_arrays() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "image")
    image.dim(0).set_bounds(0, 10)
    f = hl.Func("f")
    f[x] = image[x] + image.width()
    lazy = hl.dask.realize(f, (10,), chunks=4, inputs={image: np.zeros(10, np.int32)})
    assert lazy.compute().tolist() == [10] * 10
    with pytest.raises(hl.PipelineError, match="is promised to be 10, but is 11"):
        hl.dask.realize(f, (10,), chunks=4, inputs={image: np.zeros(11, np.int32)})


def test_a_file_that_is_mapped_twice_is_not_written_while_it_is_read(tmp_path: Any) -> None:
    app = unsharp()
    np.save(tmp_path / "a.npy", np.zeros((2, 8, 9), np.float32))
    source, sink = (np.load(tmp_path / "a.npy", mmap_mode=mode) for mode in ("r", "r+"))
    with pytest.raises(hl.PipelineError, match='The array of "image" is written too'):
        hl.stream(app.func, source[0], sink[0])
    hl.stream(app.func, source[0], sink[1])  # the other half of the file


def test_params_and_strides_that_blocks_would_tell_of_when_they_run() -> None:
    image, p = hl.ImageParam(hl.Int(32), 2, "image"), hl.Param(hl.Int(32), "p", 3)
    p.set_range(0, 5)
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = image[x, y] + p
    p.set(9)
    zeros = np.zeros((8, 9), np.int32)
    with pytest.raises(hl.PipelineError, match=r'Param "p", made at .* must be at most 5, not 9'):
        hl.dask.realize(f, (8, 9), inputs={image: zeros})
    g[x, y] = image[x, y] + hl.i32(image.dim(1).stride())
    with pytest.raises(hl.PipelineError, match='A value depends on the stride of "image"'):
        hl.dask.realize(g, (8, 9), inputs={image: zeros})


@pytest.mark.parametrize("other", [lambda b: b[:1], lambda b: b.astype(np.float64)])
def test_chunks_that_are_not_what_dask_was_told(other: Callable[[Any], Any]) -> None:
    app = unsharp()
    lied = da.from_array(A, chunks=4).map_blocks(other, dtype=np.float32, meta=A[:0])
    lazy = hl.dask.realize(app.func, (8, 9), chunks=4, inputs=dict.fromkeys(app.inputs, lied))
    with pytest.raises(hl.PipelineError, match="A chunk of an input gave"):
        lazy.compute(scheduler="synchronous")
