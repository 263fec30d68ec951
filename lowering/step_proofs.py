"""Proofs of what the slides and folds of a program rest on. Programs that have none do not load this.

In: a query, its answers, the filled tree. Out: the Funcs of which a claim is not proven, and the first such claim.
"""

from __future__ import annotations

from halide_core.algorithm.model import Function
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.bounds.verify.by_cases import CaseProver
from halide_core.bounds.verify.program import step_claims
from halide_core.ir import Stmt


def first_unproven(query: Query, answers: Answers, tree: Stmt) -> dict[Function, str]:
    """See the module's docstring."""
    prover = CaseProver()
    found: dict[Function, str] = {}
    for claim in step_claims(query, answers, tree):
        assert claim.step is not None
        if claim.step not in found and not prover.proves(claim):
            among = " (it has more cases than are looked at)" if prover.gave_up else ""
            found[claim.step] = f"it was not proven that, of {claim.func}, {claim.told()}{among}"
    return found
