"""The harness itself, without a peer: this package stands on both sides, and made-up outcomes show that it says no."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaigns.peer import generate, names
from tests.campaigns.peer.__main__ import Results, compare, run_side
from tests.campaigns.peer.case import Case, all_cases, groups
from tests.campaigns.peer.compare import Comparison, ulp_distance
from tests.campaigns.peer.differences import DIFFERENCES
from tests.campaigns.peer.operands import POINTS, TYPES, table
from tests.campaigns.peer.outcome import Arrays, Tree
from tests.campaigns.peer.report import State, Verdict, passed, report, summary

CASES = all_cases()


def _some(*wanted: str) -> list[Case]:
    return [CASES[name] for name in wanted]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Results:
    cases = _some("a_u8 + 255", "a_u8 + 300", "hl.sqrt(a_u8)", "hl.UInt(8).bits", "gradient", "in_place")
    return run_side(sys.executable, "halide_core", cases, tmp_path_factory.mktemp("sides"))


def test_cases_are_many_and_the_same_each_time() -> None:
    pipelines = [c for c in CASES.values() if c.function is not None]
    assert len(CASES) - len(pipelines) >= 400
    assert len(pipelines) >= 60
    assert list(all_cases()) == list(CASES)
    assert generate.random_expressions(7, 5) == generate.random_expressions(7, 5) != generate.random_expressions(8, 5)


def test_groups_hold_every_case_once() -> None:
    together = [name for group in groups(list(CASES.values())) for name in group]
    assert sorted(together) == sorted(CASES)


def test_listed_differences_are_cases() -> None:
    assert [name for name in DIFFERENCES if name not in CASES] == []


def test_operands_fill_their_types() -> None:
    for type in TYPES:
        for which in "ab":
            values = table(type, which)
            assert (values.shape, values.dtype) == ((POINTS,), np.dtype(values.dtype))
    assert len({(int(a), int(b)) for a, b in zip(table("i8", "a"), table("i8", "b"), strict=True)}) > POINTS // 2


def test_package_equals_itself(both: Results) -> None:
    cases = [CASES[name] for name in both.trees]
    verdicts = compare(cases, both, both)
    assert [v.difference for v in verdicts] == [None] * len(cases)
    assert passed(verdicts)


def test_side_gives_values_types_errors_and_names(both: Results) -> None:
    added = both.trees["a_u8 + 255"]["outcome"]
    assert added["type"] == "uint8"
    assert both.arrays[added["array"]].tolist() == (table("u8", "a") + np.uint8(255)).tolist()
    assert both.trees["a_u8 + 300"]["outcome"]["class"] == "TypeMismatchError"
    assert both.trees["hl.UInt(8).bits"]["outcome"]["class"] == "TypeError"
    used = [tuple(name) for name in both.trees["gradient"]["names"]]
    assert {("hl", "Func"), ("Func", "realize"), ("Func", "args"), ("Var", "name")} <= set(used)
    assert ("Buffer", "dim") not in used, "only the case's own lines count"


def test_changed_value_is_found(both: Results) -> None:
    other = Results()
    other.trees = both.trees
    other.arrays = {name: values.copy() for name, values in both.arrays.items()}
    name = both.trees["hl.sqrt(a_u8)"]["outcome"]["array"]
    other.arrays[name][3] *= np.float32(1.000001)
    verdicts = compare(_some("a_u8 + 255", "hl.sqrt(a_u8)"), both, other)
    assert [v.state for v in verdicts] == [State.EQUAL, State.UNLISTED]
    assert "(3,)" in str(verdicts[1].difference)
    assert not passed(verdicts)
    assert "hl.sqrt(a_u8)" in report(verdicts)
    assert "1 equal, 0 differs as listed, 1 differs" in summary(verdicts)


@pytest.mark.parametrize(
    ("ours", "peers"),
    [
        ({"kind": "error", "class": "A", "message": "m"}, {"kind": "plain", "class": "int", "value": 3}),
        ({"kind": "error", "class": "NotAvailableError", "message": ""}, {"kind": "error", "class": "", "message": ""}),
        (
            {"kind": "error", "class": "NameError", "message": ""},
            {"kind": "error", "class": "NameError", "message": ""},
        ),
        ({"kind": "crash"}, {"kind": "crash"}),
        ({"kind": "plain", "class": "int", "value": 3}, {"kind": "plain", "class": "int", "value": 4}),
        ({"kind": "plain", "class": "int", "value": 1}, {"kind": "plain", "class": "bool", "value": True}),
        ({"kind": "type", "type": "uint8"}, {"kind": "type", "type": "int8"}),
        ({"kind": "float", "value": (1.0).hex()}, {"kind": "float", "value": (1.1).hex()}),
        ({"kind": "list", "items": []}, {"kind": "list", "items": [{"kind": "crash"}]}),
        ({"kind": "array", "type": "u1", "array": "p"}, {"kind": "array", "type": "u1", "array": "q"}),
        ({"kind": "array", "type": "u1", "array": "p"}, {"kind": "array", "type": "u1", "array": "short"}),
    ],
)
def test_difference_is_found(ours: Tree, peers: Tree) -> None:
    arrays: dict[str, Any] = {"p": np.array([1, 2], "u1"), "q": np.array([1, 3], "u1"), "short": np.array([1], "u1")}
    assert Comparison(arrays, arrays, 2).difference(ours, peers) is not None
    if ours["kind"] != "crash" and ours.get("class") not in ("NameError", "NotAvailableError"):
        assert Comparison(arrays, arrays, 2).difference(ours, ours) is None


def test_float64s_that_came_from_float32s_are_compared_as_these() -> None:
    a = np.array([0.1, 2.5], np.float32)
    ours, peers = a.astype(np.float64), np.nextafter(a, np.float32(9)).astype(np.float64)
    told: dict[str, Any] = {"kind": "buffer", "type": "float64", "array": "a"}
    assert Comparison({"a": ours}, {"a": peers}, 1).difference(told, told) is None
    assert Comparison({"a": ours}, {"a": peers}, 0).difference(told, told) is not None
    assert Comparison({"a": ours + 1e-12}, {"a": peers}, 1).difference(told, told) is not None


def test_ulp_distance_counts_numbers_between() -> None:
    one = np.float32(1)
    after = np.nextafter(one, np.float32(2))
    a = np.array([one, one, 0.0, np.nan, np.nan, -1e-45, np.inf], np.float32)
    b = np.array([one, after, -0.0, np.nan, one, 1e-45, np.inf], np.float32)
    assert ulp_distance(a, b).tolist() == [0, 1, 0, 0, np.inf, 2, 0]
    big = np.array([2.0**60])
    assert ulp_distance(big, np.nextafter(big, np.inf)).tolist() == [1]


def test_difference_that_has_gone_fails() -> None:
    listed = next(name for name in DIFFERENCES)
    assert Verdict(CASES[listed], None, ()).state is State.STALE
    assert not passed([Verdict(CASES[listed], None, ())])
    assert passed([Verdict(CASES[listed], "differs", ())])


def test_coverage_counts_what_is_not_excepted() -> None:
    nothing, one = names.coverage([])["core"], names.coverage([("hl", "select")])["core"]
    assert nothing.percent == 0.0
    assert (len(nothing.missing) - len(one.missing), nothing.counted) == (1, one.counted)
    assert ("hl", "Generator") not in nothing.missing
    assert names.coverage(nothing.missing)["core"].percent == 100.0


def test_array_of_objects_is_no_result() -> None:
    with pytest.raises(TypeError, match="object"):
        Arrays("p").keep(np.array([object()]))


def test_side_goes_on_behind_a_case_that_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group without a result counts as a crash of its one case, and no other is lost."""
    results = Results()
    done = tmp_path / "1.json"
    done.write_text('[{"name": "x", "outcome": {"kind": "plain", "class": "int", "value": 1}, "names": []}]')
    np.savez(done.with_suffix(".npz"))
    assert results.read(tmp_path, [["crashes"], ["x"]], "0/") == [["crashes"]]
    assert list(results.trees) == ["x"]
