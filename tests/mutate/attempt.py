"""One copy of the compiler before all judges: the process that ``running`` starts for each mutant.

    python -m tests.mutate.attempt --state state.json --record record.json      judge a mutant
    python -m tests.mutate.attempt --state state.json --keep record.json        record the compiler as it is

In: the tree that it runs in. Out: ``state``: while it runs, the judge that is looking; at its end, the verdict. With
--keep, the record: what each step found, and the tests that fail without any change.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutate.verdict import Judge, Killed, Verdict

TESTS = (
    "tests/scheduling",
    "tests/lowering",
    "tests/bounds",
    "tests/property/test_attacks.py",
    "tests/error",
    "tests/property/test_interpreted.py",
)
_MEMORY = 8 << 30
_STEP_SECONDS, _TEST_SECONDS = 20.0, 60.0
"""Processor time that a step or a test of the compiler itself never comes near."""


class _Hang(BaseException):
    """A step uses too much processor time. Not an Exception: nothing on the way may catch it."""


def _hang(signum: int, frame: FrameType | None) -> None:
    raise _Hang


class _State:
    """What the process is doing, for the one that watches it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def told(self, **data: Any) -> None:
        """Replaces the file in one step."""
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(data), encoding="utf-8")
        os.replace(new, self._path)


class _Outcomes:
    """A plugin of pytest: which tests failed, and a limit for each."""

    def __init__(self, state: _State, *, limit: bool) -> None:
        self.failed: dict[str, str] = {}
        self._state = state
        self._limit = limit

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test starts."""
        if self._limit:
            self._state.told(judge=Judge.TEST.value, at=nodeid)
            signal.setitimer(signal.ITIMER_PROF, _TEST_SECONDS)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test, or what it needs, is done."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file is read."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])


def run_tests(state: _State, scratch: Path, skipped: Iterable[str], *, stop_at_first: bool) -> dict[str, str]:
    """The tests that fail, with the end of what pytest says."""
    outcomes = _Outcomes(state, limit=stop_at_first)
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(scratch / "tests"), *TESTS]
    for test in skipped:
        options += ["--deselect", test]
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        streams, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), nothing, nothing
        try:
            pytest.main([*options, "-x"] if stop_at_first else options, plugins=[outcomes])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdout, sys.stderr = streams
    return outcomes.failed


def _steps(which: str) -> Any:
    """The steps before or after the tests. The import is where a mutant's first damage shows."""
    from tests.mutate import judging

    return list(judging.first_steps() if which == "first" else judging.last_steps())


def keep(path: Path, state: _State, scratch: Path) -> None:
    """Records the compiler as it is."""
    found: dict[str, Any] = {"steps": {}, "failing": []}
    for which in ("first", "last"):
        for name, look, _ in _steps(which):
            found["steps"][name] = look()
    found["failing"] = sorted(run_tests(state, scratch, (), stop_at_first=False))
    path.write_text(json.dumps(found), encoding="utf-8")


def judge(record: dict[str, Any], state: _State, scratch: Path) -> Verdict:
    """Asks the judges in turn, the quick ones first."""
    try:
        _compare("first", record, Judge.REFERENCE, state)
        failed = run_tests(state, scratch, record["failing"], stop_at_first=True)
        for test, told in failed.items():
            raise Killed(Judge.TEST, f"{test}: {told}")
        _compare("last", record, Judge.FUZZ, state)
    except Killed as killed:
        return Verdict(killed.judge, killed.why)
    except _Hang:
        return Verdict(Judge.HANG, "")
    return Verdict(None, "")


def _compare(which: str, record: dict[str, Any], default: Judge, state: _State) -> None:
    state.told(judge=Judge.CRASH.value, at="import")
    for name, look, compare in _guarded(lambda: _steps(which), "import"):
        state.told(judge=Judge.CRASH.value, at=name)
        signal.setitimer(signal.ITIMER_PROF, _STEP_SECONDS)
        try:
            compare(record["steps"][name], _guarded(look, name))
        except Killed as killed:
            raise Killed(Judge.FUZZ if default is Judge.FUZZ else killed.judge, f"{name}: {killed.why}") from killed
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _guarded(run: Callable[[], Any], name: str) -> Any:
    """What it gives, or Killed where it fails in a way that no one foresaw."""
    try:
        return run()
    except Killed:
        raise
    except Exception as error:  # noqa: BLE001  # whatever a mutant does
        raise Killed(Judge.CRASH, f"{name}: {type(error).__name__}: {str(error)[:200]}") from error


def main(arguments: list[str]) -> int:
    """The process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", type=Path)
    what.add_argument("--keep", type=Path)
    given = parser.parse_args(arguments)
    state, scratch = _State(given.state), given.state.parent
    signal.signal(signal.SIGPROF, _hang)
    if given.keep is not None:
        keep(given.keep, state, scratch)
        state.told(seconds=time.process_time())
        return 0
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    record = json.loads(given.record.read_text(encoding="utf-8"))
    verdict = judge(record, state, scratch)
    state.told(verdict=verdict.as_data())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
