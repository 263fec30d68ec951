"""Integers made of floats that are chosen between: as a choice between integers.

In: an integer that is made of a float. Out: its first choice by a condition that varies, and the integer in each case;
None where there is none. It is the same value: nothing in an expression has an effect.

    int32(floor(c ? a : b))   ->   c,  int32(floor(a)),  int32(floor(b))
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.ir import Access, Binary, BinaryOp, Call, Cast, ExprNode, Select
from halide_core.ir.visitor import Substitution


def taken_apart(e: Cast, varies: Callable[[ExprNode], bool]) -> tuple[ExprNode, ExprNode, ExprNode] | None:
    """See the module's docstring."""
    choice = _first_choice(e.a, varies) if e.type.is_integer() and e.a.type.is_float() else None
    if choice is None:
        return None
    one, other = (Substitution({choice: case}).expr(e) for case in (choice.a, choice.b))
    return choice.condition, one, other


def _first_choice(e: ExprNode, varies: Callable[[ExprNode], bool]) -> Select | None:
    """Looks through what is computed in floats, the value first."""
    while e.type.is_float() and not isinstance(e, Access):
        match e:
            case Select(condition=condition):
                return e if varies(condition) else None
            case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL | BinaryOp.DIV, a=a, b=b):
                found = _first_choice(a, varies)
                if found is not None:
                    return found
                e = b
            case Cast(a=a) | Call(args=(a,)):
                e = a
            case _:
                return None
    return None
