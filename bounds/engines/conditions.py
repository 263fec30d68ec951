"""Conditions met on the way up a path, as bounds of the variables that they are about.

In: conditions, and variables in the order in which they leave, innermost first. Out: the bounds that the conditions set
to each; and where a variable leaves unused, what they say of the others by themselves (Fourier and Motzkin).

    x + y < 3, y leaves first:   y <= 2 - x;   or, if nobody asks for y in (0, 10):   x <= 2

The user's arithmetic in int32 is that of numbers where constant ranges of what it is made of show that it never wraps.
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core import ir
from halide_core.analysis.index import exact_index
from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.prover import Facts
from halide_core.bounds.engines.elimination import ACCESS, mentions
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Not, Variable
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import Rewriter, subexpressions

_COMPARISONS = frozenset({BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE})

_MOST = 16
"""So many conditions wait at most: combining them can make more of them than there were."""


def of_numbers(condition: ExprNode, facts: Facts) -> ExprNode:
    """A condition of which the comparisons are those of numbers, where facts show that their int32 arithmetic stays in
    int32: all that is computed on the way, too."""
    if not any(isinstance(e, Binary) and e.type is INT32 for e in subexpressions([condition])):
        return condition
    return _OfNumbers(facts).expr(condition)


class _OfNumbers(Rewriter):
    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """A comparison of int32s as one of int64s; conditions are made of nothing else that is looked into."""
        if e.op not in _COMPARISONS or e.a.type is not INT32:
            return self.parts_of(e) if e.type.is_bool() and e.a.type.is_bool() else e
        a, b = exact_index(e.a, self._is_int32), exact_index(e.b, self._is_int32)
        return e if a is None or b is None else Binary(e.type, e.op, a, b)

    def _is_int32(self, e: ExprNode) -> bool:
        assert e.type is INT64
        least, most = INT32.range
        low, high = self._facts.constant_range(e)
        return least <= low and high <= most


class Conditions:
    """Conditions, each waiting for the innermost variable that it is about.

    ``lost``: whether one that is made of affine parts was not understood, or not wholly used.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._waiting: list[Linear] = []
        self.lost = False

    def meet(self, condition: ExprNode) -> None:
        """Takes in a condition; what is not linear in coordinates says nothing here."""
        self._meet(of_numbers(condition, self._facts))

    def _meet(self, condition: ExprNode) -> None:
        match condition:
            case IntImm():
                return
            case Binary(op=BinaryOp.AND, a=a, b=b):
                self._meet(a)
                self._meet(b)
                return
            case Not(a=Binary(op=BinaryOp.OR, a=a, b=b)):
                self._meet(ir.conjunction(Not(condition.type, a), Not(condition.type, b)))
                return
            case Not(a=Binary(op=BinaryOp.LT, a=a, b=b)):
                condition = ir.less_equal(b, a)
            case Not(a=Binary(op=BinaryOp.LE, a=a, b=b)):
                condition = ir.less(b, a)
        match condition:
            case Binary(op=BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ as op, a=a, b=b):
                x, y = exact_index(a), exact_index(b)
                if x is not None and y is not None:
                    gap = difference(y, x)
                    if not is_near(gap):  # a variable's bound would be a sum that nobody wrote, and might wrap
                        self.lost = True
                        return
                    gaps = [gap.plus(Linear({}, -1)) if op is BinaryOp.LT else gap]
                    gaps += [gap.times(-1)] if op is BinaryOp.EQ else []
                    self._waiting += [part for g in gaps for part in self._apart(g)]
                    return
        parts = mentions(condition)
        self.lost |= ACCESS not in parts and any(isinstance(p, Variable) for p in parts)

    def _apart(self, gap: Linear) -> list[Linear]:
        """Distributes ``gap >= 0`` over the operands of a minimum, or of a maximum that is subtracted: each of them
        holds. Of one that is added, the operand by which it can't hold says nothing."""
        for atom, c in gap.terms.items():
            if not isinstance(atom, Binary) or atom.op not in (BinaryOp.MIN, BinaryOp.MAX):
                continue
            rest = Linear({a: k for a, k in gap.terms.items() if a is not atom}, gap.const)
            sides = [linear_of(side).times(c).plus(rest) for side in (atom.a, atom.b)]
            if (atom.op is BinaryOp.MIN) == (c > 0):
                return [part for side in sides for part in self._apart(side)]
            possible = [s for s in sides if s.terms or s.const >= 0]
            if len(possible) == 1:
                return self._apart(possible[0])
        return [gap]

    def about(self, var: Variable) -> tuple[list[ExprNode], list[ExprNode]]:
        """Lower and upper bounds of a variable, from the conditions that mention it; these are used up."""
        lows: list[ExprNode] = []
        highs: list[ExprNode] = []
        for form in self._take(var):
            others, c = _without(form, var)
            if c > 0:  # c·var >= -others
                low = ir.sub(ir.ZERO, ir.div(to_expr(others), ir.i64(c)))
                lows.append(low if c != 1 else to_expr(others.times(-1)))
            else:  # -c·var <= others
                highs.append(ir.div(to_expr(others), ir.i64(-c)) if c != -1 else to_expr(others))
        return lows, highs

    def without(self, var: Variable, first: ExprNode, last: ExprNode) -> None:
        """A variable in [first, last] that nobody asks for leaves: what its conditions say of others stays."""
        taken = self._take(var)
        if not taken:
            return
        ends = [linear_of(first).times(-1).plus(Linear({var: 1}, 0)), linear_of(last).plus(Linear({var: 1}, 0), -1)]
        below = [_without(f, var) for f in (ends[0], *taken) if f.terms.get(var, 0) > 0]
        above = [_without(f, var) for f in (ends[1], *taken) if f.terms.get(var, 0) < 0]
        for others, c in below:
            for more, d in above:
                # c·var + others >= 0 and d·var + more >= 0, with d < 0 < c
                combined = others.times(-d).plus(more, c)
                self.lost |= c != 1 and d != -1
                if combined.terms and not self._facts.proves_nonnegative(combined):
                    if len(self._waiting) < _MOST and is_near(combined):
                        self._waiting.append(combined)
                    else:
                        self.lost = True

    def close(self, closing: Callable[[ExprNode], ExprNode | None]) -> None:
        """Leaves the place where some holes are bound. ``closing`` gives None where that can't be."""
        closed = [closing(to_expr(f)) for f in self._waiting]
        self.lost |= None in closed
        self._waiting = [linear_of(e) for e in closed if e is not None]

    def _take(self, var: Variable) -> list[Linear]:
        """The conditions about a variable that leaves. None that mentions it waits on; what has it inside a product, or
        another atom, is not used."""
        about = [f for f in self._waiting if any(var in mentions(a) for a in f.terms)]
        usable = [f for f in about if not any(var in mentions(a) for a in f.terms if a is not var)]
        self._waiting = [f for f in self._waiting if f not in about]
        self.lost |= len(usable) < len(about)
        return usable


def _without(form: Linear, var: Variable) -> tuple[Linear, int]:
    """A form without a variable, and the variable's factor."""
    return Linear({a: k for a, k in form.terms.items() if a is not var}, form.const), form.terms[var]
