"""Factoring a reduction: one part of an update's loops becomes dimensions of a new Func, which another update merges.

In: an update definition, the directives about its reduction loops so far, and which loops become which Vars. Out: the
two definitions of the new Func, and the one that takes the place of the update's.

    f[x] += g[r.x, r.y]     with r.y as u    ->    p[x, u] = 0;  p[x, u] += g[r.x, u];     f[x] += p[x, r.y]
    f[x] += g[r.x, r.y]     with none        ->    p[x] = 0;     p[x] += g[r.x, r.y];      f[x] += p[x]

All of it is a rewrite of definitions; the law that makes it right is ``associativity``'s. Where the Vars stand for the
outermost of the loops, values are taken in in the order that they were, only bracketed otherwise; else their order
changes too, and the operator must be commutative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.algorithm.model import Definition, Function, ReductionDomain
from halide_core.analysis.associativity import law_of
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.simplify import simplify
from halide_core.errors import Location, ScheduleError
from halide_core.ir import Access, Callee, ExprNode, Interval, IntImm
from halide_core.ir.types import INT32
from halide_core.ir.visitor import Rewriter, Substitution
from halide_core.schedule.directives import (
    AllowRaceConditions,
    Directive,
    Fuse,
    Rename,
    Reorder,
    Specialize,
    SpecializeFail,
    Split,
    StageDirective,
    TailStrategy,
)
from halide_core.schedule.func_directives import RFactor

_Named = Mapping[str, ExprNode]
_LOOPS_KEPT = (
    TailStrategy.Auto, TailStrategy.GuardWithIf, TailStrategy.Predicate, TailStrategy.PredicateLoads,
    TailStrategy.PredicateStores,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """The parts of a factored stage. ``consumed`` are the directives that are part of it."""

    neutral: Definition
    update: Definition
    merged: Definition
    law: Law
    consumed: tuple[Directive, ...]


def factored_stage(function: Function, stage: int, upto: RFactor | None = None) -> tuple[Definition, list[Directive]]:
    """The definition of a stage after the ``rfactor``s of it that come before another, and the directives about it
    that come after those and are still to be applied."""
    definition = function.definitions[stage]
    waiting: list[Directive] = []
    for d in function.directives:
        if d is upto:
            break
        if isinstance(d, StageDirective) and d.stage == stage:
            if isinstance(d, RFactor):
                made = factored(d, definition, waiting)
                definition, waiting = made.merged, [w for w in waiting if w not in made.consumed]
            else:
                waiting.append(d)
    return definition, waiting


def factored(d: RFactor, definition: Definition, before: Sequence[Directive]) -> Factored:
    """Factors a definition.

    Args:
        d: the directive; its Func has the definition, and ``partial`` is the new Func.
        definition: the update, as earlier directives left it.
        before: the directives about the stage that were given before.

    Raises: ScheduleError, at the user's line.
    """
    nest = _Loops(d, definition)
    for each in before:
        nest.apply(each)
    kept = [name for name, _ in d.factors]
    _check_loops(d, nest, kept)
    outermost = [name for name, _ in nest.loops][len(nest.loops) - len(kept) :]
    in_order = set(outermost) == set(kept) and not nest.reordered
    law = law_of(d.func, definition) if isinstance(d.func, Function) else None
    _check_law(d, nest, law, in_order)
    assert law is not None and isinstance(d.func, Function)
    law = Law(law.x, law.y, law.combine, law.neutral, commutes=not in_order)
    return Factored(*_definitions(d, d.func, definition, nest, law), law, tuple(nest.consumed))


def _check_loops(d: RFactor, nest: _Loops, kept: Sequence[str]) -> None:
    there = [name for name, _ in nest.loops]
    told = ", ".join(there) or "none"
    for name in kept:
        if name not in there:
            raise _refused(d, f'there is no reduction loop "{name}". The reduction loops, innermost first: {told}.')
    for _, var in d.factors:
        if var in there and var not in kept:
            raise _refused(d, f'"{var}" is the name of a reduction loop that the new Func has too. Choose another Var.')


def _check_law(d: RFactor, nest: _Loops, law: Law | None, in_order: bool) -> None:
    assert isinstance(d.func, Function)
    if law is None:
        raise _refused(
            d,
            f'the update is no reduction by an associative operator: each point of "{d.func.name}" must become some '
            "combination of its value and a new one, as by +, *, min, max, &, |, ^, an argmin, or a product of complex "
            f'numbers, and nothing else may read "{d.func.name}". It has to stay in one piece; its pure loops can be '
            "parallel.",
        )
    if not in_order and not law.commutes:
        last = ", ".join(name for name, _ in nest.loops[-len(d.factors) :])
        raise _refused(
            d,
            f"{law.told()} is associative, but not commutative (of equal values the first counts), and this would "
            f"change the order of values. The legal choice: the outermost reduction loops ({last}), which keep it.",
        )


def _refused(d: RFactor, reason: str) -> ScheduleError:
    return ScheduleError(f"{d.spelled()}: {reason}", d.location)


class _Loops:
    """The reduction loops of a stage by name, innermost first, while directives change them."""

    def __init__(self, d: RFactor, definition: Definition) -> None:
        domain = definition.domain
        if domain is None:
            raise _refused(d, "the stage has no reduction loop, so there is nothing to factor.")
        self._d = d
        self.domain = domain
        self.loops: list[tuple[str, Interval]] = list(zip(domain.names, domain.bounds, strict=True))
        self.consumed: list[Directive] = []
        self.reordered = False
        """True where values come in another order than that of the domain."""
        self._steps: list[Callable[[dict[str, ExprNode]], None]] = []
        """Each gives the names that a directive took away their values, and takes those away that it gave."""
        self._guards: list[ExprNode] = []

    def apply(self, each: Directive) -> None:
        """Follows one directive; those about pure loops alone stay for the merge."""
        if isinstance(each, Specialize | SpecializeFail):
            raise _refused(self._d, f"{each.spelled()} comes before it; specialize the stage after it.")
        names = [name for name, _ in self.loops]
        match each:
            case Split() if each.old in names:
                self._split(each)
            case Fuse() if each.inner in names and each.outer in names:
                self._fuse(each)
            case Rename() if each.old in names:
                self._rename(each.old, each.new)
            case Reorder() if set(each.vars) <= set(names):
                self._reorder(each)
            case AllowRaceConditions():
                return
            case _ if any(v in names for v in each.variables()):
                raise _refused(
                    self._d,
                    f"{each.spelled()} comes before it; only split, fuse, rename and reorder of reduction loops can. "
                    f"Say the rest after it, of the Func that it returns or of what is left here.",
                )
            case _:
                return
        self.consumed.append(each)

    def _split(self, each: Split) -> None:
        factor = each.factor
        at = [name for name, _ in self.loops].index(each.old)
        m, n = self.loops[at][1].min, self.loops[at][1].len
        if not isinstance(factor, IntImm):
            raise _refused(self._d, f"{each.spelled()} comes before it, and its factor is no constant.")
        exact = isinstance(n, IntImm) and n.value % factor.value == 0
        if not exact and each.tail not in _LOOPS_KEPT:
            raise _refused(self._d, f"{each.spelled()} comes before it; of a reduction loop the tail is GuardWithIf.")
        k, one, zero = (ir.const(v, INT32) for v in (factor.value, 1, 0))
        count = simplify(ir.minimum(n, ir.add(ir.div(ir.sub(n, one), k), one)))  # what is negative stays so
        self.loops[at : at + 1] = [(each.inner, Interval(zero, k)), (each.outer, Interval(zero, count))]

        def undo(env: dict[str, ExprNode]) -> None:
            start, rest = _times(env.pop(each.outer), k), env.pop(each.inner)
            offset = _plus(start, rest)
            if not exact:
                self._guards.append(ir.less(rest, ir.sub(n, start)))  # which stays in int32
                offset = ir.minimum(offset, simplify(ir.sub(n, one)))  # so that bounds need not know the guard
            env[each.old] = _plus(m, offset)

        self._steps.append(undo)

    def _reorder(self, each: Reorder) -> None:
        """The values come in another order then, as they may where the operator commutes."""
        places = sorted([name for name, _ in self.loops].index(v) for v in each.vars)
        by_name = dict(self.loops)
        moved = [(v, by_name[v]) for v in each.vars]
        before = list(self.loops)
        for at, loop in zip(places, moved, strict=True):
            self.loops[at] = loop
        self.reordered |= self.loops != before

    def _rename(self, old: str, new: str) -> None:
        at = [name for name, _ in self.loops].index(old)
        self.loops[at] = (new, self.loops[at][1])

        def undo(env: dict[str, ExprNode]) -> None:
            env[old] = env.pop(new)

        self._steps.append(undo)

    def _fuse(self, each: Fuse) -> None:
        """The loop takes the outer one's place. An inner one that is not immediately inside of it is brought there: the
        values come in another order then."""
        names = [name for name, _ in self.loops]
        i, o = names.index(each.inner), names.index(each.outer)
        self.reordered |= o != i + 1
        inner, outer = self.loops[i][1], self.loops[o][1]
        # Two negative lengths have a positive product, and no iterations.
        length = simplify(ir.mul(_not_negative(inner.len), outer.len))
        self.loops[o] = (each.fused, Interval(ir.const(0, INT32), length))
        del self.loops[i]

        def undo(env: dict[str, ExprNode]) -> None:
            fused = env.pop(each.fused)
            env[each.inner] = _plus(inner.min, ir.mod(fused, inner.len))
            env[each.outer] = _plus(outer.min, ir.div(fused, inner.len))

        self._steps.append(undo)

    def values(self, leaves: _Named) -> tuple[dict[ExprNode, ExprNode], list[ExprNode]]:
        """The value of each variable of the domain, and the guards of the splits, over values of the loops as they
        are."""
        env = dict(leaves)
        self._guards = []
        for undo in reversed(self._steps):
            undo(env)
        found: dict[ExprNode, ExprNode] = {
            ir.RVarRef(INT32, self.domain, i): env[name] for i, name in enumerate(self.domain.names)
        }
        return found, self._guards


def _not_negative(length: ExprNode) -> ExprNode:
    return length if ConstantRanges().of(length)[0] >= 0 else ir.maximum(length, ir.const(0, INT32))


def _plus(a: ExprNode, b: ExprNode) -> ExprNode:
    if isinstance(a, IntImm) and a.value == 0:
        return b
    return simplify(ir.add(a, b))


def _times(a: ExprNode, k: ExprNode) -> ExprNode:
    return a if isinstance(k, IntImm) and k.value == 1 else simplify(ir.mul(a, k))


class _FromPartial(Rewriter):
    """Gives what reads a Func the partial results of it at hand instead, and reduction variables their values."""

    def __init__(self, function: Function, partial: Callee, point: tuple[ExprNode, ...], values: _Values) -> None:
        super().__init__()
        self._function, self._partial, self._point = function, partial, point
        self._values = Substitution(values)

    def rewrite_Access(self, e: Access) -> ExprNode:
        """The partial result, of an access to the Func."""
        if e.callee is self._function:
            return Access(e.type, self._partial, self._point, e.component, 0)
        return Access(e.type, e.callee, tuple([self.expr(a) for a in e.args]), e.component, e.stage)

    def rewrite_RVarRef(self, e: ir.RVarRef) -> ExprNode:
        """The value of a reduction variable."""
        return self._values.expr(e)


_Values = dict[ExprNode, ExprNode]


def _definitions(
    d: RFactor, function: Function, definition: Definition, nest: _Loops, law: Law
) -> tuple[Definition, Definition, Definition]:
    """The partial Func's two, and that of the merge."""
    at: Location = d.location
    to = dict(d.factors)
    inside = [(name, over) for name, over in nest.loops if name not in to]
    outside = [(name, over) for name, over in nest.loops if name in to]
    reduced, merging = _domain(inside, at), _domain(outside, at)  # without a loop inside, a partial result is one value
    leaves = {name: ir.RVarRef(INT32, reduced, i) for i, (name, _) in enumerate(inside)}
    news = tuple(ir.pure_variable(v) for v in to.values())
    values, guards = nest.values({**leaves, **{name: ir.pure_variable(v) for name, v in to.items()}})
    pure = tuple(map(ir.pure_variable, function.args))
    coordinates = Substitution(values)
    point = (*map(coordinates.expr, definition.args), *news)
    inner = _FromPartial(function, d.partial, point, values)
    # What rounding adds to a new dimension was no iteration: it must read nothing.
    within = [c for name, over in outside for c in _within(ir.pure_variable(to[name]), over)]
    conditions = [*within, *guards, inner.expr(nest.domain.predicate)]
    reduced.predicate = _all(conditions) if inside else ir.TRUE
    neutral = Definition((*pure, *news), law.neutral, None, ir.TRUE, at)
    own = inner.expr(definition.predicate)
    values_of, domain = tuple(map(inner.expr, definition.values)), reduced if inside else None
    test = own if inside else _all([own, *conditions])
    update = Definition(point, values_of, domain, test, at, definition.requirements)
    order = {name: i for i, (name, _) in enumerate(outside)}
    where = (*pure, *(ir.RVarRef(INT32, merging, order[name]) for name in to))
    state = [Access(t, function, pure, k, d.stage - 1) for k, t in enumerate(function.types)]
    parts = [Access(t, d.partial, where, k, ir.LAST_STAGE) for k, t in enumerate(function.types)]
    over = merging if outside else None  # where the whole reduction is the partial Func's, its one result is taken in
    merged = Definition(pure, law.applied(state, parts), over, ir.TRUE, at, definition.requirements)
    return neutral, update, merged


def _within(e: ExprNode, over: Interval) -> tuple[ExprNode, ExprNode]:
    offset = e if isinstance(over.min, IntImm) and over.min.value == 0 else ir.sub(e, over.min)
    return ir.less_equal(over.min, e), ir.less(offset, over.len)


def _domain(loops: Sequence[tuple[str, Interval]], at: Location) -> ReductionDomain:
    return ReductionDomain(tuple(n for n, _ in loops), tuple(over for _, over in loops), ir.TRUE, at)


def _all(conditions: Sequence[ExprNode]) -> ExprNode:
    result: ExprNode = ir.TRUE
    for c in conditions:
        if c is not ir.TRUE:
            result = c if result is ir.TRUE else ir.conjunction(result, c)
    return result
