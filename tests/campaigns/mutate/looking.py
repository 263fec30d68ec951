"""Steps and tests look at the compiler that this process has, in turn, up to the first that sees something.

In: a queue of names with limits; what each step found in the compiler as it is. Out: nothing, or Killed.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import pytest

from tests.campaigns.mutate.verdict import Judge, Killed, Verdict


class Hang(BaseException):
    """Something uses too much processor time. Not an Exception, so that few on the way catch it."""

    met = False
    """True where it was raised at all: pytest takes it for the failure of a test."""


def hang(signum: int, frame: FrameType | None) -> None:
    """The handler of the timer's signal."""
    Hang.met = True
    raise Hang


class State:
    """The state of the process, for the one that watches it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def told(self, **data: Any) -> None:
        """Replaces the file in one step."""
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(data), encoding="utf-8")
        os.replace(new, self._path)


class Looker:
    """A plugin of pytest that has ``loop`` run the tests that it read."""

    def __init__(self, loop: Callable[[Looker], Any]) -> None:
        self.items: dict[str, pytest.Item] = {}
        self.failed: dict[str, str] = {}
        self.started = False
        self.ended: BaseException | None = None
        self._loop = loop

    def pytest_collection(self) -> None:
        """An example that fails is enough: no smaller one is looked for."""
        usual = hypothesis.settings.get_profile("halide_core")
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutants", usual, phases=phases)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """The tests are read."""
        self.started = True
        self.items = {item.nodeid: item for item in session.items}
        try:
            self._loop(self)
        except BaseException as error:  # noqa: BLE001  # pytest would only print it
            self.ended = error
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Reports a test's end in time of its own: the timer's signal would get lost in there."""
        left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, left)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test, or what it needs, is done."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file is read."""
        if report.failed:
            self.failed.setdefault(report.nodeid, str(report.longrepr)[-300:])

    def test(self, name: str, following: str | None, limit: float) -> None:
        """Runs a test; what only the ``following`` one doesn't need is torn down."""
        item = self.items[name]
        after = None if following is None else self.items[following]
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def look(self, request: dict[str, Any], found: dict[str, Any], state: State) -> None:
        """Asks all in turn. Raises: Killed by the first that sees something; Hang."""
        from tests.campaigns.mutate.judging import steps  # noqa: PLC0415  # a mutant may fail on import

        for path, told in self.failed.items():
            raise Killed(Judge.CRASH, f"{path} can't be read: {told}")
        known = {name: (look, compare) for name, look, compare in steps(request["path"])}
        # A test that a mutant's import changed the name of can't be asked.
        queue = [(n, limit) for n, limit in request["queue"] if n in known or n in self.items]
        for i, (name, limit) in enumerate(queue):
            if name in known:
                look, compare = known[name]
                state.told(judge=Judge.CRASH.value, at=name)
                _compare(name, look, compare, found[name], limit)
                continue
            state.told(judge=Judge.TEST.value, at=name)
            self.test(name, next((n for n, _ in queue[i + 1 :] if n in self.items), None), limit)
            if Hang.met:
                raise Hang
            for told in self.failed.values():
                raise Killed(Judge.TEST, f"{name}: {told}")


def _compare(
    name: str, look: Callable[[], Any], compare: Callable[[Any, Any], None], before: Any, limit: float
) -> None:
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        compare(before, look())
    except Killed as killed:
        raise Killed(killed.judge, f"{name}: {killed.why}") from killed
    except Exception as error:  # whatever a mutant does
        raise Killed(Judge.CRASH, f"{name}: {type(error).__name__}: {str(error)[:200]}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def decide(look: Callable[[], None]) -> Verdict:
    """The verdict."""
    try:
        look()
    except Killed as killed:
        return Verdict(killed.judge, killed.why)
    except Hang:
        return Verdict(Judge.HANG, "")
    return Verdict(None, "")
