"""Ends of values that are monotone functions of coordinates, in their own types: positions of a resampler, mostly.

In: an expression of floats or int32s, and the ends of the coordinates in it. Out: its least and greatest value as
expressions of the same operations at those ends, and the conditions on Params under which that holds.

    floor(float32(x)*p - 0.5)   for x in [a, b]   ->   greatest: floor(float32(p >= 0 ? b : a)*p - 0.5),  if |p| <= 2^28

Rounding, conversion and saturation are monotone, so the same rounded expression at both ends holds every value between.
NaN is not ordered, and what overflows is infinite and may become NaN: a Param of which nothing is declared, or an
expression of Params alone, is taken for a symbol that is kept within [-2^28, 2^28], and, where something is divided by
it, away from 0. Whoever uses the ends falls back on all values of the type where a symbol is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.interval import Range, meet
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Call,
    Cast,
    ExprNode,
    FloatImm,
    Hole,
    IntImm,
    Intrinsic,
    ParamRef,
    Select,
    Variable,
)
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT32, INT64, Type
from halide_core.ir.visitor import Substitution, parts, subexpressions

LARGEST_SYMBOL = 2.0**28
"""A Param of a program that means something is below this, and an index times two of them does not overflow."""

_FINITE = 1e37
"""Values below this do not overflow: float32 reaches 3.4e38."""

MONOTONE = (Intrinsic.FLOOR, Intrinsic.CEIL, Intrinsic.TRUNC, Intrinsic.ROUND, Intrinsic.SQRT)
"""Functions that never fall; a root is rounded correctly."""


def is_constant(e: ExprNode) -> bool:
    """True where an expression is made of numbers alone."""
    return all(parts(each) or isinstance(each, FloatImm | IntImm) for each in subexpressions([e]))


@remembered("_of_params")
def of_params(e: ExprNode) -> bool:
    """True where an expression is made of Params and numbers."""
    if isinstance(e, ParamRef | FloatImm | IntImm):
        return True
    inner = parts(e)
    return bool(inner) and not isinstance(e, Access) and all(map(of_params, inner))


def is_symbol(e: ExprNode) -> bool:
    """True where a float is one of Params alone, of which the operations say nothing."""
    return e.type.is_float() and not e.type.is_narrow_float() and not isinstance(e, FloatImm) and of_params(e)


class SymbolRanges(ValueRanges):
    """Ranges of values where every symbol is kept within its limits. Of what a symbol is made of nothing is kept, so
    nothing follows for it: ``2^29 - p`` is negative and small for some ``p``."""

    def __init__(self) -> None:
        super().__init__()
        self._always = ValueRanges()
        self._indices = ConstantRanges()

    def loop(self, variable: Variable, first: ExprNode, last: ExprNode) -> None:
        """A variable between two ends."""
        self._indices.between(variable, first, last)

    def answered(self, hole: Hole, value: ExprNode) -> None:
        """A hole, and the expression that it stands for."""
        self._indices.let(hole, value)

    def of(self, e: ExprNode) -> Range:
        """The range of an expression's value."""
        if not is_symbol(e):
            return super().of(e)
        low, high = self._always.of(e)
        if low < -LARGEST_SYMBOL and high > LARGEST_SYMBOL:
            return (0 if is_natural(e) else -LARGEST_SYMBOL, LARGEST_SYMBOL)
        return (low, high)

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case Binary(op=BinaryOp.DIV, a=a, b=b) if is_symbol(b):
                most = max(map(abs, self.of(a))) * LARGEST_SYMBOL * 1.001
                return super()._compute(e) if _away_from_0(self._always.of(b)) else (-most, most)
        known = super()._compute(e)
        if e.type is not INT64:
            return known
        return meet(known, self._indices.of(e))


def _away_from_0(of: Range) -> bool:
    return of[0] >= 1 / LARGEST_SYMBOL or of[1] <= -1 / LARGEST_SYMBOL


def conditions(e: ExprNode, values: ValueRanges) -> list[ExprNode]:
    """Start-up conditions on the symbols in an expression; none where their declared ranges are enough."""
    found: dict[ExprNode, None] = {}
    waiting, seen = [e], {e}
    while waiting:
        at = waiting.pop()
        low, high = values.of(at) if at.type.is_float() else (0, 0)
        if low < -LARGEST_SYMBOL and high > LARGEST_SYMBOL and is_symbol(at):
            found.setdefault(ir.less_equal(_magnitude(at), ir.const(LARGEST_SYMBOL, at.type)))
            continue
        for part in (at.a, at.b) if isinstance(at, Select) else parts(at):  # a choice is finite whatever chooses
            if part not in seen:
                seen.add(part)
                waiting.append(part)
        match at:
            case Binary(op=BinaryOp.DIV, b=b) if is_symbol(b) and not _away_from_0(values.of(b)):
                found.setdefault(ir.less_equal(ir.const(1 / LARGEST_SYMBOL, b.type), _magnitude(b)))
    return list(found)


def is_finite(e: ExprNode, values: ValueRanges) -> bool:
    """True where a value is neither infinite nor no number."""
    low, high = values.of(e)
    return e.type.is_integer() or -_FINITE < low <= high < _FINITE


def is_natural(e: ExprNode) -> bool:
    """True where its operations say that a float is not negative, if it is a number, and what is divided by is away
    from 0. Of two that are no numbers ``max`` and ``min`` give the second."""
    match e:
        case Binary(op=BinaryOp.MUL, a=a, b=b) if a is b:
            return True
        case Binary(op=BinaryOp.MUL | BinaryOp.DIV | BinaryOp.ADD | BinaryOp.MIN, a=a, b=b):
            return is_natural(a) and is_natural(b)
        case Binary(op=BinaryOp.MAX, a=a, b=b):
            return is_natural(b) or (isinstance(a, FloatImm) and is_natural(a))
        case Call(function=Intrinsic.ABS | Intrinsic.SQRT):
            return True
        case Cast(a=a) if a.type.is_float():
            return is_natural(a)
    return ValueRanges().numbers(e)[0] >= 0


def magnitude_at(value: ExprNode, turned: ExprNode) -> ExprNode:
    """The magnitude of a float as a function that grows with one copy of it, and falls with the other: it is greatest
    at the greatest and the least value, and least at these the other way round."""
    zero = ir.const(0, value.type)
    return ir.maximum(ir.maximum(value, ir.sub(zero, turned)), zero)


def _magnitude(e: ExprNode) -> ExprNode:
    return Call(e.type, Intrinsic.ABS, (e,))


class FloatEnds:
    """The ends of typed values, given those of coordinates; each found once."""

    def __init__(
        self,
        varies: Callable[[ExprNode], bool],
        coordinate: Callable[[ExprNode, bool], ExprNode | None],
        values: SymbolRanges,
    ) -> None:
        self._varies = varies
        self._coordinate = coordinate
        self._values = values
        self._known: dict[tuple[ExprNode, bool], ExprNode | None] = {}

    def end(self, e: ExprNode, up: bool) -> ExprNode | None:
        """The greatest (``up``) or least value of a number of any type; None if it is not a monotone function."""
        if not self._varies(e):
            return e
        key = (e, up)
        if key not in self._known:
            self._known[key] = self._compute(e, up) if is_finite(e, self._values) else None
        return self._known[key]

    def _compute(self, e: ExprNode, up: bool) -> ExprNode | None:
        """An operation of integers may wrap, so of these there are conversions only. A coordinate fits in an int32;
        what stands for one at an end need not, so a float is made of it as it is."""
        match e:
            case Cast(a=Cast(a=Variable() as a)) if _is_coordinate(e.a) and e.type.is_float():
                return self._applied(lambda end: Cast(e.type, end), self._coordinate(a, up))
            case Cast(a=Variable() as a) if _is_coordinate(e):
                return self._applied(lambda end: Cast(INT32, end), self._coordinate(a, up))
            case Cast(a=a) if _keeps_narrow(a.type, e.type) and (end := self.end(a, up)) is not None:
                return Cast(e.type, end)
            case Cast(a=a) if e.type.is_float() and _is_number(a.type):
                return self._applied(lambda end: Cast(e.type, end), self._coordinate(ir.cast(INT64, a), up))
            case Cast() if e.type.is_bool():
                return None  # whether a number is not 0 goes down and up again
            case Cast(a=a) if is_finite(a, self._values) and (e.type.is_float() or a.type.is_float()):
                return self._applied(lambda end: Cast(e.type, end), self.end(a, up))
            case Cast(a=a) if e.type.is_integer() and (root := root_in(a)) is not None:
                return self._rooted(e, root, up)
            case Call(function=f, args=(a,)) if f in MONOTONE:
                return self._applied(lambda end: Call(e.type, f, (end,)), self.end(a, up))
            case Call(function=Intrinsic.ABS, args=(a,)) if e.type.is_float():
                return self._magnitude(a, up)
            case Select(condition=condition, a=a, b=b) if not self._varies(condition):
                return _both(lambda x, y: chosen(condition, x, y), self.end(a, up), self.end(b, up))
            case Binary(op=op, a=a, b=b) if e.type.is_float():
                return self._operation(op, a, b, up)
        return None

    def _rooted(self, e: ExprNode, root: Call, up: bool) -> ExprNode | None:
        """Of an integer made of a root: that of a negative number is NaN, which becomes 0, as the root of 0 does."""
        of = root.args[0]
        end = self.end(of, up)
        if end is None:
            return None
        there = Call(root.type, Intrinsic.SQRT, (ir.maximum(end, ir.const(0, of.type)),))
        return Substitution({root: there}).expr(e)

    def _applied(self, function: Callable[[ExprNode], ExprNode], end: ExprNode | None) -> ExprNode | None:
        return None if end is None else function(end)

    def _operation(self, op: BinaryOp, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        match op:
            case BinaryOp.ADD | BinaryOp.MIN | BinaryOp.MAX:
                return _both(lambda x, y: ir.binary(op, x, y), self.end(a, up), self.end(b, up))
            case BinaryOp.SUB:
                return _both(ir.sub, self.end(a, up), self.end(b, not up))
            case BinaryOp.DIV if not self._varies(b):
                return self._scaled(a, b, lambda x: ir.div(x, b), up)
            case BinaryOp.MUL if not self._varies(b) and self._has_a_sign(b):
                return self._scaled(a, b, lambda x: ir.mul(x, b), up)
            case BinaryOp.MUL if not self._varies(a) and self._has_a_sign(a):
                return self._scaled(b, a, lambda x: ir.mul(a, x), up)
            case BinaryOp.MUL if a is b:
                return self._square(a, up)
            case BinaryOp.MUL:
                return self._product(a, b, up)
        return None

    def _has_a_sign(self, factor: ExprNode) -> bool:
        """True where a factor's sign is known, or is a matter of Params: that of another coordinate's function changes
        as that varies further out."""
        low, high = self._values.of(factor)
        return low >= 0 or high <= 0 or of_params(factor)

    def _scaled(
        self, a: ExprNode, factor: ExprNode, scale: Callable[[ExprNode], ExprNode], up: bool
    ) -> ExprNode | None:
        """Of what grows with ``a`` or falls, by the sign of a factor."""
        low, high = self._values.of(factor)
        if low >= 0 or high <= 0:
            return self._applied(scale, self.end(a, up == (low >= 0)))
        positive = ir.less_equal(ir.const(0, factor.type), factor)
        end = _both(lambda x, y: chosen(positive, x, y), self.end(a, up), self.end(a, not up))
        return self._applied(scale, end)

    def _square(self, a: ExprNode, up: bool) -> ExprNode | None:
        return self._applied(lambda far: ir.mul(far, far), self._magnitude(a, up))

    def _magnitude(self, a: ExprNode, up: bool) -> ExprNode | None:
        if is_natural(a):
            return self.end(a, up)
        low, high = self.end(a, False), self.end(a, True)
        if low is None or high is None:
            return None
        return magnitude_at(high, low) if up else magnitude_at(low, high)

    def _product(self, a: ExprNode, b: ExprNode, up: bool) -> ExprNode | None:
        both_ends = (False, True)
        corners = [_both(ir.mul, self.end(a, one), self.end(b, other)) for one in both_ends for other in both_ends]
        return reduce(lambda x, y: _both(ir.maximum if up else ir.minimum, x, y), dict.fromkeys(corners))


def with_natural_root(e: ExprNode) -> ExprNode:
    """A float that becomes an integer, with the root in it, if there is one, never of a negative number: that is NaN,
    which becomes 0 as the root of 0 does."""
    root = root_in(e)
    if root is None or is_natural(root.args[0]):
        return e
    of = ir.maximum(root.args[0], ir.const(0, root.args[0].type))
    return Substitution({root: Call(root.type, Intrinsic.SQRT, (of,))}).expr(e)


def root_in(e: ExprNode) -> Call | None:
    """The square root that a number is, or is rounded from."""
    while isinstance(e, Call) and e.function in MONOTONE:
        if e.function is Intrinsic.SQRT:
            return e
        e = e.args[0]
    return None


def _is_coordinate(e: ExprNode) -> bool:
    return isinstance(e, Cast) and e.type is INT32 and e.a.type is INT64 and isinstance(e.a, Variable)


def _is_number(type: Type) -> bool:
    """True of integers of which an int64 can be made."""
    return type.is_integer() and not type.is_bool() and INT64.can_represent(type)


def _keeps_narrow(type: Type, to: Type) -> bool:
    """True of integers that are no coordinates, but may be made of floats, and keep their values in another type."""
    return type.is_integer() and not type.is_bool() and type.bits() < INT32.bits() and to.can_represent(type)


def _both(join: Callable[[ExprNode, ExprNode], ExprNode], a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
    return None if a is None or b is None else join(a, b)


def chosen(condition: ExprNode, a: ExprNode, b: ExprNode) -> ExprNode:
    """A choice, through choices by the same condition in its cases."""
    while isinstance(a, Select) and a.condition is condition:
        a = a.a
    while isinstance(b, Select) and b.condition is condition:
        b = b.b
    return a if a is b else Select(a.type, condition, a, b)
