"""Wrappers and clones that are refused: of no Func, of itself, of one that doesn't read it, twice for one consumer."""

from __future__ import annotations

from typing import Any

import pytest

import halide_core as hl
from tests.support.blame import refused

x, u = hl.Var("x"), hl.Var("u")


@pytest.fixture
def three() -> tuple[hl.Func, hl.Func, hl.Func]:
    """g; f and h, which read it."""
    g, f, h = hl.Func("g"), hl.Func("f"), hl.Func("h")
    g[x] = x * 2
    f[x] = g[x] + 1
    h[x] = f[x] + g[x]
    return g, f, h


Three = tuple[hl.Func, hl.Func, hl.Func]


def test_arguments_are_funcs(three: Three) -> None:
    g, _, _ = three
    bad: Any = 5
    refused(hl.ScheduleError, lambda: g.in_(bad), "in_()", "5", at="g.in_(bad)")
    refused(hl.ScheduleError, lambda: g.in_([]), "in_()", at="g.in_([])")
    bad = None
    refused(hl.ScheduleError, lambda: g.clone_in(bad), "clone_in()", at="g.clone_in(bad)")
    refused(hl.ScheduleError, lambda: g.in_(g), '"g"', "itself", at="g.in_(g)")
    refused(hl.ScheduleError, lambda: hl.Func("n").in_(g), '"n"', "not defined", at='hl.Func("n").in_(g)')


def test_consumer_reads_one_in_its_place(three: Three) -> None:
    g, f, h = three
    g.in_(f)
    refused(hl.ScheduleError, lambda: g.in_([f, h]), "g.in_(f)", '"g_in_f"', at="g.in_([f, h])")
    refused(hl.ScheduleError, lambda: g.clone_in(f), "g.in_(f)", '"g_in_f"', at="g.clone_in(f)")
    g.in_()
    assert g.in_().function is g.in_().function


@pytest.mark.parametrize("method", ["in_", "clone_in"])
def test_consumer_that_does_not_read_it(method: str, three: Three) -> None:
    g, _, h = three
    k = hl.Func("k")
    k[x] = h[x] * 3
    getattr(g, method)(k)
    named = (f"g.{method}(k)", '"k" does not read it', "f, h")
    refused(hl.ScheduleError, lambda: k.realize([3]), *named, at="getattr(g, method)(k)")


def test_directive_of_an_inlined_wrapper_would_be_lost(three: Three) -> None:
    g, f, h = three
    g.in_(f).vectorize(x, 4)
    refused(hl.ScheduleError, lambda: h.realize([3]), "g_in_f.compute_root()", at="g.in_(f).vectorize(x, 4)")


def test_clone_after_rfactor() -> None:
    r = hl.RDom([(0, 4), (0, 3)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = 0
    g[x] += r.x * r.y
    f[x] = g[x]
    g.update().rfactor(r.y, u)
    refused(hl.ScheduleError, lambda: g.clone_in(f), "g.update().rfactor(r.y, u)", at="g.clone_in(f)")


def test_wrapped_func_is_final(three: Three) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = x
    wrapper = g.in_(f)

    def more(of: hl.Func) -> None:
        of[x] += 1

    for each in (g, wrapper):
        refused(hl.DefinitionError, lambda each=each: more(each), f'"{each.name()}"', at="of[x] += 1")
