"""The fast tier: something of every file, no more than the budget, and a record that follows the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import durations

TESTS = [("a.py::test_x[1]", 0), ("a.py::test_x[2]", 1), ("a.py::test_y", 2), ("a.py::test_z", 3), ("b.py::test_x", 4)]
KNOWN = {"a.py": {"test_x": 1.0, "test_y": 0.5, "test_z": 9.0}, "b.py": {"test_x": 50.0}}


@pytest.mark.parametrize(
    ("budget", "chosen"),
    [(0.0, [2, 4]), (51.0, [2, 4]), (52.0, [0, 2, 4]), (61.0, [0, 2, 3, 4])],
)
def test_quickest_of_each_file_comes_first(budget: float, chosen: list[int]) -> None:
    assert durations.fast(TESTS, KNOWN, budget) == chosen


def test_unknown_functions_have_a_place() -> None:
    assert durations.fast(TESTS, {}, 2 * durations.UNKNOWN) == [0, 4]
    assert durations.fast(TESTS, {}, 4 * durations.UNKNOWN) == [0, 2, 3, 4]


def test_record_is_updated(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    taken = {"a.py::test_x[1]": 0.123, "a.py::test_x[2]": 0.456, "a.py::test_new": 0.001}
    found = durations.updated(KNOWN, taken, tmp_path)
    assert found == {"a.py": {"test_new": 0.0, "test_x": 0.46, "test_y": 0.5, "test_z": 9.0}}
    durations.write(found, tmp_path / "record.json")
    assert durations.read(tmp_path / "record.json") == found
    assert durations.read(tmp_path / "none.json") == {}


def test_recorded_files_exist() -> None:
    root = Path(__file__).resolve().parents[1]
    assert [file for file in durations.read() if not (root / file).is_file()] == []
