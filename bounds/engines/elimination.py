"""Interval arithmetic on symbols: the range of an expression over the variables of a path.

In: an expression, and a path of loops, lets and conditions. Out: its least and greatest value in terms of what is
above the path. Variables go one at a time, innermost first; sums are kept as linear forms meanwhile, so that what
cancels does cancel; conditions narrow the variable they are about.

    x + r over r in [0, 3)             ->   [x, x + 2]
    x     over x = xo*8 + xi if x < n  ->   [xo*8, min(xo*8 + 7, n - 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import fits
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.prover import Facts
from halide_core.analysis.prune_selects import assume
from halide_core.analysis.simplify import Simplifier
from halide_core.analysis.value_ends import ValueEnds
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.float_choices import taken_apart
from halide_core.bounds.engines.float_ends import FloatEnds, SymbolRanges, chosen, conditions, is_constant, of_params
from halide_core.bounds.engines.magnitude import magnitude_of
from halide_core.bounds.engines.monotone import Direction, Directions
from halide_core.bounds.engines.widening import exact_value, widened
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    ExprNode,
    Hole,
    IntImm,
    Promise,
    Select,
    Variable,
)
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import parts
from halide_core.reference.concrete import evaluate

ACCESS = Access
"""Stands for every access in ``mentions``: a bound may not read memory."""


def mentions(e: ExprNode) -> frozenset[Any]:
    """The variables and holes in an expression, and ACCESS where it reads a Func or an image."""
    return frozenset((e,)) if isinstance(e, Variable | Hole) else _mentions(e)


@remembered("_mentions")
def _mentions(e: ExprNode) -> frozenset[Any]:
    own = (ACCESS,) if isinstance(e, Access) else ()
    return frozenset(own).union(*map(mentions, parts(e)))


_OPPOSITE = {BinaryOp.MIN: BinaryOp.MAX, BinaryOp.MAX: BinaryOp.MIN}

ANY_INT32 = tuple(ir.i64(int(end)) for end in INT32.range)
"""The ends of an index of which nothing is known."""


def is_guard(e: ExprNode) -> bool:
    """True of an end that is known under a condition: elsewhere it is that of any int32."""
    return isinstance(e, Select) and any(e.b is end for end in ANY_INT32)


def _is_at(end: ExprNode, limit: ExprNode) -> bool:
    """True of an end that is made of numbers alone, and comes to a limit. Others stay: a proof compares them with what
    is made of coordinates in the same way."""
    return isinstance(limit, IntImm) and is_constant(end) and evaluate(end, {}) == limit.value


Targets = Mapping[Any, tuple[ExprNode, ExprNode]]
"""The least and the greatest value of each eliminated variable."""


def _cancelling(form: Linear, atom: Binary | Select) -> int:
    """Counts the terms of a form that would cancel in the operands of one of its terms, or lose a case there."""
    c = form.terms[atom]
    cancel = sum(form.terms.get(t, 0) == -c * k for side in (atom.a, atom.b) for t, k in linear_of(side).terms.items())
    if isinstance(atom, Select):
        cancel += sum(isinstance(t, Select) and t is not atom and t.condition is atom.condition for t in form.terms)
    return cancel


class Elimination:
    """Replaces targets by their ends, once for all expressions under one set of facts."""

    def __init__(
        self,
        targets: Targets,
        facts: Facts,
        values: ValueRanges,
        symbols: SymbolRanges | None = None,
        ends: ValueEnds | None = None,
    ) -> None:
        self._targets = targets
        self._keys = frozenset(targets) | {ACCESS}
        self._simplifier = Simplifier(facts)
        self._facts = facts
        self._values = values
        self._symbols = symbols
        self._value_ends = ends
        self._floats: FloatEnds | None = None
        self._memo: dict[tuple[ExprNode, bool], ExprNode | None] = {}
        self._directions = [Directions(var) for var in targets]
        self.lost = False
        """True where an end may lie beyond every value, where correlated parts of an affine kind were taken apart."""

    def bound(self, e: ExprNode, up: bool) -> ExprNode | None:
        """The greatest (``up``) or least value of an int64 expression; None where there is none."""
        if mentions(e).isdisjoint(self._keys):
            return e
        key = (e, up)
        if key not in self._memo:
            self._memo[key] = self._linear(e, up) if e.type is INT64 else self._typed.end(e, up)
        return self._memo[key]

    @property
    def _typed(self) -> FloatEnds:
        """Of values that are no indices, which few expressions have. It and this object hold each other."""
        if self._floats is None:
            self._floats = FloatEnds(self._varies, self.bound, self._symbols or SymbolRanges())
        return self._floats

    def _varies(self, e: ExprNode) -> bool:
        """True where a target has a part in an expression."""
        return not mentions(e).isdisjoint(self._keys)

    def _linear(self, e: ExprNode, up: bool) -> ExprNode | None:
        form = self._gathered(linear_of(e))
        self._apart([a for a in form.terms if not mentions(a).isdisjoint(self._keys)], lambda: to_expr(form))
        result = Linear({}, form.const)
        for atom, c in form.terms.items():
            end = self._atom(atom, up == (c > 0))
            if end is None:
                return None
            result = result.plus(linear_of(end), c)
        return to_expr(result)

    def _apart(self, varying: list[ExprNode], whole: Callable[[], ExprNode]) -> None:
        """Parts that vary are about to get ends of their own. They take these together if all grow or all fall."""
        if len(varying) > 1 and not self.lost and any(d.of(whole()) is Direction.UNKNOWN for d in self._directions):
            self.lost = True

    def _gathered(self, form: Linear) -> Linear:
        """Moves terms that vary into a min, a max or a choice that varies with them, where they can cancel:
        ``x + max(4, n - x)`` is ``max(x + 4, n)``. Of several, into the one in which the most terms do."""
        varying = [a for a in form.terms if not mentions(a).isdisjoint(self._keys)]
        if len(varying) < 2:
            return form
        choices = (a for a in varying if isinstance(a, Select) or (isinstance(a, Binary) and a.op in _OPPOSITE))
        into = [a for a in choices if not is_guard(a)]
        if not into:
            return form
        atom = into[0] if len(into) == 1 else max(into, key=lambda a: _cancelling(form, a))
        c = form.terms[atom]
        rest = Linear({a: form.terms[a] for a in varying if a is not atom}, 0)
        a, b = (to_expr(linear_of(side).times(c).plus(rest)) for side in (atom.a, atom.b))
        others = Linear({t: k for t, k in form.terms.items() if t not in varying}, form.const)
        joined = linear_of(self._joined(atom, c, a, b))
        if not rest.terms.keys().isdisjoint(joined.terms) and isinstance(atom, Binary):
            # What both sides have in common was moved out again, where it cancels with neither.
            joined = Linear({ir.binary(atom.op if c > 0 else _OPPOSITE[atom.op], a, b): 1}, 0)
        return others.plus(joined)

    def _joined(self, atom: Binary | Select, c: int, a: ExprNode, b: ExprNode) -> ExprNode:
        """``c`` times an atom, with what was moved into its operands."""
        if isinstance(atom, Select):
            a = self._simplifier.expr(assume(a, atom.condition, holds=True))
            b = self._simplifier.expr(assume(b, atom.condition, holds=False))
            return a if a is b else Select(INT64, atom.condition, a, b)
        op = atom.op if c > 0 else _OPPOSITE[atom.op]
        return (self._simplifier.minimum if op is BinaryOp.MIN else self._simplifier.maximum)(a, b)

    def _atom(self, e: ExprNode, up: bool) -> ExprNode | None:
        if mentions(e).isdisjoint(self._keys):
            return e
        ends = self._targets.get(e)
        if ends is not None:
            return ends[up]
        match e:
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                return self._min_max(op, a, b, up)
            case Binary(op=BinaryOp.DIV, a=a, b=b):
                return self._quotient(a, b, up)
            case Binary(op=BinaryOp.MOD, a=a, b=b):
                return self._remainder(a, b, up)
            case Binary(op=BinaryOp.MUL, a=a, b=b):
                return self._product(a, b, up)
            case Promise(value=value, low=low, high=high):
                return self._promise(value, high if up else low, up)
            case Select(condition=condition, a=a, b=b):
                return self._select(e, condition, a, b, up)
            case Cast(a=inner) if inner.type.is_integer():
                return self._cast(inner, up)
        return self._constant(e, up)

    def _constant(self, e: ExprNode, up: bool) -> ExprNode | None:
        """The end of the value's constant range, for types narrow enough that a range says something; and of a Func's
        value, where less lies within it, what Params say."""
        low, high = self._values.of(e)
        end = high if up else low
        whole = e.type.range[1 if up else 0]
        known = None if e.type.bits() >= 32 and end == whole else ir.i64(int(end))
        if self._value_ends is None or not (isinstance(e, Access) and isinstance(e.callee, Function)):
            return known
        said = self._value_ends.of_function(e.callee, e.component)[up]
        if said is None or known is None:
            return known if said is None else said
        return self._simplifier.minimum(said, known) if up else self._simplifier.maximum(said, known)

    def _min_max(self, op: BinaryOp, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        if up == (op is BinaryOp.MIN):  # the greatest of a min: both sides need not be greatest at once
            varying = [side for side in (a, b) if not mentions(side).isdisjoint(self._keys)]
            self._apart(varying, lambda: ir.binary(op, a, b))
        x, y = self.bound(a, up), self.bound(b, up)
        pick = self._simplifier.minimum if op is BinaryOp.MIN else self._simplifier.maximum
        if x is not None and y is not None:
            return pick(x, y)
        # The least of two is at most either one; the greatest at least either one.
        if up == (op is BinaryOp.MIN):
            return x if x is not None else y
        return None

    def _promise(self, value: ExprNode, limit: ExprNode, up: bool) -> ExprNode | None:
        """The end of a value, or what the user promises of it, whichever is tighter."""
        x, y = self.bound(value, up), self.bound(limit, up)
        if x is None or y is None:
            return y if x is None else x
        return self._simplifier.minimum(x, y) if up else self._simplifier.maximum(x, y)

    def _corners(self, op: BinaryOp, xs: list[ExprNode], ys: list[ExprNode], up: bool) -> ExprNode:
        pick = self._simplifier.maximum if up else self._simplifier.minimum
        best: ExprNode | None = None
        for x in xs:
            for y in ys:
                value = self._simplifier.expr(ir.binary(op, x, y))
                best = value if best is None else pick(best, value)
        assert best is not None
        return best

    def _ends(self, e: ExprNode) -> list[ExprNode] | None:
        low, high = self.bound(e, False), self.bound(e, True)
        if low is None or high is None:
            return None
        return [low] if low is high else [low, high]

    def _quotient(self, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        if isinstance(b, IntImm) and b.value > 0:
            end = self.bound(a, up)
            return None if end is None else self._simplifier.expr(ir.div(end, b))
        if isinstance(b, IntImm):
            return self._negated_quotient(a, -b.value, up)
        if mentions(b).isdisjoint(self._keys) and self._facts.proves_le(ir.ONE, b):
            end = self.bound(a, up)
            return None if end is None else self._simplifier.expr(ir.div(end, b))
        xs = self._ends(a)
        if xs is None:
            return None
        if mentions(b).isdisjoint(self._keys):
            return self._corners(BinaryOp.DIV, xs, [b], up)
        # |a div b| <= |a|, whatever the signs: the greatest of -least and greatest, since a is no less than its least.
        most = self._simplifier.maximum(self._simplifier.expr(ir.sub(ir.ZERO, xs[0])), xs[-1])
        return most if up else self._simplifier.expr(ir.sub(ir.ZERO, most))

    def _negated_quotient(self, a: ExprNode, k: int, up: bool) -> ExprNode | None:
        """Of ``a div -k``, which is ``-(a div k)``; by zero it is zero."""
        if k == 0:
            return ir.ZERO
        end = self.bound(a, not up)
        return None if end is None else self._simplifier.expr(ir.sub(ir.ZERO, ir.div(end, ir.i64(k))))

    def _remainder(self, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        if isinstance(b, IntImm) and b.value <= 0:
            return self._remainder(a, ir.i64(-b.value), up) if b.value else ir.ZERO
        xs = self._ends(a)
        if isinstance(b, IntImm) and b.value > 0:
            if xs is not None and len(xs) == 1:  # stays a remainder: as x - x/b*b it would lose that it is below b
                return self._simplifier.expr(ir.mod(xs[0], b))
            if xs is not None:
                first, last = (self._simplifier.expr(ir.div(x, b)) for x in (xs[0], xs[-1]))
                if first is last:
                    return self._simplifier.expr(ir.sub(xs[-1] if up else xs[0], ir.mul(first, b)))
            self.lost = True
            if not up:
                return ir.ZERO
            if xs is not None and self._facts.proves_le(ir.ZERO, xs[0]):
                return self._simplifier.minimum(xs[-1], ir.i64(b.value - 1))
            return ir.i64(b.value - 1)
        if not up:
            return ir.ZERO
        ys = self._ends(b)
        if ys is None:
            return None
        sizes = [self._simplifier.expr(ir.sub(y, ir.ONE)) for y in ys]
        sizes += [self._simplifier.expr(ir.sub(ir.i64(-1), y)) for y in ys]
        best = sizes[0]
        for size in sizes[1:]:
            best = self._simplifier.maximum(best, size)
        return self._simplifier.maximum(best, ir.ZERO)

    def _product(self, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        xs, ys = self._ends(a), self._ends(b)
        if xs is None or ys is None:
            return None
        for one, other in ((xs, ys), (ys, xs)):
            if len(one) == 1:
                factor = one[0]
                if self._facts.proves_le(ir.ZERO, factor):
                    return self._simplifier.expr(ir.mul(other[-1 if up else 0], factor))
                if self._facts.proves_le(factor, ir.ZERO):
                    return self._simplifier.expr(ir.mul(other[0 if up else -1], factor))
                if len(other) == 2 and ir.ZERO not in other and of_params(factor):
                    ends = [self._simplifier.expr(ir.mul(end, factor)) for end in (other if up else reversed(other))]
                    return self._simplifier.expr(chosen(ir.less_equal(ir.ZERO, factor), ends[1], ends[0]))
        return self._corners(BinaryOp.MUL, xs, ys, up)

    def _select(self, e: Select, condition: ExprNode, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        x, y = self.bound(a, up), self.bound(b, up)
        if x is None or y is None:
            return None
        if mentions(condition).isdisjoint(self._keys):
            return self._simplifier.expr(chosen(condition, x, y))
        always = self._always(condition) if b is ANY_INT32[up] else None
        if always is not None:  # an int32, of which nothing more is known where the condition does not hold
            return self._simplifier.expr(chosen(always, x, b))
        self.lost = True
        return (self._simplifier.maximum if up else self._simplifier.minimum)(x, y)

    def _always(self, condition: ExprNode) -> ExprNode | None:
        """A condition under which one that varies holds at every point."""
        match condition:
            case Binary(op=BinaryOp.AND, a=a, b=b):
                x, y = self._always(a), self._always(b)
                return None if x is None or y is None else ir.conjunction(x, y)
            case Binary(op=BinaryOp.LE, a=a, b=b) if a.type is INT64:
                most, least = self.bound(a, True), self.bound(b, False)
                return None if most is None or least is None else self._simplifier.expr(ir.less_equal(most, least))
        return None

    def _cast(self, inner: ExprNode, up: bool) -> ExprNode | None:
        """An index made from a value of another type."""
        if inner.type is INT32 and isinstance(inner, Cast) and isinstance(inner.a, Variable) and inner.a.type is INT64:
            return self.bound(inner.a, up)  # a coordinate, which start-up checks keep in an int32
        if not INT64.can_represent(inner.type) and not fits(self._values.of(inner), INT64):
            return None  # a large uint64 becomes negative
        end = self._typed.end(inner, up)
        if end is not None:
            return self._kept(inner, self._simplifier.expr(Cast(INT64, end)), up)
        if inner.type is INT32:
            match inner:
                case Binary(op=BinaryOp.ADD, a=a, b=IntImm(value=k)) | Binary(op=BinaryOp.ADD, a=IntImm(value=k), b=a):
                    return self._moved(Cast(INT64, a), k, up)
                case Binary(op=BinaryOp.SUB, a=a, b=IntImm(value=k)):
                    return self._moved(Cast(INT64, a), -k, up)
                case Binary(op=BinaryOp.SUB, a=IntImm(value=k), b=b) if k > 0:
                    return self._moved(ir.sub(ir.ZERO, Cast(INT64, b)), k, up)
                case Cast(a=a) if (difference := magnitude_of(a)) is not None:
                    return self._magnitude(difference, up)
            if isinstance(inner, Cast) and (cases := taken_apart(inner, self._varies)) is not None:
                condition, a, b = cases
                return self.bound(Select(INT64, condition, Cast(INT64, a), Cast(INT64, b)), up)
            if (same := widened(inner)) is not None:
                return self.bound(same, up)
            if (exact := exact_value(inner)) is not None:
                return self._wrapped(exact, up)
        elif (difference := magnitude_of(inner)) is not None:
            return self._distance(difference, up)
        return self._constant(inner, up)

    def _moved(self, of: ExprNode, k: int, up: bool) -> ExprNode | None:
        """The end of an int32 plus a number, which wraps where the sum leaves the type: then any int32 may come out."""
        low, high = self.bound(of, False), self.bound(of, True)
        if low is None or high is None:
            return None
        least, most = (int(end) for end in INT32.range)
        end = self._simplifier.expr(ir.add(high if up else low, ir.i64(k)))
        if up == (k > 0):
            return self._simplifier.minimum(end, ir.i64(most)) if up else self._simplifier.maximum(end, ir.i64(least))
        stays = ir.less_equal(high, ir.i64(most - k)) if k > 0 else ir.less_equal(ir.i64(least - k), low)
        return self._simplifier.expr(chosen(stays, end, ANY_INT32[up]))

    def _wrapped(self, exact: ExprNode, up: bool) -> ExprNode | None:
        """The end of an int32 that has an exact value, which wraps where that leaves the type."""
        low, high = self.bound(exact, False), self.bound(exact, True)
        if low is None or high is None:
            return None
        least, most = ANY_INT32
        within = ir.conjunction(ir.less_equal(least, low), ir.less_equal(high, most))
        return self._simplifier.expr(chosen(within, high if up else low, ANY_INT32[up]))

    def _magnitude(self, of: ExprNode, up: bool) -> ExprNode | None:
        """The end of an int64's magnitude as an int32; beyond that type it wraps, and then any int32 may come out."""
        most, end = self._distance(of, True), self._distance(of, up)
        if most is None or end is None:
            return None
        if up:
            return self._simplifier.minimum(most, ANY_INT32[True])
        return self._simplifier.expr(chosen(ir.less_equal(most, ANY_INT32[True]), end, ANY_INT32[False]))

    def _distance(self, of: ExprNode, up: bool) -> ExprNode | None:
        """The end of an int64's magnitude."""
        low, high = self.bound(of, False), self.bound(of, True)
        if low is None or high is None:
            return None
        negated = [self._simplifier.expr(ir.sub(ir.ZERO, end)) for end in (high, low)]
        if up:
            return self._simplifier.maximum(negated[1], high)
        return self._simplifier.maximum(self._simplifier.maximum(low, negated[0]), ir.ZERO)

    def _kept(self, inner: ExprNode, end: ExprNode, up: bool) -> ExprNode:
        """An end of a value, where what it is made of is within limits; elsewhere that of its constant range, or of
        all int32s, or of its type where that has more."""
        symbols, limit = conditions(inner, self._values), self._constant(inner, up)
        if not symbols:
            return limit if limit is not None and _is_at(end, limit) else end
        other = ANY_INT32[up] if INT32.can_represent(inner.type) else limit or ir.i64(int(inner.type.range[up]))
        found = self._simplifier.expr(chosen(reduce(ir.conjunction, symbols), end, other))
        if limit is None:
            return found
        return self._simplifier.minimum(found, limit) if up else self._simplifier.maximum(found, limit)
