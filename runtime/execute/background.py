"""Optimized code, made in a thread while pipelines run the code that was there first.

In: Optimizations, from any thread. Out: each pipeline that waits for one takes the library over, between two calls.

    BACKGROUND.add(work)   ->   later: pipeline.take_over(library)

One is compiled at a time, the newest first, since that is what the user looks at. One that no pipeline waits for any
more is dropped; where it is being compiled, as soon as another comes. No exit waits: the compilers are ended then. A
process can be forked at any time: it has none of this, and its pipelines keep the code they have.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

from halide_core.errors import ToolchainError
from halide_core.runtime.compile.cache import CompileCache
from halide_core.runtime.compile.processes import Stoppable
from halide_core.runtime.compile.sources import compile_units, unpacked
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler

_PATIENCE_S = 10.0
"""For compilers that were killed to be gone: less than a disk that hangs takes."""


class Improvable(Protocol):
    """A pipeline that runs its first code."""

    def take_over(self, library: Any) -> None:
        """Runs a library's code from the next call on. From another thread."""
        ...

    def stay(self, reason: str) -> None:
        """Keeps the code, and says why when it is called next. From another thread."""
        ...


@dataclass(eq=False)
class Optimization:
    """The second compile of a program.

    Args:
        key: that of the optimized code in the cache.
        sources: its packed C.
        opened: what makes a library of a file.
    """

    key: str
    sources: bytes
    options: CompileOptions
    compiler: Compiler
    cache: CompileCache
    opened: Callable[[Path], Any]
    waiting: list[weakref.ref[Improvable]] = field(default_factory=list)
    within: Stoppable = field(default_factory=Stoppable)
    done: threading.Event = field(default_factory=threading.Event)

    def pipelines(self) -> list[Improvable]:
        """Those that wait for it and still exist."""
        found = [reference() for reference in self.waiting]
        return [pipeline for pipeline in found if pipeline is not None]


class Background:
    """The Optimizations of this process, and the thread that does them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may compile, too, in the middle of anything
        self._quiet = threading.RLock()
        """Held where a fork would copy something halfway: an open pipe, the lock of a file."""
        self._queue: dict[str, Optimization] = {}
        """Those that wait, by key; the last one is the newest."""
        self._running: Optimization | None = None
        self._thread: threading.Thread | None = None
        self._ended = False
        self._first = count()  # of threads, but one is the first
        self._watches_exit = False

    def add(self, pipeline: Improvable, work: Optimization) -> None:
        """Does an Optimization for a pipeline soon, or goes on with the one of its key."""
        self._watch()
        with self._lock:
            running = self._running
            if running is not None and running.key == work.key and not running.within.stopped:
                running.waiting.append(weakref.ref(pipeline))
                return
            known = self._queue.pop(work.key, work)
            known.waiting = [weakref.ref(each) for each in (*known.pipelines(), pipeline)]
            self._queue[work.key] = known
            if running is not None and not running.pipelines():
                running.within.stop()
            if self._ended or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._serve, name="halide_core_background", daemon=True)
            with suppress(RuntimeError):  # there are no more threads, or Python is ending: the first code will do
                self._thread.start()

    def settle(self, key: str) -> None:
        """Waits for a compile of this key that goes on: who wants the optimized code at once need not make it, too."""
        with self._lock:
            running = self._running
        if running is not None and running.key == key:
            running.done.wait()

    def wait(self) -> None:
        """Waits until all is done: for what measures or tests it."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join()

    def stop(self) -> None:
        """Ends it for good, with what is being compiled."""
        with self._lock:
            self._ended = True
            self._queue.clear()
            thread = self._thread
            if self._running is not None:
                self._running.within.stop()
        if thread is not None and thread.is_alive():
            thread.join(_PATIENCE_S)

    # ---- exits and forks

    def _watch(self) -> None:
        """Asks, once in a process, to be told of what comes."""
        if next(self._first) == 0:
            # It asks to be told of forks: before this does, since who asks last is told first, and the thread must have
            # let go of the locks of files when filelock looks at them.
            import filelock  # noqa: F401, PLC0415

            if hasattr(os, "register_at_fork"):
                os.register_at_fork(before=self._hold, after_in_parent=self._release, after_in_child=self._forked)
            atexit.register(self.stop)
        if not self._watches_exit:
            self._watches_exit = True
            others = sys.modules.get("multiprocessing.util")
            if others is not None:  # its processes end without what atexit was told
                others.Finalize(None, self.stop, exitpriority=0)

    def _hold(self) -> None:
        self._lock.acquire()
        self._quiet.acquire()

    def _release(self) -> None:
        self._quiet.release()
        self._lock.release()

    def _forked(self) -> None:
        """A forked process has none of its parent's threads, and what they compile is not its own."""
        self._lock, self._quiet = threading.RLock(), threading.RLock()
        self._queue, self._running, self._thread = {}, None, None
        self._watches_exit = False

    # ---- the thread

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            try:
                self._do(work)
            finally:
                work.done.set()

    def _next(self) -> Optimization | None:
        """The newest Optimization that somebody waits for."""
        with self._lock:
            self._running = None
            while self._queue:
                _, work = self._queue.popitem()
                if work.pipelines():
                    work.within = Stoppable(self._quiet)
                    self._running = work
                    return work
            self._thread = None
            return None

    def _do(self, work: Optimization) -> None:
        try:
            library = self._made(work)
        except (ToolchainError, OSError, Warning) as error:  # filters may make errors of what the cache warns of
            reason = error.message if isinstance(error, ToolchainError) else str(error)
            for pipeline in self._done(work):
                if not work.within.stopped:
                    pipeline.stay(reason)
            return
        for pipeline in self._done(work):
            pipeline.take_over(library)

    def _done(self, work: Optimization) -> list[Improvable]:
        """The pipelines that wait for it. Those that come from now on ask the cache."""
        with self._lock:
            self._running = None
            return work.pipelines()

    def _made(self, work: Optimization) -> Any:
        def build(path: Path) -> None:
            compile_units(unpacked(work.sources), path, work.options, work.compiler, work.within)

        path = work.cache.build_apart(work.key, build, self._quiet)
        with suppress(OSError), self._quiet:
            return work.opened(path)
        work.cache.discard(work.key)  # it was damaged or removed meanwhile
        path = work.cache.build_apart(work.key, build, self._quiet)
        with self._quiet:
            return work.opened(path)


BACKGROUND: Final = Background()
"""That of this process."""
