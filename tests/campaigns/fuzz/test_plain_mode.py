"""Loops that are left to gcc: the contents of such programs, and that the cases of a seed stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from halide_core.ir.types import BOOL, Type
from tests.campaigns.fuzz.campaign import Campaign
from tests.campaigns.fuzz.case import Case, Definition, Domain, Update
from tests.campaigns.fuzz.draw_terms import PROMISE
from tests.campaigns.fuzz.grammar.axes import ALL_CELLS
from tests.campaigns.fuzz.grammar.campaign import Campaign as Grammar
from tests.campaigns.fuzz.grammar.draw import Order, draw_made, is_plain
from tests.campaigns.fuzz.grammar.journal import Journal
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.plain.draw import draw_plain
from tests.campaigns.fuzz.plain.programs import WIDTHS
from tests.campaigns.fuzz.terms import Form, Term
from tests.campaigns.fuzz.verdict import Outcome

_DRAWN = [draw_plain(4, number) for number in range(150)]


def _terms(case: Case) -> Iterator[Term]:
    for item in case.items:
        for term in item.terms() if isinstance(item, Definition | Update) else ():
            yield from term


def _compared(condition: Term) -> set[Type]:
    return {node.type for node in condition if node.form is Form.READ}


def _chosen(node: Term) -> bool:
    return node.form is Form.CALL and node.text == "select" and any(p.form is Form.READ for p in node.parts[1:])


def test_case_is_the_same_each_time() -> None:
    again = [draw_plain(4, number).source() for number in range(5)]
    assert again == [case.source() for case in _DRAWN[:5]]
    assert draw_plain(5, 1).source() != again[1]
    assert Campaign(3, 4, mode=Mode.PLAIN).case(2).source() == again[2]


@pytest.mark.parametrize("wider", [True, False])
def test_loads_are_chosen_by_loads_of_other_types(wider: bool) -> None:
    """Both ways: of fewer bits, and of more."""
    choices = [(n.type.bits(), _compared(n.parts[0]) - {BOOL}) for c in _DRAWN for n in _terms(c) if _chosen(n)]
    differ = [any((bits > t.bits()) is wider and bits != t.bits() for t in types) for bits, types in choices]
    assert sum(differ) >= 20


def test_loops_are_unrolled_and_no_vectors() -> None:
    methods = [case.methods for case in _DRAWN]
    assert sum("unroll" in each for each in methods) >= 50
    assert sum(not each or set(each) <= {"bound", "reorder", "compute_root"} for each in methods) >= 15
    assert sum("split" in each for each in methods) >= 15
    assert sum("rfactor" in each for each in methods) >= 3
    assert not any("vectorize" in each for each in methods if "rfactor" not in each)


def test_rows_are_vectors_and_a_rest() -> None:
    updates = [item for case in _DRAWN for item in case.items if isinstance(item, Update)]
    domains = [item for case in _DRAWN for item in case.items if isinstance(item, Domain)]
    assert {n for case in _DRAWN for (_, n) in case.windows[0]} & set(WIDTHS) == set(WIDTHS)
    assert sum(bool(item.predicates) for item in domains) >= 10
    assert sum(bool(u.more) for u in updates) >= 5
    assert sum(node.form is Form.READ for u in updates for at in u.point for node in at) >= 3


def test_tables_are_looked_up_by_what_conditions_make() -> None:
    """In loops that gcc is left alone with, mostly, by a promise, and by what a Func keeps."""
    looked_up = [case for case in _DRAWN if any(node.text == PROMISE for node in _terms(case))]
    assert len(looked_up) >= 20
    assert sum(not case.methods for case in looked_up) >= 8
    assert sum(len([i for i in case.items if isinstance(i, Definition)]) > 1 for case in looked_up) >= 5


def test_drawn_programs_run() -> None:
    verdicts = [judge(case, Mode.PLAIN.judges) for case in _DRAWN[:3]]
    assert {v.outcome for v in verdicts} == {Outcome.RAN}


def test_grammar_draws_some_and_has_them_compiled() -> None:
    plain = [n for n in range(200) if is_plain(3, n)]
    assert 5 <= len(plain) <= 40
    case, made = draw_made(Order(3, plain[0], ALL_CELLS[0]))
    assert made is None
    assert case.source() == draw_plain(3, plain[0]).source()
    compiled, interpreted = (Grammar(1, 3, Journal(), compiled=each) for each in (True, False))
    assert all(Judges.NATIVE | Judges.COMPILED in compiled.judges(n) for n in plain)
    assert not any(Judges.COMPILED in interpreted.judges(n) for n in plain)
