"""Loops that Funcs share: ``compute_with``, and places in a loop that several stages of a consumer have.

In: a case. Out: the case with such loops; where it is a chain, with a second output like the first one.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import (
    ComputeAt,
    ComputeWith,
    LoopAlignStrategy,
    TailStrategy,
)
from tests.campaigns.fuzz.case import Border, Case, Consumer, Definition, Given, Loop, Scalar, Told, Update
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import with_told
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import infix, name, number

_ROOTS = ("compute_root", "store_root")
"""Places that a Func may have had before: its new place takes theirs."""


def _draw_compute_with(case: Case, rng: random.Random) -> Case | None:
    """The loops of two Funcs in one, of which mostly neither needs the other one."""
    args = model_of(case).args
    about = {t.func for t in case.directives if any(isinstance(a, Loop) for a in t.args)}
    about |= {t.func for t in case.directives if t.method in ("specialize", "specialize_fail", "rfactor", "in_")}
    free = [d.name for d in case.items if isinstance(d, Definition) and args[d.name] and d.name not in about]
    needs = _needs(case)
    pairs = [(f, g) for f in free for g in free if f != g and f not in needs[g] and g not in needs[f]]
    if rng.random() < 0.05:
        pairs = [(f, g) for f in free for g in free if f != g]
    if not pairs or rng.random() < 0.5:  # most programs are chains: a second output like the first one
        made = [d for d in case.items if isinstance(d, Definition) and d.name in case.outputs and d.name in free]
        if not made:
            return None
        other, func = made[0].name, "twin"
        items, windows = (*case.items, replace(made[0], name=func)), (*case.windows, rng.choice(case.windows))
        if len(windows[-1]) != len(args[other]):
            windows = (*case.windows, case.windows[case.outputs.index(other)])
        case = replace(case, items=items, outputs=(*case.outputs, func), windows=windows)
        args, needs = {**args, func: args[other]}, {**needs, func: needs[other]}
    else:
        func, other = rng.choice(pairs)
    depth = rng.randint(1, min(len(args[func]), len(args[other])))
    given: tuple[Given, ...] = (Consumer(other), Loop(args[other][-depth]))
    if rng.random() < 0.5:
        given += (rng.choice(list(LoopAlignStrategy)),)
    extra = [Told(f, 0, "compute_root") for f in (func, other) if f not in case.outputs]
    extra += [Told(f, 0, "parallel", (Loop(args[f][-1]),)) for f in (func, other)] if rng.random() < 0.25 else []
    inside = [f for f in free if f in needs[func] & needs[other] and f not in case.outputs]
    case = Case(case.seed, case.items, case.outputs, case.windows, (*case.directives, *extra), case.tags)
    if inside and rng.random() < 0.4:
        case = with_told(case, Told(rng.choice(inside), 0, "compute_at", (Consumer(other), Loop(args[other][-1]))))
    return _own_loops(with_told(case, Told(func, 0, "compute_with", given)), func, other, rng)


def _own_loops(case: Case, func: str, other: str, rng: random.Random) -> Case:
    """The case, seldom with loops that stay each stage's own: the lanes of both, or those of a specialized stage."""
    ints = [s for s in case.items if isinstance(s, Scalar) and s.type is INT32]
    roll = rng.random()
    if roll < 0.1 and ints:
        p = rng.choice(ints)
        condition = infix(">", name(p.name, INT32, of=p.name), number(rng.choice([0, 1]), INT32))
        return with_told(case, Told(rng.choice([func, other]), 0, "specialize", (condition,)))
    if roll < 0.2:
        args, k = model_of(case).args, number(rng.choice([2, 4]), INT32)
        lanes = [Told(f, 0, "vectorize", (Loop(args[f][0]), k)) for f in (func, other)]
        *others, joined = case.directives
        within = (Consumer(other), Loop(f"{args[other][0]}.v"), *joined.args[2:])
        return replace(case, directives=(*others, *lanes, replace(joined, args=within)))
    return case


def _needs(case: Case) -> dict[str, set[str]]:
    """The Funcs that each Func reads, itself or by way of others."""
    found: dict[str, set[str]] = {}
    for item in case.items:  # producers first
        read = {node.text for term in item.terms() for node in term}
        read |= {item.source} if isinstance(item, Border) else set()
        found.setdefault(item.name, set()).update(read, *(found[each] for each in read if each in found))
        if isinstance(item, Update) and item.domain in found:
            found[item.name] |= found[item.domain]
    return found


def _draw_in_stages(case: Case, rng: random.Random) -> Case | None:
    """A place in a loop that all the stages have that read the Func."""
    model = model_of(case)
    told = [t for t in case.directives if t.method != "unscheduled"]
    kept = {*case.outputs, *(t.func for t in told if t.method not in _ROOTS)}
    found: list[tuple[str, str, list[Loop]]] = []
    for func, readers in model.readers.items():
        consumers = {consumer for consumer, _ in readers}
        if func in kept or len(consumers) != 1 or len(set(readers)) == 1:
            continue
        (consumer,) = consumers
        said = {a for t in told if t.func == consumer for a in t.args if isinstance(a, Loop)}
        nests = [{loop.name for loop in model.nests[consumer][stage].loops} for _, stage in readers]
        shared = [Loop(v) for v in model.args[consumer] if all(v in names for names in nests)]
        if consumer != func and (free := [loop for loop in shared if loop not in said]):
            found.append((func, consumer, free))
    if not found:
        return None
    func, consumer, free = rng.choice(found)
    given = [Told(func, 0, "compute_at", (Consumer(consumer), rng.choice(free)))]
    if model.args[func] and rng.random() < 0.3:
        lanes = (Loop(model.args[func][0]), number(rng.choice([2, 4]), INT32), TailStrategy.GuardWithIf)
        given.append(Told(func, 0, "vectorize", lanes))
    rest = tuple(t for t in case.directives if t.func != func)
    return replace(case, directives=(*rest, *given))


SHARED_LOOPS = Family(
    "shared loops",
    {"compute_with": Drawn(_draw_compute_with, (ComputeWith,), 0.15)},
    (Drawn(_draw_in_stages, (ComputeAt,), 0.8),),
)
