"""One copy of the compiler before all judges: the process that ``running`` starts for each mutant.

    python -m tests.mutate.attempt --state state.json --record record.json --path bounds/fill.py
    python -m tests.mutate.attempt --state state.json --keep-steps steps.json
    python -m tests.mutate.attempt --state state.json --keep-tests tests.json

In: the tree that it runs in, in which one file may be changed. Out: ``state``: while it runs, the judge that is
looking; at its end, the verdict. Of the compiler as it is: what each step finds, and the tests that fail.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutate.verdict import Judge, Killed, Verdict

TESTS = ("tests/scheduling", "tests/lowering", "tests/bounds", "tests/property", "tests/error")
_COMPILING = "tests/property/test_random_pipelines.py"
"""Compiles C for programs like those that are interpreted here."""
_MEMORY = 8 << 30
_STEP_SECONDS, _TEST_SECONDS = 20.0, 60.0
"""Processor time that a step or a test of the compiler itself never comes near."""
_SLOW_SECONDS = 1.0
"""Tests that take more processor time are asked after all others."""


class _Hang(BaseException):
    """A step uses too much processor time. Not an Exception, so that few on the way catch it."""

    met = False
    """Whether it was raised at all: pytest takes it for the failure of a test."""


def _hang(signum: int, frame: FrameType | None) -> None:
    _Hang.met = True
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


class Outcomes:
    """A plugin of pytest: which tests failed, how long each took, and a limit for it."""

    def __init__(self, state: _State, *, limit: bool) -> None:
        self.failed: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self._started = 0.0
        self._state = state
        self._limit = limit

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test starts."""
        self._started = time.process_time()
        if self._limit:
            self._state.told(judge=Judge.TEST.value, at=nodeid)
            signal.setitimer(signal.ITIMER_PROF, _TEST_SECONDS)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is done."""
        self.seconds[nodeid] = time.process_time() - self._started
        signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test, or what it needs, is done."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file is read."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])


def run_tests(state: _State, scratch: Path, what: Sequence[str], *, stop_at_first: bool) -> Outcomes:
    """Which tests fail, and how long each takes. ``what`` goes to pytest: folders, tests, options.

    Raises: Killed where pytest itself fails.
    """
    outcomes = Outcomes(state, limit=stop_at_first)
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(scratch / "tests"), "--ignore", _COMPILING, *what]
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        streams, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), nothing, nothing
        try:
            ended = pytest.main([*options, "-x"] if stop_at_first else options, plugins=[outcomes])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdout, sys.stderr = streams
    if _Hang.met:
        raise _Hang
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        raise Killed(Judge.CRASH, f"the tests can't be run: pytest ended with {ended!s}")
    if not outcomes.failed and ended != pytest.ExitCode.OK:
        raise Killed(Judge.CRASH, f"the tests were cut short: pytest ended with {ended!s}")
    return outcomes


def _steps(which: str, path: str | None) -> Any:
    """The steps before or after the tests. The import is where a mutant's first damage shows."""
    from tests.mutate import judging  # noqa: PLC0415

    return list(judging.first_steps(path) if which == "first" else judging.last_steps())


def recorded_steps() -> dict[str, Any]:
    """What each step finds in the compiler as it is."""
    return {name: look() for which in ("first", "last") for name, look, _ in _steps(which, None)}


def recorded_tests(state: _State, scratch: Path) -> dict[str, list[str]]:
    """The tests that fail in the compiler as it is, and those that take long."""
    found = run_tests(state, scratch, TESTS, stop_at_first=False)
    slow = [test for test, seconds in found.seconds.items() if seconds > _SLOW_SECONDS and test not in found.failed]
    return {"failing": sorted(found.failed), "slow": slow}


def judge(record: dict[str, Any], path: str, state: _State, scratch: Path) -> Verdict:
    """Asks the judges in turn, the quick ones first."""
    try:
        _compare("first", record, path, state)
        own_first = sorted(TESTS, key=lambda folder: not path.startswith(f"{Path(folder).name}/"))
        later = [option for test in (*record["failing"], *record["slow"]) for option in ("--deselect", test)]
        _judge_tests(state, scratch, [*own_first, *later])
        if record["slow"]:
            _judge_tests(state, scratch, record["slow"])
        _compare("last", record, path, state)
    except Killed as killed:
        return Verdict(killed.judge, killed.why)
    except _Hang:
        return Verdict(Judge.HANG, "")
    return Verdict(None, "")


def _judge_tests(state: _State, scratch: Path, what: Sequence[str]) -> None:
    for test, told in run_tests(state, scratch, what, stop_at_first=True).failed.items():
        raise Killed(Judge.TEST, f"{test}: {told}")


def _compare(which: str, record: dict[str, Any], path: str, state: _State) -> None:
    state.told(judge=Judge.CRASH.value, at="import")
    for name, look, compare in _guarded(lambda: _steps(which, path), "import"):
        state.told(judge=Judge.CRASH.value, at=name)
        signal.setitimer(signal.ITIMER_PROF, _STEP_SECONDS)
        try:
            compare(record["steps"][name], _guarded(look, name))
        except Killed as killed:
            raise Killed(killed.judge, f"{name}: {killed.why}") from killed
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _guarded(run: Callable[[], Any], name: str) -> Any:
    """What it gives, or Killed where it fails in a way that no one foresaw."""
    try:
        return run()
    except Killed:
        raise
    except Exception as error:  # whatever a mutant does
        raise Killed(Judge.CRASH, f"{name}: {type(error).__name__}: {str(error)[:200]}") from error


def main(arguments: list[str]) -> int:
    """The process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", default="", help="the file that is changed")
    parser.add_argument("--state", type=Path, required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", type=Path)
    what.add_argument("--keep-steps", type=Path)
    what.add_argument("--keep-tests", type=Path)
    given = parser.parse_args(arguments)
    state, scratch = _State(given.state), given.state.parent
    signal.signal(signal.SIGPROF, _hang)
    if given.keep_steps is not None:
        given.keep_steps.write_text(json.dumps(recorded_steps()), encoding="utf-8")
        return 0
    if given.keep_tests is not None:
        given.keep_tests.write_text(json.dumps(recorded_tests(state, scratch)), encoding="utf-8")
        return 0
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    record = json.loads(given.record.read_text(encoding="utf-8"))
    verdict = judge(record, given.path, state, scratch)
    state.told(verdict=verdict.as_data())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
