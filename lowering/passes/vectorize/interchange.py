"""A short reduction around lanes goes inside of them: each vector is summed where it is, and stored once.

In: a tree whose points are still points. Out: one in which a serial loop of few steps around pure loops, lanes among
them, is the innermost one, if all that it does is to update each point by itself.

    for r in (0, 9): for x: vectorized v: f[x, v] = f[x, v] + g[x, v + r]
      ->  for x: vectorized v: for r in (0, 9): f[x, v] = f[x, v] + g[x, v + r]

An iteration of a pure loop has nothing to do with what the others write. So each point has the same updates in the
same order, and what changes is that it isn't stored and loaded again in between, and that no vector waits for that. Of
a long reduction each row would be read far from the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.ir import Access, Block, ExprNode, For, If, IntImm, Let, LoopKind, Provide, Stmt
from halide_core.ir.visitor import Rewriter, accesses_to, any_has, free_variables, stmt_exprs, walk
from halide_core.lowering.passes.vectorize.widen import SAYING

_MOST = 128
"""A reduction of more steps reads more rows than a cache keeps lines of."""


def interchange_loops(stmt: Stmt) -> Stmt:
    """Moves reductions inwards, inner ones first."""
    return _Interchange().stmt(stmt)


class _Interchange(Rewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """The loops inside of a reduction, with it inside of them."""
        found = self.inside(loop)
        if not isinstance(found, For) or found.kind is not LoopKind.SERIAL or found.pure or not _is_short(found):
            return found
        return _with_inside(found.body, found, in_lanes=False) or found


def _is_short(loop: For) -> bool:
    """True of a loop of a constant length that has few steps together with the reductions inside of it."""
    steps = 1
    for each in (loop, *(s for s in walk(loop.body) if isinstance(s, For) and not s.pure)):
        if not isinstance(each.bounds.len, IntImm) or each.bounds.len.value < 1:
            return False
        steps *= each.bounds.len.value
    return steps <= _MOST


def _with_inside(stmt: Stmt, loop: For, *, in_lanes: bool) -> Stmt | None:
    """A statement of each iteration of a loop, with the loop inside; None where it can't be, or nothing is gained."""
    match stmt:
        case For(pure=True, kind=LoopKind.SERIAL | LoopKind.VECTORIZED as kind, bounds=bounds):
            inside = _with_inside(stmt.body, loop, in_lanes=in_lanes or kind is LoopKind.VECTORIZED)
            if inside is None or not _is_the_same((bounds.min, bounds.len), loop):
                return None
            return For(stmt.loop, stmt.var, bounds, kind, stmt.pure, inside)
        case If(condition=condition, then=then, otherwise=None):
            inside = _with_inside(then, loop, in_lanes=in_lanes)
            return If(condition, inside, None) if inside is not None and _is_the_same((condition,), loop) else None
        case Block(stmts=(*lets, last)) if all(isinstance(s, Let) for s in lets):
            if not _is_the_same([s.value for s in lets if isinstance(s, Let)], loop):
                return _around(stmt, loop) if in_lanes else None
            inside = _with_inside(last, loop, in_lanes=in_lanes)
            return None if inside is None else ir.block([*lets, inside])
        case For() | Provide() if in_lanes:
            return _around(stmt, loop)
    return None


def _is_the_same(exprs: Iterable[ExprNode], loop: For) -> bool:
    """True of what is the same in all iterations of a loop, whatever these write."""
    found = list(exprs)
    moved = any(loop.var in free_variables(e) for e in found)
    return not moved and not any_has(found, Access, *SAYING)


def _around(stmt: Stmt, loop: For) -> Stmt | None:
    """The loop around a statement that does nothing but to update one point, in each of its steps the same."""
    provides = [s for s in walk(stmt) if isinstance(s, Provide)]
    if len(provides) != 1 or not all(_is_plain(s) for s in walk(stmt)):
        return None
    (provide,) = provides
    inner = {loop.var, *(s.var for s in walk(stmt) if isinstance(s, Let | For))}
    if any(not free_variables(e).isdisjoint(inner) for e in provide.args):
        return None
    if not any(e.args == provide.args for e in accesses_to(provide.func, provide.values)):
        return None
    return For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, stmt)


def _is_plain(s: Stmt) -> bool:
    """True of a loop, a let or an update that may be anywhere in an order of pure iterations."""
    if not isinstance(s, Block | Let | For | Provide) or (isinstance(s, Provide) and s.atomic):
        return False
    if isinstance(s, For) and (s.pure or s.kind is not LoopKind.SERIAL):
        return False
    return not any_has(stmt_exprs(s), *SAYING)
