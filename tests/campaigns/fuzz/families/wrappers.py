"""Wrappers and clones: Funcs that some consumers read in place of another Func, or of an input.

In: a case. Out: the case with ``in_`` or ``clone_in``, mostly with a place for the Func that it makes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import (
    TailStrategy,
)
from halide_core.schedule.func_directives import CloneIn, In, InInput
from tests.campaigns.fuzz.case import (
    Case,
    Consumer,
    Consumers,
    Definition,
    Given,
    Image,
    Loop,
    Then,
    Told,
)
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import placed_funcs, with_told
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import number


def _draw_instead(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the two."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        model = model_of(case)
        read = [f for f in model.args if model.readers.get(f)]
        if not read:
            return None
        func = rng.choice(read)
        readers = list(dict.fromkeys(reader for reader, _ in model.readers[func]))
        chosen = rng.sample(readers, rng.randint(1, len(readers)))
        given: tuple[Given, ...] = (Consumers(tuple(chosen)) if len(chosen) > 1 else Consumer(chosen[0]),)
        if method == "in_" and rng.random() < 0.3:
            given = ()
        then: list[Then] = []
        dims, around = model.args[func], model.args[chosen[0]]
        untouched = around and not any(t.func == chosen[0] for t in case.directives) and chosen[0] in placed_funcs(case)
        if len(chosen) == 1 == len(readers) and untouched and rng.random() < 0.5:
            then.append(("compute_at", (Consumer(chosen[0]), Loop(rng.choice(around)))))
        elif rng.random() < 0.85:
            then.append(("compute_root", ()))
        if then and dims and rng.random() < 0.5:
            tail = rng.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp])
            way = rng.choice(["vectorize", "unroll", "parallel"])
            then.append((way, (Loop(rng.choice(dims)), number(3, INT32), tail)))
        at = rng.choice([0, len(case.directives)])  # a clone takes over the directives given so far
        told = Told(func, 0, method, given, then=tuple(then))
        return replace(case, directives=(*case.directives[:at], told, *case.directives[at:]))

    return draw


def _draw_input_wrapper(case: Case, rng: random.Random) -> Case | None:
    """A Func of an input's values, computed at the root or where one consumer reads it, or inlined."""
    model, placed = model_of(case), placed_funcs(case)
    images = [item for item in case.items if isinstance(item, Image) and not item.embedded and item.extents]
    read = {d.name: {n.text for n in d.value} for d in case.items if isinstance(d, Definition)}
    found = [(image, func) for image in images for func, names in read.items() if image.name in names]
    if not found:
        return None
    image, func = rng.choice(found)
    everywhere = rng.random() < 0.3
    then: list[Then] = []
    around = model.args[func]
    if not everywhere and around and func in placed and not any(t.func == func for t in case.directives):
        then.append(("compute_at", (Consumer(func), Loop(rng.choice(around)))))
    elif rng.random() < 0.8:
        then.append(("compute_root", ()))
    if then and rng.random() < 0.5:
        way = rng.choice(["vectorize", "unroll", "parallel"])
        then.append((way, (Loop("_0"), number(3, INT32), rng.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp]))))
    return with_told(case, Told(image.name, 0, "in_", () if everywhere else (Consumer(func),), then=tuple(then)))


_ELSEWHERE = ("compute_at", "store_at", "compute_with", "hoist_storage", "in_", "clone_in")
"""Directives about where a Func is computed, or who reads it."""


def _draw_row(case: Case, rng: random.Random) -> Case | None:
    """Wrappers of wrappers, each at the root: the values of a Func are copied on and on, and the copies are dead."""
    model = model_of(case)
    placed = [t.func for t in case.directives if t.method == "compute_root"]
    named = {n for t in case.directives for g in t.args for n in ([g.name] if isinstance(g, Consumer) else [])}
    apart = {t.func for t in case.directives if t.method in _ELSEWHERE}
    read = [f for f in placed if model.readers.get(f) and f not in named | apart and f not in case.outputs]
    if not read:
        return None
    func = rng.choice(read)
    reader, _ = rng.choice(model.readers[func])
    then: list[Then] = []
    for _ in range(rng.randint(3, 5)):
        then += [("in_", (Consumer(reader),)), ("compute_root", ())]
        if model.args[func] and rng.random() < 0.4:
            tail = rng.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards])
            way = rng.choice(["vectorize", "vectorize", "unroll", "parallel"])
            then.append((way, (Loop(rng.choice(model.args[func])), number(rng.choice([3, 4, 8]), INT32), tail)))
    (method, given), *rest = then
    return with_told(case, Told(func, 0, method, given, then=tuple(rest)))


WRAPPERS = Family(
    "wrappers",
    {
        "in_": Drawn(_draw_instead("in_"), (In,), 0.025),
        "clone_in": Drawn(_draw_instead("clone_in"), (CloneIn,), 0.025),
    },
    (Drawn(_draw_input_wrapper, (InInput,), 0.3), Drawn(_draw_row, (In,), 0.2)),
)
