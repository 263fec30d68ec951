"""Claims about memory that keeps what earlier iterations computed: sliding windows, and folds.

In: a Func whose loops cover less than is read, or whose memory folds, with the contexts of its label and assignments.
Out: the claim that what an iteration needs and does not compute was needed one iteration before, which ran; that an
assignment leaves alone what was computed then; that what counts at one time has slots of its own.

    y - 1 <= p <= y + 1, not (select(y <= m, y - 1, y + 1) <= p)   ⇒   m <= y - 1  &&  y - 2 <= p <= y

All that is needed is there, then: by induction over the iterations in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.simplify import simplify
from halide_core.bounds.query.answers import Lead
from halide_core.bounds.verify.sites import Entered
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text, nothing
from halide_core.ir import ExprNode, Interval, LoopKind, LoopName, Variable
from halide_core.ir.boxes import inside
from halide_core.ir.logic import all_of, any_of, negation, within
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Closing, Substitution, free_variables

_ADVICE = "Memory that lives where the Func is computed: without store_at() or store_root()."
_SAME = Substitution({})
_IN_ORDER = frozenset({LoopKind.SERIAL, LoopKind.UNROLLED})


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The box that is read of a Func in one iteration, and the loops that it slides along. Neither needs trust: these
    are any for which the claims hold."""

    needed: tuple[Interval, ...]
    along: tuple[LoopName, ...]
    beyond: bool = False
    """True where something reads more than is needed."""
    rests: tuple[ExprNode, ...] = ()
    """The conditions of shifted splits on the lengths of its loops."""


Folds = tuple[ExprNode | None, ...]
"""Of each dimension the number of its slots, where it folds."""

Box = tuple[Interval, ...]

Windows = Mapping[Function, Window]


@dataclass(frozen=True, slots=True, eq=False)
class KeptMemory:
    """A Func in memory: its window, if it slides; what the first and the last stage's loops cover; the folds."""

    func: Function
    window: Window | None
    first: Box
    last: Box
    folds: Folds
    lead: Lead | None = None
    """The lead of the thread that computes it over those that read it, where there is one."""

    def _claim(
        self, kind: ClaimKind, stage: int, text: Text, context: Context, holds: ExprNode, near: Context | None = None
    ) -> Claim:
        f = self.func
        return Claim(kind, f.name, text, context, holds, f.definitions[stage].location, _ADVICE, step=f, near=near)

    def _at_once(self, d: int) -> Interval:
        """All that is read and written in one iteration in a dimension, if it is as it should be. The first stage may
        cover more than is read, where a factor raised its length."""
        if self.window is None:
            return self.first[d]
        needed = self.window.needed[d]
        return needed if self.first[d] == self.last[d] else _hull(needed, self.first[d])

    # -- where the Func is computed

    def at_label(self, context: Context, loops: Sequence[Entered], private: int) -> Iterator[Claim]:
        """Claims that what the label leaves out was there before, and that slots are enough. ``private``: how many of
        the loops around the label are around its memory too."""
        if self.window is not None:
            yield self._slides(self.window, context, loops, private)
            for long_enough in self.window.rests:
                text: Text = ("its loops are as long as a shifted split needs: ", long_enough)
                yield self._claim(ClaimKind.OBLIGATION, 0, text, context, long_enough)
        if self.lead is not None and self.lead.count != 0:
            yield from self._ahead_by(self.lead, context, loops, private)
        for d, slots in enumerate(self.folds):
            if slots is not None:
                over = self._at_once(d)
                text = (f"dimension {d} folds by ", slots, ", which is enough for what is needed at one time")
                yield self._claim(ClaimKind.FOLD, 0, text, context, ir.less_equal(over.len, slots))
                still = all(_still(over, at, context, loops) for at in loops if at.loop.loop in self._along())
                text = (f"what is needed in dimension {d} does not move between two steps",)
                yield self._claim(ClaimKind.FOLD, 0, text, context, ir.TRUE if still else ir.FALSE)

    def _along(self) -> tuple[LoopName, ...]:
        return () if self.window is None else self.window.along

    def _slides(self, window: Window, context: Context, loops: Sequence[Entered], private: int) -> Claim:
        point: list[ExprNode] = [Variable(INT64, f"{self.func.name} @{d}") for d in range(len(self.last))]
        needed = inside(point, window.needed)
        missing = context.holds(needed, negation(inside(point, self.last)))
        known: set[ExprNode] = {*point, *(e.loop.var for e in loops)}
        known |= {node.variable for node in context.below(None) if node.variable is not None}
        steps = [
            _step(entered, context, needed, known, loops)
            for entered in loops[private:]
            if entered.loop.loop in window.along and entered.loop.kind in _IN_ORDER
        ]
        text: Text = ("every point that is needed was computed in this iteration, or needed in the one before",)
        return self._claim(ClaimKind.COVERAGE, 0, text, missing, any_of(steps))

    def _ahead_by(self, lead: Lead, context: Context, loops: Sequence[Entered], private: int) -> Iterator[Claim]:
        """A producer is ahead by iterations of one loop alone, and by none where nothing is proven of that."""
        between = loops[private:]
        if lead.loop is not None:
            there = self.window is not None and any(entered.loop.loop == lead.loop for entered in between)
            text: Text = (f'it is ahead by iterations of loop "{lead.loop}", along which it slides',)
            yield self._claim(ClaimKind.RACE, 0, text, context, ir.TRUE if there else ir.FALSE)
        for entered in between:
            if entered.loop.loop != lead.loop:
                text = (f'it is ahead by no iteration of loop "{entered.loop.loop}", which has one',)
                once = ir.less_equal(entered.loop.bounds.len, ir.ONE)
                yield self._claim(ClaimKind.RACE, 0, text, context, once)
        if self.window is not None:
            yield from self._ahead(self.window, lead, context, between)

    def _ahead(self, window: Window, lead: Lead, context: Context, between: Sequence[Entered]) -> Iterator[Claim]:
        """A producer that is ahead computes what is above all that iterations behind it read, and keeps it apart."""
        for entered in between:
            if entered.loop.loop != lead.loop:
                continue
            text: Text = ("nothing that runs beside it reads beyond what is needed",)
            yield self._claim(ClaimKind.RACE, 0, text, context, ir.FALSE if window.beyond else ir.TRUE)
            needed, new, slots = window.needed[lead.dim], self.last[lead.dim], self.folds and self.folds[lead.dim]
            end = ir.add(needed.min, needed.len)
            var, over = entered.loop.var, entered.loop.bounds
            first, before = ir.less_equal(var, over.min), _moved(entered, context, end, -1)
            text = (f"what is computed ahead in dimension {lead.dim} is above what the iteration before reads",)
            yield self._claim(ClaimKind.RACE, 0, text, context, any_of((first, ir.less_equal(before, new.min))))
            text = (f"no iteration reads more in dimension {lead.dim} than the next one may",)
            yield self._claim(ClaimKind.RACE, 0, text, context, any_of((first, ir.less_equal(before, end))))
            if slots and lead.count is not None:
                further = ir.add(var, ir.i64(lead.count))
                ran = context.holds(ir.less(further, ir.add(over.min, over.len)))
                span = ir.sub(_moved(entered, context, end, lead.count), needed.min)
                text = (f"{lead.count} iterations ahead, dimension {lead.dim} has slots enough: ", slots)
                yield self._claim(ClaimKind.RACE, 0, text, ran, ir.less_equal(span, slots))

    # -- where it is assigned

    def at_write(
        self,
        stage: int,
        point: Sequence[ExprNode],
        context: Context,
        around: Sequence[Entered],
        within_label: Sequence[Entered],
    ) -> Iterator[Claim]:
        """An assignment writes what its iteration computes, or what nobody needs from before, or needs in a dimension
        that stands still in the iterations between one step and the next. Where memory folds it writes what is needed.
        ``around``: the loops around the label; ``within_label``: those inside."""
        if self.window is not None:
            along = [entered for entered in around if entered.loop.loop in self.window.along]
            beyond = [
                negation(within(at, over))
                for at, over in zip(point, self.window.needed, strict=True)
                if all(_still(over, entered, context, around) for entered in along)
            ]
            holds = any_of((inside(point, self.last), *beyond))
            text: Text = (f"stage {stage} leaves alone what earlier iterations computed",)
            yield self._claim(ClaimKind.COVERAGE, stage, text, context, holds, self._near(context, within_label))
            lead = self.lead
            if lead is not None and lead.loop is not None:
                text = (f"stage {stage} writes what its iteration computes in dimension {lead.dim}",)
                apart = within(point[lead.dim], self.last[lead.dim])
                yield self._claim(ClaimKind.RACE, stage, text, context, apart)
        yield from self._folded(stage, point, context)

    def _near(self, context: Context, within_label: Sequence[Entered]) -> Context | None:
        """The context of an assignment by the loops inside of the label alone, however long these are, and that they
        are as long as splits need, which is claimed of the label."""
        if self.window is None or not self.window.rests or not within_label:
            return None
        return nothing().holds(*self.window.rests).again(context.below(within_label[0].outside), _SAME)

    def _folded(self, stage: int, point: Sequence[ExprNode], context: Context) -> Iterator[Claim]:
        for d, slots in enumerate(self.folds):
            if slots is not None:
                text: Text = (f"stage {stage} writes what is needed in dimension {d}, which folds",)
                yield self._claim(ClaimKind.FOLD, stage, text, context, within(point[d], self._at_once(d)))


def _hull(a: Interval, b: Interval) -> Interval:
    least = ir.minimum(a.min, b.min)
    end = ir.maximum(ir.add(a.min, a.len), ir.add(b.min, b.len))
    return Interval(least, ir.sub(end, least))


def _moved(entered: Entered, context: Context, e: ExprNode, by: int) -> ExprNode:
    """A coordinate so many iterations later."""
    nodes = context.below(entered.outside)
    values = {node.variable: node.fact for node in nodes if node.variable is not None}
    var = entered.loop.var
    return Closing(values, {var: ir.add(var, ir.i64(by))}).expr(e)


def _defined(entered: Entered, context: Context, loops: Sequence[Entered]) -> dict[ExprNode, ExprNode]:
    """The values of variables inside of a loop, in terms of it and of the loops further in with several iterations.
    One that has a single iteration is at that, whichever the loop's is."""
    nodes = context.below(entered.outside)
    values: dict[ExprNode, ExprNode] = {node.variable: node.fact for node in nodes if node.variable is not None}
    for further in loops[list(loops).index(entered) + 1 :]:
        if simplify(Closing(values).expr(further.loop.bounds.len)) is ir.ONE:
            values[further.loop.var] = further.loop.bounds.min
    return values


def _step(
    entered: Entered, context: Context, needed: ExprNode, known: set[ExprNode], loops: Sequence[Entered]
) -> ExprNode:
    """One iteration before, with the same iterations of the loops further in: it ran, and it needed the point."""
    nodes = context.below(entered.outside)
    var = entered.loop.var
    back = Closing(_defined(entered, context, loops), {var: ir.sub(var, ir.ONE)})
    ran = [back.expr(node.fact) for node in nodes if node.variable is None]
    if any(not free_variables(fact) <= known for fact in ran):
        return ir.FALSE  # it hangs on what memory held then
    return all_of([*ran, back.expr(needed)])


def _still(over: Interval, entered: Entered, context: Context, loops: Sequence[Entered]) -> bool:
    """True where no loop inside another one moves an interval."""
    ends = Closing(_defined(entered, context, loops)).interval(over)
    moving = free_variables(ends.min) | free_variables(ends.len)
    return all(e.loop.var not in moving for e in loops[list(loops).index(entered) + 1 :])
