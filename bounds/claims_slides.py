"""Claims about memory that keeps what earlier iterations computed: sliding windows.

In: a Func whose loops cover less than is read, the context of its label, and the loops that it slides along. Out: the
claim that what an iteration needs and does not compute was needed one iteration before, which ran; and, for each
assignment, that it leaves alone what was computed then.

    y - 1 <= p <= y + 1, not (select(y <= m, y - 1, y + 1) <= p)   ⇒   m <= y - 1  &&  y - 2 <= p <= y

All that is needed is there, then: by induction over the iterations in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bounds.claims import Claim, Context, Kind, Text, all_of, any_of, inside, negation, within
from bounds.claims_sites import Entered
from halide_core import ir
from halide_core.algorithm import Function
from halide_core.ir import Expr, Interval, LoopKind, LoopName, Variable
from halide_core.types import INT64
from halide_core.visit import Closing, free_variables

_ADVICE = "Memory that lives where the Func is computed: without store_at() or store_root()."
_IN_ORDER = frozenset({LoopKind.SERIAL, LoopKind.UNROLLED})


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """What is read of a Func in one iteration, and the loops that it slides along. Neither needs trust: these are any
    for which the claims hold."""

    needed: tuple[Interval, ...]
    along: tuple[LoopName, ...]


Folds = tuple[Expr | None, ...]
"""Of each dimension the number of its slots, where it folds."""

Windows = Mapping[Function, Window]


def slide_claim(
    f: Function,
    window: Window,
    computed: Sequence[Interval],
    context: Context,
    loops: Sequence[Entered],
    private: int,
) -> Claim:
    """What the label of a Func leaves out was there before. ``private``: how many of the loops around the label are
    around its memory too."""
    point: list[Expr] = [Variable(INT64, f"{f.name} @{d}") for d in range(len(computed))]
    missing = context.holds(inside(point, window.needed), negation(inside(point, computed)))
    known: set[Expr] = {e.loop.var for e in loops}
    known |= {node.variable for node in context.below(None) if node.variable is not None}
    steps = [
        _step(entered, context, inside(point, window.needed), known | set(point))
        for depth, entered in enumerate(loops)
        if depth >= private and entered.loop.loop in window.along and entered.loop.kind in _IN_ORDER
    ]
    text: Text = ("every point that is needed was computed in this iteration, or needed in the one before",)
    return Claim(Kind.COVERAGE, f.name, text, missing, any_of(steps), f.definitions[0].location, _ADVICE)


def _step(entered: Entered, context: Context, needed: Expr, known: set[Expr]) -> Expr:
    """One iteration before, with the same iterations of the loops further in: it ran, and it needed the point."""
    nodes = context.below(entered.outside)
    var = entered.loop.var
    values = {node.variable: node.fact for node in nodes if node.variable is not None}
    back = Closing(values, {var: ir.sub(var, ir.ONE)})
    ran = [back.expr(node.fact) for node in nodes if node.variable is None]
    if any(not free_variables(fact) <= known for fact in ran):
        return ir.FALSE  # it hangs on what memory held then
    return all_of([*ran, back.expr(needed)])


def keeping_claim(
    f: Function,
    stage: int,
    window: Window,
    computed: Sequence[Interval],
    point: Sequence[Expr],
    context: Context,
    innermost: LoopName | None,
) -> Claim:
    """An assignment writes what its iteration computes, or what nobody needs from before. Where there are iterations
    between one step and the next, they write nothing else at all."""
    holds = inside(point, computed)
    if all(loop == innermost for loop in window.along):
        holds = any_of((holds, negation(inside(point, window.needed))))
    text: Text = (f"stage {stage} leaves alone what earlier iterations computed",)
    return Claim(Kind.COVERAGE, f.name, text, context, holds, f.definitions[stage].location, _ADVICE)


def fold_claims(
    f: Function, window: Window, folds: Folds, context: Context, loops: Sequence[Entered]
) -> Iterator[Claim]:
    """Points that count at one time have slots of their own: the window is never longer than the fold, and iterations
    between two steps of a slide have the window of one of the two."""
    for d, slots in enumerate(folds):
        if slots is not None:
            over = window.needed[d]
            text: Text = (f"dimension {d} folds by ", slots, ", which is as long as what is needed at one time")
            holds = ir.less_equal(over.len, slots)
            yield Claim(Kind.FOLD, f.name, text, context, holds, f.definitions[0].location)
            still = all(_still(over, entered, context, loops) for entered in loops if entered.loop.loop in window.along)
            text = (f"what is needed in dimension {d} does not move between two steps",)
            holds = ir.TRUE if still else ir.FALSE
            yield Claim(Kind.FOLD, f.name, text, context, holds, f.definitions[0].location)


def _still(over: Interval, entered: Entered, context: Context, loops: Sequence[Entered]) -> bool:
    """Whether no loop inside another one moves an interval."""
    nodes = context.below(entered.outside)
    close = Closing({node.variable: node.fact for node in nodes if node.variable is not None})
    ends = close.interval(over)
    moving = free_variables(ends.min) | free_variables(ends.len)
    return all(e.loop.var not in moving for e in loops[list(loops).index(entered) + 1 :])


def slot_claims(
    f: Function, stage: int, window: Window, folds: Folds, point: Sequence[Expr], context: Context
) -> Iterator[Claim]:
    """What is written lies in the window, whose points have slots of their own."""
    for d, slots in enumerate(folds):
        if slots is not None:
            text: Text = (f"stage {stage} writes what is needed, in dimension {d}, which folds",)
            yield Claim(Kind.FOLD, f.name, text, context, within(point[d], window.needed[d]), f.definitions[0].location)
