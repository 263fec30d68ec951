"""Reuse in place: memory whose values nothing reads any more serves another buffer of its type.

In: a flat tree. Out: the tree in which a buffer lives in the memory of an earlier one that is dead when it is
allocated; that memory is as large as the largest of those that it serves.

    allocate a[n]; … b[x] = a[x]; allocate c[m]; c[x] = b[x]   ->   allocate a[max(n, m)]; … allocate c[m] within a

What is dead is a fact of the tree: both are allocated in one block, and no statement of it from the second allocation
on mentions the first buffer, or another one that lives in its memory. A statement of a block has ended, its threads
too, before the next one begins; so no two buffers of a memory are ever in use at once, for all inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.ir import AllocateFlat, Block, ExprNode, Let, Load, Stmt
from halide_core.ir.memory import MemoryType
from halide_core.ir.visitor import Rewriter, free_variables, has, nodes_of, stmt_exprs, substitute, walk
from halide_core.lowering.passes.flatten import fits_stack


def reuse_memory(stmt: Stmt) -> Stmt:
    """The tree with each buffer in memory that is dead, where its block has some."""
    return _Reuse().stmt(stmt)


@dataclass(slots=True)
class _Block:
    """Memory that was allocated in a block: where, for whom first, how large it has to be, and who mentions it last."""

    at: int
    first: AllocateFlat
    size: ExprNode
    used_until: int
    shared: bool = False


class _Reuse(Rewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_Block(self, s: Block) -> Stmt:
        """The block's own allocations; those further in first."""
        inner = self.inside(s)
        assert isinstance(inner, Block)
        stmts = list(inner.stmts)
        asked = [(i, each) for i, each in enumerate(stmts) if isinstance(each, AllocateFlat) and _may_share(each)]
        if len(asked) < 2:
            return inner
        last = _last_mentions(stmts)
        blocks: list[_Block] = []
        for i, each in asked:
            until = last.get(each.buffer, i)
            dead = [b for b in blocks if b.used_until < i and b.first.type is each.type and not each.zeroed]
            for block in sorted(dead, key=lambda b: b.size is not each.size):  # one that is as large, if there is any
                size = _known_at(each.size, stmts[block.at : i])
                if size is not None:
                    block.size = simplify(ir.maximum(block.size, size))
                    block.used_until, block.shared = until, True
                    stmts[i] = replace(each, within=block.first.buffer)
                    break
            else:
                blocks.append(_Block(i, each, each.size, until))
        for block in blocks:
            if block.shared:  # without a limit, so that it never is in registers
                stmts[block.at] = replace(block.first, size=block.size, limit=None)
        changed = any(a is not b for a, b in zip(stmts, inner.stmts, strict=True))
        return Block(tuple(stmts)) if changed else inner


def _may_share(s: AllocateFlat) -> bool:
    """True where the memory is of the heap, and large: what is small is an array of its function, or in registers."""
    return s.memory in (MemoryType.Auto, MemoryType.Heap) and not fits_stack(s.limit, s.type)


def mentioned_buffers(stmt: Stmt) -> set[str]:
    """The buffers that a statement, or what is inside it, reads, writes, or names in any other way but to allocate."""
    found: set[str] = set()
    for s in walk(stmt):
        match s:
            case ir.Store(buffer=buffer) | ir.PrefetchLine(buffer=buffer):
                found.add(buffer)
            case ir.WriteFile(func=func) | ir.Remember(func=func):
                found.update(func.component_name(k) for k in range(len(func.types)))
            case AllocateFlat(within=within) if within is not None:
                found.add(within)
        found.update(e.buffer for e in nodes_of(stmt_exprs(s), Load))
    return found


def _last_mentions(stmts: list[Stmt]) -> dict[str, int]:
    """The number of the last statement that mentions each buffer."""
    return {buffer: i for i, s in enumerate(stmts) for buffer in mentioned_buffers(s)}


def _known_at(size: ExprNode, between: list[Stmt]) -> ExprNode | None:
    """A size in terms of what is known before some statements; None where they compute it."""
    for s in reversed(between):
        if isinstance(s, Let) and s.var in free_variables(size):
            if has(s.value, Load):
                return None
            size = substitute(size, {s.var: s.value})
    return None if has(size, Load) else size
