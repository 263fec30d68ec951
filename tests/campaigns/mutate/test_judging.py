"""The judges see what is wrong: each of them with one fault planted where it looks."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from halide_core import ir
from halide_core.bounds.query.answers import Answer, Answers
from halide_core.errors import BoundsError
from halide_core.ir.visitor import Rewriter
from halide_core.loop_nest import Program
from halide_core.lowering import driver, proven_steps
from halide_core.lowering.provenance import Traversals
from tests.campaigns.mutate.certified import Certified, certified, wrong_answers, wrong_programs
from tests.campaigns.mutate.judging import _compare, _compare_drawn, _compare_wrong, _looked_at
from tests.campaigns.mutate.measure import Measure, measure
from tests.campaigns.mutate.programs import PROGRAMS, pyramid, split_of_split
from tests.campaigns.mutate.verdict import Judge, Killed, Verdict


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_and_costs_the_same_every_time(name: str) -> None:
    first, again = (measure(*PROGRAMS[name]()) for _ in range(2))
    assert not first.refused
    assert first.nodes
    assert first == again
    assert first.more_than(again) == ""


def test_measure_counts_points_and_cells() -> None:
    f, window = split_of_split()
    trace = driver.LoweringTrace()
    driver.lower(f._request(), trace=trace)
    found = measure(f, window)
    assert found.points["f"] == 21 * (len(trace.passes) + 1)  # the first runs with what it rests on, too
    assert found.cells["g"] == found.points["g"]


def test_wrong_pass_is_killed_by_the_reference() -> None:
    unrolled = driver.unroll_loops

    def first_only(stmt: ir.Stmt, traversals: Traversals) -> ir.Stmt:
        return _FirstOnly().stmt(unrolled(stmt, traversals))

    with patch.object(driver, "unroll_loops", first_only), pytest.raises(Killed) as killed:
        measure(*split_of_split())
    assert killed.value.judge is Judge.REFERENCE


class _FirstOnly(Rewriter):
    """Loops run once."""

    def rewrite_For(self, loop: ir.For) -> ir.Stmt:
        """The first iteration."""
        return ir.For(loop.loop, loop.var, ir.Interval(loop.bounds.min, ir.ONE), loop.kind, loop.pure, loop.body)


def test_answer_without_a_point_is_killed_by_the_reference() -> None:
    filled = proven_steps.fill

    def shrunk(program: Program, answers: Answers) -> ir.Stmt:
        holes = [_shorter(a) if a.func.name == "g" and a.kind is ir.HoleKind.CPU else a for a in answers.holes]
        return filled(program, replace(answers, holes=holes))

    with patch.object(proven_steps, "fill", shrunk), pytest.raises(Killed) as killed:
        measure(*split_of_split())
    assert killed.value.judge is Judge.REFERENCE


def _shorter(answer: Answer) -> Answer:
    return replace(answer, interval=ir.Interval(answer.interval.min, ir.sub(answer.interval.len, ir.ONE)))


def test_refusal_is_killed_where_the_compiler_itself_runs() -> None:
    record = _looked_at(*split_of_split())
    with pytest.raises(Killed) as killed:
        _compare(record, {"measure": {"refused": "BoundsError"}, "certified": None})
    assert killed.value.judge is Judge.REFUSAL


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (Measure(points={"g": 9}, cells={"g": 8}, nodes=5, regions={"im": [[0, 4]]}), "9 points of g instead of 8"),
        (Measure(points={"g": 8}, cells={"g": 9}, nodes=5, regions={"im": [[0, 4]]}), "9 cells of g instead of 8"),
        (Measure(points={"g": 8}, cells={"g": 8}, nodes=6, regions={"im": [[0, 4]]}), "6 nodes are evaluated instead"),
        (Measure(points={"g": 8}, cells={"g": 8}, nodes=5, regions={"im": [[-1, 5]]}), "im is asked for (-1, 5)"),
        (Measure(points={"g": 8}, cells={"g": 8}, nodes=5, regions={"im": [[0, 5]]}), "im is asked for (0, 5)"),
        (Measure(points={"g": 7}, cells={"g": 7}, nodes=4, regions={"im": [[1, 3]]}), ""),
    ],
)
def test_cost_is_compared(now: Measure, told: str) -> None:
    before = Measure(points={"g": 8}, cells={"g": 8}, nodes=5, regions={"im": [[0, 4]]})
    more = now.more_than(before)
    assert more.startswith(told)
    assert bool(more) == bool(told)


def test_certificate_is_compared() -> None:
    before = Certified(True, {"in bounds of f": 3})
    assert "fails" in Certified(False, {"in bounds of f": 3}).less_than(before)
    assert "2 claims instead of 3" in Certified(True, {"in bounds of f": 2}).less_than(before)
    assert Certified(True, {"in bounds of f": 4, "size of f": 1}).less_than(before) == ""
    assert Certified(False, {}).less_than(Certified(False, {})) == ""


def test_accepted_wrong_answer_is_killed() -> None:
    with pytest.raises(Killed, match="certified: shorter"):
        _compare_wrong({"shorter": False}, {"shorter": True})
    _compare_wrong({"shorter": True, "later": False}, {"shorter": True, "later": False})


def test_certificate_refuses_every_answer_without_a_point() -> None:
    func, _ = split_of_split()
    found = wrong_answers(func)
    assert len(found) == 6
    assert not any(found.values())


def test_certificate_refuses_wrong_versions() -> None:
    func, _ = split_of_split()
    assert certified(func).ok
    refused = {told.partition(": ")[2] for told, ok in wrong_programs(func).items() if not ok}
    assert refused >= {
        "loop f.s0.xo shorter",
        "loop f.s0.xo later",
        "loop g.s0.x shorter",
        "memory of g shorter in 0",
        "memory of g later in 0",
        "f written beside, in 0",
        "g written beside, in 0",
        "f from values beside",
    }


def test_measure_of_what_is_refused_says_so() -> None:
    with patch.object(proven_steps, "fill", side_effect=BoundsError("no bound")):
        assert measure(*pyramid()).refused == "BoundsError"


@pytest.mark.parametrize(
    ("before", "now"), [("ran", "mismatch"), ("ran", "refused"), ("ran", "asserted"), ("refused", "mismatch")]
)
def test_random_program_that_goes_wrong_is_killed(before: str, now: str) -> None:
    with pytest.raises(Killed, match=now):
        _compare_drawn({"outcome": before, "kind": ""}, {"outcome": now, "kind": "why"})
    _compare_drawn({"outcome": before, "kind": ""}, {"outcome": before, "kind": ""})


def test_verdict_survives_json() -> None:
    for verdict in (Verdict(Judge.TEST, "why", 2.5), Verdict(None, "")):
        assert Verdict.from_data(verdict.as_data()) == verdict
