"""Forks in the interpreter: threads that run one at a time, in an order that is drawn, and what they may see.

In: the two sides of a Fork as closures, and its semaphores. Out: both are run; or a DeadlockError; or the RaceError of
a read or a write of memory that nothing orders with a write of the other thread.

    fork filled = 0: { f[0] = 1; release filled } beside: { acquire filled; g[0] = f[0] }     runs
    fork filled = 0: { f[0] = 1; release filled } beside: g[0] = f[0]                         RaceError

What orders them: vector clocks. A thread's clock counts its releases; a release leaves the clock with the semaphore,
and the acquire that takes that count takes it in. An access that does not know the clock of the last write of a cell,
or a write that does not know those of its reads, is a race, whatever the order in which they ran.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from halide_core.ir import Stmt
from halide_core.lowering.interpreter.memory_model import Cell, Memory, RaceError, StuckError

_SHARE = 0.1
"""The probability that a thread gives its turn away where it need not."""

Clock = dict[int, int]
"""Of each thread how many of its steps are known to be over."""


class DeadlockError(StuckError):
    """All threads wait."""


class _StoppedError(StuckError):
    """Another thread is stuck: this one ends."""


@dataclass(eq=False)
class _Thread:
    number: int
    clock: Clock
    turn: threading.Event = field(default_factory=threading.Event)
    waits: Callable[[], bool] | None = None
    """The condition that it waits for."""


@dataclass(eq=False)
class _Semaphore:
    count: int
    first: int
    released: list[Clock] = field(default_factory=list)
    acquired: int = 0


@dataclass(eq=False)
class _CellUse:
    """The last write of a cell, and the reads since: each by a thread and its step."""

    write: tuple[int, int] | None = None
    reads: Clock = field(default_factory=dict)


def _take_in(clock: Clock, other: Clock) -> None:
    for number, steps in other.items():
        clock[number] = max(clock.get(number, 0), steps)


class Threads:
    """The threads of a run, and the accesses to the memory that they share: what ``Races`` is for a loop."""

    takes_turns = False
    """No update of memory is left to chance by a fork."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, shuffle: random.Random | None) -> None:
        """Another run, without threads yet."""
        self._random = shuffle or random.Random(0)
        self._now = _Thread(0, {0: 1})
        self._running: list[_Thread] = []
        """The sides of forks that have not come to their end, nor to a fork of their own."""
        self._count = 1
        self._stopped = False
        """True where one of them is stuck: the others end."""
        self._uses: dict[tuple[Memory, int], _CellUse] = {}

    # -- turns

    def fork(self, *sides: Callable[[], None]) -> None:
        """Runs all of them."""
        own = self._now
        if own in self._running:
            self._running.remove(own)
        threads = [_Thread(self._count + k, {**own.clock, self._count + k: 1}) for k in range(len(sides))]
        self._count += len(sides)
        self._running += threads
        own.clock[own.number] += 1
        left = list(threads)

        def run(thread: _Thread, side: Callable[[], None]) -> None:
            thread.turn.wait()
            thread.turn.clear()
            ended = False
            try:
                if not self._stopped:
                    side()
                ended = True
            finally:
                self._stopped = self._stopped or not ended
                self._running.remove(thread)
                left.remove(thread)
                if left:
                    self._let_go()
                else:
                    self._now = own
                    self._running += [own] if own.number else []
                    own.turn.set()

        with ThreadPoolExecutor(len(sides)) as pool:
            runs = [pool.submit(run, thread, side) for thread, side in zip(threads, sides, strict=True)]
            self._let_go()
            own.turn.wait()
            own.turn.clear()
        for thread in threads:
            _take_in(own.clock, thread.clock)
        stuck = [e for e in (each.exception() for each in runs) if e is not None]
        for e in sorted(stuck, key=lambda e: isinstance(e, _StoppedError)):
            raise e

    def _let_go(self) -> None:
        """Gives the turn to any thread that can go on."""
        ready = [t for t in self._running if self._stopped or t.waits is None or t.waits()]
        if not ready:
            self._stopped = True
            raise DeadlockError("all threads wait for one another")
        self._now = self._random.choice(ready)
        self._now.turn.set()

    def step(self) -> None:
        """A place where another thread may go on; seldom does one."""
        if self._random.random() < _SHARE:
            self._pause(None)

    def _pause(self, until: Callable[[], bool] | None) -> None:
        own = self._now
        own.waits = until
        self._let_go()
        own.turn.wait()
        own.turn.clear()
        own.waits = None
        if self._stopped:
            raise _StoppedError("another thread is stuck")

    # -- semaphores

    @staticmethod
    def semaphore(first: int) -> _Semaphore:
        """A semaphore with its first count."""
        return _Semaphore(first, first)

    def acquire(self, semaphore: _Semaphore) -> None:
        """Waits for a count, and knows from here on what was done before it was given."""
        self._pause(lambda: semaphore.count > 0)
        semaphore.count -= 1
        semaphore.acquired += 1
        given = semaphore.acquired - semaphore.first
        if given > 0:
            _take_in(self._now.clock, semaphore.released[given - 1])

    def release(self, semaphore: _Semaphore) -> None:
        """Gives a count, and what is known here."""
        own = self._now
        semaphore.count += 1
        semaphore.released.append(dict(own.clock))
        own.clock[own.number] += 1
        self.step()

    # -- memory

    def _use(self, memory: Memory, at: int) -> _CellUse:
        return self._uses.setdefault((memory, at), _CellUse())

    def read(self, memory: Memory, at: int, statement: Stmt) -> None:
        """The thread whose turn it is reads a cell."""
        use, own = self._use(memory, at), self._now
        if use.write is not None and own.clock.get(use.write[0], 0) < use.write[1]:
            raise RaceError(memory.name, "a thread reads what another one writes", statement)
        use.reads[own.number] = own.clock[own.number]

    def write(self, memory: Memory, at: int, value: Cell, statement: Stmt) -> None:
        """The thread whose turn it is writes a cell."""
        use, own = self._use(memory, at), self._now
        known = [use.write] if use.write is not None else []
        for number, step in [*known, *use.reads.items()]:
            if own.clock.get(number, 0) < step:
                raise RaceError(memory.name, "a thread writes what another one uses", statement)
        use.write, use.reads = (own.number, own.clock[own.number]), {}
