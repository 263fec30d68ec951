"""Unrolled loops become copies of their bodies, and so do vectorized loops around vectorized ones.

In: a simplified tree. Out: one without unrolled loops, in which no vectorized loop is inside another.

    unrolled x in (a, 2): s    ->    block: s[x := a];  block: s[x := a + 1]

Vectors of vectors are several vectors: a machine's registers hold rows of lanes. The innermost loop has the lanes.

Iterations that are at once become one statement, once memory is flat:

    at once i in (0, 2): f[i*n] = f[n - i*n]   ->    f[0] = f[n], f[n] = f[0]
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.config import failed_unrolls_permitted
from halide_core.errors import InternalError
from halide_core.ir import (
    Block,
    ExprNode,
    For,
    If,
    IntImm,
    Let,
    LoopKind,
    Select,
    Stmt,
    Store,
    Stores,
    Variable,
)
from halide_core.ir.visitor import Rewriter, Substitution, all_stores, free_variables, walk
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


def join_at_once(stmt: Stmt) -> Stmt:
    """A flat tree whose loops of iterations that are at once are single statements: all is read before all is written,
    in the order of the iterations."""
    return _Join().stmt(stmt)


class _Join(Rewriter):
    def rewrite_For(self, loop: For) -> Stmt:
        """The stores of all iterations."""
        if loop.kind is not LoopKind.AT_ONCE:
            return self.inside(loop)
        first, count = simplify(loop.bounds.min), simplify(loop.bounds.len)
        assert isinstance(count, IntImm), "iterations that are at once are as many as a definition lists"
        places = [simplify(ir.add(first, ir.i64(i))) for i in range(count.value)]
        return self._joined(loop.body, loop.var, places)

    def _joined(self, body: Stmt, var: Variable, places: Sequence[ExprNode]) -> Stmt:
        match body:
            case Block(stmts=()):  # its guard holds nowhere
                return body
            case If(condition=condition, then=then, otherwise=None) if var not in free_variables(condition):
                return If(condition, self._joined(then, var, places), None)
            case Block(stmts=(Let() as let, *rest)):
                inner = Block(tuple(rest))
                if var in free_variables(let.value):
                    return self._joined(Substitution({let.var: let.value}).stmt(inner), var, places)
                return Block((let, self._joined(inner, var, places)))
            case Block(stmts=(only,)):
                return self._joined(only, var, places)
            case Store() | Stores():
                copies = [_Copy({var: at}).stmt(body) for at in places]
                return all_stores(tuple([s for c in copies for s in (c.stores if isinstance(c, Stores) else (c,))]))
        raise InternalError(f"Iterations that are at once do more than to write: {body!r}")
