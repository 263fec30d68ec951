"""Promises about inputs and outputs: constraints on shapes, alignment, requirements; kept and broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
WIDTH, HEIGHT = 16, 5


def interleaved() -> Any:
    """A picture of (y, x, c) in memory, seen as (c, y, x)."""
    return np.arange(HEIGHT * WIDTH * 3, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3).transpose(2, 0, 1)


def brighter(image: hl.ImageParam) -> hl.Func:
    f = hl.Func("f")
    f[x, y, c] = image[x, y, c] + 1
    return f


def packed() -> hl.ImageParam:
    """An input whose channels are neighbours in memory."""
    image = hl.ImageParam(hl.UInt(8), 3, "image")
    image.dim(0).set_stride(3)
    image.dim(2).set_stride(1).set_bounds(0, 3)
    return image


@pytest.mark.parametrize("scheduled", [False, True])
def test_interleaved_pictures_are_read_and_written_in_place(scheduled: bool) -> None:
    image = packed()
    f = brighter(image)
    f.output_buffer().dim(0).set_stride(3)
    f.output_buffer().dim(2).set_stride(1)
    if scheduled:
        f.reorder(c, x, y).unroll(c, 3).vectorize(x, 8)
    data, out = interleaved(), interleaved() * 0
    image.set(data)
    f.realize(out)
    assert np.array_equal(out, data + 1)
    made = f.realize([WIDTH, HEIGHT, 3])
    assert np.array_equal(np.asarray(made), data + 1)
    assert isinstance(made, hl.Buffer)
    assert [made.dim(d).stride() for d in range(3)] == [3, 3 * WIDTH, 1]
    assert f.certify().ok


def test_planar_picture_breaks_the_promise_of_an_interleaved_one() -> None:
    image = packed()
    f = brighter(image)
    image.set(np.ascontiguousarray(interleaved()))
    with pytest.raises(hl.PipelineError, match='"image" must have stride 3 in dimension 0, not 1'):
        f.realize([WIDTH, HEIGHT, 3])


def test_input_that_shares_memory_with_the_output_keeps_its_layout() -> None:
    image = packed()
    f = brighter(image)
    f.output_buffer().dim(0).set_stride(3)
    data = interleaved()
    wanted = data + 1
    image.set(data)
    f.realize(data)
    assert np.array_equal(data, wanted)


def test_bounds_are_checked_and_inferred() -> None:
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    f = hl.Func("f")
    f[x] = image[x + 2]
    image.dim(0).set_bounds(0, 32)
    f.infer_input_bounds([8])
    found = image.get()
    assert found is not None
    assert (found.dim(0).min(), found.dim(0).extent()) == (0, 32)
    image.set(np.zeros(31, np.uint8))
    with pytest.raises(hl.PipelineError, match='"image" must have extent 32 in dimension 0, not 31'):
        f.realize([8])
    image.dim(0).set_extent(hl.Expr()).dim(0).set_min(2)
    with pytest.raises(hl.PipelineError, match='"image" must have min 2 in dimension 0, not 0'):
        f.realize([8])
    image.dim(0).set_min(hl.Expr())
    f.realize([8])


def test_promise_can_depend_on_params_and_on_other_buffers() -> None:
    n = hl.Param(hl.Int(32), "n", 8)
    a, b, f = hl.ImageParam(hl.UInt(8), 1, "a"), hl.ImageParam(hl.UInt(8), 1, "b"), hl.Func("f")
    f[x] = a[x] + b[x]
    b.dim(0).set_extent(a.dim(0).extent() * 2)
    f.output_buffer().dim(0).set_extent(n)
    assert [i.name for i in f.infer_arguments()] == ["a", "b", "n"]
    a.set(np.ones(8, np.uint8))
    b.set(np.ones(16, np.uint8))
    assert np.asarray(f.realize([8])).tolist() == [2] * 8
    with pytest.raises(hl.PipelineError, match='"f" must have extent 8 in dimension 0, not 7'):
        f.realize(np.zeros(7, np.uint8))
    b.set(np.ones(15, np.uint8))
    with pytest.raises(hl.PipelineError, match='"b" must have extent 16 in dimension 0, not 15'):
        f.realize([8])


def test_alignment_is_checked() -> None:
    image, f = hl.ImageParam(hl.Float(32), 1, "image"), hl.Func("f")
    f[x] = image[x] * 2.0
    assert image.host_alignment() == 4
    image.set_host_alignment(64)
    f.output_buffer().set_host_alignment(128)
    image.set(hl.Buffer(hl.Float(32), [9]))
    f.realize([9])
    image.set(np.asarray(hl.Buffer(hl.Float(32), [9]))[1:])
    with pytest.raises(hl.PipelineError, match='"image" is not aligned to 64 bytes'):
        f.realize([8])
    for wrong in (0, 3, -8):
        with pytest.raises(hl.DefinitionError, match="power of two"):
            image.set_host_alignment(wrong)


def test_what_is_no_promise_is_refused() -> None:
    image = hl.ImageParam(hl.Float(32), 1, "image")
    with pytest.raises(hl.DefinitionError, match="no dimension 1"):
        image.dim(1).set_min(0)
    with pytest.raises(hl.DefinitionError, match='the variable "x"'):
        image.dim(0).set_min(x)
    with pytest.raises(hl.DefinitionError, match="negative: -1"):
        image.dim(0).set_extent(-1)
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    g[x] = image[x]
    image.dim(0).set_extent(f.output_buffer().dim(0).extent())
    with pytest.raises(hl.DefinitionError, match='"image" mentions the shape of "f", which is no output'):
        g.compile_jit()
    g = hl.Func("g")
    g[x] = hl.require(f.output_buffer().dim(0).extent() > 3, f[x])
    with pytest.raises(hl.DefinitionError, match='A requirement mentions the shape of "f", which is no output'):
        g.compile_jit()
    f.compute_root()
    assert np.asarray(hl.Pipeline([f, g]).realize([4])[1]).tolist() == [0, 1, 2, 3]


def test_requirements_are_checked_at_the_start() -> None:
    image, n, f = hl.ImageParam(hl.UInt(8), 1, "image"), hl.Param(hl.Int(32), "n", 4), hl.Func("f")
    f[x] = image[x]
    pipeline = hl.Pipeline(f)
    pipeline.add_requirement(image.dim(0).extent() % n == 0, "the width", image.width(), "is no multiple of", n)
    pipeline.add_requirement(n > 1)
    assert [a.name for a in pipeline.infer_arguments()] == ["image", "n"]
    image.set(np.arange(8, dtype=np.uint8))
    assert np.asarray(pipeline.realize([8])).tolist() == list(range(8))
    n.set(3)
    with pytest.raises(hl.PipelineError, match="Requirement Failed: \\(false\\) the width 8 is no multiple of 3"):
        pipeline.realize([8])
    n.set(1)
    with pytest.raises(hl.PipelineError, match="Requirement Failed: \\(false\\) "):
        pipeline.realize([8])
    with pytest.raises(hl.DefinitionError, match='the variable "x"'):
        pipeline.add_requirement(x > 3)
    with pytest.raises(hl.DefinitionError, match='a point of "image"'):
        pipeline.add_requirement(n > 3, image[0])
    with pytest.raises(hl.DefinitionError, match="must be a condition"):
        pipeline.add_requirement(n)


def _inferred(constrain: Callable[[hl.ImageParam, hl.Func], object], n: int = 13) -> tuple[int, int]:
    x, ip, f = hl.Var("x"), hl.ImageParam(hl.Int(32), 1, "ip"), hl.Func("f")
    f[x] = ip[x + 3] * 2
    constrain(ip, f)
    f.infer_input_bounds([n])
    inferred = ip.get()
    f.realize([n])
    return inferred.dim(0).min(), inferred.dim(0).extent()


def _rounded(e: hl.Expr, factor: int) -> hl.Expr:
    return (e + (factor - 1)) // factor * factor


@pytest.mark.parametrize(
    ("constrain", "wanted"),
    [
        (lambda ip, f: ip.dim(0).set_extent(_rounded(ip.dim(0).extent(), 8)), (3, 16)),
        (lambda ip, f: ip.dim(0).set_min(ip.dim(0).min() // 4 * 4), (0, 16)),
        (lambda ip, f: ip.dim(0).set_bounds(ip.dim(0).min() // 8 * 8, _rounded(ip.dim(0).extent(), 5)), (0, 20)),
        (lambda ip, f: ip.dim(0).set_extent(32), (3, 32)),
        (lambda ip, f: f.output_buffer().dim(0).set_extent(_rounded(f.output_buffer().dim(0).extent(), 8)), (3, 16)),
    ],
)
def test_inferred_shapes_keep_constraints_upon_themselves(
    constrain: Callable[[hl.ImageParam, hl.Func], object], wanted: tuple[int, int]
) -> None:
    assert _inferred(constrain) == wanted


def test_inferred_shapes_keep_constraints_upon_each_other() -> None:
    x, f = hl.Var("x"), hl.Func("f")
    a, b = (hl.ImageParam(hl.Int(32), 1, name) for name in "ab")
    f[x] = a[x] + b[x]
    a.dim(0).set_extent(_rounded(b.dim(0).extent(), 8))
    b.dim(0).set_extent(_rounded(a.dim(0).extent(), 3))
    f.infer_input_bounds([13])
    assert [image.get().dim(0).extent() for image in (a, b)] == [24, 24]
    f.realize([13])


@pytest.mark.uncertified("no window passes the start-up checks, which is refuted")
def test_shapes_that_no_constraint_can_keep() -> None:
    with pytest.raises(hl.PipelineError, match=r'No shapes of "ip" hold what is read of them and keep the constraints'):
        _inferred(lambda ip, f: ip.dim(0).set_extent(ip.dim(0).extent() + 1))


def test_loop_of_a_promised_extent_is_unrolled() -> None:
    source, f = hl.Buffer(np.arange(36, dtype=np.uint8).reshape(4, 3, 3)), hl.Func("f")
    f[x, y, c] = source[x, y, c] + hl.u8(1)
    f.output_buffer().dim(2).set_bounds(0, 4)
    f.reorder(c, x, y).unroll(c)
    found = np.asarray(f.realize([3, 3, 4]))
    assert (found == np.arange(1, 37, dtype=np.uint8).reshape(4, 3, 3)).all()
    assert (found == f.evaluate([3, 3, 4])).all()
    with pytest.raises(hl.PipelineError, match=r"must have extent 4 in dimension 2, not 3"):
        f.realize(np.zeros((3, 3, 3), np.uint8))
