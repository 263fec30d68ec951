"""Loop partitioning: the steady part of an innermost loop runs without the clamps and guards that only its ends need.

In: a simplified tree before flattening, whose points are still points. Out: one in which a loop whose clamps and guards
are decided by its variable becomes up to three: the head, the steady part, the tail.

    for x in (0, n): f[x] = g[max(x - 1, 0)]
    ->  for x in (0, min(1, n)): f[x] = g[max(x - 1, 0)];  for x in (min(1, n), n - min(1, n)): f[x] = g[x - 1]
    for x in (0, 32): if x < n: f[x] = g[x]
    ->  for x in (0, max(min(32, n), 0)): f[x] = g[x]

What decides a clamp is a threshold, computed once before the loop: c·x + rest >= 0, where the rest doesn't vary and the
lanes of a vectorized loop inside count with their worst end (``steady_part``). The parts together are the loop for
whatever values the thresholds have, so that only the choice of the steady part's clamps rests on them.

A loop over tiles that a guard cuts at the end is divided so that what is computed for a whole tile has constant
lengths.

A loop that the user says is always divided may have others inside, and may be parallel: their ends count as those of
lanes do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from halide_core import ir
from halide_core.analysis.linear import to_expr
from halide_core.analysis.simplify import simplify
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import (
    Assert,
    Block,
    ExprNode,
    For,
    If,
    Interval,
    IntImm,
    Let,
    LoopKind,
    LoopName,
    Provide,
    Select,
    Stmt,
)
from halide_core.ir.types import INT64
from halide_core.ir.visitor import (
    Rewriter,
    stmt_exprs,
    subexpressions,
    substitute,
    walk,
)
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.loop_shapes import (
    count_of_varying_lengths,
    ends_of_guard,
    has_lanes,
    is_around_constants,
    is_in_lanes,
    is_innermost,
    is_short,
    is_taps,
    threshold,
    varying_in_lanes,
    varying_innermost,
)
from halide_core.lowering.passes.partition.steady_part import SteadyPart
from halide_core.lowering.passes.simplify_stmt import simplify_tree
from halide_core.lowering.passes.uniquify_names import bind_apart
from halide_core.lowering.passes.variable_ranges import CoordinateRanges
from halide_core.schedule.access_directives import Partition, PartitionLoop

_MOST = 8
"""A loop is left whole if its thresholds are more than this: they are computed wherever the loop is entered."""
_CUTS = 2
"""So many loops inside of each other are cut by constants: each may make three of those inside."""
_LONG = 40
"""A body of so many expressions is not written twice where once will do."""

Policies = Mapping[LoopName, PartitionLoop]
"""Who says of which loop whether it is divided."""


def partition_loops(stmt: Stmt, policies: Policies) -> Stmt:
    """Divides every innermost loop that has a steady part, but for what the user says of loops.

    Warns where no loop that should always be divided can be: only time depends on it, and Halide takes it too.
    """
    partition = _Partition(stmt, policies)
    changed = partition.stmt(stmt)
    for d in policies.values():
        if d.policy is Partition.Always and d not in partition.divided:
            told = (
                f"{d.spelled()}: there is nothing to divide: no clamp and no guard in it is decided by where in the "
                f"loop an iteration is, so this has no effect."
            )
            warn_user(told, IgnoredDirectiveWarning, d.location)
    return changed


class _Partition(Rewriter):
    def __init__(self, stmt: Stmt, policies: Policies) -> None:
        super().__init__()
        self._names = names_in(stmt)
        self._policies = policies
        self._ranges = CoordinateRanges()
        """The ranges of coordinates here."""
        self._in_lanes = False
        """True where lanes are around: what they differ in would divide a loop for each lane by itself."""
        self._at_ends = False
        """True where a loop around is before its steady part, or behind it: few tiles there are inside of an input."""
        self._cuts = 0
        """The number of loops around that were cut where constants say so."""
        self.divided: set[PartitionLoop] = set()
        """The directives whose loops were."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions outside divided loops stay as they are."""
        return expr

    def rewrite_Block(self, block: Block) -> Stmt:
        """Its statements, each of which sees what those before it say."""
        with self._scope():
            return self.inside(block)

    def rewrite_Assert(self, s: Assert) -> Stmt:
        """The check, which holds from here on."""
        self._ranges.learn(s.condition)
        return s

    def rewrite_Let(self, let: Let) -> Stmt:
        """The let, whose variable is in scope from here on."""
        self._ranges.define(let)
        return let

    @contextmanager
    def _scope(self) -> Iterator[None]:
        outside, self._ranges = self._ranges, self._ranges.inside()
        yield
        self._ranges = outside

    def _inside_of(self, loop: For) -> Stmt:
        with self._scope():
            self._ranges.enter(loop)
            outside, self._in_lanes = self._in_lanes, self._in_lanes or loop.kind is LoopKind.VECTORIZED
            inside = self.inside(loop)
            self._in_lanes = outside
            return inside

    def _further(self, parts: Block, loop: For, steadily: Callable[[For], Stmt] | None = None) -> Block:
        """The parts of a loop with what is inside of them divided; all but the steady one are its ends. ``steadily``:
        what becomes of the steady one."""
        inside = steadily or self._inside_of
        joined = self._joined_ends(parts, loop)
        if joined is not None:
            return joined.around(inside(joined.steady), self._inside_at_end(joined.ends))
        stmts: list[Stmt] = []
        for s in parts.stmts:
            at_end = isinstance(s, For) and s.body is loop.body
            stmts.append(self.stmt(s) if not isinstance(s, For) else self._inside_at_end(s) if at_end else inside(s))
        return Block(tuple(stmts))

    def _inside_at_end(self, part: For) -> Stmt:
        outside, self._at_ends = self._at_ends, True
        inside = self._inside_of(part)
        self._at_ends = outside
        return inside

    def _around_short_loops(self, loop: For) -> Stmt | None:
        """The parts of a loop around others of constant lengths, where it decides what none of them can, or only taps
        could, which would ask at every point: a tile of a few vectors, or a filter's row; or where constants say in
        which iterations a guard holds. None where that is not so."""
        fixed = isinstance(loop.bounds.min, IntImm) and isinstance(loop.bounds.len, IntImm)
        if loop.kind is not LoopKind.SERIAL or (is_short(loop) and not fixed) or not is_around_constants(loop):
            return None
        apart, steady = self._steady_of(loop)
        if not steady.decided or len(steady.gaps) > _MOST:
            return None
        if fixed and self._cuts < _CUTS and _is_cut_by_constants(steady) and _has_guard(apart, steady):
            self._cuts += 1
            parts = _decided_ends(self._further(self._parts(apart, steady), apart))
            self._cuts -= 1
            return parts
        if is_short(loop):
            return None
        left = varying_innermost(steady.decided, apart) - self._decided_by_rows(apart, steady)
        return self._further(self._parts(apart, steady), apart) if left else None

    def _of_whole_tiles(self, loop: For) -> Stmt | None:
        """The parts of a loop over tiles, if loops inside have constant lengths in all tiles but those at the end: what
        is computed for a tile is then as large as the tile. None where that is not so."""
        varying = count_of_varying_lengths(loop)
        if loop.kind is not LoopKind.SERIAL or is_short(loop) or self._at_ends or not varying:
            return None
        apart, steady = self._steady_of(loop, lengths_alone=True)
        if not steady.decided or len(steady.gaps) > _MOST:
            return None
        parts = self._parts(apart, steady)
        constant = any(isinstance(s, For) and count_of_varying_lengths(s) < varying for s in parts.stmts)
        return self._further(parts, apart, self.rewrite_For) if constant else None

    def _decided_by_rows(self, loop: For, steady: SteadyPart) -> set[ExprNode]:
        """The conditions that loops inside decide, taps aside, without lanes around them."""
        found: set[ExprNode] = set()
        for row in walk(loop.body):
            if isinstance(row, For) and is_innermost(row) and not is_taps(row) and not is_in_lanes(row, loop):
                own = SteadyPart(row, steady.ranges.inside())
                own.look(row.body)
                found |= own.decided.keys()
        return found

    def _inside_and_not(self, loop: For) -> Stmt | None:
        """The loop twice, where its lanes have clamps that it doesn't move, and no loop inside decides: tiles ask once
        if they are inside, and those that are load densely. None where that is not so.

            for y in (a, n): for vectorized x in (b, 8): f[x, y] = g[clamp(x, 0, w)]
            ->  if 0 <= b && b + 7 <= w: for y …: f[x, y] = g[x]    else: for y …: f[x, y] = g[clamp(x, 0, w)]
        """
        runs_here = loop.kind in (LoopKind.SERIAL, LoopKind.VECTORIZED)
        if not (runs_here and has_lanes(loop) and is_around_constants(loop)):
            return None
        known = self._ranges.inside()
        over = loop.kind is LoopKind.VECTORIZED or is_short(loop)
        if not over:
            known.enter(loop)
        apart = _with_body(loop, bind_apart(loop.body, self._names))
        whole = SteadyPart(apart, known, whole=True)
        whole.look(apart if over else apart.body)
        if not whole.decided or len(whole.gaps) > _MOST:
            return None
        asked = varying_in_lanes(whole.decided, apart)
        if not asked or not asked - self._decided_by_rows(apart, whole):
            return None
        inside = simplify(reduce(ir.conjunction, [ir.less_equal(ir.ZERO, to_expr(gap)) for gap in whole.gaps.values()]))
        fast = simplify_tree(_Decide(whole.decided).stmt(apart))
        return If(inside, self._divided(fast) if isinstance(fast, For) else fast, self._at_an_end(loop))

    def _at_an_end(self, loop: For) -> Stmt:
        """The parts of a loop that is entered at the ends of what is around it."""
        outside, self._at_ends = self._at_ends, True
        parts = self._divided(loop)
        self._at_ends = outside
        return parts

    def rewrite_For(self, loop: For) -> Stmt:
        """The parts of an innermost loop, or of one that is always divided."""
        said = self._policies.get(loop.loop)
        undecided = said is None and not self._in_lanes and not self._at_ends
        return (self._inside_and_not(loop) if undecided else None) or self._divided(loop)

    def _divided(self, loop: For) -> Stmt:
        said = self._policies.get(loop.loop)
        policy = Partition.Auto if said is None else said.policy
        if said is not None and policy is Partition.Always and loop.kind in (LoopKind.SERIAL, LoopKind.PARALLEL):
            apart, steady = self._steady_of(loop)
            if steady.decided:
                self.divided.add(said)
                return self._further(self._parts(apart, steady), apart)
        if self._in_lanes or policy is Partition.Never or not is_innermost(loop):
            if self._in_lanes or policy is Partition.Never:
                return self._inside_of(loop)
            return self._around_short_loops(loop) or self._of_whole_tiles(loop) or self._inside_of(loop)
        if (is_short(loop) or (self._at_ends and is_taps(loop))) and not has_lanes(loop):
            return loop
        apart, steady = self._steady_of(loop)
        if is_short(loop):
            return _decided_ends(self._parts(apart, steady)) if _is_cut_by_constants(steady) else loop
        if not steady.decided or len(steady.gaps) > _MOST:
            return loop
        at_once = self._at_fixed_places(apart, steady) or self._shifted(apart, steady)
        if at_once is not None:
            return at_once
        parts = self._parts(apart, steady)
        joined = self._joined_ends(parts, apart)
        return _decided_ends(parts) if joined is None else joined.around(joined.steady, joined.ends)

    def _steady_of(self, loop: For, *, lengths_alone: bool = False) -> tuple[For, SteadyPart]:
        known = self._ranges.inside()
        known.enter(loop)
        # Unrolled copies bind the same variables; an expression must mean one thing to have one threshold.
        apart = _with_body(loop, bind_apart(loop.body, self._names))
        steady = SteadyPart(apart, known)
        steady.look(_Frame().stmt(apart.body) if lengths_alone else apart.body)
        return apart, steady

    def _at_fixed_places(self, loop: For, steady: SteadyPart) -> Stmt | None:
        """The loop cut where constants say that some clamps end, if others end where only the run knows: a last vector
        that is shifted inwards should not make its lanes ask, one by one, whether they are inside an input."""
        start, length = loop.bounds.min, loop.bounds.len
        fixed = [gap for gap in steady.gaps.values() if len(gap.terms) == 1]
        if not isinstance(start, IntImm) or not isinstance(length, IntImm) or len(fixed) in (0, len(steady.gaps)):
            return None
        low, end = start.value, start.value + length.value
        high = end
        for gap in fixed:
            c = gap.terms[loop.var]
            low, high = (max(low, -(gap.const // c)), high) if c > 0 else (low, min(high, gap.const // -c + 1))
        cuts = sorted({start.value, min(max(low, start.value), end), max(min(high, end), start.value), end})
        if len(cuts) == 2:
            return None
        pieces = [simplify_tree(_part(loop, ir.i64(a), ir.i64(b), loop.body)) for a, b in pairwise(cuts)]
        return Block(tuple([self._piece(loop, piece) for piece in pieces]))

    def _piece(self, loop: For, piece: Stmt) -> Stmt:
        """A long part has a steady part of its own; a short one has no clamps if none of its points needs them."""
        if isinstance(piece, For) and piece.var is loop.var and not is_short(piece):
            return self.rewrite_For(piece)
        known = self._ranges.inside()
        known.enter(loop)
        whole = SteadyPart(loop, known, whole=True)
        whole.look(piece)
        if not whole.decided or len(whole.gaps) > _MOST:
            return piece
        inside = [ir.less_equal(ir.ZERO, to_expr(gap)) for gap in whole.gaps.values()]
        return If(simplify(reduce(ir.conjunction, inside)), simplify_tree(_Decide(whole.decided).stmt(piece)), piece)

    def _parts(self, loop: For, steady: SteadyPart) -> Block:
        start, end = loop.bounds.min, simplify(ir.add(loop.bounds.min, loop.bounds.len))
        stmts: list[Stmt] = []
        body = simplify_tree(_Decide(steady.decided).stmt(loop.body))
        first = last = None
        over = ends_of_guard(loop)
        lowest, highest = steady.thresholds(without=over)
        for form in over:
            end = ir.minimum(end, ir.add(simplify(threshold(form, loop.var)), ir.ONE))
        if over:
            end = self._let(f"{loop.var.name}.{'end' if highest else 'tail'}", ir.maximum(end, start), stmts)
        if lowest:
            least = start
            for e in lowest:
                least = ir.maximum(least, e)
            first = self._let(f"{loop.var.name}.steady", ir.minimum(least, end), stmts)
            stmts.append(_part(loop, start, first, loop.body))
        if highest:
            most = end
            for e in highest:
                most = ir.minimum(most, ir.add(e, ir.ONE))
            last = self._let(f"{loop.var.name}.tail", ir.maximum(most, start if first is None else first), stmts)
        stmts.append(_part(loop, start if first is None else first, end if last is None else last, body))
        if last is not None:
            stmts.append(_part(loop, last, end, loop.body))
        return Block(tuple(stmts))

    def _shifted(self, loop: For, steady: SteadyPart) -> Stmt | None:
        """The steady part and what is behind it as one loop with one body, for a last vector that is shifted inwards.
        None where other things are decided, or where two short bodies are as good.

        Each iteration behind the steady part is a part by itself, and a clamp differs there by a number that is known
        where the part begins: to a C compiler addresses go on as in the steady part.

            for p in (0, 1 + end - tail): first = p <= 0 ? start : tail + p - 1; shift = p <= 0 ? 0 : clamp - kept
                for x in (first, p <= 0 ? tail - start : 1): body, with kept + shift for a clamp
        """
        lowest, highest = steady.thresholds()
        if lowest or not steady.shifts() or len(set(subexpressions(_exprs_of(loop.body)))) < _LONG:
            return None
        start, end = loop.bounds.min, simplify(ir.add(loop.bounds.min, loop.bounds.len))
        stmts: list[Stmt] = []
        inside: list[Stmt] = []
        most = reduce(ir.minimum, [ir.add(e, ir.ONE) for e in highest], end)
        tail = self._let(f"{loop.var.name}.tail", ir.maximum(most, start), stmts)
        part = ir.index_variable(self._names.fresh(f"{loop.var.name}.part"))
        is_steady = ir.less_equal(part, ir.ZERO)
        behind = ir.sub(ir.add(tail, part), ir.ONE)
        first = self._let(f"{loop.var.name}.first", Select(INT64, is_steady, start, behind), inside)
        chosen: dict[ExprNode, ExprNode] = {}
        for clamp, kept in steady.decided.items():
            moved = substitute(ir.sub(clamp, _Decide(chosen).expr(kept)), {loop.var: first})
            shift = self._let(f"{loop.var.name}.shift", Select(INT64, is_steady, ir.ZERO, moved), inside)
            chosen[clamp] = ir.add(kept, shift)
        over = Interval(first, simplify(Select(INT64, is_steady, ir.sub(tail, start), ir.ONE)))
        body = simplify_tree(_Decide(chosen).stmt(loop.body))
        inside.append(For(loop.loop, loop.var, over, loop.kind, loop.pure, body))
        parts = Interval(ir.ZERO, simplify(ir.add(ir.sub(end, tail), ir.ONE)))
        stmts.append(For(loop.loop, part, parts, loop.kind, loop.pure, Block(tuple(inside))))
        return Block(tuple(stmts))

    def _joined_ends(self, parts: Block, loop: For) -> _Ends | None:
        """The head and the tail with one body, where that is long. None where there are not both, or one is short.

        for x in (a, s): body;  for x in (s, t): steady;  for x in (t, e): body
        ->  for p in (0, 3): if p == 1: for x in (s, t): steady
                             else: for x in (p < 1 ? a : t, p < 1 ? s - a : e - t): body
        """
        lets = tuple([s for s in parts.stmts if isinstance(s, Let)])
        loops = [s for s in parts.stmts if isinstance(s, For)]
        if len(loops) < 3 or loop.kind is not LoopKind.SERIAL or any(map(is_short, loops)):
            return None
        head, middle, tail = loops
        if len(set(subexpressions(_exprs_of(loop.body)))) < _LONG:
            return None
        part = ir.index_variable(self._names.fresh(f"{loop.var.name}.part"))
        pairs = ((head.bounds.min, tail.bounds.min), (head.bounds.len, tail.bounds.len))
        over = Interval(*(Select(INT64, ir.less(part, ir.ONE), first, last) for first, last in pairs))
        turns = For(loop.loop, part, Interval(ir.ZERO, ir.i64(3)), loop.kind, loop.pure, ir.NOTHING)
        ends = For(loop.loop, loop.var, over, loop.kind, loop.pure, loop.body)
        return _Ends(lets, turns, ir.equal(part, ir.ONE), middle, ends)

    def _let(self, name: str, value: ExprNode, stmts: list[Stmt]) -> ExprNode:
        var, value = ir.index_variable(self._names.fresh(name)), simplify(value)
        if isinstance(value, IntImm):
            return value
        stmts.append(Let(var, value, None))
        return var


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """A loop whose head and tail have one body: its turns, of which the second is the steady part."""

    lets: tuple[Let, ...]
    turns: For
    is_steady: ExprNode
    steady: For
    ends: For

    def around(self, steady: Stmt, ends: Stmt) -> Block:
        """The loop, of what the two were made to be."""
        return Block((*self.lets, _with_body(self.turns, If(self.is_steady, steady, ends))))


def _is_cut_by_constants(steady: SteadyPart) -> bool:
    """True where each threshold is of the loop's variable and a constant."""
    return bool(steady.gaps) and all(len(gap.terms) == 1 for gap in steady.gaps.values())


def _has_guard(loop: For, steady: SteadyPart) -> bool:
    """True where a guard is among what the loop decides."""
    return any(isinstance(s, If) and s.condition in steady.decided for s in walk(loop.body))


def _decided_ends(parts: Block) -> Block:
    """Parts of constant lengths, where constants decide what a guard leaves of the last vector of a tile."""
    fixed = [isinstance(s, For) and isinstance(s.bounds.min, IntImm) and is_short(s) for s in parts.stmts]
    return Block(tuple([simplify_tree(s) if known else s for s, known in zip(parts.stmts, fixed, strict=True)]))


def _with_body(loop: For, body: Stmt) -> For:
    return loop if body is loop.body else For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)


def _exprs_of(stmt: Stmt) -> list[ExprNode]:
    return [e for s in walk(stmt) for e in stmt_exprs(s)]


def _part(loop: For, start: ExprNode, end: ExprNode, body: Stmt) -> For:
    bounds = Interval(start, simplify(ir.sub(end, start)))
    return For(loop.loop, loop.var, bounds, loop.kind, loop.pure, body)


class _Frame(Rewriter):
    """Leaves the loops of a statement, and what their lengths are made of."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_Provide(self, s: Provide) -> Stmt:
        """Nothing: it decides no length."""
        return ir.NOTHING


class _Decide(Rewriter):
    """Puts what is decided in place of clamps and conditions, wherever they stand."""

    def __init__(self, decided: dict[ExprNode, ExprNode]) -> None:
        super().__init__()
        self._decided = decided

    def expr(self, expr: ExprNode) -> ExprNode:
        """The expression in the steady part."""
        known = self._memo.get(expr)
        if known is None:
            chosen = self._decided.get(expr)
            known = self._memo[expr] = self.parts_of(expr) if chosen is None else self.expr(chosen)
        return known
