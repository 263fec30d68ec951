"""Producers in pairs: a Func made twice, whose two are computed at one place, in loops that they share.

In: a case with a schedule. Out: the case with a twin of a Func that is computed inside of another's loops, read where
that Func is, a little apart, and ``compute_with`` between them. What slides slides in both, by windows of their own.

    w.store_root().compute_at(o, y)   ->   w_twin.store_root().compute_at(o, y); w_twin.compute_with(w, x, AlignEnd)
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import LoopAlignStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Definition, Given, Item, Loop, Told, Update
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form, Term, infix, number, read

_PLACES = ("compute_at", "store_at", "store_root")
_THIRD = 0.3
"""So often there are three, of which the last one shares the second one's loops."""


def with_twin(case: Case, rng: random.Random) -> Case | None:
    """The case with such a pair; None where no Func is computed in another one's loops."""
    inside = {t.func for t in case.directives if t.method == "compute_at"}
    placed = [d for d in case.items if isinstance(d, Definition) and not d.more and d.name in inside]
    if not placed:
        return None
    made = rng.choice(placed)
    names = [f"{made.name}_twin", f"{made.name}_third"][: 2 if rng.random() < _THIRD else 1]
    items = _read_by_all(case, made, names, rng)
    if items is None:
        return None
    args = model_of(case).args[made.name]
    level = Loop(args[-rng.randint(1, len(args))])
    told: list[Told] = []
    before = made.name
    for name in names:
        told += [replace(t, func=name) for t in case.directives if t.func == made.name and t.method in _PLACES]
        align: tuple[Given, ...] = (rng.choice(list(LoopAlignStrategy)),) if rng.random() < 0.7 else ()
        told.append(Told(name, 0, "compute_with", (Consumer(before), level, *align)))
        before = name
    return replace(case, items=items, directives=(*case.directives, *told))


def _read_by_all(case: Case, made: Definition, names: list[str], rng: random.Random) -> tuple[Item, ...] | None:
    """The items with the others of a pair, and every reader of the Func reading them too."""
    last = max(i for i, item in enumerate(case.items) if item.name == made.name)
    items: list[Item] = []
    reads = 0
    for i, item in enumerate(case.items):
        if isinstance(item, Definition | Update) and item.name != made.name:
            near = next((n for n in item.value if n.form is Form.READ and n.text == made.name), None)
            if near is not None and near.type == item.value.type:
                reads += 1
                for name in names:
                    item = replace(item, value=infix("+", item.value, _apart(near, name, rng)))
        items.append(item)
        if i == last:
            items += [replace(made, name=name) for name in names]
    return tuple(items) if reads else None


def _apart(near: Term, name: str, rng: random.Random) -> Term:
    """A read of a Func at a distance from where another one is read."""
    parts = list(near.parts)
    at = rng.randrange(len(parts))
    parts[at] = infix("+", parts[at], number(rng.choice([-3, -1, 0, 1, 2, 5]), INT32))
    return read(name, near.type, *parts)
