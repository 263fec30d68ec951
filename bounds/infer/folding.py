"""Storage folding: how many slots memory needs where what was computed is forgotten again.

In: a Func whose memory outlives the iterations that compute it, and its compute bounds. Out: for each dimension that
folds, the number of slots; a point's slot is its coordinate's remainder.

    ?cpu bx.y = [y - 1, y + 1] inside loop y, stored outside    ->    bx.y folds by 3

All that is read or written in an iteration lies in the compute bounds, so slots are distinct while they count if the
bounds are never longer than the fold. What an iteration keeps was needed one step before (``bounds.infer.sliding``);
where there are iterations between the two, of loops further in, these must not move the dimension, so that all that
they write lies in the bounds of one of the two. Folding by default needs a length with a constant bound, and
coordinates that no vector runs along; along dense points the slots are a power of two. A Func that a thread of its own
computes does not fold by default: the thread would have to wait for slots. What ``fold_storage`` asks for needs a
length that can be bounded at start-up.
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import startup_index
from halide_core.analysis.prune_selects import assume
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.infer.sliding import windows
from halide_core.bounds.query.answers import Answer, Slide
from halide_core.bounds.query.query import Choice, Path, Query, Where
from halide_core.errors import ScheduleError
from halide_core.ir import ExprNode, HoleKind, IntImm, Let, LoopKind, Select, Variable
from halide_core.ir.brief import brief
from halide_core.ir.logic import negation
from halide_core.ir.memory import plain_layout
from halide_core.ir.visitor import accesses_to, free_variables, stmt_exprs, subexpressions, walk
from halide_core.loop_nest import Loop, Nest, Program, hole, is_async, path_to, provided, readings, stage_loops
from halide_core.schedule.directives import DebugToFile
from halide_core.schedule.storage_directives import BoundStorage, FoldStorage

_LONGEST = 64
"""A length that varies is folded up to here without asking: beyond, all of the memory may well be shorter."""

_CASES = 3
"""So many conditions are told apart at most where the greatest length is looked for."""

_CASES_ASKED = 5
"""The same for a fold that is asked for, which is refused where it is too short."""

Check = tuple[ExprNode, tuple["str | ExprNode", ...]]
"""A condition at start-up, and the message of its failure."""


class Folding:
    """One Func's memory. ``slides``: what its dimensions do."""

    def __init__(
        self, query: Query, ranges: Ranges, known: Sequence[Answer], f: Function, slides: Sequence[Slide]
    ) -> None:
        self._query = query
        self._ranges = ranges
        self._known = known
        self._f = f
        self._program: Program = query.program
        self._slides = slides

    def longest(self, d: int, *, at_start: bool) -> ExprNode | None:
        """The greatest length of a dimension's compute bounds, in terms of what is bound where the memory is
        allocated, or at start-up; None where there is none."""
        program, f = self._program, self._f
        stop = self._query.top if at_start else self._query.scope(program.stored[f])
        (length,) = [
            a.interval.len
            for a in self._known
            if a.func is f and a.kind is HoleKind.CPU and a.stage == 0 and a.dim == d
        ]
        inside = self._query.scope(program.computed[f]).then(Choice(f))  # one stage's length may be another's
        return self._most(self._opened(length), inside, stop, _CASES_ASKED if at_start else _CASES)

    def _opened(self, length: ExprNode) -> ExprNode:
        """A length of the Func's own, down to what it follows from: that of a stage may be another one's."""
        answers = {hole(a.kind, a.func, a.stage, a.dim).len: a.interval.len for a in self._known if a.func is self._f}
        while length in answers:
            length = answers[length]
        return length

    def _most(self, length: ExprNode, inside: Path, stop: Path, cases: int) -> ExprNode | None:
        """The greatest value of a length, case by case of what it is: where outputs whose windows lie apart share
        loops, their producers' boxes are next to each other wherever both of them are needed."""
        chosen_by = [e.condition for e in subexpressions([length]) if isinstance(e, Select)]
        varying = (c for c in chosen_by if any(isinstance(v, Variable) for v in subexpressions([c])))
        condition = next(varying, chosen_by[0] if chosen_by else None)
        if condition is None or not cases:
            return self._highest(length, inside, stop)
        most: list[ExprNode] = []
        for holds, told in ((True, condition), (False, negation(condition))):
            side = Simplifier(self._ranges.facts.at(inside)).expr(assume(length, condition, holds=holds))
            found = self._most(side, inside.then(Where(told)), stop, cases - 1)
            if found is None:
                return self._highest(length, inside, stop)
            most.append(found)
        return Simplifier(self._ranges.facts.at(stop)).maximum(*most)

    def _highest(self, length: ExprNode, inside: Path, stop: Path) -> ExprNode | None:
        """The greatest value of a length; where it depends on the window, as far as that is less than what it can be
        anywhere."""
        high = self._ranges.ends(length, inside, stop).high
        if high is None or isinstance(high, IntImm) or stop is not self._query.top:
            return high
        most = self._ranges.greatest(length)
        return high if most is None else Simplifier(self._ranges.facts.at(stop)).minimum(high, ir.i64(most))

    def default(self) -> dict[int, ExprNode]:
        """The folds of the dimensions that an iteration may compute a part of, where they save memory as far as is
        known. One that does not slide is computed whole in each iteration, and keeps nothing; where it is dense it
        folds to one place only, as remainders of dense coordinates cost more than they save. A dense one that slides
        has a power of two of slots: each point asks for its own."""
        found: dict[int, ExprNode] = {}
        dense = self._program.layouts.get(self._f, plain_layout(self._f.dimensions)).order[:1]
        for slide in self._slides:
            d = slide.dim
            if self.refusal(d) or self._vectors(d):
                continue
            most = self._constant(self.longest(d, at_start=False))
            if most is None or (slide.loop is None and d in dense and most != 1):
                continue
            slots = ir.i64(1 << (most - 1).bit_length() if d in dense else most)
            if not self._fits(d, slots):
                found[d] = slots
        return found

    def _constant(self, most: ExprNode | None) -> int | None:
        """A constant that a length never exceeds: a guarded tail is no longer than a whole tile."""
        if isinstance(most, IntImm):
            return most.value if most.value > 0 else None
        if most is None:
            return None
        _, high = self._ranges.facts.at(self._query.scope(self._program.stored[self._f])).constant_range(most)
        return int(high) if 0 < high <= _LONGEST else None

    def run(self) -> tuple[dict[int, ExprNode], list[Check]]:
        """The fold of each dimension, by default or as it was asked for; and the start-up checks of what was asked for,
        lengths of memory among it, each with what it says.

        Raises: ScheduleError, where a dimension can't fold, or memory is too small.
        """
        proven = self._f not in self._query.unproven
        folds = self.default() if proven and not is_async(self._f) else {}
        checks: list[Check] = []
        for func, d in self._program.folded:
            if func is self._f and proven:
                at = self._f.args.index(d.var)
                refusal = self.refusal(at)
                if refusal:
                    raise ScheduleError(f'{d.spelled()}: "{d.var}" can\'t fold: {refusal}.', d.location)
                slots = folds[at] = simplify(startup_index(d.extent))
                checks.append(self._enough(d, slots, self.longest(at, at_start=True), "count at one time"))
        bounds = {d.var: d for d in self._f.directives if isinstance(d, BoundStorage)}  # the last of a dimension counts
        for bound in bounds.values():
            at = self._f.args.index(bound.var)
            (length,) = [
                a.interval.len for a in self._known if a.func is self._f and a.kind is HoleKind.MEM and a.dim == at
            ]
            most = self._ranges.ends(length, self._query.scope(self._program.stored[self._f]), self._query.top).high
            if at not in folds:
                checks.append(self._enough(bound, simplify(startup_index(bound.length)), most, "are stored"))
        return folds, checks

    def _enough(self, d: FoldStorage | BoundStorage, slots: ExprNode, most: ExprNode | None, which: str) -> Check:
        name = self._f.own.name
        if most is None:
            text = f'{d.spelled()}: how many points of "{name}" {which} can\'t be bounded in "{d.var}".'
            raise ScheduleError(text, d.location)
        enough = ir.conjunction(ir.less_equal(ir.ONE, slots), ir.less_equal(most, slots))
        if isinstance(slots, IntImm) and simplify(enough) is ir.FALSE:
            choices = f"{most.value}, or more" if isinstance(most, IntImm) else "as many in every window, or none given"
            raise ScheduleError(
                f'{d.spelled()}: {brief(most)} points of "{d.var}" {which}, where "{name}" is computed, and '
                f"{slots.value} places are too few. The legal choices: {choices}.",
                d.location,
            )
        told = (f'{d.spelled()} gives "{name}" too few places in "{d.var}": ', slots, " for ", most)
        return enough, told

    def _fits(self, d: int, slots: ExprNode) -> bool:
        """True where the whole memory is no longer than the fold."""
        facts = self._ranges.facts.at(self._query.scope(self._program.stored[self._f]))
        lengths = [a.interval.len for a in self._known if a.func is self._f and a.kind is HoleKind.MEM and a.dim == d]
        return all(facts.proves_le(length, slots) for length in lengths)

    def refusal(self, d: int) -> str:
        """Why a dimension can't fold, whatever the fold; nothing if it can."""
        program, f = self._program, self._f
        shown = next((each for each in f.directives if isinstance(each, DebugToFile)), None)
        if shown is not None:
            return f"{shown.spelled()}, at line {shown.location.line}, shows all of its points"
        for key in program.keys(f):
            if not f.pure_dims(key.stage)[d]:
                return f"stage {key.stage} writes wherever its coordinates say, not only what is needed"
            nest = program.nests[key]
            if nest.overcomputes and provided(nest.core).args[d] not in [loop.var for loop in nest.loops]:
                return "rounding up may write beyond what is needed, into slots that hold other points"
        along = [s.loop for s in self._slides if s.loop is not None]
        if not along:
            return ""
        loops = path_to(program, program.computed[f])
        window = windows(self._query, self._ranges, self._known, f)[d]
        moving = free_variables(window.min) | free_variables(window.len)
        for loop in along:
            names = [each.name for each in loops]
            for inner in loops[names.index(loop) + 1 :]:
                if inner.var in moving:
                    moves, keeps = self._program.told(inner.name), self._program.told(loop)
                    return f"it moves along {moves} too, in all of which {keeps} keeps what it has"
        return ""

    def _vectors(self, d: int) -> bool:
        """True where some vector runs along a dimension: its lanes would be apart where it folds."""
        program, f = self._program, self._f
        if any(loop.kind is LoopKind.VECTORIZED for loop in path_to(program, program.computed[f])):
            return True
        for key, nest in program.nests.items():
            if key.func is f or f in readings(nest.core):
                at = [e.args[d] for s in walk(nest.core) for e in accesses_to(f, stmt_exprs(s))]
                at += [provided(nest.core).args[d]] if key.func is f else []
                if _along_vector(nest, stage_loops(program, key), at):
                    return True
        return False


def _along_vector(nest: Nest, loops: Sequence[Loop], coordinates: Sequence[ExprNode]) -> bool:
    """True where a coordinate depends on a vectorized loop of the nest."""
    values = {step.var: step.value for step in nest.steps if isinstance(step, Let)}
    waiting = [v for e in coordinates for v in free_variables(e)]
    seen = set(waiting)
    while waiting:
        v = waiting.pop()
        for w in free_variables(values[v]) if v in values else ():
            if w not in seen:
                seen.add(w)
                waiting.append(w)
    return any(loop.kind is LoopKind.VECTORIZED and loop.var in seen for loop in loops)
