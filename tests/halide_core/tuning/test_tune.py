"""hl.tune finds a schedule, keeps it for other processes, goes on with its history, and never chooses what is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.algorithm.model import realization_order
from halide_core.autoschedule.choices import encoded
from halide_core.autoschedule.machine import machine
from halide_core.autoschedule.plan import placed, planned
from halide_core.autoschedule.stages import PipelineStages
from halide_core.autoschedule.store import StoredSchedule, keep, store_folder, store_key
from halide_core.run.automatic import choose
from halide_core.tuning.command_line import tune_script
from halide_core.tuning.job import Ending, Job, JobOutcome, JobRole
from halide_core.tuning.processes import CandidateProcesses
from halide_core.tuning.session import Options, Session

SIZES = [64, 48]
PIPELINE = """
import numpy as np
import halide_core as hl
x, y = hl.Var("x"), hl.Var("y")
image = hl.ImageParam(hl.UInt(16), 2, "image")
image.set(np.arange(70 * 50, dtype=np.uint16).reshape(50, 70))
across, f = hl.Func("across"), hl.Func("blurred")
across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
f[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
"""


def blur() -> hl.Func:
    names: dict[str, hl.Func] = {}
    exec(PIPELINE, names)
    return names["f"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of the test's own."""
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path))
    found = store_folder()
    assert found is not None
    return found


class Pretended:
    """Takes the place of processes: measures nothing, and says what a test wants."""

    def __init__(self, says: Callable[[Job], JobOutcome]) -> None:
        self.says = says
        self.jobs: list[Job] = []

    def compiled(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        return [JobOutcome(Ending.DONE) for _ in jobs]

    def run(self, job: Job) -> JobOutcome:
        self.jobs.append(job)
        return JobOutcome(Ending.DONE, 9.0) if job.role is JobRole.PLAIN else self.says(job)

    def stop(self) -> None:
        """Nothing is under way."""

    def __enter__(self) -> Pretended:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left."""


def pretend(monkeypatch: pytest.MonkeyPatch, says: Callable[[Job], JobOutcome]) -> Pretended:
    made = Pretended(says)
    monkeypatch.setattr("halide_core.tuning.session.CandidateProcesses", lambda *_: made)
    return made


def test_tune_schedules_the_funcs_and_another_process_finds_it(store: Path) -> None:
    f = blur()
    result = hl.tune(f, SIZES, trials=1, quiet=True, plot=store / "search.svg")
    assert [t.result for t in result.trials] == ["done"]
    assert result.store is not None
    assert result.seconds > 0
    assert (store / "search.svg").read_text(encoding="utf-8").startswith("<svg")
    assert np.array_equal(f.realize(SIZES), f.evaluate(SIZES))
    assert str(hl.Schedule(f)) == result.source

    code = f"{PIPELINE}f.realize({SIZES}, schedule='tuned')\nprint(hl.Schedule(f), end='')"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == result.source


def test_crashed_hung_and_wrong_candidates_are_recorded_and_never_chosen(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = [Ending.FAILED, Ending.WRONG, Ending.REFUSED]
    known: dict[str, int] = {}

    def says(job: Job) -> JobOutcome:
        number = known.setdefault(job.choice, len(known))
        if number < len(endings):
            return JobOutcome(endings[number], reason=f"case {number}")
        return JobOutcome(Ending.DONE, 5.0 - number / 10)

    pretend(monkeypatch, says)
    f = blur()
    result = hl.tune(f, SIZES, trials=6, jobs=1, quiet=True)
    assert [t.result for t in result.trials[:3]] == ["failed", "wrong", "refused"]
    assert result.counts()["done"] == len(result.trials) - 3
    best = min((t for t in result.trials if t.seconds is not None), key=lambda t: t.seconds or 0)
    assert result.seconds == best.seconds
    assert "# wrong, candidate 1: case 1" in str(result)
    assert np.array_equal(f.realize(SIZES), f.evaluate(SIZES))
    assert store.is_dir()


@pytest.mark.parametrize("later", [1.0, 3.0], ids=["faster", "slower"])
def test_search_that_is_repeated_goes_on_and_keeps_the_best(
    store: Path, monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    first = pretend(monkeypatch, lambda _: JobOutcome(Ending.DONE, 2.0))
    hl.tune(blur(), SIZES, trials=5, jobs=1, quiet=True)
    before = {job.choice for job in first.jobs}
    second = pretend(monkeypatch, lambda job: JobOutcome(Ending.DONE, 2.0 if job.choice in before else later))
    result = hl.tune(blur(), SIZES, trials=5, jobs=1, quiet=True)
    searched = [job.choice for job in second.jobs if job.hopeless < 1e9]
    assert len(searched) >= 3
    assert not before & set(searched)
    assert result.seconds == min(later, 2.0)
    assert result.model_seconds == 2.0
    assert len(list(store.glob("*.journal"))) == 1


def test_interrupt_keeps_what_was_found(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def says(_: Job) -> JobOutcome:
        nonlocal calls
        calls += 1
        if calls == 3:
            signal.raise_signal(signal.SIGINT)
        return JobOutcome(Ending.DONE, 3.0 - calls / 10)

    pretend(monkeypatch, says)
    result = hl.tune(blur(), SIZES, trials=50, jobs=1, quiet=True)
    assert result.interrupted
    assert [t.seconds for t in result.trials] == [2.9, 2.8]
    assert result.store is not None
    assert result.store.parent == store


def test_store_of_another_version_or_a_damaged_one_is_ignored(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, lambda _: JobOutcome(Ending.DONE, 1.0))
    kept = hl.tune(blur(), SIZES, trials=1, quiet=True).store
    assert kept is not None
    sound = kept.read_text(encoding="utf-8")
    f = blur()
    f.realize(SIZES, schedule="tuned")
    assert f.function.automatic is not None
    assert f.function.automatic.why.startswith("measured: ")
    for text in (sound.replace('"made_by": [\n  1,', '"made_by": [\n  0,'), sound.replace("null", "2"), "no JSON"):
        assert text != sound
        kept.write_text(text, encoding="utf-8")
        f = blur()
        f.realize(SIZES, schedule="tuned")
        assert f.function.automatic is not None
        assert not f.function.automatic.why.startswith("measured: ")
    assert store.is_dir()


@pytest.mark.parametrize("sizes", [[66, 47], [300, 200]], ids=["of the same class", "of another"])
def test_sizes_of_one_class_share_a_schedule(
    store: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    pretend(monkeypatch, lambda _: JobOutcome(Ending.DONE, 1.0))
    hl.tune(blur(), SIZES, trials=1, quiet=True)
    f = blur()
    choose([f.function], [tuple((0, n) for n in sizes)], None, "tuned")
    assert f.function.automatic is not None
    assert f.function.automatic.why.startswith("measured: ") == (sizes == [66, 47])
    assert store.is_dir()


def test_measured_measures_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pretend(monkeypatch, lambda _: JobOutcome(Ending.DONE, 1.0))
    f, g = blur(), blur()
    assert np.array_equal(f.realize(SIZES, schedule="measured"), f.evaluate(SIZES))
    count = len(asked.jobs)
    assert count > 3
    g.realize(SIZES, schedule="measured")
    assert len(asked.jobs) == count
    assert hl.Schedule(g).directives() == hl.Schedule(f).directives()
    assert len(list(store.glob("*.json"))) == 1


def test_inputs_without_data_are_drawn_and_stay_as_they_are(store: Path) -> None:
    x, y = hl.Var("x"), hl.Var("y")
    image, scale, f = hl.ImageParam(hl.Float(32), 2, "image"), hl.Param(hl.Float(32), "scale"), hl.Func("f")
    scale.set_estimate(2.0)
    f[x, y] = image[x - 3, y + 1] * scale
    f.set_estimates([(0, 64), (0, 8)])
    session = Session.of(f, None, None, Options())
    values = session.problem.values(session.problem.request())
    assert isinstance(values[0], hl.Buffer)
    assert [(values[0].dim(d).min(), values[0].dim(d).extent()) for d in (0, 1)] == [(-3, 64), (1, 8)]
    assert values[1] == 2.0
    assert image.get() is None
    assert not store.exists()


def test_tune_refuses_what_is_scheduled_and_sizes_that_are_none(store: Path) -> None:
    f = blur()
    f.vectorize(hl.Var("x"), 8)
    with pytest.raises(hl.ScheduleError, match=r"scheduled already can't be tuned: blurred\.vectorize"):
        hl.tune(f, SIZES, quiet=True)
    with pytest.raises(hl.PipelineError, match=r'\[64\] are no sizes of "blurred"'):
        hl.tune(blur(), [64], quiet=True)
    with pytest.raises(hl.ScheduleError, match="set_estimate"):
        hl.tune(blur(), quiet=True)
    assert not store.exists()


def test_program_that_fails_says_why(store: Path) -> None:
    x, image, f = hl.Var("x"), hl.ImageParam(hl.UInt(8), 1, "image"), hl.Func("f")
    f[x] = image[x]
    image.set(np.zeros(10, np.uint8))
    with pytest.raises(hl.PipelineError, match="The plain program, which all schedules are compared with, fails: "):
        hl.tune(f, [20], quiet=True)
    assert list(store.glob("*.json")) == []


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("import time; time.sleep(60)", "running it took longer than 0.5 s"),
        ("raise SystemExit('no')", "no"),
        ("print('hello')", "ended with status 0"),
    ],
    ids=["crashes", "hangs", "exits", "says nothing"],
)
def test_process_of_a_candidate_that_goes_wrong_is_an_outcome(code: str, reason: str) -> None:
    with CandidateProcesses(0.5 if "sleep" in code else 20, command=[sys.executable, "-c", code]) as processes:
        outcome = processes.run(Job("", "", JobRole.MEASURE))
    assert outcome == JobOutcome(Ending.FAILED, 0.0, reason)


def let_a_script_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undoes at the end what running a script changes in the process, what ``import halide`` gives above all."""
    for name in ("argv", "path", "meta_path"):
        monkeypatch.setattr(sys, name, list(getattr(sys, name)))
    monkeypatch.setitem(sys.modules, "halide", None)
    del sys.modules["halide"]


def test_command_line_tunes_what_a_script_runs(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    let_a_script_run(monkeypatch)
    pretend(monkeypatch, lambda _: JobOutcome(Ending.DONE, 1.0))
    script = tmp_path / "script.py"
    script.write_text(f"{PIPELINE}\nfor _ in range(2):\n    f.realize({SIZES})\n", encoding="utf-8")
    for _ in range(2):  # the second search goes on
        assert tune_script(["--trials", "2", "--quiet", str(script)]) == 0
        assert capsys.readouterr().out.count("def schedule(") == 1
    assert len(list(store.glob("*.json"))) == 1
    script.write_text(f"{PIPELINE}\nf.vectorize(x, 8)\nf.realize({SIZES})\n", encoding="utf-8")
    assert tune_script([str(script)]) == 1
    assert "ran no pipeline that has no schedule" in capsys.readouterr().err


def test_pipeline_that_cannot_be_measured_has_the_choice_of_the_model_by_default(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, lambda _: JobOutcome(Ending.FAILED, reason="it crashed"))
    monkeypatch.setattr("halide_core.run.automatic._Default.schedule", "measured")
    f = blur()
    assert np.array_equal(f.realize(SIZES), f.evaluate(SIZES))
    assert len(hl.Schedule(f)) > 0
    with pytest.raises(hl.PipelineError, match="No schedule was measured: it crashed"):
        blur().realize(SIZES, schedule="measured")
    assert list(store.glob("*.json")) == []


def test_outputs_of_several_values_and_windows_are_compared_whole(store: Path) -> None:
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 5)], "r")
    both, sums = hl.Func("both"), hl.Func("sums")
    both[x, y] = (hl.u8(x + y), hl.f32(x) * 0.5)
    sums[y] = hl.u32(0)
    sums[y] += hl.u32(both[r, y][0])
    both.set_estimates([(3, 40), (-2, 8)])
    sums.set_estimates([(1, 33)])
    result = Session.of(hl.Pipeline([both, sums]), None, None, Options(trials=1)).measure()
    assert result.counts() == {"done": 1}
    assert result.store is not None
    assert result.store.parent == store


def test_command_line_says_why_a_pipeline_was_not_tuned(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    let_a_script_run(monkeypatch)
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "halide_core.tuning.study", raising=False)
    script = tmp_path / "script.py"
    script.write_text(f"{PIPELINE}\nf.realize({SIZES})\n", encoding="utf-8")
    assert tune_script(["--quiet", str(script)]) == 1
    assert "halide-core[tune]" in capsys.readouterr().err
    assert list(store.glob("*.json")) == []


def tiled(size: int, promise: Callable[[dict[str, hl.Func]], object] = len) -> hl.Func:
    """A sum over a reduction that has register tiles where ``size``, a Param's value, is large enough."""
    n, im = hl.Param(hl.Int(32), "n"), hl.ImageParam(hl.Int(32), 2, "im")
    n.set(size)
    im.set(np.arange(size * size, dtype=np.int32).reshape(size, size))
    x, y = hl.Var("x"), hl.Var("y")
    k, r = hl.RDom([(0, 32)], "k"), hl.RDom([(0, n), (0, n)], "r")
    funcs = {name: hl.Func(name) for name in ("left", "total", "copy", "dense", "f")}
    left, total, copy, dense, f = funcs.values()
    left[x, y] = x * 3 + y
    total[x, y] = 0
    total[x, y] += left[k, y] * left[x, k]
    copy[x, y] = im[x, y]
    dense[x, y] = total[x, y] + hl.i32(hl.abs(copy[x, y]))
    f[()] = 0
    f[()] += dense[r.x, r.y] * dense[r.y, r.x]
    promise(funcs)
    return f


@pytest.mark.parametrize(
    ("size", "promise", "fits"),
    [
        (64, len, True),
        (8, len, False),
        (64, lambda funcs: funcs["total"].align_bounds(hl.Var("x"), 24), False),
        (64, lambda funcs: funcs["copy"].trace_realizations(), False),
    ],
    ids=["same", "too small for a tile", "other lengths", "shown"],
)
def test_stored_schedule_is_taken_where_it_fits(
    store: Path, size: int, promise: Callable[[dict[str, hl.Func]], object], fits: bool
) -> None:
    """No key says how large a Param is, nor what the user promised."""
    f = tiled(64)
    stages = PipelineStages(realization_order([f.function]), {f.function: ()})
    hardware = machine(hl.get_jit_target_from_environment(), {})
    choices = encoded(placed(planned(stages, hardware), stages, hardware), stages.order)
    kept = keep(store_key([f.function], stages.outputs, hardware), StoredSchedule(choices, "", 1.0, 2.0, 1.0, 1))
    assert kept is not None
    assert kept.parent == store
    g = tiled(size, promise)
    found = g.realize([], schedule="tuned")
    assert g.function.automatic is not None
    assert g.function.automatic.why.startswith("measured") == fits
    assert np.asarray(found)[()] == np.asarray(tiled(size).realize([]))[()]
