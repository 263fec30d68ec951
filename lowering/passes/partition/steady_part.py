"""The steady part of a loop: what its clamps and conditions are there, and between which thresholds.

In: a loop whose body is simplified, and the ranges of coordinates around it. Out: for clamps, comparisons and selects
what they are in the steady part, and forms that must not be negative for that, of the loop's variable and of what does
not vary in it.

    for x in (0, n): f[x] = g[max(x - 1, 0)]      max(x - 1, 0) is x - 1, where x - 1 >= 0

A form counts with its least over the lanes inside, and a multiple of it where quotients are looked through. How that
least is found is a matter of rules; that it is one is proven anew, by the facts that all simplification rests on. That
its threshold is a number of int64, too, however large what is in it is, rests on ``analysis.near``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from halide_core import ir
from halide_core.analysis.index import exact_index
from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.prover import Facts, nothing_known
from halide_core.analysis.simplify import simplify
from halide_core.ir import Access, Binary, BinaryOp, ExprNode, For, If, Interval, IntImm, Let, Select, Stmt, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables, has, parts, stmt_exprs, sub_stmts, subexpressions, with_parts
from halide_core.lowering.passes.loop_shapes import threshold
from halide_core.lowering.passes.simplify_stmt import assume_loop
from halide_core.lowering.passes.variable_ranges import CoordinateRanges

_DIVISIONS, _LIMIT = 4, 1 << 16
"""So many quotients of a clamp are looked through, by divisors up to this."""
_CLAMPS = 3
"""So many clamps in each other are looked through."""


@dataclass(slots=True, eq=False)
class SteadyPart:
    """The decisions of a loop's steady part, and the thresholds between which they hold.

    ``decided`` maps a clamp, a comparison or a select to what it is there; ``gaps`` are forms of the loop's variable
    that must be >= 0 for that. Of those that differ by a constant, as the taps of a stencil do, only the least is kept.
    With ``whole``, all that is looked at is steady or not: nothing is left of the variable.
    """

    loop: For
    ranges: CoordinateRanges
    whole: bool = False
    decided: dict[ExprNode, ExprNode] = field(default_factory=dict)
    gaps: dict[frozenset[tuple[ExprNode, int]], Linear] = field(default_factory=dict)
    _lets: dict[Variable, ExprNode] = field(default_factory=dict)
    _lanes: dict[Variable, Interval] = field(default_factory=dict)
    _steady: dict[ExprNode, ExprNode] = field(default_factory=dict)
    _either: list[ExprNode] = field(default_factory=list)
    """Comparisons of selects, of which either outcome may be the steady one."""

    def look(self, stmt: Stmt) -> None:
        """Takes in the loop's body, or a part of it."""
        self._look(stmt)
        for condition in self._either:
            self._decide_by_others(condition)

    def _look(self, stmt: Stmt, *, again: bool = False) -> None:
        """``again``: with what the first look found out of ranges; what it found of expressions stays."""
        if not again:
            for e in subexpressions(stmt_exprs(stmt)):
                self._look_at(e)
        match stmt:
            case Let(var=var, value=value):
                self.ranges.define(stmt)
                self._lets[var] = steady = self._steady[value]
                self._steady[var] = steady if value.type is INT64 else var
            case If(condition=condition):
                self._decide(condition, True)
            case For(var=var, bounds=bounds):
                self.ranges.enter(stmt)
                self._lanes[var] = Interval(self._steady[bounds.min], self._steady[bounds.len])
        for s in sub_stmts(stmt):
            self._look(s, again=again)

    def _look_at(self, e: ExprNode) -> None:
        """An expression whose operands were looked at: what it is in the steady part, over the loop's own variables."""
        if e in self._steady:
            return
        operands = tuple([self._steady[p] for p in parts(e)])
        rebuilt = with_parts(e, operands) if operands else e
        match e:
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b) if e.type is INT64:
                kept = self._clamp(op, *operands)
                if kept is not None:
                    self.decided[e] = (a, b)[kept]
                    rebuilt = operands[kept]
            case Select(condition=condition):
                # An outer region is a disjunction, an inner one a conjunction; one comparison alone could be either,
                # so that it makes no threshold.
                match condition:
                    case Binary(op=BinaryOp.OR):
                        self._decide_each(condition, BinaryOp.OR, False)
                    case Binary(op=BinaryOp.AND):
                        self._decide_each(condition, BinaryOp.AND, True)
                    case Binary(op=BinaryOp.LT | BinaryOp.LE):
                        self._either.append(condition)
        self._steady[e] = rebuilt

    # -- what is decided

    def _clamp(self, op: BinaryOp, a: ExprNode, b: ExprNode) -> int | None:
        """The operand of a min or max that is kept: the one that varies, where the other does not."""
        varies = [self._varies(a), self._varies(b)]
        if varies[0] == varies[1]:
            return None
        kept = 0 if varies[0] else 1
        mine, other = (a, b) if kept == 0 else (b, a)
        gap = difference(other, mine) if op is BinaryOp.MIN else difference(mine, other)
        return kept if self._require([gap]) else None

    def _decide(self, condition: ExprNode, holds: bool) -> bool:
        """Makes a condition certain, if all that it is made of can be decided."""
        gaps = self._gaps(condition, holds)
        decided = gaps is not None and self._require(gaps)
        if decided:
            self.decided[condition] = ir.TRUE if holds else ir.FALSE
        return decided

    def _decide_by_others(self, condition: ExprNode) -> None:
        """Makes a condition certain that is so between the thresholds that others have."""
        for holds in (True, False):
            worst = [self._worst(gap) for gap in self._gaps(condition, holds) or ()]
            if worst and all(form is not None and self._is_required(form) for form in worst):
                self.decided.setdefault(condition, ir.TRUE if holds else ir.FALSE)

    def _is_required(self, form: Linear) -> bool:
        known = self.gaps.get(frozenset(form.terms.items()))
        return known is not None and known.const <= form.const

    def _decide_each(self, condition: ExprNode, op: BinaryOp, holds: bool) -> None:
        """Makes a condition certain, or what can be of those that it joins: another loop may decide the rest."""
        if not self._decide(condition, holds) and isinstance(condition, Binary) and condition.op is op:
            self._decide_each(condition.a, op, holds)
            self._decide_each(condition.b, op, holds)

    def _gaps(self, condition: ExprNode, holds: bool) -> list[Linear] | None:
        """Forms that are all >= 0 where the condition is as wished; those that don't vary are not decided here."""
        match condition:
            case Binary(op=BinaryOp.AND, a=a, b=b) if holds:
                return self._both(a, b, holds)
            case Binary(op=BinaryOp.OR, a=a, b=b) if not holds:
                return self._both(a, b, holds)
            case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b):
                x, y = self._index(a), self._index(b)
                if x is None or y is None:
                    return None
                strict = op is BinaryOp.LT
                gap = difference(y, x) if holds else difference(x, y)
                return [gap.plus(Linear({}, -1)) if strict == holds else gap]
        return None

    def _index(self, e: ExprNode) -> ExprNode | None:
        """The int64 number that a compared value is in the steady part; None where its int32 arithmetic might wrap."""
        exact = exact_index(e, self.ranges.is_int32)
        if exact is None:
            return None
        for each in subexpressions([exact]):
            self._look_at(each)
        return self._steady[exact]

    def _both(self, a: ExprNode, b: ExprNode, holds: bool) -> list[Linear] | None:
        x, y = self._gaps(a, holds), self._gaps(b, holds)
        return None if x is None or y is None else x + y

    def _require(self, gaps: list[Linear]) -> bool:
        """Adds ``gap >= 0`` to what the steady part needs, all of them or none."""
        worst = [form for gap in gaps if (form := self._worst(gap)) is not None]
        never = any(not form.terms and form.const < 0 for form in worst)
        if never or len(worst) < len(gaps) or any((self.loop.var in form.terms) == self.whole for form in worst):
            return False
        if not all(map(is_near, worst)) or not all(map(self._is_threshold, worst)):
            return False
        for form in worst:
            known = self.gaps.setdefault(frozenset(form.terms.items()), form)
            if form.const < known.const:
                self.gaps[frozenset(form.terms.items())] = form
        return True

    def thresholds(self, *, without: Sequence[Linear] = ()) -> tuple[list[ExprNode], list[ExprNode]]:
        """The lower and the upper bounds of the loop's variable where every gap is >= 0, some forms apart."""
        apart = {(frozenset(form.terms.items()), form.const) for form in without}
        gaps = [gap for terms, gap in self.gaps.items() if (terms, gap.const) not in apart]
        lowest = [simplify(threshold(gap, self.loop.var)) for gap in gaps if gap.terms[self.loop.var] > 0]
        highest = [simplify(threshold(gap, self.loop.var)) for gap in gaps if gap.terms[self.loop.var] < 0]
        return list(dict.fromkeys(lowest)), list(dict.fromkeys(highest))

    def shifts(self) -> bool:
        """True where all that is decided are clamps of what all lanes share, a few points further in each iteration."""
        inner = {*self._lanes, *self._lets}
        clamps = [e for e in self.decided if isinstance(e, Binary) and e.type is INT64]
        shared = len(clamps) == len(self.decided) and all(free_variables(e).isdisjoint(inner) for e in clamps)
        return shared and all(abs(gap.terms[self.loop.var]) > 1 for gap in self.gaps.values())

    def _worst(self, gap: Linear) -> Linear | None:
        """The least that a form, or a multiple of it, is over the lanes, in terms of the loop's variable and what
        doesn't vary in it."""
        multiple, form = self._without_divisions(gap)
        worst = self._least(form, _CLAMPS)
        return worst if worst is not None and self._is_below(worst, gap.times(multiple)) else None

    def _is_below(self, least: Linear, form: Linear) -> bool:
        """True where it is proven that a form is nowhere in the lanes less than what was found for it: whatever found
        it, a decision rests on this."""
        inside = Facts()
        for lane, bounds in self._lanes.items():
            assume_loop(inside, lane, bounds)
        return inside.proves_nonnegative(form.plus(least, -1))

    def _is_threshold(self, form: Linear) -> bool:
        """True where it is proven that a form that has the loop's variable is not negative at its threshold, and so not
        beyond it either."""
        var = self.loop.var
        return self.whole or nothing_known().proves_nonnegative(form.replacing(var, linear_of(threshold(form, var))))

    def _least(self, form: Linear, clamps: int) -> Linear | None:
        """The least that a form itself is; so many clamps in each other are looked through."""
        form = self._without_clamps(form, clamps - 1) if clamps else form
        for lane, bounds in reversed(self._lanes.items()):
            c = form.terms.get(lane, 0)
            if c:
                last = ir.sub(ir.add(bounds.min, bounds.len), ir.ONE)
                form = form.replacing(lane, linear_of(simplify(bounds.min if c > 0 else last)))
        if any(self._varies(a) and a is not self.loop.var for a in form.terms):
            return None
        return form

    def _without_clamps(self, gap: Linear, clamps: int) -> Linear:
        """A form that is not above the gap, in which clamps of lanes are at their ends: the last vector of a short loop
        that is shifted inwards is at another distance than the others, and none is decided for all of them."""
        for atom in gap.terms:
            c = gap.terms.get(atom, 0)
            if c and isinstance(atom, Binary) and atom.op in (BinaryOp.MIN, BinaryOp.MAX) and self._varies(atom):
                end = self._end_of(atom, 1 if c > 0 else -1, clamps)
                gap = gap if end is None else gap.replacing(atom, end)
        return gap

    def _end_of(self, clamp: Binary, sign: int, clamps: int) -> Linear | None:
        """A number that a clamp is at least (sign 1) or at most (-1) in all lanes. The lesser of two is at most either,
        and at least the lesser of what they are at least."""
        ends = [self._least(linear_of(e).times(sign), clamps) for e in (clamp.a, clamp.b)]
        known = [end.times(sign) for end in ends if end is not None]
        if (clamp.op is BinaryOp.MIN) == (sign < 0):
            return min(known, key=lambda end: len(end.terms), default=None)
        return linear_of(ir.binary(clamp.op, *map(to_expr, known))) if len(known) == 2 else None

    def _without_divisions(self, gap: Linear) -> tuple[int, Linear]:
        """A form that is not above a multiple of the gap, in which quotients are what they are made of, and how many
        times the gap that is: with rows of half the length, what is read is 2*(x/2) or 2*(x/2) + 1 at x."""
        multiple = 1
        for _ in range(_DIVISIONS):
            for atom, c in gap.terms.items():
                match atom:
                    case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if 0 < k <= _LIMIT and self._varies(a):
                        rest = Linear({e: n for e, n in gap.terms.items() if e is not atom}, gap.const).times(k)
                        gap = rest.plus(linear_of(ir.sub(a, ir.i64(k - 1)) if c > 0 else a), c)
                        multiple *= k
                        break
                    case Binary(op=BinaryOp.MOD, a=a, b=IntImm(value=k)) if 0 < k <= _LIMIT and self._varies(a):
                        gap = gap.replacing(atom, Linear({}, 0 if c > 0 else k - 1))
                        break
            else:
                break
        return multiple, gap

    def _varies(self, e: ExprNode) -> bool:
        """True where an expression can differ between iterations. What comes from memory can."""
        free = free_variables(e)
        if self.loop.var in free or any(v in free for v in self._lanes) or any(v in free for v in self._lets):
            return True
        return has(e, Access)
