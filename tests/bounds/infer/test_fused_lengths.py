"""Fused loops of lengths known at run time: what is checked of their product, and what their iterations need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.query import ForAll, Path
from halide_core.bounds.smt.prover import Prover
from halide_core.bounds.verify.arithmetic import fits_int64
from halide_core.bounds.verify.certificate import check_text
from halide_core.bounds.verify.vc import Claim, ClaimKind, Status, nothing
from halide_core.ir import Failure, Interval
from halide_core.ir.printer import format_expr
from halide_core.ir.visitor import subexpressions
from halide_core.loop_nest import LENGTH_LIMIT
from tests.support.certifying import certified, compiled
from tests.support.counting import counted

x, y, z, yz, yzx, yx, xi = (hl.Var(n) for n in ("x", "y", "z", "yz", "yzx", "yx", "xi"))
GUARD = hl.TailStrategy.GuardWithIf


def three_lengths() -> hl.Func:
    f = hl.Func("f")
    f[x, y, z] = x + y * 2 + z * 3
    f.fuse(y, z, yz).fuse(yz, x, yzx).unroll(yzx, 4, GUARD).parallel(yzx)
    return f


def three_lengths_inside() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y, z] = x + y * 2 + z * 3
    f[x, y] = g[x, hl.select(y < 4, y, 8 - y), (x * 2) // 4]
    g.compute_at(f, x).store_at(f, y).fuse(y, z, yz).fuse(yz, x, yzx).unroll(yzx, 4, GUARD)
    return f


def repeated() -> hl.Func:
    image, f = hl.ImageParam(hl.UInt(8), 2, "in"), hl.Func("f")
    repeat = hl.BoundaryConditions.repeat_image(image)
    f[x, y] = repeat[x - 1, y - 2] + repeat[x, -y]
    f.fuse(y, x, yx).split(yx, yx, xi, 5, GUARD).unroll(xi).align_bounds(y, 5)
    repeat.compute_at(f, yx)
    return f


def aligned_twice() -> hl.Func:
    """A loop over pairs of an aligned dimension: its length times two is the length that is checked."""
    f = hl.Func("f")
    f[x, y, z] = x + y + z
    f[x, y, z] += 1
    f[x, y, z] += 2
    f.update(0).fuse(z, x, yz).fuse(y, yz, y)
    f.update(1).unroll(z, 2, GUARD)
    f.align_bounds(z, 2, 1)
    return f


@pytest.mark.parametrize("make", [three_lengths, three_lengths_inside, repeated, aligned_twice])
def test_certificate_holds(make: Callable[[], hl.Func]) -> None:
    certificate = make().certify()
    assert certificate.ok, certificate


def test_product_is_checked_length_by_length() -> None:
    checks = [c for c in compiled(three_lengths()).answers.checks if "iterations" in str(c.message[0])]
    assert [c.failure for c in checks] == [Failure.INDEX_OVERFLOW]  # two windows' lengths fit in int64, a third may not
    assert format_expr(checks[0].condition) in [format_expr(c.condition) for c in three_lengths().certify().checks]


def test_iterations_of_a_fused_loop_need_only_their_part_of_a_row() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * x
    f[x, y] = g[x] + y
    f.fuse(y, x, yx).split(yx, yx, xi, 4, GUARD)
    g.compute_at(f, yx)
    count = counted(f, [(0, 8), (0, 2)])
    assert count.total(g) == 8, "four iterations in a row are two columns of two points"
    assert count.largest == {"g": 2}


def test_start_up_arithmetic_of_three_lengths_stays_in_int64() -> None:
    w, xz = hl.Var("w"), hl.Var("xz")
    f = hl.Func("f")
    f[x, y, z, w] = x + y
    f[x, 2, z, w] = z + w
    f.update(0).reorder(w, x).fuse(x, z, xz).fuse(w, xz, w).parallel(w, 2, GUARD)
    certificate = f.certify()
    assert certificate.ok, certificate


def four_lengths() -> hl.Func:
    w, a, b, c = map(hl.Var, "wabc")
    f = hl.Func("f")
    f[x, y, z, w] = x + y + z + w
    f.fuse(x, y, a).fuse(a, z, b).fuse(b, w, c)
    return f


@pytest.mark.parametrize("dropped", [2, 3])
def test_no_check_of_a_length_can_be_missing(dropped: int) -> None:
    """The last one divides by the product of the others: it must not be taken to show that this is a number of int64,
    since of one that is not the machine's quotient says nothing."""
    parts = compiled(four_lengths())
    about = f"f.extent.{dropped} <= "
    kept = [c for c in parts.answers.checks if not format_expr(c.condition).startswith(about)]
    assert len(kept) == len(parts.answers.checks) - 1
    assert certified(parts).ok
    assert not certified(parts, answers=replace(parts.answers, checks=kept)).ok


def test_domain_of_three_parameters_rests_on_the_check_of_two() -> None:
    p, q, s, f = *(hl.Param(hl.Int(32), name) for name in "pqs"), hl.Func("f")
    r = hl.RDom([(0, p * q * s)])
    f[x] = 0
    f[x] += r.x
    certificate = f.certify()
    assert certificate.ok, certificate
    (result,) = [r for r in certificate.results if r.claim.told().startswith("start-up arithmetic")]
    assert "p*q in" in check_text(result.checks[-1])


@pytest.mark.parametrize(("more", "fits"), [((1 << 40) - 1, True), (1 << 40, False)])
def test_limit_leaves_room_to_round_up(more: int, fits: bool) -> None:
    a, b = ir.index_variable("a"), ir.index_variable("b")
    check = ir.Assert(ir.less_equal(b, ir.div(ir.i64(LENGTH_LIMIT), ir.maximum(a, ir.ONE))), Failure.INDEX_OVERFLOW, ())
    context = nothing().holds(ir.less_equal(ir.ZERO, a), ir.less_equal(ir.ZERO, b)).checked(check)
    e = ir.add(ir.mul(a, b), ir.i64(more))
    claim = Claim(ClaimKind.INT64, "", ("it fits",), context, fits_int64([e], context))
    assert (Prover().prove([claim])[0].status is Status.ASSERTED) is fits


@pytest.mark.parametrize("least", [1, 0, -5])
def test_quotient_is_monotone_only_by_what_is_positive(least: int) -> None:
    """Quotients in the ends of ``t/n`` over t in [-7, 7]: of a positive n one quotient each, else corners."""
    t, n = ir.index_variable("t"), ir.index_variable("n")
    top = Path(None, None)
    extents = Extents()
    extents.facts.at(top).assume_at_least(n, ir.i64(least))
    inside = top.then(ForAll(t, Interval(ir.i64(-7), ir.i64(15))))
    found = extents.of(ir.div(t, n), inside, top)
    quotients = {e for e in subexpressions([e for e in found if e is not None]) if isinstance(e, ir.Binary)}
    assert len({e for e in quotients if e.op is ir.BinaryOp.DIV}) == 2
    assert (len(quotients) == 2) is (least == 1)
