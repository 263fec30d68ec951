"""Vectors of one loop go through inner loops in step, as the lanes of one vector would.

In: the copies of a vectorized loop's body, one for each vector. Out: one statement, in which a loop of all is one loop.

    for k: a[0:8] += …;  for k: a[8:16] += …   ->   for k: (a[0:8] += …; a[8:16] += …)

What an iteration computes for all lanes, as places in memory, is computed once, and the sums don't wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm import UniqueNames
from halide_core.ir import AllocateFlat, Block, Expr, For, If, Let, Load, LoopKind, Stmt, Store
from halide_core.visit import Rewriter, walk


def own_memory(body: Stmt, names: UniqueNames) -> Stmt:
    """The statement with new names for what it allocates."""
    to = {s.buffer: names.fresh(f"{s.buffer}.lanes") for s in walk(body) if isinstance(s, AllocateFlat)}
    return _Renamed(to).stmt(body) if to else body


def in_step(copies: Sequence[Stmt]) -> Stmt:
    """The copies, one step of each after the other."""
    first = copies[0]
    match first:
        case For(kind=LoopKind.SERIAL) if all(_same_loop(first, c) for c in copies):
            body = in_step([c.body for c in copies if isinstance(c, For)])
            return For(first.loop, first.var, first.bounds, first.kind, first.pure, body)
        case Block() if all(isinstance(c, Block) and len(c.stmts) == len(first.stmts) for c in copies):
            rows = zip(*(c.stmts for c in copies if isinstance(c, Block)), strict=True)
            return ir.block([each for row in rows for each in _flat(in_step(row))])
        case If(otherwise=None) if all(isinstance(c, If) and _same_test(first, c) for c in copies):
            return If(first.condition, in_step([c.then for c in copies if isinstance(c, If)]), None)
        case Let() if all(isinstance(c, Let) and c.var is first.var and c.value is first.value for c in copies):
            return first
    return Block(tuple(copies))


def _same_loop(a: For, b: Stmt) -> bool:
    if not isinstance(b, For) or b.kind is not a.kind or b.var is not a.var:
        return False
    return b.bounds.min is a.bounds.min and b.bounds.len is a.bounds.len


def _same_test(a: If, b: If) -> bool:
    return b.condition is a.condition and b.otherwise is None


def _flat(s: Stmt) -> tuple[Stmt, ...]:
    """The statements of a block: what one lets or allocates, those after it use."""
    return s.stmts if isinstance(s, Block) else (s,)


class _Renamed(Rewriter):
    def __init__(self, to: dict[str, str]) -> None:
        super().__init__()
        self._to = to

    def rewrite_AllocateFlat(self, s: AllocateFlat) -> Stmt:
        """Memory of its own."""
        return replace(s, buffer=self._to[s.buffer], size=self.expr(s.size))

    def rewrite_Load(self, e: Load) -> Expr:
        """From there."""
        return Load(e.type, self._to.get(e.buffer, e.buffer), self.expr(e.index))

    def rewrite_Store(self, s: Store) -> Stmt:
        """To there."""
        return replace(s, buffer=self._to.get(s.buffer, s.buffer), index=self.expr(s.index), value=self.expr(s.value))
