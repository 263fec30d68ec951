"""Demands of a pipeline with extern stages on its inputs, and how C functions find these in memory."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.toolchain import DEFAULT_OPTIONS, compile_shared, find_compiler
from halide_core.runtime.crt.runtime_library import HEADER
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
SOURCE = r"""
int demands_calls = 0;

static int32_t at(const halide_buffer_t *b, int32_t x, int32_t y) {  /* neighbours in x are neighbours in memory */
    return ((const int32_t *)b->host)[x - b->dim[0].min + (y - b->dim[1].min) * b->dim[1].stride];
}

/* out(x, y) = a(x, y) + k * b(x, y); counts its calls */
int demands_sum(halide_buffer_t *a, halide_buffer_t *b, int32_t k, halide_buffer_t *out) {
    for (int d = 0; d < 2; d++) {
        if (!a->host) a->dim[d] = out->dim[d];
        if (!b->host) b->dim[d] = out->dim[d];
    }
    if (!a->host || !b->host || !out->host) return 0;
    demands_calls++;
    for (int32_t y = out->dim[1].min; y < out->dim[1].min + out->dim[1].extent; y++) {
        for (int32_t x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++) {
            ((int32_t *)out->host)[x - out->dim[0].min + (y - out->dim[1].min) * out->dim[1].stride] =
                at(a, x, y) + k * at(b, x, y);
        }
    }
    return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def calls(tmp_path_factory: pytest.TempPathFactory) -> ctypes.c_int:
    folder = tmp_path_factory.mktemp("demands")
    source, output = folder / "demands.c", folder / "demands.so"
    source.write_text(f'#include "{HEADER}"\n{SOURCE}', encoding="utf-8")
    compile_shared([source], output, options=DEFAULT_OPTIONS, compiler=find_compiler())
    return ctypes.c_int.in_dll(ctypes.CDLL(str(output), ctypes.RTLD_GLOBAL), "demands_calls")


def summed(a: hl.Func | hl.ImageParam, k: object) -> hl.Func:
    """f of an extern stage that is passed one thing twice."""
    e, f = hl.Func("e"), hl.Func("f")
    e.define_extern("demands_sum", [a, a, k], hl.Int(32), [x, y])
    f[x, y] = e[x, y] + 1
    return f


def picture() -> hl.ImageParam:
    return hl.ImageParam(hl.Int(32), 2, "im")


def test_part_of_memory_that_is_passed_twice() -> None:
    im, array = picture(), np.arange(400, dtype=np.int32).reshape(20, 20)
    im.set(hl.Buffer(array[:, 2:12]))
    assert np.array_equal(summed(im, 1000).realize([8, 8]), array[:8, 2:10] * 1001 + 1)


def test_padded_stage_that_is_passed_twice() -> None:
    g = hl.Func("g")
    g[x, y] = x + 10 * y
    e = hl.Func("first")
    e.define_extern("demands_sum", [g, g, 1], hl.Int(32), [x, y])
    e.compute_root().align_storage(x, 8)
    j, i = np.mgrid[0:4, 0:5]
    assert np.array_equal(summed(e, 3).realize([5, 4]), 8 * (i + 10 * j) + 1)


def test_dense_copy_is_passed_unless_a_stride_is_promised() -> None:
    im, array = picture(), np.arange(64, dtype=np.int32).reshape(4, 16)
    f = summed(im, 1)
    im.set(hl.Buffer(array[:, ::2]))
    assert np.array_equal(f.realize([8, 4]), array[:, ::2] * 2 + 1)
    im.dim(1).set_stride(16)
    refused(hl.PipelineError, lambda: f.realize([8, 4]), '"im" has stride 2', at="f.realize([8, 4])")
    im.dim(1).set_stride(hl.Expr())
    im.dim(0).set_stride(hl.Expr())
    assert np.asarray(f.realize([8, 4]))[0, 1] == 2 * array[0, 1] + 1  # the function takes it for dense


def test_range_of_a_param_that_is_passed(calls: ctypes.c_int) -> None:
    g, k = hl.Func("g"), hl.Param(hl.Int(32), "k", 3)
    g[x, y] = x
    f = summed(g, k * 2)
    k.set_range(1, 9)
    assert np.asarray(f.realize([2, 1])).tolist() == [[1, 8]]
    k.set(10)
    calls.value = 0
    refused(hl.PipelineError, lambda: f.realize([2, 1]), '"k" must be at most 9, not 10', at="f.realize([2, 1])")
    assert calls.value == 0


def test_promises_about_an_input_that_is_passed(calls: ctypes.c_int) -> None:
    im = picture()
    im.dim(0).set_min(0)
    f = summed(im, 1)
    buffer = hl.Buffer(np.ones((4, 8), np.int32))
    buffer.set_min([-2, 0])
    im.set(buffer)
    calls.value = 0
    refused(hl.PipelineError, lambda: f.realize([2, 1]), '"im" must have min 0 in dimension 0', at="f.realize([2, 1])")
    assert calls.value == 0


def test_promise_that_mentions_the_shape_of_an_output_is_no_reason_to_refuse() -> None:
    im = picture()
    f = summed(im, 1)
    im.dim(0).set_extent(f.output_buffer().dim(0).extent())
    im.set(hl.Buffer(np.ones((4, 8), np.int32)))
    assert np.asarray(f.realize([8, 1])).tolist() == [[3] * 8]


def test_requirements_are_met_before_a_function_is_called(calls: ctypes.c_int) -> None:
    im, k = picture(), hl.Param(hl.Int(32), "k", 3)
    im.set(hl.Buffer(np.ones((4, 8), np.int32)))
    f = summed(im, hl.require(k > 0, k, "k is", k))
    assert np.asarray(f.realize([1, 1])).tolist() == [[5]]
    k.set(-1)
    calls.value = 0
    refused(hl.PipelineError, lambda: f.realize([1, 1]), "k is -1", at="f.realize([1, 1])")
    assert calls.value == 0
