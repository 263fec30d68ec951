"""Numbers made of conditions, where they may be places in memory: gcc 12 does not get to know what they were made of.

Its vectorizer takes a comparison that was widened to 64 bits for a mask of lanes: where that is all that an index is,
as far as it changes, it reads element -1 for 1, or another lane's. So it does not see what the number was, in loops
that look memory up by what they compute, nor what such loops load of memory that a condition decided elsewhere; other
loops still become vectors.

    t_data[(int64_t)(img_data[i] > 9.0f)]   ->   t_data[hidden_i64(img_data[i] > 9.0f)]
    t_data[(int64_t)(v == 1 ? v : 0)]       ->   t_data[(int64_t)(int32_t)hidden_i64(v == 1 ? v : 0)]
"""

from __future__ import annotations

from collections.abc import Container

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm
from halide_core.ir.types import INT64
from halide_core.ir.visitor import any_has, stmt_exprs, subexpressions, walk
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.vector.prelude import Prelude


def find_lookups(body: ir.Stmt) -> frozenset[str] | None:
    """Of a program in which values may become places, the memory in which a condition decides what there is: of a local
    variable that is 0, and 1 behind an ``if``, gcc makes the condition, and of one that is a choice the choice. None of
    other programs."""
    if not has_lookups(body):
        return None
    decided = {buffer for stmt in walk(body) if isinstance(stmt, ir.If) for buffer in _stored_behind(stmt)}
    stores = [s for s in walk(body) if isinstance(s, ir.Store) and s.value.type.is_scalar()]
    while more := {s.buffer for s in stores if s.buffer not in decided and _is_decided(s.value, decided)}:
        decided |= more
    return frozenset(decided)


def _stored_behind(choice: ir.If) -> set[str]:
    """The memory that is there without what an ``if`` stores: it is not where all who read it are behind that, too."""
    inside = list(walk(choice))
    own = {s.buffer for s in inside if isinstance(s, ir.AllocateFlat)}
    return {s.buffer for s in inside if isinstance(s, ir.Store)} - own


def has_lookups(body: ir.Stmt) -> bool:
    """True where values may become places: where numbers that are no indices by themselves are made some, or conditions
    choose some."""
    return any(
        any_has(exprs, ir.Cast, ir.Select) and any(map(_becomes_place, subexpressions(exprs)))
        for exprs in map(stmt_exprs, walk(body))
    )


def _is_decided(value: ExprNode, decided: Container[str]) -> bool:
    """True of a number that a condition has a part in, or what was decided by one."""
    for e in subexpressions([value]):
        match e:
            case ir.Load(buffer=buffer) if buffer in decided:
                return True
            case ir.Select() if is_number(e):
                return True
            case ir.Cast(a=a) if a.type.is_bool():
                return True
            case ir.Binary() if is_quotient(e):
                return True
    return False


def _becomes_place(e: ExprNode) -> bool:
    match e:
        case ir.Cast(a=a):
            return e.type.element_of() is INT64 and a.type.element_of() is not INT64
        case ir.Select():
            constant = isinstance(e.a, IntImm) and isinstance(e.b, IntImm)
            return e.type.element_of() is INT64 and (constant or is_condition(e))
    return False


def is_condition(e: ir.Select) -> bool:
    """True of a choice of two integers that are one apart: gcc adds the condition to the lesser."""
    (one, more), (other, less) = _apart(e.a), _apart(e.b)
    return e.type.is_integer() and one is other and abs(more - less) == 1


def is_number(e: ir.Select) -> bool:
    """True of a choice of two integers. Of any two gcc may see that they are one apart: by the condition it may know
    what they are, as of ``v == 1 ? v : 0``, and of two constants it computes with each, as of ``(v > 9 ? 4 : 0)/4``."""
    return e.type.is_scalar() and e.type.is_integer() and not e.type.is_bool()


def is_quotient(e: ir.Binary) -> bool:
    """True of a quotient of integers, or what it leaves, that gcc may know for a condition: n/n is n != 0."""
    return e.op in (BinaryOp.DIV, BinaryOp.MOD) and e.type.is_integer() and not isinstance(e.b, IntImm)


def _apart(e: ExprNode) -> tuple[ExprNode | None, int]:
    """An expression, and a constant that is added to it."""
    match e:
        case IntImm(value=value):
            return None, value
        case Binary(op=BinaryOp.ADD, a=a, b=IntImm(value=value)):
            return a, value
        case Binary(op=BinaryOp.SUB, a=a, b=IntImm(value=value)):
            return a, -value
    return e, 0


def hidden(prelude: Prelude) -> str:
    """``f(n)``: an integer, of which gcc does not see what it was made of."""
    prelude.typedef("OPAQUE", resource("opaque.h"))
    return prelude.define("hidden_i64", lambda: ("int64_t", "int64_t n", ["OPAQUE(n);", "return n;"]))
