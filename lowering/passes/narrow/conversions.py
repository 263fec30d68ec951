"""Decisions by a float's range, whatever the coordinates: floats that are numbers of an integer type become integers by
one operation, and limits that no value reaches are left out.

In: a flat tree. Out: one of the same values. A conversion gives the nearest number of the type for a float that is
none, and 0 for NaN, which takes several operations beside the machine's own; where ranges show that the float is one,
its own is enough (``Intrinsic.TRUNCATED``).

    assert f.min.0 + f.extent.0 - 1 <= 2^30; … i32(floor(0.5f*f32(x)))   ->   truncated(floor(0.5f*f32(x)))
    max(clamp(v, 0.0f, 1.0f)*9.0f + 0.5f, 0.0f)                          ->   clamp(v, 0.0f, 1.0f)*9.0f + 0.5f
"""

from __future__ import annotations

import math

from halide_core import ir
from halide_core.analysis.interval import Range, fits, meet, of_integers, union
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    ExprNode,
    FloatImm,
    For,
    Intrinsic,
    Stmt,
    Variable,
)
from halide_core.ir.types import INT64
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.passes.around import Around, AroundRewriter


def use_float_ranges(stmt: Stmt) -> Stmt:
    """See the module's docstring."""
    roots = (e for s in walk(stmt) for e in stmt_exprs(s))
    asked = any(_is_conversion(e) or _limit(e) is not None for e in subexpressions(roots))
    return _Conversions().stmt(stmt) if asked else stmt


class _Conversions(AroundRewriter):
    def __init__(self) -> None:
        super().__init__()
        self._ranges: dict[Around, _PlacedRanges] = {}

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop, its variable being between its ends."""
        over = self.interval(loop.bounds)
        with self._in(loop):
            body = self.stmt(loop.body)
        same = over is loop.bounds and body is loop.body
        return loop if same else For(loop.loop, loop.var, over, loop.kind, loop.pure, body)

    def rewrite_Cast(self, e: Cast) -> ExprNode:
        """One operation, where the float is a number of the type."""
        made = self.parts_of(e)
        assert isinstance(made, Cast)
        if not _is_conversion(e):
            return made
        low, high = self._range(e.a)
        is_number = not (math.isinf(low) or math.isinf(high)) and fits((math.trunc(low), math.trunc(high)), e.type)
        return Call(e.type, Intrinsic.TRUNCATED, (made.a,)) if is_number else made

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """Without its limit, where no value reaches that."""
        made = self.parts_of(e)
        assert isinstance(made, Binary)
        limit = _limit(e)
        if limit is None:
            return made
        low, high = self._range(e.a)
        if math.isinf(low) or math.isinf(high):
            return made  # or NaN, of which a limit makes a number
        is_inside = limit < low if e.op is BinaryOp.MAX else high < limit  # of two zeros the limit's sign counts
        return made.a if is_inside else made

    def _range(self, e: ExprNode) -> Range:
        return _ranges_at(self._around, self._ranges).of(e)


def _limit(e: ExprNode) -> float | None:
    """The number that a float is limited to."""
    match e:
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX, b=FloatImm(value=limit) | ir.Broadcast(a=FloatImm(value=limit))):
            return limit
    return None


def _is_conversion(e: ExprNode) -> bool:
    """True of a float that becomes an integer of at most as many bits, and of fewer where that has no sign: these the
    machine has an operation for."""
    if not isinstance(e, Cast) or not e.a.type.is_float() or e.a.type.is_narrow_float():
        return False
    bits = e.type.bits() + e.type.is_uint()
    return e.type.is_integer() and not e.type.is_bool() and bits <= e.a.type.bits()


class _PlacedRanges(ValueRanges):
    """Ranges of values at a place of a flat tree. ``known``: those at each place that was asked about."""

    def __init__(self, around: Around, known: dict[Around, _PlacedRanges]) -> None:
        super().__init__()
        self._around, self._at = around, known

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case Variable() if e.type is not INT64 and (let := self._around.definition(e)) is not None:
                return _ranges_at(let[0], self._at).of(let[1])
            case ir.Broadcast(a=a) | ir.Slice(a=a):
                return self.of(a)
            case ir.Ramp(base=base, stride=stride):
                last = of_integers(BinaryOp.MUL, self.of(stride), (e.type.lanes() - 1,) * 2)
                return union(self.of(base), of_integers(BinaryOp.ADD, self.of(base), last))
        known = super()._compute(e)
        return meet(known, self._around.range(e)) if e.type is INT64 else known


def _ranges_at(around: Around, known: dict[Around, _PlacedRanges]) -> _PlacedRanges:
    found = known.get(around)
    if found is None:
        found = known[around] = _PlacedRanges(around, known)
    return found
