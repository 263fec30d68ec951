"""Judging in processes of their own: a crash or a hang of one case is that case's verdict, not the fuzzer's end.

In: cases, each with its judges and a key. Out: verdicts with their keys, in the order in which they are ready.

A worker takes one case at a time. It is replaced after a crash, after a case that takes too long, and after LIFETIME
cases, as compiled code is never unloaded.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
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
LIFETIME = 150
_GARBAGE = 50_000
"""So many objects more than were freed before cycles are looked for: trees have none, and a tenth of the time goes."""

Task = tuple[int, Any, Judges]
"""A key, a Case or what another ``serve`` makes one of, and who judges it."""


def _serve(pipe: Connection) -> None:
    gc.freeze()
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
    key: int = -1
    """The case under way; -1 while there is none."""
    since_s: float = 0.0
    """The time of the processors that the worker had taken when it began."""
    last_s: float = 0.0
    asleep: int = 0
    """At how many looks in a row it had taken no more."""
    served: int = 0

    def begin(self, key: int) -> None:
        """Notes that a case begins."""
        self.key, self.asleep = key, 0
        self.since_s = self.last_s = _taken_s(self.process)

    def overdue(self, slow_s: float) -> bool:
        """Whether the case has had its time. That is the processors': a busy machine is no reason to fail."""
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
    """Some worker processes, each of which runs ``serve``. A context manager: they end with it."""

    def __init__(self, jobs: int, *, slow_s: float = SLOW_S, serve: Callable[[Connection], None] = _serve) -> None:
        self._serve = serve
        self._context = multiprocessing.get_context("spawn")
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
        self._end(worker)
        fresh = self._started()
        self._workers[self._workers.index(worker)] = fresh
        return fresh

    def judge(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Verdict]]:
        """The verdict on each task."""
        waiting = iter(tasks)
        running = {w.pipe: w for w in self._workers if self._give(w, waiting)}
        while running:
            ready = wait(list(running), timeout=1.0)
            for pipe in ready:
                assert isinstance(pipe, Connection)
                worker = running.pop(pipe)
                yield worker.key, self._taken(worker)
                fresh = self._rested(worker)
                if self._give(fresh, waiting):
                    running[fresh.pipe] = fresh
            for worker in list(running.values()):
                if worker.overdue(self._slow_s):
                    del running[worker.pipe]
                    fresh = self._replace(worker)
                    why = f"more than {self._slow_s:.0f} s of a processor, or asleep"
                    yield worker.key, Verdict(Outcome.MISMATCH, "slow case", why)
                    if self._give(fresh, waiting):
                        running[fresh.pipe] = fresh

    def one(self, case: Case, judges: Judges) -> Verdict:
        """The verdict on one case."""
        ((_, verdict),) = self.judge([(0, case, judges)])
        return verdict

    def _give(self, worker: _Worker, waiting: Iterator[Task]) -> bool:
        task = next(waiting, None)
        if task is None:
            return False
        worker.begin(task[0])
        worker.pipe.send(task)
        return True

    def _taken(self, worker: _Worker) -> Verdict:
        try:
            verdict = worker.pipe.recv()
        except EOFError:
            worker.process.join()
            worker.served = LIFETIME
            return Verdict(Outcome.MISMATCH, "crash", f"the worker died: exit code {worker.process.exitcode}")
        assert isinstance(verdict, Verdict)
        worker.served += 1
        return verdict

    def _rested(self, worker: _Worker) -> _Worker:
        """The worker, or a new one where its time is up."""
        return worker if worker.served < LIFETIME else self._replace(worker)
