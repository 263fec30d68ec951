"""Judging in processes of their own: a crash or a hang of one case is that case's verdict, not the fuzzer's end.

In: cases, each with its judges and a key. Out: verdicts with their keys, in the order in which they are ready.

A worker judges one case at a time, and has the next one before it is done: it never waits for the parent, which draws
up orders and writes journals meanwhile. It is replaced after a crash, after a case that takes too long, and after
LIFETIME cases, as compiled code is never unloaded.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.verdict import Outcome, Verdict

SLOW_S = 300.0
"""A case that takes more of the processors' time fails, whether it would end or not: nobody waits longer for a
certificate. That is less than the steps that one may spend in all (``TOTAL`` questions' worth) can take."""
_ASLEEP = 60
"""A worker that took no time at so many looks, a second apart, without waiting for a processor, waits for nothing."""
_LOOK_S = 1.0
LIFETIME = 150
_AHEAD = 2
"""So many cases a worker has: the one under way, and the next."""
_GARBAGE = 50_000
"""So many objects more than were freed before cycles are looked for: trees have none, and a tenth of the time goes."""

Task = tuple[int, Any, Judges]
"""A key, a Case or what another ``serve`` makes one of, and who judges it."""


def _serve(pipe: Connection) -> None:
    gc.set_threshold(_GARBAGE)
    while True:
        task = pipe.recv()
        if task is None:
            return
        _, case, judges = task
        pipe.send(judge(case, judges))


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    tasks: deque[Task] = field(default_factory=deque)
    """The case under way, and those that wait."""
    since_s: float = 0.0
    """The time of the processors that the worker had taken when it began."""
    last_s: float = 0.0
    asleep: int = 0
    """At how many looks in a row it had taken no more."""
    given: int = 0

    def begin(self) -> None:
        """Notes that a case begins."""
        self.asleep = 0
        self.since_s = self.last_s = _taken_s(self.process)

    def overdue(self, slow_s: float) -> bool:
        """True where the case has had its time. That is the processors': a busy machine is no reason to fail."""
        taken = _taken_s(self.process)
        self.asleep = self.asleep + 1 if taken == self.last_s and not _wants_a_core(self.process) else 0
        self.last_s = taken
        return taken - self.since_s > slow_s or self.asleep >= _ASLEEP


def _family(process: BaseProcess) -> list[psutil.Process]:
    """A process and what it started, C compilers above all."""
    try:
        own = psutil.Process(process.pid)
        return [own, *own.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _taken_s(process: BaseProcess) -> float:
    """The processors' time that a process and its children took."""
    taken = 0.0
    for each in _family(process):
        with suppress(psutil.NoSuchProcess):
            taken += sum(each.cpu_times()[:4])
    return taken


def _wants_a_core(process: BaseProcess) -> bool:
    states = set()
    for each in _family(process):
        with suppress(psutil.NoSuchProcess):
            states.add(each.status())
    return not states.isdisjoint((psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP))


class Workers:
    """Some worker processes, each of which runs ``serve``. A context manager: they end with it.

    ``preload``: a module that they have from a server that they are forked off, which costs nothing for each."""

    def __init__(
        self, jobs: int, *, slow_s: float = SLOW_S, serve: Callable[[Connection], None] = _serve, preload: str = ""
    ) -> None:
        self._serve = serve
        self._context: ForkServerContext | SpawnContext = multiprocessing.get_context("spawn")
        if preload:
            self._context = multiprocessing.get_context("forkserver")
            self._context.set_forkserver_preload([preload])
        self._slow_s = slow_s
        self._workers = [self._started() for _ in range(jobs)]

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            self._end(worker)

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self._serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _end(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()

    def _replace(self, worker: _Worker) -> _Worker:
        """A fresh worker in the place of one, which has the cases that this one did not come to."""
        self._end(worker)
        fresh = self._started()
        self._workers[self._workers.index(worker)] = fresh
        for task in worker.tasks:
            self._send(fresh, task)
        return fresh

    def judge(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Verdict]]:
        """The verdict on each task."""
        waiting = iter(tasks)
        for worker in self._workers:
            self._give(worker, waiting)
        looked = time.monotonic()
        while running := {w.pipe: w for w in self._workers if w.tasks}:
            for pipe in wait(list(running), timeout=_LOOK_S):
                assert isinstance(pipe, Connection)
                worker = running.pop(pipe)
                key = worker.tasks.popleft()[0]
                verdict = self._taken(worker)
                if verdict.kind == "crash" or (not worker.tasks and worker.given >= LIFETIME):
                    worker = self._replace(worker)
                elif worker.tasks:
                    worker.begin()
                yield key, verdict
                self._give(worker, waiting)
            if time.monotonic() < looked + _LOOK_S:
                continue
            looked = time.monotonic()
            for worker in running.values():
                if worker.overdue(self._slow_s):
                    key = worker.tasks.popleft()[0]
                    worker = self._replace(worker)
                    why = f"more than {self._slow_s:.0f} s of a processor, or asleep"
                    yield key, Verdict(Outcome.MISMATCH, "slow case", why)
                    self._give(worker, waiting)

    def one(self, case: Case, judges: Judges) -> Verdict:
        """The verdict on one case."""
        ((_, verdict),) = self.judge([(0, case, judges)])
        return verdict

    def _give(self, worker: _Worker, waiting: Iterator[Task]) -> None:
        """Cases ahead, as long as the worker's time is not up."""
        while len(worker.tasks) < _AHEAD and worker.given < LIFETIME and (task := next(waiting, None)) is not None:
            self._send(worker, task)

    def _send(self, worker: _Worker, task: Task) -> None:
        if not worker.tasks:
            worker.begin()
        worker.given += 1
        worker.tasks.append(task)
        worker.pipe.send(task)

    def _taken(self, worker: _Worker) -> Verdict:
        try:
            verdict = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            return Verdict(Outcome.MISMATCH, "crash", f"the worker died: exit code {worker.process.exitcode}")
        assert isinstance(verdict, Verdict)
        return verdict
