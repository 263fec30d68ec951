"""Vectors of one loop go through inner loops in step, as the lanes of one vector would.

In: the copies of a vectorized loop's body, one for each vector. Out: one statement, in which a loop of all is one loop.

    for k: a[0:8] += …;  for k: a[8:16] += …   ->   for k: (a[0:8] += …; a[8:16] += …)

What an iteration computes for all lanes, as places in memory, is computed once, and the sums don't wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core.algorithm.rename import UniqueNames
from halide_core.ir import AllocateFlat, Block, ExprNode, For, If, Let, Load, LoopKind, Stmt, Store
from halide_core.ir.visitor import Rewriter, walk


def own_memory(body: Stmt, names: UniqueNames) -> Stmt:
    """The statement with new names for what it allocates."""
    to = {s.buffer: names.fresh(f"{s.buffer}.lanes") for s in walk(body) if isinstance(s, AllocateFlat)}
    return _Renamed(to).stmt(body) if to else body


def interleaved(copies: Sequence[Stmt]) -> Stmt:
    """The copies, one step of each after the other."""
    together = _together(copies)
    return Block(tuple(copies)) if together is None else together


def _together(copies: Sequence[Stmt]) -> Stmt | None:
    """One statement for all; None where they differ, and are said one after the other."""
    first = copies[0]
    match first:
        case For(kind=LoopKind.SERIAL) if all(_same_loop(first, c) for c in copies):
            body = interleaved([c.body for c in copies if isinstance(c, For)])
            return For(first.loop, first.var, first.bounds, first.kind, first.pure, body)
        case Block() if all(isinstance(c, Block) and _same_lets(first, c) for c in copies):
            result: list[Stmt] = []
            for row in zip(*(c.stmts for c in copies if isinstance(c, Block)), strict=True):
                one = row[0] if isinstance(row[0], Let) else _together(row)
                result += row if one is None else (one,)  # what one allocates, those after it use: in this block
            return Block(tuple(result))
        case If(otherwise=None) if all(isinstance(c, If) and _same_test(first, c) for c in copies):
            return If(first.condition, interleaved([c.then for c in copies if isinstance(c, If)]), None)
    return None


def _same_lets(a: Block, b: Block) -> bool:
    """True where what the one binds, the other binds to the same: each then knows no others' values."""
    if len(a.stmts) != len(b.stmts):
        return False
    pairs = [(s, t) for s, t in zip(a.stmts, b.stmts, strict=True) if isinstance(s, Let) or isinstance(t, Let)]
    return all(isinstance(s, Let) and isinstance(t, Let) and s.var is t.var and s.value is t.value for s, t in pairs)


def _same_loop(a: For, b: Stmt) -> bool:
    if not isinstance(b, For) or b.kind is not a.kind or b.var is not a.var:
        return False
    return b.bounds.min is a.bounds.min and b.bounds.len is a.bounds.len


def _same_test(a: If, b: If) -> bool:
    return b.condition is a.condition and b.otherwise is None


class _Renamed(Rewriter):
    def __init__(self, to: dict[str, str]) -> None:
        super().__init__()
        self._to = to

    def rewrite_AllocateFlat(self, s: AllocateFlat) -> Stmt:
        """Memory of its own."""
        return replace(s, buffer=self._to[s.buffer], size=self.expr(s.size))

    def rewrite_Load(self, e: Load) -> ExprNode:
        """From there."""
        return Load(e.type, self._to.get(e.buffer, e.buffer), self.expr(e.index))

    def rewrite_Store(self, s: Store) -> Stmt:
        """To there."""
        return replace(s, buffer=self._to.get(s.buffer, s.buffer), index=self.expr(s.index), value=self.expr(s.value))
