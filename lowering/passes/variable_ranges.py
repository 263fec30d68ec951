"""Constant ranges of coordinates: by them one sees that int32 arithmetic on loop variables does not wrap.

In: start-up checks, loops and lets, as one goes down a tree. Out: whether an expression that stands there is a number
of int32.

    assert out.min.0 + out.extent.0 - 1 <= 2^30;  for x in (out.min.0 - 1, out.extent.0 + 2): s
    ->  x <= 2^30 + 1, so that x + 5 is one
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from halide_core import ir
from halide_core.analysis.conditions import assume_condition
from halide_core.analysis.interval import EVERYTHING, Range
from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.prover import Facts
from halide_core.ir import Binary, BinaryOp, ExprNode, For, Interval, IntImm, Let, Select, Variable
from halide_core.ir.types import INT32, INT64

_Terms = frozenset[tuple[ExprNode, int]]
_Chosen = tuple[tuple[ExprNode, bool], ...]
_Ends = tuple[Linear, Linear]
"""The lower and the upper bound of a variable."""
_ROUNDS = 12
"""So many atoms of a form are replaced by what they are at most."""
_BRANCHES = 4
"""So many times both operands of the greater of two, or both cases of a choice, are looked at."""


@dataclass(slots=True)
class CoordinateRanges:
    """Ranges of coordinates where a statement stands. What is met on the way waits until a range is asked for: of most
    places none is."""

    outside: CoordinateRanges | None = None
    facts: Facts = field(default_factory=Facts)
    limits: Mapping[_Terms, int] = field(default_factory=dict)
    """For sums of several atoms a constant with which they are not negative."""
    ends: Mapping[Variable, _Ends] = field(default_factory=dict)
    """Of loops and lets in scope."""
    _waiting: list[ExprNode | For | Let] = field(default_factory=list)

    def inside(self) -> CoordinateRanges:
        """The same, to learn more in."""
        return CoordinateRanges(self)

    def learn(self, condition: ExprNode) -> None:
        """Takes in a condition that holds from here on."""
        self._waiting.append(condition)

    def enter(self, loop: For) -> None:
        """Takes in the variable of a loop around what comes."""
        self._waiting.append(loop)

    def define(self, let: Let) -> None:
        """Takes in the variable of a let, which what comes after it sees."""
        if let.var.type is INT64:
            self._waiting.append(let)

    def _settle(self) -> None:
        """Takes in what waits, outside first."""
        if self.outside is not None:
            self.outside._settle()
            self.facts, self.limits, self.ends = Facts(self.outside.facts), self.outside.limits, self.outside.ends
            self.outside = None
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            match each:
                case For(var=var, bounds=bounds):
                    ends = _ends(bounds)
                    self._bind(var, ends, self._over(ends))
                case Let():
                    self._define(each)
                case _:
                    assume_condition(self.facts, each)
                    self._limit(each)

    def is_int32(self, e: ExprNode) -> bool:
        """True where an int64 expression is a number of int32."""
        low, high = self.of(linear_of(e))
        return INT32.range[0] <= low and high <= INT32.range[1]

    def of(self, form: Linear) -> Range:
        """Constant bounds of a form."""
        self._settle()
        return (-self._most(form.times(-1)), self._most(form))

    def _over(self, ends: _Ends) -> Range:
        return (self.of(ends[0])[0], self.of(ends[1])[1])

    def _define(self, let: Let) -> None:
        form = linear_of(let.value)
        (low, high), (least, most) = self.of(form), EVERYTHING
        if let.within is not None:
            least, most = self._over(_ends(let.within))
        self._bind(let.var, (form, form), (max(low, least), min(high, most)))

    def _bind(self, var: Variable, ends: _Ends, over: Range) -> None:
        low, high = over
        if low > -math.inf:
            self.facts.assume_at_least(var, ir.i64(int(low)))
        if high < math.inf:
            self.facts.assume_at_most(var, ir.i64(int(high)))
        self.ends = {**self.ends, var: ends}

    def _limit(self, condition: ExprNode) -> None:
        match condition:
            case Binary(op=BinaryOp.AND, a=a, b=b):
                self._limit(a)
                self._limit(b)
            case Binary(op=BinaryOp.LE | BinaryOp.LT as op, a=a, b=b) if a.type is INT64:
                gap = difference(b, a)
                const = gap.const - (op is BinaryOp.LT)
                if len(gap.terms) > 1:
                    self.limits = {**self.limits, _terms(gap): min(const, self.limits.get(_terms(gap), const))}
                if list(gap.terms.values()) == [-1, -1]:
                    one, other = gap.terms
                    self._limit_each(one, other, const)

    def _limit_each(self, a: ExprNode, b: ExprNode, most: int) -> None:
        """Of two that are at most so much together, neither is more than the other leaves of it."""
        for atom, other in ((a, b), (b, a)):
            least = self.facts.constant_range(other)[0]
            if least > -math.inf:
                self.facts.assume_at_most(atom, ir.i64(most - int(least)))

    def _most(self, form: Linear, branches: int = _BRANCHES, chosen: _Chosen = ()) -> float:
        """A constant that a form never exceeds. First as it is; then with its variables at the ends of their loops,
        and so on; last with each of two operands, the greater of which counts, and by what is known of the greater.
        ``chosen``: conditions that hold, or don't."""
        high = math.inf
        for _ in range(_ROUNDS):
            form = _by_choices(form, chosen)
            high = min(high, self.facts.constant_range(to_expr(form))[1])
            limit = self.limits.get(_terms(form.times(-1)))
            if limit is not None:
                return min(high, form.const + limit)
            ended = self._raised(form)
            if ended is None:
                return min(high, self._most_of_greater(form, branches - 1, chosen)) if branches else high
            form = ended
        return high

    def _most_of_greater(self, form: Linear, branches: int, chosen: _Chosen) -> float:
        """The same by the first choice, or atom that is the greater of two."""
        condition = next((atom.condition for atom in form.terms if isinstance(atom, Select)), None)
        if condition is not None:
            return max(self._most(form, branches, (*chosen, (condition, holds))) for holds in (True, False))
        either = _either(form)
        if either is None:
            return math.inf
        found = [max(self._most(each, branches, chosen) for each in either)]
        for atom, c in form.terms.items():
            for terms, const in self.limits.items() if c > 0 and isinstance(atom, Binary) else ():
                if (atom, -1) in terms:
                    rest = Linear({e: n for e, n in terms if e is not atom}, const)
                    found.append(self._most(form.replacing(atom, rest), branches, chosen))
        return min(found)

    def _raised(self, form: Linear) -> Linear | None:
        """The form with one atom replaced by something that it does not exceed."""
        for atom, c in form.terms.items():
            if isinstance(atom, Variable) and atom in self.ends:
                return form.replacing(atom, self.ends[atom][c > 0])
            match atom:
                case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0 and c % k == 0:
                    rest = Linear({e: n for e, n in form.terms.items() if e is not atom}, form.const)
                    return rest.plus(linear_of(a if c > 0 else ir.sub(a, ir.i64(k - 1))), c // k)
                case Binary(op=BinaryOp.MIN, a=a, b=b) if c > 0:
                    return form.replacing(atom, min(linear_of(a), linear_of(b), key=lambda each: len(each.terms)))
                case Binary(op=BinaryOp.MAX, a=a, b=b) if c > 0:
                    for more, less in ((a, b), (b, a)):
                        if self.facts.constant_range(more)[0] >= self.facts.constant_range(less)[1]:
                            return form.replacing(atom, linear_of(more))
        return None


def _either(form: Linear) -> tuple[Linear, Linear] | None:
    """Two forms the greater of which a form is, by the first atom that is the greater of two, or the lesser of what is
    taken away."""
    for atom, c in form.terms.items():
        match atom:
            case Binary(op=BinaryOp.MAX | BinaryOp.MIN as op, a=a, b=b) if (op is BinaryOp.MAX) == (c > 0):
                return form.replacing(atom, linear_of(a)), form.replacing(atom, linear_of(b))
    return None


def _by_choices(form: Linear, chosen: _Chosen) -> Linear:
    """The form where some conditions hold, and others don't: choices by one of them are made alike."""
    for condition, holds in chosen:
        for atom in form.terms:
            if isinstance(atom, Select) and atom.condition is condition:
                form = form.replacing(atom, linear_of(atom.a if holds else atom.b))
    return form


def _ends(bounds: Interval) -> _Ends:
    return linear_of(bounds.min), linear_of(ir.sub(ir.add(bounds.min, bounds.len), ir.ONE))


def _terms(form: Linear) -> _Terms:
    return frozenset(form.terms.items())
