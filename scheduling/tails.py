"""Tail strategies: which of them a split can have, and which one Auto stands for.

In: a split and the loop that it is of. Out: a strategy, or a ScheduleError with those that are legal.

    f.fuse(x, y, t).split(t, to, ti, 8)   ->   GuardWithIf; to shift it inwards, or to round it up, is refused
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core.algorithm.model import Function
from halide_core.analysis.index import startup_index
from halide_core.analysis.length import growth
from halide_core.analysis.simplify import simplify
from halide_core.ir import Access, ExprNode, IntImm
from halide_core.ir.visitor import accesses_to, subexpressions
from halide_core.loop_nest import Loop, StageKey
from halide_core.schedule.directives import Split, TailStrategy
from halide_core.scheduling.legality import refuse

PREDICATED = (
    TailStrategy.GuardWithIf, TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores
)  # fmt: skip
"""Legal of every loop. What they tell apart is which memory beyond the loop's end may be touched; here it is none."""
GUARDED = (*PREDICATED, TailStrategy.RoundUpAndBlend)
"""Those by which iterations beyond the end do nothing. A blend would write what it found there: so it is left alone."""
SHIFTED = (TailStrategy.ShiftInwards, TailStrategy.ShiftInwardsAndBlend)


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail of a split. ``exact``: its factor divides the loop, so that there is no remainder, and nothing to do."""

    strategy: TailStrategy
    exact: bool


def tail_of(key: StageKey, old: Loop, d: Split) -> Tail:
    """The strategy asked for, if it is legal, or the one that Auto stands for.

    Legal when: the split is exact; or by what ``_reason`` says.
    """
    factor, length = simplify(startup_index(d.factor)), old.bounds.len
    exact = isinstance(factor, IntImm) and isinstance(length, IntImm) and length.value % factor.value == 0
    reasons = {tail: "" if exact else _reason(tail, key, old, factor) for tail in TailStrategy}
    if d.tail is TailStrategy.Auto:
        preferred = TailStrategy.RoundUp if key.stage > 0 else TailStrategy.ShiftInwards
        grows = not reasons[TailStrategy.RoundUp]
        grows = grows and not (preferred is TailStrategy.ShiftInwards and _writes_back(key))
        return Tail(preferred if grows else TailStrategy.GuardWithIf, exact)
    if reasons[d.tail]:
        legal = [tail for tail, reason in reasons.items() if not reason and tail is not TailStrategy.Auto]
        refuse(d, f"{reasons[d.tail]} The legal choices: {', '.join(f'hl.TailStrategy.{t.name}' for t in legal)}.")
    return Tail(d.tail, exact)


def _reason(tail: TailStrategy, key: StageKey, old: Loop, factor: ExprNode) -> str:
    """Why a strategy is illegal; nothing if it is legal."""
    name, length = f'"{old.name.var}"', old.bounds.len
    grows = growth(length) is not None
    if tail in PREDICATED or tail is TailStrategy.Auto:
        return ""
    if not old.pure:
        return f"{name} is a reduction loop, and {tail.name} would run it on points that its RDom does not have."
    if tail is TailStrategy.RoundUp and (old.fused or not grows):
        what = "is the inner loop of a split, or a fused loop"
        if isinstance(length, IntImm):
            divides = "does not divide" if isinstance(factor, IntImm) else "is not known to divide"
            what = f"takes {length.value} steps, which the factor {divides}"
        return f"{name} {what}: rounding it up would run into points that other iterations compute."
    if tail is TailStrategy.RoundUp and _steers_itself(key.func, key.stage):
        return (
            f'"{key.func.own.name}" steers itself here: an index or a condition reads it, and rounding up would '
            f"let it read points that have no value."
        )
    if tail is TailStrategy.ShiftInwards and key.stage > 0:
        return "ShiftInwards repeats iterations, and repeating an update definition can change its result."
    if tail is TailStrategy.ShiftInwards and _writes_back(key):
        return (
            f'ShiftInwards repeats iterations, and "{key.func.own.name}" writes back the values of a point that it '
            f"leaves undefined."
        )
    if tail in SHIFTED and isinstance(length, IntImm):
        if not isinstance(factor, IntImm):
            return f"{name} takes {length.value} steps, and the factor, which is not a constant, may be greater."
        if factor.value > length.value:
            return f"{name} takes {length.value} steps, fewer than the factor, so nothing can be shifted."
    elif tail in SHIFTED and not grows:
        return f"the length of {name} is not one that bounds inference can raise to the factor."
    return ""


def _writes_back(key: StageKey) -> bool:
    """True where a first definition reads its own points, of which it leaves some values undefined."""
    return key.stage == 0 and bool(accesses_to(key.func, key.func.definitions[0].values))


def _steers_itself(func: Function, stage: int) -> bool:
    """True where a stage reads its own Func in an index or a condition: there, garbage would do harm."""
    definition = func.definitions[stage]
    roots = [*definition.args, definition.predicate]
    if definition.domain is not None:
        roots.append(definition.domain.predicate)
    for e in subexpressions(definition.values):
        if isinstance(e, Access):
            roots.extend(e.args)
    return bool(accesses_to(func, roots))
