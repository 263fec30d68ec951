"""The judges agree on sound programs, and find what is broken on purpose."""

from __future__ import annotations

import dataclasses
import math

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.visitor import Rewriter
from halide_core.lowering import driver
from tests.campaigns.fuzz import certified, executable
from tests.campaigns.fuzz import workers as worker_pool
from tests.campaigns.fuzz.campaign import Campaign, run, write_failures
from tests.campaigns.fuzz.case import Case, Consumer, Definition, Domain, Loop, Scalar, Told, Update
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.judge import FAST, Judges, judge
from tests.campaigns.fuzz.report import Report
from tests.campaigns.fuzz.shrink import shrink, weight
from tests.campaigns.fuzz.terms import infix, name, number, read
from tests.campaigns.fuzz.verdict import Mismatch, Outcome, Verdict
from tests.campaigns.fuzz.workers import Workers
from tests.campaigns.fuzz.write import test_text as text_of_test
from tests.campaigns.fuzz.write import write_test

I32 = hl.Int(32)
x = name("x")


def stencil(*told: Told, low: int = 0, extent: int = 7) -> Case:
    """``g[x - 1] + g[x + 1]`` with a schedule."""
    g = Definition("g", ("x",), infix("*", x, x))
    sides = [read("g", I32, infix(op, x, number(1, I32))) for op in "-+"]
    f = Definition("f", ("x",), infix("+", *sides))
    return Case("0/0", (g, f), ("f",), (((low, extent),),), told)


def broken_drivers(monkeypatch: pytest.MonkeyPatch, rewriter: type[Rewriter]) -> None:
    """Puts a rewriter after simplification."""
    before = driver.simplify_tree

    def after(stmt: ir.Stmt) -> ir.Stmt:
        return rewriter().stmt(before(stmt))

    monkeypatch.setattr(driver, "simplify_tree", after)


class AddsForTimes(Rewriter):
    """A miscompile of the kind that mutation makes."""

    def rewrite_Provide(self, s: ir.Provide) -> ir.Stmt:
        values = tuple(map(self.expr, s.values))
        return ir.Provide(s.func, s.stage, s.args, values)

    def rewrite_Binary(self, e: ir.Binary) -> ir.ExprNode:
        a, b = self.expr(e.a), self.expr(e.b)
        op = ir.BinaryOp.ADD if e.op is ir.BinaryOp.MUL and not isinstance(b, ir.IntImm) else e.op
        return ir.binary(op, a, b)


class WritesBeyond(Rewriter):
    """Runs loops once too often."""

    def rewrite_For(self, s: ir.For) -> ir.Stmt:
        longer = ir.Interval(s.bounds.min, ir.add(s.bounds.len, ir.ONE))
        return ir.For(s.loop, s.var, longer, s.kind, s.pure, self.stmt(s.body))


def test_sound_program_runs_and_tells_what_it_exercised() -> None:
    told = (Told("f", 0, "split", (Loop("x"), Loop("xo"), Loop("xi"), number(4, I32))),)
    verdict = judge(stencil(*told), FAST | Judges.UNSCHEDULED | Judges.COMPILED)
    assert verdict.outcome is Outcome.RAN, verdict.detail
    assert {"Split", "split", "Auto", "Provide", "int32"} <= {name for _, name in verdict.features}


def test_executable_agrees_with_the_reference() -> None:
    told = (Told("g", 0, "compute_at", (Consumer("f"), Loop("x"))), Told("f", 0, "parallel", (Loop("x"),)))
    verdict = judge(stencil(*told, low=-3), FAST | Judges.EXECUTABLE)
    assert verdict.outcome is Outcome.RAN, verdict.detail


def test_wrong_value_is_found_after_the_pass_that_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_drivers(monkeypatch, AddsForTimes)
    verdict = judge(stencil(), FAST)
    assert (verdict.outcome, verdict.kind) == (Outcome.MISMATCH, "value after simplify")
    assert "f[0] is" in verdict.detail


def test_write_outside_of_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_drivers(monkeypatch, WritesBeyond)
    verdict = judge(stencil(), FAST)
    assert (verdict.outcome, verdict.kind) == (Outcome.MISMATCH, "MemoryFault after simplify")


def test_sanitizer_finds_a_write_outside_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    run = executable.run

    def broken(request, lowered, windows):
        return run(request, dataclasses.replace(lowered, body=WritesBeyond().stmt(lowered.body)), windows)

    monkeypatch.setattr(executable, "run", broken)
    verdict = judge(stencil(), FAST | Judges.EXECUTABLE)
    assert (verdict.outcome, verdict.kind) == (Outcome.MISMATCH, "executable dies")
    assert "AddressSanitizer" in verdict.detail


def test_exception_of_the_compiler_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> ir.Stmt:
        raise KeyError("x")

    monkeypatch.setattr(driver, "hoist_invariants", fails)
    verdict = judge(stencil(), FAST)
    assert (verdict.outcome, verdict.kind) == (Outcome.MISMATCH, "KeyError in fails")


def test_failed_certificate_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuted(*_: object, **_given: object) -> None:
        raise Mismatch("certificate: refuted in bounds", "g: …")

    monkeypatch.setattr(certified, "check", refuted)
    assert judge(stencil(), FAST).outcome is Outcome.RAN
    assert judge(stencil(), Judges.CERTIFICATE).kind == "certificate: refuted in bounds"


def test_refusal_names_the_directive() -> None:
    verdict = judge(stencil(Told("g", 0, "compute_at", (Consumer("f"), Loop("z")))), FAST)
    assert (verdict.outcome, verdict.kind) == (Outcome.REFUSED, "ScheduleError of compute_at")


def test_start_up_check_stops_every_judge() -> None:
    told = Told("f", 0, "bound", (Loop("x"), number(0, I32), number(3, I32)))
    verdict = judge(stencil(told), Judges.COMPILED | Judges.EXECUTABLE)
    assert (verdict.outcome, verdict.kind) == (Outcome.ASSERTED, "assertion_failed")


def test_domain_of_a_negative_extent_is_empty_for_all_judges() -> None:
    p, r = name("p", I32, of="p"), name("r[0]", of="r")
    items = (
        Scalar("p", I32, -1),
        Domain("r", ((number(0, I32), p),)),
        Definition("f", ("x",), number(0, I32)),
        Update("f", (x,), "+=", r, "r"),
    )
    case = Case("0/0", items, ("f",), (((0, 4),),))
    assert judge(case, FAST).outcome is Outcome.RAN


def test_program_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.campaigns.fuzz.judge.STEPS", 5)
    assert judge(stencil(), FAST).outcome is Outcome.TOO_LONG


# -- shrinking and writing


def test_shrinking_keeps_the_failure_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_drivers(monkeypatch, AddsForTimes)
    failing = (c for c in map(draw, [1] * 99, range(99)) if judge(c, FAST).kind == "value after simplify")
    case = next(failing)
    small = shrink(case, lambda c: judge(c, FAST).kind == "value after simplify", seconds=math.inf)
    assert judge(small, FAST).kind == "value after simplify"
    assert weight(small) * 3 < weight(case)


def test_shrinking_stops_where_its_attempts_or_its_time_end() -> None:
    asked: list[Case] = []

    def fails(case: Case) -> bool:
        asked.append(case)
        return True

    shrink(draw(1, 7), fails, attempts=3, seconds=math.inf)
    assert len(asked) == 3
    case = draw(1, 7)
    assert shrink(case, fails, seconds=-1.0) is case
    assert len(asked) == 3


def test_written_test_fails_while_the_fault_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    case, verdict = stencil(), Verdict(Outcome.MISMATCH, "value after simplify", "f[0] is 1, not 2")
    path = write_test(case, verdict, FAST, tmp_path)
    assert path.name == "test_seed_0_case_0.py"
    space: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    test = space["test_judges_agree"]
    test()  # type: ignore[operator]  # the function that the file defines
    broken_drivers(monkeypatch, AddsForTimes)
    with pytest.raises(AssertionError, match="value after simplify"):
        test()  # type: ignore[operator]  # the function that the file defines


def test_written_test_says_what_was_found() -> None:
    text = text_of_test(stencil(), Verdict(Outcome.MISMATCH, "value compiled", "f[0] is 1"), Judges.COMPILED)
    assert "# value compiled:\n# f[0] is 1\n" in text
    assert "check(build, Judges.COMPILED)" in text


# -- campaigns


@pytest.fixture(scope="module")
def workers():
    with Workers(2, slow_s=20) as pool:
        yield pool


def test_campaign_is_the_same_for_any_number_of_jobs(workers: Workers) -> None:
    campaign = Campaign(8, 11, certify=False)
    two = run(campaign, workers)
    with Workers(1) as one:
        assert run(campaign, one).text() == two.text()


def test_crash_of_a_worker_is_the_verdict_of_its_case(workers: Workers) -> None:
    crash = dataclasses.replace(stencil(), items=(_Crash("g", ("x",), x), *stencil().items[1:]))
    verdicts = dict(workers.judge([(0, stencil(), FAST), (1, crash, FAST), (2, stencil(), FAST)]))
    assert verdicts[1].kind == "crash"
    assert verdicts[0].outcome is verdicts[2].outcome is Outcome.RAN


@pytest.mark.parametrize("never", ["while True: pass", "import time; time.sleep(3600)"])
def test_case_that_hangs_is_ended(never: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_ASLEEP", 3)
    hang = dataclasses.replace(stencil(), items=(_Hang(never, ("x",), x), *stencil().items[1:]))
    with Workers(1, slow_s=6) as pool:
        verdicts = dict(pool.judge([(0, hang, FAST), (1, stencil(), FAST)]))
    assert verdicts[0].kind == "slow case"
    assert verdicts[1].outcome is Outcome.RAN


class _Crash(Definition):
    """Its source ends the process."""

    def lines(self) -> list[str]:
        return ["import os", "os.abort()"]


class _Hang(Definition):
    """Its source never ends."""

    def lines(self) -> list[str]:
        return [self.name]


def test_failure_of_a_campaign_is_written(workers: Workers, tmp_path) -> None:
    report = Report()
    report.add(3, Verdict(Outcome.MISMATCH, "made up", ""))
    (path,) = write_failures(Campaign(1, 1, certify=False), report, workers, tmp_path, attempts=2)
    assert path.exists()
    assert not report.ok
    assert "1 mismatch: made up" in report.text()


def test_short_campaign_finds_nothing(workers: Workers) -> None:
    report = run(Campaign(60, 1, certify=False), workers)
    assert report.failures() == {}, report.text()
    assert report.share >= 0.85, report.text()


def test_short_compiled_campaign_finds_nothing(workers: Workers) -> None:
    report = run(Campaign(6, 2, compiled=True, certify=False), workers)
    assert report.failures() == {}, report.text()


def test_report_names_what_was_never_exercised() -> None:
    report = Report()
    for i in range(500):
        report.add(i, Verdict(Outcome.RAN))
    assert not report.ok
    assert "NEVER exercised: Split, of the directives" in report.text()


@pytest.mark.parametrize(("extent", "kind"), [(0, "no window passes"), (1, "assertion_failed")])
def test_a_program_that_no_window_lets_start(extent: int, kind: str) -> None:
    """An empty window skips the check that all others fail."""
    told = Told("g", 0, "compute_root"), Told("g", 0, "bound_storage", (Loop("x"), number(2, I32)))
    verdict = judge(stencil(*told, extent=extent))
    assert (verdict.outcome, verdict.kind) == (Outcome.ASSERTED, kind)
