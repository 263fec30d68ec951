"""Schedules of the grammar's programs: a place and a way that are asked for, with others around them.

In: a case without a schedule, a Place, a Way. Out: the case with directives, consumers' before producers'.

Loops are those of ``nests``, and directives about them are drawn by ``directives``: the model of what is legal is the
same as for all other cases. What it doesn't know, ``legal`` asks the compiler.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir import LoopKind
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Given, Loop, Then, Told, Update
from tests.campaigns.fuzz.directives import LOOP_DIRECTIVES, Drawing
from tests.campaigns.fuzz.draw_schedule import _Schedule
from tests.campaigns.fuzz.families.finding import names_its_loops, reductions
from tests.campaigns.fuzz.grammar.axes import Place, Way
from tests.campaigns.fuzz.grammar.tempting import tempt
from tests.campaigns.fuzz.nests import LoopModel, Nest, Path, Stage
from tests.campaigns.fuzz.terms import call, infix, name, number

FUNC = "w"
_CONCURRENT = (LoopKind.PARALLEL, LoopKind.VECTORIZED)
_INSIDE = (Place.AT_INNER, Place.AT_OUTER, Place.STORE_ROOT, Place.STORE_AT, Place.FOLD, Place.HOIST)
_TAILS = {
    Way.TAIL_GUARD: (TailStrategy.GuardWithIf,),
    Way.TAIL_ROUND: (TailStrategy.RoundUp, TailStrategy.RoundUp, TailStrategy.RoundUpAndBlend),
    Way.TAIL_SHIFT: (TailStrategy.ShiftInwards, TailStrategy.ShiftInwards, TailStrategy.ShiftInwardsAndBlend),
    Way.TAIL_PREDICATE: (TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores),
}
_ORDERS = {Place.REORDER: ("reorder",), Place.SPLIT: ("split", "split", "tile"), Place.FUSE: ("fuse",)}
_IN_LANES = 0.25
"""So often loops that are vectors may have a Func computed in them."""
_INSIDE_LANES, _ALIGNED = 0.5, 0.4
"""So often what such a Func reads may be computed in its loops there; and so often the bounds of that are aligned, so
that it takes more memory in one lane than in another."""
_FORBIDDEN, _STEERED = 0.3, 0.7
"""So often a tail, or a fold, is drawn that must be refused; and so often a tail where a stage steers itself, which few
do."""
_TEMPTED = 0.5
_FUSED = 0.5
"""So often two loops of a reduction are one where it is factored."""
_BESIDE = 0.5
"""So often a Func is computed where another one is, so that what is done to that loop is met by both."""
_IN_EACH = 0.5
"""So often what several stages of a Func read may be computed in loops of one of them: the others get copies there."""
_STORED = ("store_root", "store_at", "fold_storage", "hoist_storage", "hoist_storage_root")
_LOOPS = ("split", "reorder", "unroll", "vectorize", "parallel", "fuse", "tile", "specialize", "rename")


class Steered(_Schedule):
    """One schedule."""

    def __init__(self, case: Case, rng: random.Random, place: Place, way: Way) -> None:
        super().__init__(case, rng)
        self.places = [place, *(rng.sample(list(Place), rng.choice([0, 1, 1, 2])))]
        self.ways = [way, *(rng.sample(list(Way), rng.choice([0, 0, 1, 2])))]
        if Way.RFACTOR in self.ways[1:]:
            self.ways = self.ways[:1]

    def draw(self) -> tuple[Told, ...]:
        """Consumers first, then the Func, then what comes before it."""
        factored = self._factored() if Way.RFACTOR in self.ways else []
        for func in reversed(list(self.model.args)):
            reads = any(reader == func for reader, _ in self.model.readers.get(FUNC, ()))
            if not self._place(func):
                continue
            if func == FUNC:
                self._about_loops(func, share=0.75, spared=factored[0].stage if factored else -1)
                self._remember()
            elif reads:
                self._order(func)
                self._about_loops(func, share=0.5)
            elif self.rng.random() < 0.3:
                nests = self.model.nests[func]
                self._loop(Drawing(self.case, self.rng, nests[0], nests, self.told), self.rng.choice(_LOOPS))
        return (*factored, *self.told)

    # -- where

    def _place(self, func: str) -> bool:
        r = self.rng
        if func in self.case.outputs:
            self.inside[func] = ()
            return True
        if func != FUNC:
            placed = super()._place(func)
            self._store_beside(func)
            if self._is_in_lanes(func) and r.random() < _ALIGNED:
                loop = Loop(r.choice(self.model.args[func]))
                self.told.append(Told(func, 0, "align_bounds", (loop, number(r.choice([2, 3, 4]), INT32))))
            return placed
        around = self._around_all(self._readers(func))
        end = next((i for i, (_, loop) in enumerate(around) if loop.kind is LoopKind.VECTORIZED), len(around))
        around = around if r.random() < _IN_LANES else around[:end]
        inside = bool(around) and (any(p in _INSIDE for p in self.places) or r.random() < 0.5)
        if Place.ROOT in self.places[:1] or not inside:
            self.inside[func] = ()
            self.told.append(Told(func, 0, "compute_root"))
            return True
        at = self._level(around)
        self.inside[func] = around[: at + 1]
        self.told.append(Told(func, 0, "compute_at", _at(around, at)))
        self._store_inside(func, around, at)
        return True

    def _is_in_lanes(self, func: str) -> bool:
        return any(loop.kind is LoopKind.VECTORIZED for _, loop in self.inside.get(func, ()))

    def _around_all(self, stages: list[Stage]) -> Path:
        """The loops around every one of some stages; or at times those of one, where the others have loops alike."""
        one = len(stages) > 1 and len({func for func, _ in stages}) == 1 and self.rng.random() < _IN_EACH
        return super()._around_all([self.rng.choice(stages)] if one else stages)

    def _sound(self, path: Path) -> bool:
        """In lanes mostly where the Func is computed in them too."""
        return super()._sound(path) or (self._is_in_lanes(FUNC) and self.rng.random() < _INSIDE_LANES)

    def _level(self, around: Path) -> int:
        if Place.AT_OUTER in self.places and len(around) > 1:
            return self.rng.randrange(len(around) - 1)
        beside = [len(at) - 1 for at in self.inside.values() if 0 < len(at) <= len(around) and at == around[: len(at)]]
        if beside and self.rng.random() < _BESIDE:
            return self.rng.choice(beside)
        if Place.STORE_AT in self.places and len(around) > 1:
            return self.rng.randrange(1, len(around))
        return len(around) - 1 if Place.AT_INNER in self.places else self.rng.randrange(len(around))

    def _store_inside(self, func: str, around: Path, at: int) -> None:
        r = self.rng
        concurrent = [i for i in range(at + 1) if around[i][1].kind in _CONCURRENT]
        least = concurrent[-1] if concurrent else -1
        if (Place.STORE_ROOT in self.places or Place.FOLD in self.places) and least < 0:
            self.told.append(Told(func, 0, "store_root"))
        elif Place.STORE_AT in self.places and at > max(least, 0):
            self.told.append(Told(func, 0, "store_at", _at(around, r.randrange(max(least, 0), at))))
        if Place.FOLD in self.places:
            slots = number(r.choice([2, 3, 4, 8, 16, 16, 32]), INT32)
            self.told.append(Told(func, 0, "fold_storage", (Loop(r.choice(self._folding())), slots)))
        if Place.HOIST in self.places:
            self._hoist(func, around[: at + 1])

    def _store_beside(self, func: str) -> None:
        """Where the memory of a Func is that is computed near the Func: memory that is hoisted is taken in turn by what
        slides beside it, and the other way round."""
        around = self.inside.get(func, ())
        stored = any(t.func == func and t.method in _STORED for t in self.told)
        if not around or stored or any(loop.kind in _CONCURRENT for _, loop in around) or self.rng.random() < 0.4:
            return
        if Place.HOIST in self.places and self.rng.random() < 0.5:
            self.told.append(Told(func, 0, "store_root"))
        elif any(place in self.places for place in (Place.HOIST, Place.STORE_ROOT, Place.STORE_AT)):
            self._hoist(func, around)

    def _hoist(self, func: str, around: Path) -> None:
        """Memory out of the loops that a Func is computed in: out of the innermost alone, of all, or anything between;
        what happens to the loop that it leaves happens beside its new place."""
        at = self.rng.choice([len(around) - 2, len(around) - 2, -1, self.rng.randrange(len(around))])
        given = _at(around, at) if at >= 0 else ()
        self.told.append(Told(func, 0, "hoist_storage" if given else "hoist_storage_root", given))

    def _folding(self) -> list[str]:
        """The dimensions that every update goes through by itself, of which one may fold; else all, and at times all in
        any case: the compiler has to refuse the others."""
        args = self.model.args[FUNC]
        if self.rng.random() < _FORBIDDEN:
            return list(args)
        updates = [item for item in self.case.items if isinstance(item, Update) and item.name == FUNC]
        through = [v for i, v in enumerate(args) if all(u.point[i] == name(v) for u in updates)]
        around = [loop.name for _, loop in self.inside[FUNC]]
        return [v for v in through if v in around] or through or list(args)

    def _remember(self) -> None:
        """Draws the layout of the Func's memory, and a wrapper or clone that stands for it."""
        if Place.LAYOUT in self.places:
            self._lay_out_always()
        for way in (Way.IN, Way.CLONE_IN):
            if way in self.ways:
                self._instead("in_" if way is Way.IN else "clone_in")

    def _lay_out_always(self) -> None:
        r, args = self.rng, self.model.args[FUNC]
        dims = r.sample(args, r.randint(1, len(args)))
        told: dict[str, tuple[Given, ...]] = {
            "store_in": (r.choice([MemoryType.Heap, MemoryType.Auto]),),
            "reorder_storage": tuple(map(Loop, dims)),
            "align_storage": (Loop(dims[0]), r.choice([2, 4, 7])),
            "bound_storage": (Loop(dims[0]), r.choice([40, 64])),
        }
        method = r.choice(["store_in", "reorder_storage", "reorder_storage", "align_storage", "bound_storage"])
        self.told.append(Told(FUNC, 0, method, told[method]))

    def _instead(self, method: str) -> None:
        """A wrapper or a clone for one of the readers."""
        r = self.rng
        reader = r.choice([func for func, _ in self.model.readers[FUNC]])
        then: list[Then] = []
        inside = self.inside[FUNC]
        if inside and method == "in_" and r.random() < 0.6:
            (consumer, _), loop = inside[-1]
            then.append(("compute_at", (Consumer(consumer), Loop(loop.name))))
        elif not inside and r.random() < 0.7:
            then.append(("compute_root", ()))
        if then and r.random() < 0.4:
            tail = r.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp])
            args = (Loop(r.choice(self.model.args[FUNC])), number(r.choice([2, 3, 4]), INT32), tail)
            then.append((r.choice(["vectorize", "unroll"]), args))
        self.told.append(Told(FUNC, 0, method, (Consumer(reader),), then=tuple(then)))

    def _factored(self) -> list[Told]:
        """``rfactor`` of an update, at times of two of its loops in one; its loops are spared by what else is drawn."""
        r = self.rng
        found = [at for at in reductions(self.case) if at[0] == FUNC and not names_its_loops(self.case, *at[:2])]
        if not found:
            return []
        func, stage, domain = r.choice(found)
        loops = [Loop(f"{domain.name}.{letter}") for letter in "xyzw"[: len(domain.bounds)]]
        kept, before = loops[-1], list[Told]()
        if len(loops) > 1 and r.random() < _FUSED:
            kept = Loop(f"{domain.name}.f")
            before.append(Told(func, stage, "fuse", (loops[-2], loops[-1], kept)))
        then: tuple[Then, ...] = (("compute_root", ()),) if r.random() < 0.7 else ()
        if then and r.random() < 0.4:
            way: Then = r.choice([("parallel", (Loop("u"),)), ("vectorize", (Loop("u"), number(4, INT32)))])
            then = (*then, ("update", ()), way)
        nest = self.model.nests[func][stage]
        nest.loops = [loop for loop in nest.loops if loop.pure]
        return [*before, Told(func, stage, "rfactor", (kept, Loop("u")), then=then)]

    # -- loops

    def _order(self, func: str) -> None:
        """The order of a consumer's loops."""
        for place in self.places:
            if place in _ORDERS and self.rng.random() < 0.7:
                nests = self.model.nests[func]
                self._loop(Drawing(self.case, self.rng, nests[0], nests, self.told), self.rng.choice(_ORDERS[place]))

    def _about_loops(self, func: str, share: float, spared: int = -1) -> None:
        """Draws how a Func's loops run; ``share`` of the ways are tried for it."""
        r, nests = self.rng, self.model.nests[func]
        for way in self.ways:
            if r.random() < share:
                nest = r.choice([n for n in nests if n.stage[1] != spared] or nests)
                self._way(Drawing(self.case, r, nest, nests, self.told), way)
        if r.random() < 0.3:
            nest = r.choice(nests)
            if nest.stage[1] != spared:
                self._loop(Drawing(self.case, r, nest, nests, self.told), r.choice(_LOOPS))
        if r.random() < _TEMPTED:
            nest = r.choice(nests)
            if nest.stage[1] != spared:
                tempt(Drawing(self.case, r, nest, nests, self.told))

    def _loop(self, d: Drawing, verb: str) -> None:
        if d.nest.loops or verb == "specialize":
            LOOP_DIRECTIVES[verb].draw(d)

    def _way(self, d: Drawing, way: Way) -> None:
        match way:
            case Way.VECTOR:
                self._loop(d, "vectorize")
            case Way.THREADS:
                self._loop(d, "parallel")
            case Way.SPECIALIZE:
                self._specialize(d)
            case _ if way in _TAILS:
                self._tail(d, way)

    def _specialize(self, d: Drawing) -> None:
        """A case for a value of the Param; loops are drawn in it at times."""
        value = number(self.rng.choice([0, 1, 2]), INT32)
        condition = infix(self.rng.choice([">", "==", "<="]), name("p", of="p"), value)
        if any(t.method == "specialize" and (t.func, t.stage) == d.nest.stage for t in d.told):
            return
        d.tell("specialize", condition)
        case = replace(d.nest, loops=list(d.nest.loops), taken=set(d.nest.taken), cases=[])
        d.nest.cases.append(case)
        if case.loops and self.rng.random() < 0.7:
            self._loop(replace(d, nest=case, within=(condition,)), self.rng.choice(["vectorize", "split", "unroll"]))

    def _tail(self, d: Drawing, way: Way) -> None:
        """A split with a tail that the way asks for."""
        r = self.rng
        loops = [each for each in d.nest.loops if each.kind is LoopKind.SERIAL and self._takes(d.nest, each, way)]
        if not loops:
            return
        loop, k = r.choice(loops), r.choice([1, 2, 3, 3, 4, 4, 5, 8])
        tail = r.choice(_TAILS[way])
        verb = r.choice(["split", "vectorize", "unroll"]) if loop.pure else r.choice(["split", "unroll"])
        if verb == "vectorize" and any(each.kind is LoopKind.VECTORIZED for each in d.nest.loops):
            verb = "split"
        if verb == "split":
            outer, inner = d.fresh(f"{loop.name}o"), d.fresh(f"{loop.name}i")
            known = r.random() < (0.7 if loop.pure else 0.45)
            factor = number(k, INT32) if known else call("max", INT32, name("p", of="p"), number(1, INT32))
            d.tell("split", Loop(loop.name), Loop(outer), Loop(inner), factor, tail)
            d.split(loop, outer, inner, k if known else None)
            return
        kind, suffix = (LoopKind.VECTORIZED, "v") if verb == "vectorize" else (LoopKind.UNROLLED, "u")
        d.tell(verb, Loop(loop.name), number(k, INT32), tail)
        inner = d.inner(loop, suffix)
        d.split(loop, loop.name, inner, k)
        d.nest.run_as(inner, kind)

    def _takes(self, nest: Nest, loop: LoopModel, way: Way) -> bool:
        """True where a loop may have a tail: nothing of a reduction's may be run twice. What the compiler has to refuse
        is asked for too."""
        forbidden = self.rng.random() < (_STEERED if nest.steered else _FORBIDDEN)
        if forbidden or way in (Way.TAIL_GUARD, Way.TAIL_PREDICATE):
            return True
        if not loop.pure or nest.steered:
            return False
        return way is Way.TAIL_ROUND or nest.stage[1] == 0


def _at(around: Path, at: int) -> tuple[Given, ...]:
    (consumer, _), loop = around[at]
    return (Consumer(consumer), Loop(loop.name))


def draw_steered(case: Case, rng: random.Random, place: Place, way: Way) -> Case:
    """The case with a schedule."""
    return replace(case, directives=Steered(case, rng, place, way).draw())
