"""``in_`` and ``clone_in``: what reads what, schedules of their own, and the same values."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.checking import image, numbers

x, y, xo, yo, xi, yi, u = (hl.Var(n) for n in "x y xo yo xi yi u".split())


def pair() -> tuple[hl.Func, hl.Func, hl.Func]:
    """g; f and h, which read it."""
    im = image(numbers((20, 20), np.int32), "im")
    g, f, h = hl.Func("g"), hl.Func("f"), hl.Func("h")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x, y] + g[x + 1, y]
    h[x, y] = f[x, y] - g[y, x]
    return g, f, h


def as_evaluated(f: hl.Func, window: list[int]) -> None:
    """The compiled result is that of the user's own definitions."""
    np.testing.assert_array_equal(np.asarray(f.realize(window)), f.evaluate(window), strict=True)


def produced(f: hl.Func) -> list[str]:
    """The Funcs that have loops, in order."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    assert trace.query is not None
    return [g.name for g in trace.query.program.algorithm.functions]


def test_wrapper_of_one_consumer() -> None:
    g, f, h = pair()
    f.compute_root().tile(x, y, xo, yo, xi, yi, 4, 4)
    g.compute_root()
    w = g.in_(f).compute_at(f, xo).vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    assert g.in_(f).function is w.function
    assert produced(h) == ["g", "g_in_f", "f", "h"]
    as_evaluated(h, [9, 9])


@pytest.mark.parametrize("method", ["in_", "clone_in"])
def test_consumer_of_another_pipeline_is_no_matter_here(method: str) -> None:
    g, f, h = pair()
    f.compute_root()
    getattr(g, method)(h).compute_root()
    assert produced(f) == ["f"]
    as_evaluated(f, [5, 5])
    assert len(produced(h)) == 3
    as_evaluated(h, [5, 5])


def test_wrapper_of_all_but_those_that_have_one() -> None:
    g, f, h = pair()
    f.compute_root()
    g.in_().compute_root()
    g.in_(f).compute_at(f, y)
    g.compute_root()
    assert produced(h) == ["g", "g_in_f", "f", "g_in", "h"]
    as_evaluated(h, [7, 7])


def test_wrapper_of_several() -> None:
    g, f, h = pair()
    f.compute_root()
    g.in_([f, h]).compute_root()
    assert produced(h) == ["g_in_f_h", "f", "h"]  # g itself is inlined into it
    as_evaluated(h, [7, 7])


def test_wrapper_without_a_place_changes_nothing() -> None:
    g, _, h = pair()
    g.in_(h)
    assert produced(h) == ["h"]
    as_evaluated(h, [5, 5])


def test_wrapper_that_is_the_output_itself() -> None:
    g, _, _ = pair()
    out = g.in_()
    out.tile(x, y, xi, yi, 4, 4).vectorize(xi)
    g.compute_at(out, x)
    assert produced(out) == ["g", "g_in"]
    as_evaluated(out, [8, 8])


def test_wrapper_that_nobody_reads_changes_nothing() -> None:
    g, f, h = pair()
    g.compute_root().in_([f, h]).compute_root()
    g.in_().compute_root().vectorize(x, 4)
    assert produced(h) == ["g", "g_in_f_h", "h"]
    as_evaluated(h, [5, 5])


def test_wrapper_of_a_wrapper() -> None:
    g, _, h = pair()
    outer = g.compute_root().in_(h)
    inner = outer.in_(h)
    outer.compute_root()
    inner.compute_at(h, y).unroll(x, 2, hl.TailStrategy.GuardWithIf)
    assert produced(h) == ["g", "g_in_h", "g_in_h_in_h", "h"]
    as_evaluated(h, [6, 6])


def test_wrapper_of_a_tuple_with_updates() -> None:
    r = hl.RDom([(0, 5)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = (x, x * 2)
    g[x] = (g[x][0] + r.x, g[x][1] * r.x)
    f[x] = g[x][0] - g[x + 1][1]
    g.compute_root()
    g.in_(f).compute_at(f, x).store_root()
    as_evaluated(f, [6])


def test_clone_has_definitions_and_directives_of_its_own() -> None:
    g, f, h = pair()
    f.compute_root()
    g.compute_root().vectorize(x, 4)
    c = g.clone_in(f)
    c.compute_at(f, y)
    assert [str(d) for d in c.function.directives] == [
        "g_clone_in_f.compute_root()", "g_clone_in_f.split(x, x, x.v, 4)", "g_clone_in_f.vectorize(x.v)",
        "g_clone_in_f.compute_at(f, y)",
    ]  # fmt: skip
    assert produced(h) == ["g_clone_in_f", "f", "g", "h"]
    as_evaluated(h, [7, 7])


def test_clone_of_a_reduction_for_its_only_consumer() -> None:
    im = image(numbers((20,), np.int32), "im")
    r = hl.RDom([(0, 4)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = 0
    g[x] += im[x + r.x]
    f[x] = g[x] + g[x + 3]
    g.clone_in(f).compute_root().update().vectorize(x, 4)
    assert produced(f) == ["g_clone_in_f", "f"]
    as_evaluated(f, [8])


def test_wrapper_in_a_factored_reduction() -> None:
    im = image(numbers((6, 8), np.int32), "im")
    r = hl.RDom([(0, 8), (0, 6)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] + 1
    f[()] = 0
    f[()] += g[r.x, r.y]
    partial = f.update().rfactor(r.y, u)
    partial.compute_root()
    g.in_(partial).compute_at(partial, u)
    partial.in_(f).compute_root()
    assert produced(f) == ["g_in_f_intm", "f_intm", "f_intm_in_f", "f"]
    as_evaluated(f, [])


def test_wrapper_that_slides() -> None:
    g, f, _ = pair()
    k = hl.Func("k")
    k[x, y] = f[x, y] + f[x, y + 1]
    g.compute_root()
    f.store_root().compute_at(k, y)
    g.in_(f).store_root().compute_at(k, y)
    as_evaluated(k, [6, 6])


def test_same_consumers_in_another_order_share_a_wrapper() -> None:
    g, f, h = pair()
    assert g.in_([f, h]).name() == g.in_([h, f]).name()


def test_wrapper_for_a_wrapper() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x] = f[x] + 1
    first = f.in_(g).compute_root()
    second = f.in_(first).compute_root()
    f.compute_root()
    as_evaluated(g, [9])
    assert produced(g) == ["f", second.name(), first.name(), "g"]


def test_wrapper_for_a_wrapper_when_the_consumer_is_factored() -> None:
    f, g, r, ro, ri = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 4)], "r"), hl.RVar("ro"), hl.RVar("ri")
    f[x] = x * 3
    g[x] = f[x]
    g[x] += f[x + r.x]
    g.update().split(r.x, ro, ri, 2).rfactor(ro, u)
    first = f.in_(g).compute_root()
    second = first.in_(g).compute_root()
    as_evaluated(g, [9])
    assert produced(g) == [first.name(), second.name(), "g_intm", "g"]


def test_param_in_the_schedule_of_a_wrapper_is_an_argument() -> None:
    p = hl.Param(hl.Int(32), "p", 4)
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    g[x] = f[x] + 1
    f.in_(g).compute_root().specialize(p > 2).vectorize(x, 4)
    assert [a.name for a in g.infer_arguments()] == ["p"]
    for value in (1, 4):
        p.set(value)
        as_evaluated(g, [9])


@pytest.mark.parametrize("of_clone", [False, True])
def test_clone_would_not_have_what_an_output_keeps(*, of_clone: bool) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = hl.undef(hl.Int(32))
    f[0] = 3
    g[x] = f[x] + 1
    clone = f.clone_in(g).compute_root()
    as_evaluated(g, [4])
    both = hl.Pipeline([clone if of_clone else f, g])
    with pytest.raises(hl.ScheduleError, match="leaves points undefined"):
        both.realize([np.full(4, 10, np.int32), np.zeros(4, np.int32)])


def test_wrapper_has_what_an_output_keeps() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = hl.undef(hl.Int(32))
    f[0] = 3
    g[x] = f[x] + 1
    f.in_(g).compute_root()
    kept, result = np.full(4, 10, np.int32), np.zeros(4, np.int32)
    hl.Pipeline([f, g]).realize([kept, result])
    np.testing.assert_array_equal(result, [4, 11, 11, 11])
