"""Every check of a directive: its error's class, the directive as written, the user's line, and what would be legal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType

import numpy as np
import pytest

import halide_core as hl
from halide_core import TailStrategy
from halide_core.lowering.driver import lower
from halide_core.lowering.passes import unroll
from halide_core.run.pipeline import Realizable
from tests.support.dumps import pixels, producer_and_consumer
from tests.support.raising import raised

xo, xi, yo, yi, t, u, z = (hl.Var(n) for n in ("xo", "xi", "yo", "yi", "t", "u", "z"))
rxo, rxi, rt = (hl.RVar(n) for n in ("rxo", "rxi", "rt"))


def refused(directive: FunctionType, output: Realizable, *named: str) -> str:
    """The message with which the directive that ``directive`` gives, a lambda on one line, is refused: at the call, or
    as the pipeline is scheduled."""
    with pytest.raises(hl.ScheduleError) as caught:
        _scheduled(directive, output)
    found = caught.value
    assert found.location.file == directive.__code__.co_filename
    assert found.location.line == directive.__code__.co_firstlineno
    for text in named:
        assert text in found.message
    return found.message


def _scheduled(directive: Callable[[], object], output: Realizable) -> None:
    directive()
    output.loop_nest()


def lowering_refuses(directive: FunctionType, output: Realizable, *named: str) -> None:
    """Asserts that a directive passes the rewrites, and is refused, at its line, once bounds are known."""
    directive()
    output.loop_nest()
    with pytest.raises(hl.ScheduleError) as caught:
        output.compile_jit()
    assert caught.value.location.file == directive.__code__.co_filename
    assert caught.value.location.line == directive.__code__.co_firstlineno
    for text in named:
        assert text in caught.value.message


def reduction() -> tuple[hl.Func, hl.Var, hl.RDom]:
    """``f[x] = 0; f[x] += r.x*r.y`` over 10 x 6 points."""
    x, r = hl.Var("x"), hl.RDom([(0, 10), (0, 6)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += r.x * r.y
    return f, x, r


def recurrence() -> tuple[hl.Func, hl.Var, hl.RDom]:
    """``f[x] = 0; f[x] = f[x]*2 + r.x + r.y`` over 10 x 6 points: what comes last counts most."""
    x, r = hl.Var("x"), hl.RDom([(0, 10), (0, 6)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] = f[x] * 2 + r.x + r.y
    return f, x, r


def rows() -> tuple[hl.Func, hl.RDom]:
    """``f[r.x, r.y] = f[r.x - 1, r.y] + 1``: what iterations of r.y touch lies apart, of r.x it does not."""
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(1, 8), (0, 6)], "r")
    f = hl.Func("f")
    f[x, y] = x + y
    f[r.x, r.y] = f[r.x - 1, r.y] + 1
    return f, r


# -- loops that are not there, and names that are


@pytest.mark.parametrize(
    ("told", "schedule"),
    [
        ("f.split(z, xo, xi, 8)", lambda f, x, y: f.split(z, xo, xi, 8)),
        ("f.fuse(x, z, t)", lambda f, x, y: f.fuse(x, z, t)),
        ("f.fuse(z, y, t)", lambda f, x, y: f.fuse(z, y, t)),
        ("f.reorder(y, z)", lambda f, x, y: f.reorder(y, z)),
        ("f.parallel(z)", lambda f, x, y: f.parallel(z)),
        ("f.vectorize(z)", lambda f, x, y: f.vectorize(z)),
        ("f.unroll(z)", lambda f, x, y: f.unroll(z)),
        ("f.serial(z)", lambda f, x, y: f.serial(z)),
        ("f.vectorize(z, 4)", lambda f, x, y: f.vectorize(z, 4)),
    ],
)
def test_unknown_loop(told: str, schedule: Callable[..., object]) -> None:
    f, x, y = pixels()
    text = _message(f, lambda: schedule(f, x, y))
    assert text == f'{told}: stage 0 of "f" has no loop "z". Its loops, innermost first: x, y.'


def _message(f: hl.Func, schedule: Callable[[], object]) -> str:
    with pytest.raises(hl.ScheduleError) as caught:
        _scheduled(schedule, f)
    return caught.value.message


def test_unknown_loop_names_the_line_of_the_directive() -> None:
    f, _x, _y = pixels()
    refused(lambda: f.split(z, xo, xi, 8), f)
    g, h, _x, _y = producer_and_consumer()
    g.compute_root()
    refused(lambda: g.parallel(z), h)


def test_unknown_loop_with_a_tail_strategy() -> None:
    f, _x, _y = pixels()
    told = "f.split(z, xo, xi, 8, TailStrategy.GuardWithIf): "
    refused(lambda: f.split(z, xo, xi, 8, TailStrategy.GuardWithIf), f, told, 'no loop "z"')


def test_unknown_loop_after_it_was_split() -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 8)
    refused(lambda: f.vectorize(x), f, 'f.vectorize(x): stage 0 of "f" has no loop "x".', "innermost first: xi, xo, y.")


def test_unknown_loop_of_an_update() -> None:
    f, x, _r = reduction()
    refused(lambda: f.update().unroll(z), f, 'f.update().unroll(z): stage 1 of "f" has no loop "z".', "r.x, r.y, x.")
    del x


def test_split_into_a_name_that_is_taken() -> None:
    f, x, y = pixels()
    text = 'f.split(x, y, xi, 8): "y" already names a loop of stage 0 of "f". Its loops, innermost first: x, y.'
    refused(lambda: f.split(x, y, xi, 8), f, text, "Choose a new name.")


def test_split_into_a_name_that_another_split_made() -> None:
    f, x, y = pixels()
    f.split(x, xo, xi, 8)
    refused(lambda: f.split(y, yo, xi, 8), f, '"xi" already names a loop', "innermost first: xi, xo, y.")


def test_fuse_into_a_name_that_is_taken() -> None:
    f, x, y = pixels()
    f.split(x, xo, xi, 8)
    refused(lambda: f.fuse(xo, y, xi), f, 'f.fuse(xo, y, xi): "xi" already names a loop')


def test_names_that_a_rewrite_removes_may_be_used_again() -> None:
    f, x, y = pixels()
    f.split(x, x, xi, 8).split(xi, xi, t, 4).fuse(x, y, x)
    lines = [line.strip() for line in f.loop_nest().splitlines()]
    assert lines[1:4] == ["for x:", "for xi in [0, 1]:", "for t in [0, 3]:"]


def test_split_into_one_name_twice() -> None:
    f, x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.split(x, xi, xi, 8), 'split() can\'t make two loops that are both called "xi"')


# -- factors


@pytest.mark.parametrize("factor", [0, -1])
def test_factor_that_is_not_positive(factor: int) -> None:
    f, x, y = pixels()
    told = f"must be positive, not {factor}"
    raised(hl.ScheduleError, lambda: f.split(x, xo, xi, factor), f"The factor of split() {told}")
    raised(hl.ScheduleError, lambda: f.vectorize(x, factor), f"The factor of vectorize() {told}")
    raised(hl.ScheduleError, lambda: f.unroll(x, factor), f"The factor of unroll() {told}")
    raised(hl.ScheduleError, lambda: f.parallel(x, factor), f"The factor of parallel() {told}")
    raised(hl.ScheduleError, lambda: f.tile(x, y, xi, yi, 8, factor), f"The factor of tile() {told}")
    assert not f.function.directives


def test_factor_that_folds_to_nothing() -> None:
    f, x, _y = pixels()
    told = "The factor of split() must be positive, not 0."
    raised(hl.ScheduleError, lambda: f.split(x, xo, xi, hl.Expr(4) - hl.Expr(4)), told)


def test_factor_that_is_not_positive_at_start_up() -> None:
    k = hl.Param(hl.Int(32), "k", 0)
    f, x, _y = pixels()
    f.split(x, xo, xi, k, TailStrategy.GuardWithIf)
    with pytest.raises(hl.PipelineError, match=r"f\.split\(x, xo, xi, k, TailStrategy\.GuardWithIf\)"):
        f.realize(np.zeros((4, 4), np.int32))


# -- tail strategies


@pytest.mark.parametrize("tail", ["ShiftInwards", "RoundUp", "ShiftInwardsAndBlend", "RoundUpAndBlend"])
def test_tail_strategy_on_a_reduction_loop(tail: str) -> None:
    f, _x, r = reduction()
    told = f"f.update().split(r.x, rxo, rxi, 4, TailStrategy.{tail}): "
    why = f'"r.x" is a reduction loop, and {tail} would run it on points that its RDom does not have.'
    legal = "The legal choices: hl.TailStrategy.GuardWithIf, hl.TailStrategy.Predicate, "
    refused(lambda: f.update().split(r.x, rxo, rxi, 4, TailStrategy[tail]), f, told, why, legal)


def test_any_tail_strategy_is_legal_on_a_reduction_loop_that_divides() -> None:
    f, _x, r = reduction()
    f.update().split(r.x, rxo, rxi, 5, TailStrategy.RoundUp)
    assert "for rxi in [0, 4]" in f.loop_nest()


@pytest.mark.parametrize("tail", list(TailStrategy))
def test_tail_of_a_loop_that_is_not_there(tail: TailStrategy) -> None:
    f, _x, _y = pixels()
    refused(lambda: f.split(t, xo, xi, 8, tail), f, "f.split(t, xo, xi, 8", 'has no loop "t"')


def test_shift_inwards_of_an_update() -> None:
    f, x, _r = reduction()
    told = "f.update().split(x, xo, xi, 4, TailStrategy.ShiftInwards): ShiftInwards repeats iterations"
    legal = ("The legal choices: hl.TailStrategy.RoundUp, ", "hl.TailStrategy.ShiftInwardsAndBlend, ")
    refused(lambda: f.update().split(x, xo, xi, 4, TailStrategy.ShiftInwards), f, told, *legal)


def test_shift_inwards_of_a_loop_shorter_than_the_factor() -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 4)
    why = 'f.split(xi, xi, t, 6, TailStrategy.ShiftInwards): "xi" takes 4 steps, fewer than the factor'
    legal = "The legal choices: hl.TailStrategy.GuardWithIf, "
    refused(lambda: f.split(xi, xi, t, 6, TailStrategy.ShiftInwards), f, why, legal)


def test_shift_inwards_of_a_fused_loop() -> None:
    f, x, y = pixels()
    f.fuse(x, y, t)
    why = 'the length of "t" is not one that bounds inference can raise to the factor.'
    refused(lambda: f.split(t, xo, xi, 8, TailStrategy.ShiftInwards), f, why, "hl.TailStrategy.GuardWithIf")


def test_round_up_of_a_fused_loop() -> None:
    f, x, y = pixels()
    f.fuse(x, y, t)
    why = '"t" is the inner loop of a split, or a fused loop: rounding it up would run into points that'
    legal = "The legal choices: hl.TailStrategy.GuardWithIf, "
    refused(lambda: f.split(t, xo, xi, 8, TailStrategy.RoundUp), f, why, legal)


def test_round_up_of_the_inner_loop_of_a_split() -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 8)
    why = '"xi" takes 8 steps, which the factor does not divide: rounding it up would run into points that'
    legal = "The legal choices: hl.TailStrategy.GuardWithIf, "
    refused(lambda: f.split(xi, xi, t, 3, TailStrategy.RoundUp), f, why, legal)


def test_round_up_of_a_stage_that_steers_itself() -> None:
    x, y = hl.Var("x"), hl.Var("y")
    f = hl.Func("f")
    f[x, y] = x + y
    f[x, hl.clamp(f[x, 0], 0, 3)] = 7
    told = 'f.update().split(x, xo, xi, 4, TailStrategy.RoundUp): "f" steers itself here'
    legal = "The legal choices: hl.TailStrategy.GuardWithIf, "
    refused(lambda: f.update().split(x, xo, xi, 4, TailStrategy.RoundUp), f, told, legal)


def test_auto_is_always_legal() -> None:
    f, x, r = reduction()
    f.split(x, xo, xi, 4).split(xi, xi, t, 3).split(t, t, u, 5)
    f.update().split(x, xo, xi, 4).split(r.x, rxo, rxi, 3)
    f.fuse(xo, xi, xo).split(xo, xo, xi, 7)
    assert f.loop_nest()


@pytest.mark.parametrize("verb", ["vectorized", "unrolled"])
def test_split_of_a_loop_that_is_vectorized_or_unrolled(verb: str) -> None:
    f, x, _y = pixels()
    (f.vectorize if verb == "vectorized" else f.unroll)(x)
    refused(lambda: f.split(x, xo, xi, 8), f, f'f.split(x, xo, xi, 8): "x" is {verb}; split it before that directive.')


# -- fuse and reorder


@pytest.mark.parametrize("x_inside", [True, False])
def test_fuse_of_a_pure_and_a_reduction_loop_takes_a_recurrence_in_order(x_inside: bool) -> None:
    f, x, r = recurrence()
    f.update().fuse(*((x, r.x) if x_inside else (r.y, x)), rt)
    np.testing.assert_array_equal(np.asarray(f.realize([5])), f.evaluate([5]))
    assert f.certify().ok


def test_fuse_of_a_pure_and_a_reduction_loop_brings_none_out_of_order() -> None:
    f, x, r = recurrence()
    why = "f.update().fuse(r.x, x, rt): it would change the order in which values are taken in"
    refused(lambda: f.update().fuse(r.x, x, rt), f, why)


def test_fuse_of_a_pure_and_a_reduction_loop_is_no_pure_loop() -> None:
    f, x, r = reduction()
    f.update().fuse(r.x, x, rt)
    why = 'f.update().parallel(rt): "rt" is a reduction loop of which two iterations'
    refused(lambda: f.update().parallel(rt), f, why)
    f.update().atomic().parallel(rt)
    np.testing.assert_array_equal(np.asarray(f.realize([5])), f.evaluate([5]))


def test_fuse_of_reduction_loops_brings_them_together() -> None:
    """Where their order does not matter: here a sum is taken in."""
    for before, one, other in (
        (lambda f, x, r: f.update().reorder(r.x, x, r.y), "x", "y"),
        (lambda f, x, r: f, "y", "x"),
    ):
        f, x, r = reduction()
        before(f, x, r)
        f.update().fuse(getattr(r, one), getattr(r, other), rt)
        np.testing.assert_array_equal(np.asarray(f.realize([5])), f.evaluate([5]))


def test_fuse_of_reduction_loops_whose_order_matters() -> None:
    f, x, r = hl.Func("f"), hl.Var("x"), hl.RDom([(0, 3), (0, 4)])
    f[x] = x
    f[x] = f[x] * 2 + r.x * r.y
    why = "f.update().fuse(r.y, r.x, rt): it would change the order in which values are taken in"
    refused(lambda: f.update().fuse(r.y, r.x, rt), f, why)


def test_fuse_of_reduction_loops_that_traded_places() -> None:
    f, _x, r = reduction()
    f.update().reorder(r.y, r.x).fuse(r.y, r.x, rt)
    assert "for rt in [0, 59]" in f.loop_nest()


def test_fuse_of_a_loop_with_itself() -> None:
    f, x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.fuse(x, x, t), 'fuse() needs two loops, not "x" twice.')


def test_fuse_of_a_loop_that_is_not_serial() -> None:
    f, x, y = pixels()
    f.parallel(y)
    refused(lambda: f.fuse(x, y, t), f, "f.fuse(x, y, t): both loops must be serial")


def test_reorder_of_reduction_loops() -> None:
    f, _x, r = recurrence()
    why = "f.update().reorder(r.y, r.x): it would change the order in which values are taken in, and with it the result"
    told = "the update is not known to be associative and commutative"
    refused(lambda: f.update().reorder(r.y, r.x), f, why, told, "They must stay, innermost first: r.x, r.y.")


def test_reorder_of_the_two_halves_of_a_reduction_loop() -> None:
    f, _x, r = recurrence()
    f.update().split(r.x, rxo, rxi, 5)
    refused(lambda: f.update().reorder(rxo, rxi), f, "They must stay, innermost first: rxi, rxo, r.y.")


def test_reorder_of_an_operator_that_does_not_commute() -> None:
    x, r = hl.Var("x"), hl.RDom([(0, 4), (0, 3)], "r")
    f = hl.Func("f")
    f[x] = (1, 0)
    f[x] = (f[x][0] * 3, f[x][1] * 3 + r.x - r.y)
    refused(lambda: f.update().reorder(r.y, r.x), f, "is not known to be associative and commutative")


def test_reorder_of_loops_that_meet_and_one_that_does_not() -> None:
    f, r = rows()
    f.update().reorder(r.y, r.x)
    assert f.loop_nest().index("for r.x") < f.loop_nest().index("for r.y")
    g, q = rows()
    g.update().split(q.x, rxo, rxi, 4)
    refused(lambda: g.update().reorder(rxo, q.y, rxi), g, "They must stay, innermost first: rxi, rxo, r.y.")


def test_reorder_on_the_user_s_word() -> None:
    f, _x, r = recurrence()
    f.update().atomic(True).reorder(r.y, r.x)
    assert f.loop_nest().index("for r.x") < f.loop_nest().index("for r.y")


def test_orders_that_name_one_twice() -> None:
    f, x, y = pixels()
    raised(hl.ScheduleError, lambda: f.reorder(x, y, x), 'reorder() names the loop "x" twice.')
    raised(hl.ScheduleError, lambda: f.reorder_storage(x, x), 'reorder_storage() names the dimension "x" twice.')


# -- traversal


def test_parallel_of_a_reduction_loop() -> None:
    f, _x, r = reduction()
    why = 'f.update().parallel(r.y): "r.y" is a reduction loop of which two iterations may meet in one point'
    legal = "The loops of this stage whose iterations never do, innermost first: x."
    refused(lambda: f.update().parallel(r.y), f, why, legal)


def test_vectorize_of_a_reduction_loop() -> None:
    f, _x, r = reduction()
    refused(lambda: f.update().vectorize(r.x, 5), f, 'f.update().vectorize(r.x, 5): "r.x.v" is a reduction loop')


@pytest.mark.parametrize("verb", ["parallel", "vectorize"])
def test_reduction_loop_at_once_where_iterations_keep_apart(verb: str) -> None:
    f, r = rows()
    getattr(f.update(), verb)(r.y)
    assert np.array_equal(np.asarray(f.realize([9, 6])), f.evaluate([9, 6]))
    legal = "The loops of this stage whose iterations never do, innermost first: r.y."
    refused(lambda: getattr(f.update(), verb)(r.x), f, '"r.x" is a reduction loop of which two iterations may', legal)


def test_reduction_loop_at_once_that_a_fusion_made() -> None:
    f, r = rows()
    f.update().fuse(r.x, r.y, rt)
    refused(lambda: f.update().parallel(rt), f, '"rt" is a reduction loop of which', "innermost first: none.")


def test_vectorize_where_there_is_no_pure_loop() -> None:
    f = hl.Func("f")
    r = hl.RDom([(1, 8)], "r")
    f[hl.Var("x")] = 0
    f[r] = f[r - 1] + 1
    refused(lambda: f.update().vectorize(r), f, "whose iterations never do, innermost first: none.")


def test_reduction_loops_may_be_unrolled_and_serial() -> None:
    f, _x, r = reduction()
    f.update().unroll(r.x).serial(r.y)
    assert "unrolled r.x in [0, 9]" in f.loop_nest()


@pytest.mark.parametrize("verb", ["vectorize", "unroll"])
def test_loop_without_a_constant_length(verb: str) -> None:
    f, x, _y = pixels()
    told = f"f.{verb}(x): the length of the loop is not a constant: f.extent.0."
    legal = f"Give a factor, for example f.{verb}(x, 8), or fix the length with f.bound_extent(x, n)."
    lowering_refuses(lambda: getattr(f, verb)(x), f, told, legal)


@pytest.mark.parametrize("verb", ["vectorize", "unroll"])
def test_split_by_a_param_has_no_constant_length(verb: str) -> None:
    f, x, _y = pixels()
    k = hl.Param(hl.Int(32), "k", 4)
    f.split(x, xo, xi, k, TailStrategy.GuardWithIf)
    lowering_refuses(lambda: getattr(f, verb)(xi), f, "the length of the loop is not a constant: int64(k).")


@pytest.mark.parametrize("verb", ["vectorize", "unroll"])
def test_loop_whose_length_a_bound_makes_constant(verb: str) -> None:
    f, x, _y = pixels()
    getattr(f.bound_extent(x, 4), verb)(x)
    assert f.realize([4, 2]).array.tolist() == [[0, 1, 2, 3], [100, 101, 102, 103]]


def test_too_many_copies() -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 1 << 17, TailStrategy.GuardWithIf)
    why = "f.unroll(xi): this would make 131072 copies of its body; split it first."
    lowering_refuses(lambda: f.unroll(xi), f, why)


@pytest.mark.parametrize(("most", "allowed"), [(4, True), (3, False)])
def test_as_many_copies_as_are_allowed(most: int, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unroll, "_MOST", most)
    f, x, _y = pixels()
    f.split(x, xo, xi, 4, TailStrategy.GuardWithIf).unroll(xi)
    if allowed:
        lower(f._request())
    else:
        with pytest.raises(hl.ScheduleError, match="4 copies"):
            lower(f._request())


@pytest.mark.parametrize("index", [lambda v: v // 2, lambda v: v * 3])
def test_vectorized_loop_with_memory_that_differs_from_lane_to_lane(index: Callable[[hl.Var], hl.Expr]) -> None:
    g, x, y = pixels("g")
    f = hl.Func("f")
    f[x, y] = g[index(x), y] + g[x, y]
    g.compute_at(f, xi)
    f.split(x, xo, xi, 8, TailStrategy.GuardWithIf)
    why = 'f.vectorize(xi): "g" is computed inside this loop, and needs memory of another size in each lane: '
    what = "Compute it outside the loop, for example g.compute_root(), or bound its extent."
    lowering_refuses(lambda: f.vectorize(xi), f, why, what)


# -- placement


def test_compute_at_a_loop_that_is_not_around_every_use() -> None:
    g, x, y = pixels("g")
    h, f = hl.Func("h"), hl.Func("f")
    h[x, y] = g[x, y] + 1
    f[x, y] = g[x, y] + h[x, y]
    h.compute_at(f, y)
    message = refused(lambda: g.compute_at(f, x), f)
    assert message == (
        'g.compute_at(f, x): not every use of "g" is inside a loop "x" of "f". The legal levels:\n'
        "    g.compute_root()\n"
        "    g.compute_at(f, y)\n"
        '"g" is used in:\n'
        "    h.s0: f.s0.y > h.s0.y > h.s0.x\n"
        "    f.s0: f.s0.y > f.s0.x"
    )


@pytest.mark.parametrize("level", ["root", "y"])
def test_compute_at_levels_listed_are_legal(level: str) -> None:
    g, x, y = pixels("g")
    h, f = hl.Func("h"), hl.Func("f")
    h[x, y] = g[x, y] + 1
    f[x, y] = g[x, y] + h[x, y]
    h.compute_at(f, y)
    (g.compute_root() if level == "root" else g.compute_at(f, y))
    assert "produce g:" in f.loop_nest()


def test_compute_at_a_loop_that_does_not_exist() -> None:
    g, f, _x, _y = producer_and_consumer()
    legal = "    g.compute_root()\n    g.compute_at(f, y)\n    g.compute_at(f, x)\n"
    why = 'g.compute_at(f, z): not every use of "g" is inside a loop "z" of "f".'
    refused(lambda: g.compute_at(f, z), f, why, legal)


def test_compute_at_a_func_that_does_not_use_it() -> None:
    g, f, x, _y = producer_and_consumer()
    other, a, b = pixels("other")
    other.compute_root()
    f[x, hl.Var("y")] += other[x, hl.Var("y")]
    refused(lambda: g.compute_at(other, a), f, 'not every use of "g" is inside a loop "x" of "other"')
    del b


def test_compute_at_a_func_outside_of_the_pipeline() -> None:
    g, f, _x, _y = producer_and_consumer()
    other, a, _b = pixels("other")
    refused(lambda: g.compute_at(other, a), f, "g.compute_at(other, x)", "g.compute_at(f, y)")


def test_compute_at_one_of_two_consumers() -> None:
    g, x, y = pixels("g")
    a, f = hl.Func("a"), hl.Func("f")
    a[x, y] = g[x, y]
    f[x, y] = a[x, y] + g[x + 1, y]
    a.compute_root()
    message = refused(lambda: g.compute_at(f, y), f)
    assert "The legal levels:\n    g.compute_root()\n" in message
    assert "    a.s0: a.s0.y > a.s0.x\n    f.s0: f.s0.y > f.s0.x" in message


def test_place_of_an_output_is_a_warning() -> None:
    g, f, _x, y = producer_and_consumer()
    g.store_root().compute_at(f, y)
    g.store_at(f, y)
    told = r'g.compute_at\(f, y\): "g" is an output of the pipeline and is computed at the root, so this has no effect'
    with pytest.warns(hl.IgnoredDirectiveWarning, match=told):
        both = hl.Pipeline([f, g]).realize([4, 3])
    assert (np.asarray(both[0]) == np.asarray(f.evaluate([4, 3]))).all()
    assert (np.asarray(g.realize([4, 3])) == np.asarray(both[1])).all()


def test_compute_at_itself() -> None:
    f, x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.compute_at(f, x), 'Func "f" can\'t be placed inside its own loops')


def test_store_at_a_loop_inside_the_computation() -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, y)
    legal = "The legal levels:\n    g.store_root()\n    g.store_at(f, y)"
    message = refused(lambda: g.store_at(f, x), f, 'g.store_at(f, x): the memory of "g" can\'t live there')
    assert message.endswith(legal)


def test_store_at_a_loop_that_does_not_exist() -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_at(f, x)
    refused(lambda: g.store_at(f, z), f, "    g.store_root()\n    g.store_at(f, y)\n    g.store_at(f, x)")


def test_store_at_across_a_parallel_loop() -> None:
    g, f, x, y = producer_and_consumer()
    f.split(x, xo, xi, 4).parallel(xo)
    g.compute_at(f, xo)
    message = refused(lambda: g.store_at(f, y), f, "no loop between the two may be parallel or vectorized")
    assert message.endswith("The legal levels:\n    g.store_at(f, xo)")


def test_store_root_across_a_parallel_loop() -> None:
    g, f, x, y = producer_and_consumer()
    f.parallel(y)
    legal = "The legal levels:\n    g.store_at(f, y)\n    g.store_at(f, x)"
    assert refused(lambda: g.compute_at(f, x).store_root(), f, "g.store_root(): ").endswith(legal)


def test_store_root_across_a_vectorized_loop() -> None:
    g, f, x, y = producer_and_consumer()
    f.bound_extent(x, 8).vectorize(x).reorder(y, x)
    legal = "The legal levels:\n    g.store_at(f, x)\n    g.store_at(f, y)"
    assert refused(lambda: g.compute_at(f, y).store_root(), f, "g.store_root(): ").endswith(legal)


# -- Funcs without loops


@pytest.mark.parametrize(
    ("told", "schedule"),
    [
        ("g.parallel(x)", lambda g, f, x: g.parallel(x)),
        ("g.unroll(x, 2)", lambda g, f, x: g.unroll(x, 2)),
        ("g.store_root()", lambda g, f, x: g.store_root()),
        ("g.store_at(f, x)", lambda g, f, x: g.store_at(f, x)),
        ("g.specialize(0 < p)", lambda g, f, x: g.specialize(hl.Param(hl.Int(32), "p") > 0)),
    ],
)
def test_directive_about_an_inlined_func(told: str, schedule: Callable[..., object]) -> None:
    g, f, x, _y = producer_and_consumer()
    assert _message(f, lambda: schedule(g, f, x)) == (
        f'{told}: "g" has no loops of its own, since it is computed inline where it is used, so this would have no '
        "effect. Say where it is computed, for example g.compute_root()."
    )


@pytest.mark.parametrize(
    ("told", "schedule"),
    [
        ("g.split(x, xo, xi, 8)", lambda g, f, x: g.split(x, xo, xi, 8)),
        ("g.reorder(y, x)", lambda g, f, x: g.reorder(hl.Var("y"), x)),
        ("g.fuse(x, y, t)", lambda g, f, x: g.fuse(x, hl.Var("y"), t)),
        ("g.serial(x)", lambda g, f, x: g.serial(x)),
        ("g.bound(x, 0, 8)", lambda g, f, x: g.bound(x, 0, 8)),
        ("g.bound_extent(x, 8)", lambda g, f, x: g.bound_extent(x, 8)),
        ("g.align_bounds(x, 2)", lambda g, f, x: g.align_bounds(x, 2)),
        ("g.trace_stores()", lambda g, f, x: g.trace_stores()),
        ("g.reorder_storage(y, x)", lambda g, f, x: g.reorder_storage(hl.Var("y"), x)),
        ("g.store_in(MemoryType.Stack)", lambda g, f, x: g.store_in(hl.MemoryType.Stack)),
        ("g.debug_to_file('g.npy')", lambda g, f, x: g.debug_to_file("g.npy")),
        ("g.atomic()", lambda g, f, x: g.atomic()),
    ],
)
def test_directive_without_effect_on_an_inlined_func(told: str, schedule: Callable[..., object]) -> None:
    """A warning at the user's line: a program that Halide runs."""
    g, f, x, _y = producer_and_consumer()
    schedule(g, f, x)
    with pytest.warns(hl.IgnoredDirectiveWarning) as found:
        f.loop_nest()
    (warning,) = found
    assert warning.filename == __file__
    assert str(warning.message) == (
        f'{told}: "g" has no loops of its own, since it is computed inline where it is used, so this has no effect. '
        "Say where it is computed, for example g.compute_root()."
    )


def test_warning_of_a_directive_without_effect_comes_once() -> None:
    g, f, x, _y = producer_and_consumer()
    g.bound(x, 0, 8)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(2):
            f.loop_nest()
            f.realize([4, 4])
    assert [w.category for w in found] == [hl.IgnoredDirectiveWarning]


def test_directive_about_an_inlined_func_names_its_line() -> None:
    g, f, x, _y = producer_and_consumer()
    refused(lambda: g.vectorize(x, 8), f, "g.vectorize(x, 8): ")


def test_compute_inline_takes_back_compute_root() -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().compute_inline()
    assert "g" not in f.loop_nest()
    refused(lambda: g.unroll(x), f, "computed inline where it is used")


# -- bounds


def test_bound_of_an_unknown_dimension() -> None:
    f, _x, _y = pixels()
    told = 'Func "f" has no dimension "z"; it has: x, y.'
    raised(hl.ScheduleError, lambda: f.bound(z, 0, 8), told)
    raised(hl.ScheduleError, lambda: f.bound_extent(z, 8), told)


def test_bound_of_a_loop_that_is_no_dimension() -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 8)
    raised(hl.ScheduleError, lambda: f.bound(xi, 0, 8), 'Func "f" has no dimension "xi"')


@pytest.mark.parametrize("extent", [0, -1, -8])
def test_bound_with_an_extent_that_is_not_positive(extent: int) -> None:
    f, x, _y = pixels()
    told = f"must be positive, not {extent}."
    raised(hl.ScheduleError, lambda: f.bound(x, 0, extent), f"The extent of bound() {told}")
    raised(hl.ScheduleError, lambda: f.bound_extent(x, extent), f"The extent of bound_extent() {told}")


def test_bound_that_does_not_cover_what_is_needed() -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().bound(x, 0, 8)
    with pytest.raises(hl.PipelineError, match=r"g\.bound\(x, 0, 8\): Bounds given for g in x .* do not cover"):
        f.realize([9, 2])
    assert f.realize([8, 2]).array[1, 7] == 7 * 2 + 200
