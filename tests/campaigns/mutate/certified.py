"""Verdicts of the certificate on a program, on wrong answers for it, and on wrong versions of it.

In: a Func with a schedule. Out: how many claims of each kind its certificate has, and whether it holds; and whether it
still does where an answer of bounds inference lacks a point, or the program has a defect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import halide_core as hl
from halide_core import ir
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Answer, Answers
from halide_core.bounds.query.query import Query
from halide_core.ir import Interval, Stmt
from halide_core.lowering.certify import certify_program
from halide_core.lowering.driver import CERTIFIED, LoweringTrace, certify, lower
from halide_core.lowering.passes.layout_checks import check_layouts
from tests.campaigns.mutate.defects import defects


@dataclass(frozen=True, slots=True)
class Certified:
    """``claims`` counts them by kind and by what they are about."""

    ok: bool
    claims: dict[str, int]

    def less_than(self, other: Certified) -> str:
        """The claims that ``other`` shows and this doesn't, as text; empty if there are none."""
        if other.ok and not self.ok:
            return "the certificate fails"
        for about, count in other.claims.items():
            if self.claims.get(about, 0) < count:
                return f"{about}: {self.claims.get(about, 0)} claims instead of {count}"
        return ""


def certified(func: hl.Func) -> Certified:
    """The certificate of a program, counted."""
    certificate = certify(func._request())
    claims: dict[str, int] = {}
    for r in certificate.results:
        about = f"{r.claim.kind.value} of {r.claim.func or 'start-up'}"
        claims[about] = claims.get(about, 0) + 1
    return Certified(certificate.ok, claims)


def wrong_answers(func: hl.Func) -> dict[str, bool]:
    """For each hole, True where a certificate holds though its answer lacks its first or its last point."""
    query, answers, _ = _traced(func)
    algorithm = query.program.algorithm
    found = {}
    for i, hole in enumerate(answers.holes):
        for first in (True, False):
            end = "first" if first else "last"
            holes = [*answers.holes[:i], _less(hole, first=first), *answers.holes[i + 1 :]]
            spoilt = replace(answers, holes=holes)
            tree = check_layouts(fill(query.program, spoilt), algorithm)
            told = f"{hole.kind.value} of {hole.func.name}.s{hole.stage} without the {end} in {hole.dim}"
            found[told] = certify_program(func.name(), query, spoilt, tree).ok
    return found


def _less(answer: Answer, *, first: bool) -> Answer:
    low, length = answer.interval.min, answer.interval.len
    if first:
        low = ir.add(low, ir.ONE)
    return replace(answer, interval=Interval(low, ir.maximum(ir.sub(length, ir.ONE), ir.ZERO)))


def wrong_programs(func: hl.Func) -> dict[str, bool]:
    """For each wrong version of a program, True where a certificate holds."""
    query, answers, tree = _traced(func)
    return {
        f"{i}: {told}": certify_program(func.name(), query, answers, wrong).ok
        for i, (told, wrong) in enumerate(defects(tree))
    }


def _traced(func: hl.Func) -> tuple[Query, Answers, Stmt]:
    """A program's query, the answers to it, and the tree that its certificate is about."""
    trace = LoweringTrace()
    lower(func._request(), trace=trace)
    assert trace.query is not None and trace.answers is not None
    return trace.query, trace.answers, dict(trace.passes)[CERTIFIED]
