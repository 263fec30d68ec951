"""Judging in processes of their own: a crash or a hang of one case is that case's verdict, not the fuzzer's end.

In: cases, each with its judges and a key. Out: verdicts with their keys, in the order in which they are ready.

A worker takes one case at a time. It is replaced after a crash, after a case that takes too long, and after LIFETIME
cases, as compiled code is never unloaded.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.verdict import Outcome, Verdict

SLOW_S = 300.0
"""A case that takes longer fails, whether it would end or not: nobody waits longer for a certificate. That is less than
the steps that one may spend in all (``TOTAL`` questions' worth) can take."""
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
    since: float = 0.0
    served: int = 0


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
                if time.monotonic() - worker.since > self._slow_s:
                    del running[worker.pipe]
                    fresh = self._replace(worker)
                    yield worker.key, Verdict(Outcome.MISMATCH, "slow case", f"more than {self._slow_s:.0f} s")
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
        worker.key, worker.since = task[0], time.monotonic()
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
