"""Ends of the values that Funcs can have, in terms of what a run knows at its start: Params and the shapes of buffers.

In: a Func. Out: the least and the greatest value of all its points and stages as int64 expressions, each None where
none is known. Constant ranges are ``value_range``'s; this says what these can't.

    g[x] = clamp(x, 10, p)   ->   (10, max(p, 10))
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.memo_key import is_memoized
from halide_core.algorithm.model import Function
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import TargetExprs
from halide_core.analysis.interval import fits, of_integers
from halide_core.analysis.simplify import simplify
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    BufferField,
    Cast,
    ExprNode,
    FloatImm,
    IntImm,
    ParamRef,
    Print,
    Promise,
    Select,
)
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import subexpressions

Ends = tuple[ExprNode | None, ExprNode | None]
"""The least and the greatest value."""
NOTHING: Ends = (None, None)
_LARGEST_END = 32
"""An end has so many nodes at most: it is computed when a run starts, and compared with others."""


class ValueEnds:
    """Ends of expressions and Funcs, remembered for one pipeline."""

    def __init__(self, values: ValueRanges) -> None:
        self._values = values
        self._plain = ConstantRanges()
        self._known: dict[ExprNode, Ends] = {}
        self._functions: dict[tuple[Function, int], Ends] = {}

    def of_function(self, f: Function, component: int) -> Ends:
        """The ends of every value that a Func has at any point and stage, where a Param or a buffer is in them."""
        key = (f, component)
        known = self._functions.get(key)
        if known is None:
            self._functions[key] = NOTHING  # what an update sees of the Func itself
            counts = f.types[component].is_integer() and f.extern is None and not f.keeps
            # What is remembered may be of a run with other Params, if ``memoize_tag`` says that these don't matter.
            values = [d.values[component] for d in f.definitions] if counts and not is_memoized(f) else []
            found = self._of_definitions(values) if values else NOTHING
            known = self._functions[key] = found
            self._known.clear()  # what was found meanwhile knew less
        return known

    def _of_definitions(self, values: list[ExprNode]) -> Ends:
        ends = [self._of(v) for v in values]
        low, high = ends[0]
        for least, most in ends[1:]:
            low, high = _both(BinaryOp.MIN, low, least), _both(BinaryOp.MAX, high, most)
        return _said(low), _said(high)

    def _of(self, e: ExprNode) -> Ends:
        known = self._known.get(e)
        if known is None:
            low, high = self._compute(e)
            least, most = self._values.of(e)
            known = self._known[e] = (
                ir.i64(int(least)) if low is None and least > e.type.range[0] else low,
                ir.i64(int(most)) if high is None and most < e.type.range[1] else high,
            )
        return known

    def _compute(self, e: ExprNode) -> Ends:
        if not e.type.is_integer() or not fits(e.type.range, INT64):
            return NOTHING
        if _is_settled(e):
            end = self._index(e)
            return end, end
        match e:
            case Binary(op=BinaryOp.MIN, a=a, b=b):
                (x, p), (y, q) = self._of(a), self._of(b)
                return _both(BinaryOp.MIN, x, y), _either(BinaryOp.MIN, p, q)
            case Binary(op=BinaryOp.MAX, a=a, b=b):
                (x, p), (y, q) = self._of(a), self._of(b)
                return _either(BinaryOp.MAX, x, y), _both(BinaryOp.MAX, p, q)
            case Select(a=a, b=b):
                (x, p), (y, q) = self._of(a), self._of(b)
                return _both(BinaryOp.MIN, x, y), _both(BinaryOp.MAX, p, q)
            case Print(a=a) | Promise(value=a):
                return self._of(a)
            case Cast(a=a, type=type) if a.type.is_integer() and fits(self._values.of(a), type):
                return self._of(a) if not a.type.is_bool() else NOTHING
            case Access(callee=Function() as f, component=component):
                return self.of_function(f, component)
        return NOTHING

    def _index(self, e: ExprNode) -> ExprNode:
        """An expression of start-up values in int64: its arithmetic, too, where that can't wrap in the expression's own
        type."""
        match e:
            case IntImm(value=value):
                return ir.i64(value)
            case Cast(a=BufferField() as field) if e.type is INT32 and field.type is INT64:
                return field
            case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                if fits(of_integers(op, self._plain.of(a), self._plain.of(b)), e.type):
                    return ir.binary(op, self._index(a), self._index(b))
        return ir.cast(INT64, TargetExprs({}).value(e))  # the user's int64 sums wrap


def between(value: ExprNode, ends: Ends) -> list[ExprNode]:
    """Conditions by which a value lies between two int64 ends, either of which may be missing."""
    low, high = ends
    at = ir.cast(INT64, value)
    above = [] if low is None else [ir.less_equal(low, at)]
    return above if high is None else [*above, ir.less_equal(at, high)]


def _is_settled(e: ExprNode) -> bool:
    """True where an expression is of Params and of buffers' shapes alone."""
    kinds = Binary | Cast | Select | ir.Not | ParamRef | BufferField | IntImm | FloatImm
    return all(isinstance(each, kinds) for each in subexpressions([e]))


def _said(end: ExprNode | None) -> ExprNode | None:
    """An end that says more than a constant does, and is short."""
    if end is None:
        return None
    end = simplify(end)
    nodes = sum(1 for _ in subexpressions([end]))
    return end if not isinstance(end, IntImm) and nodes <= _LARGEST_END else None


def _both(op: BinaryOp, a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
    return None if a is None or b is None else a if a is b else ir.binary(op, a, b)


def _either(op: BinaryOp, a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
    return b if a is None else a if b is None else _both(op, a, b)
