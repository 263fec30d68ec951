"""The judges that know what programs mean, on fixed programs and on random ones.

In: the record of the compiler as it is. Out: nothing, or Killed, by whichever judge sees a difference first.

    steps(path)   ->   ("tiled", …), ("matmul", …), …, ("draw 3", …), ("wrong answers for gather", …), …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import halide_core as hl
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.judge import FAST, Judges, judge
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.mutate.certified import Certified, certified, wrong_answers, wrong_programs
from tests.campaigns.mutate.measure import Measure, measure
from tests.campaigns.mutate.programs import PROGRAMS
from tests.campaigns.mutate.verdict import Judge, Killed

_SEED = 5
SHORT, LONG = range(12), range(100, 160)
"""The random programs of that seed: those whose certificates are looked at, and those that only run."""
SPOILT = ("split_of_split", "gather", "histogram", "triangle", "empty_reduction", "unrolled", "inlined")
"""Programs that the certificate is asked about with wrong answers in turn: those whose certificates are quick."""
_CERTIFYING = ("bounds/verify/", "bounds/smt/", "lowering/certify")
"""The prefixes of the certificate's own files: their mutants are asked about wrong programs, too."""

Step = tuple[str, Callable[[], Any], Callable[[Any, Any], None]]
"""A name, what to look at, and how it is compared with the record."""


def steps(path: str | None) -> Iterator[Step]:
    """The steps that look at a mutant of a file; everything where None is given."""
    for name, make in PROGRAMS.items():
        yield name, lambda make=make: _looked_at(*make()), _compare
    for number in SHORT:
        yield f"draw {number}", lambda number=number: _drawn(number, Judges.CERTIFICATE), _compare_drawn
    for name in SPOILT:
        yield f"wrong answers for {name}", lambda name=name: wrong_answers(PROGRAMS[name]()[0]), _compare_wrong
    if path is None or path.startswith(_CERTIFYING):
        for name in (*SPOILT, "scan"):
            yield f"wrong versions of {name}", lambda name=name: wrong_programs(PROGRAMS[name]()[0]), _compare_wrong
    for number in LONG:
        yield f"draw {number}", lambda number=number: _drawn(number, FAST), _compare_drawn


def _drawn(number: int, judges: Judges) -> dict[str, str]:
    verdict = judge(draw(_SEED, number), judges)
    return {"outcome": verdict.outcome.value, "kind": verdict.kind}


def _compare_drawn(record: dict[str, str], found: dict[str, str]) -> None:
    before, now = Outcome(record["outcome"]), Outcome(found["outcome"])
    if before is Outcome.RAN and now in (Outcome.MISMATCH, Outcome.REFUSED, Outcome.ASSERTED):
        raise Killed(Judge.FUZZ, f"{now.value}: {found['kind']}")
    if before in (Outcome.REFUSED, Outcome.ASSERTED) and now is Outcome.MISMATCH:
        raise Killed(Judge.FUZZ, f"{now.value}: {found['kind']}")


def _looked_at(func: hl.Func, window: list[tuple[int, int]]) -> dict[str, Any]:
    found = measure(func, window)
    certificate = None if found.refused else certified(func)
    return {"measure": asdict(found), "certified": None if certificate is None else asdict(certificate)}


def _compare(record: dict[str, Any], found: dict[str, Any]) -> None:
    before, now = Measure(**record["measure"]), Measure(**found["measure"])
    if now.refused and not before.refused:
        raise Killed(Judge.REFUSAL, now.refused)
    if before.refused:
        return
    more = now.more_than(before)
    if more:
        raise Killed(Judge.COST, more)
    if record["certified"] is not None:
        less = Certified(**found["certified"]).less_than(Certified(**record["certified"]))
        if less:
            raise Killed(Judge.CERTIFICATE, less)


def _compare_wrong(record: dict[str, bool], found: dict[str, bool]) -> None:
    for told, certified_now in found.items():
        if certified_now and not record.get(told, True):
            raise Killed(Judge.CERTIFICATE, f"certified: {told}")
