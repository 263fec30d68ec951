"""Warm-up: the first iteration of a loop along which a window slides stands apart from those that compute what is new.

In: a simplified tree before flattening. Out: one in which the innermost loop of a nest that asks in every iteration
whether it is the first becomes two.

    for x in (a, n): { for g.x in (select(x <= a, x - 1, x + 1), …): … }
    ->  for x in (a, min(n, 1)): { for g.x in (x - 1, …): … }
        for x in (a + 1, max(n - 1, 0)): { for g.x in (x + 1, …): … }

Loops further out ask once for many points, and stay as they are: two copies of them would be more than they save. So
does a loop that the user says is never divided.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.analysis.linear import difference
from halide_core.analysis.simplify import simplify
from halide_core.ir import Binary, BinaryOp, Block, For, Interval, IntImm, LoopKind, Stmt
from halide_core.ir.visitor import Rewriter, free_variables, has, stmt_exprs, subexpressions, walk
from halide_core.lowering.passes.partition.partition import Policies
from halide_core.lowering.passes.simplify_stmt import simplify_tree
from halide_core.schedule.access_directives import Partition


def separate_warm_ups(stmt: Stmt, policies: Policies) -> Stmt:
    """See the module's docstring."""
    warm_ups = _WarmUps(policies)
    changed = warm_ups.stmt(stmt)
    if changed is stmt:
        return stmt
    inside = {s for loop in warm_ups.divided for s in walk(loop)}
    return simplify_tree(changed, frozenset(s for s in walk(stmt) if s not in inside))


class _WarmUps(Rewriter):
    def __init__(self, policies: Policies) -> None:
        super().__init__()
        self._whole = {name for name, d in policies.items() if d.policy is Partition.Never}
        self.divided: list[For] = []
        """Loops as they were."""

    def expr(self, expr: ir.ExprNode) -> ir.ExprNode:
        """Expressions stay."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop, or its first iteration and the others."""
        inside = self.inside(loop)
        if loop.loop in self._whole or not _is_innermost(loop) or not _asks(loop):
            return inside
        assert isinstance(inside, For)
        self.divided.append(loop)
        start, length = loop.bounds.min, loop.bounds.len
        first = Interval(start, simplify(ir.minimum(length, ir.ONE)))
        rest = Interval(simplify(ir.add(start, ir.ONE)), simplify(ir.maximum(ir.sub(length, ir.ONE), ir.ZERO)))
        return Block((replace(inside, bounds=first), replace(inside, bounds=rest)))


def _is_innermost(loop: For) -> bool:
    """True where a serial loop of more than a few steps is the innermost one of its own nest."""
    if loop.kind is not LoopKind.SERIAL or (isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= 1):
        return False
    name = loop.loop
    return not any(
        isinstance(s, For) and (s.loop.func, s.loop.stage) == (name.func, name.stage) and s.kind is LoopKind.SERIAL
        for s in walk(loop.body)
    )


def _asks(loop: For) -> bool:
    """True where something in the loop asks if this is its first iteration."""
    for s in walk(loop.body):
        roots = [e for e in stmt_exprs(s) if has(e, BinaryOp.LE) and loop.var in free_variables(e)]
        for e in subexpressions(roots):
            if isinstance(e, Binary) and e.op is BinaryOp.LE and e.a is loop.var:
                gap = difference(e.b, loop.bounds.min)
                if not gap.terms and not gap.const:
                    return True
    return False
