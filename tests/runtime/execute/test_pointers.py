"""Params of type Handle: pointers for C functions, whose addresses are numbers in expressions."""

from __future__ import annotations

import copy
import ctypes
import pickle
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import halide_core as hl
from tests.runtime.execute.levels import Calls
from tests.support.aot import build, loaded, run
from tests.support.blame import refused
from tests.support.checking import check

x = hl.Var("x")
EXTENSION = hl.OutputFileType.python_extension


def addressed(p: hl.Param) -> hl.Func:
    f = hl.Func("addressed")
    address = hl.reinterpret(hl.UInt(64), p)
    f[x] = address + hl.u64(x) + hl.select(address == 0, hl.u64(100), hl.u64(0))
    return f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)


def test_a_c_function_gets_the_pointer(calls: Calls) -> None:
    p, e, f = hl.Param(hl.Handle(), "p"), hl.Func("e"), hl.Func("f")
    e.define_extern("levels_first", [p], hl.Int(32), [x])
    f[x] = e[x] * 2
    number = ctypes.c_int32(20)
    for given, found in ((ctypes.addressof(number), [40, 42, 44]), (0, [-2, -2, -2])):
        p.set(given)
        assert p.get() == given
        assert calls.of(lambda: f.realize([3]))[0] == found
    callable = f.compile_to_callable([p])
    out = hl.Buffer(hl.Int(32), [3])
    for pointer, found in ((ctypes.c_void_p(ctypes.addressof(number)), 40), (ctypes.c_void_p(), -2)):
        callable(pointer, out)
        assert out[0] == found


def test_an_address_is_a_number() -> None:
    p = hl.Param(hl.Handle(), "p", 40)
    assert str(p.type()) == "handle64" and str(hl.Expr(p).type()) == "uint64"
    f = addressed(p)
    check(f, [5], np.arange(40, 45, dtype=np.uint64))
    assert np.asarray(f.realize([2])).tolist() == [40, 41]
    p.set(0)
    assert np.asarray(f.realize([2])).tolist() == [100, 101]
    assert [(a.name, str(a.type)) for a in f.infer_arguments()] == [("p", "handle64")]


def test_a_program_in_c_passes_a_pointer(tmp_path: Path) -> None:
    p = hl.Param(hl.Handle(), "p")
    addressed(p).compile_to_static_library(str(tmp_path / "addressed"), [p], "addressed")
    main = """
#include <stdio.h>
#include "addressed.h"
int main(void) {
    uint64_t out[3];
    halide_dimension_t d = {0, 3, 1, 0};
    halide_buffer_t b = {.host = (uint8_t *)out, .type = {halide_type_uint, 64, 1}, .dimensions = 1, .dim = &d};
    void *p = &d, *arguments[] = {&p, &b};
    if (addressed(p, &b) || out[2] != (uint64_t)(uintptr_t)p + 2) return 1;
    out[2] = 0;
    if (addressed_argv(arguments) || out[2] != (uint64_t)(uintptr_t)p + 2) return 2;
    printf("%d:%d\\n", addressed_metadata()->arguments[0].type.code, addressed_metadata()->arguments[0].type.bits);
    return 0;
}
"""
    done = run(build(tmp_path, "main", main, "addressed.a"))
    assert (done.returncode, done.stdout) == (0, "3:64\n")


def test_an_extension_takes_an_address(tmp_path: Path) -> None:
    p = hl.Param(hl.Handle(), "p")
    path = tmp_path / "pointed.abi3.so"
    addressed(p).compile_to({EXTENSION: str(path)}, [p], "pointed")
    module: ModuleType = loaded(path)
    out = np.zeros(3, np.uint64)
    module.pointed(1 << 63, out)
    assert out.tolist() == [(1 << 63) + k for k in range(3)]


def test_the_symbol_in_a_namespace_is_that_of_a_pointer(tmp_path: Path) -> None:
    p = hl.Param(hl.Handle(), "p")
    target = hl.get_host_target().with_feature(hl.TargetFeature.CPlusPlusMangling)
    addressed(p).compile_to_c(str(tmp_path / "a.c"), [p], "a::addressed", target)
    assert "_ZN1a9addressedEPvP15halide_buffer_t" in (tmp_path / "a.c").read_text(encoding="utf-8")


def in_context() -> hl.Func:
    f = hl.Func("found")
    f[x] = hl.reinterpret(hl.UInt(64), hl.user_context_value()) + hl.u64(x)
    return f


def test_the_context_is_null_where_there_is_none(calls: Calls) -> None:
    context, e, f = hl.user_context_value(), hl.Func("e"), hl.Func("f")
    assert isinstance(context, hl.Expr) and context.type() is hl.Handle() and hl.Expr(context).type() is hl.UInt(64)
    e.define_extern("levels_first", [context], hl.Int(32), [x])
    f[x] = e[x] * 2
    assert calls.of(lambda: f.realize([3]))[0] == [-2, -2, -2]
    check(in_context(), [3], np.arange(3, dtype=np.uint64))


def test_the_context_is_no_argument() -> None:
    f, out = in_context(), hl.Buffer(hl.UInt(64), [3])
    assert f.infer_arguments() == []
    f.compile_to_callable([])(out)
    assert np.asarray(out).tolist() == [0, 1, 2]
    data = hl.serialize_pipeline(hl.Pipeline(f))
    assert hl.deserialize_parameters(data) == {}
    for again in (hl.deserialize_pipeline(data), pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert again.infer_arguments() == []
        assert np.asarray(again.realize([2])).tolist() == [0, 1]


@pytest.mark.parametrize("feature", ["user_context", "no_runtime"])
def test_a_program_in_c_gives_the_context(feature: str, tmp_path: Path) -> None:
    table, given = hl.Buffer(np.arange(3, dtype=np.uint64)), feature == "user_context"
    f = hl.Func("found")
    f[x] = in_context()[x] + table[x]
    files = {hl.OutputFileType.object: str(tmp_path / "f.o"), hl.OutputFileType.c_header: str(tmp_path / "found.h")}
    f.compile_to(files, [], "found", hl.Target(f"host-{feature}"))
    main = f"""
#include "found.h"
int main(void) {{
    uint64_t out[3] = {{0}}, word = (uint64_t)(uintptr_t)out;
    halide_dimension_t d = {{0, 3, 1, 0}};
    halide_buffer_t b = {{.host = (uint8_t *)out, .type = {{halide_type_uint, 64, 1}}, .dimensions = 1, .dim = &d}};
    if (found({"out, " if given else ""}&b)) return 1;
    return out[2] != {"word" if given else "0 * word"} + 4;
}}
"""
    assert run(build(tmp_path, "main", main, "f.o", runtime=True)).returncode == 0


def test_a_pipeline_that_was_written_has_the_pointer() -> None:
    p = hl.Param(hl.Handle(), "p", 7)
    data = hl.serialize_pipeline(hl.Pipeline(addressed(p)))
    assert np.asarray(hl.deserialize_pipeline(data).realize([2])).tolist() == [7, 8]


@pytest.mark.parametrize("value", ["a", -1, 2.5, 1 << 64])
def test_what_is_no_address_is_refused(value: object) -> None:
    p = hl.Param(hl.Handle(), "p")
    refused(hl.TypeMismatchError, lambda: p.set(value), '"p"', "pointer", repr(value), at="p.set(value)")  # type: ignore[arg-type]


def test_a_stage_that_is_passed_a_pointer_is_not_memoized(calls: Calls) -> None:
    p, e, f = hl.Param(hl.Handle(), "p", 0), hl.Func("e"), hl.Func("f")
    e.define_extern("levels_first", [p], hl.Int(32), [x])
    f[x] = e[x] * 2
    e.compute_root().memoize()
    refused(hl.ScheduleError, lambda: f.realize([3]), '"p"', "memoize()", "points to", at="memoize()")
