"""Arithmetic in the fewest bits: what is widened, halved and so fits again is computed without widening.

In: a flat tree. Out: one of the same values, with single operations where the user's formula takes several. Narrower
values make more lanes of a vector. Each rule is exact for all operands; the interpreter judges this pass as any other.

    (u16(a) + u16(b) + 1) >> 1     ->   u16(rounding_halving_add(a, b))      a, b: uint8
    (a | b) - ((a ^ b) >> 1)       ->   rounding_halving_add(a, b)
    a < b ? u(b) - u(a) : u(a) - u(b)   ->   u(max(a, b)) - u(min(a, b))
    u8(u16(a))                     ->   a
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Call, Cast, ExprNode, IntImm, Intrinsic, Select, Stmt
from halide_core.ir.types import INT64, Type
from halide_core.ir.visitor import Rewriter

_MOST_BITS = 32
"""Of operands: 64 bits have nothing wider that a formula could have come from, and are no instruction anywhere."""


def narrow_arithmetic(stmt: Stmt) -> Stmt:
    """See the module's docstring."""
    return _Narrow().stmt(stmt)


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
