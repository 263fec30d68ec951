"""Outputs of ``realize``: several outputs, no dimensions, empty windows, Buffers that start anywhere, types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import halide_core as hl
from tests.support.checking import Array, check, check_reference, computed, image, numbers, same, variables

x, y, xo, xi = variables("x y xo xi")
Tail = hl.TailStrategy
DTYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]


def both(*, placed: bool = False) -> tuple[hl.Func, hl.Func, Array]:
    """f, and g that consumes it to its right."""
    source = numbers((9, 14), np.int32)
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = image(source)[x, y] * 2
    g[x, y] = f[x, y] + f[x + 1, y]
    if placed:
        f.vectorize(x, 4)
        g.vectorize(x, 4, Tail.GuardWithIf).parallel(y)
    return f, g, source


@pytest.mark.parametrize("placed", [False, True])
def test_outputs_are_right_when_one_consumes_the_other(placed: bool) -> None:
    f, g, source = both(placed=placed)
    twice = source * np.int32(2)
    first, second = hl.Buffer(hl.Int(32), [14, 9]), hl.Buffer(hl.Int(32), [13, 9])
    assert hl.Pipeline([f, g]).realize([first, second]) is None
    same(first, twice)
    same(second, twice[:, :-1] + twice[:, 1:])
    f, g, _ = both(placed=placed)
    found = hl.Pipeline([g, f]).realize([13, 9])
    assert isinstance(found, tuple)
    same(found[0], twice[:, :-1] + twice[:, 1:])
    same(found[1], twice[:, :-1])
    check_reference(g, [13, 9], twice[:, :-1] + twice[:, 1:])


def test_outputs_error_when_the_consumed_one_is_too_small() -> None:
    f, g, _ = both()
    small = [np.zeros((9, 13), np.int32), np.zeros((9, 13), np.int32)]
    with pytest.raises(hl.PipelineError) as caught:
        hl.Pipeline([f, g]).realize(small)
    for text in ('"f"', "from 0 to 13", "only 0 to 12", "dimension 0"):
        assert text in caught.value.message


def test_outputs_are_right_when_they_are_of_different_types_and_sizes() -> None:
    source = numbers((6, 8), np.uint8)
    ip = image(source)
    rows, picture, total = hl.Func("rows"), hl.Func("picture"), hl.Func("total")
    r = hl.RDom([(0, 8)])
    rows[y] = hl.u16(0)
    rows[y] += hl.u16(ip[r.x, y])
    picture[x, y] = hl.f32(ip[x, y]) / 2.0
    total[()] = rows[0] + rows[5]
    rows.compute_root()
    a, b, c = np.zeros(6, np.uint16), np.zeros((6, 8), np.float32), np.zeros((), np.uint16)
    hl.Pipeline([rows, picture, total]).realize([a, b, c])
    sums = source.sum(1, np.uint16)
    same(a, sums)
    same(b, source.astype(np.float32) / np.float32(2))
    same(c, np.array(sums[0] + sums[5]))


def test_pipeline_of_outputs_runs_when_nothing_connects_them() -> None:
    a, b = hl.Func("a"), hl.Func("b")
    a[x] = x
    b[x] = hl.u8(x * 3)
    found = hl.Pipeline([a, b]).realize([5])
    assert isinstance(found, tuple)
    same(found[0], np.arange(5, dtype=np.int32))
    same(found[1], np.arange(0, 15, 3, dtype=np.uint8))


def test_func_without_dimensions_has_one_value() -> None:
    source = numbers((3, 4), np.float64)
    ip = image(source)
    f = hl.Func("f")
    f[()] = ip[1, 2] + ip[3, 0]
    check(f, [], np.array(source[2, 1] + source[0, 3]))
    out = np.zeros((), np.float64)
    f.realize(out)
    assert out[()] == source[2, 1] + source[0, 3]
    g = hl.Func("g")
    g[x] = f[()] * hl.f64(x)
    f.compute_root()
    check(g, [3], np.arange(3) * out)


@pytest.mark.parametrize("sizes", [[0, 5], [5, 0], [0, 0]], ids=str)
@pytest.mark.parametrize("factor", [0, 8])
def test_window_may_be_empty_when_it_is_realized(sizes: list[int], factor: int) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    padded = hl.BoundaryConditions.repeat_edge(image(numbers((4, 4), np.int16)))
    f[x, y] = padded[x - 1, y] + padded[x + 1, y]
    g[x, y] = f[x, y - 1] + f[x, y + 1]
    f.compute_root()
    if factor:
        f.vectorize(x, factor)
        g.vectorize(x, factor).parallel(y)
    wanted = np.zeros(sizes[::-1], np.int16)
    same(computed(g, sizes), wanted)
    same(g.evaluate(sizes), wanted)
    g.realize(np.zeros(sizes[::-1], np.int16))


def test_window_may_be_empty_when_the_input_is_too() -> None:
    ip = image(np.zeros((0, 7), np.uint8))
    f = hl.Func("f")
    f[x, y] = ip[x, y] + 1
    same(computed(f, [7, 0]), np.zeros((0, 7), np.uint8))
    g = hl.Func("g")
    g[x, y] = hl.BoundaryConditions.repeat_edge(ip)[x, y]
    same(computed(g, [0, 4]), np.zeros((4, 0), np.uint8))
    with pytest.raises(hl.PipelineError, match='"input"'):
        g.realize([2, 2])


def test_outputs_may_be_empty_when_another_is_not() -> None:
    a, b = hl.Func("a"), hl.Func("b")
    a[x] = x
    b[x] = x * 2
    a.vectorize(x, 4, Tail.GuardWithIf)
    empty, some = np.zeros(0, np.int32), np.zeros(3, np.int32)
    hl.Pipeline([a, b]).realize([empty, some])
    same(some, np.array([0, 2, 4], np.int32))
    hl.Pipeline([a, b]).realize([some, empty])
    same(some, np.arange(3, dtype=np.int32))


@pytest.mark.parametrize("low", [-100, -7, -1, 3, 2**30 - 40, -(2**30)])
def test_window_starts_anywhere_when_a_buffer_says_so(low: int) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x] = f[x - 1] + f[x + 1] - (x % 7) + (x // 5)
    f.compute_at(g, xo).vectorize(x, 4)
    g.split(x, xo, xi, 8).vectorize(xi)
    at = np.arange(low, low + 37, dtype=np.int64)
    wanted = (at * 6 - at % 7 + at // 5).astype(np.int32)  # 6x wraps near 2^30 in both
    with np.errstate(over="ignore"):
        check(g, [(low, 37)], wanted)


def test_buffers_and_arrays_are_filled_when_given() -> None:
    f = hl.Func("f")
    f[x, y] = x * 10 + y
    wanted = np.arange(6, dtype=np.int32) * 10 + np.arange(4, dtype=np.int32)[:, None]
    array, buffer = np.full((4, 6), -1, np.int32), hl.Buffer(hl.Int(32), [6, 4])
    assert f.realize(array) is None
    assert f.realize(buffer) is None
    assert f.realize([array]) is None
    same(array, wanted)
    same(buffer, wanted)
    part = buffer.cropped([(2, 3), (1, 2)])
    part.fill(-1)
    f.realize(part)
    same(buffer, wanted)  # a crop keeps its coordinates


# What numpy arrays may look like.

VIEWS = {
    "dense": np.s_[:, :],
    "rows": np.s_[::2, :],
    "columns": np.s_[:, ::3],
    "both": np.s_[1::2, 2::3],
    "upside down": np.s_[::-1, :],
    "reversed": np.s_[:, ::-1],
    "reversed both": np.s_[::-2, ::-1],
}


def view(of: str, dtype: Any, shape: tuple[int, int] = (12, 21)) -> Array:
    if of == "transposed":
        return numbers(shape[::-1], dtype).T
    result: Array = numbers(shape, dtype)[VIEWS[of]]
    return result


@pytest.mark.parametrize("factor", [0, 4])
@pytest.mark.parametrize("given", [*VIEWS, "transposed"])
def test_strided_input_is_read_right(given: str, factor: int) -> None:
    source = view(given, np.int16)
    before = source.copy()
    f = hl.Func("f")
    f[x, y] = image(source)[x, y] * 3
    if factor:
        f.vectorize(x, factor)
    check(f, source.shape[::-1], before * np.int16(3))
    same(source, before)


@pytest.mark.parametrize("factor", [0, 4])
@pytest.mark.parametrize("given", [*VIEWS, "transposed"])
def test_strided_output_is_written_right(given: str, factor: int) -> None:
    whole = np.full((12, 21), 9, np.int32)
    out = np.full((21, 12), 9, np.int32).T if given == "transposed" else whole[VIEWS[given]]
    f = hl.Func("f")
    f[x, y] = x * 100 + y
    if factor:
        f.vectorize(x, factor, Tail.GuardWithIf)
    f.realize(out)
    rows, columns = out.shape
    same(out, np.arange(columns, dtype=np.int32) * 100 + np.arange(rows, dtype=np.int32)[:, None])
    if given != "transposed":
        untouched = np.ones_like(whole, bool)
        untouched[VIEWS[given]] = False
        assert (whole[untouched] == 9).all()


def test_input_that_repeats_a_row_is_read_right() -> None:
    row = numbers((5,), np.int32)
    repeated = np.lib.stride_tricks.as_strided(row, (4, 5), (0, 4))
    f = hl.Func("f")
    f[x, y] = image(repeated)[x, y] + y
    check(f, [5, 4], repeated + np.arange(4, dtype=np.int32)[:, None])


def test_storage_order_of_a_buffer_does_not_matter() -> None:
    source = numbers((3, 5, 7), np.uint8)
    given = hl.Buffer(hl.UInt(8), [7, 5, 3], [2, 0, 1])
    np.asarray(given)[...] = source
    c = hl.Var("c")
    f = hl.Func("f")
    ip = hl.ImageParam(hl.UInt(8), 3, "input")
    ip.set(given)
    f[x, y, c] = ip[x, y, c] + hl.u8(c)
    out = hl.Buffer.make_interleaved(hl.UInt(8), 7, 5, 3)
    f.realize(out)
    same(out, source + np.arange(3, dtype=np.uint8)[:, None, None])


# The same memory.


def smooth(source: Array) -> hl.Func:
    f = hl.Func("f")
    padded = hl.BoundaryConditions.repeat_edge(image(source))
    f[x, y] = padded[x - 1, y] + padded[x, y + 1] * 2
    return f.vectorize(x, 4, Tail.GuardWithIf).parallel(y)


def smoothed(source: Array) -> Array:
    p = np.pad(source, 1, mode="edge")
    result: Array = p[1:-1, :-2] + p[2:, 1:-1] * source.dtype.type(2)
    return result


@pytest.mark.parametrize("given", [*VIEWS, "transposed"])
def test_result_is_as_of_a_copy_when_input_and_output_are_one_array(given: str) -> None:
    both = view(given, np.int32)
    wanted = smoothed(both.copy())
    smooth(both).realize(both)
    same(both, wanted)


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:-1], np.s_[1:]),
        (np.s_[::-1], np.s_[:]),
        (np.s_[:, 2:], np.s_[:, :-2]),
        (np.s_[:, ::2], np.s_[:, 1::2]),
    ],
    ids=["up", "down", "reversed", "left", "interleaved"],
)
def test_result_is_as_of_a_copy_when_input_and_output_overlap(read: Any, written: Any) -> None:
    memory = numbers((8, 12), np.int32)
    wanted = memory.copy()
    wanted[written] = smoothed(memory[read].copy())
    smooth(memory[read]).realize(memory[written])
    same(memory, wanted)


def test_outputs_error_when_they_overlap() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    g[x] = x * 2
    memory = np.zeros(10, np.int32)
    with pytest.raises(hl.PipelineError) as caught:
        hl.Pipeline([f, g]).realize([memory[:6], memory[4:]])
    assert 'buffer "f"' in caught.value.message
    assert 'buffer "g"' in caught.value.message
    hl.Pipeline([f, g]).realize([memory[:5], memory[5:]])
    same(memory, np.array([0, 1, 2, 3, 4, 0, 2, 4, 6, 8], np.int32))


# PEER.md, "Buffers and realizing".


def five(tail: hl.TailStrategy) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = x + 10 * y
    return f.vectorize(x, 8, tail)


@pytest.mark.parametrize("tail", [Tail.Auto, Tail.ShiftInwards, Tail.RoundUp, Tail.GuardWithIf], ids=lambda t: t.name)
def test_window_smaller_than_a_vector_is_right_when_the_buffer_is_ours(tail: hl.TailStrategy) -> None:
    wanted = np.arange(5, dtype=np.int32) + 10 * np.arange(5, dtype=np.int32)[:, None]
    found = five(tail).realize([5, 5])
    assert isinstance(found, hl.Buffer)
    assert (found.width(), found.height()) == (5, 5)
    same(found, wanted)
    check_reference(five(tail), [5, 5], wanted)


@pytest.mark.parametrize("tail", [Tail.Auto, Tail.ShiftInwards, Tail.RoundUp], ids=lambda t: t.name)
def test_window_smaller_than_a_vector_is_refused_when_the_buffer_is_the_caller_s(tail: hl.TailStrategy) -> None:
    mine = np.full((5, 5), -1, np.int32)
    with pytest.raises(hl.PipelineError) as caught:
        five(tail).realize(mine)
    for text in ('"f"', "from 0 to 7", "only 0 to 4", "dimension 0"):
        assert text in caught.value.message
    assert (mine == -1).all()


def test_window_smaller_than_a_vector_is_right_when_the_tail_is_guarded() -> None:
    mine = np.full((7, 7), -1, np.int32)
    five(Tail.GuardWithIf).realize(mine[1:6, 1:6])
    same(mine[1:6, 1:6], np.arange(5, dtype=np.int32) + 10 * np.arange(5, dtype=np.int32)[:, None])
    assert int((mine == -1).sum()) == 24


# Types.


@pytest.mark.parametrize("factor", [0, 8])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_arithmetic_is_right_when_the_type_varies(dtype: type, factor: int) -> None:
    a, b = numbers((6, 19), dtype, 1), numbers((6, 19), dtype, 2)
    p, q = image(a, "a"), image(b, "b")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = p[x, y] * q[x, y] - q[x, y]
    g[x, y] = hl.select(f[x, y] < p[x, y], hl.max(f[x, y], q[x, y]), f[x + 1, y] + p[x, y])
    if factor:
        f.compute_at(g, y).vectorize(x, factor)
        g.vectorize(x, factor, Tail.GuardWithIf).parallel(y)
    product = a * b - b
    chosen = np.where(product < a, np.maximum(product, b), np.roll(product, -1, 1) + a)
    check(g, [18, 6], chosen[:, :18])


@pytest.mark.parametrize("factor", [0, 16])
def test_comparison_is_of_type_bool(factor: int) -> None:
    a, b = numbers((4, 21), np.int8, 1), numbers((4, 21), np.bool_, 2)
    f = hl.Func("f")
    f[x, y] = (image(a, "a")[x, y] > 3) & ~image(b, "b")[x, y]
    if factor:
        f.vectorize(x, factor)
    check(f, [21, 4], (a > 3) & ~b)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_conversions_are_right_when_they_start_from_the_type(dtype: type) -> None:
    source = (numbers((1, 16), np.uint8) % 128).astype(dtype)
    ip, f = image(source), hl.Func("f")
    total = hl.f64(0.0)
    for cast in (hl.u8, hl.u16, hl.i32, hl.u64, hl.f32):
        total = total + hl.f64(cast(ip[x, y]))
    f[x, y] = total
    f.vectorize(x, 8)
    check(f, [16, 1], 5 * source.astype(np.float64))


def test_params_are_passed_whatever_their_type() -> None:
    f = hl.Func("f")
    values = {"i8": -7, "u16": 65535, "i64": -(2**62), "u64": 2**64 - 1, "f32": 0.5, "f64": 1e300, "bool": True}
    types = [hl.Int(8), hl.UInt(16), hl.Int(64), hl.UInt(64), hl.Float(32), hl.Float(64), hl.Bool()]
    params = {n: hl.Param(t, n, v) for (n, v), t in zip(values.items(), types, strict=True)}
    same(computed(equal_to(params["i64"], params["bool"]), [2]), np.array([-(2**62), 1 - 2**62]))
    f[()] = hl.f64(params["i8"]) + hl.f64(params["u16"]) * params["f64"] * hl.f64(params["f32"])
    check(f, [], np.array(-7.0 + 65535 * 1e300 * 0.5))
    g = hl.Func("g")
    g[()] = params["u64"]
    check(g, [], np.array(2**64 - 1, np.uint64))


def equal_to(number: hl.Param, flag: hl.Param) -> hl.Func:
    f = hl.Func("f")
    f[x] = hl.select(flag, number + x, hl.i64(0))
    return f


def test_nan_and_infinity_are_kept_when_vectorized() -> None:
    source = np.array([np.nan, np.inf, -np.inf, -0.0, 1.5, np.nan, 2.0, 3.0], np.float32)
    ip = image(source)
    g = hl.Func("g")
    g[x] = hl.select(ip[x] == ip[x], ip[x] * 2.0, -1.0)
    g.vectorize(x, 8)
    check(g, [8], np.where(np.isnan(source), np.float32(-1), source * np.float32(2)))


@pytest.mark.parametrize("strides", [(4, 4), (0, 4), (4, 0), (28, 4), (4, -4)])
def test_output_whose_points_share_memory_is_refused(strides: tuple[int, int]) -> None:
    f = hl.Func("f")
    f[x, y] = x + 10 * y
    shared = as_strided(np.zeros(128, np.int32)[16:], (8, 8), strides)
    with pytest.raises(hl.PipelineError, match="has points that share memory"):
        f.realize(hl.Buffer(shared))
    assert not shared.any()


@pytest.mark.parametrize(
    "layout",
    [
        lambda a: a[:8, :9],
        lambda a: a[::2, ::-2],
        lambda a: a[::-1].T,
        lambda a: a[:1, :9],
        lambda a: a[:8, :1],
        lambda a: a[:0],
        lambda a: as_strided(a, (1, 8), (0, 4)),
    ],
)
def test_output_of_any_other_layout_is_written(layout: Callable[[Array], Array]) -> None:
    f = hl.Func("f")
    f[x, y] = x + 10 * y
    out = layout(np.zeros((16, 18), np.int32))
    f.realize(hl.Buffer(out))
    rows, columns = np.indices(out.shape)
    same(out, (columns + 10 * rows).astype(np.int32))
