"""Neighbouring iterations go through a long loop inside of them in step: the loop around it is unrolled, and jammed.

In: a flat tree whose lanes are vectors. Out: the same, in which a serial loop around one reduction takes several
iterations at once, and those that are left one by one.

    for x: s = 0;  for r: s = s + …;  f[x] = s
      ->  for x' in (0, n/4): s = s' = … = 0;  for r: (s = s + …; s' = s' + …; …);  f[4*x'] = s;  f[4*x' + 1] = s'; …
          for x in the last n mod 4: …

What an iteration looks up for the reduction, as a row's place, is looked up once for several; their sums don't wait for
each other; and what lies side by side is read while it is in the cache. Each sum is added up in its own order.

Iterations may be in step where none reads what another writes, and what several write is written in the same order.
Each accumulator is memory of its iteration, or elements that are no other iteration's: their indices move with the loop
by at least what they reach over. All else that is written is written by one statement, and nobody reads it there.

What goes down columns, as a sum of all above does, or a transposed copy, goes down several that lie side by side:

    for x: for y: f[x + y*s] = f[x + y*s - s] + …   ->   for x': for y: (f[4*x' + y*s] = …; f[4*x' + 1 + y*s] = …; …)

There the loop is pure, so that it has no order, and writes one Func alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.linear import Linear, linear_of
from halide_core.analysis.simplify import simplify
from halide_core.ir import (
    AllocateFlat,
    Block,
    ExprNode,
    For,
    Interval,
    IntImm,
    Let,
    Load,
    LoopKind,
    Ramp,
    Stmt,
    Store,
    Stores,
    Variable,
)
from halide_core.ir.visitor import (
    Rewriter,
    Substitution,
    any_has,
    free_variables,
    nodes_of,
    stmt_exprs,
    subexpressions,
    walk,
)
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.loop_shapes import only_statement
from halide_core.lowering.passes.vectorize.interleave import interleaved, own_memory
from halide_core.lowering.passes.vectorize.widen import SAYING

_AT_ONCE = 4
_LONG = 16
"""A C compiler writes out loops up to this length, which costs more with several iterations in each."""
_REGISTERS = 8
"""So many accumulators stay in registers beside what is added to them."""
_LARGE = 150
"""A body of more expressions has no registers left, and takes long to compile four times."""
_FAR = 64
"""Elements that are so far apart share no line of a cache."""


def jam_loops(stmt: Stmt, register_bytes: int, memory: Iterable[str]) -> Stmt:
    """``memory``: the names of all memory that the statement allocates or is given."""
    return _Jam(register_bytes, names_in(stmt, memory)).stmt(stmt)


class _Jam(Rewriter):
    def __init__(self, register_bytes: int, names: UniqueNames) -> None:
        super().__init__()
        self._register_bytes = register_bytes
        self._names = names

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """Several iterations at once, then the others."""
        count = self._at_once(loop)
        if count < 2:
            return self.inside(loop)
        each, length = ir.i64(count), ir.maximum(loop.bounds.len, ir.ZERO)
        groups, left = simplify(ir.div(length, each)), simplify(ir.mod(length, each))
        var = ir.index_variable(self._names.fresh(f"{loop.var.name}.jam"))
        begun = ir.add(loop.bounds.min, ir.mul(var, each))
        bodies = [loop.body, *(own_memory(loop.body, self._names) for _ in range(1, count))]
        places = [ir.add(begun, ir.i64(i)) for i in range(count)]
        jammed = interleaved([Substitution({loop.var: at}).stmt(s) for at, s in zip(places, bodies, strict=True)])
        if len(_loops(jammed)) != len(_loops(loop.body)):
            return self.inside(loop)
        together = For(loop.loop, var, Interval(ir.ZERO, groups), loop.kind, loop.pure, jammed)
        over = Interval(simplify(ir.add(loop.bounds.min, ir.mul(groups, each))), left)
        rest = For(loop.loop, loop.var, over, loop.kind, loop.pure, loop.body)
        return together if left is ir.ZERO else Block((together, rest))

    def _at_once(self, loop: For) -> int:
        """The number of iterations that may be in step, and gain by it."""
        chain = _loops(loop.body)
        if loop.kind is not LoopKind.SERIAL or not chain or not _are_nested(chain) or not _is_long(chain[-1]):
            return 1
        if not all(_is_plain(s) for s in walk(loop.body)):
            return 1
        written = [s for s in walk(chain[0]) if isinstance(s, Store)]
        inner = {each.var for each in chain}
        if all(free_variables(s.index).isdisjoint(inner) for s in written):
            gains = any(s.value.type.lanes() > 1 or s.value.type.is_float() for s in written) and _are_apart(loop)
        else:
            gains = _are_columns(loop, inner)
        registers = self._registers(loop.body, written)
        if not gains or not _reads_densely(chain[0]) or registers > _REGISTERS // 2 or _is_large(loop.body):
            return 1
        most = min(_AT_ONCE, _REGISTERS // registers)
        return min(most, loop.bounds.len.value) if isinstance(loop.bounds.len, IntImm) else most

    def _registers(self, body: Stmt, written: Sequence[Store]) -> int:
        """The number of registers that an iteration has for what is written in loops, and for memory of its own."""
        types = {(s.buffer, s.index): s.value.type for s in written}
        own = (s for s in walk(body) if isinstance(s, AllocateFlat))
        sizes = (s.size.value * s.type.bytes() for s in own if isinstance(s.size, IntImm))  # as all are: _is_plain
        in_loops = sum(self._of_bytes(t.bytes() * t.lanes()) for t in types.values())
        return max(in_loops, sum(map(self._of_bytes, sizes)))

    def _of_bytes(self, count: int) -> int:
        return -(-count // self._register_bytes)


def _loops(stmt: Stmt) -> list[For]:
    return [s for s in walk(stmt) if isinstance(s, For)]


def _are_nested(chain: Sequence[For]) -> bool:
    """True of serial loops each of which, but for the last, is all that the one around it does."""
    return all(s.kind is LoopKind.SERIAL for s in chain) and all(
        only_statement(outer.body) is inner for outer, inner in pairwise(chain)
    )


def _is_long(loop: For) -> bool:
    return not (isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= _LONG)


def _reads_densely(loop: For) -> bool:
    """True where lanes come from places side by side: lanes from several rows, four times as many, wait for memory."""
    loads = (e for s in walk(loop) for e in nodes_of(stmt_exprs(s), Load))
    return all(e.type.lanes() == 1 or (isinstance(e.index, Ramp) and e.index.stride is ir.ONE) for e in loads)


def _is_large(body: Stmt) -> bool:
    roots = [e for s in walk(body) for e in stmt_exprs(s)]
    return sum(1 for _ in subexpressions(roots)) > _LARGE


def _is_plain(s: Stmt) -> bool:
    """True of a statement that is the same whenever it runs between others: none shows anything, nor can fail."""
    if not isinstance(s, Block | Let | For | AllocateFlat | Store | Stores) or (isinstance(s, Store) and s.atomic):
        return False
    if isinstance(s, AllocateFlat) and not isinstance(s.size, IntImm):
        return False
    return not any_has(stmt_exprs(s), *SAYING)


def _are_columns(loop: For, inner: set[Variable]) -> bool:
    """True where each iteration writes a column of its Func's elements, one beside the next, and nothing else: those
    of a pure loop don't read one another's."""
    stores = [s for s in walk(loop.body) if isinstance(s, Store)]
    at_once = [len(s.stores) for s in walk(loop.body) if isinstance(s, Stores)]
    if not loop.pure or len(stores) != (at_once[0] if at_once else 1):
        return False
    for s in stores:
        form, lanes = _linear_place(s.index)
        if form.terms.get(loop.var, 0) != lanes or any(abs(form.terms.get(v, _FAR)) < _FAR for v in inner):
            return False
    return True


def _are_apart(loop: For) -> bool:
    """True where no iteration reads what another writes, and what several write they write in their order."""
    own = {s.buffer for s in walk(loop.body) if isinstance(s, AllocateFlat)}
    stores: dict[str, list[Store]] = defaultdict(list)
    loads: dict[str, set[ExprNode]] = defaultdict(set)
    for s in walk(loop.body):
        if isinstance(s, Store) and s.buffer not in own:
            stores[s.buffer].append(s)
        for e in subexpressions(stmt_exprs(s)):
            if isinstance(e, Load):
                loads[e.buffer].add(e.index)
    inside = {s.var for s in walk(loop.body) if isinstance(s, For | Let)}
    for buffer, those in stores.items():
        moves = _move_on([*(s.index for s in those), *loads[buffer]], loop.var, inside)
        if not moves and (len(those) > 1 or loads[buffer]):
            return False
    return True


def _move_on(places: Iterable[ExprNode], var: Variable, inside: set[Variable]) -> bool:
    """True where what an iteration touches lies side by side, and each one's are other elements than all before it."""
    (form, _), *rest = linear = [_linear_place(index) for index in places]
    if any(other.terms != form.terms for other, _ in rest):
        return False
    span = max(each.const + reach for each, reach in linear) - min(each.const for each, _ in linear)
    others = [atom for atom in form.terms if atom is not var]
    return abs(form.terms.get(var, 0)) >= span and all(free_variables(a).isdisjoint(inside | {var}) for a in others)


def _linear_place(index: ExprNode) -> tuple[Linear, int]:
    """Where the first lane is, and how many elements the lanes reach over. Of lanes anywhere nothing is known, and so
    no variable moves them."""
    if not isinstance(index, Ramp):
        return linear_of(index), 1
    if not isinstance(index.stride, IntImm) or index.stride.value < 1:
        return Linear({}, 0), 1
    return linear_of(index.base), (index.type.lanes() - 1) * index.stride.value + 1
