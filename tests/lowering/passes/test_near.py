"""Values near the ends of int64: a comparison that holds is not solved for a variable where that would wrap."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.analysis.near import is_near
from halide_core.ir.types import UInt
from tests.support.checking import check

x, y = hl.Var("x"), hl.Var("y")
MOST, LEAST = 2**63 - 1, -(2**63)


def whole(value: int) -> hl.Param:
    """A Param of int64."""
    p = hl.Param(hl.Int(64), "p")
    p.set(value)
    return p


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("offset", [-5, 0, 5])
@pytest.mark.parametrize("value", [MOST, LEAST, 7])
def test_a_guard_by_an_int64_holds_of_the_iterations_of_which_it_does(value: int, offset: int, vectors: bool) -> None:
    """No loop ends at ``p + 6``, which may be a negative number."""
    r = hl.RDom([(0, 40)])
    r.where(hl.i64(r.x) + offset <= whole(value))
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x * 3 + 1
    f[x] = 0
    f[r.x] += g[r.x]
    g.compute_root()
    if vectors:
        f.update().atomic().vectorize(r.x, 8)
    at = np.arange(40, dtype=np.int32)
    check(f, (40,), np.where(at.astype(object) + offset <= value, at * 3 + 1, 0).astype(np.int32))


@pytest.mark.parametrize("value", [MOST, LEAST, 7])
def test_a_region_does_not_end_at_a_sum_with_an_int64(value: int) -> None:
    """isl would find that what is read ends at ``p + 5``, or a little beyond."""
    r = hl.RDom([(0, 40)])
    r.where(hl.i64(r.x) - 5 <= whole(value))
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x * 3 + 1
    f[x] = 0
    f[r.x] += g[hl.i32(hl.i64(r.x) + hl.i64(r.x) % 3)]
    g.compute_root()
    at = np.arange(40, dtype=np.int32)
    check(f, (40,), np.where(at.astype(object) - 5 <= value, (at + at % 3) * 3 + 1, 0).astype(np.int32))


def test_quotients_of_quotients_by_large_numbers() -> None:
    """The product of the divisors is no int64."""
    values = np.array([2**62, -(2**62), 5, -5, MOST, LEAST], np.int64)
    f, numbers = hl.Func("f"), hl.Buffer(values)
    f[x] = (numbers[x] / hl.i64(1 << 40)) / hl.i64(1 << 40)
    check(f, (6,), np.array([0, -1, 0, -1, 0, -1], np.int64))


@pytest.mark.parametrize("rest", [False, True])
def test_a_quotient_of_an_int64_is_not_divided_into_parts(rest: bool) -> None:
    """``(p - 1)/3`` is not ``(p + 2)/3 - 1``: the sum may wrap."""
    r = hl.RDom([(0, 4)])
    less = hl.max(whole(MOST), hl.i64(1)) - 1
    r.where(less % 7 == (MOST - 1) % 7 if rest else less / 3 > 5)
    f = hl.Func("f")
    f[x] = 0
    f[r.x] += 1
    check(f, (4,), np.ones(4, np.int32))


def test_a_sum_is_not_divided_by_the_greatest_number() -> None:
    """``(x - 1)/k`` is not ``(x + k - 1)/k - 1``, where ``k`` is as great as int64s are."""
    r = hl.RDom([(0, 4)])
    r.where((hl.i64(r.x) - 1) / hl.i64(MOST) == 0)
    f = hl.Func("f")
    f[x] = 0
    f[r.x] += 1
    check(f, (4,), np.array([0, 1, 1, 1], np.int32))


def test_quotients_are_not_brought_to_a_common_divisor_that_is_too_large() -> None:
    """The steady part would begin at a multiple of ``n`` that leaves int64, and read before the input."""
    start, n = 12_000_000, 95_000
    by = (60_000, 50_000, 65_000)
    source, p, f = hl.ImageParam(hl.Int(32), 1, "source"), hl.Param(hl.Int(32), "n"), hl.Func("f")
    f[x] = source[hl.clamp(sum((x / k for k in by[1:]), x / by[0]) - p, 0, source.width() - 1)]
    numbers = np.arange(7, 507, dtype=np.int32)
    source.set(hl.Buffer(numbers))
    p.set(n)
    at = np.arange(start, start + 40)
    check(f, ((start, 40),), numbers[np.clip(sum(at // k for k in by) - n, 0, 499)])


def test_what_is_near() -> None:
    """Coordinates and numbers of 32 bits, few times; of others their remainders."""
    i, far = ir.index_variable("i"), ir.Cast(ir.INT64, ir.ParamRef(UInt(64), object()))  # type: ignore[arg-type]
    assert is_near(linear_of(ir.add(ir.mul(i, ir.i64(64)), ir.i64(3))))
    assert is_near(linear_of(ir.add(i, ir.mod(far, ir.i64(8)))))
    assert not is_near(linear_of(ir.add(i, far)))
    assert not is_near(linear_of(ir.sub(i, ir.div(far, ir.i64(3)))))
    assert not is_near(linear_of(ir.mul(i, ir.i64(1 << 40))))
    assert not is_near(linear_of(ir.add(i, ir.i64(1 << 62))))
