"""Directives that came after campaigns had begun: drawn by a generator of their own, added to a case as it was drawn.

In: a case, and a random generator that its seed and number alone decide. Out: the case, mostly as it was; seldom with
one more directive, for which others about the same loops may make room.

So the cases of a campaign stay what they were: each that differs has one of these directives.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import Directive, TailStrategy, Trace, Traced
from halide_core.schedule.func_directives import CloneIn, In, RFactor
from halide_core.schedule.storage_directives import HoistStorage, HoistStorageRoot
from tests.campaigns.fuzz.case import Case, Consumer, Consumers, Definition, Domain, Given, Loop, Then, Told, Update
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form, Term, number

SHARE = 0.04
_LETTERS = "xyzw"
_OPERATORS = ("+", "*", "&", "|", "^")


@dataclass(frozen=True, slots=True)
class Later:
    """How a directive is added to a case, and which directives it records."""

    draw: Callable[[Case, random.Random], Case | None]
    records: tuple[type[Directive], ...]


def draw_later(case: Case, seed: int, number: int) -> Case:
    """The case, or the case with one of the directives."""
    rng = random.Random(f"{seed}/{number}/later")
    if rng.random() >= SHARE:
        return case
    order = [*(each.draw for each in LATER.values()), draw_tail, draw_tail, _draw_vectors]
    rng.shuffle(order)
    for draw in order:
        changed = draw(case, rng)
        if changed is not None:
            return changed
    return case


# ---------------------------------------------------------------------------------------------------------
# rfactor


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


def reductions(case: Case) -> list[tuple[str, int, Domain]]:
    """The stages that reduce by an operator that is known to be associative, over integers; Tuples by components."""
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    funcs = [item for item in case.items if isinstance(item, Definition)]
    exact = {f.name: all(not v.type.is_float() for v in f.terms()) for f in funcs}
    stages: dict[str, int] = {}
    found = []
    for item in case.items:
        if isinstance(item, Update):
            stages[item.name] = stages.get(item.name, 0) + 1
            domain = domains.get(item.domain)
            if domain is not None and exact.get(item.name, False) and _reduces(item, domain):
                found.append((item.name, stages[item.name], domain))
    return found


def _reduces(update: Update, domain: Domain) -> bool:
    def reads(term: Term) -> bool:
        return any(node.form is Form.READ and node.text == update.name for node in term)

    if any(map(reads, (*update.point, *domain.predicates))):
        return False
    if update.op in ("+=", "-=", "*="):
        return not any(map(reads, (update.value, *update.more)))
    if update.more:
        return False
    value = update.value
    operator = (value.form is Form.INFIX and value.text in _OPERATORS) or value.text in ("min", "max")
    if update.op != "=" or not operator or len(value.parts) != 2:
        return False
    own, new = value.parts
    return own.form is Form.READ and own.text == update.name and own.parts == update.point and not reads(new)


def names_its_loops(case: Case, func: str, stage: int) -> bool:
    """Whether a directive is about loops of a stage: those that it names would be gone."""
    reduced = set().union(*(_reduction_loops(case, func, s) for s in range(1, len(case.items) + 1)))
    inside = ("compute_at", "store_at")
    return any(
        ((t.func, t.stage) == (func, stage) and t.method != "unscheduled")
        or (t.method in inside and t.args[0] == Consumer(func) and t.args[1] in reduced)
        for t in case.directives
    )


def _reduction_loops(case: Case, func: str, stage: int) -> set[Given]:
    """The loops of a stage that its domain makes, and what directives make of them."""
    updates = [item for item in case.items if isinstance(item, Update) and item.name == func]
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    domain = domains.get(updates[stage - 1].domain) if 0 < stage <= len(updates) else None
    found: set[Given] = set()
    if domain is not None:
        found.update(Loop(f"{domain.name}.{_LETTERS[i]}") for i in range(len(domain.bounds)))
        for told in case.directives:
            if (told.func, told.stage) == (func, stage) and not found.isdisjoint(told.args):
                found.update(a for a in told.args if isinstance(a, Loop))
    return found


# ---------------------------------------------------------------------------------------------------------
# Tail strategies


LATER_TAILS = (
    TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores, TailStrategy.RoundUpAndBlend,
    TailStrategy.ShiftInwardsAndBlend, TailStrategy.ShiftInwardsAndBlend,
)  # fmt: skip
_SPLITTING = ("split", "tile", "vectorize", "unroll", "parallel")


def draw_tail(case: Case, rng: random.Random) -> Case | None:
    """Other tails for the splits of a case."""
    splits = [i for i, t in enumerate(case.directives) if t.method in _SPLITTING and len(t.args) > 1]
    if not splits:
        return None
    directives = list(case.directives)
    for i in rng.sample(splits, rng.randint(1, len(splits))):
        told = directives[i]
        args = told.args[:-1] if isinstance(told.args[-1], TailStrategy) else told.args
        reduced = args[0] in _reduction_loops(case, told.func, told.stage)
        tail = rng.choice(LATER_TAILS[:3] if reduced and rng.random() < 0.95 else LATER_TAILS)
        directives[i] = replace(told, args=(*args, tail))
    return replace(case, directives=tuple(directives))


# ---------------------------------------------------------------------------------------------------------
# Vectors of vectors


def _draw_vectors(case: Case, rng: random.Random) -> Case | None:
    """A second vectorized loop, over a dimension that nothing was said of."""
    args = model_of(case).args
    found = []
    for i, t in enumerate(case.directives):
        if t.method == "vectorize" and t.stage == 0 and not t.within:
            said = {a.name for each in case.directives if each.func == t.func for a in each.args if isinstance(a, Loop)}
            found += [(i, v) for v in args.get(t.func, ()) if v not in said]
    if not found:
        return None
    at, v = rng.choice(found)
    tail = rng.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards])
    told = replace(case.directives[at], args=(Loop(v), number(rng.choice([2, 2, 3]), INT32), tail))
    return replace(case, directives=(*case.directives[: at + 1], told, *case.directives[at + 1 :]))


# ---------------------------------------------------------------------------------------------------------
# hoist_storage


def _draw_hoist(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the two: of a Func that is computed in a loop."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        inside = [t for t in case.directives if t.method == "compute_at"]
        if not inside:
            return None
        told = rng.choice(inside)
        loops = [t.args for t in inside if t.args[0] == told.args[0]]
        given = rng.choice([told.args, *loops]) if method == "hoist_storage" else ()
        return replace(case, directives=(*case.directives, Told(told.func, 0, method, given)))

    return draw


# ---------------------------------------------------------------------------------------------------------
# in_, clone_in


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


def placed_funcs(case: Case) -> list[str]:
    """The Funcs that surely have loops of their own."""
    return [*case.outputs, *(t.func for t in case.directives if t.method in ("compute_root", "compute_at"))]


# ---------------------------------------------------------------------------------------------------------
# Tracing


def _draw_trace(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the calls that show a Func at work."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        func = rng.choice(list(model_of(case).args))
        given = ("a tag",) if method == Traced.TAG.value else ()
        return replace(case, directives=(*case.directives, Told(func, 0, method, given)))

    return draw


LATER: dict[str, Later] = {
    "hoist_storage": Later(_draw_hoist("hoist_storage"), (HoistStorage,)),
    "hoist_storage_root": Later(_draw_hoist("hoist_storage_root"), (HoistStorageRoot,)),
    "in_": Later(_draw_instead("in_"), (In,)),
    "clone_in": Later(_draw_instead("clone_in"), (CloneIn,)),
    "rfactor": Later(_draw_rfactor, (RFactor,)),
    **{what.value: Later(_draw_trace(what.value), (Trace,)) for what in Traced},
}
"""The directives."""
