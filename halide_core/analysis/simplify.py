"""Simplification of index and truth expressions; value expressions of other types pass through unchanged but for their
constants, whose arithmetic wraps as it would at run time, and for what a remainder by a power of two leaves out.

In: an expression, and facts that hold where it stands. Out: an equal expression.

    simplify((x*8 + 16)/8)        ->  x + 2
    simplify(min(x, x + 3))       ->  x
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.low_bits import number_in_lanes, without_multiples
from halide_core.analysis.near import is_far, is_near
from halide_core.analysis.prover import Facts, nothing_known
from halide_core.ir import (
    Binary,
    BinaryOp,
    Cast,
    ExprNode,
    IntImm,
    Not,
    Select,
)
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Rewriter

_LIMIT = 1 << 62


class Simplifier(Rewriter):
    """One set of facts, one memo, which is that of all others of these facts as long as nothing is added to them."""

    def __init__(self, facts: Facts | None = None) -> None:
        super().__init__()
        self.facts = facts if facts is not None else nothing_known()
        if type(self) is Simplifier:  # a subclass has rules of its own
            self._memo = self.facts.simplified() if facts is not None else self.facts.plain()

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """Folds, cancels, and decides what the facts decide."""
        a, b = self.expr(e.a), self.expr(e.b)
        if e.op in ir.LOGICAL:
            return _logic(e, a, b)
        if a.type is INT64:
            return self._index(e.op, a, b)
        if isinstance(a, IntImm) and isinstance(b, IntImm):
            folded = _fold(e.op, a, b)
            if folded is not None:
                return folded
        joined = _with_constant(e.op, a, b)
        if joined is not None:
            return joined
        a = without_multiples(e.op, a, b)
        return e if a is e.a and b is e.b else Binary(e.type, e.op, a, b)

    def _index(self, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
        match op:
            case BinaryOp.ADD:
                return self._sum(linear_of(a).plus(linear_of(b)), op, a, b)
            case BinaryOp.SUB:
                return self._sum(linear_of(a).plus(linear_of(b), -1), op, a, b)
            case BinaryOp.MUL:
                return _product(a, b)
            case BinaryOp.MIN:
                return self.minimum(a, b)
            case BinaryOp.MAX:
                return self.maximum(a, b)
            case BinaryOp.DIV:
                return self._quotient(a, b)
            case BinaryOp.MOD:
                return self._remainder(a, b)
            case BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ | BinaryOp.NE:
                return self._comparison(op, a, b)
        return ir.binary(op, a, b)

    def _sum(self, form: Linear, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
        joined = _joined(form)
        if joined is None:
            return _small(form, op, a, b)
        rest, choice = joined
        return self._sum(rest.plus(linear_of(self.expr(choice))), op, a, b)

    def minimum(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """``min(a, b)`` of simplified operands."""
        if self.facts.proves_le(a, b):
            return a
        if self.facts.proves_le(b, a):
            return b
        return _factored(BinaryOp.MIN, a, b)

    def maximum(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """``max(a, b)`` of simplified operands."""
        if self.facts.proves_le(a, b):
            return b
        if self.facts.proves_le(b, a):
            return a
        return _factored(BinaryOp.MAX, a, b)

    def _quotient(self, a: ExprNode, b: ExprNode) -> ExprNode:
        if not isinstance(b, IntImm) or b.value <= 0:
            return ir.div(a, b) if not isinstance(a, IntImm) or not isinstance(b, IntImm) else _euclid(a, b)[0]
        k, form = b.value, linear_of(a)
        if not _is_divided(form, k):
            return ir.div(a, b)
        whole, rest = _divided(form, k)
        left = to_expr(rest)
        if not rest.terms or (self.facts.proves_le(ir.ZERO, left) and self.facts.proves_le(left, ir.i64(k - 1))):
            return to_expr(whole)
        if k == 1:
            return a
        match [*rest.terms.items()]:
            case [(Binary(op=BinaryOp.DIV, a=inner, b=IntImm(value=j)), 1)] if 0 < j * k < _LIMIT and not is_far(inner):
                inner = to_expr(linear_of(inner).plus(Linear({}, rest.const * j)))
                return to_expr(whole.plus(linear_of(ir.div(inner, ir.i64(j * k)))))
        return to_expr(whole.plus(Linear({ir.div(left, b): 1}, 0)))

    def _remainder(self, a: ExprNode, b: ExprNode) -> ExprNode:
        if not isinstance(b, IntImm) or b.value <= 0:
            return ir.mod(a, b) if not isinstance(a, IntImm) or not isinstance(b, IntImm) else _euclid(a, b)[1]
        form = linear_of(a)
        if not _is_divided(form, b.value):
            return ir.mod(a, b)
        _, rest = _divided(form, b.value)
        left = to_expr(rest)
        if not rest.terms or (self.facts.proves_le(ir.ZERO, left) and self.facts.proves_le(left, ir.i64(b.value - 1))):
            return left
        return ir.mod(left, b)

    def _comparison(self, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
        facts = self.facts
        one_less = Linear({}, -1)
        gap = difference(b, a)
        back = difference(a, b)
        below, above = gap.plus(one_less), back.plus(one_less)
        verdict: bool | None = None
        if op is BinaryOp.LT:
            verdict = True if facts.proves_nonnegative(below) else False if facts.proves_nonnegative(back) else None
        elif op is BinaryOp.LE:
            verdict = True if facts.proves_nonnegative(gap) else False if facts.proves_nonnegative(above) else None
        elif not gap.terms:
            verdict = (gap.const == 0) == (op is BinaryOp.EQ)
        elif facts.proves_nonnegative(below) or facts.proves_nonnegative(above):
            verdict = op is BinaryOp.NE
        if verdict is not None:
            return ir.TRUE if verdict else ir.FALSE
        return ir.binary(op, a, b)

    def rewrite_Not(self, e: Not) -> ExprNode:
        """Folds a negated constant or comparison."""
        a = self.expr(e.a)
        match a:
            case IntImm(value=value):
                return ir.FALSE if value else ir.TRUE
            case Binary(op=BinaryOp.LT, a=x, b=y) if x.type.is_integer():
                return ir.less_equal(y, x)
            case Binary(op=BinaryOp.LE, a=x, b=y) if x.type.is_integer():
                return ir.less(y, x)
        return e if a is e.a else Not(e.type, a)

    def rewrite_Select(self, e: Select) -> ExprNode:
        """Picks a side that is certain."""
        condition, a, b = self.expr(e.condition), self.expr(e.a), self.expr(e.b)
        if isinstance(condition, IntImm):
            return a if condition.value else b
        if a is b:
            return a
        same = condition is e.condition and a is e.a and b is e.b
        return e if same else Select(e.type, condition, a, b)

    def rewrite_Cast(self, e: Cast) -> ExprNode:
        """Folds constants, and an index that goes through int32 and back."""
        a = self.expr(e.a)
        if a.type is e.type:
            return a
        if isinstance(a, IntImm) and e.type.is_integer() and not e.type.is_bool():
            return ir.const(a.value, e.type)
        if e.type is INT64 and isinstance(a, Cast) and a.a.type is INT64 and a.type.is_int():
            low, high = self.facts.constant_range(a.a)
            if a.type.range[0] <= low and high <= a.type.range[1]:
                return a.a
        return e if a is e.a else Cast(e.type, a)


def _factored(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """``min(c + a, c + b)`` as ``c + min(a, b)``, so that what both sides share can cancel outside."""
    x, y = linear_of(a), linear_of(b)
    shared = {atom: c for atom, c in x.terms.items() if y.terms.get(atom) == c}
    constant = y.const if y.terms.keys() - shared.keys() else x.const
    if (not shared and not constant) or not (is_near(x) and is_near(y)):
        return ir.binary(op, a, b)
    common = Linear(shared, constant)
    inner = ir.binary(op, to_expr(x.plus(common, -1)), to_expr(y.plus(common, -1)))
    return to_expr(common.plus(Linear({inner: 1}, 0)))


def _joined(form: Linear) -> tuple[Linear, Select] | None:
    """Choices by one condition as a choice of sums, and the rest of a form, where these sums are shorter: a region's
    first point and its length, which depend on the same, give its last one."""
    choices = [atom for atom in form.terms if isinstance(atom, Select)]
    for i, first in enumerate(choices[:-1]):
        same = [atom for atom in choices[i:] if atom.condition is first.condition]
        if len(same) < 2:
            continue
        sums = Linear({}, 0), Linear({}, 0)
        before = 0
        for atom in same:
            sides, c = (linear_of(atom.a), linear_of(atom.b)), form.terms[atom]
            sums = sums[0].plus(sides[0], c), sums[1].plus(sides[1], c)
            before += len(sides[0].terms) + len(sides[1].terms)
        fits = all(abs(n) < _LIMIT for side in sums for n in (side.const, *side.terms.values()))
        if fits and len(sums[0].terms) + len(sums[1].terms) < before:
            rest = Linear({atom: c for atom, c in form.terms.items() if atom not in same}, form.const)
            return rest, Select(INT64, first.condition, to_expr(sums[0]), to_expr(sums[1]))
    return None


def _small(form: Linear, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """A linear form as an expression, unless its constants would leave int64."""
    if abs(form.const) >= _LIMIT or max(map(abs, form.terms.values()), default=0) >= _LIMIT:
        return ir.binary(op, a, b)
    return to_expr(form)


def _product(a: ExprNode, b: ExprNode) -> ExprNode:
    x, y = linear_of(a), linear_of(b)
    if x.terms and y.terms:
        return _multiple(x, b) or _multiple(y, a) or ir.mul(a, b)
    form = x.times(y.const) if not y.terms else y.times(x.const)
    return _small(form, BinaryOp.MUL, a, b)


def _multiple(times: Linear, d: ExprNode) -> ExprNode | None:
    """``(n/d + c)*d`` as ``n/d*d + c*d``, in which what is rounded to a multiple shows; None for other products."""
    match [*times.terms.items()]:
        case [(Binary(op=BinaryOp.DIV, b=by) as quotient, 1)] if by is d and times.const:
            form = Linear({ir.mul(quotient, d): 1}, 0).plus(linear_of(d), times.const)
            return to_expr(form) if is_near(form) else None
    return None


def _is_divided(form: Linear, k: int) -> bool:
    """True where a form's parts can be told apart by a divisor: what is left, with a constant of up to ``k - 1``, does
    not wrap."""
    fits = max(k, abs(form.const), *map(abs, form.terms.values())) < _LIMIT
    return not form.terms or (fits and not any(map(is_far, form.terms)))


def _divided(form: Linear, k: int) -> tuple[Linear, Linear]:
    """``form = k·whole + rest``, with the constant of ``rest`` in [0, k)."""
    whole = {a: c // k for a, c in form.terms.items() if c % k == 0}
    rest = {a: c for a, c in form.terms.items() if c % k != 0}
    return Linear(whole, form.const // k), Linear(rest, form.const % k)


def _euclid(a: IntImm, b: IntImm) -> tuple[ExprNode, ExprNode]:
    if b.value == 0:
        return ir.const(0, a.type), ir.const(0, a.type)
    remainder = a.value % abs(b.value)
    return ir.const((a.value - remainder) // b.value, a.type), ir.const(remainder, a.type)


def _fold(op: BinaryOp, a: IntImm, b: IntImm) -> ExprNode | None:
    """The value of an operator on two constants of one integer type; None where it is left to run time."""
    x, y = a.value, b.value
    match op:
        case BinaryOp.ADD:
            return ir.const(x + y, a.type)
        case BinaryOp.SUB:
            return ir.const(x - y, a.type)
        case BinaryOp.MUL:
            return ir.const(x * y, a.type)
        case BinaryOp.DIV:
            return _euclid(a, b)[0]
        case BinaryOp.MOD:
            return _euclid(a, b)[1]
        case BinaryOp.MIN:
            return a if x < y else b
        case BinaryOp.MAX:
            return a if x > y else b
        case BinaryOp.LT:
            return ir.TRUE if x < y else ir.FALSE
        case BinaryOp.LE:
            return ir.TRUE if x <= y else ir.FALSE
        case BinaryOp.EQ:
            return ir.TRUE if x == y else ir.FALSE
        case BinaryOp.NE:
            return ir.TRUE if x != y else ir.FALSE
    return None


def _with_constant(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode | None:
    """``a + 0`` as ``a``, and ``(a + c) - d`` as ``a + (c - d)``: integers wrap, so it is the same in any order. None
    for all else; lanes of places keep their base, be it 0."""
    second = number_in_lanes(b)
    type = a.type.element_of()
    if op not in (BinaryOp.ADD, BinaryOp.SUB) or not type.is_integer() or type.is_bool() or type is INT64:
        return None
    if second is None:
        return b if op is BinaryOp.ADD and number_in_lanes(a) == 0 else None
    by = second if op is BinaryOp.ADD else -second
    match a:
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB as inner, a=x, b=c) if (first := number_in_lanes(c)) is not None:
            a, by = x, by + (first if inner is BinaryOp.ADD else -first)
        case _ if by:
            return None
    low, high = type.range
    by = (by - low) % (high - low + 1) + low
    made = BinaryOp.SUB if by < 0 else BinaryOp.ADD
    return Binary(a.type, made, a, ir.const(abs(by), a.type)) if by else a


def _logic(e: Binary, a: ExprNode, b: ExprNode) -> ExprNode:
    neutral, absorbing = (ir.TRUE, ir.FALSE) if e.op is BinaryOp.AND else (ir.FALSE, ir.TRUE)
    if a is absorbing or b is absorbing:
        return absorbing
    if a is neutral or a is b:
        return b
    if b is neutral:
        return a
    return e if a is e.a and b is e.b else Binary(e.type, e.op, a, b)


def simplify(e: ExprNode, facts: Facts | None = None) -> ExprNode:
    """An equal expression, simpler where the rules or the facts allow it."""
    if not e.contents & Simplifier._changes:
        return e
    if facts is not None:
        return Simplifier(facts).expr(e)
    found = _changed(e)
    return e if found is None else found


@remembered("_simple")
def _changed(e: ExprNode) -> ExprNode | None:
    """An expression as the rules alone simplify it; None where they leave it as it is, as it would hold itself."""
    found = Simplifier().expr(e)
    return None if found is e else found
