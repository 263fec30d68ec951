"""Remainders by powers of two, of sums of which some terms are multiples of them."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

import halide_core as hl
from halide_core import ir
from halide_core.analysis.low_bits import without_multiples
from halide_core.analysis.simplify import simplify
from halide_core.ir import BinaryOp, Broadcast, Cast, ExprNode, Ramp
from halide_core.ir.types import INT32, INT64, Int, UInt
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.integers import value, variables

x, y = variables("x", "y")
_TYPES = (Int(8), UInt(8), Int(16), INT32, INT64)


def _sums() -> st.SearchStrategy[ExprNode]:
    """Sums and multiples whose casts wrap; only int64s are added, as the evaluator's sums do not."""
    leaves = st.one_of(st.sampled_from([x, y]), st.integers(-40, 40).map(ir.i64))

    def larger(inner: st.SearchStrategy[ExprNode]) -> st.SearchStrategy[ExprNode]:
        casts = st.builds(lambda t, e: ir.cast(INT64, ir.cast(t, e)), st.sampled_from(_TYPES), inner)
        multiples = st.builds(lambda e, k: ir.mul(e, ir.i64(k)), inner, st.sampled_from([2, 3, 4, 16, -8]))
        return st.one_of(st.builds(ir.add, inner, inner), st.builds(ir.sub, inner, inner), casts, multiples)

    return st.recursive(leaves, larger, max_leaves=8)


@settings(max_examples=300)
@given(_sums(), st.sampled_from([1, 2, 4, 8, 32]), st.sampled_from(_TYPES))
@example(ir.sub(ir.i64(0), x), 2, INT32)
def test_the_remainder_is_the_same(e: ExprNode, of: int, type: hl.Type) -> None:
    whole = ir.cast(type, e)
    low = without_multiples(BinaryOp.MOD, whole, ir.const(of, type))
    for at in ({x: a, y: b} for a in (-129, -7, 0, 1, 200) for b in (-3, 0, 6, 65535)):
        assert (value(whole, at) - value(low, at)) % of == 0, (whole, low)


def test_other_divisors_keep_all_terms() -> None:
    e = Cast(INT32, ir.add(x, ir.mul(y, ir.i64(6))))
    for divisor in (6, 0, -2):
        assert without_multiples(BinaryOp.MOD, e, ir.const(divisor, INT32)) is e


def test_a_type_of_fewer_bits_keeps_its_terms() -> None:
    """256 times something is not nothing to an int8 that wraps on the way: the remainder by 256 is of what is left."""
    e = Cast(INT32, Cast(Int(8), ir.mul(x, ir.i64(256))))
    assert without_multiples(BinaryOp.MOD, e, ir.const(256, INT32)) is e


def test_a_factor_may_stand_on_either_side() -> None:
    n, sixteen = Cast(INT32, x), ir.const(16, INT32)
    for product in (ir.binary(BinaryOp.MUL, n, sixteen), ir.Binary(INT32, BinaryOp.MUL, sixteen, n)):
        low = without_multiples(BinaryOp.MOD, ir.Binary(INT32, BinaryOp.ADD, product, n), ir.const(4, INT32))
        assert low is n


def test_a_mask_of_ones_is_a_remainder() -> None:
    e, low = Cast(INT32, ir.sub(x, ir.mul(y, ir.i64(8)))), Cast(INT32, x)
    for mask, left in ((7, low), (1, low), (15, e), (6, e), (-1, e)):
        assert without_multiples(BinaryOp.BIT_AND, e, ir.const(mask, INT32)) is left


def test_lanes_that_are_all_multiples_are_one_number() -> None:
    type = INT32.with_lanes(8)
    lanes = Ramp(type, Cast(INT32, ir.add(x, ir.mul(y, ir.i64(16)))), ir.const(4, INT32))
    two = Broadcast(type, ir.const(2, INT32))
    assert without_multiples(BinaryOp.MOD, lanes, two) is Broadcast(type, Cast(INT32, x))


def test_which_lanes_are_even_does_not_depend_on_the_vector() -> None:
    """A choice by parity along a split dimension: its mask is the same in every vector of the steady part."""
    c, d = hl.vars("c d")
    f = hl.Func("f")
    f[c, d] = hl.select(c % 2 == 0, d, -d)
    f.vectorize(c, 8)
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    assert "ramp(int32(f.min.0), 1, 8)%x8(2)" in str(trace.passes[-1][1])


def test_constants_are_simplified_to_remainders() -> None:
    assert simplify(ir.mod(Cast(INT32, ir.add(x, ir.i64(64))), ir.const(32, INT32))) is ir.mod(
        Cast(INT32, x), ir.const(32, INT32)
    )
