"""Extern stages: a C function that computes a Func, by Halide's protocol, in every place where one can stand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.toolchain import DEFAULT_OPTIONS, compile_shared, find_compiler
from halide_core.runtime.crt.runtime_library import HEADER
from tests.support.blame import refused
from tests.support.checking import image

x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")
SOURCE = r"""
int test_asked = 0;

/* out(x) = in(x - 1) + in(x) + in(x + 1) + k */
int test_box3(halide_buffer_t *in, int32_t k, halide_buffer_t *out) {
    const int32_t min = out->dim[0].min, extent = out->dim[0].extent;
    if (!in->host) {
        test_asked++;
        in->dim[0].min = min - 1;
        in->dim[0].extent = extent + 2;
        return out->host ? 1 : 0;
    }
    const int32_t *from = (const int32_t *)in->host;
    for (int32_t x = 0; x < extent; x++) {
        const int32_t at = (min + x - in->dim[0].min) * in->dim[0].stride;
        ((int32_t *)out->host)[x] = from[at - 1] + from[at] + from[at + 1] + k;
    }
    return 0;
}

/* out(x, y) = a(x) * b(y), of float and uint8 */
int test_outer(halide_buffer_t *a, halide_buffer_t *b, bool negative, float scale, halide_buffer_t *out) {
    if (!a->host || !b->host || !out->host) {
        if (!a->host) { a->dim[0] = out->dim[0]; a->dim[0].stride = 1; }
        if (!b->host) { b->dim[0] = out->dim[1]; b->dim[0].stride = 1; }
        return 0;
    }
    for (int32_t j = 0; j < out->dim[1].extent; j++) {
        for (int32_t i = 0; i < out->dim[0].extent; i++) {
            const float left = ((const float *)a->host)[i + out->dim[0].min - a->dim[0].min];
            const uint8_t right = b->host[j + out->dim[1].min - b->dim[0].min];
            ((float *)out->host)[i + j * out->dim[1].stride] = (negative ? -scale : scale) * left * right;
        }
    }
    return 0;
}

int test_squares(halide_buffer_t *out) {
    if (!out->host) return 0;
    for (int32_t x = 0; x < out->dim[0].extent; x++) {
        ((int32_t *)out->host)[x] = (out->dim[0].min + x) * (out->dim[0].min + x);
    }
    return 0;
}

int test_calls = 0;

/* out(x) = in(x) * k; counts its calls */
int test_counted(halide_buffer_t *in, int32_t k, halide_buffer_t *out) {
    if (!in->host) {
        in->dim[0] = out->dim[0];
        return 0;
    }
    test_calls++;
    for (int32_t x = 0; x < out->dim[0].extent; x++) {
        ((int32_t *)out->host)[x] = ((const int32_t *)in->host)[out->dim[0].min + x - in->dim[0].min] * k;
    }
    return 0;
}

/* asks for more of the output than is needed, to multiples of 8 */
int test_rounding(halide_buffer_t *in, halide_buffer_t *out) {
    if (!in->host) {
        out->dim[0].extent = (out->dim[0].extent + 7) / 8 * 8;
        in->dim[0] = out->dim[0];
        return 0;
    }
    if (out->dim[0].extent % 8) return 5;
    for (int32_t x = 0; x < out->dim[0].extent; x++) {
        ((int32_t *)out->host)[x] = -((const int32_t *)in->host)[out->dim[0].min + x - in->dim[0].min];
    }
    return 0;
}

/* a(x) = in(x) * 2, b(x) = in(x) / 2 as float */
int test_two(halide_buffer_t *in, halide_buffer_t *a, halide_buffer_t *b) {
    if (!in->host) {
        in->dim[0].min = a->dim[0].min < b->dim[0].min ? a->dim[0].min : b->dim[0].min;
        in->dim[0].extent = a->dim[0].extent;
        return 0;
    }
    for (int32_t x = 0; x < a->dim[0].extent; x++) {
        const int32_t from = ((const int32_t *)in->host)[a->dim[0].min + x - in->dim[0].min];
        ((int32_t *)a->host)[x] = from * 2;
        ((float *)b->host)[x] = from / 2.0f;
    }
    return 0;
}

/* out(x) = a(x + 1) + b(x), of the two components of one Func */
int test_of_two(halide_buffer_t *a, halide_buffer_t *b, halide_buffer_t *out) {
    if (!a->host || !b->host) {
        a->dim[0] = b->dim[0] = out->dim[0];
        a->dim[0].extent++;
        return 0;
    }
    for (int32_t x = 0; x < out->dim[0].extent; x++) {
        const int32_t at = out->dim[0].min + x;
        ((int32_t *)out->host)[x] = ((const int32_t *)a->host)[at + 1 - a->dim[0].min]
                                  + (int32_t)((const float *)b->host)[at - b->dim[0].min];
    }
    return 0;
}

/* out(x, y) = the distance in memory of neighbours in dimension 0, times 1000, and that of rows */
int test_strides(halide_buffer_t *out) {
    if (!out->host) return 0;
    for (int32_t y = 0; y < out->dim[1].extent; y++) {
        for (int32_t x = 0; x < out->dim[0].extent; x++) {
            ((int32_t *)out->host)[x * out->dim[0].stride + y * out->dim[1].stride] =
                out->dim[0].stride * 1000 + out->dim[1].stride;
        }
    }
    return 0;
}

/* out(x) = the extent that is computed, of which it asks for a multiple of 8 */
int test_widening(halide_buffer_t *out) {
    if (!out->host) {
        out->dim[0].extent = (out->dim[0].extent + 7) / 8 * 8;
        return 0;
    }
    for (int32_t x = 0; x < out->dim[0].extent; x++) ((int32_t *)out->host)[x] = out->dim[0].extent;
    return 0;
}

int test_failing(halide_buffer_t *out) { return 77; }
"""


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The C functions, in this process."""
    folder: Path = tmp_path_factory.mktemp("extern")
    source, output = folder / "stages.c", folder / "stages.so"
    source.write_text(f'#include <stdbool.h>\n#include "{HEADER}"\n{SOURCE}', encoding="utf-8")
    compile_shared([source], output, options=DEFAULT_OPTIONS, compiler=find_compiler())
    return ctypes.CDLL(str(output), ctypes.RTLD_GLOBAL)


def squares() -> hl.Func:
    f = hl.Func("squares")
    f[x] = x * x
    return f


def box3(of: hl.Func, k: Any = 0, name: str = "box") -> hl.Func:
    e = hl.Func(name)
    e.define_extern("test_box3", [of, k], hl.Int(32), 1)
    return e


def expected_box(at: Any, k: int = 0) -> Any:
    return 3 * at * at + 2 + k


def test_stage_between_others(library: Any) -> None:
    e, f = box3(squares(), 7), hl.Func("f")
    f[x] = e[x] + e[x + 2]
    f.vectorize(x, 4)
    e.compute_root()
    at = np.arange(6)
    before = ctypes.c_int.in_dll(library, "test_asked").value
    assert np.array_equal(np.asarray(f.realize([6])), expected_box(at, 7) + expected_box(at + 2, 7))
    assert ctypes.c_int.in_dll(library, "test_asked").value > before


def test_stage_as_an_output_and_into_a_window_of_its_own() -> None:
    e = box3(squares())
    assert np.array_equal(np.asarray(e.realize([5])), expected_box(np.arange(5)))
    out = hl.Buffer(hl.Int(32), [4])
    out.set_min([-3])
    e.realize(out)
    assert list(out) == expected_box(np.arange(-3, 1)).tolist()


def test_stages_in_a_row_and_a_func_between() -> None:
    inner = box3(squares(), 1, "inner")
    twice, between = box3(inner, 2, "twice"), hl.Func("between")
    between[x] = inner[x] * 2
    outer, f = box3(between, hl.Param(hl.Int(32), "k", 3), "outer"), hl.Func("f")
    f[x] = twice[x] + outer[x] * 1000
    first = expected_box(np.arange(-2, 8), 1)
    sums = first[:-2] + first[1:-1] + first[2:]
    found = np.asarray(f.realize([6]))
    assert np.array_equal(found, ((sums + 2) + (2 * sums + 3) * 1000)[1:-1])


def test_values_images_and_buffers_are_passed() -> None:
    image, scale = hl.ImageParam(hl.Float(32), 1, "image"), hl.Param(hl.Float(32), "scale")
    bytes_, e, f = hl.Buffer(np.arange(1, 9, dtype=np.uint8)), hl.Func("outer"), hl.Func("f")
    e.define_extern("test_outer", [image, bytes_, scale > 2.0, hl.abs(scale) + 1], hl.Float(32), [x, y])
    f[x, y] = e[x + 1, y] * 2
    data = np.linspace(0, 1, 6, dtype=np.float32)
    image.set(data)
    for value, sign in ((0.5, 1.0), (3.0, -1.0)):
        scale.set(value)
        expected = np.outer(np.arange(1, 5), data[1:6]) * sign * (value + 1) * 2
        assert np.allclose(np.asarray(f.realize([5, 4])), expected)
    call = f.compile_to_callable([scale, image])
    out = np.zeros((4, 5), np.float32)
    call(0.5, data, out)
    call(0.5, data * 2, out)
    assert np.allclose(out, np.outer(np.arange(1, 5), data[1:6]) * 6)


def test_bounds_of_inputs_go_through_the_function() -> None:
    image, g = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("g")
    g[x] = image[x + 10]
    e, f = box3(g), hl.Func("f")
    f[x] = e[x - 1]
    f.infer_input_bounds([8])
    found = image.get()
    assert found is not None and (found.left(), found.width()) == (8, 10)
    image.reset()
    direct, h = hl.Func("direct"), hl.Func("h")
    direct.define_extern("test_box3", [image, 0], hl.Int(32), 1)
    h[x] = direct[x]
    h.infer_input_bounds([8])
    found = image.get()
    assert found is not None and (found.left(), found.width()) == (-1, 10)


def test_stage_without_inputs_and_one_that_widens_its_output() -> None:
    e, rounding, f = hl.Func("e"), hl.Func("rounding"), hl.Func("f")
    e.define_extern("test_squares", [], hl.Int(32), 1)
    rounding.define_extern("test_rounding", [e], hl.Int(32), 1)
    f[x] = rounding[x] + 1
    assert np.asarray(f.realize([5])).tolist() == [1 - i * i for i in range(5)]


def test_producer_that_rounds_up_is_cropped() -> None:
    g = squares()
    g.vectorize(x, 8, hl.TailStrategy.RoundUp)
    e = box3(g, 1)
    assert np.array_equal(np.asarray(e.realize([5])), expected_box(np.arange(5), 1))


def test_what_a_stage_says_of_itself() -> None:
    e = box3(squares(), 7)
    assert e.is_extern() and e.extern_function_name() == "test_box3" and e.defined()
    assert e.type() is hl.Int(32) and [v.name() for v in e.args()] == ["_0"]
    assert str(e) == "box[_0]: extern stage test_box3(squares, 7)"
    assert not squares().is_extern() and squares().extern_function_name() == ""


def test_arguments_say_what_they_are() -> None:
    image, data = hl.ImageParam(hl.UInt(8), 1, "image"), hl.Buffer(hl.UInt(8), [2])
    asked: list[Callable[[hl.ExternFuncArgument], bool]] = [
        lambda a: a.is_func(), lambda a: a.is_expr(), lambda a: a.is_buffer(), lambda a: a.is_image_param()
    ]  # fmt: skip
    for which, given in enumerate((squares(), hl.Expr(3), data, image)):
        argument = hl.ExternFuncArgument(given)
        assert argument.defined() and [ask(argument) for ask in asked] == [k == which for k in range(4)]
    assert not hl.ExternFuncArgument().defined()


def test_failure_of_the_function_ends_the_run() -> None:
    e = hl.Func("e")
    e.define_extern("test_failing", [], hl.Int(32), 1)
    refused(hl.PipelineError, lambda: e.realize([3]), '"test_failing"', '"e"', "77", at="e.realize([3])")


def test_mistakes_are_refused() -> None:
    e, undefined = hl.Func("e"), hl.Func("undefined")
    none = hl.Func("none")
    none.define_extern("no_such_function", [], hl.Int(32), 1)
    refused(hl.PipelineError, lambda: none.realize([3]), '"no_such_function"', "CDLL", at="none.realize([3])")
    refused(hl.DefinitionError, lambda: e.define_extern("f g", [], hl.Int(8), 1), "'f g'", at="e.define_extern")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [undefined], hl.Int(8), 1), '"undefined"', at="e.def")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [x], hl.Int(8), 1), '"x"', "starts", at="[x]")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [], hl.Handle(), 1), "handle64", at="hl.Handle()")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [], 8, 1), "number type", at="[], 8, 1")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [], hl.Int(8), -1), "-1", "dimensions", at="hl.Int(8), -1")
    refused(hl.DefinitionError, lambda: e.define_extern("f", [], hl.Int(8), [x, x]), "different", at="[x, x]")
    nothing = hl.ExternFuncArgument()
    refused(hl.DefinitionError, lambda: e.define_extern("f", [nothing], hl.Int(8), 1), "undefined", at="[nothing]")
    made = box3(squares())
    refused(hl.DefinitionError, lambda: made.define_extern("f", [], hl.Int(8), 1), '"box"', "already", at="made.define")
    refused(hl.DefinitionError, lambda: made.__setitem__(x, 3), '"box"', '"x"', '"_0"', at="made.__setitem__")
    refused(hl.NotAvailableError, lambda: made.evaluate([3]), '"box"', "extern stage", at="made.evaluate")
    refused(hl.NotAvailableError, lambda: made.certify().ok, '"box"', "realize()", at="made.certify")
    refused(hl.NotAvailableError, lambda: made.explain(input="in"), "loop nests", at="made.explain")
    refused(hl.NotAvailableError, lambda: made.compile_to_c("f.c", []), '"box"', at="made.compile_to_c")


def test_memoized_stage_is_called_for_new_keys_only(library: Any) -> None:
    im, version = image(np.arange(1, 6, dtype=np.int32), "im"), hl.Param(hl.Int(32), "version", 1)
    k, calls = hl.Param(hl.Int(32), "k", 2), ctypes.c_int.in_dll(library, "test_calls")
    g, e, f = hl.Func("g"), hl.Func("e"), hl.Func("f")
    g[x] = hl.memoize_tag(im[x], version)
    e.define_extern("test_counted", [g, k], hl.Int(32), 1)
    f[x] = e[x] + e[x + 1]
    e.compute_root().memoize(hl.EvictionKey(version))
    hl.memoization_cache_cleanup()
    calls.value = 0
    for scale, size, count in ((2, 4, 1), (2, 4, 1), (3, 4, 2), (3, 3, 3), (2, 4, 3)):
        k.set(scale)
        assert np.asarray(f.realize([size])).tolist() == [scale * (2 * i + 3) for i in range(size)]
        assert calls.value == count
    hl.memoization_cache_evict(1)
    f.realize([4])
    assert calls.value == 4
    hl.memoization_cache_cleanup()
    bare = hl.Func("bare")
    bare.define_extern("test_counted", [im, k], hl.Int(32), 1)
    h = hl.Func("h")
    h[x] = bare[x]
    bare.compute_root().memoize()
    refused(hl.ScheduleError, lambda: h.realize([4]), "memoize", '"im"', "memoize_tag", at="bare.compute_root()")


def two(of: hl.Func, name: str = "two") -> hl.Func:
    e = hl.Func(name)
    e.define_extern("test_two", [of], [hl.Int(32), hl.Float(32)], 1)
    return e


def test_stage_of_several_values_is_read_by_component() -> None:
    e, f = two(squares()), hl.Func("f")
    f[x] = hl.f32(e[x + 1][0]) + e[x][1]
    f.vectorize(x, 4)
    e.compute_root()
    at = np.arange(6)
    assert np.asarray(f.realize([6])).tolist() == (2 * (at + 1) ** 2 + at**2 / 2).tolist()


def test_stage_of_several_values_as_an_output() -> None:
    doubles, halves = two(squares()).realize([5])
    at = np.arange(5)
    assert np.asarray(doubles).tolist() == (2 * at**2).tolist() and np.asarray(halves).tolist() == (at**2 / 2).tolist()


def test_component_that_alone_is_read() -> None:
    e, f = two(squares()), hl.Func("f")
    f[x] = e[x][1] * 2
    assert np.asarray(f.realize([5])).tolist() == [float(i * i) for i in range(5)]


@pytest.mark.parametrize("extern", [False, True])
def test_stage_that_is_passed_several_values_gets_as_many_buffers(extern: bool) -> None:
    g, e = hl.Func("g"), hl.Func("e")
    g[x] = (2 * x * x, hl.f32(x * x) / 2)
    e.define_extern("test_of_two", [two(squares()) if extern else g], hl.Int(32), 1)
    assert list(e.realize([5])) == [2 * (i + 1) ** 2 + i * i // 2 for i in range(5)]


def test_tag_of_a_value_that_is_passed_is_the_key(library: Any) -> None:
    k, version = hl.Param(hl.Float(32), "k", 2), hl.Param(hl.Int(32), "version", 1)
    calls = ctypes.c_int.in_dll(library, "test_calls")
    for tags, seen in ((None, [1, 2, 3, 3]), ((), [1, 1, 2, 2]), ((version,), [1, 1, 1, 2])):
        e, f, scale = hl.Func("e"), hl.Func("f"), hl.i32(k)
        passed = scale if tags is None else hl.memoize_tag(scale, *tags)
        e.define_extern("test_counted", [squares(), passed], hl.Int(32), 1)
        f[x] = e[x]
        e.compute_root().memoize()
        hl.memoization_cache_cleanup()
        calls.value, counts, values = 0, [], []
        for number, v in ((2, 1), (2.5, 1), (3, 1), (3, 2)):
            k.set(number)
            version.set(v)
            values.append(np.asarray(f.realize([3])).tolist()[1])
            counts.append(calls.value)
        assert counts == seen and values == [2, 2, 2 if tags else 3, 3]
    hl.memoization_cache_cleanup()


def test_requirement_of_a_value_that_is_passed(library: Any) -> None:
    k, e = hl.Param(hl.Int(32), "k", 2), hl.Func("e")
    e.define_extern("test_counted", [squares(), hl.require(k > 0, k, "k is", k)], hl.Int(32), 1)
    assert np.asarray(e.realize([3])).tolist() == [0, 2, 8]
    k.set(-1)
    refused(hl.PipelineError, lambda: e.realize([3]), "k is -1", at="e.realize([3])")


def test_memoized_stage_of_several_values_keeps_all_of_them() -> None:
    version, g, f = hl.Param(hl.Int(32), "version", 1), squares(), hl.Func("f")
    e = two(g)
    f[x] = hl.f32(e[x][0]) + e[x][1] * version
    e.compute_root().memoize()
    hl.memoization_cache_cleanup()
    for v in (1, 1, 3):
        version.set(v)
        assert np.asarray(f.realize([4])).tolist() == [2 * i * i + v * i * i / 2 for i in range(4)]
    hl.memoization_cache_cleanup()


def test_memory_of_a_stage_is_laid_out_as_asked() -> None:
    for lay, expected in (
        (lambda e: e, 1005), (lambda e: e.reorder_storage(y, x), 3001), (lambda e: e.align_storage(x, 8), 1008),
        (lambda e: e.reorder_storage(y, x).align_storage(y, 4), 4001),
    ):  # fmt: skip
        e, f = hl.Func("e"), hl.Func("f")
        e.define_extern("test_strides", [], hl.Int(32), [x, y])
        f[x, y] = e[x, y]
        lay(e.compute_root())
        assert np.asarray(f.realize([5, 3])).tolist() == [[expected] * 5] * 3
    refused(hl.ScheduleError, lambda: e.reorder_storage(x, z), '"z"', at="e.reorder_storage(x, z)")


def test_what_is_passed_is_computed_at_the_outermost_place_of_a_stage() -> None:
    g, h = squares(), hl.Func("h")
    h[x] = g[x] + 1
    e, f = box3(h), hl.Func("f")
    f[x] = e[x]
    e.compute_root()
    h.compute_at(e, hl.Var.outermost()).vectorize(x, 4)
    g.compute_at(h, x)
    assert list(f.realize([5])) == (expected_box(np.arange(5)) + 3).tolist()


def test_stage_without_inputs_is_asked_for_its_region_too() -> None:
    e, f = hl.Func("e"), hl.Func("f")
    e.define_extern("test_widening", [], hl.Int(32), 1)
    f[x] = e[x]
    e.compute_root()
    assert list(f.realize([5])) == [8] * 5


def test_stages_that_params_rule_out_are_not_computed(library: Any) -> None:
    wanted, calls = hl.Param(hl.Bool(), "wanted"), ctypes.c_int.in_dll(library, "test_calls")
    source, e, f = squares(), hl.Func("counted"), hl.Func("f")
    e.define_extern("test_counted", [source, 3], hl.Int(32), 1)
    f[x] = hl.select(wanted, e[x], 7)
    source.compute_root(), e.compute_root()
    found = []
    for each in (False, True, False):
        wanted.set(each)
        calls.value = 0
        found.append((np.asarray(f.realize([4])).tolist(), calls.value))
    assert found == [([7] * 4, 0), ([0, 3, 12, 27], 1), ([7] * 4, 0)]
