"""Points that get their values at once: updates whose places or values are lists (``hl.scatter``, ``hl.gather``).

In: a case. Out: the case with an update of one point made one of several: places beside one another or the same one,
and values that another of them had.

    f[r[0]] = g[r[0]]   ->   f[hl.scatter([r[0], r[0] + 1])] = hl.gather([f[r[0] + 1], g[r[0]]])
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import INT32
from tests.campaigns.fuzz.case import Case, Definition, Update
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.terms import Form, Term, call, infix, name, number, read

_REFUSED = ("rfactor", "atomic")
"""Directives that updates of several points can't have."""

_UNLISTED = ("random_int", "random_uint", "random_float", "require", "hl.undef")
"""The beginnings of terms that no list can hold."""


def _draw_lists(case: Case, rng: random.Random) -> Case | None:
    """Of an update with a coordinate that is no variable of its Func."""
    args = {item.name: item.args for item in case.items if isinstance(item, Definition)}
    refused = {(t.func, t.stage) for t in case.directives if t.method in _REFUSED}
    stages: dict[str, int] = {}
    found: list[tuple[int, Update, list[int]]] = []
    for i, item in enumerate(case.items):
        if isinstance(item, Update):
            stages[item.name] = stages.get(item.name, 0) + 1
            free = [d for d, (a, v) in enumerate(zip(item.point, args[item.name], strict=True)) if a != name(v)]
            if free and all(map(_may_be_listed, item.point)) and (item.name, stages[item.name]) not in refused:
                found.append((i, item, free))
    if not found:
        return None
    i, update, free = rng.choice(found)
    return replace(case, items=(*case.items[:i], _listed(update, free, rng), *case.items[i + 1 :]))


def _may_be_listed(term: Term) -> bool:
    return not any(node.text.startswith(_UNLISTED) or node.form is Form.REDUCTION for node in term)


def _listed(update: Update, free: list[int], rng: random.Random) -> Update:
    """The update of several points, which differ in some of the coordinates that may."""
    count, moved = rng.choice([2, 2, 3, 4]), rng.sample(free, rng.randint(1, len(free)))
    points = [update.point, *(_beside(update.point, moved, rng) for _ in range(count - 1))]
    rng.shuffle(points)
    place = tuple([
        call("scatter", INT32, *(p[d] for p in points)) if d in moved else a for d, a in enumerate(update.point)
    ])  # fmt: skip
    given = (update.value, *update.more)
    listed = [_may_be_listed(value) and (k == 0 or rng.random() < 0.7) for k, value in enumerate(given)]
    values = [
        _values(update.name, k if update.more else -1, value, points, rng) if many else value
        for k, (value, many) in enumerate(zip(given, listed, strict=True))
    ]
    return replace(update, point=place, value=values[0], more=tuple(values[1:]))


def _beside(point: tuple[Term, ...], moved: list[int], rng: random.Random) -> tuple[Term, ...]:
    """Another point, or the same one."""
    steps = [
        lambda a: infix(rng.choice("+-"), a, number(rng.choice([1, 1, 2]), INT32)),
        lambda _: number(rng.randint(-3, 6), INT32),
        lambda a: a,
    ]
    return tuple([rng.choices(steps, (5, 2, 1))[0](a) if d in moved else a for d, a in enumerate(point)])


def _values(func: str, component: int, value: Term, points: list[tuple[Term, ...]], rng: random.Random) -> Term:
    """The value of each point: what a point next to it has, mostly, so that one that was written is read again."""
    old = [read(func, value.type, *point, component=component) for point in points]
    turned = [rng.choice([*old[1:], old[0]][i : i + 1] * 3 + [value, old[0]]) for i in range(len(old))]
    turned[rng.randrange(len(turned))] = value
    return call("gather", value.type, *turned)


AT_ONCE = Family("at once", {}, (Drawn(_draw_lists, (), 0.35),))
