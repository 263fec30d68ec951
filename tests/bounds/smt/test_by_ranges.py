"""Claims of int64 that constant ranges decide, and the start-up checks that they rest on."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function, ScalarParam
from halide_core.bounds.infer.fused_lengths import limits
from halide_core.bounds.smt.by_ranges import checks_by_ranges
from halide_core.bounds.smt.prover import Prover
from halide_core.bounds.verify.arithmetic import fits_int64
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Status, nothing
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import Assert, BufferField, Cast, ExprNode, Failure, Field, ParamRef
from halide_core.ir.types import INT32, INT64
from halide_core.loop_nest import LENGTH_LIMIT

n = ir.index_variable("n")
P, FAR = ParamRef(INT32, ScalarParam("p", INT32, UNKNOWN_LOCATION)), ir.i64(1 << 40)
LEAST = Assert(ir.less_equal(ir.const(1, INT32), P), Failure.PARAMETER_RANGE, ("p",))
MOST = Assert(ir.less_equal(P, ir.const(6, INT32)), Failure.PARAMETER_RANGE, ("p",))


def claim(e: ExprNode, context: Context) -> Claim:
    return Claim(ClaimKind.INT64, "f", ("it stays in int64",), context, fits_int64([e], context))


def checked() -> Context:
    context = nothing().checked(LEAST).checked(MOST)
    return context.holds(ir.less_equal(ir.ZERO, n), ir.less(n, FAR))


def test_a_claim_rests_on_the_checks_that_it_needs_and_no_other() -> None:
    """A product of two numbers, one of which a check limits from above."""
    risky = ir.mul(ir.mul(n, n), Cast(INT64, P))
    assert checks_by_ranges(claim(risky, checked())) is None
    far = ir.mul(ir.mul(n, ir.i64(1 << 20)), Cast(INT64, P))
    assert checks_by_ranges(claim(far, checked())) == (LEAST, MOST)
    far = ir.mul(ir.mul(n, ir.i64(1 << 20)), ir.maximum(Cast(INT64, P), ir.ZERO))
    assert checks_by_ranges(claim(far, checked())) == (MOST,)
    (result,) = Prover().prove([claim(far, checked())])
    assert (result.status, result.checks) == (Status.ASSERTED, (MOST,))


def test_what_is_rounded_up_to_a_divisor_needs_no_check() -> None:
    """Neither the quotient nor the divisor is limited enough; together they are what was rounded."""
    by = ir.maximum(Cast(INT64, P), ir.ONE)
    quotients = ir.sub(ir.div(ir.sub(ir.add(n, by), ir.ONE), by), ir.ONE)
    rounded = ir.mul(ir.mul(quotients, by), ir.i64(1 << 20))
    assert checks_by_ranges(claim(rounded, checked())) == ()
    assert [r.status for r in Prover().prove([claim(rounded, checked())])] == [Status.PROVEN]


def test_the_last_coordinate_of_a_window_is_limited_as_a_whole() -> None:
    """Its first coordinate and its length leave it 2^32, whose square is no number of int64."""
    f = Function("f", ("x",), (INT32,))
    first, extent = (BufferField(INT64, f, field, 0) for field in (Field.MIN, Field.EXTENT))
    last = ir.sub(ir.add(first, extent), ir.ONE)
    limit = ir.i64(1 << 30)
    window = ir.conjunction(ir.less_equal(ir.i64(-(1 << 30)), first), ir.less_equal(last, limit))
    check = Assert(window, Failure.INDEX_OVERFLOW, ("window",))
    beyond = ir.add(last, ir.i64(5))
    for e in (ir.mul(last, last), ir.mul(ir.maximum(first, beyond), beyond)):
        assert checks_by_ranges(claim(e, nothing())) is None
        assert checks_by_ranges(claim(e, nothing().checked(check))) == (check,)


@pytest.mark.parametrize("limit", [1 << 23, 1 << 24])
def test_the_limits_are_those_of_int64(limit: int) -> None:
    """2^40 times 2^23 is a number of int64 less one, and 2^24 times is none."""
    found = checks_by_ranges(claim(ir.mul(n, ir.i64(limit)), checked()))
    assert (found == ()) == (limit == 1 << 23)


def test_what_does_not_hold_is_not_proven() -> None:
    (result,) = Prover().prove([claim(ir.mul(n, ir.i64(1 << 24)), checked())])
    assert result.status in (Status.REFUTED, Status.UNDECIDED)


def test_where_a_tile_begins_is_limited_as_the_window_that_it_ends_in() -> None:
    """``min(8*n + 8, extent) - 8`` from the first coordinate on: either way no further than the window's last."""
    f = Function("f", ("x",), (INT32,))
    first, extent = (BufferField(INT64, f, field, 0) for field in (Field.MIN, Field.EXTENT))
    limit = ir.i64(1 << 30)
    last = ir.sub(ir.add(first, extent), ir.ONE)
    window = ir.conjunction(ir.less_equal(ir.i64(-(1 << 30)), first), ir.less_equal(last, limit))
    check = Assert(window, Failure.INDEX_OVERFLOW, ("window",))
    given = nothing().checked(check).holds(ir.less_equal(ir.ZERO, n), ir.less(n, FAR))
    start = ir.minimum(ir.mul(n, ir.i64(8)), ir.sub(ir.maximum(extent, ir.i64(8)), ir.i64(8)))
    begins = ir.add(first, start)
    assert checks_by_ranges(claim(ir.mul(begins, begins), given)) == (check,)
    far = ir.add(first, ir.maximum(ir.mul(n, ir.i64(8)), extent))
    assert checks_by_ranges(claim(ir.mul(far, far), given)) is None


def test_a_product_of_two_floats_is_as_far_as_its_loop_goes() -> None:
    """Its corners are constants, which are no products of floats any more when the claim is made."""
    x, y = hl.vars("x y")
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + y
    r = hl.RDom([(-1, 4)])
    at = hl.f32(r + 1)
    o[x, y] = 0
    o[1, y] += f[y - 1, hl.i32(hl.trunc((at + 0.0) * 0.5 * ((at + 0.5) * 0.5))) + 2]
    f.compute_root()
    assert not o.certify().failures


def test_a_product_of_lengths_that_is_checked_is_limited() -> None:
    """In any order, and by its check alone; a length that may be negative leaves it open."""
    f = Function("f", ("x", "y", "z"), (INT32,))
    lengths = [BufferField(INT64, f, Field.EXTENT, d) for d in range(3)]
    *_, limit = limits(lengths, LENGTH_LIMIT)
    check = Assert(limit.condition, Failure.INDEX_OVERFLOW, ("many",))
    x, y, z = lengths
    rounded = ir.mul(ir.div(ir.add(ir.mul(y, ir.mul(z, x)), ir.i64(4)), ir.i64(5)), ir.i64(5))
    assert checks_by_ranges(claim(rounded, nothing())) is None
    assert checks_by_ranges(claim(rounded, nothing().checked(check))) == (check,)
    assert checks_by_ranges(claim(ir.mul(y, ir.mul(z, n)), nothing().checked(check))) is None
    *_, limit = limits([x, y, n], LENGTH_LIMIT)
    check = Assert(limit.condition, Failure.INDEX_OVERFLOW, ("many",))
    below = nothing().checked(check).holds(ir.less(n, FAR))
    assert checks_by_ranges(claim(ir.mul(x, ir.mul(y, n)), below)) is None
    assert checks_by_ranges(claim(ir.mul(x, ir.mul(y, n)), below.holds(ir.less_equal(ir.ZERO, n)))) == (check,)
