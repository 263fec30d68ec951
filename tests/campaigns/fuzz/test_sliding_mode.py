"""Stencils that may slide: the cases of a seed stay what they are, and store and compute levels are drawn alike."""

from __future__ import annotations

from collections import Counter

from halide_core.ir import LoopKind
from tests.campaigns.fuzz.campaign import Campaign
from tests.campaigns.fuzz.case import Definition
from tests.campaigns.fuzz.coverage import OUTLIVES, SLIDES
from tests.campaigns.fuzz.draw_sliding import STAGES, _pairs, draw_sliding
from tests.campaigns.fuzz.judge import FAST, judge
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.nests import LoopModel
from tests.campaigns.fuzz.report import Report
from tests.campaigns.fuzz.verdict import Outcome, Verdict


def test_case_is_the_same_each_time() -> None:
    assert [draw_sliding(4, n).source() for n in range(5)] == [draw_sliding(4, n).source() for n in range(5)]
    assert draw_sliding(4, 1).source() != draw_sliding(5, 1).source()
    assert Campaign(3, 4, mode=Mode.SLIDING).case(2).source() == draw_sliding(4, 2).source()


def test_case_has_five_stages_and_memory_at_all_distances() -> None:
    where = Counter[str]()
    for number in range(60):
        case = draw_sliding(4, number)
        assert sum(isinstance(item, Definition) for item in case.items) == STAGES - 1  # the first is a boundary
        for told in case.directives:
            where[told.method] += 1
    assert all(where[m] >= 20 for m in ("compute_at", "store_root", "store_at"))


def test_pairs_leave_out_lanes_and_memory_that_threads_would_share() -> None:
    stage = ("f", 0)

    def around(*kinds: LoopKind) -> tuple[tuple[tuple[str, int], LoopModel], ...]:
        return tuple((stage, LoopModel(f"x{i}", pure=True, kind=kind)) for i, kind in enumerate(kinds))

    serial, parallel, lanes = LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.VECTORIZED
    assert _pairs(around(serial, serial)) == [(-1, 0), (0, 0), (-1, 1), (0, 1), (1, 1)]
    assert _pairs(around(parallel, serial)) == [(0, 0), (0, 1), (1, 1)]
    assert _pairs(around(serial, lanes)) == [(-1, 0), (0, 0)]


def test_small_cases_run() -> None:
    verdicts = [judge(draw_sliding(4, number), FAST) for number in (1, 2)]
    assert not [v for v in verdicts if v.outcome is Outcome.MISMATCH]


def test_report_says_what_slides() -> None:
    report = Report(mode=Mode.SLIDING)
    for number, features in enumerate([{OUTLIVES, SLIDES}, {OUTLIVES}, set()]):
        report.add(number, Verdict(Outcome.RAN, features=frozenset(features)))
    assert "memory outlives a loop in 2 of them; in 1 something slides: 50.0 %" in report.text()
    assert report.ok
