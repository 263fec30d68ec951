"""Loops that gcc must not make vectors of, as it would load under masks in groups.

In: a serial loop. Out: whether its iterations stay one by one.

    for x: f[2*x] = a[2*x] < b[2*x] ? p[2*x] : q[2*x];  f[2*x + 1] = a[2*x + 1] < b[2*x + 1] ? p[2*x + 1] : q[2*x + 1]

What a choice reads, gcc loads under a mask. Where it makes vectors of statements that are next to each other, as copies
of an unrolled loop are, and these need several vectors, because values are wider than what is compared, or three are
in a group, gcc 12 loads all of them under the first one's mask. The other loops it may take, whatever is chosen there:
groups are what is stored in one buffer, and sums. What a store writes is there to be read whatever is chosen:

    f[x] = a[x] < b[x] ? a[x] : f[x];   ->   t = f[x];  f[x] = a[x] < b[x] ? a[x] : t;
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode, For, If, IntImm, Load, LoopKind, Select, Stmt, Store
from halide_core.ir.visitor import nodes_of, stmt_exprs, sub_stmts, subexpressions, walk
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.uses import SHIFTS, shift_amount, uses_below
from halide_core.runtime.codegen.vector.prelude import Prelude

_WRITTEN_OUT = 16
"""No longer loop is written out by gcc."""


def stays_one_by_one(loop: For, registers: Container[str]) -> bool:
    """True where a group is stored, or summed, and a choice loads what memory has; ``registers`` are no memory. Short
    loops inside may have been written out by gcc, others are loops of their own."""
    written: Counter[str] = Counter()
    sums = choices = 0
    for s, times in _inside(loop.body, 1):
        choices += times * _choices(s, registers)
        if isinstance(s, Store):
            if s.value.type.is_vector():
                return False  # it makes no vectors of vectors
            written[s.buffer] += times * (s.buffer not in registers)
            own = any(e.buffer == s.buffer for e in nodes_of([s.value], Load))
            sums += times if own else 0
    grouped = max(written.values(), default=0) > 1 or sums > 1 or (sums > 0 and choices > 1)
    return grouped and choices > 0


def read_first(store: Store) -> Load | None:
    """The load of the element that a store writes, where a choice may leave it out; None where none does."""
    own = Load(store.value.type, store.buffer, store.index)
    chosen = (e for choice in subexpressions([store.value]) for e in subexpressions(_chosen(choice)))
    return own if store.value.type.is_scalar() and any(e is own for e in chosen) else None


def one_by_one(prelude: Prelude) -> str:
    """The line in a loop's body behind which its iterations stay one by one."""
    prelude.typedef("ONE_BY_ONE", resource("one_by_one.h"))
    return "ONE_BY_ONE;"


def written_out(loop: For) -> int | None:
    """The length of a loop that gcc may write out; None of others."""
    length = loop.bounds.len
    if loop.kind is not LoopKind.SERIAL or not isinstance(length, IntImm) or length.value > _WRITTEN_OUT:
        return None
    return max(length.value, 0)


def _inside(stmt: Stmt, times: int) -> Iterator[tuple[Stmt, int]]:
    """The statements of an iteration, and how often each one stands there once short loops are written out."""
    yield stmt, times
    if isinstance(stmt, For):
        length = written_out(stmt)
        if length is None:
            return
        times *= length
    for s in sub_stmts(stmt):
        yield from _inside(s, times)


def _choices(stmt: Stmt, registers: Container[str]) -> int:
    """The number of choices of a statement itself that load something in one case alone."""
    match stmt:
        case If(then=then, otherwise=otherwise):
            cases = [then] if otherwise is None else [then, otherwise]
            return int(any(_loads(stmt_exprs(s), registers) for case in cases for s in walk(case)))
        case Store(value=value) | ir.Let(value=value):
            _, counts = uses_below([(value, False)])
            certain = {e for (e, _), times in counts.items() if times > 1}  # a temporary has it
            if isinstance(stmt, Store) and (first := read_first(stmt)) is not None:
                certain.add(first)
            return sum(_loads(_chosen(e), registers, certain) for e in subexpressions(stmt_exprs(stmt)))
    return 0


def _chosen(e: ExprNode) -> tuple[ExprNode, ...]:
    """The operands that C evaluates in one case alone: a shift by all bits needs no number."""
    match e:
        case Select(a=a, b=b):
            return (a, b)
        case ir.Binary(op=BinaryOp() as op, a=a) if op in SHIFTS and shift_amount(e) is None:
            return (a,)
    return ()


def _loads(exprs: tuple[ExprNode, ...], registers: Container[str], certain: Container[ExprNode] = ()) -> bool:
    return any(e.buffer not in registers for e in nodes_of(exprs, Load) if e not in certain)
