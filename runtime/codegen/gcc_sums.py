"""Loops that gcc must not make vectors of, as their sums would be wrong.

In: a serial loop, and how often each memory is loaded in all. Out: whether its iterations stay one by one.

    for y: s[0] = s[0] + p[2*y + 1];  s[0] = s[0] + p[2*y]             floats, in another order than they lie in memory
    for y: a = a + p[2*y];  b = b + p[2*y + 1];  then  out[0] = a + b  int32s, which wrap

Several floats that an iteration adds to one sum, gcc 12 loads by groups, and adds some elements twice. Numbers with a
sign wrap as numbers without one: of several sums, gcc takes the last lane alone where what comes behind the loop needs
them without a sign again, as a sum does. So it makes no vectors where several such sums are loaded elsewhere; it may
where nothing else loads them, and where each sum takes one float.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.ir import BinaryOp, ExprNode, For, Let, Load, Stmt, Store, Variable
from halide_core.ir.visitor import (
    free_variables,
    nodes_of,
    parts,
    stmt_exprs,
    sub_stmts,
    subexpressions,
    substitute,
    walk,
)
from halide_core.runtime.codegen.vector.gcc_masked_loads import written_out

_STEPS = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
_UNCHANGED = frozenset({BinaryOp.MIN, BinaryOp.MAX, BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR})
"""Operators on numbers with a sign that are computed with it."""


def loads_of(stmt: Stmt) -> Counter[str]:
    """The number of times that each memory is loaded, as it stands there."""
    return Counter(e.buffer for s in walk(stmt) for e in nodes_of(stmt_exprs(s), Load))


def confuses_sums(loop: For, loads: Mapping[str, int]) -> bool:
    """True where gcc might get a sum wrong. ``loads``: of all memory, in the whole program."""
    steps: Counter[object] = Counter()
    signed: Counter[str] = Counter()
    own = {s.buffer for s in walk(loop.body) if isinstance(s, ir.AllocateFlat)}
    for store, around in _stores(loop.body, _Around(frozenset({loop.var}), {}, {})):
        index = substitute(store.index, around.values)
        within = free_variables(index)
        taken = _steps(store.value, store.buffer)
        if taken is None or store.buffer in own or not within.isdisjoint(around.moving):
            continue  # no other iteration adds to it
        if store.value.type.is_float():
            form = linear_of(index)
            place = (store.buffer, frozenset(form.terms.items()), form.const)
            steps[place] += taken * prod(n for var, n in around.lengths.items() if var not in within)
        elif store.value.type.is_int() and not _keeps_sign(store):
            signed[store.buffer] += prod(n for var, n in around.lengths.items() if var in within)
    if max(steps.values(), default=0) > 1:
        return True
    return signed.total() > 1 and any(loads[buffer] > loads_of(loop)[buffer] for buffer in signed)


@dataclass(frozen=True, slots=True)
class _Around:
    """Knowledge of a place in an iteration: which variables the next one has other values of, what the others are, and
    the lengths of loops inside."""

    moving: frozenset[Variable]
    values: Mapping[ExprNode, ExprNode]
    lengths: Mapping[Variable, int]


def _stores(stmt: Stmt, around: _Around) -> Iterator[tuple[Store, _Around]]:
    """The stores of an iteration that is one of numbers, not of lanes."""
    if isinstance(stmt, Store):
        if stmt.value.type.is_scalar():
            yield stmt, around
        return
    if isinstance(stmt, For):
        length = written_out(stmt)
        if length is None:  # a loop of its own
            return
        around = _bound(around, stmt.var, stmt.bounds.min)
        around = _Around(around.moving, around.values, {**around.lengths, stmt.var: length})
    for s in sub_stmts(stmt):
        if isinstance(s, Let):
            around = _bound(around, s.var, s.value)
        yield from _stores(s, around)


def _bound(around: _Around, var: Variable, value: ExprNode) -> _Around:
    if not free_variables(value).isdisjoint(around.moving):
        return _Around(around.moving | {var}, around.values, around.lengths)
    return _Around(around.moving, {**around.values, var: substitute(value, around.values)}, around.lengths)


def _steps(value: ExprNode, buffer: str) -> int | None:
    """The most sums and products that what is loaded of a buffer goes through; None where nothing is."""
    through: dict[ExprNode, int] = {}
    for e in subexpressions([value]):
        inside = [through[part] for part in parts(e) if part in through]
        if isinstance(e, Load) and e.buffer == buffer:
            through[e] = 0
        elif inside:
            through[e] = max(inside) + (isinstance(e, ir.Binary) and e.op in _STEPS)
    return through.get(value)


def _keeps_sign(store: Store) -> bool:
    """True of what is stored by an operator that takes what was there as it is."""
    match store.value:
        case ir.Binary(op=op, a=a, b=b) if op in _UNCHANGED:
            return any(isinstance(e, Load) and e.buffer == store.buffer for e in (a, b))
    return False
