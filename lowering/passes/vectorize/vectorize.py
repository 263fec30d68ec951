"""Vectorized loops become vector statements.

In: a flat tree, with no vectorized loop inside another. Out: one without vectorized loops. A value that depends on the
loop's variable gets lanes; one that does not stays scalar, and is spread where the two meet. The loop is cut into
vectors that the machine has: powers of two no wider than a register, counted by the widest value in the body.

    vectorized x in (a, 8): f[x] = g[x]*k    ->    f[ramp(a, 1, 8)] = g[ramp(a, 1, 8)]*x8(k)

Lanes that update one point are combined first:

    vectorized r in (0, 4): atomic f[x] = f[x] + g[r]
    ->  let a = g[ramp(0, 1, 4)];  let b = slice(a, 0, 2) + slice(a, 2, 2)
        atomic f[x] = f[x] + (slice(b, 0, 1) + slice(b, 1, 1))

A guard on the lanes gives two versions: the vector one where every lane passes, and a scalar loop otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.linear import linear_of
from halide_core.analysis.simplify import simplify
from halide_core.ir import (
    AllocateFlat,
    Binary,
    BinaryOp,
    Block,
    Broadcast,
    ExprNode,
    For,
    If,
    Interval,
    IntImm,
    Let,
    Load,
    LoopKind,
    Ramp,
    Slice,
    Stmt,
    Store,
    Variable,
)
from halide_core.ir.types import INT32, INT64, Type
from halide_core.ir.visitor import (
    Rewriter,
    Substitution,
    all_stores,
    free_variables,
    has,
    nodes_of,
    parts,
    stmt_exprs,
    subexpressions,
    walk,
    with_parts,
)
from halide_core.lowering.passes.around import Around, AroundRewriter
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.vectorize.first_lanes import may_leave_lanes_out, passing_lanes
from halide_core.lowering.passes.vectorize.gather_address import (
    LaneFacts,
    LaneTerms,
    lane_terms,
    narrow_lanes,
    pairs_of_lanes,
    place_of_lanes,
    ramp_of_lanes,
    step_of_lanes,
)
from halide_core.lowering.passes.vectorize.interleave import interleaved, own_memory
from halide_core.lowering.passes.vectorize.reduction_match import accumulation
from halide_core.lowering.passes.vectorize.turn import turned
from halide_core.lowering.passes.vectorize.widen import around_one_lane, calls_functions, lanes_alone, widened
from halide_core.lowering.provenance import Traversals

_COPIES = 4
"""Up to this many vectors of one loop are written out; more become a loop over vectors. Lanes anywhere take so long,
and so much code, that half as many are."""


_MOST_LANES = 64
"""No vector has more."""


def vectorize_loops(
    stmt: Stmt, register_bytes: int, traversals: Traversals, memory: Iterable[str], *, masks: bool
) -> Stmt:
    """``memory``: the names of all memory that the statement allocates or is given. ``masks``: whether the machine
    loads and stores some lanes of a register alone, of whatever type.

    Raises: ScheduleError where a length is not constant, or memory inside the loop differs from lane to lane.
    """
    return _FindLoops(register_bytes, traversals, names_in(stmt, memory), masks=masks).stmt(stmt)


class _FindLoops(AroundRewriter):
    def __init__(self, register_bytes: int, traversals: Traversals, names: UniqueNames, *, masks: bool) -> None:
        super().__init__()
        self._masks = masks
        self._names = names
        self._traversals = traversals
        self._register_bytes = register_bytes
        self._meeting = 0
        """The number of parallel loops around whose iterations may update one point."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions outside vectorized loops stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop's body for all lanes at once."""
        around = around_one_lane(loop, self._names) if calls_functions(loop) else loop
        lanes = lanes_alone(around)
        wide = None if lanes is None else self._widened(around, lanes)
        return self._rewritten(loop) if wide is None else wide

    def _widened(self, loop: For, lanes: For) -> Stmt | None:
        """The loop over vectors that fill a register, and one for what is left; None where they are no narrower."""
        body = _inline_lets(_inline_lets(lanes.body, lanes.var), loop.var)
        value, position = _widest(body, lanes.var, self._around)
        narrow = replace(lanes, body=body)
        found = widened(loop, narrow, self._register_bytes // value, self._names) if position == 1 else None
        return None if found is None else ir.block([self._rewritten(each) for each in found])

    def _rewritten(self, loop: For) -> Stmt:
        if loop.kind is not LoopKind.VECTORIZED:
            meeting = _may_meet(loop)
            self._meeting += meeting
            with self._in(loop):
                body = self.stmt(loop.body)
            self._meeting -= meeting
            same = body is loop.body
            return loop if same else For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)
        count = self._traversals.constant_length(loop)
        body = _inline_lets(loop.body, loop.var)
        inner = {s.var for s in walk(body) if isinstance(s, For)}
        if inner:
            better = turned(replace(loop, body=_inline_lets(body, *inner)), self._register_bytes, self._names)
            if better is not None:
                return self.stmt(better)
        with self._in(loop):
            return self._vectorized(loop, body, count)

    def _vectorized(self, loop: For, body: Stmt, count: int) -> Stmt:
        """The body for so many lanes, in vectors as long as its widest values let them be."""
        value, position = _widest(body, loop.var, self._around)
        widest = max(value, position)
        copies = _COPIES if position <= value else _COPIES // 2
        lanes = max(1, self._register_bytes // widest)
        chunks: list[Stmt] = []
        done = 0
        while done < count:
            size = min(lanes, 1 << ((count - done).bit_length() - 1))
            whole = (count - done) // size
            base = simplify(ir.add(loop.bounds.min, ir.i64(done)))
            chunks.extend(self._vectors(loop, body, base, size, whole, copies))
            done += size * whole
        return ir.block([Block((c,)) if isinstance(c, Block) else c for c in chunks])

    def _vectors(self, loop: For, body: Stmt, base: ExprNode, size: int, whole: int, copies: int) -> list[Stmt]:
        """``whole`` vectors of ``size`` lanes, from ``base`` on: up to so many copies, or a loop."""
        if whole <= copies:
            starts = [simplify(ir.add(base, ir.i64(i * size))) for i in range(whole)]
            if whole > 1 and any(isinstance(s, For) for s in walk(body)):
                own = [body, *(own_memory(body, self._names) for _ in starts[1:])]
                return [
                    interleaved(
                        [self._lanes(loop, start, size).run(each) for start, each in zip(starts, own, strict=True)]
                    )
                ]
            return [self._lanes(loop, start, size).run(body) for start in starts]
        var = ir.index_variable(self._names.fresh(f"{loop.var.name}.vector"))
        start = simplify(ir.add(base, ir.mul(var, ir.i64(size))))
        inner = self._lanes(loop, start, size).run(body)
        return [For(loop.loop, var, Interval(ir.ZERO, ir.i64(whole)), LoopKind.SERIAL, loop.pure, inner)]

    def _lanes(self, loop: For, start: ExprNode, size: int) -> _Lanes:
        meeting = self._meeting > 0 or not loop.pure
        given = (loop, start, size, self._traversals, self._names, self._around)
        return _Lanes(*given, meeting=meeting, masks=self._masks)


def _may_meet(loop: For) -> bool:
    """True of a loop of threads that may update one point."""
    return loop.kind is LoopKind.PARALLEL and not loop.pure


def _widest(body: Stmt, var: Variable, around: Around) -> tuple[int, int]:
    """Bytes of the widest value that will have lanes, and of the widest position that is neither a ramp nor steps."""
    value = position = 1

    def varies(e: ExprNode) -> bool:
        return var in free_variables(e)

    known = LaneFacts(varies, around.range)
    for s in walk(body):
        roots = [s.value] if isinstance(s, Store) else []
        accesses: list[Store | Load] = [s] if isinstance(s, Store) else []
        accesses.extend(nodes_of(stmt_exprs(s), Load))
        for e in subexpressions(roots):
            if e.type is not INT64 and var in free_variables(e):
                value = max(value, e.type.bytes())
        for access in accesses:
            index = access.index
            if ramp_of_lanes(index, var, ir.ZERO, varies) is not None:
                continue
            place = place_of_lanes(index, var, ir.ZERO, varies)
            dense = step_of_lanes(place, var) or pairs_of_lanes(index, var, ir.ZERO, varies)
            if place.offset is not None and not (isinstance(access, Load) and dense):
                narrow = narrow_lanes(place, _MOST_LANES, known) is not None
                # Gathers of 32 bits and more take rows by vectors of int64; others, one lane after the other.
                if isinstance(access, Load) and access.type.bytes() < INT32.bytes():
                    narrow = narrow or lane_terms(place, _MOST_LANES, known) is not None
                position = max(position, (INT32 if narrow else INT64).bytes())
    return value, position


def _inline_lets(body: Stmt, *lane: Variable) -> Stmt:
    """Lets that depend on the lane go into their uses: their values become ramps there."""
    return _InlineLets(lane).stmt(body)


class _InlineLets(Rewriter):
    def __init__(self, lane: Iterable[Variable]) -> None:
        super().__init__()
        self._lane = frozenset(lane)

    def rewrite_Block(self, s: Block) -> Stmt:
        """Drops a let of the lane, and puts its value into what follows."""
        result: list[Stmt] = []
        for i, stmt in enumerate(s.stmts):
            if isinstance(stmt, Let) and not free_variables(stmt.value).isdisjoint(self._lane):
                rest = Substitution({stmt.var: stmt.value}).stmt(Block(s.stmts[i + 1 :]))
                result.append(self.stmt(rest))
                break
            result.append(self.stmt(stmt))
        return ir.block(result)


class _Lanes:
    """One vector of lanes: the loop's variable is ``start, start + 1, …``. ``meeting``: lanes, or threads, may update
    one point; updates that are atomic go one by one then, or, where all lanes meet in one point, as one."""

    def __init__(
        self,
        loop: For,
        start: ExprNode,
        lanes: int,
        traversals: Traversals,
        names: UniqueNames,
        around: Around,
        *,
        meeting: bool,
        masks: bool,
    ) -> None:
        self._masks = masks
        self._names = names
        self._loop = loop
        self._meeting = meeting
        self._traversals = traversals
        self._start = start
        self._lanes = lanes
        self._varying: set[Variable] = {loop.var}
        self._known = LaneFacts(self._varies, around.range)
        self._memo: dict[ExprNode, ExprNode] = {}

    def run(self, body: Stmt) -> Stmt:
        """The body for every lane."""
        if self._lanes == 1:
            return Substitution({self._loop.var: self._start}).stmt(body)
        for s in walk(body):
            if isinstance(s, AllocateFlat) and self._varies(s.size):
                name = self._traversals.owner(s.buffer)
                raise self._traversals.error(
                    self._loop.loop,
                    f'"{name}" is computed inside this loop, and needs memory of another size in each lane: {s.size}. '
                    f"Compute it outside the loop, for example {name}.compute_root(), or bound its extent.",
                )
        return self._stmt(body)

    def _per_lane_memory(self, block: Block) -> Block:
        """Memory allocated inside the loop belongs to one lane: it becomes an array of lanes, the lane innermost. Lanes
        that go one by one have it one after the other."""
        own = {s.buffer for s in block.stmts if isinstance(s, AllocateFlat)}
        if not own:
            return block
        laned = _LaneMemory(own, self._loop.var, self._start, self._lanes).stmt(block)
        assert isinstance(laned, Block)
        return laned

    def _varies(self, e: ExprNode) -> bool:
        return not free_variables(e).isdisjoint(self._varying)

    # -- statements

    def _stmt(self, s: Stmt) -> Stmt:
        if any(has(one.value, ir.Print) for one in _together(s)):
            return self._one_by_one(s)
        if self._meeting and any(each.atomic for each in _together(s)):
            return self._reduced(s) or self._one_by_one(s)
        match s:
            case Block():
                return Block(tuple([self._stmt(each) for each in self._per_lane_memory(s).stmts]))
            case Store(buffer=buffer, index=index, value=value):
                if not self._varies(index) and not self._varies(value):
                    return s
                return Store(buffer, self._place(index), self._wide(value))
            case ir.Stores(stores=stores):
                if not any(self._varies(part) for e in stores for part in (e.index, e.value)):
                    return s
                return all_stores(tuple([Store(e.buffer, self._place(e.index), self._wide(e.value)) for e in stores]))
            case For(bounds=bounds) as loop:
                around, self._meeting = self._meeting, self._meeting or _may_meet(loop)
                inside = self._inner_loop(loop, bounds)
                self._meeting = around
                return inside
            case If(condition=condition) as test if self._varies(condition):
                return self._guard(test)
            case If(condition=condition, then=then, otherwise=otherwise):
                return If(condition, self._stmt(then), None if otherwise is None else self._stmt(otherwise))
        return s

    def _inner_loop(self, loop: For, bounds: Interval) -> Stmt:
        if self._varies(bounds.len):
            return self._one_by_one(loop)
        if self._varies(bounds.min):
            # Every lane runs as often: count from zero, and let each lane add its own start.
            moved = Substitution({loop.var: ir.add(loop.var, bounds.min)}).stmt(loop.body)
            # Lets that were the same in all lanes may depend on the lane now.
            body = _inline_lets(_simplified(moved), self._loop.var)
            if any(isinstance(s, AllocateFlat) and self._varies(s.size) for s in walk(body)):
                return self._one_by_one(loop)  # what is inside needs memory of another size in each
            return self._stmt(For(loop.loop, loop.var, Interval(ir.ZERO, bounds.len), loop.kind, loop.pure, body))
        return For(loop.loop, loop.var, bounds, loop.kind, loop.pure, self._stmt(loop.body))

    def _guard(self, test: If) -> Stmt:
        """All lanes at once where the last one passes, since it is the last to; lane by lane otherwise."""
        certain = _for_all_lanes(test.condition, self._loop.var, self._start, self._lanes)
        if certain is None or test.otherwise is not None:
            return self._one_by_one(test)
        whole = self._stmt(test.then)
        return If(certain, whole, self._first(test, whole) or self._one_by_one(test))

    def _first(self, test: If, whole: Stmt) -> Stmt | None:
        """The lanes that pass a guard which not all do, at once; None where machines can't leave out the others."""
        some = passing_lanes(test.condition, self._loop.var, self._start) if self._masks else None
        if some is None or not may_leave_lanes_out(whole, self._lanes):
            return None
        condition, count = some
        if count is None:
            return If(condition, whole, None)
        return If(ir.conjunction(condition, ir.less(ir.ZERO, count)), ir.FirstLanes(count, whole), None)

    def _reduced(self, s: Stmt) -> Stmt | None:
        """One update of the point in which all lanes meet: they are combined first, half of them with the other half,
        until one is left. None where they have points of their own, or the update is of another kind."""
        if not isinstance(s, Store) or self._varies(s.index):
            return None
        found = accumulation(s)
        if found is None or not self._varies(found[2]):
            return None
        (op, among, value), lanes = found, self._lanes
        lets: list[Stmt] = []
        rest = self._wide(value)
        while lanes > 1:
            whole = Variable(rest.type, self._names.fresh(f"{self._loop.var.name}.lanes"))
            lets.append(Let(whole, rest, None))
            lanes //= 2
            part = value.type.with_lanes(lanes)
            rest = Binary(part, among, Slice(part, whole, 0), Slice(part, whole, lanes))
        own = Load(value.type, s.buffer, s.index)
        return Block((*lets, Store(s.buffer, s.index, Binary(value.type, op, own, rest), atomic=True)))

    def _one_by_one(self, s: Stmt) -> Stmt:
        bounds = Interval(self._start, ir.i64(self._lanes))
        return For(self._loop.loop, self._loop.var, bounds, LoopKind.SERIAL, self._loop.pure, s)

    # -- expressions

    def _wide(self, e: ExprNode) -> ExprNode:
        """The expression with lanes."""
        if not self._varies(e):
            return Broadcast(e.type.with_lanes(self._lanes), e)
        known = self._memo.get(e)
        if known is None:
            known = self._ramp(e) if e.type is INT64 else None
            if known is None:
                known = self._operator(e)
            self._memo[e] = known
        return known

    def _place(self, index: ExprNode) -> ExprNode:
        """An index with lanes: a ramp, or what all lanes share plus what differs, in int32 where that holds it."""
        wide = self._wide(index)
        if isinstance(wide, Ramp | Broadcast):
            return wide
        place = place_of_lanes(index, self._loop.var, self._start, self._varies)
        if place.offset is None:
            return wide
        type = INT64.with_lanes(self._lanes)
        narrow = narrow_lanes(place, self._lanes, self._known)
        terms = lane_terms(place, self._lanes, self._known) if narrow is None else None
        if terms is not None:
            return Binary(type, BinaryOp.ADD, Broadcast(type, terms.base), self._sum(terms, place.stride, type))
        rest = self._stepping(place.offset if narrow is None else narrow, place.stride)
        return Binary(type, BinaryOp.ADD, Broadcast(type, place.base), rest if narrow is None else ir.Cast(type, rest))

    def _sum(self, terms: LaneTerms, stride: int, type: Type) -> ExprNode:
        """The sum of what differs between lanes."""
        found: ExprNode | None = None
        if terms.alone is not None:
            found = ir.Cast(type, self._stepping(terms.alone, stride))
        for row, factor in terms.products:
            product = Binary(type, BinaryOp.MUL, ir.Cast(type, self._wide(row)), Broadcast(type, factor))
            found = product if found is None else Binary(type, BinaryOp.ADD, found, product)
        assert found is not None, "there is a product"
        return found

    def _stepping(self, e: ExprNode, stride: int) -> ExprNode:
        """The lanes of an expression, each one so much more than it and the one before."""
        wide = self._wide(e)
        if not stride:
            return wide
        element = e.type
        return Binary(wide.type, BinaryOp.ADD, wide, Ramp(wide.type, ir.const(0, element), ir.const(stride, element)))

    def _pairs(self, index: ExprNode) -> ExprNode | None:
        """An index as ``place + lane/2*step + (lane % 2)*distance``, where even lanes are a ramp by themselves, and odd
        ones are; not where all of them are a ramp, or share elements."""
        place = place_of_lanes(index, self._loop.var, self._start, self._varies)
        if place.offset is None or step_of_lanes(place, self._loop.var) or self._lanes % 2:
            return None
        found = pairs_of_lanes(index, self._loop.var, self._start, self._varies)
        if found is None:
            return None
        type, (step, first, second) = INT64.with_lanes(self._lanes), found
        lane, two = Ramp(type, ir.ZERO, ir.ONE), Broadcast(type, ir.i64(2))
        apart = Broadcast(type, simplify(ir.sub(second, first)))
        odd = Binary(type, BinaryOp.MUL, Binary(type, BinaryOp.MOD, lane, two), apart)
        even = Binary(type, BinaryOp.MUL, Binary(type, BinaryOp.DIV, lane, two), Broadcast(type, ir.i64(step)))
        return Binary(type, BinaryOp.ADD, Broadcast(type, first), Binary(type, BinaryOp.ADD, even, odd))

    def _ramp(self, e: ExprNode) -> ExprNode | None:
        found = ramp_of_lanes(e, self._loop.var, self._start, self._varies)
        return None if found is None else Ramp(INT64.with_lanes(self._lanes), *found)

    def _operator(self, e: ExprNode) -> ExprNode:
        if isinstance(e, Load):
            return Load(e.type.with_lanes(self._lanes), e.buffer, self._pairs(e.index) or self._place(e.index))
        operands = tuple([self._wide(p) for p in parts(e)])
        rebuild = _WIDE.get(type(e))
        if rebuild is None:
            return with_parts(e, operands)
        return rebuild(e, operands, self._lanes)


_WIDE: dict[type[ExprNode], Callable[[Any, tuple[Any, ...], int], ExprNode]] = {
    Binary: lambda e, p, n: Binary(e.type.with_lanes(n), e.op, *p),
    ir.Not: lambda e, p, n: ir.Not(e.type.with_lanes(n), *p),
    ir.Select: lambda e, p, n: ir.Select(e.type.with_lanes(n), *p),
    ir.Cast: lambda e, p, n: _wide_cast(e.type.with_lanes(n), *p),
    ir.Call: lambda e, p, n: ir.Call(e.type.with_lanes(n), e.function, p),
    ir.Promise: lambda e, p, n: ir.Promise(e.type.with_lanes(n), p[0], p[1], p[2], e.location),
}


def _wide_cast(to: Type, a: ExprNode) -> ExprNode:
    """Lanes in another type; a ramp of integers is one of narrower integers, since both wrap."""
    narrower = to.is_integer() and not to.is_bool() and to.bits() < a.type.bits()
    if isinstance(a, Ramp) and narrower:
        element = to.element_of()
        return Ramp(to, simplify(ir.cast(element, a.base)), simplify(ir.cast(element, a.stride)))
    return ir.Cast(to, a)


def _together(s: Stmt) -> tuple[Store, ...]:
    """The stores that a statement is."""
    return s.stores if isinstance(s, ir.Stores) else (s,) if isinstance(s, Store) else ()


def _simplified(stmt: Stmt) -> Stmt:
    return _SimplifyIndices().stmt(stmt)


class _SimplifyIndices(Rewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """The simplified expression."""
        return simplify(expr)


def _for_all_lanes(condition: ExprNode, var: Variable, start: ExprNode, lanes: int) -> ExprNode | None:
    """A scalar condition that holds where every lane's does; None where the condition is not a plain bound."""
    match condition:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            x, y = (_for_all_lanes(c, var, start, lanes) for c in (a, b))
            return None if x is None or y is None else ir.conjunction(x, y)
        case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b) if a.type is INT64:
            form = linear_of(a).plus(linear_of(b), -1)
            if any(var in free_variables(atom) and atom is not var for atom in form.terms):
                return None
            worst = start if form.terms.get(var, 0) < 0 else simplify(ir.add(start, ir.i64(lanes - 1)))
            at = {var: worst}
            return ir.binary(op, simplify(Substitution(at).expr(a)), simplify(Substitution(at).expr(b)))
    return condition if var not in free_variables(condition) else None


class _LaneMemory(Rewriter):
    def __init__(self, buffers: set[str], var: Variable, start: ExprNode, lanes: int) -> None:
        super().__init__()
        self._buffers = buffers
        self._lane = simplify(ir.sub(var, start))
        self._lanes = ir.i64(lanes)

    def _at(self, index: ExprNode) -> ExprNode:
        return simplify(ir.add(ir.mul(index, self._lanes), self._lane))

    def rewrite_AllocateFlat(self, s: AllocateFlat) -> Stmt:
        """As many times the elements as there are lanes."""
        if s.buffer not in self._buffers:
            return s
        size = simplify(ir.mul(s.size, self._lanes))
        limit = None if s.limit is None or not isinstance(self._lanes, IntImm) else s.limit * self._lanes.value
        return replace(s, size=size, limit=limit)

    def rewrite_Load(self, e: Load) -> ExprNode:
        """This lane's element."""
        index = self.expr(e.index)
        return Load(e.type, e.buffer, self._at(index) if e.buffer in self._buffers else index)

    def rewrite_Store(self, s: Store) -> Stmt:
        """This lane's element."""
        index = self.expr(s.index)
        where = self._at(index) if s.buffer in self._buffers else index
        return replace(s, index=where, value=self.expr(s.value))
