"""Rows of whole vectors: the cases of a seed stay what they are, and formulas have the type that they are drawn for."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import halide_core as hl
from halide_core.ir.types import Type
from tests.campaigns.fuzz.campaign import Campaign
from tests.campaigns.fuzz.case import Case, Definition, Image, Scalar, Update
from tests.campaigns.fuzz.draw_terms import INTEGERS
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.terms import Form, name, source
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.fuzz.wide import idioms
from tests.campaigns.fuzz.wide.draw import draw_wide
from tests.campaigns.fuzz.wide.programs import WIDTHS
from tests.campaigns.fuzz.wide.schedules import LANES

_DRAWN = [draw_wide(4, number) for number in range(60)]


def test_case_is_the_same_each_time() -> None:
    again = [draw_wide(4, number).source() for number in range(5)]
    assert again == [case.source() for case in _DRAWN[:5]]
    assert draw_wide(5, 1).source() != again[1]
    assert Campaign(3, 4, mode=Mode.WIDE).case(2).source() == again[2]


def test_rows_are_wide_and_lanes_of_all_counts() -> None:
    lanes = Counter(int(t.args[1].text) for case in _DRAWN for t in case.directives if t.method == "vectorize")  # type: ignore[union-attr]
    assert {window[0][1] for case in _DRAWN for window in case.windows} <= set(WIDTHS)
    assert len(lanes) >= len(set(LANES)) * 2 // 3
    assert max(lanes) >= 32
    types = {item.type for case in _DRAWN for item in case.items if isinstance(item, Image)}
    assert len(types) >= 9
    points = [at for case in _DRAWN for item in case.items if isinstance(item, Update) for at in item.point]
    assert sum(node.form is Form.READ for at in points for node in at) >= 3  # scatters and histograms
    assert sum(at.form is Form.INFIX for at in points) >= 5  # strides


@pytest.mark.parametrize("type", [*INTEGERS, hl.Float(16), hl.Float(32), hl.Float(64)], ids=str)
def test_formula_has_the_type_of_its_values(type: Type) -> None:
    given = tuple([Scalar(letter, type, 1) for letter in "abc"])
    values = [name(each.name, type, of=each.name) for each in given]
    table = idioms._OF_FLOATS if type.is_float() else idioms._OF_INTEGERS if type.bits() < 64 else idioms._OF_WIDEST
    for formula in table:
        for seed in range(8):
            term = formula(random.Random(seed), values)
            (f,), _ = Case("formula", (*given, Definition("f", (), term)), ("f",), ((),)).build()
            assert (term.type, f.type()) == (type, type), source(term)


def test_small_cases_run() -> None:
    verdicts = [judge(_DRAWN[number], Mode.WIDE.judges) for number in (1, 2, 3)]
    assert {v.outcome for v in verdicts} == {Outcome.RAN}


def test_nobody_interprets_where_compiled_code_judges_alone() -> None:
    assert Judges.NATIVE in Campaign(1, 1, mode=Mode.WIDE).judges(0)
    assert Judges.CERTIFICATE not in Campaign(1, 1, mode=Mode.WIDE).judges(0)
