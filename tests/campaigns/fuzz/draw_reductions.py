"""Reduction loops that trade places, and ones that run at once without taking turns.

In: a case. Out: the case with directives about a stage that nothing was said of; mostly legal ones, by the operator of
the update or by where it writes. That scheduling sees which are is what the judges are for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from halide_core.ir.types import INT32
from tests.campaigns.fuzz.case import Case, Domain, Loop, Told, Update
from tests.campaigns.fuzz.later import names_its_loops, reductions
from tests.campaigns.fuzz.terms import Form, Term, name, number

_LETTERS = "xyzw"


def draw_places(case: Case, rng: random.Random) -> Case | None:
    """The loops of an exact reduction in another order, one of them in two halves."""
    found = [each for each in reductions(case) if not names_its_loops(case, *each[:2])]
    if not found:
        return None
    func, stage, domain = rng.choice(found)
    loops = _loops(domain)
    told: list[Told] = []
    if len(loops) < 2 or rng.random() < 0.3:
        at = rng.choice(loops)
        inner, outer = Loop(f"{at.name}i"), Loop(f"{at.name}o")
        told.append(Told(func, stage, "split", (at, outer, inner, number(rng.choice([1, 2, 3, 4]), INT32))))
        loops[loops.index(at) : loops.index(at) + 1] = [inner, outer]
    rng.shuffle(loops)
    told.append(Told(func, stage, "reorder", tuple(loops)))
    return _with(case, func, stage, told)


def draw_at_once(case: Case, rng: random.Random) -> Case | None:
    """Threads or lanes over a reduction variable that is a coordinate of its own where the update writes."""
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    stages: dict[str, int] = {}
    found: list[tuple[str, int, Domain, list[Loop]]] = []
    for item in case.items:
        if isinstance(item, Update):
            stage = stages[item.name] = stages.get(item.name, 0) + 1
            domain = domains.get(item.domain)
            meets = any(t.form is Form.READ and t.text == item.name and t.parts != item.point for t in _nodes(item))
            if domain is None or (meets and rng.random() < 0.8):
                continue
            if not names_its_loops(case, item.name, stage):
                variables = [name(f"{domain.name}[{i}]", of=domain.name) for i in range(len(domain.bounds))]
                apart = [loop for loop, v in zip(_loops(domain), variables, strict=True) if v in item.point]
                found += [(item.name, stage, domain, apart)] if apart else []
    if not found:
        return None
    func, stage, domain, apart = rng.choice(found)
    told: list[Told] = []
    if len(domain.bounds) > 1 and rng.random() < 0.5:
        loops = _loops(domain)
        rng.shuffle(loops)
        told.append(Told(func, stage, "reorder", tuple(loops)))
    if rng.random() < 0.6:
        told.append(Told(func, stage, "vectorize", (rng.choice(apart), number(rng.choice([2, 3, 4, 8]), INT32))))
    if not told or rng.random() < 0.5:
        told.append(Told(func, stage, "parallel", (rng.choice(apart),)))
    return _with(case, func, stage, told)


def _nodes(update: Update) -> Iterator[Term]:
    """All that an update is made of."""
    for term in update.terms():
        yield from term


def _loops(domain: Domain) -> list[Loop]:
    return [Loop(f"{domain.name}.{letter}") for letter in _LETTERS[: len(domain.bounds)]]


def _with(case: Case, func: str, stage: int, told: list[Told]) -> Case:
    rest = tuple(t for t in case.directives if (t.func, t.stage, t.method) != (func, stage, "unscheduled"))
    return Case(case.seed, case.items, case.outputs, case.windows, (*rest, *told), case.tags)
