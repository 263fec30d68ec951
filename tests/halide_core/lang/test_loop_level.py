"""Levels as values: what a directive that is given one becomes, before and after the level is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def pair() -> tuple[hl.Func, hl.Func]:
    """f, and g that reads it."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y * 10
    g[x, y] = f[x, y] + f[x, y + 1]
    return f, g


def right(g: hl.Func) -> bool:
    """True where g has its values."""
    return bool((np.asarray(g.realize([6, 5])) == g.evaluate([6, 5])).all())


@pytest.mark.parametrize(
    ("level", "told"),
    [
        (lambda g: hl.LoopLevel(g, y), "f.compute_at(g, y)"),
        (lambda g: hl.LoopLevel(func=g, var=hl.VarOrRVar(x)), "f.compute_at(g, x)"),
        (lambda g: hl.LoopLevel(g, hl.Var.outermost()), "f.compute_at(g, hl.Var.outermost())"),
        (lambda g: hl.LoopLevel.root(), "f.compute_root()"),
        (lambda g: hl.LoopLevel.inlined(), "f.compute_inline()"),
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_computation_at_a_level(level: Callable[[hl.Func], hl.LoopLevel], told: str, later: bool) -> None:
    f, g = pair()
    at = hl.LoopLevel() if later else level(g)
    assert f.compute_at(at) is f
    if later:
        at.set(level(g))
    assert hl.Schedule(g).directives() == [told]
    assert f"    {told}\n" in hl.Schedule(g).source()
    assert right(g)


def test_memory_at_a_level() -> None:
    f, g = pair()
    f.compute_at(g, x).store_at(hl.LoopLevel(g, y)).hoist_storage(loop_level=hl.LoopLevel.root())
    assert hl.Schedule(g).directives()[1:] == ["f.store_at(g, y)", "f.hoist_storage_root()"]
    assert right(g)
    f.store_at(hl.LoopLevel.root())
    assert hl.Schedule(g).directives()[-1] == "f.store_root()"
    assert right(g)


def test_inlined_memory_lives_where_the_func_is_computed() -> None:
    f, g = pair()
    f.compute_at(g, y)
    plain = g.loop_nest()
    f.store_root()
    assert g.loop_nest() != plain
    f.store_at(hl.LoopLevel.inlined())
    assert g.loop_nest() == plain
    source = hl.Schedule(g).source()
    space: dict[str, Any] = {"hl": hl}
    exec(source, space)
    again = pair()
    space["schedule"](*again)
    assert hl.Schedule(again[1]).source() == source
    assert again[1].loop_nest() == plain


def test_level_counts_as_it_is_when_compiled() -> None:
    f, g = pair()
    level = hl.LoopLevel.root()
    f.compute_at(level)
    assert right(g)
    at_root = g.loop_nest()
    level.set(hl.LoopLevel(g, y))
    assert g.loop_nest() != at_root
    assert "produce f:" in g.loop_nest()
    assert right(g)
    level.set(hl.LoopLevel.inlined())
    assert "produce f:" not in g.loop_nest()
    level.set(hl.LoopLevel.root())
    assert g.loop_nest() == at_root


def test_level_of_several_funcs_moves_all() -> None:
    f, g = pair()
    h, level = hl.Func("h"), hl.LoopLevel()
    h[x, y] = f[x, y] + g[x, y]
    for each in (f, g):
        each.compute_at(level).store_at(level)
    level.set(hl.LoopLevel(h, y))
    told = [f"{name}.{verb}_at(h, y)" for name in "fg" for verb in ("compute", "store")]
    assert hl.Schedule(h).directives() == told
    assert right(h)


def test_level_takes_what_another_one_is_then() -> None:
    f, g = pair()
    first, second = hl.LoopLevel(), hl.LoopLevel(g, y)
    f.compute_at(first)
    first.set(second)
    second.set(hl.LoopLevel.root())
    assert hl.Schedule(g).directives() == ["f.compute_at(g, y)"]


def test_directive_keeps_its_place_and_its_line() -> None:
    f, g = pair()
    level = hl.LoopLevel(g, x)
    f.compute_at(level)
    given = f.function.directives[0].location
    f.compute_root()
    level.set(hl.LoopLevel(g, y))
    assert hl.Schedule(g).directives() == ["f.compute_at(g, y)", "f.compute_root()"]
    assert f.function.directives[0].location == given


def test_directive_that_was_taken_away_stays_away() -> None:
    f, g = pair()
    level = hl.LoopLevel(g, y)
    f.compute_at(level)
    told = hl.Schedule(g)
    told.clear()
    level.set(hl.LoopLevel.root())
    assert hl.Schedule(g).directives() == []
    told.apply()
    assert hl.Schedule(g).directives() == ["f.compute_at(g, y)"]
    level.set(hl.LoopLevel(g, x))
    assert hl.Schedule(g).directives() == ["f.compute_at(g, x)"]


def test_level_that_was_never_set() -> None:
    f, g = pair()
    level = hl.LoopLevel()
    f.compute_at(level)
    given = f.function.directives[0].location
    for ask in (g.loop_nest, lambda: g.realize([4, 4]), g.compile_jit):
        with pytest.raises(hl.ScheduleError, match=r"f\.compute_at\(hl\.LoopLevel\(\)\): the level was never set") as e:
            ask()
        assert e.value.location == given
    raised(hl.ScheduleError, lambda: level.stage_index(), "not set")  # noqa: PLW0108  # its line is asked for
    raised(hl.ScheduleError, lambda: f.clone_in(g), "f.compute_at(hl.LoopLevel())", "before that")
    with pytest.raises(hl.ScheduleError, match="can't be written as source"):
        hl.Schedule(g).source()
    level.set(hl.LoopLevel.root())
    assert right(g)


def test_level_of_the_func_itself() -> None:
    f, g = pair()
    level, own = hl.LoopLevel(g, y), hl.LoopLevel(f, y)
    f.compute_at(level).store_at(level)
    raised(hl.ScheduleError, lambda: f.compute_at(own), "inside its own loops", "compute_at() of itself")
    raised(hl.ScheduleError, lambda: level.set(own), "inside its own loops")
    assert hl.Schedule(g).directives() == ["f.compute_at(g, y)", "f.store_at(g, y)"]


def test_level_of_what_is_no_loop() -> None:
    _, g = pair()
    level: Any = hl.LoopLevel
    raised(hl.ScheduleError, lambda: level(g), "LoopLevel()", "a Func and one of its Vars or RVars")
    raised(hl.ScheduleError, lambda: level(hl.Stage(g), y), "LoopLevel()", "Stage 'g'")
    raised(hl.ScheduleError, lambda: level(g, "y"), "LoopLevel()", "'y'")
    raised(hl.ScheduleError, lambda: level(g, y, -2), "stage_index", "-2")
    raised(hl.ScheduleError, lambda: level(stage_index=0), "a Func")
    raised(hl.ScheduleError, lambda: level().set(g), "LoopLevel.set()", "Func 'g'")


def test_level_says_what_it_is() -> None:
    _, g = pair()
    levels = [hl.LoopLevel(), hl.LoopLevel.root(), hl.LoopLevel.inlined(), hl.LoopLevel(g, y), hl.LoopLevel(g, y, 1)]
    said = [repr(level).removeprefix("<halide_core.LoopLevel").strip(" ,>") for level in levels]
    assert said == ["not set", "root", "inlined", "g.y", "g.s1.y"]
    assert [level.stage_index() for level in levels[1:]] == [-1, -1, -1, 1]


# Levels of one stage.


def updated() -> tuple[hl.Func, hl.Func]:
    """f, and g whose update reads it."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y * 10
    g[x, y] = x
    g[x, y] += f[x, y]
    return f, g


def test_level_of_the_stage_that_reads() -> None:
    f, g = updated()
    at = hl.LoopLevel(g, y, stage_index=1)
    f.compute_at(at).store_at(at)
    source = hl.Schedule(g).source()
    assert "f.compute_at(hl.LoopLevel(g, y, 1))" in source
    assert right(g)
    space: dict[str, Any] = {"hl": hl}
    exec(source, space)
    again = updated()
    space["schedule"](*again)
    assert hl.Schedule(again[1]).source() == source


@pytest.mark.parametrize("stage", [0, 2])
@pytest.mark.parametrize("verb", ["compute_at", "store_at", "hoist_storage"])
def test_level_of_another_stage(verb: str, stage: int) -> None:
    f, g = updated()
    f.compute_at(g, y)
    getattr(f, verb)(hl.LoopLevel(g, y, stage))
    with pytest.raises(hl.ScheduleError) as caught:
        g.compile_jit()
    assert caught.value.message.startswith(f"f.{verb}(hl.LoopLevel(g, y, {stage})): ")
    assert "The legal levels:" in caught.value.message
