"""Coordinates by way of values that leave int64, or int32: where they wrap, their ends do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.bounds.verify.vc import Status
from halide_core.ir import BinaryOp
from halide_core.ir.types import INT64
from halide_core.ir.visitor import subexpressions

x = hl.Var("x")
TOP = hl.i64(2**62)
LARGE = hl.u64(1) << hl.u64(63)
n = hl.Param(hl.Int(64), "n", 2**63 - 3 * 2**40)
least = hl.Param(hl.Int(64), "least", -(2**63))
p = hl.Param(hl.Float(32), "p", 1e10)
numbers = hl.Buffer(np.array([0, 2, 3, 2**63 + 1, 2**64 - 1], np.uint64))

PLACES: dict[str, Callable[[], hl.Expr]] = {
    "of a float": lambda: hl.i32(hl.i64(hl.u64(hl.f32(x) * 2.0**62)) // TOP),
    "kept between large numbers": lambda: hl.i32(hl.i64(hl.clamp(numbers[x], LARGE, LARGE + hl.u64(1))) % hl.i64(5)),
    "a product": lambda: hl.i32(hl.i64(hl.clamp(hl.i32(numbers[x]), 2, 3)) * TOP // TOP),
    "of a float and a Param": lambda: hl.i32(hl.i64(hl.u32(hl.f32(x) * p)) // hl.i64(2**31)),
}


@pytest.mark.parametrize("name", PLACES)
def test_an_input_holds_what_is_read_by_way_of_large_numbers(name: str) -> None:
    source, places, f = hl.ImageParam(hl.Int(32), 1, "source"), hl.Func("places"), hl.Func("f")
    places[x], f[x] = PLACES[name](), source[PLACES[name]()]
    wanted = np.asarray(places.evaluate([5]))
    f.infer_input_bounds([5])
    buffer = source.get()
    assert buffer is not None
    dim = buffer.dim(0)
    assert dim.min() <= wanted.min() <= wanted.max() <= dim.max()
    assert not [r.claim.told() for r in f.certify().results if r.status is Status.REFUTED]


def test_a_large_param_is_a_negative_int64() -> None:
    """Its least value as a uint64 says nothing of the int64 that is made of it."""
    large, table, f = hl.Param(hl.UInt(64), "large", 2**64 - 1), hl.Buffer(np.arange(10, dtype=np.int32)), hl.Func("f")
    large.set_min_value(5)
    f[x] = table[hl.i32(hl.clamp(hl.i64(large), hl.i64(0), hl.i64(6))) + x]
    np.testing.assert_array_equal(f.realize([4]), [0, 1, 2, 3])
    assert f.certify().ok


@pytest.mark.parametrize(
    "length",
    [
        lambda: hl.i32((hl.clamp(n, hl.i64(2**23), hl.i64(2**24 - 3)) << hl.i64(40)) // hl.i64(2**40)),
        lambda: hl.i32(hl.min(hl.min(least, hl.i64(0)) // hl.i64(-1), TOP) // TOP),
    ],
)
def test_fused_loops_of_lengths_that_wrap_have_no_iterations(length: Callable[[], hl.Expr]) -> None:
    f, r = hl.Func("f"), hl.RDom([(0, length()), (0, length())])
    f[x] = 0
    f[x] += r.x + 10 * r.y + 1
    f.update().fuse(r.x, r.y, hl.RVar("both"))
    np.testing.assert_array_equal(f.realize([3]), [0, 0, 0])


def test_the_range_of_a_shift_is_that_of_what_may_wrap() -> None:
    value = ir.maximum(ir.index_variable("v"), ir.i64(2**30))
    assert ConstantRanges().of(ir.binary(BinaryOp.SHL, value, ir.i64(40))) == INT64.range
    assert ConstantRanges().of(ir.binary(BinaryOp.SHL, ir.mod(value, ir.i64(4)), ir.i64(2))) == (0, 12)


def test_ranges_of_sums_of_large_numbers_are_exact() -> None:
    """A float of 2^60 + 2^31 + 64 is 2^60 + 2^31."""
    value = ir.minimum(ir.maximum(ir.index_variable("v"), ir.i64(2**60)), ir.i64(2**60 + 5))
    far = 2**60 + 2**31 + 64
    assert Facts().constant_range(ir.sub(value, ir.i64(far))) == (2**60 - far, 2**60 + 5 - far)


def test_a_sum_that_just_leaves_int32_wraps() -> None:
    table, given, f = hl.Buffer(np.arange(6, dtype=np.int32)), hl.Buffer(np.array([1, 2], np.int64)), hl.Func("f")
    value = hl.clamp(given[x], hl.i64(2**60), hl.i64(2**60 + 5)) - hl.i64(2**60 + 2**31 + 64)
    f[x] = table[hl.clamp(hl.i32(value), 0, 5)]
    np.testing.assert_array_equal(f.realize([2]), [5, 5])


@pytest.mark.parametrize("engine", ["chain", "isl"])
@pytest.mark.parametrize("most", [2**63 - 1, 2**63 - 7, 1000, 50])
def test_ends_have_no_sums_of_large_params_that_nobody_wrote(
    engine: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HL_BOUNDS", engine)
    limit = hl.Param(hl.Int(64), "limit", most)
    v = hl.Buffer(np.array([0, 1, 2, 250, 255, 7, 9, 30], np.uint8), name="v")
    t, f = hl.Func("t"), hl.Func("f")
    t[x] = x * 2
    f[x] = t[hl.i32(hl.clamp(hl.i64(v[x]), 0, limit) % 100) + 7]
    t.compute_root()
    np.testing.assert_array_equal(f.realize([8]), f.evaluate([8]))
    assert f.certify().ok


def test_what_two_large_numbers_share_stays_where_more_than_int64_would_be_left() -> None:
    y, t, f = hl.Var("y"), hl.Func("t"), hl.Func("f")
    t[x] = x * 3
    f[x, y] = t[hl.i32(hl.clamp(hl.i64(x) * hl.i64(y) - TOP, TOP, hl.i64(2**63 - 1)) // hl.i64(2**61))]
    t.compute_root()
    np.testing.assert_array_equal(f.realize([4, 2]), np.full((2, 4), 6))


def test_constants_beyond_int64_are_not_made() -> None:
    a, b, top = ir.index_variable("a"), ir.index_variable("b"), ir.i64(2**62)
    for e in (
        ir.minimum(ir.sub(ir.mul(a, b), top), ir.i64(2**63 - 1)),
        ir.div(ir.add(ir.add(ir.mul(a, ir.i64(-(2**60))), top), top), ir.ONE),
    ):
        found = subexpressions([simplify(e)])
        assert all(INT64.can_represent(each.value) for each in found if isinstance(each, ir.IntImm))
