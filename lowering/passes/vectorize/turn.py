"""Lanes that lie apart in memory, around a loop whose iterations lie side by side: these become lanes instead.

In: a vectorized loop, and how many bytes a register holds. Out: the loops turned; None where that is no gain.

    vectorized v in (0, 8): for c in (0, 16): f[c + v*16] = 0
    ->  for v in (0, 8): vectorized c in (0, 16): f[c + v*16] = 0

What is vectorized along another dimension than memory is stored element by element. All loops are pure, so that their
iterations may go in any order; those that fill no vector go one by one.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.simplify import simplify
from halide_core.ir import For, Interval, IntImm, Load, LoopKind, Stmt, Store
from halide_core.ir.visitor import Substitution, stmt_exprs, subexpressions
from halide_core.lowering.passes.vectorize.widen import SAYING, distance, together_at_most

_LEAST = 4
"""Shorter vectors are not worth it."""


def turned(loop: For, register_bytes: int, names: UniqueNames) -> Stmt | None:
    """See the module's docstring. ``loop`` has no lets inside."""
    nest = [loop]
    while isinstance(nest[-1].body, For):
        nest.append(nest[-1].body)
    inner, store = nest[-1], nest[-1].body
    if not isinstance(store, Store) or store.atomic or not all(_is_turned(each) for each in nest):
        return None
    length = inner.bounds.len
    count = together_at_most(length, register_bytes // store.value.type.bytes()) if isinstance(length, IntImm) else 1
    if count < _LEAST or not _is_better(store, loop, inner):
        return None
    found = _vectors(inner, count, names)
    for each in reversed(nest[1:-1]):
        found = replace(each, body=found)
    return replace(loop, kind=LoopKind.SERIAL, body=found)


def _is_turned(loop: For) -> bool:
    return loop.pure and loop.kind in (LoopKind.SERIAL, LoopKind.VECTORIZED)


def _is_better(store: Store, loop: For, inner: For) -> bool:
    """True where iterations of the inner loop write side by side, and read so, or one; and lanes do not."""
    if distance(store.index, inner.var) != 1 or distance(store.index, loop.var) in (-1, 0, 1):
        return False
    exprs = list(subexpressions(stmt_exprs(store)))
    loads = [e for e in exprs if isinstance(e, Load)]
    return all(distance(e.index, inner.var) in (0, 1) for e in loads) and not any(isinstance(e, SAYING) for e in exprs)


def _vectors(loop: For, count: int, names: UniqueNames) -> Stmt:
    """A loop over vectors of so many iterations, and one over those that are left."""
    assert isinstance(loop.bounds.len, IntImm)
    number, lane = (ir.index_variable(names.fresh(f"{loop.var.name}.{name}")) for name in ("turned", "lane"))
    groups, left = divmod(loop.bounds.len.value, count)
    first = ir.add(loop.bounds.min, ir.mul(ir.ZERO if groups == 1 else number, ir.i64(count)))
    body = Substitution({loop.var: simplify(ir.add(first, lane))}).stmt(loop.body)
    vector = For(loop.loop, lane, Interval(ir.ZERO, ir.i64(count)), LoopKind.VECTORIZED, loop.pure, body)
    several = replace(loop, var=number, bounds=Interval(ir.ZERO, ir.i64(groups)), body=vector)
    rest = replace(loop, bounds=Interval(simplify(ir.add(loop.bounds.min, ir.i64(groups * count))), ir.i64(left)))
    return ir.block([vector if groups == 1 else several, *([rest] if left else [])])
