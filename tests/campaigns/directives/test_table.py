"""The table of directives: what is watched, what is counted, and that an empty cell is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

import halide_core as hl
from halide_core import TailStrategy
from tests.campaigns.directives.fuzzed import count, rows_in, search
from tests.campaigns.directives.gather import FOLDERS, TESTS, Evidence
from tests.campaigns.directives.table import COLUMNS, all_rows, make_table
from tests.campaigns.directives.watch import Watch
from tests.campaigns.fuzz.draw import draw
from tests.support.dumps import pixels, producer_and_consumer

xo, xi = hl.Var("xo"), hl.Var("xi")


def test_directives_given_are_seen_once_with_their_tails() -> None:
    f, x, y = pixels()
    with Watch() as seen:
        f.tile(x, y, xo, xi, 8, 4, TailStrategy.GuardWithIf).set_estimates([(0, 9), (0, 9)])
    assert [(each.method, each.tail) for each in seen.given] == [("tile", "GuardWithIf"), ("set_estimates", None)]
    assert {each.file for each in seen.given} == {__file__}
    assert not seen.refused


def test_what_is_refused_at_once_or_when_it_is_applied_is_seen() -> None:
    f, x, _y = pixels()
    with Watch() as seen, pytest.raises(hl.ScheduleError):
        f.split(x, xo, xi, 0)
    assert [each.method for each in seen.refused] == ["split"]
    g, f, x, _y = producer_and_consumer()
    with Watch() as seen:
        g.compute_at(f, x).store_at(f, xo)
        with pytest.raises(hl.ScheduleError):
            f.loop_nest()
    assert [each.method for each in seen.given] == ["compute_at", "store_at"]
    assert [each.method for each in seen.refused] == ["store_at"]


def test_every_directive_and_tail_is_a_row() -> None:
    rows = all_rows()
    assert len(rows) == len(set(rows))
    assert {("split", ""), ("split", "RoundUp"), ("fold_storage", ""), ("set_estimates", "")} <= set(rows)


def test_an_empty_cell_is_told() -> None:
    evidence = Evidence()
    for row in all_rows():
        evidence.golden[row] = {"one.txt": 3, "programs/other.txt": 9}
        evidence.legality[row] = {"error/test_x.py::test_y": 1}
        evidence.claims[row] = Counter(proven=3, asserted=1)
    full = Counter(all_rows())
    table = make_table(evidence, full, full)
    assert not table.empty()
    assert "one.txt +1" in table.text()
    assert "4: 3 proven, 1 asserted" in table.text()
    for found in (evidence.golden, evidence.legality, evidence.claims):
        kept = found.pop(("split", "RoundUp"))
        assert len(make_table(evidence, full, full).empty()) == 1
        found[("split", "RoundUp")] = kept  # type: ignore[assignment]  # of each its own
    assert make_table(evidence, full, Counter()).empty() == [f"{_name(row)} has no {COLUMNS[2]}" for row in all_rows()]


def _name(row: tuple[str, str]) -> str:
    return ", ".join(part for part in row if part)


def test_cases_of_the_fuzzer_are_counted() -> None:
    drawn, lowered = count(1, 6)
    assert drawn.total() == sum(len(rows_in(draw(1, n))) for n in range(6))
    assert all(0 <= lowered[row] <= drawn[row] for row in drawn)
    assert lowered.total() > drawn.total() / 2


def test_what_is_drawn_seldom_is_looked_for_further() -> None:
    drawn, lowered = count(2, 0)
    search(2, 0, 400, [("atomic", "")], drawn, lowered)
    assert lowered == Counter({("atomic", ""): 1})
    assert drawn[("atomic", "")] >= 1


def test_a_file_of_tests_is_run_and_watched() -> None:
    code = (
        "import json; from tests.campaigns.directives.gather import gather;"
        f"e = gather([{str(TESTS / FOLDERS[0] / 'test_golden_storage.py')!r}]);"
        "print(json.dumps([sorted(e.golden[('fold_storage', '')]), e.legality[('compute_root', '')],"
        "e.claims[('allow_race_conditions', '')], e.failed]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS.parent, capture_output=True, text=True, timeout=120, check=True
    )
    golden, legality, claims, failed = json.loads(done.stdout)
    assert golden == ["fold_storage.txt"]
    assert any("never_refused" in name for name in legality)
    assert claims["assumed"] == 2
    assert not failed
