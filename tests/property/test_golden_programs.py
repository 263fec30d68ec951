"""Golden texts of fixed programs: every engine's answers, the program at the end, the certificate.

A change here is not wrong by itself: the other judges tell. It shows what a change of the compiler changes. Where that
is meant, ``pytest tests/property/test_golden_programs.py --update-golden`` writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import halide_core as hl
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answers, Engine
from halide_core.bounds.query.conjuncts import format_query
from halide_core.bounds.query.smtlib import answered_script, open_script
from halide_core.bounds.verify.certificate import check_text
from halide_core.ir.printer import dim_name, format_stmt
from halide_core.lowering.driver import LoweringTrace, certify, lower
from tests.campaigns.mutate.programs import PROGRAMS
from tests.support.targets import WIDE

Golden = Callable[[str, str], None]
pytestmark = pytest.mark.uncertified  # some engines' answers are worse than those that certificates are for


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_program(name: str, golden: Golden) -> None:
    trace = LoweringTrace()
    lower(PROGRAMS[name]()[0]._request(target=WIDE), trace=trace)  # registers and masks are a machine's
    assert trace.query is not None
    last, stmt = trace.passes[-1]
    golden(f"programs/{name}.txt", f"{format_query(trace.query)}\n\n-- after {last}\n{format_stmt(stmt)}")


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers(name: str, engine: Engine, golden: Golden) -> None:
    trace = LoweringTrace()
    try:
        lower(PROGRAMS[name]()[0]._request(), oracle=oracle_of(engine), trace=trace)
    except hl.BoundsError as error:
        text = error.message
    else:
        assert trace.answers is not None
        text = "\n".join(_lines(trace.answers))
    golden(f"programs/{name}.{engine.value}.txt", text)


def _lines(answers: Answers) -> Iterator[str]:
    for a in answers.holes:
        about = f"?{a.kind.value} {a.func.name}.s{a.stage}.{dim_name(a.func, a.dim)}"
        yield f"{about}: min {a.interval.min!r}, len {a.interval.len!r}; {a.engine.value}; {a.origin}"
    for callee, box in answers.regions.items():
        yield f"{callee.name}: " + "; ".join(f"min {i.min!r}, len {i.len!r}" for i in box)
    for check in answers.checks:
        yield f"check {check.condition!r}: {check_text(check)}"


SCRIPTS = ("by_param", "chosen", "floats", "gather")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_for_solvers(name: str, golden: Golden) -> None:
    trace = LoweringTrace()
    lower(PROGRAMS[name]()[0]._request(), trace=trace)
    assert trace.query is not None and trace.answers is not None
    golden(
        f"programs/{name}.smt2",
        f"{open_script(name, trace.query)}\n{answered_script(name, trace.query, trace.answers)}",
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_certificate(name: str, golden: Golden) -> None:
    certificate = certify(PROGRAMS[name]()[0]._request())
    lines = [f"{r.status.value}: {r.claim.kind.value} of {r.claim.func}: {r.claim.told()}" for r in certificate.results]
    golden(f"programs/{name}.certificate.txt", "\n".join(lines))
