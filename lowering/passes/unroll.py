"""Unrolled loops become copies of their bodies, and so do vectorized loops around vectorized ones.

In: a simplified tree. Out: one without unrolled loops, in which no vectorized loop is inside another.

    unrolled x in (a, 2): s    ->    block: s[x := a];  block: s[x := a + 1]

Vectors of vectors are several vectors: a machine's registers hold rows of lanes. The innermost loop has the lanes.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.config import failed_unrolls_permitted
from halide_core.ir import Block, ExprNode, For, IntImm, LoopKind, Select, Stmt
from halide_core.ir.visitor import Rewriter, Substitution, walk
from halide_core.lowering.provenance import Traversals

_MOST = 1 << 16


def unroll_loops(stmt: Stmt, traversals: Traversals) -> Stmt:
    """Raises: ScheduleError where a length is not constant."""
    return _Unroll(traversals).stmt(stmt)


class _Unroll(Rewriter):
    def __init__(self, traversals: Traversals) -> None:
        super().__init__()
        self._traversals = traversals

    def rewrite_For(self, loop: For) -> Stmt:
        """The copies, in order, each in a scope of its own."""
        body = self.stmt(loop.body)
        if loop.kind is not LoopKind.UNROLLED and not _has_vectors_of_vectors(loop):
            same = body is loop.body
            return loop if same else For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)
        unrolled = loop.kind is LoopKind.UNROLLED
        if unrolled and not isinstance(simplify(loop.bounds.len), IntImm) and failed_unrolls_permitted():
            return For(loop.loop, loop.var, loop.bounds, LoopKind.SERIAL, loop.pure, body)
        count = self._traversals.constant_length(loop)
        if count > _MOST:
            raise self._traversals.error(loop.loop, f"this would make {count} copies of its body; split it first.")
        copies = []
        for i in range(count):
            at = simplify(ir.add(loop.bounds.min, ir.i64(i)))
            copies.append(_Copy({loop.var: at}).stmt(body))
        return Block(tuple(copies))


class _Copy(Substitution):
    """One iteration, in which a choice that it decides is made: each copy of a choice among as many values as there are
    copies would else be as long as all of them."""

    def rewrite_Select(self, e: Select) -> ExprNode:
        """The side that is certain."""
        condition = self.expr(e.condition)
        if condition is not e.condition:
            decided = simplify(condition)
            if isinstance(decided, IntImm):
                return self.expr(e.a if decided.value else e.b)
        return self.parts_of(e)


def _has_vectors_of_vectors(loop: For) -> bool:
    vectors = loop.kind is LoopKind.VECTORIZED
    return vectors and any(isinstance(s, For) and s.kind is LoopKind.VECTORIZED for s in walk(loop.body))
