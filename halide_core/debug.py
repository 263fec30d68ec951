"""HL_DEBUG: what the compiler prints of itself.

``HL_DEBUG=1`` prints the names and times of the passes, ``2`` the program after each, and a pass's name the program
after that pass alone. Any makes tracebacks show the compiler's frames (``tracebacks``).
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from halide_core.ir import Stmt
from halide_core.ir.printer import format_stmt


def wanted() -> str:
    """The setting, read anew each time so that a script can change it."""
    return os.environ.get("HL_DEBUG", "")


def show(name: str, stmt: Stmt, seconds: float) -> None:
    """Prints what the setting asks for, on stderr. The program's text is the same in every run; the time is not."""
    setting = wanted()
    if setting in ("1", "2"):
        print(f"[halide_core] {name}: {seconds * 1e3:.1f} ms", file=sys.stderr)
    if setting in ("2", name):
        print(f"--- {name}\n{format_stmt(stmt)}", file=sys.stderr)


_recursion_lock = threading.Lock()
_inside = 0
_limit_outside = 0


@contextmanager
def deep_recursion(limit: int = 100_000) -> Iterator[None]:
    """Lets recursive passes follow expressions as deep as users write them."""
    global _inside, _limit_outside
    with _recursion_lock:  # the limit belongs to the whole process: the first in raises it, the last out restores it
        if _inside == 0:
            _limit_outside = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_outside, limit))
        _inside += 1
    try:
        yield
    finally:
        with _recursion_lock:
            _inside -= 1
            if _inside == 0:
                sys.setrecursionlimit(_limit_outside)


_collection_lock = threading.Lock()
_growing = 0
_collected_outside = True
_kept = 0
"""The blocks of memory that were in use after the last collection of all, or at first."""

_ROOM = 250_000
"""So many blocks more are no reason to look at all: some 20 MB."""


@contextmanager
def without_collections() -> Iterator[None]:
    """Lets trees grow without looking for cycles in them again and again: they have none. What others leave behind in
    cycles meanwhile is found afterwards."""
    global _growing, _collected_outside
    with _collection_lock:  # it is for the whole process: the first in ends them, the last out has them again
        if _growing == 0:
            _collected_outside = gc.isenabled()
            gc.disable()
        _growing += 1
    try:
        yield
    finally:
        with _collection_lock:
            _growing -= 1
            if _growing == 0 and _collected_outside:
                _settle()
                gc.enable()


def _settle() -> None:
    """Counts all objects as old ones, so that the next collection does not walk through every node that was made
    meanwhile; collects them once twice as many blocks of memory are in use as were the last time, and some more, so
    that cycles do not pile up."""
    global _kept
    if gc.get_freeze_count():
        return  # somebody keeps objects apart, and they would come back
    gc.freeze()
    gc.unfreeze()
    if _kept and sys.getallocatedblocks() < 2 * _kept + _ROOM:
        return
    if _kept:
        gc.collect()
    _kept = sys.getallocatedblocks()


class Stopwatch:
    """Seconds since it was made or last read."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.perf_counter()
        seconds, self._since = now - self._since, now
        return seconds
