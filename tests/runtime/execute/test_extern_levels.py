"""Extern stages at levels: in loops of other Funcs, and with loops of their own around the calls."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.runtime.execute.levels import Calls, corner, made, wanted
from tests.support.blame import refused

x, y, xo, xi, yo, yi = map(hl.Var, "x y xo xi yo yi".split())
r = hl.RDom([(0, 3)], "r")


def test_a_call_for_each_row(calls: Calls) -> None:
    _, e, f = made()
    e.compute_at(f, y)
    assert calls.of(lambda: f.realize([5, 4])) == (wanted(5, 4), 4, 4 * 5 * 2)


@pytest.mark.parametrize("where", ["at the level", "at the root", "inlined"])
def test_a_call_for_each_tile_whatever_place_its_input_has(calls: Calls, where: str) -> None:
    g, e, f = made()
    f.tile(x, y, xo, yo, xi, yi, 4, 4).vectorize(xi)
    e.compute_at(f, xo)
    if where != "inlined":
        g.compute_at(f, xo) if where == "at the level" else g.compute_root()
    assert calls.of(lambda: f.realize([8, 8])) == (wanted(8, 8), 4, 4 * 4 * 5)


@pytest.mark.parametrize("tail", ["Auto", "ShiftInwards", "GuardWithIf", "RoundUp", "PredicateStores"])
def test_windows_of_every_tail_are_right(calls: Calls, tail: str) -> None:
    _, e, f = made()
    f.split(y, yo, yi, 4, hl.TailStrategy[tail])
    f.split(x, xo, xi, 3, hl.TailStrategy[tail]).reorder(xi, yi, xo, yo)
    e.compute_at(f, xo)
    out = hl.Func("out")
    out[x, y] = f[x, y]
    f.compute_root()
    values, count, _ = calls.of(lambda: out.realize([7, 10]))
    assert (values, count) == (wanted(7, 10), 9)


def test_input_at_the_root_is_computed_once(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    g, e, f = made()
    g.compute_root().trace_stores()
    e.compute_at(f, y)
    assert np.asarray(f.realize([2, 3])).tolist() == wanted(2, 3)
    told = capfd.readouterr()
    assert (told.out + told.err).count("Store g.0") == 3 * 5


@pytest.mark.parametrize("where", ["at the level", "at the root", "inlined", "a stage"])
def test_func_that_is_passed_has_no_memory_in_a_bounds_query(calls: Calls, where: str) -> None:
    """A C function may tell a bounds query by its inputs, as in Halide, also where these were computed before."""
    g, e = hl.Func("g"), hl.Func("e")
    g[x, y] = x * x + 3 * y
    if where == "a stage":
        g, inner = hl.Func("g"), g
        g.define_extern("levels_by_input", [inner], hl.Int(32), [x, y])
    e.define_extern("levels_by_input", [g], hl.Int(32), [x, y])
    f = hl.Func("f")
    f[x, y] = e[x, y]
    f.split(y, yo, yi, 2)
    e.compute_at(f, yo).serial(x).reorder(y, x)
    if where != "inlined":
        g.compute_at(f, yo) if where == "at the level" else g.compute_root()
    j, i = np.mgrid[0:4, 0:5]
    expected = corner(i, j) + corner(i + 1, j) + corner(i, j + 1) if where == "a stage" else corner(i, j)
    assert calls.of(lambda: f.realize([5, 4]))[0] == expected.tolist()


def test_levels_of_two_depths_are_called_at_their_own(calls: Calls) -> None:
    _, e, middle = made()
    outer, f = hl.Func("outer"), hl.Func("f")
    outer.define_extern("levels_two", [], [hl.Int(32), hl.Int(32)], [x, y])
    f[x, y] = middle[x, y] + outer[x, y][0] * outer[x, y][1]
    e.compute_at(f, x)
    outer.compute_at(f, y)
    values, count, _ = calls.of(lambda: f.realize([3, 2]))
    j, i = np.mgrid[0:2, 0:3]
    assert values == (wanted(3, 2) + (i + 10 * j) * (i - j)).tolist()
    assert count == 3 * 2 + 2


def test_stages_in_one_loop_are_passed_on(calls: Calls) -> None:
    _, e, f = made()
    second, h = hl.Func("second"), hl.Func("h")
    second.define_extern("levels_corner", [f], hl.Int(32), [x, y])
    h[x, y] = second[x, y]
    for each in (e, f, second):
        each.compute_at(h, y)
    whole = np.array(wanted(6, 5))
    values, count, _ = calls.of(lambda: h.realize([5, 4]))
    assert (values, count) == ((whole[:-1, :-1] + whole[:-1, 1:] + whole[1:, :-1]).tolist(), 8)


def test_consumer_that_is_at_a_level_itself(calls: Calls) -> None:
    _, e, f = made()
    out = hl.Func("out")
    out[x, y] = f[x, y] + f[x + 1, y]
    e.compute_at(f, y)
    f.compute_at(out, yo)
    out.split(y, yo, yi, 2)
    whole = np.array(wanted(4, 4))
    assert calls.of(lambda: out.realize([3, 4]))[:2] == ((whole[:, :-1] + whole[:, 1:]).tolist(), 4)


def test_updates_of_the_consumer_and_of_what_is_passed(calls: Calls) -> None:
    found = []
    for level in (None, y, x):
        g, e, f = hl.Func("g"), hl.Func("e"), hl.Func("f")
        g[x, y] = x * x + y
        g[x, y] += r.x
        g[x, 0] += g[x, 1]
        e.define_extern("levels_corner", [g], hl.Int(32), [x, y])
        f[x, y] = x
        f[x, y] += e[x + r.x, y] * (r.x + 1)
        if level is not None:
            e.compute_at(f, level)
        found.append(calls.of(lambda f=f: f.realize([4, 3]))[:2])
    assert [values == found[0][0] for values, _ in found] == [True] * 3 and [n for _, n in found] == [1, 3, 12]


def test_points_that_a_first_definition_leaves_are_zero(calls: Calls) -> None:
    found = []
    for at_level in (False, True):
        _, e, f = made(hl.select(x > 1, x + y, hl.undef(hl.Int(32))))
        kept, out = hl.Func("kept"), hl.Func("out")
        kept[x, y] = hl.select(x % 2 == 0, f[x, y], hl.undef(hl.Int(32)))
        kept[x, y] += 1
        out[x, y] = kept[x, y]
        kept.compute_root().split(y, yo, yi, 2)
        f.compute_root()
        if at_level:
            f.compute_at(kept, yo)
            e.compute_at(kept, yo)
        found.append(np.asarray(out.realize([4, 3])).tolist())
    assert found[0] == found[1]


def test_caller_s_memory_that_stays_is_refused(calls: Calls) -> None:
    _, e, _ = made()
    kept = hl.Func("kept")
    kept[x, y] = hl.select(x % 2 == 0, e[x, y], hl.undef(hl.Int(32)))
    e.compute_at(kept, y)
    refused(hl.ScheduleError, lambda: kept.realize([4, 4]), '"kept"', "memory", at="kept[x, y] = hl.select")


def test_caller_s_memory_that_is_passed_is_refused(calls: Calls) -> None:
    e, kept, f = hl.Func("e"), hl.Func("kept"), hl.Func("f")
    kept[x, y] = hl.select(x % 2 == 0, x + y, hl.undef(hl.Int(32)))
    e.define_extern("levels_corner", [kept], hl.Int(32), [x, y])
    f[x, y] = e[x, y]
    both = hl.Pipeline([kept, f])
    refused(hl.ScheduleError, lambda: both.realize([4, 4]), '"kept"', '"e"', at="kept[x, y] = hl.select")
    assert np.asarray(f.realize([3, 1])).tolist() == [[1, 2, 5]]  # elsewhere its points are 0 before


def test_loops_of_a_stage_call_its_function(calls: Calls) -> None:
    for loops, expected in (
        (lambda e: e.serial(y), 6), (lambda e: e.parallel(y, 2), 3), (lambda e: e.reorder(y, x).serial(x), 5),
        (lambda e: e.tile(x, y, xo, yo, xi, yi, 3, 4), 4), (lambda e: e.rename(y, yo).serial(yo), 6),
        (lambda e: e.tile(x, y, xo, yo, xi, yi, 3, 4).fuse(xo, yo, xo), 4),
        (lambda e: e.fuse(x, y, xo).parallel(xo), 30),
    ):  # fmt: skip
        g, e, _ = made()
        g.compute_root()
        loops(e)
        j, i = np.mgrid[0:6, 0:5]
        assert calls.of(lambda e=e: e.realize([5, 6]))[:2] == (corner(i, j).tolist(), expected)


def test_what_is_passed_is_computed_for_each_call(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    g, e, _ = made()
    e.split(y, yo, yi, 2)
    g.compute_at(e, yo).trace_stores()
    j, i = np.mgrid[0:4, 0:5]
    assert calls.of(lambda: e.realize([5, 4]))[:2] == (corner(i, j).tolist(), 2)
    told = capfd.readouterr()
    assert (told.out + told.err).count("Store g.0") == 2 * 6 * 3


def test_inputs_are_asked_for_through_loops() -> None:
    image, e, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("e"), hl.Func("f")
    e.define_extern("levels_corner", [image], hl.Int(32), [x, y])
    f[x, y] = e[x + 3, y - 1]
    e.compute_at(f, y)
    f.infer_input_bounds([6, 4])
    found = image.get()
    assert found is not None and [(d.min(), d.extent()) for d in map(found.dim, (0, 1))] == [(3, 7), (-1, 5)]


def test_bounds_of_a_stage_are_kept(calls: Calls) -> None:
    for width, runs in ((8, True), (3, False)):
        _, e, f = made()
        e.compute_root().bound(x, 0, width)
        if runs:
            assert calls.of(lambda f=f: f.realize([5, 4])) == (wanted(5, 4), 1, 8 * 5)
        else:
            refused(hl.PipelineError, lambda f=f: f.realize([5, 4]), "e in x (from 0 to 2)", at="bound(x, 0, width)")


def test_several_outputs_one_of_which_has_the_stage_in_its_loops(calls: Calls) -> None:
    _, e, f = made()
    other = hl.Func("other")
    other[x, y] = f[x, y] * 2
    e.compute_at(f, y)
    f.compute_root()
    a, b = hl.Pipeline([f, other]).realize([4, 3])
    assert np.asarray(a).tolist() == wanted(4, 3) and np.asarray(b).tolist() == (2 * np.array(wanted(4, 3))).tolist()


def test_levels_without_windows_are_refused(calls: Calls) -> None:
    for schedule, named in (
        (lambda e, f: e.compute_at(f, xi) if f.split(x, xo, xi, 4).reorder(xo, xi, y) else None, "window"),
        (lambda e, f: e.compute_at(f, xo), "window"), (lambda e, f: e.vectorize(x, 4), "C function"),
        (lambda e, f: e.split(x, xo, xi, 4), "Reorder"), (lambda e, f: e.trace_stores(), "parallel"),
    ):  # fmt: skip
        _, e, f = made()
        schedule(e, f)
        refused(hl.ScheduleError, lambda f=f: f.realize([8, 4]), '"e"', named, at="lambda e, f")
    _, e, f = made()
    h = hl.Func("h")
    h[x, y] = f[x, y] + e[x, y]
    f.compute_root()
    e.compute_at(f, y)
    refused(hl.ScheduleError, lambda: h.realize([3, 3]), '"e"', "outside", at="e.compute_at")
    g, e, f = made()
    g.compute_at(e, x)
    refused(hl.ScheduleError, lambda: f.realize([3, 3]), '"e"', "no loop", at="g.compute_at")


@pytest.mark.parametrize("level", [yi, yo, y])
def test_loops_inside_of_windows_are_those_of_a_window(calls: Calls, level: hl.Var) -> None:
    _, e, f = made()
    f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi)
    if level is y:
        f.fuse(xo, yo, y)
    f.specialize(f.output_buffer().width() > 8).parallel(xo if level is not y else y)
    e.compute_at(f, level)
    assert calls.of(lambda: f.realize([16, 10]))[:2] == (wanted(16, 10), {yi: 2 * 12, yo: 3, y: 6}[level])


def test_loops_of_updates_are_those_of_a_window(calls: Calls) -> None:
    _, e, f = made()
    out = hl.Func("out")
    f[x, y] += x
    f.update().split(y, yo, yi, 4, hl.TailStrategy.RoundUp).split(x, xo, xi, 3).reorder(xi, yi, xo, yo)
    f.compute_root()
    e.compute_at(f, y)
    out[x, y] = f[x, y]
    i = np.arange(5)
    assert calls.of(lambda: out.realize([5, 6]))[:2] == ((np.array(wanted(5, 6)) + i).tolist(), 6)


def test_updates_that_write_outside_of_a_window(calls: Calls) -> None:
    """A window is computed as part of what these write, which counts as computed then."""
    down = hl.RDom([(1, 5)], "down")
    for elsewhere in (lambda f: f[x, 2], lambda f: f[x, down.x]):
        found = []
        for at_level in (False, True):
            _, e, f = made()
            elsewhere(f).__iadd__(x + 1)
            f[x, down.x] += f[x, down.x - 1]
            out = hl.Func("out")
            out[x, y] = f[x, y]
            f.compute_root()
            if at_level:
                e.compute_at(f, y)
            found.append(calls.of(lambda out=out: out.realize([4, 8]))[0])
        assert found[0] == found[1]


def test_region_that_a_call_widens(calls: Calls) -> None:
    e, f = hl.Func("e"), hl.Func("f")
    e.define_extern("levels_eights", [], hl.Int(32), [x])
    f[x] = e[x]
    e.compute_root().serial(x)
    assert calls.of(lambda: f.realize([5]))[0] == [8] * 5


@pytest.mark.parametrize("at_level", [True, False])
def test_function_that_writes_what_it_needs_of_an_input(calls: Calls, at_level: bool) -> None:
    image, e, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("e"), hl.Func("f")
    e.define_extern("levels_asks", [image], hl.Int(32), [x, y])
    f[x, y] = e[x, y]
    if at_level:
        e.compute_at(f, y)
    j, i = np.mgrid[0:5, 0:4]
    image.set(hl.Buffer((i * i + 3 * j).astype(np.int32)))
    assert np.asarray(f.realize([3, 4])).tolist() == corner(i, j)[:4, :3].tolist()
    kept = image.get()
    assert kept is not None and [kept.dim(d).extent() for d in (0, 1)] == [4, 5]
    refused(
        hl.PipelineError, lambda: f.realize([3, 5]), '"image"', "from 0 to 5 in dimension 1", "only 0 to 4",
        at="f.realize([3, 5])",
    )  # fmt: skip


def test_nothing_is_called_for_no_points(calls: Calls) -> None:
    _, e, f = made()
    n, out = hl.Param(hl.Int(32), "n", 0), hl.Func("out")
    out[x] = 3
    out[x] += f[x, hl.RDom([(0, n)], "none").x]
    f.compute_root()
    e.compute_at(f, y)
    assert calls.of(lambda: out.realize([4])) == ([3] * 4, 0, 0)


def test_func_at_a_level_further_out_is_computed_once_there(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    g, e, f = made()
    f.tile(x, y, xo, yo, xi, yi, 4, 4)
    e.compute_at(f, xo)
    g.compute_at(f, yo).trace_stores()
    assert calls.of(lambda: f.realize([8, 8]))[:2] == (wanted(8, 8), 4)
    told = capfd.readouterr()
    assert (told.out + told.err).count("Store g.0") == 2 * 6 * 9


def test_bounds_of_a_func_whose_loops_call(calls: Calls) -> None:
    for height, runs in ((6, True), (3, False)):
        _, e, f = made()
        out = hl.Func("out")
        out[x, y] = f[x, y]
        f.compute_root().bound(y, 0, height)
        e.compute_at(f, y)
        if runs:
            assert calls.of(lambda out=out: out.realize([5, 4]))[:2] == (wanted(5, 4), 6)
        else:
            refused(hl.PipelineError, lambda out=out: out.realize([5, 4]), "given for f in y", at="bound(y, 0")


def test_promises_of_an_output_whose_loops_call(calls: Calls) -> None:
    _, e, f = made()
    e.compute_at(f, y)
    f.output_buffer().dim(0).set_bounds(0, 5)
    assert calls.of(lambda: f.realize([5, 4]))[0] == wanted(5, 4)
    narrow = hl.Buffer(hl.Int(32), [4, 4])
    refused(hl.PipelineError, lambda: f.realize(narrow), '"f"', "dimension 0", at="f.realize(narrow)")


def test_loops_that_keep_the_name_of_what_they_are_made_of(calls: Calls) -> None:
    _, e, f = made()
    f.tile(x, y, x, y, xi, yi, 4, 4).fuse(x, y, y).vectorize(xi)
    e.compute_at(f, y)
    assert calls.of(lambda: f.realize([8, 8]))[:2] == (wanted(8, 8), 4)
    _, e, f = made()
    n = hl.Param(hl.Int(32), "n", 2)
    f.split(y, y, yi, n)
    e.compute_at(f, y)
    refused(hl.ScheduleError, lambda: f.realize([8, 8]), "constant factors", at="e.compute_at(f, y)")


MEMOIZED = {
    "without a place": (lambda g, e, f, h: None, (1, 0)),
    "at the root": (lambda g, e, f, h: e.compute_root(), (1, 0)),
    "in its loops": (lambda g, e, f, h: e.compute_at(f, y), (3, 0)),
    "in a loop, both": (lambda g, e, f, h: (f.compute_at(h, y), e.compute_at(h, y)), (3, 0)),
}


@pytest.mark.parametrize("schedule", MEMOIZED)
def test_memoized_func_that_uses_a_stage_is_kept(calls: Calls, schedule: str) -> None:
    place, counts = MEMOIZED[schedule]
    p = hl.Param(hl.Int(32), "p", 1)
    g, e, f = made(x * x + 3 * y)
    h, middle = hl.Func("h"), hl.Func("middle")
    middle[x, y] = (f[x, y] * p, hl.f32(p))
    h[x, y] = middle[x, y][0] + hl.i32(middle[x, y][1])
    middle.compute_root().memoize()
    place(g, e, middle, h)
    hl.memoization_cache_cleanup()
    whole = np.array(wanted(5, 3))
    for number, new in ((1, True), (1, False), (2, True), (1, False)):
        p.set(number)
        values, count, _ = calls.of(lambda h=h: h.realize([5, 3]))
        assert (values, count) == ((whole * number + number).tolist(), counts[0] if new else counts[1])
    assert calls.of(lambda: h.realize([4, 3]))[1] == (counts[0] if schedule != "in a loop, both" else 3)
    hl.memoization_cache_cleanup()


def test_memoized_func_that_is_passed_to_a_stage_is_kept(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    g, e, f = made()
    g.compute_root().memoize().trace_stores()
    e.compute_at(f, y)
    hl.memoization_cache_cleanup()
    for stores in (3 * 4, 0):
        assert calls.of(lambda: f.realize([2, 2])) == (wanted(2, 2), 2, 2 * 2 * 2)
        told = capfd.readouterr()
        assert (told.out + told.err).count("Store g.0") == stores
    hl.memoization_cache_cleanup()


def test_memoized_func_whose_values_can_not_be_kept_is_computed(calls: Calls) -> None:
    def in_a_loop(g: hl.Func, e: hl.Func, f: hl.Func, h: hl.Func) -> None:
        f.compute_at(h, y)

    def beside_the_root(g: hl.Func, e: hl.Func, f: hl.Func, h: hl.Func) -> None:
        g.compute_root()
        e.compute_at(h, y).memoize()
        f.compute_at(h, y)

    for place, named in ((in_a_loop, "depends on an extern stage"), (beside_the_root, 'reads "g"')):
        g, e, f = made()
        h = hl.Func("h")
        h[x, y] = f[x, y]
        f.memoize()
        place(g, e, f, h)
        with pytest.warns(hl.IgnoredDirectiveWarning, match=named):
            assert calls.of(lambda h=h: h.realize([5, 3]))[0] == wanted(5, 3)
    im, version = hl.ImageParam(hl.Int(32), 2, "im"), hl.Param(hl.Int(32), "version", 0)
    for tagged in (False, True):
        g, e, f = made(hl.memoize_tag(im[x, y], version) if tagged else im[x, y])
        h = hl.Func("h")
        h[x, y] = f[x, y]
        f.compute_root().memoize()
        im.set(np.zeros((4, 6), np.int32))
        if tagged:
            assert [calls.of(lambda h=h: h.realize([5, 2]))[1] for _ in range(2)] == [1, 0]
        else:
            refused(hl.ScheduleError, lambda h=h: h.realize([5, 2]), "memoize", '"im"', at="f.compute_root()")
    hl.memoization_cache_cleanup()


@pytest.mark.parametrize("tail", ["RoundUp", "ShiftInwards", "GuardWithIf"])
def test_what_a_window_needs_beyond_the_whole_is_computed(calls: Calls, tail: str) -> None:
    """Rounded up from a window on, a Func reads further than rounded up from where all windows begin."""
    h, g, e, f = (hl.Func(name) for name in "hgef")
    h.define_extern("levels_two", [], [hl.Int(32), hl.Int(32)], [x, y])
    g[x, y] = h[x, y][0] * 3 + h[x, y][1]
    e.define_extern("levels_corner", [g], hl.Int(32), [x, y])
    f[x, y] = e[x, y] + e[x, y + 1]
    e.compute_root().split(y, yo, yi, 3, hl.TailStrategy.GuardWithIf).serial(yo)
    g.compute_at(e, yo).split(y, yo, yi, 8, hl.TailStrategy[tail])
    j, i = np.mgrid[0:13, 0:9]
    values = 4 * i + 29 * j
    stage = values[:-1, :-1] + values[:-1, 1:] + values[1:, :-1]
    assert np.asarray(f.realize([8, 11])).tolist() == (stage[:-1] + stage[1:]).tolist()
