"""Arithmetic in the fewest bits: what is widened, halved and so fits again is computed without widening.

In: a flat tree. Out: one of the same values, with single operations where the user's formula takes several. Narrower
values make more lanes of a vector. Each rule is exact for all operands; the interpreter judges this pass as any other.

    (u16(a) + u16(b) + 1) >> 1     ->   u16(rounding_halving_add(a, b))      a, b: uint8
    (a | b) - ((a ^ b) >> 1)       ->   rounding_halving_add(a, b)
    a < b ? u(b) - u(a) : u(a) - u(b)   ->   u(max(a, b)) - u(min(a, b))
    u8(u16(a))                     ->   a

Once lanes are vectors, scalars follow that are numbers of 32 bits, and limited where they are indices:

    max(min(i64(n), 6), 0)         ->   i64(max(min(n, 6), 0))                n: int32
    max(min(i32(v), 6), 0)         ->   i32(min(max(v, 0.0f), 6.0f))          v: float32
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Call, Cast, ExprNode, FloatImm, IntImm, Intrinsic, Select, Stmt
from halide_core.ir.types import INT32, INT64, Type
from halide_core.ir.visitor import Rewriter, parts, stmt_exprs, subexpressions, walk

_LIMITS = frozenset({BinaryOp.MIN, BinaryOp.MAX})
_MOST_BITS = 32
"""Of operands: 64 bits have nothing wider that a formula could have come from, and are no instruction anywhere."""


def narrow_arithmetic(stmt: Stmt) -> Stmt:
    """See the module's docstring."""
    return _Narrow().stmt(stmt)


def narrow_limits(stmt: Stmt) -> Stmt:
    """Limits of int32 numbers in int32: what is limited for an index, too, is limited once. Where indices of lanes fit
    int32 their ranges tell, which this would hide: so it comes after."""
    return _Limits(_unlimited(stmt)).stmt(stmt)


class _Limits(Rewriter):
    """``unlimited``: numbers that are used as they are, too, and so are computed anyway."""

    def __init__(self, unlimited: Container[ExprNode]) -> None:
        super().__init__()
        self._unlimited = unlimited

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        a, b = self.expr(e.a), self.expr(e.b)
        if e.op in _LIMITS:
            alone = _below_limits(e) not in self._unlimited
            match a, b:
                case (Cast(a=n), IntImm(value=k)) if e.type is INT64 and n.type is INT32 and INT32.can_represent(k):
                    number = Binary(INT32, e.op, n, ir.const(k, INT32))
                    return Cast(INT64, (alone and _limited_float(number)) or number)
            if e.type is INT32:
                number = _same(e, a, b)
                return (alone and _limited_float(number)) or number
        return _same(e, a, b)


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


class _Narrow(Rewriter):
    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """A mean that is computed in a wider type, or bit by bit."""
        a, b = self.expr(e.a), self.expr(e.b)
        if _is_number(e.type):
            if _is_half(e.op, b):
                return _mean_of_wide(a) or _same(e, a, b)
            if e.op is BinaryOp.SUB:
                return _mean_of_bits(a, b) or _same(e, a, b)
        return _same(e, a, b)

    def rewrite_Cast(self, e: Cast) -> ExprNode:
        """A cast of a cast that keeps every value is one cast."""
        a = self.expr(e.a)
        if isinstance(a, Cast) and _is_number(e.type) and _is_number(a.type) and _keeps(a.type, a.a.type):
            return ir.cast(e.type, a.a)
        return e if a is e.a else Cast(e.type, a)

    def rewrite_Select(self, e: Select) -> ExprNode:
        """An absolute difference: of two that are compared, the greater less the lesser."""
        condition, a, b = self.expr(e.condition), self.expr(e.a), self.expr(e.b)
        match condition, a, b:
            case (
                Binary(op=BinaryOp.LT | BinaryOp.LE, a=x, b=y),
                Binary(op=BinaryOp.SUB, a=more, b=less),
                Binary(op=BinaryOp.SUB, a=p, b=q),
            ) if more is q and less is p and _bare(more) is y and _bare(less) is x and _is_number(x.type):
                greater, lesser = ir.maximum(x, y), ir.minimum(x, y)
                return ir.sub(ir.cast(e.type, greater), ir.cast(e.type, lesser))
        return e if condition is e.condition and a is e.a and b is e.b else Select(e.type, condition, a, b)


def _same(e: Binary, a: ExprNode, b: ExprNode) -> Binary:
    return e if a is e.a and b is e.b else Binary(e.type, e.op, a, b)


def _is_number(type: Type) -> bool:
    """True where values of the type are data: integers, but no index."""
    return type.is_integer() and not type.is_bool() and type is not INT64


def _keeps(to: Type, source: Type) -> bool:
    """True where a conversion of numbers keeps every value."""
    return source.is_integer() and not source.is_bool() and to.can_represent(source)


def _bare(e: ExprNode) -> ExprNode:
    """The operand of a cast to as many bits: a difference that wraps is the same in either type."""
    same = isinstance(e, Cast) and e.a.type.is_integer() and e.a.type.bits() == e.type.bits() and e.type is not INT64
    return e.a if isinstance(e, Cast) and same else e


def _is_half(op: BinaryOp, b: ExprNode) -> bool:
    return isinstance(b, IntImm) and (op, b.value) in {(BinaryOp.SHR, 1), (BinaryOp.DIV, 2)}


def _terms(e: ExprNode) -> list[ExprNode]:
    """The terms of a sum."""
    found, stack = [], [e]
    while stack:
        term = stack.pop()
        if isinstance(term, Binary) and term.op is BinaryOp.ADD:
            stack += [term.b, term.a]
        else:
            found.append(term)
    return found


def _mean_of_wide(total: ExprNode) -> ExprNode | None:
    """Half of ``total``, where that is two narrow numbers and one; None where it is not."""
    terms = _terms(total)
    ones = [t for t in terms if isinstance(t, IntImm) and t.value == 1]
    pair = _narrowed([t for t in terms if not isinstance(t, IntImm)], total.type)
    if len(terms) != 3 or len(ones) != 1 or pair is None:
        return None
    return ir.cast(total.type, _mean(*pair))


def _narrowed(terms: Sequence[ExprNode], wide: Type) -> tuple[ExprNode, ExprNode] | None:
    """Two numbers of one type, of which the terms are the same values in a type that is wider."""
    match terms:
        case [Cast(a=x), Cast(a=y)] if x.type is y.type and _is_number(x.type) and x.type.bits() <= _MOST_BITS:
            return (x, y) if wide.bits() > x.type.bits() and _keeps(wide, x.type) else None
    return None


def _mean_of_bits(a: ExprNode, b: ExprNode) -> ExprNode | None:
    """``(x | y) - ((x ^ y) >> 1)``."""
    match a, b:
        case (
            Binary(op=BinaryOp.BIT_OR, a=x, b=y),
            Binary(op=op, a=Binary(op=BinaryOp.BIT_XOR, a=p, b=q), b=one),
        ) if x is p and y is q and _is_half(op, one) and x.type.bits() <= _MOST_BITS:
            return _mean(x, y)
    return None


def _mean(x: ExprNode, y: ExprNode) -> ExprNode:
    return Call(x.type, Intrinsic.ROUNDING_HALVING_ADD, (x, y))
