"""Watches what a running piece of code does with schedules: the directives that it gives, and those that are refused.

In: any code. Out: each call of a directive, with its tail strategy and line; and those calls that an error is about.

    with Watch() as seen: f.split(x, xo, xi, 0)   ->   seen.refused == {Given("split", None, …)}

The interpreter's profiling hook is used, since a wrapper around a method would be the user's line in its errors.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from types import CodeType, FrameType, TracebackType
from typing import Any

from halide_core.errors import _OWN, HalideError, ScheduleError
from halide_core.func.func import Func, Stage
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.directives import FUNC_DIRECTIVES, LOOP_DIRECTIVES
from tests.campaigns.fuzz.families import METHODS as ADDED

METHODS: tuple[str, ...] = (*LOOP_DIRECTIVES, *FUNC_DIRECTIVES, *ADDED)
"""The directives that there are; ``tests/campaigns/fuzz/test_registry.py`` sees to it that none is left out."""


def _codes() -> dict[CodeType, str]:
    """The code of each directive's methods; one may stand in several classes."""
    found: dict[CodeType, str] = {}
    for name in METHODS:
        for owner in {*Func.__mro__, *Stage.__mro__}:
            method = inspect.unwrap(vars(owner)[name]) if name in vars(owner) else None
            if inspect.isfunction(method):
                found[method.__code__] = name
    return found


@dataclass(frozen=True, slots=True)
class Given:
    """A directive as a test gave it, and the line of that."""

    method: str
    tail: str | None
    file: str
    line: int


@dataclass
class Watch:
    """A context manager; what it saw is complete when it ends."""

    given: list[Given] = field(default_factory=list)
    refused: list[Given] = field(default_factory=list)
    _codes: dict[CodeType, str] = field(default_factory=_codes)

    def __enter__(self) -> Watch:
        sys.setprofile(self._event)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, _arg: Any) -> None:
        if event != "call":
            return
        if frame.f_code in self._codes:
            call = self._given(frame)
            if call is not None:
                self.given.append(call)
        elif frame.f_code is HalideError.__init__.__code__:
            self._raised(frame)

    def _given(self, frame: FrameType) -> Given | None:
        """The call that a frame of a directive's method is, unless another directive made it."""
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename.startswith(_OWN):
            return None
        flat = [v for each in frame.f_locals.values() for v in (each if isinstance(each, tuple) else (each,))]
        tails = [v.name for v in flat if isinstance(v, TailStrategy)]
        named = [t for t in tails if t != TailStrategy.Auto.name]
        tail = (named or tails or [None])[0]
        return Given(self._codes[frame.f_code], tail, caller.f_code.co_filename, caller.f_lineno)

    def _raised(self, frame: FrameType) -> None:
        """An error: of the directive that is being recorded, or of the one on the line that it blames."""
        at = frame.f_back
        while at is not None:
            if at.f_code in self._codes:
                call = self._given(at)
                if call is not None:
                    self.refused.append(call)
                    return
            at = at.f_back
        location = frame.f_locals.get("location")
        if location is None or not isinstance(frame.f_locals["self"], ScheduleError):
            return
        message = frame.f_locals["message"]
        for call in self.given:
            # A line may hold several directives: the message names the one that is refused, as it was written.
            if (call.file, call.line) == (location.file, location.line) and f".{call.method}(" in message:
                self.refused.append(call)
