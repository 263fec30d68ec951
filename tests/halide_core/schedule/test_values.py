"""Schedules as values: listed, printed as source that can be run again, cleared, and given again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.algorithm.model import Function, Image, ScalarParam, realization_order
from halide_core.algorithm.snapshot import leaves
from tests.campaigns.fuzz.draw import draw
from tests.support.raising import raised

x, y, xo, yo, xi, yi = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi"))


def blur() -> tuple[hl.Func, hl.Func, hl.ImageParam, hl.Param]:
    """Two stages, an input and a Param."""
    image, k = hl.ImageParam(hl.Int(32), 2, "in"), hl.Param(hl.Int(32), "k", 4)
    image.set(np.arange(30 * 20, dtype=np.int32).reshape(20, 30))
    bx, by = hl.Func("bx"), hl.Func("by")
    bx[x, y] = image[x, y] + image[x + 1, y] * k
    by[x, y] = bx[x, y] + bx[x, y + 2]
    return bx, by, image, k


def tiled(bx: hl.Func, by: hl.Func, image: hl.ImageParam, k: hl.Param) -> None:
    """A schedule is a function of Funcs."""
    by.tile(x, y, xi, yi, 8, 4, tail=hl.TailStrategy.GuardWithIf).vectorize(xi, 4).parallel(y)
    by.specialize((image.dim(0).extent() > 8) & (k != 3)).unroll(yi, 2)
    bx.compute_at(by, x).split(x, xo, xi, hl.max(k, 1), hl.TailStrategy.GuardWithIf)
    bx.align_storage(x, 8).store_in(hl.MemoryType.Heap)


SOURCE = """\
def schedule(bx, by, k, in_):
    x, xo, xi, y, yi = (hl.Var(n) for n in ('x', 'xo', 'xi', 'y', 'yi'))
    bx.compute_at(by, x)
    bx.split(x, xo, xi, hl.max(k, 1), hl.TailStrategy.GuardWithIf)
    bx.align_storage(x, 8)
    bx.store_in(hl.MemoryType.Heap)
    by.tile([x, y], [x, y], [xi, yi], [8, 4], hl.TailStrategy.GuardWithIf)
    by.vectorize(xi, 4)
    by.parallel(y)
    by_0_1 = by.specialize(((8 < in_.dim(0).extent()) & (k != 3)))
    by_0_1.unroll(yi, 2)
"""


def run(source: str, *args: object) -> None:
    """Runs a schedule's source, and then the function."""
    space: dict[str, Any] = {"hl": hl}
    exec(source, space)
    space["schedule"](*args)


def test_source_is_a_function_that_gives_the_schedule_again() -> None:
    bx, by, image, k = blur()
    tiled(bx, by, image, k)
    told = hl.Schedule(by)
    assert str(told) == told.source() == SOURCE
    assert told.source("mine").startswith("def mine(bx, by, ")
    again = blur()
    run(SOURCE, again[0], again[1], again[3], again[2])
    assert hl.Schedule(again[1]).directives() == told.directives()
    assert str(hl.Schedule(again[1])) == SOURCE
    assert again[1].loop_nest() == by.loop_nest()


def test_directives_are_listed_producers_first() -> None:
    bx, by, image, k = blur()
    assert len(hl.Schedule(by)) == 0
    tiled(bx, by, image, k)
    listed = hl.Schedule(by).directives()
    assert listed[0] == "bx.compute_at(by, x)"
    assert "by.parallel(y)" in listed
    assert len(listed) == len(hl.Schedule(by)) == 13


def test_clear_and_apply_change_what_is_compiled() -> None:
    bx, by, image, k = blur()
    plain = by.loop_nest()
    tiled(bx, by, image, k)
    wanted, nest = np.asarray(by.realize([16, 12])).copy(), by.loop_nest()
    told = hl.Schedule(by)
    told.clear()
    assert by.loop_nest() == plain
    assert (np.asarray(by.realize([16, 12])) == wanted).all()
    told.apply()
    assert by.loop_nest() == nest
    assert (np.asarray(by.realize([16, 12])) == wanted).all()


def test_another_schedule_of_as_many_directives_is_compiled_anew() -> None:
    f = hl.Func("f")
    f[x, y] = x + y * 10
    f.bound(x, 0, 4)
    f.realize([4, 3])
    hl.Schedule(f).clear()
    f.bound(x, 0, 2)
    with pytest.raises(hl.PipelineError, match="do not cover"):
        f.realize([4, 3])


def test_apply_to_the_same_algorithm_made_anew() -> None:
    bx, by, image, k = blur()
    tiled(bx, by, image, k)
    told = hl.Schedule(by)
    other = blur()
    told.apply(other[1])
    assert hl.Schedule(other[1]).directives() == told.directives()
    assert other[1].loop_nest() == by.loop_nest()
    images, params = leaves(realization_order([other[1].function]))
    assert images == [other[2].source]
    assert params == [other[3].source]
    assert (np.asarray(other[1].realize([16, 12])) == np.asarray(by.realize([16, 12]))).all()


def test_a_schedule_stays_what_it_was() -> None:
    f = hl.Func("f")
    f[x] = x
    f.vectorize(x, 4)
    told = hl.Schedule(f)
    f.parallel(x)
    assert told.directives() == ["f.split(x, x, x.v, 4)", "f.vectorize(x.v)"]
    assert str(told) == 'def schedule(f):\n    x = hl.Var(\'x\')\n    f.vectorize(x, 4)\n'
    told.clear()
    assert str(hl.Schedule(f)) == "def schedule():\n    pass\n"


def test_apply_error_names_what_is_missing() -> None:
    bx, by, image, k = blur()
    tiled(bx, by, image, k)
    told = hl.Schedule(by)
    f = hl.Func("f")
    f[x, y] = x
    raised(hl.ScheduleError, lambda: told.apply(f), 'no Func called "bx"')
    p, q = hl.Func("bx"), hl.Func("by")
    p[x, y] = x
    q[x, y] = p[x, y]
    raised(hl.ScheduleError, lambda: told.apply(q), 'no Param called "k"')
    assert not hl.Schedule(q).directives()  # all or nothing
    raised(hl.ScheduleError, lambda: hl.Schedule(*[]), "not of nothing")
    raised(hl.ScheduleError, lambda: hl.Schedule("f"), "not of 'f'")  # type: ignore[arg-type]  # on purpose


def test_directives_that_make_funcs_are_assignments() -> None:
    def made() -> tuple[hl.Func, hl.Func]:
        g, f = hl.Func("g"), hl.Func("f")
        r = hl.RDom([(0, 8)], "r")
        g[x, y] = 0
        g[x, y] += x * r.x
        f[x, y] = g[x, y] + g[x + 1, y]
        return g, f

    g, f = made()
    ro, ri, u = hl.RVar("ro"), hl.RVar("ri"), hl.Var("u")
    g.compute_root()
    g.update().split(hl.RVar("r.x"), ro, ri, 4).rfactor(ro, u).compute_at(g, y).vectorize(u)
    g.in_(f).compute_at(f, y).store_root().hoist_storage_root()
    told, nest = hl.Schedule(f), f.loop_nest()
    again = made()
    run(told.source(), *again)
    assert hl.Schedule(again[1]).directives() == told.directives()
    assert again[1].loop_nest() == nest
    raised(hl.ScheduleError, lambda: told.apply(made()[1]), "makes a Func of its own pipeline")
    told.clear()
    assert f.loop_nest() == made()[1].loop_nest()
    told.apply()
    assert f.loop_nest() == nest


def test_lines_of_directives_are_kept() -> None:
    f = hl.Func("f")
    f[x] = x
    f.vectorize(x)  # of a length that is not a constant
    line = f.function.directives[0].location.line
    told = hl.Schedule(f)
    told.clear()
    told.apply()
    with pytest.raises(hl.ScheduleError) as caught:
        f.compile_jit()
    assert caught.value.location.line == line


@pytest.mark.parametrize("seed", range(4))
def test_source_of_a_random_schedule_gives_it_again(seed: int) -> None:
    tried = 0
    for number in range(15):
        case = draw(seed, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outputs, _ = case.build()
            except hl.HalideError:
                continue
            told = hl.Schedule(*outputs)
            source = told.source()
            functions = realization_order([f.function for f in outputs])
            images, params = leaves(functions)
            known: dict[str, object] = {}
            for leaf in (*functions, *images, *params):
                known.setdefault(leaf.name, _handle(leaf))
            before = told.directives()
            told.clear()
            space: dict[str, Any] = {"hl": hl}
            exec(source, space)
            given = space["schedule"]
            if len({f.name for f in functions}) < len(functions):
                continue  # two Funcs of one name: here nothing tells which is meant
            given(*(known[n.rstrip("_")] if n not in known else known[n] for n in _arguments(given)))
        assert hl.Schedule(*outputs).directives() == before
        tried += 1
    assert tried >= 8


def _arguments(function: Any) -> tuple[str, ...]:
    code = function.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names


def _handle(leaf: Function | Image | ScalarParam) -> object:
    """The user's object for a Func, a Param or an ImageParam."""
    match leaf:
        case Function():
            f = hl.Func(leaf.name)
            f._function = leaf
            return f
        case ScalarParam():
            p = hl.Param(leaf.type, leaf.name)
            p._source = leaf
            return p
    image = hl.ImageParam(leaf.types[0], leaf.dimensions, leaf.name)
    image._source = leaf
    return image


# Specializations keep apart when a schedule joins others.


def scaled() -> tuple[hl.Func, hl.Param]:
    n = hl.Param(hl.Int(32), "n", 4)
    f = hl.Func("f")
    f[x] = x * n
    return f, n


def right_for(f: hl.Func, n: hl.Param, *values: int) -> bool:
    """True where f has its values, whatever n is."""
    for value in values:
        n.set(value)
        if (np.asarray(f.realize([9])) != np.arange(9) * value).any():
            return False
    return True


def test_apply_after_another_specialization() -> None:
    f, n = scaled()
    f.specialize(n == 4).vectorize(x, 4)
    told = hl.Schedule(f)
    told.clear()
    f.specialize(n == 1)
    told.apply()
    assert right_for(f, n, 1, 4, 5)
    source = hl.Schedule(f).source()
    assert "f_0_2 = f.specialize((n == 4))\n    f_0_2.vectorize(x, 4)" in source
    again = scaled()
    run(source, *again)
    assert hl.Schedule(again[0]).source() == source
    assert again[0].loop_nest() == f.loop_nest()


def test_apply_finds_the_specialization_that_is_there() -> None:
    f, n = scaled()
    f.specialize(n > 2).specialize(n == 4).vectorize(x, 4)
    f.specialize(n == 0).unroll(x, 2)
    told = hl.Schedule(f)
    other, m = scaled()
    other.specialize(m == 0)
    other.specialize(m > 2)
    told.apply(other)
    assert hl.Schedule(other).directives() == [
        "f.specialize(n == 0)",
        "f.specialize(2 < n)",
        "f.specialize(2 < n).specialize(n == 4)",
        "f.specialize(2 < n).specialize(n == 4).split(x, x, x.v, 4)",
        "f.specialize(2 < n).specialize(n == 4).vectorize(x.v)",
        "f.specialize(n == 0).split(x, x, x.u, 2)",
        "f.specialize(n == 0).unroll(x.u)",
    ]
    assert right_for(other, m, 0, 1, 3, 4)


def test_apply_numbers_the_specializations_of_each_stage() -> None:
    def made() -> tuple[hl.Func, hl.Param]:
        f, n = scaled()
        f[x] += n
        return f, n

    f, n = made()
    f.update().specialize(n == 4).vectorize(x, 4)
    told = hl.Schedule(f)
    told.clear()
    f.specialize(n == 1).unroll(x, 2)
    f.update().specialize(n == 1).unroll(x, 2)
    told.apply()
    for value in (1, 4, 5):
        n.set(value)
        assert (np.asarray(f.realize([9])) == np.arange(9) * value + value).all()


def test_apply_twice_gives_the_directives_twice() -> None:
    f, n = scaled()
    f.specialize(n == 4).vectorize(x, 4)
    told = hl.Schedule(f)
    told.apply()
    assert hl.Schedule(f).directives().count("f.specialize(n == 4)") == 1
    with pytest.raises(hl.ScheduleError, match=r'"x\.v" already names a loop'):
        f.compile_jit()


def test_apply_after_the_last_case() -> None:
    f, n = scaled()
    f.specialize(n == 4).vectorize(x, 4)
    told = hl.Schedule(f)
    told.clear()
    f.specialize(n == 1)
    f.specialize_fail("one only")
    raised(hl.ScheduleError, lambda: told.apply(), "specialize() can't follow")  # noqa: PLW0108  # its line is asked for
    assert len(hl.Schedule(f)) == 2
