"""Whatever the language offers has a generator."""

from __future__ import annotations

import inspect

import pytest

from halide_core.func.func import Func, Schedulable
from halide_core.func.scheduling.func_schedule import FuncSchedule
from halide_core.func.scheduling.stage import StageSchedule
from halide_core.schedule.directives import Directive, Split, TailStrategy
from tests.campaigns.fuzz.coverage import Group
from tests.campaigns.fuzz.directives import FUNC_DIRECTIVES, LOOP_DIRECTIVES
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.draw_algorithm import BORDERS
from tests.campaigns.fuzz.families import METHODS, RECORDED
from tests.campaigns.fuzz.families.tails import OTHER_TAILS
from tests.campaigns.fuzz.judge import FAST, judge
from tests.campaigns.fuzz.registry import UNDRAWN, UNPLACED, all_features, boundary_names, leaves


def test_every_directive_has_a_generator_that_records_it() -> None:
    recorded = {each for g in LOOP_DIRECTIVES.values() for each in g.records}
    recorded |= {each for each_of in FUNC_DIRECTIVES.values() for each in each_of}
    recorded |= {*RECORDED}
    apart = {*UNPLACED, *(each for classes in UNDRAWN.values() for each in classes if issubclass(each, Directive))}
    assert not recorded & apart
    assert recorded | apart == set(leaves(Directive))


def test_every_method_of_the_schedule_has_a_generator() -> None:
    def methods(owner: type) -> set[str]:
        own = {n for n, f in vars(owner).items() if inspect.isfunction(f)}
        return {n for n in own if not n.startswith("_")}

    makers = (methods(Schedulable) | methods(Func)) & {"clone_in", "in_", "rfactor", "specialize"}
    assert len(makers) == 4
    offered = methods(StageSchedule) | methods(FuncSchedule) | makers
    assert offered == set(LOOP_DIRECTIVES) | set(FUNC_DIRECTIVES) | set(METHODS) | set(UNDRAWN)
    assert all(callable(getattr(Func, n)) for n in offered)


def test_every_boundary_condition_is_drawn() -> None:
    assert sorted(boundary_names()) == sorted(BORDERS)


def test_every_tail_strategy_is_drawn() -> None:
    drawn_first = (TailStrategy.Auto, TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards)
    assert {*drawn_first, *OTHER_TAILS} == set(TailStrategy)


def test_registry_asks_the_system_itself() -> None:
    features = all_features()
    assert (Group.DIRECTIVE, Split.__name__) in features
    assert [name for group, name in features if group is Group.TAIL] == [t.name for t in TailStrategy]
    nodes = [name for group, name in features if group is Group.NODE]
    assert {"Ramp", "Hole", "Provide", "AnswerQuery"} <= set(nodes)
    assert "Expr" not in nodes
    assert len(features) == len(set(features))


def test_new_directive_is_missing_a_generator() -> None:
    class Novel(Directive):  # as good as any: a leaf of the tree of directives
        pass

    globals()["Novel"] = Novel
    Novel.__qualname__, Novel.__module__ = "Novel", __name__
    try:
        assert (Group.DIRECTIVE, "Novel") in all_features()
    finally:
        del globals()["Novel"]


@pytest.mark.parametrize(("number", "function"), [(24, "ROUNDING_HALVING_ADD"), (39, "FMA")])
def test_formulas_become_the_operations_that_they_are_drawn_for(number: int, function: str) -> None:
    verdict = judge(draw(1, number), FAST)
    assert (Group.FUNCTION, function) in verdict.features
