"""Divisions that a loop does not change leave it: a boundary condition's in y is computed once a row, not once a pixel.

In: a flat tree whose lanes are vectors. Out: the same, with lets before serial loops. Remainders and quotients have
branches in C, where a divisor may be 0, so that a C compiler leaves them where they are.

    for x: f[x] = g[x + (y mod n)*s]     ->     let invariant = (y mod n)*s;  for x: f[x] = g[x + invariant]

Only what each iteration computes for certain moves. Where the loop does not run it is computed for nothing: it reads no
memory, and quotients by 0 are 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Call,
    ExprNode,
    For,
    If,
    IntImm,
    Let,
    Load,
    LoopKind,
    Print,
    Stmt,
    Variable,
)
from halide_core.ir.visitor import Rewriter, free_variables, parts, subexpressions, walk
from halide_core.lowering.passes.fresh import names_in

_FIXED = (Access, Call, Load, Print)
"""Nodes that may not move, or be computed where they were not: memory, which the loop may write, and what is shown."""


def hoist_divisions(stmt: Stmt, memory: Iterable[str] = ()) -> Stmt:
    """Moves them outwards, inner loops first; ``memory``: the names of all memory that the statement allocates or is
    given."""
    return _Hoist(names_in(stmt, memory)).stmt(stmt)


class _Hoist(Rewriter):
    def __init__(self, names: UniqueNames) -> None:
        super().__init__()
        self._names = names

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions outside of loops stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop, after lets of what it does not change."""
        body = self.stmt(loop.body)
        found: dict[ExprNode, Variable] = {}
        if loop.kind is LoopKind.SERIAL:
            bound = {loop.var, *(s.var for s in walk(body) if isinstance(s, Let | For))}
            body = _Lifted(bound, found, self._names).stmt(body)
        if body is not loop.body:
            loop = For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)
        return ir.block([*(Let(var, e, None) for e, var in found.items()), loop]) if found else loop


class _Lifted(Rewriter):
    """Puts variables in place of what does not vary and holds a division, in what each iteration runs."""

    def __init__(self, bound: set[Variable], found: dict[ExprNode, Variable], names: UniqueNames) -> None:
        super().__init__()
        self._bound = bound
        self._found = found
        self._names = names

    def expr(self, expr: ExprNode) -> ExprNode:
        """The expression with variables for its largest such parts."""
        known = self._memo.get(expr)
        if known is None:
            known = self._memo[expr] = self._variable(expr) if self._moves(expr) else self.parts_of(expr)
        return known

    def rewrite_If(self, s: If) -> Stmt:
        """Its condition alone: a branch may not run."""
        condition = self.expr(s.condition)
        return s if condition is s.condition else If(condition, s.then, s.otherwise)

    def rewrite_For(self, loop: For) -> Stmt:
        """Its bounds alone: what its iterations don't change stands before it by now."""
        over = self.interval(loop.bounds)
        return loop if over is loop.bounds else For(loop.loop, loop.var, over, loop.kind, loop.pure, loop.body)

    def _moves(self, e: ExprNode) -> bool:
        if not parts(e) or e.type.lanes() > 1 or not free_variables(e).isdisjoint(self._bound):
            return False
        inside = list(subexpressions([e]))
        return any(map(_divides, inside)) and not any(isinstance(each, _FIXED) for each in inside)

    def _variable(self, e: ExprNode) -> Variable:
        known = self._found.get(e)
        if known is None:
            known = self._found[e] = Variable(e.type, self._names.fresh("invariant"))
        return known


def _divides(e: ExprNode) -> bool:
    """True where it is a division that takes long."""
    if not isinstance(e, Binary) or e.op not in (BinaryOp.DIV, BinaryOp.MOD):
        return False
    quick = isinstance(e.b, IntImm) and e.b.value > 0 and e.b.value & (e.b.value - 1) == 0
    return e.type.is_integer() and not quick
