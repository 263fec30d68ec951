"""Loops of several stages in one: results, what is shared, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.loop_nest import Guard, Program, StageKey
from halide_core.scheduling import compute_with
from tests.campaigns.peer import shared_loops
from tests.support.checking import same, variables
from tests.support.raising import raised

x, y, xo, xi, yo, yi = variables("x y xo xi yo yi")
Align = hl.LoopAlignStrategy
Schedule = Callable[[hl.Func, hl.Func, hl.Func, hl.Func], object]


def pair(updates: bool = False) -> tuple[hl.Func, hl.Func, hl.Func, hl.Func]:
    """The Funcs whose loops are shared, of this package."""
    return shared_loops.pair(hl, updates)


def tiles(p: hl.Func, f: hl.Func, g: hl.Func, _h: hl.Func) -> None:
    for each in (f, g):
        each.split(y, yo, yi, 4).vectorize(x, 8).parallel(yo)
    p.compute_at(f, yo)
    g.compute_with(f, yi)


SCHEDULES: dict[str, Schedule] = {
    "rows": lambda _p, f, g, _h: g.compute_with(f, y),
    "a Stage": lambda _p, f, g, _h: g.compute_with(hl.Stage(f), x),
    "a LoopLevel": lambda _p, f, g, _h: g.compute_with(hl.LoopLevel(f, y), Align.AlignEnd),
    "a producer in it": lambda p, f, g, _h: (p.compute_at(f, y), g.compute_with(f, y)),
    "a producer that slides": lambda p, f, g, _h: (p.compute_at(f, y).store_root(), g.compute_with(f, y)),
    "begun together": lambda p, f, g, _h: (p.compute_at(f, y), g.compute_with(f, x, Align.AlignStart)),
    "each its way": lambda _p, f, g, _h: g.compute_with(f, x, [(x, Align.AlignEnd), (y, Align.AlignStart)]),
    "tiles": tiles,
    "rows of a consumer": lambda p, f, g, h: (
        p.compute_root(), f.compute_at(h, y).store_root(), g.compute_at(h, y).store_root(), g.compute_with(f, x),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("updates", [False, True])
def test_shared_loops_give_the_same_answer(name: str, updates: bool) -> None:
    funcs = pair(updates)
    SCHEDULES[name](*funcs)
    h = funcs[-1]
    same(h.realize([13, 11]), np.asarray(h.evaluate([13, 11])))
    assert h.certify().ok


@pytest.mark.parametrize("align", [Align.AlignStart, Align.AlignEnd])
def test_loops_that_begin_or_end_with_those_of_a_func_that_slides(align: hl.LoopAlignStrategy) -> None:
    """Each shift is from where the other's loops begin, which is not where what is needed of it does."""
    f, g, h, k = (hl.Func(name) for name in "fghk")
    f[x, y] = x + y * 10
    g[x, y] = x * 3 - y * 7
    k[x, y] = x - y
    h[x, y] = f[x, y] + f[x, y + 2] + g[x, y] + g[x - 3, y + 4] + k[x, y - 1] + k[x, y + 5]
    for each in (f, g, k):
        each.compute_at(h, y).store_root()
    g.compute_with(f, y, align)
    k.compute_with(g, y, align)
    same(h.realize([9, 11]), np.asarray(h.evaluate([9, 11])))
    assert h.certify().ok


def test_updates_share_loops_in_their_order() -> None:
    _, f, g, h = pair(updates=True)
    g.compute_with(f, y)
    g.update().compute_with(f.update(), x)
    same(h.realize([9, 7]), np.asarray(h.evaluate([9, 7])))
    assert h.certify().ok


def test_first_stage_runs_with_an_update_of_another_func() -> None:
    _, f, g, h = pair(updates=True)
    g.compute_with(f.update(), y)
    same(h.realize([9, 7]), np.asarray(h.evaluate([9, 7])))
    assert h.certify().ok


def chain() -> tuple[list[hl.Func], hl.Func]:
    """Three Funcs of which none reads another, and what reads all."""
    funcs = [hl.Func(f"f{i}") for i in range(3)]
    for i, f in enumerate(funcs):
        f[x, y] = x * (i + 1) + y * y
        f.compute_root()
    h = hl.Func("h")
    h[x, y] = funcs[0][x, y] + funcs[1][x + 2, y - 1] * funcs[2][x - 1, y + 4]
    return funcs, h


@pytest.mark.parametrize("levels", [(x, y), (y, x), (x, x), (y, y)])
def test_stages_join_those_that_joined_others(levels: tuple[hl.Var, hl.Var]) -> None:
    (a, b, c), h = chain()
    c.compute_with(b, levels[1])  # said before what it rests on
    b.compute_with(a, levels[0], Align.AlignStart)
    same(h.realize([12, 5]), np.asarray(h.evaluate([12, 5])))
    assert h.certify().ok


def test_outputs_of_different_sizes_share_loops() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y
    g[x, y] = x - y
    g.compute_with(f, x)
    one, two = hl.Buffer(hl.Int(32), [7, 3]), hl.Buffer(hl.Int(32), [4, 9])
    two.set_min([-2, 5])
    pipeline = hl.Pipeline([f, g])
    pipeline.realize([one, two])
    rows, columns = np.mgrid[0:3, 0:7]
    same(one, (columns + rows).astype(np.int32))
    rows, columns = np.mgrid[5:14, -2:2]
    same(two, (columns - rows).astype(np.int32))
    assert pipeline.certify().ok


def test_reductions_share_the_loops_of_their_domains() -> None:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    r, s = hl.RDom([(0, 5)], "r"), hl.RDom([(2, 9)], "s")
    f[x] = 0
    g[x] = 1
    f[x] += r * x
    g[x] = g[x] * 3 + s
    h[x] = f[x] - g[x + 1]
    for each, domain in ((f, r), (g, s)):
        each.compute_root()
        each.update().reorder(x, domain)
    g.update().compute_with(f.update(), r)
    same(h.realize([6]), np.asarray(h.evaluate([6])))
    assert h.certify().ok


def test_loop_nest_shows_that_loops_are_shared(capfd: pytest.CaptureFixture[str]) -> None:
    p, f, g, h = pair()
    p.compute_at(f, y)
    g.compute_with(f, y)
    h.print_loop_nest()
    shown = "".join(capfd.readouterr())
    head = "produce f:\n  produce g:\n    for y:\n      produce p:\n"
    assert head in shown and shown.count("produce p") == 1
    assert "      for x:\n        f(..., ...) = ...\n      for x:\n        g(..., ...) = ...\n" in shown


def test_schedule_is_written_as_source() -> None:
    _, f, g, h = pair(updates=True)
    g.update().compute_with(f.update(), y, Align.AlignStart)
    source = hl.Schedule(h).source()
    assert "g.update(0).compute_with(f.update(0), y, [(y, hl.LoopAlignStrategy.AlignStart)])" in source
    names: dict[str, object] = {"hl": hl}
    exec(source, names)


# ---------------------------------------------------------------------------------------------------------
# What is refused.


def refused(schedule: Schedule, *told: str, updates: bool = False) -> None:
    funcs = pair(updates)

    def compiled() -> None:
        schedule(*funcs)
        funcs[-1].compile_jit()

    with pytest.raises(hl.ScheduleError) as caught:
        compiled()
    assert caught.value.location.file == __file__
    assert [text for text in told if text not in caught.value.message] == []


def test_func_that_another_one_reads_is_refused() -> None:
    refused(lambda p, f, _g, _h: (p.compute_root(), f.compute_with(p, y)), 'one of "p" and "f" needs what', "_at")


def test_func_that_is_read_by_way_of_another_is_refused() -> None:
    a, b, c = (hl.Func(name) for name in "abc")
    a[x] = x
    b[x] = a[x] + 1
    c[x] = b[x] + 1
    h = hl.Func("h")
    h[x] = a[x] + c[x]
    for each in (a, b, c):
        each.compute_root()
    c.compute_with(a, x)
    with pytest.raises(hl.ScheduleError, match='one of "a" and "c" needs what another one computes, by way of b'):
        h.compile_jit()


def test_stages_out_of_order_are_refused() -> None:
    def crossed(_p: hl.Func, f: hl.Func, g: hl.Func, _h: hl.Func) -> None:
        g.compute_with(f.update(), y)
        g.update().compute_with(f, y)

    refused(crossed, "before earlier stages of the same Func", updates=True)


def test_stages_in_a_circle_are_refused() -> None:
    refused(lambda _p, f, g, _h: (g.compute_with(f, y), f.compute_with(g, y)), "in each other's loops in a circle")


def test_stage_of_the_same_func_is_refused() -> None:
    refused(lambda _p, f, _g, _h: f.update().compute_with(f, y), 'both stages are of "f"', updates=True)


def test_other_place_is_refused() -> None:
    refused(
        lambda _p, f, g, h: (g.compute_at(h, y), g.compute_with(f, y)),
        '"g" is computed inside h.s0.y, and "f" is computed at the root', "g.compute_root()",
    )  # fmt: skip


def test_inlined_func_is_refused() -> None:
    refused(lambda _p, f, g, _h: (g.compute_inline(), g.compute_with(f, y)), '"g" has no loops of its own')
    refused(lambda _p, f, g, _h: (f.compute_inline(), g.compute_with(f, y)), '"f" has no loops here')


def test_loops_that_are_not_alike_are_refused() -> None:
    refused(lambda _p, f, g, _h: (f.parallel(y), g.compute_with(f, y)), '"y" is parallel', 'loop "y"', "is serial")
    refused(lambda _p, f, g, _h: g.compute_with(f, xo), 'stage 0 of "f" has no loop "xo"', "innermost first: x, y")
    refused(
        lambda _p, f, g, _h: (f.vectorize(x, 8), g.split(x, x, xi, 8), g.compute_with(f, hl.Var("x.v"))),
        '"x.v" is vectorized', 'loop "xi"', "is serial",
    )  # fmt: skip


def test_iterations_that_are_at_once_are_no_loop_to_share() -> None:
    r = hl.RDom([(0, 4)], "r")
    f, g, h = (hl.Func(name) for name in "fgh")
    for each in (f, g):
        each[x] = x
        each[hl.scatter([r.x, 8 - r.x])] = hl.gather([each[8 - r.x], each[r.x]])
        each.compute_root()
    h[x] = f[x] + g[x]
    g.update().compute_with(f.update(), hl.Var("at_once"))
    with pytest.raises(hl.ScheduleError, match='stage 1 of "f" has no loop "at_once"'):
        h.compile_jit()


def test_levels_go_by_the_names_of_the_stage_that_joined() -> None:
    p, f, g, h = pair()
    g.rename(y, yo)
    p.compute_at(g, yo)
    g.compute_with(f, y)
    same(h.realize([13, 11]), np.asarray(h.evaluate([13, 11])))
    assert h.certify().ok


def test_outermost_is_one_place_and_no_loop(capsys: pytest.CaptureFixture[str]) -> None:
    _, f, g, h = pair()
    g.compute_with(f, hl.Var.outermost())
    same(h.realize([13, 11]), np.asarray(h.evaluate([13, 11])))
    h.print_loop_nest()
    assert capsys.readouterr().out.startswith("produce f:\n  produce g:\n    for y:")


def test_lanes_stay_each_stages_own(capsys: pytest.CaptureFixture[str]) -> None:
    _, f, g, h = pair()
    for each in (f, g):
        each.split(x, xo, xi, 8).vectorize(xi)
    g.compute_with(f, xi, Align.AlignEnd)
    same(h.realize([21, 11]), np.asarray(h.evaluate([21, 11])))
    assert h.certify().ok
    h.print_loop_nest()
    printed = capsys.readouterr().out
    assert printed.count("for xo") == 1
    assert printed.count("vectorized xi") == 2


def test_lanes_alone_are_nothing_to_share() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x], g[x] = x * 2, x + 1
    for each in (f, g):
        each.bound(x, 0, 8).vectorize(x)
    g.compute_with(f, x)
    with pytest.warns(hl.IgnoredDirectiveWarning, match='"x" is vectorized and no loop is around it'):
        both = hl.Pipeline([f, g]).realize([8])
    assert np.asarray(both[1]).tolist() == list(range(1, 9))


@pytest.mark.parametrize("which", ["the first", "the second"])
def test_specialized_stage_keeps_its_loops(which: str) -> None:
    _, f, g, h = pair()
    tiled = hl.Param(hl.Bool(), "tiled")
    (f if which == "the first" else g).specialize(tiled).split(x, xo, xi, 7)
    g.compute_with(f, y, Align.AlignEnd)
    with pytest.warns(hl.IgnoredDirectiveWarning, match="is specialized, so no loop is shared"):
        h.compile_jit()
    for value in (True, False):
        tiled.set(value)
        same(h.realize([21, 11]), np.asarray(h.evaluate([21, 11])))
    assert h.certify().ok


def test_stage_that_is_specialized_later_keeps_its_loops_too() -> None:
    _, f, g, h = pair()
    tiled = hl.Param(hl.Bool(), "tiled", True)
    g.compute_with(f, y)
    f.specialize(tiled).split(x, xo, xi, 7)
    f.specialize_fail("not tiled")
    same(h.realize([21, 11]), np.asarray(h.evaluate([21, 11])))
    tiled.set(False)
    raised(hl.PipelineError, lambda: h.realize([21, 11]), "not tiled")


def test_specialized_stage_has_the_loops_in_every_case() -> None:
    n = hl.Param(hl.Int(32), "n", 3)
    told = "not every case of it has the loops y outermost and alike"
    refused(lambda _p, f, g, _h: (f.specialize(n > 2).fuse(x, y, xo), g.compute_with(f, y)), told)
    refused(lambda _p, f, g, _h: (f.specialize(n > 2).parallel(y), g.compute_with(f, y)), told)
    refused(lambda _p, f, g, _h: g.specialize(n > 2).compute_with(f, y), "Say this of the stage")


def test_what_is_no_stage_is_refused() -> None:
    _, f, g, _ = pair()
    raised(hl.ScheduleError, lambda: g.compute_with(f), "a Stage and one of its loops")
    raised(hl.ScheduleError, lambda: g.compute_with(f, y, "start"), "LoopAlignStrategy")  # type: ignore[arg-type]
    raised(hl.ScheduleError, lambda: g.compute_with(hl.LoopLevel.root()), "a level that is a loop")


def outputs_of_own_sizes(levels: int, align: object, *, rooted: bool) -> hl.Pipeline:
    """Outputs whose windows have nothing to do with each other, in shared loops with what both of them read."""
    image = hl.ImageParam(hl.Int(16), 2, "image")
    image.set(hl.Buffer(np.arange(40, dtype=np.int16).reshape(5, 8)))
    edges = hl.BoundaryConditions.repeat_edge(image)
    p, q, f, g, h = (hl.Func(name) for name in "pqfgh")
    p[x, y] = edges[x, y + 2]
    q[x, y] = p[x, y] + p[x + 3, y + 2]
    f[x, y] = q[x, y] + p[x, y]
    g[x, y] = q[x, y] * hl.i16(3)
    h[x, y] = q[x, y] - p[x, y + 1]
    funcs = [f, g, h]
    outputs = funcs
    if rooted:
        outputs = [hl.Func(f"of_{each.name()}") for each in funcs]
        for output, each in zip(outputs, funcs, strict=True):
            output[x, y] = each[x, y]
            each.compute_root()
    at = (y, x)[levels - 1]
    g.compute_with(f, at, align)
    h.compute_with(g, at, align)
    for each in (p, q):
        each.compute_at(f, at)
    return hl.Pipeline(outputs)


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("align", [Align.Auto, Align.AlignStart, Align.AlignEnd])
@pytest.mark.parametrize("rooted", [False, True])
def test_a_stage_without_points_leads_no_other_one_beyond_its_window(levels: int, align: object, rooted: bool) -> None:
    """Where one window is long in one dimension and empty in another, coordinates of others would leave int32."""
    assert outputs_of_own_sizes(levels, align, rooted=rooted).certify().ok


@pytest.mark.parametrize("sizes", [[(3, 2), (0, 4), (5, 3)], [(0, 9), (4, 0), (2, 2)], [(0, 3), (0, 4), (5, 0)]])
def test_windows_without_points_beside_others(sizes: list[tuple[int, int]]) -> None:
    pipeline = outputs_of_own_sizes(1, Align.AlignEnd, rooted=False)
    found = [hl.Buffer(hl.Int(16), list(size)) for size in sizes]
    pipeline.realize(found)
    for output, buffer, size in zip(pipeline.outputs(), found, sizes, strict=True):
        same(buffer, np.asarray(output.evaluate(list(size))))


@pytest.mark.parametrize("empty", [0, 1])
def test_window_without_points_may_lie_anywhere(empty: int) -> None:
    """Nothing that is computed in the loop reaches for where such a window says that it begins."""
    p = hl.Param(hl.Int(32), "p", 3)
    w, f, g = hl.Func("w"), hl.Func("f"), hl.Func("g")
    w[x] = x + 1
    f[x] = w[x * p]
    g[x] = w[x * p]
    w.compute_at(f, x)
    g.compute_with(f, x)
    found = [hl.Buffer(hl.Int(32), [0 if at == empty else 5]) for at in range(2)]
    found[empty].set_min([1 << 30])
    pipeline = hl.Pipeline([f, g])
    pipeline.realize(found)
    same(found[1 - empty], np.arange(5, dtype=np.int32) * 3 + 1)
    assert pipeline.certify().ok


def test_certificate_refutes_shared_loops_without_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    _, f, g, h = pair()
    g.compute_with(f, y)
    always = Guard(ir.TRUE)
    monkeypatch.setattr(compute_with, "_own_iterations", lambda _var, _own, let: (always, always, let))
    assert not h.certify().ok


def test_certificate_refutes_stages_in_the_loops_of_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """An update that runs in the loop of its own first stage reads points that further iterations compute."""
    f, g, h = (hl.Func(name) for name in "fgh")
    r = hl.RDom([(0, 4)], "r")
    f[x, y] = x + y * 3
    g[x, y] = x - y
    f[x, r] += f[x, r + 1]
    h[x, y] = f[x, y] + g[x, y]
    f.compute_root()
    g.compute_root().compute_with(f, y)
    f.update().reorder(x, r).compute_with(g, y)

    def in_any_order(program: Program, funcs: Sequence[Function], _d: object) -> tuple[StageKey, ...]:
        keys = [StageKey(each, stage) for each in funcs for stage in program.stages(each)]
        return tuple([key for key in keys if key not in program.joined])

    monkeypatch.setattr(compute_with, "_in_order", in_any_order)
    assert "refuted: f: computed before read: stage 1 follows the one before it" in str(h.certify())
