"""Reductions: factored, atomic, in another order of their loops, and at once where iterations never meet.

In: a case. Out: the case with directives about a stage that nothing was said of; mostly legal ones, by the operator of
the update or by where it writes. That scheduling sees which are is what the judges are for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.access_directives import Atomic
from halide_core.schedule.directives import (
    Reorder,
    Traverse,
)
from halide_core.schedule.func_directives import RFactor
from tests.campaigns.fuzz.case import (
    Case,
    Definition,
    Domain,
    Loop,
    Then,
    Told,
    Update,
)
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import names_its_loops, reductions
from tests.campaigns.fuzz.terms import Form, Term, name, number

_LETTERS = "xyzw"


def _draw_rfactor(case: Case, rng: random.Random) -> Case | None:
    found = [each for each in reductions(case) if not names_its_loops(case, *each[:2])]
    if not found:
        return None
    func, stage, domain = rng.choice(found)
    loops = [Loop(f"{domain.name}.{_LETTERS[i]}") for i in range(len(domain.bounds))]
    told: list[Told] = []
    if len(loops) < 2 or rng.random() < 0.4:
        at = rng.randrange(len(loops))
        inner, outer = Loop(f"{loops[at].name}i"), Loop(f"{loops[at].name}o")
        told.append(Told(func, stage, "split", (loops[at], outer, inner, number(rng.choice([1, 2, 3, 4]), INT32))))
        loops[at : at + 1] = [inner, outer]
    kept = rng.choice([loops[-1], loops[-1], loops[0]])
    then: tuple[Then, ...] = ()
    roll = rng.random()
    if roll < 0.6:
        then = (("compute_root", ()),)
    if roll < 0.5:
        u = Loop("u")
        ways: list[Then] = [("parallel", (u,)), ("vectorize", (u, number(4, INT32))), ("unroll", (u, number(2, INT32)))]
        run = rng.choice(ways)
        then = (*then, ("update", ()), run)
    told.append(Told(func, stage, "rfactor", (kept, Loop("u")), then=then))
    rest = tuple(t for t in case.directives if (t.func, t.stage) != (func, stage) or t.method != "unscheduled")
    return replace(case, directives=(*told, *rest))


def _draw_atomic(case: Case, rng: random.Random) -> Case | None:
    """Of a reduction over integers, whose loops are threads or lanes then."""
    found = [each for each in reductions(case) if not names_its_loops(case, *each[:2])]
    items = {item.name: item for item in case.items if isinstance(item, Definition)}
    found = [each for each in found if not items[each[0]].value.type.is_bool()]
    if not found:
        return None
    func, stage, domain = rng.choice(found)
    loops = [Loop(f"{domain.name}.{letter}") for letter in "xyzw"[: len(domain.bounds)]]
    told = [Told(func, stage, "atomic")]
    way = rng.choice(["parallel", "vectorize", "both"])
    at = rng.choice(loops)
    if way != "parallel":
        told.append(Told(func, stage, "vectorize", (at, number(rng.choice([2, 3, 4, 8]), INT32))))
    if way != "vectorize":
        told.append(Told(func, stage, "parallel", (rng.choice(loops),)))
    rest = tuple(t for t in case.directives if (t.func, t.stage, t.method) != (func, stage, "unscheduled"))
    return Case(case.seed, case.items, case.outputs, case.windows, (*rest, *told), case.tags)


def _draw_places(case: Case, rng: random.Random) -> Case | None:
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


def _draw_at_once(case: Case, rng: random.Random) -> Case | None:
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


REDUCTIONS = Family(
    "reductions",
    {"rfactor": Drawn(_draw_rfactor, (RFactor,), 0.35), "atomic": Drawn(_draw_atomic, (Atomic,), 0.12)},
    (Drawn(_draw_places, (Reorder,), 0.12), Drawn(_draw_at_once, (Traverse,), 0.3)),
)
