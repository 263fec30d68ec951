"""Unrolled loops whose iterations write side by side: lanes, in place of copies.

In: a tree whose memory is not flat yet. Out: one in which such loops are vectorized.

    unrolled x in (0, 4): f[x, y] = exp(g[x + 1, y])    ->    vectorized x in (0, 4): f[x, y] = exp(g[x + 1, y])

A C compiler makes vectors of copies where it knows how, of functions that it calls it doesn't. The loop is pure: its
iterations may be at once. What they read is side by side, too, or one; no choice is by the number of an iteration,
which copies decide.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.algorithm.model import Constraint
from halide_core.ir import Access, Allocate, Block, ExprNode, Field, For, IntImm, Let, LoopKind, Provide, Select, Stmt
from halide_core.ir.memory import plain_layout
from halide_core.ir.visitor import Rewriter, Substitution, parts, subexpressions
from halide_core.lowering.passes.vectorize.widen import SAYING, STEPS, distance


def vectorize_copies(stmt: Stmt, constraints: Iterable[Constraint]) -> Stmt:
    """``constraints``: the promises about arguments, of whose strides dimension 0 may have one."""
    return _Copies({c.buffer: None for c in constraints if c.field is Field.STRIDE and c.dim == 0}).stmt(stmt)


class _Copies(Rewriter):
    def __init__(self, dense: dict[ir.Callee, int | None]) -> None:
        super().__init__()
        self._dense = dense
        """The dimension in which neighbours are neighbours in memory, where it is another one than 0; None where there
        is none."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_Block(self, s: Block) -> Stmt:
        """The same; what an allocation lays out is known from there on."""
        for stmt in s.stmts:
            if isinstance(stmt, Allocate) and stmt.bounds:
                first = (stmt.layout or plain_layout(len(stmt.bounds))).order[0]
                self._dense[stmt.func] = first if stmt.fold(first) is None else None
        return self.inside(s)

    def rewrite_For(self, loop: For) -> Stmt:
        """A vectorized loop in place of copies that are side by side."""
        if loop.kind is LoopKind.VECTORIZED:
            return loop
        if loop.kind is LoopKind.UNROLLED and self._is_side_by_side(loop):
            return For(loop.loop, loop.var, loop.bounds, LoopKind.VECTORIZED, loop.pure, loop.body)
        return self.inside(loop)

    def _is_side_by_side(self, loop: For) -> bool:
        length, point = loop.bounds.len, _without_lets(loop.body)
        if not loop.pure or not isinstance(length, IntImm) or not isinstance(point, Provide) or point.atomic:
            return False
        if length.value < 2 or length.value & (length.value - 1):
            return False
        if not point.args or self._step(point.func, point.args, loop.var) != 1:
            return False
        for e in subexpressions(point.values):
            if isinstance(e, SAYING) or (isinstance(e, Select) and _is_decided_by(loop.var, e.condition)):
                return False
            if isinstance(e, Access) and self._step(e.callee, e.args, loop.var) not in STEPS:
                return False
        return True

    def _step(self, callee: ir.Callee, args: tuple[ExprNode, ...], var: ir.Variable) -> int | None:
        """The distance in memory of what neighbours write, or read; None where it is not known."""
        dense = self._dense.get(callee, 0)
        steps = [distance(arg, var) for arg in args]
        if dense is None or any(step != 0 for dim, step in enumerate(steps) if dim != dense):
            return None
        return steps[dense] if steps else 0


def _is_decided_by(var: ir.Variable, e: ExprNode) -> bool:
    """True of a value that depends on a variable itself, and not on what memory has there alone."""
    return e is var or (not isinstance(e, Access) and any(_is_decided_by(var, part) for part in parts(e)))


def _without_lets(body: Stmt) -> Stmt:
    """The one statement of a body, into which its lets went; the body where there are several."""
    if not isinstance(body, Block) or not body.stmts:
        return body
    first, *rest = body.stmts
    if not isinstance(first, Let):
        return body if rest else first
    left = Substitution({first.var: first.value}).stmt(ir.block(rest))
    return _without_lets(left)
