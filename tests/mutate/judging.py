"""The judges that know what programs mean: fixed programs first, then random ones.

In: the record of the compiler as it is. Out: nothing, or Killed, by whichever judge sees a difference first.

    steps(…)   ->   ("tiled", …), ("matmul", …), …, ("draw 3", …), ("sabotage of gather", …)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import halide_core as hl
from tests.mutate.certified import Certified, accepted_sabotage, certified
from tests.mutate.measure import Measure, measure
from tests.mutate.programs import PROGRAMS, Made
from tests.mutate.verdict import Judge, Killed
from tests.property.generate import draw

SHORT, LONG = range(40, 54), range(100, 150)
"""Seeds of random programs: those before the tests, and those after them."""
SABOTAGED = ("split_of_split", "gather", "histogram", "triangle", "empty_reduction", "unrolled", "inlined")
"""Programs of which every answer is spoilt in turn: those whose certificates are quick."""

Step = tuple[str, Callable[[], Any], Callable[[Any, Any], None]]
"""A name, what to look at, and how it is compared with the record."""


def first_steps() -> Iterator[Step]:
    """What is looked at before the tests."""
    for name, make in PROGRAMS.items():
        yield name, lambda make=make: _looked_at(*make(), certify=True), _compare
    for seed in SHORT:
        yield f"draw {seed}", lambda seed=seed: _looked_at(*_drawn(seed), certify=True), _compare
    for name in SABOTAGED:
        yield f"sabotage of {name}", lambda name=name: accepted_sabotage(PROGRAMS[name]()[0]), _compare_sabotage


def last_steps() -> Iterator[Step]:
    """What is looked at where even the tests saw nothing."""
    for seed in LONG:
        yield f"draw {seed}", lambda seed=seed: _looked_at(*_drawn(seed), certify=False), _compare


def _drawn(seed: int) -> Made:
    case = draw(seed)
    return case.output, case.window


def _looked_at(func: hl.Func, window: list[tuple[int, int]], *, certify: bool) -> dict[str, Any]:
    found = measure(func, window)
    certificate = certified(func) if certify and not found.refused else None
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


def _compare_sabotage(record: list[bool], found: list[bool]) -> None:
    for at, (before, now) in enumerate(zip(record, found, strict=True)):
        if now and not before:
            raise Killed(Judge.CERTIFICATE, f"wrong answers are certified (the {at}th)")
