"""Coordinates that may leave int32: those whose values, for windows within the limit, reach beyond it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core.algorithm.snapshot import snapshot
from halide_core.bounds.infer.overflow import index_overflows
from halide_core.ir.boxes import WINDOW_LIMIT

x, y = hl.Var("x"), hl.Var("y")
LIMIT = 1 << 30
small = hl.Param(hl.Int(32), "small", 3)
small.set_range(-5, 5)
anything = hl.Param(hl.Int(32), "anything", 3)


def risks(coordinate: Callable[[hl.Var], hl.Expr]) -> list[str]:
    """The risks of ``f[x] = g[coordinate(x)]``."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x
    f[x] = g[coordinate(x)]
    return told(f)


def told(*outputs: hl.Func) -> list[str]:
    """The risks of a pipeline, as text, each with its stage."""
    algorithm = snapshot([f.function for f in outputs])
    return [f"{r.func.name}.s{r.stage}: {r.expr!r}" for r in index_overflows(algorithm, within=lambda *_: True)]


def test_loops_that_are_not_proven_to_stay_within_are_checked_point_by_point() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x + 1
    f[x] = g[x - 2]
    algorithm = snapshot([f.function])
    asked: list[tuple[int, int]] = []

    def found(*, within: bool) -> list[str]:
        return [repr(r.expr) for r in index_overflows(algorithm, within=lambda *of: asked.append(of[3]) or within)]

    assert found(within=True) == []
    assert found(within=False) == ["x"]  # what is stored there may wrap
    assert (-LIMIT - 2, LIMIT - 2) in asked


def test_windows_reach_as_far_as_start_up_checks_let_them() -> None:
    assert WINDOW_LIMIT == LIMIT


@pytest.mark.parametrize(
    "coordinate",
    [
        lambda x: x,
        lambda x: x + (LIMIT - 1),
        lambda x: x - LIMIT,
        lambda x: -LIMIT - x,
        lambda x: (LIMIT - 1) - x,
        lambda x: hl.min(x, 9) * 1 - 3,
        lambda x: hl.clamp(x, -9, 9) * (LIMIT // 5),
        lambda x: hl.max(hl.min(x, 1), 0) * (2 * LIMIT - 1),
        lambda x: (x // 2) * 3,
        lambda x: (x % 8) * (LIMIT // 4),
        lambda x: hl.select(x > 3, x, 5) + (LIMIT - 1),
        lambda x: hl.clamp(x, 0, 3) << 28,
        lambda x: (x << 0) + (LIMIT - 1),
        lambda x: (hl.clamp(x, 0, 1) << 30) + (LIMIT - 1),
        lambda x: x // 2 + small * 7,
        lambda x: hl.i32(hl.u8(x)) * 1000 + 4,
        lambda x: hl.unsafe_promise_clamped(x, -9, 9) * (LIMIT // 5),
        lambda x: hl.unsafe_promise_clamped(x, 7, 7) * (LIMIT // 4),
    ],
)
def test_no_risk_where_constants_decide(coordinate: Callable[[hl.Var], hl.Expr]) -> None:
    assert risks(coordinate) == []


@pytest.mark.parametrize(
    "coordinate",
    [
        lambda x: x + LIMIT,
        lambda x: x - (LIMIT + 1),
        lambda x: -(LIMIT + 1) - x,
        lambda x: LIMIT - x,
        lambda x: x * 2,
        lambda x: (2 * LIMIT - 1) - hl.min(x, 0),
        lambda x: hl.clamp(x, -9, 9) * (LIMIT // 4),
        lambda x: hl.max(hl.min(x, 1), 0) * (2 * LIMIT - 1) + 1,
        lambda x: (x // 2) * 5,
        lambda x: (x % 8) * (LIMIT // 3),
        lambda x: hl.select(x > 3, x, 5) + LIMIT,
        lambda x: hl.select(x > 3, 5, x) - (LIMIT + 1),
        lambda x: hl.clamp(x, 0, 4) << 29,
        lambda x: x + anything,
        lambda x: (x >> 1) * 3,
        lambda x: (x * 2) % 4,
        lambda x: 7 % hl.max(x * 2, 1),
        lambda x: (x * 2) & 4,
        lambda x: hl.unsafe_promise_clamped(x, -9, 9) * (LIMIT // 4),
        lambda x: hl.unsafe_promise_clamped(hl.clamp(x, 5, 5), 7, 6) * (LIMIT // 2),
    ],
)
def test_risk_where_int32_may_be_left(coordinate: Callable[[hl.Var], hl.Expr]) -> None:
    assert len(risks(coordinate)) == 1


def test_risks_of_operands_come_before_what_is_made_of_them() -> None:
    assert risks(lambda x: x * 3 + x * 2) == ["f.s0: x*3", "f.s0: x*2", "f.s0: x*3 + x*2"]


@pytest.mark.parametrize(
    ("coordinate", "wanted"),
    [
        (lambda x: (x * 3) % hl.max(x * 2, 1), ["x*3", "x*2"]),
        (lambda x: hl.select(x > 3, x * 3, x * 2), ["x*3", "x*2"]),
        (lambda x: hl.min(x * 3, x * 2), ["x*3", "x*2"]),
    ],
)
def test_risks_of_operands_are_in_their_order(coordinate: Callable[[hl.Var], hl.Expr], wanted: list[str]) -> None:
    assert risks(coordinate) == [f"f.s0: {e}" for e in wanted]


def chain(*shifts: int) -> hl.Func:
    """``f[x] = g[x + a] + g[x + b] + …``, and ``g[x] = h[x + limit - 10]``."""
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x] = x
    g[x] = h[x + (LIMIT - 11)]
    value: hl.Expr = hl.cast(hl.Int(32), 0)
    for shift in shifts:
        value = value + g[x + shift]
    f[x] = value
    return f


def test_coordinates_of_all_readers_are_joined() -> None:
    assert told(chain(-20, 10)) == []
    assert told(chain(10, -20)) == []
    assert len(told(chain(11, -20))) == 1
    assert len(told(chain(-20, 11))) == 1
    assert len(told(chain(-20, 11, -20))) == 1


def test_domains_reach_to_their_last_point() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x
    for least, extent, wanted in ((0, LIMIT, 0), (0, LIMIT + 1, 1), (5, LIMIT - 5, 0), (5, LIMIT - 4, 1)):
        f = hl.Func("f")
        r = hl.RDom([(least, extent)], "r")
        f[x] = 0
        f[x] += g[r.x + LIMIT]
        assert len(told(f)) == wanted


def test_domain_that_leaves_int32_is_a_risk() -> None:
    for extent, wanted in ((10, 0), (11, 1)):
        f = hl.Func("f")
        r = hl.RDom([(2 * LIMIT - 10, extent)], "r")
        f[x] = 0
        f[x] += hl.cast(hl.Int(32), r.x)
        assert len(told(f)) == wanted


def test_coordinate_that_is_written_is_one() -> None:
    f = hl.Func("f")
    r = hl.RDom([(0, 4)], "r")
    f[x] = 0
    f[r.x * (LIMIT - 1)] += 1
    assert told(f) == ["f.s1: r.x*1073741823"]


def shifted_by(factor: hl.Param) -> hl.Func:
    """``g`` is as long as the factor at least, which no constant says."""
    g, f, xo, xi = hl.Func("g"), hl.Func("f"), hl.Var("xo"), hl.Var("xi")
    g[x] = hl.select(x < 0, x, 0)
    f[x] = g[x]
    g.compute_root().split(x, xo, xi, hl.max(factor, 1), hl.TailStrategy.ShiftInwards)
    return f


def test_coordinates_that_a_shifted_split_adds_are_some() -> None:
    factor = hl.Param(hl.Int(32), "p", 2 * LIMIT - 1)
    f = shifted_by(factor)
    assert f.certify().ok
    window = hl.Buffer(hl.Int(32), [1])
    window.set_min([10])
    with pytest.raises(hl.PipelineError, match='x in "g" leaves int32'):
        f.realize(window)
    factor.set(8)
    f.realize(window)


def conditional(split: hl.Expr | int) -> hl.Func:
    """An output whose update writes where ``r > x``, in whole tiles: in those that reach beyond its window, too."""
    f, r, xo, xi = hl.Func("f"), hl.RDom([(2, 3)], "r"), hl.Var("xo"), hl.Var("xi")
    r.where(r.x > x)
    f[x, y] = x + y
    f[x, r.x] += 1
    f.update(0).split(x, xo, xi, split)
    return f


def test_points_that_an_output_does_not_write_are_coordinates_too() -> None:
    """Beyond int32 the condition would hold again, and its tile write far from all memory."""
    p = hl.Param(hl.Int(32), "p", 2)
    f = conditional(hl.max(p, 1))
    assert not f.certify().failures
    p.set(LIMIT + 1)
    window = hl.Buffer(hl.Int(32), [1, 5])
    window.set_min([LIMIT, 0])
    with pytest.raises(hl.PipelineError, match='x in "f" leaves int32'):
        f.realize(window)


def test_points_near_the_window_are_not_checked() -> None:
    assert "leaves int32" not in str(conditional(8).explain())
