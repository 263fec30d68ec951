"""The part of expressions that is quasi-affine: sums, products with constants, div and mod by constants, min, max, and
selects and conditions made of these.

In: an expression. Out: its atoms, of which it is a quasi-affine function: variables, holes, and whatever is not affine.

    min(x, 3) + (x*y)/2   ->   x, x*y
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.analysis.index import exact_index
from halide_core.analysis.linear import linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Not, Select
from halide_core.ir.types import INT64

_COMPARED = (BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE)
_SUMS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MIN, BinaryOp.MAX)
_FORKS = (BinaryOp.MIN, BinaryOp.MAX, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.OR, BinaryOp.NE)


class Forks:
    """Counts the operators that make more than one affine piece, each once: a solver's cost grows with them."""

    def __init__(self) -> None:
        self.count = 0
        self._seen: set[ExprNode] = set()

    def add(self, exprs: Iterable[ExprNode]) -> int:
        """The number of those in all expressions so far."""
        seen = self._seen
        waiting = list(exprs)
        while waiting:
            e = waiting.pop()
            if e not in seen:
                seen.add(e)
                self.count += isinstance(e, Select) or (isinstance(e, Binary) and e.op in _FORKS)
                waiting.extend(operands(e) or ())
        return self.count


def atoms_of(e: ExprNode, seen: set[ExprNode] | None = None) -> list[ExprNode]:
    """The atoms of an expression as a quasi-affine function, without those seen before."""
    seen = set() if seen is None else seen
    found: list[ExprNode] = []
    waiting = [e]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            inner = operands(at)
            if inner is None:
                found.append(at)
            else:
                waiting.extend(reversed(inner))
    return found


def operands(e: ExprNode) -> list[ExprNode] | None:
    """The operands of a quasi-affine operator; None for an atom."""
    if e.type is INT64:
        match e:
            case IntImm():
                return []
            case Binary(op=op, a=a, b=b) if op in _SUMS:
                return [a, b]
            case Binary(op=BinaryOp.MUL, a=a, b=b) if not linear_of(a).terms or not linear_of(b).terms:
                return [to_expr(linear_of(a)), to_expr(linear_of(b))]
            case Binary(op=BinaryOp.DIV | BinaryOp.MOD, a=a, b=IntImm()):
                return [a]
            case Select(condition=condition, a=a, b=b):
                return [condition, a, b]
    elif e.type.is_bool():
        match e:
            case IntImm():
                return []
            case Not(a=a):
                return [a]
            case Binary(op=BinaryOp.AND | BinaryOp.OR, a=a, b=b):
                return [a, b]
            case Binary(op=op, a=a, b=b) if op in _COMPARED:
                sides = compared(a, b)
                return None if sides is None else list(sides)
    return None


def _number(e: ExprNode) -> ExprNode | None:
    """The int64 number that a compared value is; none of the user's own int64s, as a bound that is solved for might
    be a sum with one, and wrap."""
    exact = exact_index(e)
    if exact is not None and not is_near(linear_of(exact)):
        return None
    if exact is None and e.type.is_integer() and not e.type.is_bool() and e.type.bits() <= 32:
        return Cast(INT64, e)
    return exact


def compared(a: ExprNode, b: ExprNode) -> tuple[ExprNode, ExprNode] | None:
    """The int64 numbers that a comparison compares; None where its operands are none."""
    x, y = _number(a), _number(b)
    return None if x is None or y is None else (x, y)
