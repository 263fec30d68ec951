"""Where lanes are: what all of them share, what differs, and when that fits int32."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.interval import EVERYTHING
from halide_core.analysis.linear import linear_of
from halide_core.analysis.simplify import simplify
from halide_core.ir import Binary, BinaryOp, Broadcast, Cast, ExprNode, Failure, For, IntImm, Load, LoopKind, Ramp
from halide_core.ir.types import INT32, INT64, Float, UInt
from halide_core.ir.visitor import free_variables, stmt_exprs, subexpressions, substitute, walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.around import Around
from halide_core.lowering.passes.vectorize.gather_address import (
    GatherAddress,
    LaneFacts,
    LaneTerms,
    lane_terms,
    narrow_lanes,
    narrowed,
    pairs_of_lanes,
    place_of_lanes,
    ramp_of_lanes,
    step_of_lanes,
)
from tests.support.targets import WIDE

a, s, lane, z = (ir.index_variable(name) for name in ("a", "s", "lane", "z"))
byte = ir.cast(ir.INT64, ir.Load(UInt(8), "bytes", lane))
x, y = hl.Var("x"), hl.Var("y")


def varies(e: ExprNode) -> bool:
    return lane in free_variables(e) or z in free_variables(e)


known = LaneFacts(varies)


def placed(index: ExprNode) -> GatherAddress:
    return place_of_lanes(index, lane, a, varies)


def test_what_all_lanes_share_is_apart() -> None:
    """Sums fall apart, and so does a product of one with a factor that all lanes share."""
    plus_one = ir.mul(ir.add(z, ir.ONE), s)
    place = placed(ir.add(ir.add(plus_one, ir.i64(7)), ir.mul(s, ir.i64(2))))
    assert place.offset is ir.mul(z, s)
    assert place.stride == 0
    assert place.base is ir.add(ir.mul(s, ir.i64(3)), ir.i64(7))


def test_the_lane_itself_is_a_stride() -> None:
    place = placed(ir.add(ir.mul(lane, ir.i64(3)), byte))
    assert (place.stride, place.offset) == (3, byte)
    assert place.base is ir.mul(a, ir.i64(3))


def test_steps_of_a_length_that_is_known_when_it_runs_are_a_ramp() -> None:
    twice = ir.add(ir.mul(lane, ir.i64(2)), ir.i64(5))
    base, step = ramp_of_lanes(ir.add(ir.mul(twice, s), a), lane, z, lambda e: lane in free_variables(e)) or (a, a)
    assert step is ir.mul(s, ir.i64(2))
    first = ir.mul(ir.add(ir.mul(z, ir.i64(2)), ir.i64(5)), s)
    assert linear_of(base).terms == {first: 1, a: 1}
    assert ramp_of_lanes(ir.mul(lane, ir.i64(3)), lane, a, varies) == (ir.mul(a, ir.i64(3)), ir.i64(3))
    for index in (byte, ir.mul(lane, byte), ir.mul(byte, s), ir.add(lane, byte), ir.div(lane, ir.i64(2))):
        assert ramp_of_lanes(index, lane, a, varies) is None


@pytest.mark.parametrize("step", [1, 2, -1])
def test_lanes_of_an_outer_dimension_are_loaded_and_stored_in_steps(step: int) -> None:
    pixels = np.random.default_rng(7).integers(0, 255, (40, 5, 3)).astype(np.uint8)
    funcs = []
    for _ in range(2):
        source = hl.ImageParam(hl.UInt(8), 3, "src")
        source.set(pixels)
        f = hl.Func("f")
        f[x, y] = source[2, x, y * step + (19 if step < 0 else 0)]
        funcs.append(f)
    plain, fast = funcs[0], funcs[1].reorder(y, x).vectorize(y, 16)
    assert all(isinstance(e, Ramp) for e in indices(fast, "src"))
    assert np.array_equal(np.asarray(fast.realize([5, 20])), np.asarray(plain.realize([5, 20])))


@pytest.mark.parametrize(
    ("e", "fits"),
    [
        (byte, True),
        (ir.minimum(ir.maximum(byte, ir.i64(3)), ir.i64(9)), True),
        (ir.mul(byte, ir.i64(1 << 20)), True),
        (ir.mul(byte, ir.i64(1 << 24)), False),
        (ir.add(ir.cast(ir.INT64, ir.Load(INT32, "ints", lane)), ir.ONE), False),
        (ir.cast(ir.INT64, ir.Load(INT32, "ints", lane)), True),
        (ir.cast(ir.INT64, ir.Load(UInt(32), "words", lane)), False),
        (ir.mul(z, s), False),
        (ir.minimum(ir.maximum(z, ir.ZERO), ir.i64(9)), False),
        (Binary(INT64, BinaryOp.MIN, ir.i64(9), ir.maximum(z, ir.ZERO)), False),
        (ir.cast(ir.INT64, ir.Load(UInt(64), "words", lane)), False),
        (ir.cast(ir.INT64, ir.Load(Float(32), "floats", lane)), False),
    ],
)
def test_what_fits_int32_is_computed_in_it(e: ExprNode, fits: bool) -> None:
    narrow = narrowed(e, known)
    assert (narrow is not None) == fits
    assert narrow is None or narrow.type is INT32


def limited(e: ExprNode, low: ExprNode, high: ExprNode) -> ExprNode:
    return ir.maximum(ir.minimum(e, high), low)


@pytest.mark.parametrize("ends", [(-5, 9), (-(1 << 40), 1 << 40), (-(1 << 31), 1 << 33), (7, 1 << 31), (1 << 31, 0)])
def test_limits_beyond_int32_are_the_nearest_number_of_it(ends: tuple[int, int]) -> None:
    """A limit may be any number, as long as what comes out is one of int32."""
    number = ir.cast(ir.INT64, ir.Load(INT32, "ints", lane))
    for limit in (ir.minimum, ir.maximum):
        e = limited(limit(number, a), ir.i64(INT32.range[0]), s)
        narrow = narrowed(ir.maximum(ir.minimum(e, ir.i64(INT32.range[1])), ir.i64(INT32.range[0])), known)
        assert narrow is not None
        for n in (-(1 << 31), -6, 0, 8, (1 << 31) - 1):
            values = {number: ir.i64(n), ir.Load(INT32, "ints", lane): ir.const(n, INT32)}
            values |= {a: ir.i64(ends[0]), s: ir.i64(ends[1])}
            one, other = (simplify(substitute(each, values)) for each in (e, narrow))
            assert isinstance(one, IntImm)
            assert isinstance(other, IntImm)
            assert other.value == max(min(one.value, (1 << 31) - 1), -(1 << 31))


def test_a_column_and_a_row_are_numbers_of_int32() -> None:
    """Whatever the rows' length is: their product is that of single lanes."""
    integer = ir.cast(ir.INT64, ir.Load(INT32, "ints", lane))
    column, row = limited(integer, ir.ZERO, a), limited(integer, ir.ZERO, ir.i64(9))
    assert narrow_lanes(placed(ir.add(column, ir.mul(row, s))), 8, known) is None
    found = lane_terms(placed(ir.add(column, ir.mul(row, s))), 8, known)
    assert found is not None
    assert found.alone is not None
    assert found.alone.type is INT32
    ((times, factor),) = found.products
    assert times.type is INT32
    assert factor is s
    assert lane_terms(placed(ir.mul(row, s)), 8, known) == LaneTerms(ir.ZERO, None, found.products)
    assert lane_terms(placed(ir.add(z, ir.mul(row, s))), 8, known) is None  # z is any number
    assert lane_terms(placed(ir.add(column, ir.mul(z, s))), 8, known) is None
    assert lane_terms(placed(ir.mul(row, row)), 8, known) is None


@pytest.mark.parametrize(
    ("lanes", "kind", "planes"),
    [
        (16, hl.UInt(8), 1),
        (8, hl.UInt(8), 3),
        (4, hl.Int(16), 3),
        (8, hl.Float(32), 1),
        (16, hl.Float(32), 3),
        (4, hl.Float(64), 1),
    ],
)
def test_lanes_in_columns_and_rows_of_their_own(lanes: int, kind: hl.Type, planes: int) -> None:
    pixels = np.random.default_rng(5).integers(0, 99, (planes, 37, 41)).astype(kind.dtype)
    found = []
    for scheduled in (False, True):
        image = hl.ImageParam(kind, 3, "image")
        image.set(pixels)
        inside = hl.BoundaryConditions.repeat_edge(image)
        f = hl.Func("f")
        column, row = (hl.cast(hl.Int(32), hl.round(e)) for e in (0.9 * x - 0.4 * y, 0.4 * x + 0.9 * y))
        f[x, y] = inside[column, row, (x + y) % planes] + inside[column + 1, row, 0]
        if scheduled:
            f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
        found.append(np.asarray(f.realize([45, 39])))
    assert np.array_equal(*found)


@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.Auto])
def test_offsets_from_coordinates_are_numbers_of_int32(tail: hl.TailStrategy) -> None:
    """Windows stay within 2^30, and offsets of 16 bits near them."""
    pixels = np.random.default_rng(5).integers(0, 99, (23, 41)).astype(np.uint8)
    moves = np.random.default_rng(6).integers(-9, 9, (2, 23, 41)).astype(np.int16)
    found = []
    for scheduled in (False, True):
        image, move = hl.ImageParam(hl.UInt(8), 2, "image"), hl.ImageParam(hl.Int(16), 3, "move")
        image.set(pixels)
        move.set(moves)
        f = hl.Func("f")
        f[x, y] = hl.BoundaryConditions.repeat_edge(image)[x + move[x, y, 0], y + move[x, y, 1]]
        if scheduled:
            f.vectorize(x, 8, tail)
            rows = [e for e in set(indices(f, "image")) if isinstance(e, Binary) and e.type.lanes() == 8]
            assert rows
            assert all(any(p.type is INT32.with_lanes(8) for p in subexpressions([e])) for e in rows)
        found.append(np.asarray(f.realize([41, 23])))
    assert np.array_equal(*found)


def test_what_is_around_is_known_inside_alone() -> None:
    """A loop's variable has no range behind the loop, nor one by a check that comes later."""
    place = Around().inside(ir.Assert(ir.less_equal(s, ir.i64(100)), Failure.INDEX_OVERFLOW, ()))
    loop = For(ir.LoopName("f", 0, 0, "a"), a, ir.Interval(ir.ZERO, s), LoopKind.SERIAL, True, ir.NOTHING)
    assert place.inside(loop).range(ir.add(a, ir.ONE)) == (1, 100)
    assert place.range(a) == place.inside(loop).range(z) == EVERYTHING
    assert Around().inside(loop).range(a)[1] > INT32.range[1]
    assert place.inside(ir.Let(z, ir.mul(s, ir.i64(2)), None)).range(z)[1] == 200
    assert place.inside(loop).range(ir.add(a, byte)) == (0, 99 + 255)


def test_strides_count_where_lanes_must_fit_int32() -> None:
    near = placed(ir.add(ir.mul(lane, ir.i64(1 << 20)), byte))
    assert narrow_lanes(near, 16, known) is not None
    far = placed(ir.add(ir.mul(lane, ir.i64(1 << 28)), byte))
    assert narrow_lanes(far, 16, known) is None


def test_strides_backwards_count_at_the_low_end_alone() -> None:
    integer = ir.cast(ir.INT64, ir.Load(INT32, "ints", lane))  # any of int32
    low = ir.minimum(integer, ir.ZERO)
    high = ir.maximum(integer, ir.ZERO)
    for stride, fitting, leaving in ((-1, high, low), (1, low, high)):
        assert narrow_lanes(placed(ir.add(ir.mul(lane, ir.i64(stride)), fitting)), 8, known) is not None
        assert narrow_lanes(placed(ir.add(ir.mul(lane, ir.i64(stride)), leaving)), 8, known) is None


def indices(f: hl.Func, name: str) -> list[ExprNode]:
    """The indices of what the program for 64-byte registers reads of an input, vectors alone."""
    trace = LoweringTrace()
    lower(f._request(target=WIDE), trace=trace)
    exprs = [e for st in walk(dict(trace.passes)["vectorize"]) for e in subexpressions(stmt_exprs(st))]
    return [e.index for e in exprs if isinstance(e, Load) and e.buffer == name and e.index.type.is_vector()]


def table() -> tuple[hl.Func, hl.Func]:
    """A table of 256, looked up by bytes: the same unscheduled, and in lanes."""
    funcs = []
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 256, (3, 64)).astype(np.uint8)
    entries = rng.integers(-(1 << 30), 1 << 30, 260).astype(np.int32)
    for _ in range(2):
        source, lut = hl.ImageParam(hl.UInt(8), 2, "src"), hl.ImageParam(hl.Int(32), 1, "lut")
        source.set(keys)
        lut.set(entries)
        f = hl.Func("f")
        f[x, y] = lut[hl.i32(source[x, y]) + 4]
        funcs.append(f)
    return funcs[0], funcs[1].vectorize(x, 16)


def test_a_table_is_looked_up_by_int32_lanes() -> None:
    plain, fast = table()
    found = indices(fast, "lut")
    assert found
    for index in found:
        assert isinstance(index, Binary) and index.op is BinaryOp.ADD
        assert isinstance(index.a, Broadcast) and isinstance(index.b, Cast)
        assert index.b.a.type is INT32.with_lanes(16)
    assert np.array_equal(np.asarray(fast.realize([64, 3])), np.asarray(plain.realize([64, 3])))


def test_rows_that_differ_by_lane_are_vectors_of_int64_that_fit_a_register() -> None:
    """The row's stride is known when it runs; two reads of neighbouring rows share what differs between lanes."""
    rows = np.random.default_rng(6).integers(0, 9, (12, 40)).astype(np.float32)
    funcs = []
    for _ in range(2):
        source = hl.ImageParam(hl.Float(32), 2, "src")
        source.set(rows)
        f = hl.Func("f")
        row = hl.clamp(hl.i32(source[x, y]), 0, 9)
        f[x, y] = source[x, row] + source[x + 1, row + 1]
        funcs.append(f)
    plain, fast = funcs[0], funcs[1].vectorize(x, 16)
    found = [e for e in set(indices(fast, "src")) if isinstance(e, Binary)]
    assert {e.type.lanes() for e in found} == {8}
    assert len({e.b for e in found}) == len(found) / 2
    assert np.array_equal(np.asarray(fast.realize([32, 10])), np.asarray(plain.realize([32, 10])))


def test_lanes_that_share_elements_are_steps() -> None:
    half = ir.div(ir.add(lane, a), ir.i64(2))
    assert step_of_lanes(placed(ir.add(half, s)), lane) == 2
    assert [step_of_lanes(placed(ir.div(lane, ir.i64(k))), lane) for k in (2, 4, 8)] == [2, 4, 8]
    assert all(step_of_lanes(placed(ir.div(lane, ir.i64(k))), lane) is None for k in (3, 5, 16))
    assert step_of_lanes(placed(ir.div(ir.mul(lane, ir.i64(2)), ir.i64(4))), lane) is None
    assert step_of_lanes(placed(ir.div(ir.add(lane, byte), ir.i64(2))), lane) is None
    assert step_of_lanes(placed(ir.add(half, lane)), lane) is None


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("lanes", [4, 16, 32])
@pytest.mark.parametrize("offset", [0, 1, 5, -3])
def test_shared_elements_are_loaded_and_no_more(count: int, lanes: int, offset: int) -> None:
    """The input ends where the last lane reads; the values are those of one lane after another."""
    width = 64
    first, last = offset // count, (width - 1 + offset) // count
    numbers = hl.Buffer(np.arange(last - first + 1, dtype=np.uint16) * 3)
    numbers.set_min([first])
    source = hl.ImageParam(hl.UInt(16), 1, "src")
    source.set(numbers)
    f = hl.Func("f")
    f[x] = source[(x + offset) // count] + hl.u16(x)
    f.vectorize(x, lanes)
    at = np.arange(width)
    want = (((at + offset) // count - first) * 3 + at).astype(np.uint16)
    assert np.array_equal(np.asarray(f.realize([width])), want)


def test_lanes_in_pairs_that_are_ramps_by_themselves() -> None:
    """Their step and first two places; none of lanes that move too far, or by what the run knows."""
    two = ir.i64(2)
    half, odd = ir.div(ir.add(lane, a), two), ir.mod(lane, two)

    def pair(index: ExprNode) -> tuple[int, ExprNode, ExprNode] | None:
        return pairs_of_lanes(index, lane, ir.ZERO, varies)

    first, second = ir.div(a, two), ir.div(ir.add(a, ir.ONE), two)
    assert pair(ir.sub(half, odd)) == (1, first, ir.sub(second, ir.ONE))
    assert pair(ir.add(half, ir.mul(odd, s))) == (1, first, ir.add(second, s))
    assert pair(ir.sub(lane, half)) == (1, ir.sub(ir.ZERO, first), ir.sub(ir.ONE, second))
    assert pair(ir.mul(half, two)) == (2, ir.mul(first, two), ir.mul(second, two))
    assert pair(ir.mul(half, ir.i64(4))) is not None
    far, back = ir.mul(half, ir.i64(5)), ir.mul(half, ir.i64(-1))
    for index in (odd, far, back, ir.mul(half, s), ir.add(half, byte), ir.div(lane, ir.i64(3)), a):
        assert pair(index) is None


@pytest.mark.parametrize("type", [hl.UInt(8), hl.UInt(16), hl.Float(32), hl.Float(64)], ids=str)
@pytest.mark.parametrize("lanes", [2, 4, 8, 32])
@pytest.mark.parametrize("first", [-5, 0])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_lanes_in_pairs_are_those_of_one_after_another(type: hl.Type, lanes: int, first: int, step: int) -> None:
    at = np.arange(first, first + 64)
    low, high = first // 2 * step - 1, (first + 63) // 2 * step + 2
    numbers = hl.Buffer(np.arange(high - low + 1).astype(type.dtype))
    numbers.set_min([low])
    source = hl.ImageParam(type, 1, "src")
    source.set(numbers)
    f = hl.Func("f")
    f[x] = source[x / 2 * step - 1 + 3 * (x % 2)]
    f.vectorize(x, lanes)
    out = hl.Buffer(type, [64])
    out.set_min([first])
    f.realize(out)
    assert np.array_equal(np.asarray(out), (at // 2 * step - 1 + 3 * (at % 2) - low).astype(type.dtype))


def test_narrow_numbers_of_lanes_are_ramps() -> None:
    """int32(x) of lanes is a ramp of int32, which wraps as the conversion does."""
    f = hl.Func("f")
    f[x] = hl.i16(x * 5)
    f.vectorize(x, 16)
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    exprs = [e for st in walk(dict(trace.passes)["vectorize"]) for e in subexpressions(stmt_exprs(st))]
    assert not [e for e in exprs if isinstance(e, Cast) and isinstance(e.a, ir.Ramp)]
    out = hl.Buffer(hl.Int(16), [64])
    out.set_min([1 << 20])
    f.realize(out)
    want = ((np.arange(64) + (1 << 20)) * 5).astype(np.int16)
    assert np.array_equal(np.asarray(out), want)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("lanes", [8, 16])
def test_tables_of_every_type(dtype: str, lanes: int) -> None:
    """Instructions that gather, and scalar loads where there is none, in rows that are known when it runs."""
    rng = np.random.default_rng(7)
    keys, entries = rng.integers(0, 256, (2, 48)).astype(np.uint8), rng.integers(0, 100, (5, 256)).astype(dtype)
    source, lut = hl.ImageParam(hl.UInt(8), 2, "src"), hl.ImageParam(hl.Buffer(entries).type(), 2, "lut")
    source.set(keys)
    lut.set(entries)
    key = source[x, y]
    f = hl.Func("f")
    f[x, y] = lut[hl.i32(key), 1] + lut[255 - hl.i32(key), hl.i32(key) % 5]
    f.vectorize(x, lanes)
    want = entries[1][keys] + entries[keys % 5, 255 - keys.astype(int)]
    assert np.array_equal(np.asarray(f.realize([48, 2])), want)


@pytest.mark.parametrize(
    ("limit", "behind"), [(2**63 - 1, 7), (2**63 - 4, 7), (-(2**63), -7), (-(2**63) + 4, -7), (100, 7), (100, -7)]
)
def test_a_limit_of_int64_is_not_moved_where_it_would_wrap(limit: int, behind: int) -> None:
    p, v = hl.Param(hl.Int(64), "p", limit), hl.Buffer(np.array([0, 1, 2, 250, 255, 7, 9, 30] * 2, np.uint8))
    table, f = hl.Func("table"), hl.Func("f")
    table[x] = x * 3
    f[x] = table[hl.clamp(hl.i32(hl.clamp(hl.i64(v[x]), 0, p)) + behind, 0, 200)]
    table.compute_root()
    f.vectorize(x, 8)
    np.testing.assert_array_equal(f.realize([16]), f.evaluate([16]))
