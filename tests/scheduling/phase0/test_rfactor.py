"""Factored reductions: every operator, in order and out of it, with predicates and split loops, as the reference is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.lowering.driver import certify
from tests.support.checking import image, numbers

x, y, u, v = (hl.Var(n) for n in "x y u v".split())
ro, ri, rf = (hl.RVar(n) for n in ("ro", "ri", "rf"))
Step = Callable[[Any, Any], Any]


def as_evaluated(f: hl.Func, window: list[int]) -> None:
    """The compiled result is that of the user's own definitions."""
    found, wanted = f.realize(window), f.evaluate(window)
    found, wanted = (each if isinstance(each, tuple) else (each,) for each in (found, wanted))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b, strict=True)


def laws(f: hl.Func) -> dict[str, Status]:
    """The claims about laws in a certificate, and how they ended; to be asked before the program is compiled, since
    a test run certifies a program once."""
    return {r.claim.told(): r.status for r in certify(f._request()).results if r.claim.kind is ClaimKind.LAW}


OPERATORS: dict[str, tuple[hl.Type, float, Step]] = {
    "sum": (hl.Int(32), 0, lambda f, g: f + g),
    "difference": (hl.UInt(8), 3, lambda f, g: f - g),
    "chain": (hl.Int(16), 1, lambda f, g: g + (f + 3) - g * 2),
    "product": (hl.UInt(16), 1, lambda f, g: f * g),
    "min": (hl.Int(8), 100, hl.min),
    "max": (hl.UInt(32), 0, lambda f, g: hl.max(g, f)),
    "least by select": (hl.Int(32), 90, lambda f, g: hl.select(g < f, g, f)),
    "and": (hl.UInt(8), 255, lambda f, g: f & g),
    "or": (hl.Int(64), 0, lambda f, g: f | g),
    "xor": (hl.UInt(32), 5, lambda f, g: f ^ g),
    "any": (hl.Bool(), 0, lambda f, g: f | g),
    "all": (hl.Bool(), 1, lambda f, g: f & g),
}


@pytest.mark.parametrize("kept", [0, 1], ids=["inner", "outer"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str, kept: int) -> None:
    type, first, step = OPERATORS[name]
    r = hl.RDom([(1, 9), (0, 5)], "r")
    im = image(numbers((5, 12), type.dtype), "im")
    f = hl.Func("f")
    f[x] = hl.cast(type, int(first))
    f[x] = step(f[x], im[r.x + x, r.y])
    partial = f.update().rfactor([r.x, r.y][kept], u)
    partial.compute_root().update().parallel(u)
    assert [a.name() for a in partial.args()] == ["x", "u"]
    found = laws(f)
    assert len(found) == (2 if kept else 3)  # outer loops keep the order, so that nothing need commute
    assert set(found.values()) == {Status.PROVEN}
    as_evaluated(f, [2])


def test_default_place_is_where_the_merge_needs_it() -> None:
    r = hl.RDom([(0, 7), (0, 3)], "r")
    im = image(numbers((3, 9), np.int32), "im")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = 0
    f[x] += im[r.x + x, r.y]
    f.update().rfactor(r.x, u)
    g[x] = f[x] + f[x + 1]
    as_evaluated(g, [2])


@pytest.mark.parametrize("size", [32, 37])
@pytest.mark.parametrize("kept", ["ri", "ro"])
def test_split_loops(size: int, kept: str) -> None:
    im = image(numbers((size,), np.int32), "im")
    r = hl.RDom([(0, size)], "r")
    f = hl.Func("f")
    f[()] = 0
    f[()] += im[r.x]
    partial = f.update().split(r.x, ro, ri, 8).rfactor({"ri": ri, "ro": ro}[kept], u)
    partial.compute_root().update().vectorize(u, 8 if kept == "ri" else 2, hl.TailStrategy.GuardWithIf)
    as_evaluated(f, [])


def test_domain_of_a_run_time_length() -> None:
    n = hl.Param(hl.Int(32), "n", 11)
    im = image(numbers((40,), np.int32), "im")
    r = hl.RDom([(2, n)], "r")
    f = hl.Func("f")
    f[()] = 0
    f[()] += im[r.x] * r.x
    f.update().split(r.x, ro, ri, 4).rfactor(ri, u).compute_root().vectorize(u, 4).update().vectorize(u, 4)
    for length in (11, 12, 1, 0, 38, -1, -9):
        n.set(length)
        as_evaluated(f, [])


def test_fused_and_renamed_loops() -> None:
    im = image(numbers((6, 7), np.int32), "im")
    r = hl.RDom([(0, 7), (1, 4)], "r")
    f = hl.Func("f")
    f[x] = x
    f[x] += im[r.x, r.y + x]
    update = f.update().fuse(r.x, r.y, rf).split(rf, ro, ri, 5).rename(ri, r.x)
    update.rfactor(r.x, u).compute_at(f, x)
    as_evaluated(f, [2])


def test_new_var_with_the_name_of_a_loop_that_stays() -> None:
    r = hl.RDom([(0, 4), (0, 3)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += r.x + r.y * x
    f.update().split(r.x, ro, ri, 2)
    with pytest.raises(hl.ScheduleError, match='"ri" is the name of a reduction loop'):
        f.update().rfactor(ro, hl.Var("ri"))
    f.update().rfactor(ro, hl.Var("ro")).compute_root()
    as_evaluated(f, [5])


@pytest.mark.parametrize("sizes", [(-2, -3), (-2, 3), (2, -3), (0, -1), (2, 3)])
def test_fused_loops_of_negative_lengths_have_no_iterations(sizes: tuple[int, int]) -> None:
    n, m = hl.Param(hl.Int(32), "n"), hl.Param(hl.Int(32), "m")
    r = hl.RDom([(0, n), (0, m)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += r.x + 10 * r.y + 1
    f.update().fuse(r.x, r.y, rf).rfactor(rf, u).compute_root()
    n.set(sizes[0])
    m.set(sizes[1])
    as_evaluated(f, [3])


@pytest.mark.parametrize(
    ("order", "fused"),
    [((1, 0, 2), (0, 1)), ((0, 1, 2), (0, 2)), ((0, 1, 2), (1, 0)), ((2, 0, 1), (1, 2))],
    ids=["swapped back", "apart", "outer into inner", "outermost into innermost"],
)
def test_loops_that_are_brought_together(order: tuple[int, ...], fused: tuple[int, int]) -> None:
    """Directives before it count one after another, each for the loops that the one before has left."""
    r = hl.RDom([(0, 5), (1, 4), (2, 3)], "r")
    loops = [r.x, r.y, r.z]
    (kept,) = {0, 1, 2} - {*fused}
    im = image(numbers((5, 6, 9), np.int32), "im")
    f = hl.Func("f")
    f[x] = x
    f[x] += im[r.x + x, r.y, r.z] * (r.x + r.y * 2 + r.z * 3)
    update = f.update().reorder([loops[k] for k in order]).fuse(loops[fused[0]], loops[fused[1]], rf)
    update.rfactor(loops[kept], u).compute_root()
    assert set(laws(f).values()) == {Status.PROVEN}
    as_evaluated(f, [2])
    assert hl.Pipeline([f]).certify().ok


def test_a_whole_reduction_moves_into_a_func_of_its_own() -> None:
    im = image(numbers((9, 40), np.int32), "im")
    r = hl.RDom([(0, 30), (0, 9)], "r")
    r.where(r.x != r.y)
    f = hl.Func("f")
    f[x] = x
    f[x] += im[r.x + x, r.y]
    whole = f.update().split(r.x, ro, ri, 8).rfactor([])
    assert [a.name() for a in whole.args()] == ["x"]
    whole.compute_at(f, x).update().rfactor(ri, u).compute_at(f, x).vectorize(u, 8).update().vectorize(u, 8)
    f.update().unroll(x, 2)
    assert set(laws(f).values()) == {Status.PROVEN}
    as_evaluated(f, [5])
    assert hl.Pipeline([f]).certify().ok


def test_a_whole_reduction_keeps_the_first_of_equal_values() -> None:
    im = image(numbers((9, 12), np.int32) % 4, "im")
    r = hl.RDom([(0, 12), (0, 9)], "r")
    f = hl.Func("f")
    f[()] = (0, 0, 5)
    less = im[r.x, r.y] < f[()][2]
    f[()] = (hl.select(less, r.x, f[()][0]), hl.select(less, r.y, f[()][1]), hl.select(less, im[r.x, r.y], f[()][2]))
    f.update().rfactor([]).compute_root()
    as_evaluated(f, [])


def test_points_of_a_whole_reduction_are_those_of_the_func() -> None:
    im = image(numbers((30,), np.uint8), "im")
    r = hl.RDom([(0, 30)], "r")
    hist = hl.Func("hist")
    hist[x] = 1
    hist[hl.i32(im[r.x])] += 1
    hist.update().rfactor([]).compute_root()
    as_evaluated(hist, [256])


def test_predicates_and_points_of_a_histogram() -> None:
    im = image(numbers((20, 30), np.uint8), "im")
    r = hl.RDom([(0, 30), (0, 20)], "r")
    r.where(r.x * 2 < r.y + 20)
    hist = hl.Func("hist")
    hist[x] = 0
    hist[hl.i32(im[r.x, r.y])] += 1
    partial = hist.update().rfactor(r.y, u)
    partial.compute_root().parallel(u).update().parallel(u)
    hist.update().vectorize(x, 8)
    as_evaluated(hist, [256])


def test_two_loops_at_once_and_one_after_another() -> None:
    im = image(numbers((4, 5, 6), np.int32), "im")
    for at_once in (True, False):
        r = hl.RDom([(0, 6), (0, 5), (0, 4)], "r")
        f = hl.Func("f")
        f[()] = 0
        f[()] += im[r.x, r.y, r.z]
        if at_once:
            partial = f.update().rfactor([(r.z, u), (r.y, v)])
            partial.compute_root().update().parallel(v)
        else:
            first = f.update().rfactor(r.z, u)
            first.compute_root()
            first.update().rfactor(r.x, v).compute_root().update().vectorize(v, 2)
        as_evaluated(f, [])


def test_first_of_equal_values_stays_the_first() -> None:
    im = image(np.asarray(numbers((50,), np.uint8) % 5, np.uint8), "im")
    r = hl.RDom([(0, 50)], "r")
    f = hl.Func("f")
    f[()] = (0, hl.u8(255))
    less = im[r.x] < f[()][1]
    f[()] = (hl.select(less, r.x, f[()][0]), hl.select(less, im[r.x], f[()][1]))
    f.update().split(r.x, ro, ri, 8).rfactor(ro, u).compute_root().update().parallel(u)
    assert set(laws(f).values()) == {Status.PROVEN}
    as_evaluated(f, [])


@pytest.mark.parametrize(("dtype", "known"), [(np.int32, set()), (np.float32, {Status.ASSUMED})])
def test_product_of_complex_numbers(dtype: type[np.generic], known: set[Status]) -> None:
    # Of floats, small whole numbers: as no sum of them is rounded, every order gives the same.
    a, b = (image(np.asarray(numbers((12,), np.int32, seed) % 3, dtype), name) for seed, name in ((1, "a"), (2, "b")))
    r = hl.RDom([(0, 12)], "r")
    f = hl.Func("f")
    f[()] = (hl.cast(a.type(), 1), hl.cast(a.type(), 0))
    re, im = f[()][0], f[()][1]
    f[()] = (re * a[r.x] - im * b[r.x], re * b[r.x] + im * a[r.x])
    f.update().split(r.x, ro, ri, 4).rfactor(ri, u).compute_root().update().vectorize(u, 4)
    assert set(laws(f).values()) == {Status.PROVEN, *known}
    as_evaluated(f, [])


@pytest.mark.parametrize("sign", [1, -1])
def test_operand_that_two_components_take_in(sign: int) -> None:
    """The value that one component takes in as its negative is not what the other one takes in."""
    r = hl.RDom([(0, 7), (0, 6)], "r")
    im = image(numbers((6, 7), np.int32), "im")
    f = hl.Func("f")
    f[x] = (x + 2, x * 3)
    g, h = im[r.x, r.y], im[6 - r.x, r.y]
    f[x] = (f[x][0] + g if sign > 0 else f[x][0] - g, (f[x][1] + f[x][0] * g) + h)
    if sign < 0:
        with pytest.raises(hl.ScheduleError, match="no reduction by an associative operator"):
            f.update().rfactor(r.y, u)
        return
    f.update().rfactor(r.y, u).compute_root()
    as_evaluated(f, [4])


CONDITIONAL: list[Step] = [
    lambda f, g: hl.select(g > 3, f * g, f),
    lambda f, g: hl.select(g > 3, f, hl.min(f, g)),
]


@pytest.mark.parametrize("step", CONDITIONAL)
def test_values_that_are_taken_in_under_a_condition(step: Step) -> None:
    r = hl.RDom([(0, 5), (0, 6)], "r")
    im = image(numbers((6, 5), np.int32), "im")
    f = hl.Func("f")
    f[x] = x + 2
    f[x] = step(f[x], im[r.x, r.y])
    f.update().rfactor(r.x, u).compute_root()
    as_evaluated(f, [4])


def test_tuple_of_independent_reductions() -> None:
    im = image(numbers((9, 4), np.int16), "im")
    r = hl.RDom([(0, 4), (0, 9)], "r")
    f = hl.Func("f")
    f[()] = (hl.i16(0), hl.i16(-5), hl.i16(-1))
    f[()] = (f[()][0] + im[r.x, r.y], hl.max(f[()][1], im[r.x, r.y]), f[()][2] ^ hl.i16(r.x))
    f.update().rfactor(r.x, u).compute_root().vectorize(u, 4).update().vectorize(u, 4)
    as_evaluated(f, [])


def test_sum_of_floats_is_assumed() -> None:
    im = image(np.arange(40, dtype=np.float32).reshape(8, 5), "im")
    r = hl.RDom([(0, 5), (0, 8)], "r")
    f = hl.Func("f")
    f[()] = 0.0
    f[()] += im[r.x, r.y]
    f.update().rfactor(r.x, u).compute_root()
    certificate = certify(f._request())
    assert certificate.ok
    assert [r.status for r in certificate.results if r.claim.kind is ClaimKind.LAW] == [Status.ASSUMED]
    assert "f.update().rfactor(r.x, u)" in str(certificate.assumptions[0])
    as_evaluated(f, [])  # whole numbers: every order gives the same bits


def test_partial_func_can_be_realized_alone() -> None:
    im = image(numbers((3, 4), np.int32), "im")
    r = hl.RDom([(0, 4), (0, 3)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += im[r.x, r.y] * x
    partial = f.update().rfactor(r.y, u)
    np.testing.assert_array_equal(np.asarray(partial.realize([3, 3])), partial.evaluate([3, 3]))
    with pytest.raises(hl.DefinitionError):
        partial[x, u] += 1


def test_same_text_in_every_process_and_a_key_of_its_own() -> None:
    def made(factor: bool) -> hl.Func:
        r = hl.RDom([(0, 4), (0, 3)], "r")
        f = hl.Func("f")
        f[x] = 0
        f[x] += r.x * r.y
        if factor:
            f.update().rfactor(r.y, u)
        return f

    texts = [str(made(True).explain()) for _ in range(2)]
    assert texts[0] == texts[1]
    for each in (True, False):
        as_evaluated(made(each), [3])


def test_schedule_given_again_after_other_loops() -> None:
    """The new Func was made of the loops that the stage had at the call."""
    r = hl.RDom([(0, 8), (0, 5)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x * 3 + y * 7
    f[()] = 0
    f[()] += g[r.x, r.y]
    f.update().rfactor(r.x, u).compute_root()
    given = hl.Schedule(f)
    given.clear()
    given.apply()
    as_evaluated(f, [])
    given.clear()
    f.update().split(r.x, ro, r.x, 4)
    given.apply()
    with pytest.raises(hl.ScheduleError, match='"f_intm" was made of other loops'):
        f.realize([])


LIMITED: dict[str, Step] = {
    "min": lambda f, g: hl.min(f + g, 1000.0),
    "select": lambda f, g: hl.select(f > 1000.0, 1000.0, f + g),
    "clamp": lambda f, g: hl.clamp(f + g, -1000.0, 1000.0),
}


@pytest.mark.parametrize("way", ["rfactor", "atomic", "order"])
@pytest.mark.parametrize("name", LIMITED)
def test_limited_sum_of_floats_is_refused(name: str, way: str) -> None:
    """No sample sum comes near the limit: samples find what may be a law, and prove none, of floats either."""
    im = image(np.array([[900, 500], [-700, 300]], np.float32), "im")
    r = hl.RDom([(0, 2), (0, 2)], "r")
    f = hl.Func("f")
    f[x] = 0.0
    f[x] = LIMITED[name](f[x], im[r.x, r.y])
    if way == "rfactor":
        f.update().rfactor(r.y, u).compute_root()
    elif way == "atomic":
        f.update().atomic().parallel(r.x)
    else:
        f.update().reorder(r.y, r.x)
    with pytest.raises(hl.ScheduleError, match="as if floats were not rounded, that it is associative: this is false"):
        f.realize([1])


def test_least_of_floats_and_its_place_are_proven_but_for_rounding() -> None:
    im = image(np.asarray(numbers((50,), np.uint8) % 5, np.float32), "im")
    r = hl.RDom([(0, 50)], "r")
    f = hl.Func("f")
    f[()] = (0, hl.f32(255))
    less = im[r.x] < f[()][1]
    f[()] = (hl.select(less, r.x, f[()][0]), hl.select(less, im[r.x], f[()][1]))
    f.update().split(r.x, ro, ri, 8).rfactor(ro, u).compute_root().update().parallel(u)
    assert list(laws(f).values()) == [Status.PROVEN, Status.PROVEN, Status.ASSUMED]
    as_evaluated(f, [])
