"""The fast tier: some tests of every file, chosen by what they took when that was last recorded.

In: the collected tests, and ``tests/durations.json``: of each test function the CPU seconds of its longest case, those
of the processes that it starts included. Out: the first cases of some functions: of each file the quickest one, then of
each the second quickest, and so on, as long as all together take no more than BUDGET.

    pytest --fast                   the fast tier
    pytest --update-durations       records what the tests of this run took, beside what is known of the others
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

RECORD = Path(__file__).resolve().parents[1] / "durations.json"
BUDGET = 60.0
"""CPU seconds of all chosen tests. Collecting takes each process some ten seconds more."""
UNKNOWN = 0.4
"""CPU seconds that a function is taken to need that was never recorded."""

Durations = Mapping[str, Mapping[str, float]]
"""Of each file, below the repository, the seconds of its functions."""
T = TypeVar("T")


def cpu_seconds() -> float:
    """The CPU time of this process and of those that it waited for. Other load of the machine doesn't count."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def function_of(nodeid: str) -> tuple[str, str]:
    """The file and the function of a test: ``a/test_b.py::test_c[1]`` is a case of ``test_c``."""
    file, _, rest = nodeid.partition("::")
    return file, rest.partition("[")[0]


def read(record: Path = RECORD) -> dict[str, dict[str, float]]:
    """The recorded durations; none where none were."""
    if not record.exists():
        return {}
    known: dict[str, dict[str, float]] = json.loads(record.read_text(encoding="utf-8"))
    return known


def updated(known: Durations, taken: Mapping[str, float], root: Path) -> dict[str, dict[str, float]]:
    """The known durations with the seconds of some tests, by their ids; files that are gone are left out."""
    found: dict[tuple[str, str], float] = {}
    for nodeid, seconds in taken.items():
        key = function_of(nodeid)
        found[key] = max(found.get(key, 0.0), seconds)
    result = {file: dict(functions) for file, functions in known.items() if (root / file).exists()}
    for (file, function), seconds in found.items():
        result.setdefault(file, {})[function] = round(seconds, 2)
    return {file: dict(sorted(functions.items())) for file, functions in sorted(result.items())}


def write(durations: Durations, record: Path = RECORD) -> None:
    """Records them."""
    record.write_text(json.dumps(durations, indent=0) + "\n", encoding="utf-8")


def fast(tests: Sequence[tuple[str, T]], known: Durations, budget: float = BUDGET) -> list[T]:
    """The tests, given by their ids, that are in the fast tier, in their order."""
    first: dict[tuple[str, str], int] = {}
    for i, (nodeid, _) in enumerate(tests):
        first.setdefault(function_of(nodeid), i)
    files: dict[str, list[tuple[float, int]]] = {}
    for (file, function), i in first.items():
        files.setdefault(file, []).append((known.get(file, {}).get(function, UNKNOWN), i))
    turns = sorted((turn, *each) for functions in files.values() for turn, each in enumerate(sorted(functions)))
    chosen, spent = [], 0.0
    for turn, seconds, i in turns:
        if turn == 0 or spent + seconds <= budget:
            chosen.append(i)
            spent += seconds
    return [tests[i][1] for i in sorted(chosen)]
