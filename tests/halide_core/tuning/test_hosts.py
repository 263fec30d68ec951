"""Candidates on Dask workers: they are compiled there, one that is marked measures, and none is lost with a worker."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import halide_core as hl
from halide_core.tuning.hosts import Hosts
from halide_core.tuning.job import EXPECTED, PROBLEM, Ending, Job, JobOutcome, JobRole
from halide_core.tuning.processes import CandidateProcesses
from halide_core.tuning.session import Options, Session

pytestmark = pytest.mark.filterwarnings("default")  # of a worker's death


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers, each a process."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as made:
        yield made


class Nowhere(CandidateProcesses):
    """Does nothing here: all is done by workers."""

    def __init__(self) -> None:
        super().__init__(limit=1)

    def run(self, job: Job) -> JobOutcome:
        return JobOutcome(Ending.FAILED, reason=f"{job.role.value} here")


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of a small problem."""
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "cache"))
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.u16(x) * 3
    made = Session.of(f, [64], None, Options()).problem
    made.write(tmp_path / PROBLEM)
    with CandidateProcesses(30) as here:
        assert here.run(Job(str(tmp_path), "", JobRole.PLAIN)).result is Ending.DONE
    return {name: (tmp_path / name).read_bytes() for name in (PROBLEM, EXPECTED)}


def test_workers_compile_and_the_marked_one_measures(client: Any, problem: dict[str, bytes]) -> None:
    quiet = min(client.scheduler_info()["workers"])
    hosts = Hosts(client, problem, Nowhere(), 30, quiet)
    assert hosts.compiled([Job("", "", JobRole.COMPILE)]) == [JobOutcome(Ending.DONE)]
    outcome = hosts.run(Job("", "", JobRole.MEASURE))
    assert outcome.result is Ending.DONE
    assert outcome.seconds > 0
    assert Hosts(client, problem, Nowhere(), 30, None).run(Job("", "", JobRole.MEASURE)).reason == "measure here"


class Deserted:
    """A client whose workers are gone."""

    def nthreads(self) -> dict[str, int]:
        return {}


def test_marked_worker_compiles_where_it_is_alone(problem: dict[str, bytes]) -> None:
    compiling = Job("", "", JobRole.COMPILE)
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as other:
        hosts = Hosts(other, problem, Nowhere(), 30, next(iter(other.nthreads())))
        assert hosts.compiled([compiling]) == [JobOutcome(Ending.DONE)]
    assert Hosts(Deserted(), problem, Nowhere(), 30, "tcp://quiet").compiled([compiling])[0].reason == "compile here"
    assert Hosts(Deserted(), problem, Nowhere(), 30, "tcp://quiet").run(compiling).reason == "compile here"


class Losing(Hosts):
    """The first jobs are lost, as those are whose files a dead worker alone had."""

    lose = 2

    def _submitted(self, job: Job, workers: list[str]) -> Any:
        future = super()._submitted(job, workers)
        if self.lose:
            self.lose -= 1
            future.cancel()
        return future


def test_jobs_that_are_lost_with_a_worker_are_sent_again(client: Any, problem: dict[str, bytes]) -> None:
    hosts = Losing(client, problem, Nowhere(), 30, None)
    assert hosts.compiled([Job("", "", JobRole.COMPILE)] * 3) == [JobOutcome(Ending.DONE)] * 3
    hosts.lose = 2
    hosts.stop()
    assert hosts.compiled([Job("", "", JobRole.COMPILE)])[0].reason == "compile here"


def test_worker_that_dies_loses_nothing(client: Any, problem: dict[str, bytes]) -> None:
    hosts = Hosts(client, problem, Nowhere(), 30, None)
    victim = next(iter(client.run(os.getpid).values()))

    def kill() -> None:
        time.sleep(0.4)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = hosts.compiled([Job("", "", JobRole.COMPILE) for _ in range(4)])
    killer.join()
    assert outcomes == [JobOutcome(Ending.DONE)] * 4
