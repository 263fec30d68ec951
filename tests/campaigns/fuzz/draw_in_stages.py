"""Funcs computed in a loop of a consumer of which several stages read them.

In: a case. Out: the case with such a place for a Func that had none but the root, in a loop that nothing was said of.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Loop, Told
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import number

_ROOTS = ("compute_root", "store_root")
"""What a Func may have been told before: its new place takes their place."""


def draw_in_stages(case: Case, rng: random.Random) -> Case | None:
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
