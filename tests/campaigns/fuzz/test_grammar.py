"""The grammar's campaigns: cells that are read off a case, targets that are met, journals that go on, defects."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.query import query
from halide_core.ir.types import INT32, Type
from halide_core.lowering import proven_steps
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Definition, Image, Loop, Numbers, Update
from tests.campaigns.fuzz.draw_terms import PROMISE
from tests.campaigns.fuzz.grammar.axes import ALL_CELLS, Place, Shape, Way, cells_of, shapes_of
from tests.campaigns.fuzz.grammar.defects import DEFECTS
from tests.campaigns.fuzz.grammar.draw import Order, draw_made, draw_order, elsewhere
from tests.campaigns.fuzz.grammar.growing import grown
from tests.campaigns.fuzz.grammar.journal import Journal, merged
from tests.campaigns.fuzz.grammar.programs import draw_program
from tests.campaigns.fuzz.grammar.report import Asked, text, verdict
from tests.campaigns.fuzz.grammar.schedules import draw_steered
from tests.campaigns.fuzz.grammar.serving import Drawn
from tests.campaigns.fuzz.grammar.table import ENOUGH, Table
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.plain.draw import draw_plain
from tests.campaigns.fuzz.terms import call, cast, infix, number
from tests.campaigns.fuzz.verdict import Outcome
from tests.support.spoiling import spoilt

CELL = (Shape.CONSTANT, Place.AT_INNER, Way.VECTOR)


@pytest.mark.parametrize("shape", Shape)
def test_program_has_the_shape_that_is_asked_for(shape: Shape) -> None:
    case = draw_program("1/1", random.Random(5), shape, reduces=False)
    assert shape in shapes_of(case, "w", model_of(case))


def test_order_is_drawn_alike_each_time_and_mostly_meets_its_target() -> None:
    cases = [draw_order(Order(7, number, CELL)) for number in range(8)]
    assert [case.source() for case in cases] == [draw_order(Order(7, n, CELL)).source() for n in range(8)]
    assert sum(CELL in cells_of(case) for case in cases) >= 6


def test_loops_of_two_funcs_are_drawn_in_one() -> None:
    cases = [draw_order(Order(3, number, random.Random(number).choice(ALL_CELLS))) for number in range(40)]
    assert sum("compute_with" in case.methods for case in cases) >= 3


def test_case_that_is_drawn_is_lowered_and_runs_in_other_windows() -> None:
    case, made = next(drawn for n in range(8) if (drawn := draw_made(Order(7, n, CELL)))[1] is not None)
    assert made is not None
    others = list(elsewhere(case))
    assert others
    for each in others:
        assert each.windows != case.windows
        assert each.source().partition("result = ")[0] == case.source().partition("result = ")[0]
        assert judge(each, Judges.BRIEF, made).outcome is not Outcome.MISMATCH


@pytest.mark.parametrize("type", [INT32, hl.UInt(8), hl.Float(16), hl.Float(64), hl.Bool()], ids=str)
def test_odd_numbers_are_those_that_programs_go_wrong_by(type: Type) -> None:
    image = Image("in1", type, (0,), (400,), 1, Numbers.ODD)
    space: dict[str, Any] = {"hl": hl, "np": np}
    exec("\n".join(image.lines()), space)
    data = space["in1_data"].array
    assert data.dtype == type.dtype
    if type.is_float():
        assert np.isnan(data).any()
        assert np.isposinf(data).any()
        assert np.signbit(data[data == 0]).any()
        assert (np.abs(data[data != 0]) < np.finfo(type.dtype).tiny).any()
    elif not type.is_bool():
        assert set(type.range) <= set(data.tolist())


def test_what_must_be_refused_is_drawn_too() -> None:
    """Reduction loops as threads or lanes, and tails that stages can't have."""
    told = [t for n in range(300) for t in _unasked(n).directives]
    reduced = [t for t in told if any(isinstance(a, Loop) and a.name.startswith("r1.x") for a in t.args)]
    assert {"split", "parallel"} <= {t.method for t in reduced}
    assert any(t.stage and TailStrategy.ShiftInwards in t.args for t in told)


def _unasked(n: int) -> Case:
    """A case as it is drawn, before the compiler is asked."""
    rng = random.Random(n)
    program = draw_program(f"1/{n}", rng, Shape.CONDITIONAL, reduces=False)
    return draw_steered(program, rng, Place.AT_INNER, Way.VECTOR)


def test_values_are_divided_and_a_param_moves_points() -> None:
    texts = [draw_program("1/1", random.Random(n), Shape.FULL, reduces=False).source() for n in range(80)]
    assert sum(" // " in text or " / " in text for text in texts) >= 3
    assert sum(" + p" in text or " - p" in text for text in texts) >= 3


def test_a_consumer_at_times_goes_down_along_a_dimension() -> None:
    cases = [draw_program("1/1", random.Random(n), Shape.FULL, reduces=False) for n in range(60)]
    texts = [case.source() for case in cases]
    assert sum(" - x" in text or " - y" in text for text in texts) >= 5


def test_coordinates_are_halved_and_doubled() -> None:
    texts = [draw_program("1/1", random.Random(n), Shape.FULL, reduces=False).source() for n in range(80)]
    assert sum(" // 2" in text for text in texts) >= 3
    assert sum(" * 2," in text or " * 2]" in text for text in texts) >= 3


def test_funcs_are_computed_in_loops_of_the_func_in_lanes_too() -> None:
    inside = aligned = 0
    for n in range(400):
        rng = random.Random(n)
        program = draw_program(f"1/{n}", rng, Shape.FULL, reduces=False)
        case = draw_steered(program, rng, Place.AT_INNER, Way.VECTOR)
        inside += any(t.func == "s" and t.args[:1] == (Consumer("w"),) for t in case.directives)
        aligned += any(t.method == "align_bounds" for t in case.directives)
    assert inside >= 8
    assert aligned >= 2


def test_grown_case_differs_in_something() -> None:
    case = draw_order(Order(7, 1, CELL))
    changed = [grown(case, "7/2", random.Random(seed)) for seed in range(10)]
    assert sum(each.source() != case.source() for each in changed) >= 8
    for each in changed:
        each.source()


def test_grown_case_keeps_its_promises() -> None:
    case = draw_order(Order(7, 1, CELL))
    at = next(i for i, item in enumerate(case.items) if isinstance(item, Definition))
    first = case.items[at]
    assert isinstance(first, Definition)
    promised = call(PROMISE, INT32, number(3, INT32), number(0, INT32), number(5, INT32))
    new = replace(first, value=infix("+", first.value, cast(first.value.type, promised)))
    case = replace(case, items=(*case.items[:at], new, *case.items[at + 1 :]))
    for seed in range(60):
        source = grown(case, "7/2", random.Random(seed)).source()
        assert "hl.unsafe_promise_clamped(hl.i32(3), hl.i32(0), hl.i32(5))" in source


@pytest.mark.filterwarnings("ignore::halide_core.HalideWarning")
def test_grown_case_is_a_program_still() -> None:
    """Promises about values hold, and all that an update reads stands before it."""
    for n in range(60):
        case = draw_plain(5, n)
        for seed in range(6):
            changed = grown(case, "5/2", random.Random(seed))
            try:
                outputs, _ = changed.build()
            except hl.HalideError:
                continue
            assert outputs
            told = [term for item in case.items if isinstance(item, Definition | Update) for term in item.terms()]
            if any(node.text == PROMISE for term in told for node in term):
                assert changed.items == case.items


def test_target_is_the_emptiest_cell_until_draws_miss_it() -> None:
    table = Table()
    for cell in ALL_CELLS:
        if cell != CELL:
            table.add(cell, [cell])
    assert table.emptiest(random.Random(1)) == CELL
    for _ in range(100):
        table.add(CELL, [])
    assert table.emptiest(random.Random(1)) != CELL
    assert CELL in table.holes()


def test_holes_are_cells_that_too_few_cases_lie_in() -> None:
    table = Table()
    for _ in range(ENOUGH):
        table.add(CELL, [CELL])
    assert CELL not in table.holes()
    assert len(table.holes()) == len(ALL_CELLS) - 1
    assert "HOLE: full × compute_root × vectors: 0" in table.text()


def test_journal_goes_on_where_it_stopped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "seed_1")
    case = draw_order(Order(7, 1, CELL))
    cells = frozenset([CELL])
    journal.add(0, CELL, Drawn(Outcome.RAN, case=case, cells=cells, blocks=frozenset("ab")), ["BRIEF"])
    journal.add(1, CELL, Drawn(Outcome.MISMATCH, "wrong", case=case), ["BRIEF"])
    again = Journal(tmp_path / "seed_1")
    assert (again.next, again.cases, again.failures) == (2, 2, {"wrong": [1]})
    assert again.table.counts == {CELL: 1}
    assert again.blocks == {"a", "b"}
    assert [each.source() for each in again.corpus] == [case.source()]
    failed = tmp_path / "seed_1" / "failed"
    assert pickle.loads((failed / "1.pickle").read_bytes()).source() == case.source()
    assert (failed / "1.py").read_text().startswith("# wrong\n")


def test_campaigns_share_a_table_and_are_reported_together(tmp_path: Path) -> None:
    table = Table()
    for seed in (1, 2):
        journal = Journal(tmp_path / f"seed_{seed}", table)
        journal.add(0, CELL, Drawn(Outcome.RAN, cells=frozenset([CELL]), seconds=0.5), ["BRIEF", "COMPILED"])
        journal.add(1, CELL, Drawn(Outcome.REFUSED, "wild", seconds=0.5), ["BRIEF", "COMPILED"])
    shared = Table()
    whole = merged([Journal(tmp_path / f"seed_{seed}", shared) for seed in (1, 2)], shared)
    assert (whole.cases, whole.table.counts[CELL], whole.judged["COMPILED"]) == (4, 2, 2)
    assert "4 cases,   120 a minute: BRIEF + COMPILED" in text(whole)


def test_verdict_says_what_is_missing() -> None:
    journal = Journal()
    for n in range(9):
        outcome = Outcome.MISMATCH if n == 3 else Outcome.REFUSED if n == 4 else Outcome.RAN
        journal.add(n, None, Drawn(outcome, cells=frozenset(ALL_CELLS)), ["COMPILED"])
    assert Asked(9, 8).missing(journal) == ["1 mismatches", "990 holes", "11.1 % refused or asserted"]
    assert "8 compiled cases, not 9; 0 cases under sanitizers, not 1" in verdict(journal, Asked(9, 9, 1))
    full = Journal()
    for n in range(ENOUGH):
        full.add(n, None, Drawn(Outcome.RAN, cells=frozenset(ALL_CELLS)), [])
    assert verdict(full, Asked(ENOUGH)).startswith("SHOWN")


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_has_its_place_in_the_compiler(name: str) -> None:
    owner, function = DEFECTS[name].owner, DEFECTS[name].function
    before = vars(owner)[function]
    with DEFECTS[name].reintroduced():
        assert vars(owner)[function] is not before
    assert vars(owner)[function] is before


def test_spoilt_function_is_another_one_wherever_it_is_known() -> None:
    before = query.extract_query
    assert proven_steps.extract_query is before
    with spoilt(query, "extract_query", "run(unproven or {})", "run({})"):
        assert query.extract_query is not before
        assert proven_steps.extract_query is query.extract_query
    assert proven_steps.extract_query is query.extract_query is before
