"""Directives recorded as data, in the order of the calls and with the user's line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.schedule.directives import Split
from tests.support.raising import raised

x, y, xo, yo, xi, yi, t = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi", "t"))


def func() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = x + y
    return f


def recorded(f: hl.Func) -> list[str]:
    return [str(d) for d in f.function.directives]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (lambda f: f.split(x, xo, xi, 8), ["f.split(x, xo, xi, 8)"]),
        (
            lambda f: f.split(x, x, xi, 8, hl.TailStrategy.GuardWithIf),
            ["f.split(x, x, xi, 8, TailStrategy.GuardWithIf)"],
        ),
        (lambda f: f.fuse(x, y, t), ["f.fuse(x, y, t)"]),
        (lambda f: f.allow_race_conditions(), ["f.allow_race_conditions()"]),
        (lambda f: f.reorder(y, x), ["f.reorder(y, x)"]),
        (lambda f: f.reorder([y, x]), ["f.reorder(y, x)"]),
        (lambda f: f.vectorize(x), ["f.vectorize(x)"]),
        (lambda f: f.vectorize(x, 8), ["f.split(x, x, x.v, 8)", "f.vectorize(x.v)"]),
        (lambda f: f.unroll(x, 2), ["f.split(x, x, x.u, 2)", "f.unroll(x.u)"]),
        (lambda f: f.parallel(y), ["f.parallel(y)"]),
        (lambda f: f.parallel(y, 4), ["f.split(y, y, y.t, 4)", "f.parallel(y)"]),
        (lambda f: f.serial(y), ["f.serial(y)"]),
        (lambda f: f.compute_root().store_root(), ["f.compute_root()", "f.store_root()"]),
        (lambda f: f.compute_inline(), ["f.compute_inline()"]),
        (lambda f: f.bound(x, 0, 64).bound_extent(y, 8), ["f.bound(x, 0, 64)", "f.bound_extent(y, 8)"]),
    ],
)
def test_directive_when_recorded(schedule: Callable[[hl.Func], hl.Func], expected: list[str]) -> None:
    f = func()
    assert schedule(f) is f
    assert recorded(f) == expected
    assert all(d.location.file == __file__ for d in f.function.directives)
    assert all(d.location.line == schedule.__code__.co_firstlineno for d in f.function.directives)


@pytest.mark.parametrize(
    "args",
    [
        (x, y, xo, yo, xi, yi, 8, 4),
        (x, y, xo, yo, xi, yi, 8, 4, hl.TailStrategy.Auto),
        ([x, y], [xo, yo], [xi, yi], [8, 4]),
    ],
)
def test_tile_is_two_splits_and_a_reorder_when_outer_loops_are_named(args: tuple[object, ...]) -> None:
    f = func().tile(*args)
    assert recorded(f) == ["f.split(x, xo, xi, 8)", "f.split(y, yo, yi, 4)", "f.reorder(xi, yi, xo, yo)"]


@pytest.mark.parametrize("args", [(x, y, xi, yi, 8, 4), ([x, y], [xi, yi], [8, 4])])
def test_tile_keeps_the_outer_names_when_only_inner_ones_are_given(args: tuple[object, ...]) -> None:
    f = func().tile(*args, tail=hl.TailStrategy.RoundUp)
    assert recorded(f) == [
        "f.split(x, x, xi, 8, TailStrategy.RoundUp)",
        "f.split(y, y, yi, 4, TailStrategy.RoundUp)",
        "f.reorder(xi, yi, x, y)",
    ]


def test_inner_names_do_not_clash_when_made_repeatedly() -> None:
    f = func().vectorize(x, 8).vectorize(x, 2).split(y, y, hl.Var("y.u"), 4).unroll(y, 2)
    assert [d.inner for d in f.function.directives if isinstance(d, Split)] == ["x.v", "x.v2", "y.u", "y.u2"]


def test_levels_when_a_consumer_is_named() -> None:
    f, g, r = func(), hl.Func("g"), hl.RDom([(0, 3)])
    g[x, y] = f[x, y]
    g[x, y] += f[x, r.x]
    f.compute_at(g, x).store_at(g, r.x)
    assert recorded(f) == ["f.compute_at(g, x)", "f.store_at(g, r.x)"]


def test_stage_when_an_update_is_scheduled() -> None:
    f, r = func(), hl.RDom([(0, 9)])
    f[x, r.x] += 1
    f[x, 0] = 1
    stage = f.update()
    assert stage.vectorize(x, 4).parallel(r.x) is stage
    f.update(1).parallel(x)
    rxi = hl.RVar("rxi")
    stage.split(r.x, r.x, rxi, 3).unroll(rxi)
    assert recorded(f) == [
        "f.update().split(x, x, x.v, 4)",
        "f.update().vectorize(x.v)",
        "f.update().parallel(r.x)",
        "f.update(1).parallel(x)",
        "f.update().split(r.x, r.x, rxi, 3)",
        "f.update().unroll(rxi)",
    ]
    assert (stage.name(), f.update(1).name(), hl.Stage(f).name()) == ("f.update(0)", "f.update(1)", "f")
    raised(hl.ScheduleError, lambda: f.update(2), "update(2)", '"f"')


def test_factor_when_it_is_a_start_up_expression() -> None:
    p = hl.Param(hl.Int(32), "p")
    assert recorded(func().split(x, xo, xi, p * 2)) == ["f.split(x, xo, xi, p*2)"]


@pytest.mark.parametrize(
    ("schedule", "named"),
    [
        (lambda f: f.split("x", xo, xi, 8), "'x'"),
        (lambda f: f.split(x, xo, xi, 8.5), "8.5"),
        (lambda f: f.split(x, xo, xi, "8"), "'8'"),
        (lambda f: f.split(x, xo, xi, 0), "positive"),
        (lambda f: f.split(x, xo, xi, x), '"x"'),
        (lambda f: f.split(x, xo, xo, 8), '"xo"'),
        (lambda f: f.split(x, xo, xi, 8, "Auto"), "TailStrategy"),
        (lambda f: f.fuse(x, x, t), '"x"'),
        (lambda f: f.reorder(x, x), '"x"'),
        (lambda f: f.tile(x, y, xi), "tile()"),
        (lambda f: f.tile([x, y], [xi], [8, 8]), "one length"),
        (lambda f: f.compute_at(f, x), '"f"'),
        (lambda f: f.compute_at(x, x), "a Func"),
        (lambda f: f.bound(t, 0, 9), "it has: x, y"),
        (lambda f: f.bound(x, 0, -1), "negative"),
        (lambda f: hl.Func("u").split(x, xo, xi, 8), '"u"'),
        (lambda f: hl.Func("u").update(), '"u"'),
    ],
)
def test_directive_error_when_an_argument_is_wrong(schedule: Callable[[hl.Func], object], named: str) -> None:
    f = func()

    def call() -> None:
        schedule(f)

    with pytest.raises(hl.ScheduleError, match=named.replace("(", r"\(").replace(")", r"\)")) as caught:
        call()
    assert caught.value.location.line == schedule.__code__.co_firstlineno
    assert recorded(f) == []


def copied() -> tuple[hl.Func, hl.Func]:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y * 10
    g[x, y] = f[x, y]
    f.compute_root()
    return f, g


def test_copies_on_the_host_change_nothing() -> None:
    f, g = copied()
    assert g.copy_to_host() is g and g.copy_to_device(hl.DeviceAPI.Host) is g
    wrapped = f.in_(g).compute_root().copy_to_host()
    assert wrapped.name() == "f_in_g"
    assert recorded(g) == []
    assert np.asarray(g.realize([3, 2])).tolist() == [[0, 1, 2], [10, 11, 12]]
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    hl.Func(image).copy_to_host()


def test_copy_error_when_the_func_is_none() -> None:
    f, g = copied()
    swapped, updated, pairs = hl.Func("swapped"), hl.Func("updated"), hl.Func("pairs")
    swapped[x, y] = f[y, x]
    updated[x, y] = f[x, y]
    updated[0, 0] = 1
    pairs[x] = (x, x)
    raised(hl.ScheduleError, lambda: f.copy_to_host().compute_root(), "f", "copy[x] = f[x]")
    raised(hl.ScheduleError, lambda: swapped.copy_to_device(hl.DeviceAPI.Host), "swapped", "f[y, x]")
    raised(hl.ScheduleError, lambda: updated.copy_to_host().compute_root(), "updated", "updates")
    raised(hl.ScheduleError, lambda: pairs.copy_to_host().compute_root(), "pairs", "2 values")
    raised(hl.ScheduleError, lambda: hl.Func("u").copy_to_host().compute_root(), "u", "not defined")
    raised(hl.ScheduleError, lambda: g.copy_to_device("cuda"), "DeviceAPI", "cuda")  # type: ignore[arg-type]  # on purpose
    for api in (hl.DeviceAPI.CUDA, hl.DeviceAPI.Default_GPU):
        with pytest.raises(hl.NotAvailableError, match=r"hl\.DeviceAPI\.Host"):
            g.copy_to_device(api)
    raised(hl.ScheduleError, lambda: g.copy_to_device().compute_root(), "Default_GPU")


def test_directive_error_when_it_is_not_available_yet() -> None:
    f = func()
    raised(hl.ScheduleError, lambda: f.gpu_blocks, '"gpu_blocks" is not available yet.')  # type: ignore[attr-defined]
    assert not hasattr(f, "gpu_blocks")
    with pytest.raises(AttributeError, match="nonsense"):
        f.nonsense()  # type: ignore[attr-defined]  # on purpose
