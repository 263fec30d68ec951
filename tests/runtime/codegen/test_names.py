"""Names of pipelines, Funcs and Params that C or the emitted code has a meaning for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.names import symbol
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import same, variables
from tests.support.symbols import symbols

x, y = variables("x y")

TAKEN = """
    min_i64 floor_f32x8 v8sf v16si i32_from_f32 i32x8_of_i8x8 bits_i32x8_from_f32x8 is_nan_f32x8 fma_f32x8
    rare_log_f32x8 library_sin_f32 all_i32x8 exp_f64 join_f32x8
    sqrt_f32 gather_f32x8_i64x8 gather_two_f32x8_i64x8 lookup_u8x16_i32x16 load_shared_2_f32x8 load_every_2_f32x8
    load_every_2_from_1_f32x8 load_reversed_u8x8 u8x8_from_limited_f32x8
    splat_const_u8x4 load_strided_u8x4 complement_u8x4 mul_narrow_i32x8 f32x8_two i64_of_i32x2 product_i64 INT32_MAX
    SIZE_MAX UINT8_C sinf exp expm1
    log1pf atan2 acosh memset memcpy malloc free pthread_create halide_malloc exit printf puts strnlen roundl
    open close rename
"""
FREE = """
    blur_u8 floor_plan minimum i32blur stripes strings logo sinus expand load store_it gather lookup max_filter MAX v8
    free_it
"""


@pytest.mark.parametrize("name", TAKEN.split())
def test_pipeline_gets_another_symbol(name: str) -> None:
    assert symbol(name) != name


@pytest.mark.parametrize("name", FREE.split())
def test_pipeline_keeps_its_name(name: str) -> None:
    assert symbol(name) == name


def test_pipeline_gets_no_symbol_that_the_runtime_calls(tmp_path: Path) -> None:
    kind, library = hl.OutputFileType.static_library, tmp_path / "runtime.a"
    hl.compile_standalone_runtime({kind: str(library)}, hl.get_host_target())
    assert [s.name for s in symbols(library) if not s.defined and symbol(s.name) == s.name] == []


def program(name: str) -> hl.Func:
    """Rounds, converts, and reads neighbours anywhere, under one name for the pipeline, a Func and a Param."""
    table, at = hl.ImageParam(hl.Float(32), 1, f"{name}_t"), hl.ImageParam(hl.UInt(8), 1, f"{name}_i")
    table.set(np.arange(9, dtype=np.float32))
    at.set(np.arange(16, dtype=np.uint8) % 8)
    inner, f = hl.Func(name), hl.Func(name)
    place = hl.i32(at[x])
    inner[x, y] = hl.floor(table[hl.clamp(place, 0, 7)] + table[hl.clamp(place, 0, 7) + 1] * 0.5) + hl.Param(
        hl.Float(32), name, 2.0
    )
    f[x, y] = hl.i32(inner[x, y]) + y
    inner.compute_root().vectorize(x, 8)
    f.vectorize(x, 8)
    return f


COMPILED = """
    floor_f32x8 v8sf i32x8_from_f32x8 i64_of_i32x2 f32x8_two gather_two_f32x8_i32x8 SIZE_MAX INT32_MAX memset floorf
"""


@pytest.mark.parametrize("name", COMPILED.split())
def test_whatever_the_name_it_compiles(name: str) -> None:
    f = program(name)
    same(np.asarray(f.realize([16, 2])), f.evaluate([16, 2]))
    assert re.search(rf"\bint {symbol(name)}\(", emit_c(lower(f._request())))


@pytest.mark.parametrize("taken", ["pair.0", "pair.1"])
@pytest.mark.parametrize("at_root", [False, True])
def test_memory_of_a_tuple_has_names_of_its_own(taken: str, *, at_root: bool) -> None:
    source = hl.ImageParam(hl.Int(32), 1, taken)
    source.set(np.arange(9, dtype=np.int32))
    alike, pair, f = hl.Func(taken), hl.Func("pair"), hl.Func("f")
    alike[x] = x * 3
    pair[x] = (x + 1, source[x])
    f[x] = pair[x][0] + pair[x + 1][1] * 10 + source[x] * 100 + alike[x] * 1000
    for g in (alike, pair):
        g.compute_root() if at_root else g.compute_at(f, x)
    same(np.asarray(f.realize([8])), f.evaluate([8]))


@pytest.mark.parametrize("of_input", [False, True])
def test_memory_of_each_vector_has_a_name_of_its_own(*, of_input: bool) -> None:
    xo, xi = variables("xo xi")
    source = hl.ImageParam(hl.Int(32), 2, "g.lanes" if of_input else "source")
    source.set(np.arange(700, dtype=np.int32).reshape(7, 100))
    table, g, f = hl.Func("table" if of_input else "g.lanes"), hl.Func("g"), hl.Func("f")
    table[x, y] = x * 5 - y
    g[x, y] = source[x, y] * 3 + table[x, y]
    f[x, y] = g[x, y] + g[x, y + 1] * 7 + source[x + 1, y] + table[x + 1, y] * 3
    table.compute_root()
    f.split(x, xo, xi, 64).reorder(y, xi, xo).vectorize(xi)
    g.compute_at(f, y)
    same(np.asarray(f.realize([64, 5])), f.evaluate([64, 5]))
