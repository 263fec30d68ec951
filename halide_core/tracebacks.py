"""Tracebacks that end at the user's line: what Python shows of an error that nobody caught, without the frames of
the compiler, as nobody who uses it can do anything there. ``HL_DEBUG`` shows them all, and so do InternalErrors.

    user.py:4, func.py:310, func_schedule.py:88, legality.py:40   ->   user.py:4

The exception itself keeps its frames: ``pdb.pm()`` and ``except`` see all of them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from halide_core.debug import wanted
from halide_core.errors import HalideError, InternalError, is_own

_Chained = list[tuple[BaseException, TracebackType | None]]


def install() -> None:
    """Puts the shortening before the hooks that Python, its threads and IPython call for an error that nobody caught.
    Whatever stood there is called with the shorter traceback, so other hooks keep working."""
    if not isinstance(sys.excepthook, _Hook):
        sys.excepthook = _Hook(sys.excepthook)
    if not isinstance(threading.excepthook, _ThreadHook):
        threading.excepthook = _ThreadHook(threading.excepthook)
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None and not shell.custom_exceptions:  # it has room for one handler: another's is left alone
        shell.set_custom_exc((HalideError,), _show_in_shell)


class _Hook:
    """``sys.excepthook``: the one that was there, given less."""

    def __init__(self, shown_by: Callable[[type[BaseException], BaseException, TracebackType | None], Any]) -> None:
        self._shown_by = shown_by

    def __call__(self, kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        whole = _shorten(error)
        try:
            self._shown_by(kind, error, error.__traceback__ if whole else at)
        finally:
            _restore(whole)


class _ThreadHook:
    """``threading.excepthook``, likewise."""

    def __init__(self, shown_by: Callable[[threading.ExceptHookArgs], Any]) -> None:
        self._shown_by = shown_by

    def __call__(self, args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        if error is None:
            self._shown_by(args)
            return
        whole = _shorten(error)
        at = error.__traceback__ if whole else args.exc_traceback
        try:
            self._shown_by(threading.ExceptHookArgs((args.exc_type, error, at, args.thread)))
        finally:
            _restore(whole)


def _show_in_shell(
    shell: Any, kind: type[BaseException], error: BaseException, at: TracebackType, tb_offset: int | None = None
) -> None:
    """The handler that IPython calls for our errors. Its own frame is the outermost, which ``tb_offset`` hides."""
    whole = _shorten(error)
    try:
        shell.showtraceback((kind, error, error.__traceback__ if whole else at), tb_offset=tb_offset)
    finally:
        _restore(whole)


def _shorten(error: BaseException) -> _Chained:
    """Takes our frames out of an error and of those that it came of. Gives what they had; none where all is shown."""
    if not isinstance(error, HalideError) or isinstance(error, InternalError) or wanted() not in ("", "0"):
        return []
    whole = [(each, each.__traceback__) for each in _chain(error)]
    for each, at in whole:
        each.__traceback__ = _without_own(at)
    return whole


def _restore(whole: Iterable[tuple[BaseException, TracebackType | None]]) -> None:
    for error, at in whole:
        error.__traceback__ = at


def _chain(error: BaseException | None) -> list[BaseException]:
    """An error and all that it came of."""
    found: list[BaseException] = []
    left = [error]
    while left:
        each = left.pop()
        if each is not None and each not in found:
            found.append(each)
            left += [each.__cause__, each.__context__]
    return found


def _without_own(at: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames; itself where it has no other."""
    frames: list[TracebackType] = []
    each = at
    while each is not None:
        if not is_own(each.tb_frame):
            frames.append(each)
        each = each.tb_next
    shorter: TracebackType | None = None
    for each in reversed(frames):
        shorter = TracebackType(shorter, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shorter or at
