"""Directives that are illegal: unknown loops, illegal levels, splits that are none; the message says what is legal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, z, xo, yo, xi, yi = (hl.Var(n) for n in "x y z xo yo xi yi".split())
Tail = hl.TailStrategy


@pytest.fixture
def pair() -> tuple[hl.Func, hl.Func]:
    """g, and f that consumes it."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    return g, f


Pair = tuple[hl.Func, hl.Func]


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        (lambda f: f.split(z, xo, xi, 4), "f.split(z, xo, xi, 4)"),
        (lambda f: f.reorder(x, z), "f.reorder(x, z)"),
        (lambda f: f.fuse(x, z, xo), "f.fuse(x, z, xo)"),
        (lambda f: f.parallel(z), "f.parallel(z)"),
        (lambda f: f.serial(z), "f.serial(z)"),
        (lambda f: f.unroll(z), "f.unroll(z)"),
        (lambda f: f.vectorize(z), "f.vectorize(z)"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_unknown_loop_is_refused(directive: Callable[[hl.Func], Any], text: str, pair: Pair) -> None:
    _, f = pair
    refused(hl.ScheduleError, lambda: directive(f), text, '"z"', "innermost first: x, y", at=text)


@pytest.mark.parametrize("verb", ["vectorize", "unroll", "parallel"])
def test_unknown_loop_with_a_factor_is_refused_in_the_user_s_words(verb: str, pair: Pair) -> None:
    _, f = pair
    refused(hl.ScheduleError, lambda: getattr(f, verb)(z, 4), f"f.{verb}(z, 4)", '"z"', at="getattr(f, verb)(z, 4)")


def test_unknown_loop_of_an_update_is_refused() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 5)])
    f[x] = 0
    f[x] += r.x
    refused(hl.ScheduleError, lambda: f.update().parallel(y), "f.update()", '"y"', "r.x, x", at="f.update().parallel")


def test_illegal_compute_at_lists_the_legal_levels(pair: Pair) -> None:
    g, f = pair
    f.tile(x, y, xo, yo, xi, yi, 8, 8)
    g.compute_at(f, z)
    error = refused(hl.ScheduleError, lambda: f.realize([9, 9]), '"g"', '"z"', '"f"', at="g.compute_at(f, z)")
    legal = ["g.compute_root()"] + [f"g.compute_at(f, {v})" for v in ("yo", "xo", "yi", "xi")]
    at = [error.message.index(text) for text in legal]
    assert at == sorted(at)
    g.compute_at(f, xo)  # the last one counts, and every level listed is accepted
    np.asarray(f.realize([9, 9]))


def test_compute_at_is_refused_when_another_func_reads_it_too(pair: Pair) -> None:
    g, f = pair
    h = hl.Func("h")
    h[x, y] = f[x, y] + g[x, y]
    f.compute_root()
    g.compute_at(f, y)
    refused(hl.ScheduleError, lambda: h.realize([4, 4]), "g.compute_root()", "h.s0", at="g.compute_at(f, y)")


def test_compute_at_of_a_stranger_is_refused(pair: Pair) -> None:
    g, f = pair
    other = hl.Func("other")
    other[x] = x
    g.compute_at(other, x)
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), '"g"', '"other"', at="g.compute_at(other, x)")
    refused(hl.ScheduleError, lambda: f.compute_at(f, x), '"f"', at="f.compute_at(f, x)")


def test_compute_at_of_an_output_is_a_warning(pair: Pair) -> None:
    g, f = pair
    f.compute_at(g, x)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r'f.compute_at\(g, x\): "f" is an output'):
        f.realize([4, 4])


def test_illegal_store_at_lists_the_legal_levels(pair: Pair) -> None:
    g, f = pair
    f.parallel(y)
    g.compute_at(f, x).store_root()
    legal = ("g.store_at(f, y)", "g.store_at(f, x)")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), '"g"', *legal, at="g.compute_at(f, x).store_root()")


@pytest.mark.parametrize("factor", [0, -1, -8])
@pytest.mark.parametrize(
    "directive",
    [
        lambda f, n: f.split(x, xo, xi, n),
        lambda f, n: f.vectorize(x, n),
        lambda f, n: f.unroll(x, n),
        lambda f, n: f.parallel(x, n),
        lambda f, n: f.tile(x, y, xo, yo, xi, yi, 8, n),
    ],
    ids=["split", "vectorize", "unroll", "parallel", "tile"],
)
def test_factor_below_one_is_refused(directive: Callable[[hl.Func, int], Any], factor: int, pair: Pair) -> None:
    _, f = pair
    refused(hl.ScheduleError, lambda: directive(f, factor), "positive", str(factor), at="lambda f, n")
    assert np.asarray(f.realize([3, 2])).shape == (2, 3)  # nothing was recorded


@pytest.mark.parametrize("factor", [1.5, "4", None, 2**40])
def test_factor_that_is_no_integer_is_refused(factor: Any, pair: Pair) -> None:
    _, f = pair
    refused(hl.HalideError, lambda: f.split(x, xo, xi, factor), at="f.split(x, xo, xi, factor)")


@pytest.mark.parametrize("value", [0, -3])
@pytest.mark.parametrize("ours", [True, False])
def test_factor_error_when_its_param_is_not_positive(value: int, ours: bool, pair: Pair) -> None:
    _, f = pair
    factor = hl.Param(hl.Int(32), "factor", value)
    f.split(x, xo, xi, factor)
    where: Any = [6, 5] if ours else np.zeros((5, 6), np.int32)
    refused(hl.PipelineError, lambda: f.realize(where), 'Pipeline "f"', "factor", at="f.realize(where)")
    factor.set(4)
    assert (np.asarray(f.realize([6, 5])) == f.evaluate([6, 5])).all()


def test_names_that_are_taken_are_refused(pair: Pair) -> None:
    _, f = pair
    refused(hl.ScheduleError, lambda: f.split(x, y, xi, 4), '"y"', "x, y", at="f.split(x, y, xi, 4)")
    refused(hl.ScheduleError, lambda: f.split(x, xi, xi, 4), '"xi"', at="f.split(x, xi, xi, 4)")
    refused(hl.ScheduleError, lambda: f.reorder(x, x), '"x"', at="f.reorder(x, x)")


def test_vector_without_a_constant_length_is_refused(pair: Pair) -> None:
    _, f = pair
    f.vectorize(x)
    named = ("f.vectorize(x)", "not a constant", "f.vectorize(x, 8)")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), *named, at="f.vectorize(x)")


def test_reduction_loops_keep_their_order() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 5), (0, 4)])
    f[x] = 0
    f[x] = f[x] * 2 + r.x * r.y
    refused(hl.ScheduleError, lambda: f.update().reorder(r.y, r.x), "r.x, r.y", at="f.update().reorder(r.y, r.x)")


@pytest.mark.parametrize("verb", ["parallel", "vectorize"])
def test_reduction_loop_is_no_parallel_one(verb: str) -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 8)])
    f[x] = 0
    f[x] += r.x
    named = ('"r.x"', f"f.update().{verb}(r.x)")
    refused(hl.ScheduleError, lambda: getattr(f.update(), verb)(r.x), *named, at="getattr(f.update(), verb)")


@pytest.mark.parametrize("tail", [Tail.ShiftInwards, Tail.RoundUp, Tail.ShiftInwardsAndBlend, Tail.RoundUpAndBlend])
def test_tail_that_repeats_a_reduction_is_refused(tail: hl.TailStrategy) -> None:
    f, r, ro, ri = hl.Func("f"), hl.RDom([(0, 7)]), hl.RVar("ro"), hl.RVar("ri")
    f[x] = 0
    f[x] += r.x
    named = ("GuardWithIf", tail.name)
    refused(hl.ScheduleError, lambda: f.update().split(r.x, ro, ri, 4, tail), *named, at="split(r.x, ro, ri, 4, tail)")


def test_shift_of_an_update_is_refused() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[x] += x
    refused(hl.ScheduleError, lambda: f.update().vectorize(x, 4, Tail.ShiftInwards), "GuardWithIf", at="vectorize(x, 4")


def test_update_that_is_not_there_is_refused(pair: Pair) -> None:
    _, f = pair
    refused(hl.ScheduleError, lambda: f.update(0), '"f"', "0 update", at="f.update(0)")


def test_wrong_arguments_of_directives_are_refused(pair: Pair) -> None:
    g, f = pair
    bad: Any = "x"
    refused(hl.ScheduleError, lambda: f.split(bad, xo, xi, 4), "'x'", at="f.split(bad")
    refused(hl.ScheduleError, lambda: f.tile(x, y, xo, yo, xi, yi, 8), "tile()", at="f.tile(x, y, xo, yo, xi, yi, 8)")
    refused(hl.ScheduleError, lambda: g.compute_at(bad, x), "compute_at()", at="g.compute_at(bad, x)")
    refused(hl.ScheduleError, lambda: f.split(x, xo, xi, 4, bad), "TailStrategy", at="f.split(x, xo, xi, 4, bad)")
    refused(hl.ScheduleError, lambda: f.bound(z, 0, 5), '"z"', '"f"', at="f.bound(z, 0, 5)")
    refused(hl.ScheduleError, lambda: f.bound(x, 0, -5), "-5", at="f.bound(x, 0, -5)")


@pytest.mark.parametrize("ours", [True, False])
def test_bound_error_when_the_window_is_larger(ours: bool, pair: Pair) -> None:
    _, f = pair
    f.bound(x, 0, 5)
    where: Any = [6, 5] if ours else np.zeros((5, 6), np.int32)
    refused(hl.PipelineError, lambda: f.realize(where), 'Pipeline "f"', "bound", at="f.realize(where)")
    assert np.asarray(f.realize([5, 5])).shape == (5, 5)


def test_directives_that_are_not_available_say_so(pair: Pair) -> None:
    _, f = pair
    for name in ("gpu_blocks",):
        with pytest.raises(hl.HalideError, match="not available yet"):
            getattr(f, name)


def told(verb: str, given: list[int]) -> str:
    return f"{verb}({', '.join(map(str, ('x', *given)))})"


BOUNDS = [("bound", [0, 4]), ("bound_extent", [4]), ("bound", [0, 8])]


@pytest.mark.parametrize("first", BOUNDS)
@pytest.mark.parametrize("second", BOUNDS)
def test_second_bound_of_a_dimension_is_refused(first: Any, second: Any, pair: Pair) -> None:
    _, f = pair
    for verb, given in (first, second):
        getattr(f, verb)(x, *given)
    named = (f"f.{told(*second)}: ", f'"x" is bounded already, by f.{told(*first)}.', "Keep one of the two.")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), *named, at="getattr(f, verb)(x, *given)")


def test_bounds_of_two_dimensions_are_two(pair: Pair) -> None:
    g, f = pair
    f.bound(x, 0, 4).bound_extent(y, 4)
    g.compute_root().bound(x, 0, 4)
    assert (np.asarray(f.realize([4, 4])) == f.evaluate([4, 4])).all()


def test_last_length_of_memory_counts(pair: Pair) -> None:
    g, f = pair
    g.compute_root().bound_storage(x, 2).bound_storage(x, 64)
    assert (np.asarray(f.realize([8, 8])) == f.evaluate([8, 8])).all()
    g.bound_storage(x, 3)
    refused(hl.PipelineError, lambda: f.realize([8, 8]), "g.bound_storage(x, 3)", "3 for 8", at="f.realize([8, 8])")


@pytest.mark.parametrize(
    "given",
    [
        lambda g: g.reorder_storage(y, x),
        lambda g: g.align_storage(x, 8),
        lambda g: g.bound_storage(x, 64),
        lambda g: g.fold_storage(y, 8),
        lambda g: g.bound(x, 0, 8),
        lambda g: g.align_bounds(x, 8),
    ],
    ids=["reorder_storage", "align_storage", "bound_storage", "fold_storage", "bound", "align_bounds"],
)
def test_schedule_of_a_pipeline_with_other_vars_is_refused(given: Callable[[hl.Func], Any], pair: Pair) -> None:
    g, f = pair
    given(g.compute_root())
    a, b, other, out = hl.Var("a"), hl.Var("b"), hl.Func("g"), hl.Func("f")
    other[a, b] = a * b
    out[x, y] = other[x, y - 1] + other[x, y + 1]
    hl.Schedule(f).apply(out)
    named = ('"g" has no dimension "', "Its dimensions: a, b.")
    refused(hl.ScheduleError, lambda: out.realize([4, 4]), *named, at="lambda g: g.")


def test_memory_of_an_output_is_the_caller_s(pair: Pair) -> None:
    g, f = pair
    f.store_at(g, x)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r'f.store_at\(g, x\): "f" is an output'):
        f.realize([4, 4])


WHOLE = "The schedule takes whole vectors or tiles"


def test_window_that_a_bound_does_not_cover_has_no_other_reason() -> None:
    f = hl.Func("f")
    f[x] = x
    f.bound(x, 2, 8)
    error = refused(hl.PipelineError, lambda: f.realize([8]), "f.bound(x, 2, 8): Bounds given", at="f.realize([8])")
    assert WHOLE not in error.message


@pytest.mark.parametrize("tail", [Tail.Auto, Tail.RoundUp, Tail.ShiftInwards])
def test_window_that_grew_is_told_as_a_reason(tail: hl.TailStrategy) -> None:
    im, f = hl.ImageParam(hl.UInt(8), 1, "im"), hl.Func("f")
    f[x] = im[x]
    f.split(x, xo, xi, 8, tail)
    im.set(np.zeros(3, np.uint8))
    named = (WHOLE, '"f" from 0 to 7 in dimension 0, where 0 to 2 is asked for', "hl.TailStrategy.GuardWithIf")
    refused(hl.PipelineError, lambda: f.realize([3]), *named, at="f.realize([3])")
