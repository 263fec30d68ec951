"""A compile, certified: every claim about a scheduled program goes to the prover.

In: a Request, or the trace of a compile that HL_CERTIFY asks to certify. Out: a Certificate; a CertificateError where
one is demanded and a claim fails.

    certify(request).ok   ->   True

The certificate speaks of the program after bounds inference, with its start-up checks: not of the definitions before
phase 0, nor of passes below that rewrite it (``docs/internals/verification.md``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.bounds.verify.certificate import PipelineCertificate, Spent
from halide_core.bounds.verify.memory import MemoryReads
from halide_core.bounds.verify.program import program_claims
from halide_core.bounds.verify.vc import Claim, ClaimKind, Result, Status
from halide_core.debug import deep_recursion
from halide_core.errors import CertificateError, HalideError
from halide_core.ir import Stmt
from halide_core.lowering.laws import Z3, law_results, memo_results, order_results

if TYPE_CHECKING:
    from halide_core.bounds.smt.prover import Prover


def certify_program(name: str, query: Query, answers: Answers, tree: Stmt) -> PipelineCertificate:
    """The certificate of a program: ``tree`` is what it was filled into, with all start-up checks.

    Raises: HalideError where z3 is not installed.
    """
    with Z3:  # all that z3 made is gone when the inner function returns, so none of it is released later
        return _certified(name, query, answers, tree)


def _certified(name: str, query: Query, answers: Answers, tree: Stmt) -> PipelineCertificate:
    with deep_recursion():
        start = time.perf_counter()
        claims = program_claims(query, answers, tree)
        spent = {ClaimKind.STARTUP: Spent(0, time.perf_counter() - start)}  # making them counts as the start
        about_query = _prover(claims.memory)
        results = _judged(claims.query, about_query, spent)
        about_tree = _prover(claims.memory, about_query.lost)
        results += _judged(claims.tree, about_tree, spent)
        results += law_results(query.program.algorithm.laws)
        results += order_results(query.program)
        results += memo_results(query.program)
        results.append(about_tree.possible(claims.start))
    return PipelineCertificate(name, tuple(results), spent)


def demand(certificate: PipelineCertificate) -> None:
    """Raises CertificateError for a claim that fails, at the user's line: a refuted one before one that is left open,
    and one about an access before one about every program's start."""
    failures = certificate.failures
    if not failures:
        return
    worst = min(failures, key=lambda r: (r.status is not Status.REFUTED, r.claim.kind is ClaimKind.STARTUP))
    claim = worst.claim
    found = "is refuted" if worst.status is Status.REFUTED else "could not be proven within the budget"
    text = f'The certificate of "{certificate.name}" fails: of "{claim.func}", {claim.told()}: this {found}.'
    if worst.counterexample is not None:
        word = "It fails for" if worst.counterexample.certain else "It might fail for"
        text += f" {word} {worst.counterexample}."
    if claim.advice:
        text += f" What can help: {claim.advice}"
    if len(failures) > 1:
        text += f" {len(failures) - 1} other claims fail too: print(f.certify()) shows them."
    raise CertificateError(text, claim.location)


def _judged(claims: list[Claim], prover: Prover, spent: dict[ClaimKind, Spent]) -> list[Result]:
    """The verdicts of one group; runs of claims of one kind are timed together."""
    results: list[Result] = []
    at = 0
    while at < len(claims):
        end = at
        while end < len(claims) and claims[end].kind is claims[at].kind:
            end += 1
        steps, start = prover.steps, time.perf_counter()
        results += prover.prove(claims[at:end])
        before = spent.get(claims[at].kind, Spent(0, 0.0))
        seconds = before.seconds + time.perf_counter() - start
        spent[claims[at].kind] = Spent(before.steps + prover.steps - steps, seconds)
        at = end
    return results


def _prover(memory: MemoryReads, lost: int = 0) -> Prover:
    try:
        from halide_core.bounds.smt.prover import Prover  # noqa: PLC0415  # z3 takes long to import
    except ImportError as missing:
        raise HalideError(
            'Certificates need the z3 solver, which is not installed: pip install "halide-core[bounds]".'
        ) from missing
    return Prover(memory.invented, memory.ranges, memory.words, lost=lost)
