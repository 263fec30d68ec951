"""Vectors that fill less than half of a register, in loops whose iterations have no order: several of them at once.

In: a serial loop around lanes, and how many lanes a register holds. Out: a loop over vectors of more lanes, and one for
the iterations that are left; None where that is no gain.

    for x in (0, n): vectorized v in (0, 4): f[x*4 + v] = g[x*4 + v + 1]
    ->  for y in (0, n/4): vectorized w in (0, 16): f[y*16 + w] = g[y*16 + w + 1]
        for x in (n/4*4, n - n/4*4): vectorized v in (0, 4): …

Neighbouring lanes must be neighbours in both: each index is a sum in which the loop's variable counts as often as its
lanes go. Of memory that is not dense nothing is gained. Both loops are pure, so that no iteration sees another one.

Serial loops between the two or inside, as a reduction's, stay there: each element has all of their iterations in order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.simplify import simplify
from halide_core.ir import (
    Block,
    ExprNode,
    For,
    Interval,
    IntImm,
    Intrinsic,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Variable,
)
from halide_core.ir.types import INT64, Float
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
from halide_core.lowering.passes.loop_shapes import only_statement

SAYING = (ir.Print, ir.Event, ir.Promise)
"""Values whose order or number is seen."""
_REAL = Float(32)
_FUNCTIONS = frozenset({
    Intrinsic.EXP, Intrinsic.LOG, Intrinsic.POW, Intrinsic.SIN, Intrinsic.COS, Intrinsic.TAN, Intrinsic.ASIN,
    Intrinsic.ACOS, Intrinsic.ATAN, Intrinsic.ATAN2, Intrinsic.SINH, Intrinsic.COSH, Intrinsic.TANH,
})  # fmt: skip
"""Functions that have many steps."""
STEPS = (-1, 0, 1, 2)
"""The distances of neighbouring lanes in memory that vectors of any length are loaded at."""


def widened(loop: For, inner: For, lanes: int, names: UniqueNames) -> list[For] | None:
    """See the module's docstring: the loop over vectors of more lanes, and what is left, if anything. ``loop`` is a
    serial one around the lanes of ``inner`` (``lanes_alone``); ``lanes``: of the widest value, in a register."""
    rows = _rows_of(loop)
    assert isinstance(inner.bounds.len, IntImm)
    count = inner.bounds.len.value
    times = together_at_most(loop.bounds.len, lanes // count)
    if times < 2:
        return None
    together = _Together(loop.var, inner.var, count)
    try:
        wide = together.stmt(inner.body)
    except _ApartError:
        return None
    if not _is_dense(wide, together.position):
        return None
    narrow = replace(loop, body=inner)
    return [
        replace(each, body=reduce(lambda inside, row: row.around(inside), reversed(rows), each.body))
        for each in _loops(narrow, inner, wide, together.position, times, names)
    ]


def lanes_alone(loop: For) -> For | None:
    """The lanes that are all that a serial loop is around, if its iterations may go in any order: one statement, that
    says nothing. Serial loops may stand between, and inside of the lanes."""
    rows = _rows_of(loop)
    inner = rows[-1].rest if rows else only_statement(loop.body)
    if loop.kind is not LoopKind.SERIAL or not isinstance(inner, For) or inner.kind is not LoopKind.VECTORIZED:
        return None
    if not (loop.pure and inner.pure and isinstance(inner.bounds.len, IntImm) and inner.bounds.min is ir.ZERO):
        return None
    return inner if _is_one_store(inner.body, loop.var, inner.var) else None


@dataclass(frozen=True, slots=True)
class _RowBetween:
    """A serial loop, the lets at the head of its body, which tell nothing of the lanes, and what these lead to."""

    loop: For
    lets: tuple[Let, ...]
    rest: Stmt

    def around(self, inside: Stmt) -> For:
        """The loop with something else behind its lets."""
        return replace(self.loop, body=Block((*self.lets, inside)) if self.lets else inside)


def _rows_of(loop: For) -> list[_RowBetween]:
    """The serial loops inside, each of which is all that the one around it does, and the same in each iteration."""
    rows: list[_RowBetween] = []
    inner = only_statement(loop.body)
    while isinstance(inner, For) and _is_row(inner, loop.var):
        lets, rest = _behind_lets(only_statement(inner.body))
        if any(loop.var in free_variables(let.value) for let in lets):
            break
        rows.append(_RowBetween(inner, lets, rest))
        inner = rest
    return rows


def _behind_lets(body: Stmt) -> tuple[tuple[Let, ...], Stmt]:
    stmts = body.stmts if isinstance(body, Block) else (body,)
    count = next((i for i, s in enumerate(stmts) if not isinstance(s, Let)), len(stmts))
    lets = tuple(s for s in stmts[:count] if isinstance(s, Let))
    return lets, only_statement(Block(stmts[count:]))


def _is_row(s: Stmt, *lanes: Variable) -> bool:
    """True of a serial loop that is the same for all lanes."""
    if not isinstance(s, For) or s.kind is not LoopKind.SERIAL:
        return False
    return free_variables(s.bounds.min).isdisjoint(lanes) and free_variables(s.bounds.len).isdisjoint(lanes)


def calls_functions(loop: For) -> bool:
    """True of a serial loop around one statement that calls functions which a C compiler doesn't know for lanes."""
    if loop.kind is not LoopKind.SERIAL or not _is_one_store(loop.body):
        return False
    calls = (e for s in walk(loop.body) for e in nodes_of(stmt_exprs(s), ir.Call))
    return any(e.function in _FUNCTIONS and e.type is _REAL for e in calls)


def _is_one_store(body: Stmt, *lanes: Variable) -> bool:
    """True of a store and its lets, that say nothing, and that no other thread may come between. Loops that are the
    same for all lanes may be around it."""
    stores = [s for s in walk(body) if not isinstance(s, Block | Let) and not (lanes and _is_row(s, *lanes))]
    if len(stores) != 1 or not isinstance(stores[0], Store) or stores[0].atomic:
        return False
    return not any(any_has(stmt_exprs(s), *SAYING) for s in walk(body))


def around_one_lane(loop: For, names: UniqueNames) -> For:
    """A loop without lanes, around one."""
    lane = ir.index_variable(names.fresh(f"{loop.var.name}.lane"))
    body = Substitution({loop.var: ir.add(loop.var, lane)}).stmt(loop.body)
    return replace(loop, body=For(loop.loop, lane, Interval(ir.ZERO, ir.ONE), LoopKind.VECTORIZED, loop.pure, body))


def together_at_most(length: ExprNode, most: int) -> int:
    """So many vectors at once, a power of two: of a constant number those that leave the fewest steps."""
    known = [1 << n for n in range(most.bit_length())]
    if isinstance(length, IntImm):
        return min(known, key=lambda k: (length.value // k + length.value % k, k), default=1)
    return known[-1] if known else 1


class _ApartError(Exception):
    """Lanes and iterations are no neighbours."""


class _Together(Rewriter):
    """Puts one variable in place of ``count`` times an iteration's number, plus a lane's."""

    def __init__(self, iteration: Variable, lane: Variable, count: int) -> None:
        super().__init__()
        self.position = ir.index_variable(f"{iteration.name}.position")
        self._iteration, self._lane, self._count = iteration, lane, count

    def expr(self, expr: ExprNode) -> ExprNode:
        """Raises: _ApartError where one of them stands alone."""
        known = self._memo.get(expr)
        if known is None:
            known = self._memo[expr] = self._sum(expr) if expr.type is INT64 else self.parts_of(expr)
        return known

    def _sum(self, e: ExprNode) -> ExprNode:
        if free_variables(e).isdisjoint((self._iteration, self._lane)):
            return e
        found = Linear({}, linear_of(e).const)
        for atom, c in linear_of(e).terms.items():
            if atom not in (self._iteration, self._lane):
                found = found.plus(linear_of(self.parts_of(atom)), c)
        times = linear_of(e).terms.get(self._lane, 0)
        if linear_of(e).terms.get(self._iteration, 0) != self._count * times:
            raise _ApartError
        return to_expr(found.plus(Linear({self.position: 1}, 0), times) if times else found)


def _is_dense(body: Stmt, position: Variable) -> bool:
    """True where neighbours write neighbours, and read such, or every second, or one."""
    for s in walk(body):
        for e in subexpressions(stmt_exprs(s)):
            if isinstance(e, Load) and distance(e.index, position) not in STEPS:
                return False
        if isinstance(s, Store) and distance(s.index, position) != 1:
            return False
    return True


def distance(index: ExprNode, position: Variable) -> int | None:
    """The distance of neighbours; None where it varies."""
    terms = linear_of(index).terms
    others = (atom for atom in terms if atom is not position)
    return None if any(position in free_variables(atom) for atom in others) else terms.get(position, 0)


def _loops(loop: For, inner: For, body: Stmt, position: Variable, times: int, names: UniqueNames) -> list[For]:
    assert isinstance(inner.bounds.len, IntImm)
    lanes = inner.bounds.len.value * times
    number, lane = (ir.index_variable(names.fresh(f"{each.name}.wide")) for each in (loop.var, inner.var))
    groups = simplify(ir.div(loop.bounds.len, ir.i64(times)))
    done = simplify(ir.mul(groups, ir.i64(times)))
    first = ir.add(ir.mul(loop.bounds.min, inner.bounds.len), ir.mul(number, ir.i64(lanes)))
    at = simplify(ir.add(first, lane))
    wide = replace(
        inner, var=lane, bounds=Interval(ir.ZERO, ir.i64(lanes)), body=Substitution({position: at}).stmt(body)
    )
    left = simplify(ir.sub(loop.bounds.len, done))
    rest = replace(loop, bounds=Interval(simplify(ir.add(loop.bounds.min, done)), left))
    several = replace(loop, var=number, bounds=Interval(ir.ZERO, groups), body=wide)
    return [several] if left is ir.ZERO else [several, rest]
