"""Limits of numbers in 32 bits, once lanes are vectors: scalars that are limited as numbers and as indices are limited
once, and floats before they become integers.

    max(min(i64(n), 6), 0)         ->   i64(max(min(n, 6), 0))                n: int32
    max(min(i32(v), 6), 0)         ->   i32(min(max(v, 0.0f), 6.0f))          v: float32

In: a flat tree. Out: one of the same values.
"""

from __future__ import annotations

from collections.abc import Container

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, FloatImm, IntImm, Stmt
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import Rewriter, mask_of, parts, stmt_exprs, subexpressions, walk

_LIMITS = frozenset({BinaryOp.MIN, BinaryOp.MAX})


def narrow_limits(stmt: Stmt) -> Stmt:
    """Limits of int32 numbers in int32: what is limited for an index, too, is limited once. Where indices of lanes fit
    int32 their ranges tell, which this would hide: so it comes after."""
    return _Limits(_unlimited(stmt)).stmt(stmt)


class _Limits(Rewriter):
    """``unlimited``: numbers that are used as they are, too, and so are computed anyway."""

    _changes = mask_of(*_LIMITS)

    def __init__(self, unlimited: Container[ExprNode]) -> None:
        super().__init__()
        self._unlimited = unlimited

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        made = self.parts_of(e)
        assert isinstance(made, Binary)
        if e.op in _LIMITS:
            alone = _below_limits(e) not in self._unlimited
            match made.a, made.b:
                case (Cast(a=n), IntImm(value=k)) if e.type is INT64 and n.type is INT32 and INT32.can_represent(k):
                    number = Binary(INT32, e.op, n, ir.const(k, INT32))
                    return Cast(INT64, (alone and _limited_float(number)) or number)
            if e.type is INT32:
                return (alone and _limited_float(made)) or made
        return made


def _unlimited(stmt: Stmt) -> set[ExprNode]:
    """The numbers that something uses without a limit, or with one in int64."""
    found: set[ExprNode] = set()
    for s in walk(stmt):
        roots = stmt_exprs(s)
        users = [e for e in subexpressions(roots) if not _is_limit(e) and not _is_index(e)]
        used = map(_number, [*roots, *(part for e in users for part in parts(e))])
        found.update(e for e in used if not _is_limit(e))
    return found


def _is_limit(e: ExprNode) -> bool:
    return isinstance(e, Binary) and e.op in _LIMITS and isinstance(e.b, IntImm)


def _is_index(e: ExprNode) -> bool:
    return isinstance(e, Cast) and e.type is INT64


def _number(e: ExprNode) -> ExprNode:
    """The number that an index is made of."""
    while isinstance(e, Cast) and e.type is INT64:
        e = e.a
    return e


def _below_limits(e: ExprNode) -> ExprNode:
    """The number below constant limits."""
    while isinstance(e, Binary) and _is_limit(e):
        e = _number(e.a)
    return e


def _limited_float(e: Binary) -> ExprNode | None:
    """The integer that a float is, limited to numbers from 0 on, as that of the limited float: NaN is 0 in both. None
    of all else, and where the limit is no float of the type."""
    match e:
        case Binary(op=outer, a=Binary(op=inner, a=Cast(a=x), b=IntImm(value=first)), b=IntImm(value=last)):
            ends = {inner: first, outer: last}
            if not x.type.is_float() or x.type.is_narrow_float() or ends.get(BinaryOp.MAX) != 0:
                return None
            zero, most = ir.const(0, x.type), ir.const(ends.get(BinaryOp.MIN, -1), x.type)
            if isinstance(most, FloatImm) and most.value >= 0 and most.value == ends[BinaryOp.MIN]:
                return Cast(e.type, Binary(x.type, BinaryOp.MIN, Binary(x.type, BinaryOp.MAX, x, zero), most))
    return None
