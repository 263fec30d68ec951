"""Arithmetic on floats of 16 bits, in terms of float32: they are stored and converted, and nothing else.

In: an expression. Out: an equal one, in which such floats are only read, selected, reinterpreted, and converted from
and to float32. It is what a definition keeps, so that all that comes after knows two conversions and no more.

    h + g: float16    ->   float16(float32(h) + float32(g))

Each operation rounds once more. For ``+ - * /`` and the square root that is innocuous, because 24 >= 2*11 + 2
(Figueroa 1995): the results are the exact ones of IEEE 754.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Float, Int, UInt
from halide_core.ir.visitor import Rewriter, subexpressions

_FLOAT32, _FLOAT64, _WORD = Float(32), Float(64), UInt(32)


def through_float32(e: ir.ExprNode) -> ir.ExprNode:
    """See the module's docstring; the expression itself where it has no floats of 16 bits."""
    return _Through().expr(e) if any(each.type.is_narrow_float() for each in subexpressions((e,))) else e


def _wide(e: ir.ExprNode) -> ir.ExprNode:
    return ir.cast(_FLOAT32, e) if e.type.is_narrow_float() else e


class _Through(Rewriter):
    def rewrite_Binary(self, e: ir.Binary) -> ir.ExprNode:
        """The operation on float32, rounded where the result is a number."""
        a, b = self.expr(e.a), self.expr(e.b)
        if not a.type.is_narrow_float():
            return ir.Binary(e.type, e.op, a, b)
        return ir.cast(e.type, ir.binary(e.op, _wide(a), _wide(b)))

    def rewrite_Call(self, e: ir.Call) -> ir.ExprNode:
        """The function of float32."""
        args = tuple([self.expr(a) for a in e.args])
        narrow = e.type.is_narrow_float() or any(a.type.is_narrow_float() for a in args)
        if not narrow or e.function is Intrinsic.REINTERPRET:
            return ir.Call(e.type, e.function, args)
        type = _FLOAT32 if e.type.is_narrow_float() else e.type
        return ir.cast(e.type, ir.Call(type, e.function, tuple(map(_wide, args))))

    def rewrite_Cast(self, e: ir.Cast) -> ir.ExprNode:
        """The conversion by way of float32."""
        a = _wide(self.expr(e.a))
        if not e.type.is_narrow_float():
            return ir.cast(e.type, a)
        return ir.cast(e.type, _odd(a) if a.type is _FLOAT64 else ir.cast(_FLOAT32, a))

    def rewrite_Print(self, e: ir.Print) -> ir.ExprNode:
        """The same, with what is shown as float32."""
        return ir.Print(e.type, self.expr(e.a), self.expr(e.condition), self._shown(e))

    def rewrite_Event(self, e: ir.Event) -> ir.ExprNode:
        """The same, with what is shown as float32."""
        a, condition = self.expr(e.a), self.expr(e.condition)
        return ir.Event(e.type, a, condition, self._shown(e), e.code, e.name, e.of_input, e.component, e.tag)

    def _shown(self, e: ir.Print) -> tuple[str | ir.ExprNode, ...]:
        return tuple([_wide(self.expr(m)) if isinstance(m, ir.ExprNode) else m for m in e.message])


def _odd(e: ir.ExprNode) -> ir.ExprNode:
    """A float64 as a float32: exact, or else the odd one of the two around it, so that rounding it once more gives what
    rounding the number at once does (Boldo and Melquiond 2008)."""
    near = ir.cast(_FLOAT32, e)
    again, word = ir.cast(_FLOAT64, near), ir.Call(_WORD, Intrinsic.REINTERPRET, (near,))
    last = ir.binary(BinaryOp.BIT_AND, word, ir.const(1, _WORD))
    inexact = ir.conjunction(ir.binary(BinaryOp.NE, again, e), ir.binary(BinaryOp.EQ, e, e))
    even = ir.conjunction(inexact, ir.equal(last, ir.const(0, _WORD)))
    above = ir.less(ir.Call(_FLOAT64, Intrinsic.ABS, (e,)), ir.Call(_FLOAT64, Intrinsic.ABS, (again,)))
    step = ir.Select(Int(32), above, ir.const(-1, Int(32)), ir.const(1, Int(32)))
    odd = ir.Call(_FLOAT32, Intrinsic.REINTERPRET, (ir.add(word, ir.cast(_WORD, step)),))
    return ir.Select(_FLOAT32, even, odd, near)
