"""Generators of directives: a table from the methods of the interface to generators.

In: a Drawing: one nest of the model, and the random generator. Out: a Told appended, and the nest changed as the
directive will change it; or nothing, where no loop fits.

A directive that the interface offers and this table lacks makes a test fail (``registry``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from halide_core.ir import LoopKind
from halide_core.ir.types import INT32
from halide_core.schedule.directives import (
    AlignBounds,
    AllowRaceConditions,
    Bound,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Directive,
    Estimate,
    Fuse,
    Rename,
    Reorder,
    Specialize,
    SpecializeFail,
    Split,
    StoreAt,
    StoreRoot,
    TailStrategy,
    Traverse,
)
from halide_core.schedule.storage_directives import AlignStorage, BoundStorage, FoldStorage, ReorderStorage, StoreIn
from tests.campaigns.fuzz.case import Case, Given, Image, Loop, Scalar, Told
from tests.campaigns.fuzz.nests import LoopModel, Nest
from tests.campaigns.fuzz.terms import Term, call, infix, name, number

AUTO, GUARD = TailStrategy.Auto, TailStrategy.GuardWithIf
_SPLITTABLE = (LoopKind.SERIAL, LoopKind.PARALLEL)


@dataclass(slots=True)
class Drawing:
    """One stage whose directives are being drawn."""

    case: Case
    rng: random.Random
    nest: Nest
    nests: list[Nest]
    """Those of all stages of the Func."""
    told: list[Told]
    within: tuple[Term, ...] = ()
    """The specialization that is being drawn."""

    def tell(self, method: str, *args: Given) -> None:
        """Appends a directive."""
        func, stage = self.nest.stage
        self.told.append(Told(func, stage, method, args, self.within))

    def pick(self, fits: Callable[[LoopModel], bool]) -> LoopModel | None:
        """One of the loops that fit."""
        loops = [loop for loop in self.nest.loops if fits(loop)]
        return self.rng.choice(loops) if loops else None

    def fresh(self, base: str) -> str:
        """A name that no loop of the nest ever had."""
        stem, count = base, 1
        while stem in self.nest.taken:
            stem, count = f"{base}{count}", count + 1
        return stem

    def inner(self, loop: LoopModel, suffix: str) -> str:
        """The name that a directive gives to the inner loop that it makes."""
        taken = {each for nest in self.nests for case in nest.all_cases() for each in case.taken}
        label, count = f"{loop.name}.{suffix}", 1
        while label in taken:
            count += 1
            label = f"{loop.name}.{suffix}{count}"
        return label

    def factor(self) -> tuple[Term, int | None]:
        """A factor, and its value where it is a constant."""
        r = self.rng
        ints = [s for s in self.case.items if isinstance(s, Scalar) and s.type is INT32]
        if ints and r.random() < 0.08:
            p = r.choice(ints)
            return call("max", INT32, name(p.name, INT32, of=p.name), number(1, INT32)), None
        k = r.choice([1, 2, 2, 3, 4, 4, 5, 7, 8])
        return number(k, INT32), k

    def tail(self, loop: LoopModel, k: int | None) -> TailStrategy:
        """A tail strategy that is legal."""
        exact = loop.extent is not None and k is not None and loop.extent % k == 0
        legal = [AUTO, GUARD]
        if exact or (loop.pure and loop.grows and not self.nest.steered):
            legal.append(TailStrategy.RoundUp)
        shifts = loop.pure and self.nest.stage[1] == 0
        if exact or (shifts and (loop.grows or (loop.extent is not None and k is not None and k <= loop.extent))):
            legal.append(TailStrategy.ShiftInwards)
        return self.rng.choice(legal)

    def split(self, loop: LoopModel, outer: str, inner: str, k: int | None) -> None:
        """Changes the nest as a split does."""
        count = -(-loop.extent // k) if loop.extent is not None and k is not None else None
        grows = loop.grows and loop.extent is None
        self.nest.replace_loop(
            loop.name,
            replace(loop, name=outer, extent=count, grows=grows),
            LoopModel(inner, loop.pure, k),
        )


@dataclass(frozen=True, slots=True)
class Generator:
    """The generator of one method, its weight, and the directives that it records."""

    draw: Callable[[Drawing], None]
    weight: int
    records: tuple[type[Directive], ...]


def _tail_args(tail: TailStrategy) -> tuple[Given, ...]:
    return () if tail is AUTO else (tail,)


def _draw_split(d: Drawing) -> None:
    loop = d.pick(lambda each: each.kind in _SPLITTABLE)
    if loop is None:
        return
    factor, k = d.factor()
    tail = d.tail(loop, k)
    outer, inner = d.fresh(f"{loop.name}o"), d.fresh(f"{loop.name}i")
    match d.rng.randint(0, 7):
        case 0:
            outer = loop.name
        case 1:
            inner = loop.name
    d.tell("split", Loop(loop.name), Loop(outer), Loop(inner), factor, *_tail_args(tail))
    d.split(loop, outer, inner, k)
    new = d.nest.loops[d.nest.index(inner)]
    if new.extent is not None and d.rng.random() < 0.5:
        _run(d, new, d.rng.choice([LoopKind.VECTORIZED, LoopKind.UNROLLED]))


def _run(d: Drawing, loop: LoopModel, kind: LoopKind) -> None:
    """Says how a loop is run, if that is legal."""
    vectorized = any(each.kind is LoopKind.VECTORIZED for each in d.nest.loops)
    if kind is LoopKind.VECTORIZED and (vectorized or not loop.pure):
        return
    d.tell({LoopKind.VECTORIZED: "vectorize", LoopKind.UNROLLED: "unroll"}[kind], Loop(loop.name))
    d.nest.run_as(loop.name, kind)


def _draw_fuse(d: Drawing) -> None:
    serial = [loop for loop in d.nest.loops if loop.kind is LoopKind.SERIAL]
    pairs = [(a, b) for a in serial for b in serial if a is not b and _fuses(d.nest, a, b)]
    if not pairs:
        return
    inner, outer = d.rng.choice(pairs)
    fused = d.fresh(f"{inner.name}{outer.name}") if d.rng.random() < 0.8 else inner.name
    d.tell("fuse", Loop(inner.name), Loop(outer.name), Loop(fused))
    both = inner.extent is not None and outer.extent is not None
    extent = inner.extent * outer.extent if both else None  # type: ignore[operator]  # neither is None
    d.nest.loops.remove(outer)
    d.nest.replace_loop(inner.name, LoopModel(fused, inner.pure and outer.pure, extent))


def _fuses(nest: Nest, inner: LoopModel, outer: LoopModel) -> bool:
    return (inner.pure and outer.pure) or nest.loops.index(inner) == nest.loops.index(outer) + 1


def _draw_reorder(d: Drawing) -> None:
    if len(d.nest.loops) < 2:
        return
    chosen = d.rng.sample(d.nest.loops, d.rng.randint(2, len(d.nest.loops)))
    # Reduction loops keep their order: those among the chosen are put back into it.
    order = [loop for loop in reversed(d.nest.loops) if loop in chosen and not loop.pure]
    names = [loop.name if loop.pure else order.pop(0).name for loop in chosen]
    before = [loop.name for loop in d.nest.loops if not loop.pure]
    loops = list(d.nest.loops)
    d.nest.reorder(names)
    if [loop.name for loop in d.nest.loops if not loop.pure] != before:
        d.nest.loops = loops
        return
    d.tell("reorder", *map(Loop, names))


def _draw_serial(d: Drawing) -> None:
    loop = d.pick(lambda each: True)
    if loop is not None:
        d.tell("serial", Loop(loop.name))
        d.nest.run_as(loop.name, LoopKind.SERIAL)
        if not loop.pure:  # drawn loops never need it: it must change nothing
            d.tell("allow_race_conditions")


def _draw_parallel(d: Drawing) -> None:
    loop = d.pick(lambda each: each.pure and each.kind is LoopKind.SERIAL)
    if loop is None:
        return
    if d.rng.random() < 0.3:
        factor, k = d.factor()
        tail = d.tail(loop, k)
        d.tell("parallel", Loop(loop.name), factor, *_tail_args(tail))
        d.split(loop, loop.name, d.inner(loop, "t"), k)
    else:
        d.tell("parallel", Loop(loop.name))
    d.nest.run_as(loop.name, LoopKind.PARALLEL)


_WIDE = 0.3
"""So often vectors may be wider than registers, which makes several of one loop's."""


def _draw_inner(method: str, suffix: str, kind: LoopKind) -> Callable[[Drawing], None]:
    """The generator of ``vectorize`` or ``unroll``, of a whole loop of constant length or with a factor."""

    def draw(d: Drawing) -> None:
        vectorize = kind is LoopKind.VECTORIZED
        if vectorize and any(each.kind is kind for each in d.nest.loops):
            return
        most = 16 if vectorize else 8
        loop = d.pick(lambda each: each.kind in _SPLITTABLE and (each.pure or not vectorize))
        if loop is None:
            return
        whole = loop.extent is not None and 0 < loop.extent <= most
        if whole and d.rng.random() < 0.5:
            d.tell(method, Loop(loop.name))
            d.nest.run_as(loop.name, kind)
        else:
            k = d.rng.choice([1, 2, 3, 4, 4, 5, 8, *([16, 32] if vectorize and d.rng.random() < _WIDE else [])])
            tail = d.tail(loop, k)
            d.tell(method, Loop(loop.name), number(k, INT32), *_tail_args(tail))
            inner = d.inner(loop, suffix)
            d.split(loop, loop.name, inner, k)
            d.nest.run_as(inner, kind)

    return draw


def _draw_tile(d: Drawing) -> None:
    pure = [loop for loop in d.nest.loops if loop.pure and loop.kind in _SPLITTABLE]
    if len(pure) < 2:
        return
    x, y = d.rng.sample(pure, 2)
    kx, ky = (d.rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(2))
    tails = [d.tail(loop, k) for loop, k in ((x, kx), (y, ky))]
    tail = tails[0] if tails[0] is tails[1] else AUTO
    names = [d.fresh(f"{loop.name}{letter}") for letter in "oi" for loop in (x, y)]
    xo, yo, xi, yi = names if d.rng.random() < 0.7 else [x.name, y.name, *names[2:]]
    outer = () if xo == x.name else (Loop(xo), Loop(yo))
    factors = (number(kx, INT32), number(ky, INT32))
    d.tell("tile", Loop(x.name), Loop(y.name), *outer, Loop(xi), Loop(yi), *factors, *_tail_args(tail))
    d.split(x, xo, xi, kx)
    d.split(y, yo, yi, ky)
    d.nest.reorder([xi, yi, xo, yo])


def _draw_rename(d: Drawing) -> None:
    loop = d.pick(lambda each: True)
    if loop is not None:
        label = d.fresh(f"{loop.name}n")
        d.tell("rename", Loop(loop.name), Loop(label))
        d.nest.replace_loop(loop.name, replace(loop, name=label))


def _condition(d: Drawing) -> tuple[Term, bool] | None:
    """Something that is known at start-up, and whether it holds."""
    r = d.rng
    scalars = [s for s in d.case.items if isinstance(s, Scalar) and s.type.is_integer()]
    images = [i for i in d.case.items if isinstance(i, Image) and i.extents and not i.embedded]
    if scalars and (r.random() < 0.7 or not images):
        s = r.choice(scalars)
        p, value = name(s.name, s.type, of=s.name), int(s.value)
        if s.type.is_bool():
            return p, bool(value)
        least = r.randint(max(s.type.range[0], value - 2), min(s.type.range[1], value + 2))
        return infix(">=", p, number(least, s.type)), value >= least
    if not images:
        return None
    image = r.choice(images)
    extent = name(f"{image.name}.dim(0).extent()", of=image.name)
    wanted = r.choice([image.extents[0], image.extents[0] + 1, 5])
    return infix("==", extent, number(wanted, INT32)), image.extents[0] == wanted


def _draw_specialize(d: Drawing) -> None:
    drawn = _condition(d)
    if drawn is None or len(d.within) > 1:
        return
    condition, holds = drawn
    if any(told.method == "specialize" and told.args == (condition,) for told in d.told):
        return
    d.tell("specialize", condition)
    case = replace(d.nest, loops=list(d.nest.loops), taken=set(d.nest.taken), cases=[])
    d.nest.cases.append(case)
    draw_loops(replace(d, nest=case, within=(*d.within, condition)), d.rng.randint(0, 3))
    if holds and not d.within and d.rng.random() < 0.25:
        d.tell("specialize_fail", "no case is taken")
        d.nest.ended = True


def _draw_unscheduled(d: Drawing) -> None:
    if not any((t.func, t.stage) == d.nest.stage and t.method in LOOP_DIRECTIVES for t in d.told):
        d.tell("unscheduled")


_VECTORIZE = _draw_inner("vectorize", "v", LoopKind.VECTORIZED)
_UNROLL = _draw_inner("unroll", "u", LoopKind.UNROLLED)

LOOP_DIRECTIVES: dict[str, Generator] = {
    "split": Generator(_draw_split, 6, (Split,)),
    "fuse": Generator(_draw_fuse, 3, (Fuse,)),
    "reorder": Generator(_draw_reorder, 3, (Reorder,)),
    "serial": Generator(_draw_serial, 1, (Traverse,)),
    "allow_race_conditions": Generator(_draw_serial, 0, (AllowRaceConditions,)),
    "parallel": Generator(_draw_parallel, 2, (Traverse, Split)),
    "vectorize": Generator(_VECTORIZE, 3, (Traverse, Split)),
    "unroll": Generator(_UNROLL, 2, (Traverse, Split)),
    "tile": Generator(_draw_tile, 2, (Split, Reorder)),
    "rename": Generator(_draw_rename, 1, (Rename,)),
    "specialize": Generator(_draw_specialize, 2, (Specialize,)),
    "specialize_fail": Generator(_draw_specialize, 0, (SpecializeFail,)),
    "unscheduled": Generator(_draw_unscheduled, 1, ()),
}
"""The directives about the loops of one stage. Of weight 0 is what another one's generator draws too."""


def draw_loops(d: Drawing, count: int) -> None:
    """Draws some directives about the loops of a stage."""
    names = list(LOOP_DIRECTIVES)
    weights = [LOOP_DIRECTIVES[n].weight for n in names]
    for _ in range(count):
        if not d.nest.ended:
            LOOP_DIRECTIVES[d.rng.choices(names, weights)[0]].draw(d)


FUNC_DIRECTIVES: dict[str, tuple[type[Directive], ...]] = {
    "compute_root": (ComputeRoot,),
    "compute_at": (ComputeAt,),
    "compute_inline": (ComputeInline,),
    "store_root": (StoreRoot,),
    "store_at": (StoreAt,),
    "fold_storage": (FoldStorage,),
    "store_in": (StoreIn,),
    "reorder_storage": (ReorderStorage,),
    "align_storage": (AlignStorage,),
    "bound_storage": (BoundStorage,),
    "bound": (Bound,),
    "bound_extent": (Bound,),
    "align_bounds": (AlignBounds,),
    "align_extent": (AlignBounds,),
    "set_estimate": (Estimate,),
    "set_estimates": (Estimate,),
}
"""The directives about a whole Func, which ``draw_schedule`` and ``draw_hint`` draw."""


def draw_hint(case: Case, rng: random.Random, func: str, args: tuple[str, ...], told: list[Told]) -> None:
    """Draws a hint about the bounds of a Func."""
    if not args:
        return
    match rng.randint(0, 5):
        case 0:
            modulus, rest = rng.randint(1, 5), rng.randint(0, 4)
            given = (number(modulus, INT32), *((number(rest, INT32),) if rest else ()))
            told.append(Told(func, 0, "align_bounds", (Loop(rng.choice(args)), *given)))
        case 1:
            told.append(Told(func, 0, "align_extent", (Loop(rng.choice(args)), number(rng.randint(1, 5), INT32))))
        case 2:
            told.append(Told(func, 0, "set_estimate", (Loop(args[0]), number(-1, INT32), number(100, INT32))))
        case 3:
            told.append(Told(func, 0, "set_estimates", (tuple((0, 50 + i) for i in range(len(args))),)))
        case _:
            _draw_bound(case, rng, func, args, told)


def _draw_bound(case: Case, rng: random.Random, func: str, args: tuple[str, ...], told: list[Told]) -> None:
    """Promises that an output is computed where its window is; seldom where rounding up would break that."""
    if func not in case.outputs or not args:
        return
    rounds = any(t.func == func and t.method in ("split", "tile", "vectorize", "unroll", "parallel") for t in told)
    if (rounds or len(case.outputs) > 1) and rng.random() < 0.9:
        return
    window = case.windows[case.outputs.index(func)]
    at = rng.randrange(len(args))
    low, extent = window[at]
    if extent <= 0:
        return
    if rng.random() < 0.5:
        told.append(Told(func, 0, "bound", (Loop(args[at]), number(low, INT32), number(extent, INT32))))
    else:
        told.append(Told(func, 0, "bound_extent", (Loop(args[at]), number(extent, INT32))))
