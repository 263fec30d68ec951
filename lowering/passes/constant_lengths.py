"""Loops that must have a constant length, and don't, get their greatest one and a guard.

In: a simplified tree. Out: one in which every vectorized or unrolled loop whose length has a constant upper bound is of
that length, and does nothing beyond its own.

    unrolled x in (m, min(n - m, 8)): s    ->    unrolled x in (m, 8): if x < m + min(n - m, 8): s

A tile's producer is what this is for: the last tiles of a loop with a tail are cut short, so the length of the whole
producer inside is the least of two. The steady part of the tile's loop then has no guards (``partition``).
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.ir import Block, ExprNode, For, If, Interval, IntImm, Let, LoopKind, Stmt
from halide_core.ir.visitor import Rewriter
from halide_core.lowering.passes.allocation_bounds import constant_limit
from halide_core.lowering.passes.lets import Lets

_KINDS = (LoopKind.VECTORIZED, LoopKind.UNROLLED)
_STEPS = 4
"""The depth to which lets are looked into."""
_MOST = 256
"""The longest loop that is guarded: more lanes or copies, most of them idle, are not what is meant."""


def make_lengths_constant(stmt: Stmt) -> Stmt:
    """See the module's docstring. Loops of which no such bound is found stay as they are."""
    return _ConstantLengths().stmt(stmt)


class _ConstantLengths(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._lets = Lets()

    def rewrite_Block(self, s: Block) -> Stmt:
        """The statements, each below the lets before it."""
        stmts = []
        for stmt in s.stmts:
            if isinstance(stmt, Let):
                self._lets.bind(stmt.var, stmt.value)
            stmts.append(self.stmt(stmt))
        return s if all(a is b for a, b in zip(stmts, s.stmts, strict=True)) else Block(tuple(stmts))

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop of constant length, if it must have one. Its variable has no value that a let gave it elsewhere."""
        self._lets.release(loop.var)
        body, bounds = self.stmt(loop.body), loop.bounds
        if loop.kind in _KINDS and not isinstance(bounds.len, IntImm):
            limit = self._limit(bounds.len)
            if limit is not None and 0 < limit <= _MOST:
                end = simplify(ir.add(bounds.min, bounds.len))
                bounds, body = Interval(bounds.min, ir.i64(limit)), If(ir.less(loop.var, end), body, None)
        same = body is loop.body and bounds is loop.bounds
        return loop if same else For(loop.loop, loop.var, bounds, loop.kind, loop.pure, body)

    def _limit(self, length: ExprNode) -> int | None:
        """A constant that a length never exceeds."""
        best: int | None = None
        for _ in range(_STEPS):
            found = constant_limit(simplify(length), Facts())
            best = found if best is None or (found is not None and found < best) else best
            deeper = self._lets.substituted(length)
            if deeper is length:
                break
            length = deeper
        return best
