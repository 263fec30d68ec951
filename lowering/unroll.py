"""Unrolled loops become copies of their bodies.

In: a simplified tree. Out: one without unrolled loops.

    unrolled x in (a, 2): s    ->    block: s[x := a];  block: s[x := a + 1]
"""

from __future__ import annotations

from halide_core import ir
from halide_core.errors import ScheduleError
from halide_core.ir import Block, For, IntImm, LoopKind, Stmt
from halide_core.simplify import simplify
from halide_core.visit import Rewriter, Substitution

_MOST = 1 << 16


def unroll_loops(stmt: Stmt) -> Stmt:
    """Raises: ScheduleError where a length is not constant."""
    return _Unroll().stmt(stmt)


class _Unroll(Rewriter):
    def rewrite_For(self, loop: For) -> Stmt:
        """The copies, in order, each in a scope of its own."""
        body = self.stmt(loop.body)
        if loop.kind is not LoopKind.UNROLLED:
            same = body is loop.body
            return loop if same else For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)
        count = constant_length(loop)
        if count > _MOST:
            raise ScheduleError(f'Unrolling loop "{loop.loop}" would make {count} copies; split it first.')
        copies = []
        for i in range(count):
            at = simplify(ir.add(loop.bounds.min, ir.i64(i)))
            copy = Substitution({loop.var: at}).stmt(body)
            copies.append(copy)
        return Block(tuple(copies))


def constant_length(loop: For) -> int:
    """The length of a loop that its directive needs to be constant."""
    if not isinstance(loop.bounds.len, IntImm):
        verb = "vectorized" if loop.kind is LoopKind.VECTORIZED else "unrolled"
        f = loop.loop
        raise ScheduleError(
            f'Loop "{f.var}" of "{f.func}" is {verb}, but its length is not a constant: {loop.bounds.len}. '
            f"Give a factor, for example {f.func}.{'vectorize' if verb == 'vectorized' else 'unroll'}({f.var}, 8), "
            f"or fix the length with {f.func}.bound_extent({f.var}, n)."
        )
    return loop.bounds.len.value
