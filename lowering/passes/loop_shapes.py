"""Shapes of loops: what they have inside, by which they are divided or not.

In: a loop before vectors. Out: of rows, taps, lanes and tiles which one it is, what is computed how often in it,
and in which iterations a guard around all of its body holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.analysis.linear import Linear, difference, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.prover import Facts
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Block,
    ExprNode,
    For,
    If,
    IntImm,
    Let,
    LoopKind,
    Stmt,
    Store,
    Variable,
)
from halide_core.ir.logic import conjuncts
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables, subexpressions, substitute, walk

_SHORT = 4
"""A loop of a constant length up to this is left whole: finding its steady part would cost more than it saves."""
_TAPS = 16
"""A loop of a constant length up to this, such as the taps of a filter, is divided only where none around it can be."""
_MUCH = 60
"""A loop around others is left whole if it has more statements than this."""


def only_statement(body: Stmt) -> Stmt:
    """The statement of a body that has one, without blocks around it; else the body."""
    while isinstance(body, Block) and len(body.stmts) == 1:
        (body,) = body.stmts
    return body


def is_innermost(loop: For) -> bool:
    """True of a serial loop with nothing but lanes inside."""
    inside = all(s.kind is LoopKind.VECTORIZED for s in walk(loop.body) if isinstance(s, For))
    return loop.kind is LoopKind.SERIAL and inside


def is_plain(loop: For) -> bool:
    """True of a serial loop without others whose stores are no vectors: a C compiler may make vectors of it."""
    inside = list(walk(loop.body))
    stores = [s for s in inside if isinstance(s, Store)]
    alone = loop.kind is LoopKind.SERIAL and not any(isinstance(s, For) for s in inside)
    return alone and bool(stores) and all(s.value.type.lanes() == 1 for s in stores)


def is_around_constants(loop: For) -> bool:
    """True where all loops inside are lanes or have constant lengths, and there is not so much that three of it are too
    many."""
    inside = list(walk(loop.body))
    loops = [s for s in inside if isinstance(s, For)]
    fixed = all(s.kind is LoopKind.VECTORIZED or isinstance(s.bounds.len, IntImm) for s in loops)
    return fixed and len(inside) <= _MUCH


def count_of_varying_lengths(loop: For) -> int:
    """The number of loops inside whose length is no constant; 0 where there is so much that two of it are too many."""
    inside = list(walk(loop.body))
    loops = [s for s in inside if isinstance(s, For) and not isinstance(s.bounds.len, IntImm)]
    return len(loops) if len(inside) <= _MUCH else 0


def varying_innermost(exprs: Iterable[ExprNode], loop: For) -> set[ExprNode]:
    """Those that differ between iterations of a loop without others inside: all else is computed less often."""
    inside = list(walk(loop.body))
    moving = {s.var for s in inside if isinstance(s, For) and not any(isinstance(e, For) for e in walk(s.body))}
    for s in inside:
        if isinstance(s, Let) and not free_variables(s.value).isdisjoint(moving):
            moving.add(s.var)
    return {e for e in exprs if not free_variables(e).isdisjoint(moving)}


def varying_in_lanes(exprs: Iterable[ExprNode], loop: For) -> set[ExprNode]:
    """Those that differ between lanes, but for guards, which vectors ask of all lanes anyway."""
    lanes = {s.var for s in walk(loop) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED}
    for s in walk(loop):
        if isinstance(s, Let) and not free_variables(s.value).isdisjoint(lanes):
            lanes.add(s.var)
    guards = {s.condition for s in walk(loop) if isinstance(s, If)}
    return {e for e in exprs if e not in guards and not free_variables(e).isdisjoint(lanes)}


def has_lanes(loop: For) -> bool:
    """True where lanes are inside."""
    return any(isinstance(s, For) and s.kind is LoopKind.VECTORIZED for s in walk(loop))


def is_in_lanes(loop: For, around: For) -> bool:
    """True of a loop inside of the lanes of another one."""
    lanes = [s for s in walk(around.body) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
    return any(s is loop for each in lanes for s in walk(each.body))


def is_short(loop: For) -> bool:
    """True of a loop whose steady part would cost more than it saves."""
    return isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= _SHORT


def is_over_parts(loop: For) -> bool:
    """True of a loop over the parts that another one was divided into."""
    return any(isinstance(s, For) and s.loop == loop.loop for s in walk(loop.body))


def is_taps(loop: For) -> bool:
    """True of a loop of as few iterations as a filter has taps."""
    return isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= _TAPS


def guard_of(body: Stmt) -> ExprNode:
    """The condition under which a body does anything, over what is known outside of it."""
    values: dict[ExprNode, ExprNode] = {}
    stmts = body.stmts if isinstance(body, Block) else (body,)
    if not stmts:
        return ir.TRUE
    *lets, last = stmts
    for let in lets:
        if not isinstance(let, Let):
            return ir.TRUE
        values[let.var] = substitute(let.value, values)
    return substitute(last.condition, values) if isinstance(last, If) and last.otherwise is None else ir.TRUE


def ends_of_guard(loop: For) -> list[Linear]:
    """Forms that fall with the loop's variable, behind whose thresholds no iteration does anything: all of the body is
    under a guard, and lanes inside have no part in it."""
    inside = {loop.var, *(s.var for s in walk(loop.body) if isinstance(s, For))}
    forms: list[Linear] = []
    for condition in conjuncts(guard_of(loop.body)):
        match condition:
            case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b) if a.type is INT64:
                form = difference(b, a).plus(Linear({}, -1 if op is BinaryOp.LT else 0))
                rest = list(subexpressions([atom for atom in form.terms if atom is not loop.var]))
                varies = any(isinstance(e, Access) or e in inside for e in rest)
                falls = form.terms.get(loop.var, 0) < 0 and is_near(form)
                if falls and not varies and fails_behind(condition, form, loop.var):
                    forms.append(form)
    return forms


def fails_behind(condition: Binary, form: Linear, var: Variable) -> bool:
    """True where it is proven that a comparison fails wherever a variable is beyond a form's threshold: whatever found
    the form, that iterations are left out rests on this."""
    behind = Facts()
    behind.assume_at_least(var, ir.add(threshold(form, var), ir.ONE))
    least = condition.b if condition.op is BinaryOp.LT else ir.add(condition.b, ir.ONE)
    return behind.proves_le(least, condition.a)


def threshold(gap: Linear, var: Variable) -> ExprNode:
    """The least or the greatest value of a variable for which a form is >= 0."""
    c, rest = gap.terms[var], to_expr(Linear({a: k for a, k in gap.terms.items() if a is not var}, gap.const))
    if c > 0:  # c·x >= -rest
        return ir.sub(ir.ZERO, ir.div(rest, ir.i64(c)))
    return ir.div(rest, ir.i64(-c))  # -c·x <= rest
