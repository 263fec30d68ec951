"""The applications of the benchmarks compute what numpy does, under every schedule; the harness reports honestly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from benchmarks import compile_time, report, run
from benchmarks.apps import APPS, max_filter
from benchmarks.apps.app import Tolerance
from benchmarks.measure import Outcome, Prepared, Row, Sides, measure, measure_start
from benchmarks.peer import PeerMissingError, peer_python
from benchmarks.processes import WorkerError, WorkerLostError, WorkerProcess
from benchmarks.worker import HALIDE, OURS, compile_app

ROOT = Path(__file__).resolve().parents[2]
LONG = {"local_laplacian", "interpolate"}
"""Compiling these takes seconds: one schedule of each is enough here, the benchmarks check the others."""

CASES = [
    (name, schedule)
    for name, app in APPS.items()
    for schedule in app.schedules
    if name not in LONG or schedule == "plain"
]


@pytest.mark.parametrize(("name", "schedule"), CASES)
def test_app_is_equal_to_numpy(name: str, schedule: str) -> None:
    app = APPS[name]
    size = app.sizes["small"]
    inputs, output = app.inputs(size), app.empty_output(size)
    built = app.build(hl, size)
    app.schedules[schedule](built)
    built.output.compile_to_callable(list(built.arguments))(*inputs, output)
    assert app.tolerance.difference(output, app.reference(inputs, size)) == ""


@pytest.mark.parametrize("name", [name for name in APPS if name not in LONG])
def test_scalars_and_vectors_give_the_same_bits(name: str) -> None:
    app, found = APPS[name], {}
    size = app.sizes["small"]
    given = [hl.Buffer(i) if isinstance(i, np.ndarray) else i for i in app.inputs(size)]
    for schedule in app.schedules:
        run, _ = compile_app(hl, name, schedule, size)
        out = app.empty_output(size)
        run(*given, hl.Buffer(out))
        found[schedule] = out.tobytes()
    assert len(found) > 1 and len(set(found.values())) == 1


def test_every_app_has_a_plain_and_an_expert_schedule() -> None:
    assert len(APPS) == 12
    for app in APPS.values():
        assert {"plain", "expert"} <= app.schedules.keys()
        assert {"full", "small"} <= app.sizes.keys()
        assert app.work(app.sizes["full"]).operations > 0


def test_the_disc_of_max_filter_is_the_one_that_is_defined() -> None:
    """The reference takes a short cut of its own; here it is held against the definition."""
    size = (12, 9, 3)
    (image,) = max_filter.APP.inputs(size)
    assert isinstance(image, np.ndarray)
    wanted = np.empty_like(image)
    for (c, y, x), _ in np.ndenumerate(image):
        near = [
            image[c, min(max(y + dy, 0), 8), min(max(x + dx, 0), 11)]
            for dy in range(-3, 4)
            for dx in range(-3, 4)
            if dx * dx + dy * dy <= 3.25**2
        ]
        wanted[c, y, x] = max(near)
    np.testing.assert_array_equal(max_filter.APP.reference((image,), size), wanted)


def test_tolerance_counts_what_is_off() -> None:
    a, b = np.arange(10.0), np.arange(10.0)
    b[3] += 1
    assert Tolerance().difference(a, b) == "1 of 10 values are off, by up to 1"
    assert Tolerance(absolute=1).difference(a, b) == ""
    assert Tolerance(share=0.1).difference(a, b) == ""
    assert Tolerance(absolute=9).difference(np.full(10, np.nan), b) == "not finite"
    assert "expected" in Tolerance().difference(a[1:], b)
    assert "expected" in Tolerance().difference(a.astype(np.float32), b)


# ---------------------------------------------------------------------------------------------------------
# The harness.


@pytest.fixture
def sides() -> Iterator[Sides]:
    """Our side alone."""
    made = Sides({OURS: [sys.executable, "-m", "benchmarks.worker", OURS]})
    yield made
    made.close()


def test_measure_times_and_checks(sides: Sides, tmp_path: Path) -> None:
    row = measure(sides, Prepared(APPS["blur"], "small", tmp_path), "plain", 1, 2, check=True)
    outcome = row.outcomes[OURS]
    assert outcome.failed == outcome.wrong == ""
    assert outcome.runs >= 2
    assert outcome.run_s is not None
    assert outcome.compile_s is not None
    assert outcome.cpu_s is not None
    assert 0 < outcome.run_s < outcome.compile_s


def test_measure_finds_a_wrong_result(sides: Sides, tmp_path: Path) -> None:
    prepared = Prepared(APPS["blur"], "small", tmp_path)
    prepared.wanted()[5, 7] += 1
    row = measure(sides, prepared, "plain", 1, 1, check=True)
    assert row.outcomes[OURS].wrong == "1 of 32768 values are off, by up to 1"


def test_measure_reports_what_is_refused_and_goes_on(sides: Sides, tmp_path: Path) -> None:
    prepared = Prepared(APPS["blur"], "small", tmp_path)
    prepared.inputs[0] = str(tmp_path / "missing.npy")
    refused = measure(sides, prepared, "plain", 1, 1, check=True).outcomes[OURS]
    assert refused.failed.startswith("FileNotFoundError")
    assert refused.run_s is None
    prepared = Prepared(APPS["blur"], "small", tmp_path)
    assert measure(sides, prepared, "plain", 1, 1, check=True).outcomes[OURS].failed == ""


def test_worker_that_dies_is_lost_with_its_last_words() -> None:
    code = "import os, sys; print('{}', flush=True); input(); print('why', file=sys.stderr, flush=True); os.abort()"
    with (
        WorkerProcess([sys.executable, "-c", code], {}) as worker,
        pytest.raises(WorkerLostError, match="SIGABRT: why"),
    ):
        worker.ask(do="run", count=1)


def test_worker_that_can_not_start_says_why() -> None:
    with pytest.raises(WorkerError, match="ended with status 3: no such thing"):
        WorkerProcess([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"], {})


def test_start_is_measured_cold_and_warm(tmp_path: Path) -> None:
    prepared = Prepared(APPS["blur"], "small", tmp_path)
    start = measure_start(sys.executable, OURS, prepared, "plain", 1, cached=True, repeat=1)
    assert start.failed == ""
    assert start.cold_s is not None
    assert start.warm_s is not None
    assert start.peak_mib is not None
    assert 0 < start.warm_s < start.cold_s
    assert 20 < start.peak_mib < 1000


def test_start_that_fails_says_why(tmp_path: Path) -> None:
    prepared = Prepared(APPS["blur"], "small", tmp_path)
    prepared.inputs[0] = str(tmp_path / "missing.npy")
    failed = measure_start(sys.executable, OURS, prepared, "plain", 1, cached=False, repeat=1).failed
    assert "FileNotFoundError" in failed


def test_peer_without_halide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PeerMissingError, match="can't import halide"):
        peer_python(str(tmp_path / "nowhere"))
    with pytest.raises(PeerMissingError, match=f'"{Path.cwd()}/no/python" can'):
        peer_python("no/python")  # as seen from the user's folder


def _outcome(seconds: float) -> Outcome:
    return Outcome(run_s=seconds, cpu_s=2 * seconds, runs=1, compile_s=0.1)


def rows() -> list[Row]:
    """Twice as slow, half as slow, and one that was refused."""
    return [
        Row("blur", "expert", 1, {OURS: _outcome(0.002), HALIDE: _outcome(0.001)}),
        Row("sgemm", "expert", 1, {OURS: _outcome(0.001), HALIDE: _outcome(0.002)}),
        Row("harris", "expert", 1, {OURS: Outcome(failed="ScheduleError: no Tuples\nat x"), HALIDE: _outcome(0.1)}),
    ]


def test_report_says_what_is_not_there_yet() -> None:
    assert [report.ratio(r) for r in rows()] == [2.0, 0.5, None]
    text = _text(report.run_table(rows()))
    assert "not yet: ScheduleError: no Tuples" in text
    assert "1.00" in text  # the geometric mean of 2 and 1/2
    assert "1 of 3 at most 1.05" in text


def _text(table: Any) -> str:
    from rich.console import Console  # noqa: PLC0415 - only here

    console = Console(width=200, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(table)
    console.file.close()
    return console.export_text()


def test_report_is_written(tmp_path: Path) -> None:
    report.write_json(tmp_path / "out" / "bench.json", {"rows": rows()})
    document = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert document["rows"][0]["outcomes"][OURS]["run_s"] == 0.002
    assert report.plot(tmp_path / "out" / "bench.png", rows())
    assert (tmp_path / "out" / "bench.png").stat().st_size > 5000
    assert not report.plot(tmp_path / "none.png", [])


@pytest.mark.parametrize("schedule", ["plain", "none"])
def test_bench_runs_without_a_peer(schedule: str, tmp_path: Path) -> None:
    command = ["--small", "--apps", "blur", "--schedules", schedule, "--threads", "1", "--repeat", "1", "--no-start"]
    done = _bench(*command, "--peer", "/nowhere/python", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "can't import halide" in done.stdout
    assert "Our side runs alone." in done.stdout
    document = json.loads((tmp_path / "bench.json").read_text())
    assert [(r["app"], r["schedule"], r["ratio"]) for r in document["rows"]] == [("blur", schedule, None)]


def test_what_was_measured_is_kept_when_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = [rows()[0]]

    def stop_after_one(*_: object, **__: object) -> Row:
        if not measured:
            raise KeyboardInterrupt
        return measured.pop()

    monkeypatch.setattr(run, "measure", stop_after_one)
    options = ["--small", "--apps", "blur", "--no-start", "--no-peer", "--out", str(tmp_path)]
    assert run.main(options) == 0
    document = json.loads((tmp_path / "bench.json").read_text())
    assert [r["ratio"] for r in document["rows"]] == [2.0]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--apps", "blurr", 'there is no "blurr"; there are: blur, unsharp'),
        ("--schedules", "best", 'there is no "best"'),
        ("--threads", "1,x", 'not "1,x"'),
        ("--repeat", "0", "at least 1"),
    ],
)
def test_bench_refuses_what_it_does_not_know(option: str, value: str, message: str) -> None:
    done = _bench(option, value)
    assert done.returncode == 2
    assert message in done.stderr


def _bench(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *options],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_first_pixel_is_timed_without_and_with_a_cache() -> None:
    assert min(compile_time.first_pixel_seconds(1)) > 0


@pytest.mark.parametrize("script", ["bounds", "compile_time", "run"])
def test_scripts_start_from_their_own_folder(script: str) -> None:
    command = [sys.executable, "-m", f"benchmarks.{script}", "--help"]
    done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
