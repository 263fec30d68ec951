"""A certificate tells what its claims took: the steps of its provers, all of them."""

from __future__ import annotations

from unittest.mock import patch

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.smt.prover import Prover
from halide_core.bounds.verify.certificate import PipelineCertificate, _counts
from halide_core.bounds.verify.memory import MemoryReads
from halide_core.bounds.verify.vc import Claim, ClaimKind, Result, Status, nothing
from halide_core.errors import CertificateError
from halide_core.lowering import certify, driver
from halide_core.lowering.driver import certify as certified
from halide_core.run.backend import Request
from tests.campaigns.mutate.programs import PROGRAMS


def test_steps_of_all_kinds_are_those_of_the_provers() -> None:
    provers: list[Prover] = []
    taken: list[int] = []
    made, possible = certify._prover, Prover.possible

    def kept(memory: MemoryReads, lost: int = 0) -> Prover:
        provers.append(made(memory, lost))
        return provers[-1]

    def counted(prover: Prover, claim: Claim) -> Result:
        taken.append(sum(p.steps for p in provers))
        return possible(prover, claim)

    with patch.object(certify, "_prover", kept), patch.object(Prover, "possible", counted):
        spent = certified(PROGRAMS["split_of_split"]()[0]._request()).spent
    assert [sum(s.steps for s in spent.values())] == taken
    assert all(s.steps >= 0 and 0 <= s.seconds < 600 for s in spent.values())
    assert spent[ClaimKind.QUERY].steps > 0


def test_fused_loops_of_half_a_window_are_proven() -> None:
    """Rows are quotients by a width that is a difference of halves: they are many, and each is a product to z3."""
    x, y, xy, outer, inner = (hl.Var(name) for name in ("x", "y", "xy", "outer", "inner"))
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x, y] = x + y
    g[x, y] = f[2 - x, y] + f[0 - x, y]
    o[x, y] = g[(x - 1) // 2, y]
    g.compute_root().fuse(x, y, xy).vectorize(xy, 4, hl.TailStrategy.PredicateStores)
    g.split(xy, outer, inner, 4, hl.TailStrategy.RoundUpAndBlend)
    f.store_root().compute_at(g, inner)
    certificate = o.certify()
    assert not certificate.failures
    assert sum(s.steps for s in certificate.spent.values()) < 100_000_000


def failing(kind: ClaimKind, status: Status, told: str) -> Result:
    """A claim that ended so."""
    return Result(Claim(kind, "f", (told,), nothing(), ir.FALSE), status)


def test_refuted_access_is_told_first() -> None:
    results = [
        failing(ClaimKind.STARTUP, Status.UNDECIDED, "an open start"),
        failing(ClaimKind.MEMORY, Status.UNDECIDED, "an open access"),
        failing(ClaimKind.STARTUP, Status.REFUTED, "a wrong start"),
        failing(ClaimKind.MEMORY, Status.REFUTED, "a wrong access"),
        failing(ClaimKind.MEMORY, Status.PROVEN, "a right access"),
    ]
    for told in ("a wrong access", "a wrong start", "an open access", "an open start"):
        for order in (results, results[::-1]):
            with pytest.raises(CertificateError, match=told):
                certify.demand(PipelineCertificate("f", tuple(order), {}))
        results = [r for r in results if r.claim.text != (told,)]
    certify.demand(PipelineCertificate("f", tuple(results), {}))


def test_setting_has_one_certificate_taken_of_the_program_that_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[ir.Stmt] = []
    made, trace = driver._certificate, driver.LoweringTrace()

    def kept(request: Request, stmt: ir.Stmt, trace: driver.LoweringTrace) -> PipelineCertificate:
        taken.append(stmt)
        return made(request, stmt, trace)

    monkeypatch.setenv("HL_CERTIFY", "1")
    with patch.object(driver, "_certificate", kept):
        driver.lower(PROGRAMS["split_of_split"]()[0]._request(), trace=trace)
    assert taken == [dict(trace.passes)[driver.CERTIFIED]]


def test_claims_are_counted_by_how_they_ended() -> None:
    kinds = [Status.PROVEN, Status.PROVEN, Status.REFUTED]
    certificate = PipelineCertificate("f", tuple(failing(ClaimKind.MEMORY, status, "a claim") for status in kinds), {})
    ((about, numbers),) = _counts(certificate.results)
    assert about == "f"
    assert dict(zip(Status, numbers, strict=True)) == {s: kinds.count(s) for s in Status}


def test_what_is_shown_of_a_pass_is_what_it_makes() -> None:
    shown: list[tuple[str, ir.Stmt]] = []
    trace = driver.LoweringTrace()
    with patch.object(driver, "show", lambda name, stmt, seconds: shown.append((name, stmt))):
        driver.lower(PROGRAMS["split_of_split"]()[0]._request(), trace=trace)
    assert [s for s in shown if s[0] in dict(trace.passes)] == trace.passes
