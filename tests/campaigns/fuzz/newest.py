"""Directives newer than those of ``later``, and the rarest of those: each with random numbers of its own.

In: a case as ``later`` left it. Out: the case, often as it was, else with some of the directives. So another one
changes no case that has none of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.types import INT32
from halide_core.schedule.access_directives import Atomic, Partition, PartitionLoop, Prefetch
from halide_core.schedule.directives import (
    Async,
    ComputeAt,
    ComputeWith,
    LoopAlignStrategy,
    Reorder,
    TailStrategy,
    Traced,
    Traverse,
)
from halide_core.schedule.func_directives import InInput
from halide_core.schedule.storage_directives import Memoize, RingBuffer
from tests.campaigns.fuzz.case import Border, Case, Consumer, Definition, Given, Image, Loop, Then, Told, Update
from tests.campaigns.fuzz.draw_in_stages import draw_in_stages
from tests.campaigns.fuzz.draw_reductions import draw_at_once, draw_places
from tests.campaigns.fuzz.later import LATER, Later, draw_tail, names_its_loops, placed_funcs, reductions
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form, number

_PARTITIONS = [("never", "", 0.03), ("never", "_all", 0.03), ("always", "", 0.04), ("always", "_all", 0.03)]

_SHARES = {
    "atomic": 0.12, "prefetch": 0.08, "compute_with": 0.15, "async_": 0.1, "memoize": 0.5,
    "ring_buffer": 0.05, "partition_all": 0.02, "in_ of an input": 0.3, "places of reduction loops": 0.12,
    "reduction loops at once": 0.3, **{f"{which}_partition{rest}": share for which, rest, share in _PARTITIONS},
    "partition": 0.03, "computed in several stages": 0.8,
}  # fmt: skip
"""Of the cases that a generator is asked for, few have what it needs: reductions, or inputs."""

_RARE = {
    "rfactor": 0.35, "hoist_storage": 0.05, "hoist_storage_root": 0.05, "in_": 0.02, "clone_in": 0.02,
    **{what.value: 0.015 for what in Traced},
}  # fmt: skip
"""``later`` draws one thing for few cases, so that some are met by none of a few hundred: here is more of each."""
_RARE_TAILS = 0.08
"""And of its tails."""


def draw_newest(case: Case, seed: int, at: int) -> Case:
    """The case, or the case with some of the directives."""
    for method, each in (*NEWEST.items(), *_MORE.items()):
        rng = random.Random(f"{seed}/{at}/{method}")
        if rng.random() < _SHARES[method]:
            case = each.draw(case, rng) or case
    for method, share in _RARE.items():
        rng = random.Random(f"{seed}/{at}/more {method}")
        if rng.random() < share and all(t.method != method for t in case.directives):
            case = LATER[method].draw(case, rng) or case
    rng = random.Random(f"{seed}/{at}/more tails")
    return (draw_tail(case, rng) or case) if rng.random() < _RARE_TAILS else case


def _draw_prefetch(case: Case, rng: random.Random) -> Case | None:
    """Of what a Func reads, in a loop that nothing was said of."""
    args, placed = model_of(case).args, placed_funcs(case)
    roots = [t.func for t in case.directives if t.method == "compute_root"]  # whose memory is there in every loop
    memory = roots if rng.random() < 0.9 else placed
    memory += [item.name for item in case.items if isinstance(item, Image) and not item.embedded]
    found = []
    for item in case.items:
        if isinstance(item, Definition) and item.name in placed:
            said = {a.name for t in case.directives if t.func == item.name for a in t.args if isinstance(a, Loop)}
            free = [v for v in args[item.name] if v not in said]
            read = {node.text: None for v in item.terms() for node in v if node.form is Form.READ}
            found += [(item.name, free, name) for name in read if name in memory and name != item.name and free]
    if not found:
        return None
    func, loops, fetched = rng.choice(found)
    at = rng.randrange(len(loops))
    source = rng.randrange(at, len(loops))  # dimensions nest in their order, the first one innermost
    given = (Consumer(fetched), Loop(loops[at]), Loop(loops[source]), number(rng.choice([0, 1, 2, 5, 100]), INT32))
    told = Told(func, 0, "prefetch", (*given, rng.choice(list(PrefetchBoundStrategy))))
    return with_told(case, told)


def with_told(case: Case, told: Told) -> Case:
    """The case with one more directive, after all others."""
    return Case(case.seed, case.items, case.outputs, case.windows, (*case.directives, told), case.tags)


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
    return with_told(case, Told(func, 0, "compute_with", given))


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


def _draw_partition(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the calls about loops that are divided."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        args = model_of(case).args
        placed = [f for f in dict.fromkeys(placed_funcs(case)) if args[f]]
        if not placed:
            return None
        if method.startswith("always"):  # one with nothing to divide is refused
            edges = _edges(case)
            placed = [f for f in placed if edges.get(f)] if rng.random() < 0.9 else placed
            args = {**args, **{f: names for f, names in edges.items() if names}}
            if not placed:
                return None
        func = rng.choice(placed)
        said = {a.name for t in case.directives if t.func == func for a in t.args if isinstance(a, Loop)}
        free = [Loop(v) for v in args[func] if v not in said]
        given: tuple[Given, ...] = ()
        if not method.endswith("_all"):
            if not free:
                return None
            given = (rng.choice(free),)
            given += (rng.choice(list(Partition)),) if method == "partition" else ()
        return with_told(case, Told(func, 0, method, given))

    return draw


def _edges(case: Case) -> dict[str, tuple[str, ...]]:
    """Of each Func, the variables that its definition clamps, or reads at a border by."""
    borders = {item.name for item in case.items if isinstance(item, Border)}
    found: dict[str, tuple[str, ...]] = {}
    for item in case.items:
        if isinstance(item, Definition):
            nodes = [n for term in item.terms() for n in term]
            ends = [n for n in nodes if n.text == "clamp" or (n.form is Form.READ and n.text in borders)]
            names = {n.text for end in ends for n in end if n.form is Form.NAME}
            found[item.name] = tuple(v for v in item.args if v in names)
    return found


def _draw_ahead(method: str, *given: Given) -> Callable[[Case, random.Random], Case | None]:
    """The generator of a call about any Func, such as one that lets it be computed ahead of what reads it."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        found = [d.name for d in case.items if isinstance(d, Definition)]
        return with_told(case, Told(rng.choice(found), 0, method, given)) if found else None

    return draw


def _draw_memoize(case: Case, rng: random.Random) -> Case | None:
    """Of a Func with memory of its own, where no input would have to be tagged."""
    apart = ("store_at", "store_root", "async_", "compute_with", "memoize")
    refused = {t.func for t in case.directives if t.method in apart}
    found = [name for name in placed_funcs(case) if name not in case.outputs and name not in refused]
    if not found or any(isinstance(item, Image) for item in case.items):
        return None
    return with_told(case, Told(rng.choice(found), 0, "memoize"))


_INPUTS = Later(_draw_input_wrapper, (InInput,))

_MORE = {
    "in_ of an input": _INPUTS,
    "places of reduction loops": Later(draw_places, (Reorder,)),
    "reduction loops at once": Later(draw_at_once, (Traverse,)),
    "computed in several stages": Later(draw_in_stages, (ComputeAt,)),
}
"""More of what other generators draw too."""

_PARTITIONING = ("partition", *(f"{which}_partition{rest}" for which, rest, _ in _PARTITIONS))

NEWEST: dict[str, Later] = {
    "atomic": Later(_draw_atomic, (Atomic,)),
    "prefetch": Later(_draw_prefetch, (Prefetch,)),
    "async_": Later(_draw_ahead("async_"), (Async,)),
    "ring_buffer": Later(_draw_ahead("ring_buffer", number(3, INT32)), (RingBuffer,)),
    "partition_all": Later(_draw_ahead("partition_all", Partition.Never), (PartitionLoop,)),
    "compute_with": Later(_draw_compute_with, (ComputeWith,)),
    "memoize": Later(_draw_memoize, (Memoize,)),
    **{method: Later(_draw_partition(method), (PartitionLoop,)) for method in _PARTITIONING},
}
"""The directives."""

ADDED = {**LATER, **NEWEST, "in_": Later(LATER["in_"].draw, (*LATER["in_"].records, *_INPUTS.records))}
"""All that came after campaigns had begun: ``in_`` is a method of Funcs and of inputs."""
