"""Sliding windows: what of a Func an iteration must compute, where memory keeps what earlier iterations computed.

In: a Func that is stored outside a loop that it is computed in, and its compute bounds. Out: for each sliding
dimension what the loops cover, and the loop that it slides along; or why it does not.

    ?cpu bx.y = [y - 1, y + 1] inside loop y    ->    ?loop bx.y = [select(y <= y.min, y - 1, y + 1), y + 1]

Compute bounds stay what they are: all that is read in an iteration. Only loops change. What counts is one step,

    needed(v), but not computed in v    is in    needed(v - 1), and the iteration v - 1 ran,

from which all that is needed is there, by induction over the iterations. So a first iteration computes all, and so does
one before which no iteration with the same inner loops ran. Otherwise, where a window moves up, it computes what is
above the window before; where it moves down, what is below. Which of these it is, is decided here if it can be proven,
and in the loop if not: a walk that turns back, or strides that are known only at run time, are right as they are.

Splits that are shifted need loops of some length: where less is new, a part of what is kept is computed again, next to
it. It has the same values, as it is computed of the same points.

A dimension slides along one loop, and all others must stay where they are in that loop; none may follow from what it
covers (``w[0, y] = w[y, y]`` computes the x of the new y alone). A window can slide along two
loops in two dimensions: a point that is new in neither was needed one step before in one of them. Where rounding up
writes beyond what counts, only the innermost loop will do, since no iteration between two steps may write garbage, and
a window that moves along the rounding moves up, since what is above it then is no longer kept.

A loop in which nothing moves, as one over the channels of a picture that are all made of its brightness, needs the same
in each iteration. Where a dimension does not slide along the loop that moves it, it slides along that one: the first
iteration computes it, and memory keeps all of it.

Stages that write elsewhere than their loops say, at a constant or where a reduction goes, and stages that cover more
than the last one since a later one reads it, may write what an iteration further in keeps, and not renew it first:

    w[x, y] = x + 10*y;  w[0, y] += 1      computed inside x, inside y: each x would add to row y + 1 of column 0

So along a loop that others are inside, all that a stage writes is proven to lie in what the last one computes, or to
leave the window in a dimension in which it stands still in the loops further in: nobody needs that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.conditions import assume_condition
from halide_core.analysis.length import raised
from halide_core.analysis.prover import Facts
from halide_core.analysis.prune_selects import assume
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.infer.cases import by_case
from halide_core.bounds.query.answers import Answer, Slide
from halide_core.bounds.query.query import Binder, Define, ForAll, Path, Query, Taken, Where
from halide_core.ir import Access, BinaryOp, ExprNode, HoleKind, Interval, LoopName, Select, Variable
from halide_core.ir.brief import brief
from halide_core.ir.printer import dim_name
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Closing, Rewriter, Substitution, free_variables, has, subexpressions
from halide_core.loop_nest import Loop, StageKey, cpu_box, hole, is_async, path_to, provided

_LONGEST = 120
"""A window whose step takes more nodes than this costs more than it saves."""


def slides_of(query: Query, ranges: Ranges, known: Sequence[Answer], f: Function) -> Iterator[Slide]:
    """Each sliding dimension of a Func, whose compute bounds are among the answers that are known."""
    dims = query.program.sliding.get(f, ())
    if dims:
        yield from _Sliding(query, ranges, known, f).run(dims)


def windows(query: Query, ranges: Ranges, known: Sequence[Answer], f: Function) -> list[Interval]:
    """The compute bounds of a Func in terms of the loops around it, and of what is bound where its memory is."""
    program = query.program
    loops = path_to(program, program.computed[f])[len(path_to(program, program.stored[f])) :]
    return _LoopStep(query, ranges, known, f, loops[0], [loop.name for loop in loops]).windows


class _Sliding:
    """One Func."""

    def __init__(self, query: Query, ranges: Ranges, known: Sequence[Answer], f: Function) -> None:
        self._query = query
        self._ranges = ranges
        self._known = known
        self._f = f
        program = query.program
        outside = len(path_to(program, program.stored[f]))
        self._loops = path_to(program, program.computed[f])[outside:]
        self._rounds = any(program.nests[key].overcomputes for key in program.keys(f))
        self._last = max([0, *(at for at, loop in enumerate(self._loops) if not _is_single(loop.bounds, ranges))])
        self._steps: dict[int, _LoopStep] = {}

    def run(self, dims: Sequence[int]) -> Iterator[Slide]:
        """Every dimension, by the innermost loop that moves it; one of those that do not slide along that, by a loop
        around it in which nothing moves."""
        unproven = self._query.unproven.get(self._f)
        if unproven is not None:
            for d in dims:
                yield self._whole(d, f'"{dim_name(self._f, d)}" does not slide: {unproven}')
            return
        movers = {d: self._mover(d) for d in dims}
        found = {d: self._along(d, movers[d]) for d in dims}
        kept = self._kept_along([d for d in dims if isinstance(found[d], str)], movers)
        for d in dims:
            at, new = kept[1:] if kept is not None and kept[0] == d else (movers[d], found[d])
            name, loop = dim_name(self._f, d), self._loops[at].name
            if isinstance(new, str):
                yield self._whole(d, f'"{name}" does not slide along {loop}: {new}')
            else:
                yield Slide(self._f, d, loop, new, f'"{name}" slides along {loop}', self._least(d))

    def _whole(self, d: int, told: str) -> Slide:
        return Slide(self._f, d, None, self._answered(len(self._f.definitions) - 1, d), told, self._least(d))

    def _along(self, d: int, at: int) -> Interval | str:
        """The interval that an iteration of a loop computes of a dimension, or the reason why it computes all."""
        step = self._step(at)
        return self._refusal(d, at, step) or step.covered(d, only_up=self._rounds_in(d), length=self._least(d))

    def _kept_along(self, dims: Sequence[int], movers: Mapping[int, int]) -> tuple[int, int, Interval] | None:
        """A dimension that slides along a loop in which nothing moves, that loop, and what its iterations compute: the
        first one all, the others nothing. One dimension without points is enough, the outermost where it can be. Memory
        that is asked to fold can't keep all of it, and a thread of its own would have to wait for all of it."""
        if is_async(self._f) or any(folded is self._f for folded, _ in self._query.program.folded):
            return None
        for d in reversed(dims):
            for at in filter(self._moves_nothing, reversed(range(movers[d]))):
                found = self._along(d, at)
                if isinstance(found, Interval):
                    return d, at, found
        return None

    def _moves_nothing(self, at: int) -> bool:
        """True where each iteration of a loop of several needs what the first one does."""
        if _is_single(self._loops[at].bounds, self._ranges):
            return False
        step = self._step(at)
        return step.begins_once and not any(map(step.moves, range(self._f.dimensions)))

    def _least(self, d: int) -> ExprNode | None:
        """The number of points that shifted splits of a dimension need, by the case that a run takes; None without
        any."""
        covered, facts = hole(HoleKind.LOOP, self._f, 0, d).len, self._ranges.facts.at(self._query.top)
        asked = [(o.key, raised(o.condition)) for o in self._query.obligations if o.func is self._f]
        needs = [(key, found[1]) for key, found in asked if found is not None and found[0] is covered]
        needed = by_case(self._query.program, needs, ir.ZERO, facts)
        return reduce(Simplifier(facts).maximum, needed) if needed else None

    def _step(self, at: int) -> _LoopStep:
        known = self._steps.get(at)
        if known is None:
            inner = [loop.name for loop in self._loops[at:]]
            known = self._steps[at] = _LoopStep(self._query, self._ranges, self._known, self._f, self._loops[at], inner)
        return known

    def _rounds_in(self, d: int) -> bool:
        """True where rounding up may write points above those that count in a dimension."""
        nests = [self._query.program.nests[key] for key in self._query.program.keys(self._f)]
        return any(n.overcomputes and provided(n.core).args[d] not in [loop.var for loop in n.loops] for n in nests)

    def _mover(self, d: int) -> int:
        """The innermost loop that a dimension moves in; the innermost of all where it stands still. Nothing moves in a
        loop of one iteration: it is where the loop around it is."""
        for at in reversed(range(self._last + 1)):
            if not _is_single(self._loops[at].bounds, self._ranges) and self._step(at).moves(d):
                return at
        return self._last

    def _refusal(self, d: int, at: int, step: _LoopStep) -> str:
        if self._rounds and at < self._last:
            return "rounding up writes beyond what counts, and a loop further in would write there between two steps"
        for other in range(self._f.dimensions):
            if other != d and not step.stays(other):
                return f'"{dim_name(self._f, other)}" moves with it'
        follows = self._follower(d)
        if follows is not None:
            return f'"{dim_name(self._f, follows.dim)}" of stage {follows.stage} follows from what it covers'
        return self._elsewhere(d, at, step) if at < self._last else ""

    def _follower(self, d: int) -> Answer | None:
        """The answer for another dimension that depends on what the loops of this one cover: then less is
        computed of it where less is new, and a point that was left out before may be needed."""
        covered = hole(HoleKind.LOOP, self._f, 0, d)
        known: set[ExprNode] = {covered.min, covered.len}
        for answer in self._known:
            if answer.func is not self._f or answer.kind is not HoleKind.CPU:
                continue
            if not known.isdisjoint(subexpressions([answer.interval.min, answer.interval.len])):
                if answer.dim != d:
                    return answer
                named = hole(answer.kind, answer.func, answer.stage, answer.dim)
                known |= {named.min, named.len}
        return None

    def _elsewhere(self, d: int, at: int, step: _LoopStep) -> str:
        """The reason why a stage may overwrite what another iteration of the loops further in keeps; empty if none
        does."""
        further = frozenset(loop.var for loop in self._loops[at + 1 :])
        for other, window in enumerate(step.windows):
            if other == d or further.isdisjoint(free_variables(window.min) | free_variables(window.len)):
                continue
            for key in self._query.program.keys(self._f):
                if not self._renews(key, other):
                    name = dim_name(self._f, other)
                    return f'stage {key.stage} may write beyond what is computed in "{name}", where others keep theirs'
        return ""

    def _renews(self, key: StageKey, d: int) -> bool:
        """True where a stage writes only what the last one computes of a dimension: what slides along is a part of
        it."""
        if d in self._query.program.sliding[self._f]:
            return True
        scope = self._query.scope(self._query.program.computed[self._f])
        last = self._answered(len(self._f.definitions) - 1, d)
        if self._f.pure_dims(key.stage)[d]:
            least, most = self._ends(self._answered(key.stage, d))
        else:
            clause = self._query.writes[key]
            (point,) = clause.points[d]
            ends = self._ranges.ends(point, clause.path, scope)
            if ends.low is None or ends.high is None:
                return False
            least, most = ends.low, ends.high
        low, high = self._ends(last)
        facts = self._ranges.facts.at(scope)
        return facts.proves_le(low, least) and facts.proves_le(most, high)

    def _answered(self, stage: int, d: int) -> Interval:
        holes = cpu_box(self._f, stage)[d]
        return Interval(self._ranges.use(holes.min), self._ranges.use(holes.len))

    @staticmethod
    def _ends(i: Interval) -> tuple[ExprNode, ExprNode]:
        return i.min, simplify(ir.sub(ir.add(i.min, i.len), ir.ONE))


class _First(Rewriter):
    """Decides choices by a condition that holds. Nothing else is put in terms of it: an end is bounded for all
    iterations, whatever was chosen."""

    def __init__(self, condition: ExprNode) -> None:
        super().__init__()
        self._condition = condition

    def rewrite_Select(self, e: Select) -> ExprNode:
        """The first operand, where the condition is the one."""
        return self.expr(e.a) if e.condition is self._condition else self.parts_of(e)


class _LoopStep:
    """One step of a loop: the windows of an iteration and of the one before, and whether that one ran."""

    def __init__(
        self, query: Query, ranges: Ranges, known: Sequence[Answer], f: Function, loop: Loop, inner: list[LoopName]
    ) -> None:
        self._f = f
        self._var = loop.var
        scope = query.scope(query.program.computed[f])
        ranges.ends(ir.ZERO, scope, query.top)  # the facts of the path are known from here on
        binders = list(_below(scope, loop.var))
        values: dict[ExprNode, ExprNode] = {b.var: b.value for b in binders if isinstance(b, Define)}
        inside = [b for b in binders if isinstance(b, ForAll) and b.var is not loop.var]
        values |= {b.var: b.bounds.min for b in inside if _is_single(b.bounds, ranges)}
        for a in known:
            if a.level in inner:
                holes = hole(a.kind, a.func, a.stage, a.dim)
                values[holes.min], values[holes.len] = a.interval.min, a.interval.len
        self._closing = Closing(values)
        self._ranges = ranges
        first = self._closed(loop.bounds.min)
        self._outside = ranges.facts.at(scope)
        self._facts = Facts(self._outside)
        self._facts.assume_at_least(loop.var, simplify(ir.add(first, ir.ONE)))
        self._now = Simplifier(self._facts)
        self._back = Substitution({loop.var: ir.sub(loop.var, ir.ONE)})
        self.windows = [self._closed_interval(i) for i in cpu_box(f, len(f.definitions) - 1)]
        self._memory = ""
        self._restarts: list[ExprNode] = [ir.less_equal(loop.var, first)]
        for b in binders:
            match b:
                case Where(condition=condition) if not isinstance(b, Taken):
                    self._passed(self._closed(condition))
                case ForAll(var=var, bounds=bounds) if var is not loop.var and var not in values:
                    self._entered(var, self._closed_interval(bounds))

    def _closed(self, e: ExprNode) -> ExprNode:
        return simplify(self._ranges.unholed(self._closing.expr(e)))

    def _closed_interval(self, i: Interval) -> Interval:
        return Interval(self._closed(i.min), self._closed(i.len))

    # -- the iteration before

    def _before(self, e: ExprNode) -> ExprNode:
        return self._now.expr(self._back.expr(e))

    def _passed(self, condition: ExprNode) -> None:
        """The iteration before must have passed a condition that this one passes."""
        if has(condition, Access):
            self._memory = f"{brief(condition)} depends on memory"
            return
        held = Facts(self._facts)
        assume_condition(held, condition)
        before = Simplifier(held).expr(self._back.expr(condition))
        if before is not ir.TRUE:
            self._restarts.append(simplify(ir.Not(BOOL, before)))

    def _entered(self, var: Variable, over: Interval) -> None:
        """The iteration before must have run a loop further in at the same place."""
        if self._var not in free_variables(over.min) | free_variables(over.len):
            return
        low, past = self._before(over.min), self._before(ir.add(over.min, over.len))
        for outside in (ir.less(var, low), ir.less_equal(past, var)):
            outside = self._now.expr(outside)
            if outside is not ir.FALSE:
                self._restarts.append(outside)

    # -- windows

    def _ends(self, d: int) -> tuple[ExprNode, ExprNode]:
        """Least and greatest coordinate that an iteration needs."""
        i = self.windows[d]
        return i.min, simplify(ir.sub(ir.add(i.min, i.len), ir.ONE))

    @property
    def begins_once(self) -> bool:
        """True where each iteration but the first follows one with the same iterations of the loops further in."""
        return len(self._restarts) == 1

    def moves(self, d: int) -> bool:
        """True where a dimension depends on the loop."""
        i = self.windows[d]
        return self._var in free_variables(i.min) | free_variables(i.len)

    def stays(self, d: int) -> bool:
        """True where a dimension needs nothing that it did not need one step before."""
        if not self.moves(d):
            return True
        low, high = self._ends(d)
        return self._facts.proves_le(self._before(low), self._now.expr(low)) and self._facts.proves_le(
            self._now.expr(high), self._before(high)
        )

    def covered(self, d: int, *, only_up: bool, length: ExprNode | None) -> Interval | str:
        """The interval that an iteration computes of a dimension; or the reason why it computes all that it needs.
        ``only_up``: what is above a window may be overwritten, so that it must move up for certain. ``length``: so many
        points are computed at least, some of those that are kept among them where fewer are new."""
        if self._memory:
            return self._memory
        low, high = self._ends(d)
        now_low, now_high = self._now.expr(low), self._now.expr(high)
        old_low, old_high = self._before(low), self._before(high)
        facts, now = self._facts, self._now
        if length is not None and self._outside.proves_le(self.windows[d].len, length):
            return "a shifted split needs all of it"
        if length is not None and has(length, Select):
            return "a shifted split needs it to be long in one case only"  # each proof would have all cases twice
        up, down = ir.less_equal(old_low, now_low), ir.less_equal(now_high, old_high)
        above = now.maximum(now_low, now.expr(ir.add(old_high, ir.ONE)))
        below = now.minimum(now_high, now.expr(ir.sub(old_low, ir.ONE)))
        if length is not None:
            # The whole window is as long: computing anew does not leave it.
            more = ir.sub(length, ir.ONE)
            above = now.minimum(above, now.expr(ir.sub(now_high, more)))
            below = now.maximum(below, now.expr(ir.add(now_low, more)))
        if facts.proves_le(old_low, now_low):
            if facts.proves_le(ir.add(old_high, ir.ONE), now_low):
                return "windows do not overlap"
            least, most = self._chosen(low, above), high
        elif only_up:
            return "rounding up may write beyond what is new, into what is kept"
        elif facts.proves_le(now_high, old_high):
            if facts.proves_le(ir.add(now_high, ir.ONE), old_low):
                return "windows do not overlap"
            least, most = low, self._chosen(high, below)
        else:
            least = self._chosen(low, Select(INT64, up, above, now_low))
            most = self._chosen(high, Select(INT64, up, now_high, Select(INT64, down, below, now_high)))
        # The length is written so that the least coordinate cancels: what is left is the greatest, or where nothing is
        # new the one below the least.
        start = least if least is low else hole(HoleKind.LOOP, self._f, 0, d).min
        if not self._outside.proves_le(least, ir.add(most, ir.ONE)):
            most = ir.maximum(most, ir.sub(start, ir.ONE))
        span = simplify(ir.add(ir.sub(most, start), ir.ONE))
        if length is not None and not self._outside.proves_le(length, ir.add(ir.sub(most, least), ir.ONE)):
            return "what is new may be too short for a shifted split"
        size = sum(1 for _ in subexpressions([least, span]))
        return Interval(least, span) if size <= _LONGEST else "its windows are too long to tell apart"

    def _chosen(self, whole: ExprNode, new: ExprNode) -> ExprNode:
        """An end of a whole window where iterations start anew, and of what is new elsewhere."""
        if len(self._restarts) == 1:  # of a first iteration alone
            whole = _First(self._restarts[0]).expr(whole)
        restart = self._restarts[0]
        for more in self._restarts[1:]:
            restart = ir.binary(BinaryOp.OR, restart, more)
        # What is needed is mostly what is new of a consumer, which begins anew in the same iterations.
        whole, new = assume(whole, restart, holds=True), assume(new, restart, holds=False)
        return whole if whole is new else Select(INT64, restart, whole, new)


def _is_single(over: Interval, ranges: Ranges) -> bool:
    """True where a loop has one iteration, as far as is known."""
    return simplify(ranges.unholed(over.len)) is ir.ONE


def _below(scope: Path, var: Variable) -> Iterator[Binder]:
    """The binders of a scope up to and with the loop of ``var``, innermost first."""
    at: Path | None = scope
    while at is not None and at.binder is not None:
        yield at.binder
        if isinstance(at.binder, ForAll) and at.binder.var is var:
            return
        at = at.parent
