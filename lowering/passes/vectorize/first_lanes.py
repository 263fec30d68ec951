"""Guards that the first lanes of a vector pass, and the others fail: how many do, and what can be done for these alone.

In: a guard's condition, and the lanes that it is asked for. Out: a condition that no lane changes, and the number of
lanes that pass where it holds, which may be negative or too many. And of a guarded statement whose lanes are vectors
already, whether machines can leave out the last ones of each of its loads and stores.

    base + x < n,  x from start on   ->   n - base - start lanes
    x <= n and y < m                 ->   y < m,  n - start + 1 lanes
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.simplify import simplify
from halide_core.ir import Binary, BinaryOp, ExprNode, Load, Stmt, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables, stmt_exprs, subexpressions, walk

_DIVISIONS = frozenset({BinaryOp.DIV, BinaryOp.MOD})
_WHOLE = (ir.Store, ir.Stores, ir.Block, ir.If, ir.AllocateFlat)
"""The statements that may be done for some lanes alone; so may serial loops."""


def passing_lanes(condition: ExprNode, var: Variable, start: ExprNode) -> tuple[ExprNode, ExprNode | None] | None:
    """A condition that no lane changes, and the number of the lanes ``start``, ``start + 1``, … that pass where it
    holds: None for all of them. None of conditions that others than the first lanes may pass."""
    match condition:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            first, second = passing_lanes(a, var, start), passing_lanes(b, var, start)
            if first is None or second is None:
                return None
            counts = [count for _, count in (first, second) if count is not None]
            count = None if not counts else counts[0] if len(counts) == 1 else ir.minimum(*counts)
            return ir.conjunction(first[0], second[0]), count
        case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b) if a.type is INT64:
            form = linear_of(b).plus(linear_of(a), -1)
            others = [atom for atom in form.terms if atom is not var]
            if form.terms.get(var) == -1 and is_near(form) and not any(var in free_variables(e) for e in others):
                gap = form.plus(Linear({var: 1}, int(op is BinaryOp.LE)))
                return ir.TRUE, simplify(ir.sub(to_expr(gap), start))
    return None if var in free_variables(condition) else (condition, None)


def may_leave_lanes_out(stmt: Stmt, lanes: int) -> bool:
    """True where each load and store is of dense lanes, or of one element for all, and nothing else can be told of the
    lanes that are left out: what these load is 0, by which nothing is divided."""
    for s in walk(stmt):
        if not (isinstance(s, _WHOLE) or (isinstance(s, ir.For) and s.kind is ir.LoopKind.SERIAL)):
            return False
        if isinstance(s, ir.Store) and (s.atomic or not _is_dense(s.index, lanes)):
            return False
        if not all(_is_harmless(e, lanes) for e in subexpressions(stmt_exprs(s))):
            return False
    return True


def _is_harmless(e: ExprNode, lanes: int) -> bool:
    if e.type.lanes() not in (1, lanes) or (e.type.is_float() and e.type.bits() < 32):
        return False
    match e:
        case Load():
            return e.type.is_scalar() or isinstance(e.index, ir.Broadcast) or _is_dense(e.index, lanes)
        case Binary(op=op, b=b) if op in _DIVISIONS:
            return e.type.is_scalar() or e.type.is_float() or isinstance(b, ir.Broadcast)
    return not isinstance(e, ir.Slice | ir.Print | ir.Event | ir.Promise)


def _is_dense(index: ExprNode, lanes: int) -> bool:
    return isinstance(index, ir.Ramp) and index.stride is ir.ONE and index.type.lanes() == lanes
