"""Fused loops of lengths known at run time: what is checked of their product, and what their iterations need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core.ir import Failure
from halide_core.printer import format_expr
from lowering.driver import Trace, lower
from tests.fuzz.interpreted import request_of
from tests.lowering.counting import counted

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


@pytest.mark.parametrize("make", [three_lengths, three_lengths_inside, repeated])
def test_certificate_holds(make: Callable[[], hl.Func]) -> None:
    certificate = make().certify()
    assert certificate.ok, certificate


def test_product_is_checked_length_by_length() -> None:
    trace = Trace()
    lower(request_of([three_lengths()]), trace=trace)
    assert trace.answers is not None
    checks = [c for c in trace.answers.checks if "iterations" in str(c.message[0])]
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
