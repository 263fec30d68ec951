"""Monotone functions of integers that are computed in floats: positions, as a resampler has them.

In: a float that becomes an index. Out: its Shape: the function, and the integers that it is applied to, with how it
depends on each. Of two values of one function the one at the greater integers is the greater: rounding is monotone.

    floor(float32(x + 3)*p - 0.5)   ->   floor(float32(#0)*p - 0.5) at (x + 3), which grows where p >= 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce

from halide_core import ir
from halide_core.analysis.interval import Range, meet
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import mentions
from halide_core.bounds.engines.float_ends import (
    MONOTONE,
    SymbolRanges,
    conditions,
    is_finite,
    is_natural,
    magnitude_at,
    of_params,
)
from halide_core.bounds.smt.floats import kept_ranges
from halide_core.ir import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    ExprNode,
    FloatImm,
    IntImm,
    Intrinsic,
    ParamRef,
    Select,
    Variable,
)
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import parts, subexpressions

_FAR = 1 << 33
"""Coordinates of windows, and ends of what they read, are nearer."""


@dataclass(frozen=True, slots=True, eq=False)
class Slope:
    """The monotonicity of a function in an argument: it grows with it, or falls; the other way round for each of some
    factors that is negative."""

    grows: bool = True
    factors: tuple[ExprNode, ...] = ()

    def reversed(self) -> Slope:
        """Of the negated function."""
        return Slope(not self.grows, self.factors)

    def scaled(self, by: ExprNode) -> Slope:
        """Of the function times a factor, or divided by it."""
        low, high = SymbolRanges().of(by)
        if low >= 0 or high <= 0:
            return self if low >= 0 else self.reversed()
        return Slope(self.grows, (*self.factors, by))


class Part(Enum):
    """A part of a function: a factor of the one product that it may have of two that vary, or what is beside that."""

    BESIDE = "beside"
    ONE = "one factor"
    OTHER = "the other factor"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A function, with numbered unknowns where its arguments stand, and these, as int64s."""

    function: ExprNode
    arguments: tuple[ExprNode, ...]
    slopes: tuple[Slope, ...]
    """Of a factor's arguments: of the factor in them."""
    parts: tuple[Part, ...]
    """By arguments, where they stand."""
    given: tuple[ExprNode, ...]
    """Conditions under which no value is infinite or no number: on Params, and on arguments that nothing limits."""

    @property
    def is_product(self) -> bool:
        """True where two factors vary: the function need not be monotone in their arguments."""
        return any(part is not Part.BESIDE for part in self.parts)

    @property
    def unknowns(self) -> tuple[Variable, ...]:
        """The variables that stand for the arguments."""
        return tuple(map(_unknown, range(len(self.arguments))))

    @property
    def is_of_numbers(self) -> bool:
        """True where the function is made of numbers and its arguments alone, so that it has a value for integers."""
        leaves = [e for e in subexpressions([self.function]) if not parts(e)]
        return all(isinstance(e, FloatImm | IntImm) or e in self.unknowns for e in leaves)

    def at(self, part: Part) -> tuple[ExprNode, ...]:
        """The arguments in a part of it."""
        return tuple(a for a, where in zip(self.arguments, self.parts, strict=True) if where is part)


def shapes_of(e: ExprNode, integers: Callable[[ExprNode], Range]) -> Iterator[Shape]:
    """See the module's docstring; none where an expression is no such function. ``integers``: the ranges of int64s."""
    plain = _shape_of(e, integers, _Decomposition())
    product = _shape_of(e, integers, _Decomposition(multiplies=True))
    if plain is not None:
        yield plain
    if product is not None and product.is_product:
        yield product


def _shape_of(e: ExprNode, integers: Callable[[ExprNode], Range], found: _Decomposition) -> Shape | None:
    if not e.type.is_float():
        return None
    function = found.of(e, Slope())
    if function is None or not found.arguments:
        return None
    given = [*conditions(function, ValueRanges()), *kept_ranges(e)]
    if not is_finite(function, _FunctionRanges(found.arguments, integers)):
        if not is_finite(function, _FunctionRanges(found.arguments, lambda a: meet(integers(a), (-_FAR, _FAR)))):
            return None
        given += [ir.less_equal(*pair) for a in found.arguments for pair in ((ir.i64(-_FAR), a), (a, ir.i64(_FAR)))]
    return Shape(function, tuple(found.arguments), tuple(found.slopes), tuple(found.parts), tuple(given))


class _FunctionRanges(SymbolRanges):
    """Ranges of a function's values, given those of its arguments. Where these are numbers, the function is one of
    Params alone, of which nothing else would be known than of a Param."""

    def __init__(self, arguments: Sequence[ExprNode], integers: Callable[[ExprNode], Range]) -> None:
        super().__init__()
        self._arguments: dict[ExprNode, ExprNode] = {_unknown(i): e for i, e in enumerate(arguments)}
        self._integers = integers

    def _compute(self, e: ExprNode) -> Range:
        argument = self._arguments.get(e)
        if argument is None:
            return super()._compute(e)
        return meet(self.of(argument), self._integers(argument))


def _unknown(i: int) -> Variable:
    return ir.index_variable(f"#{i + 1}")


def no_greater(one: Shape, other: Shape, part: Part = Part.BESIDE) -> ExprNode:
    """The condition under which one value of a function, or of a factor in it, is no greater than another, as far as
    that part has a say in it."""
    found: list[ExprNode] = [ir.TRUE]
    for a, b, slope, where in zip(one.arguments, other.arguments, one.slopes, one.parts, strict=True):
        if where is not part:
            continue
        up, down = ir.less_equal(a, b), ir.less_equal(b, a)
        if not slope.grows:
            up, down = down, up
        for factor in slope.factors:
            positive = ir.less_equal(ir.const(0, factor.type), factor)
            up, down = Select(BOOL, positive, up, down), Select(BOOL, positive, down, up)
        found.append(up)
    return reduce(ir.conjunction, found)


def is_settled(e: ExprNode) -> bool:
    """True where a value is the same all through a run."""
    return not mentions(e)


def _magnitude(a: ExprNode) -> ExprNode:
    return a if is_natural(a) else magnitude_at(a, a)


class _Decomposition:
    """One expression, read from the left. ``multiplies``: a product of two numbers that are made of integers has two
    factors, else it is a multiple of one by the other, which must be the same all through a run."""

    def __init__(self, *, multiplies: bool = False) -> None:
        self._multiplies = multiplies
        self.arguments: list[ExprNode] = []
        self.slopes: list[Slope] = []
        self.parts: list[Part] = []
        self._part = Part.BESIDE

    def of(self, e: ExprNode, slope: Slope) -> ExprNode | None:
        """The function that an expression is; its arguments are noted."""
        match e:
            case FloatImm() | ParamRef():
                return e
            case Cast(a=a) if a.type.is_integer() and not a.type.is_bool() and INT64.can_represent(a.type):
                return Cast(e.type, self._argument(ir.cast(INT64, a), slope))
            case Cast(a=a) if a.type.is_float():
                inner = self.of(a, slope)
                return None if inner is None else Cast(e.type, inner)
            case Call(function=f, args=(a,)) if f in MONOTONE:
                inner = self.of(a, slope)
                return None if inner is None else Call(e.type, f, (inner,))
            case Call(function=Intrinsic.ABS, args=(a,)) if e.type.is_float():
                return self.of(_magnitude(a), slope)
            case Select(condition=condition, a=a, b=b) if is_settled(condition):
                return self._choice(condition, a, b, slope)
            case Binary(op=BinaryOp.ADD | BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                return self._operation(op, (a, slope), (b, slope))
            case Binary(op=BinaryOp.SUB, a=a, b=b):
                return self._operation(BinaryOp.SUB, (a, slope), (b, slope.reversed()))
            case Binary(op=BinaryOp.DIV, a=a, b=b) if is_settled(b):
                return self._scaled(a, b, slope, lambda x: ir.div(x, b))
            case Binary(op=BinaryOp.MUL, a=a, b=b) if a is b:
                far = self.of(_magnitude(a), slope)
                return None if far is None else ir.mul(far, far)
            case Binary(op=BinaryOp.MUL, a=a, b=b):
                if self._multiplies and not of_params(a) and not of_params(b):
                    return self._product(a, b)
                factor = next((p for test in (of_params, is_settled) for p in (b, a) if test(p)), None)
                if factor is not None:
                    rest = a if factor is b else b
                    return self._scaled(rest, factor, slope, lambda x: ir.mul(factor, x))
        return None

    def _product(self, a: ExprNode, b: ExprNode) -> ExprNode | None:
        """Of two factors that vary; None where there was one before."""
        if self._part is not Part.BESIDE or Part.ONE in self.parts:
            return None
        self._part = Part.ONE
        x = self.of(a, Slope())
        self._part = Part.OTHER
        y = None if x is None else self.of(b, Slope())
        self._part = Part.BESIDE
        return None if x is None or y is None else ir.mul(x, y)

    def _argument(self, value: ExprNode, slope: Slope) -> ExprNode:
        self.arguments.append(value)
        self.slopes.append(slope)
        self.parts.append(self._part)
        return _unknown(len(self.arguments) - 1)

    def _operation(self, op: BinaryOp, a: tuple[ExprNode, Slope], b: tuple[ExprNode, Slope]) -> ExprNode | None:
        x = self.of(*a)
        y = None if x is None else self.of(*b)
        return None if x is None or y is None else ir.binary(op, x, y)

    def _scaled(
        self, e: ExprNode, factor: ExprNode, slope: Slope, scale: Callable[[ExprNode], ExprNode]
    ) -> ExprNode | None:
        inner = self.of(e, slope.scaled(factor))
        return None if inner is None else scale(inner)

    def _choice(self, condition: ExprNode, a: ExprNode, b: ExprNode, slope: Slope) -> ExprNode | None:
        """One function at arguments that depend on Params, or one or the other function."""
        first = len(self.arguments)
        x = self.of(a, slope)
        other = _Decomposition(multiplies=self._multiplies)
        other.arguments, other.slopes, other.parts = self.arguments[:first], self.slopes[:first], self.parts[:first]
        other._part = self._part
        if x is None:
            return None
        if other.of(b, slope) is x:
            for i in range(first, len(self.arguments)):
                self.arguments[i] = Select(INT64, condition, self.arguments[i], other.arguments[i])
            return x
        y = self.of(b, slope)
        return None if y is None else Select(x.type, condition, x, y)


def extreme(e: ExprNode) -> tuple[BinaryOp, ExprNode, ExprNode] | None:
    """The lesser or greater of two products of positions that a number is made of by what is monotone: that of the two
    of which each is made of one. Of numbers, that is: what is no number has no order."""
    match e:
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b) if _has_product(a) or _has_product(b):
            return op, a, b
        case Call(function=f, args=(a,)) if f in MONOTONE and f is not Intrinsic.SQRT:  # of what is negative: NaN
            return _of_both(extreme(a), lambda x: Call(e.type, f, (x,)))
        case Cast(a=a) if e.type.is_float() and a.type.is_float():
            return _of_both(extreme(a), lambda x: Cast(e.type, x))
        case Binary(op=BinaryOp.ADD as op, a=a, b=b):
            one, other = a, b
            return _of_both(extreme(a), lambda x: ir.binary(op, x, other)) or _of_both(
                extreme(b), lambda x: ir.binary(op, one, x)
            )
        case Binary(op=BinaryOp.SUB, a=a, b=b):
            found = _of_both(extreme(a), lambda x: ir.sub(x, b))
            if found is None and (found := _of_both(extreme(b), lambda x: ir.sub(a, x))) is not None:
                return _TURNED[found[0]], found[1], found[2]
            return found
        case Binary(op=BinaryOp.MUL as op, a=FloatImm() as b, b=a) | Binary(
            op=BinaryOp.MUL | BinaryOp.DIV as op, a=a, b=FloatImm() as b
        ):
            found = _of_both(extreme(a), lambda x: ir.binary(op, x, b))
            return found if found is None or b.value > 0 else (_TURNED[found[0]], found[1], found[2])
    return None


_TURNED = {BinaryOp.MIN: BinaryOp.MAX, BinaryOp.MAX: BinaryOp.MIN}


def _of_both(
    found: tuple[BinaryOp, ExprNode, ExprNode] | None, function: Callable[[ExprNode], ExprNode]
) -> tuple[BinaryOp, ExprNode, ExprNode] | None:
    return None if found is None else (found[0], function(found[1]), function(found[2]))


def _has_product(e: ExprNode) -> bool:
    found = _Decomposition(multiplies=True)
    return (found.of(e, Slope()) is not None and Part.ONE in found.parts) or extreme(e) is not None
