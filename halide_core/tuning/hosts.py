"""Candidates on other hosts, by Dask: workers compile, and one that is marked as quiet measures.

In: a ``dask.distributed.Client``, and the files of a problem. Out: Outcomes, as of processes here.

    Hosts(client, files, here, limit=30, measure_on="tcp://quiet:4000").compiled(jobs)

Dask gives the work of a worker that dies to another one; what was measured before is here, and in the journal. Hosts
that share a cache folder (``HL_CACHE_DIR``) compile for one another; otherwise the one that measures compiles again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from halide_core.tuning.job import Ending, Job, JobOutcome
from halide_core.tuning.processes import CandidateProcesses

_SPARE = 3.0
"""Times the limit of a candidate, beyond those that are before it: a worker that died is noticed meanwhile."""


class Hosts:
    """The workers of a client.

    Args:
        files: those of a Job's folder, by name.
        here: measures where no worker is marked for it, and does all where none is left.
        measure_on: the address of the worker that measures.
    """

    def __init__(
        self, client: Any, files: Mapping[str, bytes], here: CandidateProcesses, limit: float, measure_on: str | None
    ) -> None:
        self._client = client
        self._files = dict(files)
        self._sent: Any = None
        self._here = here
        self._limit = limit
        self._quiet = measure_on
        self._live: list[Any] = []
        self._stopped = False

    def compiled(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        """Compiles on all workers but the quiet one, where there are others."""
        workers = self._workers()
        if not workers:
            return self._here.compiled(jobs)
        others = [w for w in workers if w != self._quiet]
        futures = [self._submitted(job, others) for job in jobs]
        self._live = list(futures)
        patience = self._limit * (len(jobs) + _SPARE)
        return [self._outcome(future, job, others, patience) for future, job in zip(futures, jobs, strict=True)]

    def run(self, job: Job) -> JobOutcome:
        """Runs one where nothing else runs."""
        if self._quiet is None or self._quiet not in self._workers():
            return self._here.run(job)
        self._live = [self._submitted(job, [self._quiet])]
        return self._outcome(self._live[0], job, [self._quiet], self._limit * _SPARE)

    def stop(self) -> None:
        """Gives up what is under way."""
        self._stopped = True
        for future in self._live:
            future.cancel()

    def _workers(self) -> list[str]:
        """The addresses of those that are alive."""
        return list(self._client.nthreads())  # asked of the scheduler now

    def _submitted(self, job: Job, workers: list[str]) -> Any:
        if self._sent is None:
            self._sent = self._client.scatter(self._files, broadcast=True, hash=False)
        # Not pure: the same job may be wanted twice. Others may take it where the workers that are meant are gone.
        return self._client.submit(
            perform_there, job.to_json(), self._sent, self._limit,
            workers=workers or None, allow_other_workers=bool(workers), pure=False, retries=2,
        )  # fmt: skip

    def _outcome(self, future: Any, job: Job, workers: list[str], patience: float) -> JobOutcome:
        """The outcome that a worker found; done here, where all that had the job died. A worker may have died before
        another had the files from it: they are sent once more, to the same workers."""
        found = self._found(future, patience)
        if found is None:
            self._sent = None  # all who had it may be gone
            if future.cancelled() and not self._stopped and self._workers():
                self._live.append(self._submitted(job, workers))
                found = self._found(self._live[-1], patience)
        return found or self._here.run(job)

    @staticmethod
    def _found(future: Any, patience: float) -> JobOutcome | None:
        """The outcome of a worker; None where there is none."""
        with suppress(CancelledError, TimeoutError):
            if future.exception(timeout=patience) is None:
                result, seconds, reason = future.result()
                return JobOutcome(Ending(result), seconds, reason)
        return None


def perform_there(text: str, files: Mapping[str, bytes], limit: float) -> tuple[str, float, str]:
    """The work of a worker: a process of its own for the candidate, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tune-") as folder, CandidateProcesses(limit) as processes:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        outcome = processes.run(replace(Job.from_json(text), folder=folder))
    return outcome.result.value, outcome.seconds, outcome.reason
