"""What the certificate says of a program, and of wrong answers for it.

In: a Func with a schedule. Out: how many claims of each kind its certificate has, and whether it holds; and whether it
still does where one answer of bounds inference is too small by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import halide_core as hl
from bounds.certificate import Certificate
from bounds.oracle import Answer, Answers
from bounds.query import Query
from bounds.symbolic import SymbolicOracle
from halide_core import ir
from halide_core.ir import Interval
from lowering.driver import Trace, certify, lower


@dataclass(frozen=True, slots=True)
class Certified:
    """``claims`` counts them by kind and by what they are about."""

    ok: bool
    claims: dict[str, int]

    def less_than(self, other: Certified) -> str:
        """What ``other`` shows that this doesn't, if anything."""
        if other.ok and not self.ok:
            return "the certificate fails"
        for about, count in other.claims.items():
            if self.claims.get(about, 0) < count:
                return f"{about}: {self.claims.get(about, 0)} claims instead of {count}"
        return ""


def certified(func: hl.Func) -> Certified:
    """The certificate of a program, counted."""
    certificate: Certificate = certify(func._request())
    claims: dict[str, int] = {}
    for r in certificate.results:
        about = f"{r.claim.kind.value} of {r.claim.func or 'start-up'}"
        claims[about] = claims.get(about, 0) + 1
    return Certified(certificate.ok, claims)


class Sabotaged:
    """An engine one of whose answers lacks its first or last point. Implements ``bounds.oracle.Oracle``."""

    name = "sabotaged"

    def __init__(self, hole: int, *, first: bool) -> None:
        self._hole = hole
        self._first = first

    def answer(self, query: Query) -> Answers:
        """The symbolic engine's answers, but for one."""
        found = SymbolicOracle().answer(query)
        at = self._hole % len(found.holes)
        found.holes[at] = _less(found.holes[at], first=self._first)
        return found


def _less(answer: Answer, *, first: bool) -> Answer:
    low, length = answer.interval.min, answer.interval.len
    if first:
        low = ir.add(low, ir.ONE)
    return replace(answer, interval=Interval(low, ir.maximum(ir.sub(length, ir.ONE), ir.ZERO)))


def accepted_sabotage(func: hl.Func) -> list[bool]:
    """For each hole and end, whether a certificate holds that must not: its answer lacks a point."""
    request = func._request()
    holes = len(_answers(func))
    return [
        certify(request, oracle=Sabotaged(hole, first=first)).ok for hole in range(holes) for first in (True, False)
    ]


def _answers(func: hl.Func) -> list[Answer]:
    trace = Trace()
    lower(func._request(), trace=trace)
    assert trace.answers is not None
    return trace.answers.holes
