"""Rings: the memory of several iterations, for a producer that is ahead of what reads it.

In: a tree of points, and of Funcs whose memory is hoisted how many copies of it are asked for. Out: memory with one
more dimension around the loops that it is hoisted out of; each iteration takes the next copy. Of what was made so, how
many iterations a thread that computes it may be ahead.

    for y: { allocate g((y, 3));  label g: … g[y];  s }
    ->  allocate g((0, 3), (0, n));  for y: { let turn = (y - a)%n;  label g: … g[y - y, turn];  s }

Iterations that follow one another, up to n of them, have copies of their own: iterations are counted in the order in
which they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.simplify import simplify
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import mentions
from halide_core.bounds.query.answers import Lead
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import Access, Allocate, Block, ExprNode, For, Interval, Label, Let, LoopName, Stmt, Variable
from halide_core.ir.memory import Layout
from halide_core.ir.visitor import Closing, Rewriter, sub_stmts
from halide_core.loop_nest import Program, path_to
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.memory.hoist_storage import largest_over
from halide_core.schedule.storage_directives import RingBuffer


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """The number of copies, and the loops around them: none of those that take turns."""

    copies: int
    around: tuple[LoopName, ...]
    directive: RingBuffer


def rings_of(program: Program, ahead: Iterable[Function]) -> dict[Function, Ring]:
    """The rings of asynchronous Funcs that live where they are computed, and whose memory is hoisted; producers first,
    so that their memory is around that of what reads them."""
    found: dict[Function, Ring] = {}
    for f in [f for f in program.algorithm.functions if f in set(ahead)]:
        asked = [d for d in f.directives if isinstance(d, RingBuffer)]
        if asked and f in program.hoisted:
            if program.stored[f] != program.computed[f]:
                _tell(f, asked[-1], "its memory lives outside of loops around its computation")
            elif not isinstance(asked[-1].extent, ir.IntImm):
                _tell(f, asked[-1], "the number of copies is no constant")
            elif (memoized := _memoized_around(program, f)) is not None:
                told = f'"{memoized.own.name}", in whose loops it is computed, is memoized, and may be left out'
                _tell(f, asked[-1], told)
            else:
                found[f] = Ring(asked[-1].extent.value, program.hoisted[f].around, asked[-1])
    return found


def _memoized_around(program: Program, f: Function) -> Function | None:
    """A memoized Func in whose loops a Func is computed, and outside of which its memory is: of two threads the one
    would leave iterations out, and the other one wait for them."""
    outside = program.hoisted[f].around
    between = [loop for loop in path_to(program, program.computed[f]) if loop.name not in outside]
    funcs = (program.named[loop.name.func] for loop in between)
    return next((each for each in funcs if each in program.remembered), None)


def make_rings(stmt: Stmt, rings: Mapping[Function, Ring]) -> tuple[Stmt, dict[Function, Function]]:
    """The tree with its rings, and what became of each Func. Where there is none, a warning says why."""
    names = names_in(stmt)
    made: dict[Function, Function] = {}
    for f, ring in rings.items():
        found = _tried(stmt, f, ring, names)
        if found is not None:
            stmt, made[f] = found
    return stmt, made


def ring_leads(rings: Mapping[Function, Ring], made: Mapping[Function, Function]) -> dict[Function, Lead]:
    """The leads of the producers of rings: the iteration that is read has a copy too."""
    return {made[f]: Lead(ring.copies - 1) for f, ring in rings.items() if f in made}


class _NoRingError(Exception):
    """Why there is no ring."""


def _tell(f: Function, d: RingBuffer, reason: str) -> None:
    told = f'"{f.own.name}" has memory for one iteration: {reason}.'
    warn_user(f"{d.own.spelled()}: {told}", IgnoredDirectiveWarning, d.location)


def _tried(stmt: Stmt, f: Function, ring: Ring, names: UniqueNames) -> tuple[Stmt, Function] | None:
    try:
        return _with_ring(stmt, f, ring, names)
    except _NoRingError as reason:
        _tell(f, ring.directive, str(reason))
        return None


def _with_ring(stmt: Stmt, f: Function, ring: Ring, names: UniqueNames) -> tuple[Stmt, Function]:
    paths = list(_paths(stmt, f, ()))
    if len(paths) != 1:
        raise _NoRingError("it lives at several places")
    (path,) = paths
    inside = [s for s in path if isinstance(s, For) and s.loop not in ring.around]
    if not inside:
        raise _NoRingError("it is hoisted out of no loop")
    scope = path[path.index(inside[0]) :]
    allocate = scope[-1]
    assert isinstance(allocate, Allocate)
    memory = _memory(f)
    turn = Variable(ir.i64(0).type, names.fresh(f"{f.name}.turn"))
    number = _number([s for s in scope if isinstance(s, For)], scope)
    starts = tuple([i.min for i in allocate.bounds])
    taken = Let(turn, simplify(ir.mod(number, ir.i64(ring.copies))), None)
    box = (*_largest(allocate, scope), Interval(ir.ZERO, ir.i64(ring.copies)))
    around = Allocate(memory, box, layout=_layout(allocate.layout))
    changed = _Ringed(f, memory, starts, turn, allocate, taken).stmt(inside[0])
    return _Replaced(inside[0], Block((around, changed))).stmt(stmt), memory


def _paths(s: Stmt, f: Function, path: tuple[Stmt, ...]) -> Iterable[tuple[Stmt, ...]]:
    """The lets and loops around each allocation of a Func, outermost first, and the allocation."""
    if isinstance(s, Allocate) and s.func is f:
        yield (*path, s)
    if isinstance(s, Block):
        for each in s.stmts:
            yield from _paths(each, f, path)
            path = (*path, each) if isinstance(each, Let) else path
        return
    for each in sub_stmts(s):
        yield from _paths(each, f, (*path, s) if isinstance(s, For) else path)


def _memory(f: Function) -> Function:
    """A Func that stands for a ring's memory: one more coordinate selects the copy."""
    return Function(f.name, (*f.args, "copy"), f.types, location=f.location, original=f.own)


def _layout(layout: Layout | None) -> Layout | None:
    if layout is None:
        return None
    order = (*layout.order, len(layout.order))
    return replace(layout, order=order, alignments=(*layout.alignments, 1), extents=(*layout.extents, None))


def _number(loops: Sequence[For], scope: Sequence[Stmt]) -> ExprNode:
    """The number of an iteration of nested loops, in the order in which they run."""
    lets = Closing({s.var: s.value for s in scope if isinstance(s, Let)})
    variables = {s.var for s in scope if isinstance(s, For)}
    number: ExprNode = ir.ZERO
    for loop in loops:
        if loop is not loops[0] and not variables.isdisjoint(mentions(lets.expr(loop.bounds.len))):
            raise _NoRingError(f'loop "{loop.var.name}" is not of one length')
        number = ir.add(ir.mul(number, loop.bounds.len), ir.sub(loop.var, loop.bounds.min))
    return number


def _largest(allocate: Allocate, scope: Sequence[Stmt]) -> list[Interval]:
    """The lengths that all iterations have room in."""
    values, box = ValueRanges(), []
    for i in allocate.bounds:
        length: ExprNode | None = i.len
        for s in reversed(scope[:-1]):
            assert isinstance(s, Let | For)
            length = None if length is None else largest_over(length, s, values)
        if length is None:
            raise _NoRingError("nothing bounds its size over the loops that it is hoisted out of")
        box.append(Interval(ir.ZERO, simplify(length)))
    return box


class _Ringed(Rewriter):
    """A loop whose iterations take turns with the copies of a Func's memory."""

    def __init__(
        self,
        f: Function,
        memory: Function,
        starts: tuple[ExprNode, ...],
        turn: Variable,
        allocate: Allocate,
        taken: Let,
    ) -> None:
        super().__init__()
        self._f = f
        self._ring = memory
        self._starts = starts
        self._turn = turn
        self._allocate = allocate
        self._taken = taken

    def _point(self, args: Sequence[ExprNode]) -> tuple[ExprNode, ...]:
        shifted = [simplify(ir.sub(a, low)) for a, low in zip(args, self._starts, strict=True)]
        return (*shifted, self._turn)

    def rewrite_Allocate(self, s: Allocate) -> Stmt:
        """The choice of the copy, in its place."""
        return self._taken if s is self._allocate else self.inside(s)

    def rewrite_Access(self, e: Access) -> ExprNode:
        """The point in the copy."""
        if e.callee is not self._f:
            return self.parts_of(e)
        return Access(e.type, self._ring, self._point([self.expr(a) for a in e.args]), e.component, e.stage)

    def rewrite_Provide(self, s: ir.Provide) -> Stmt:
        """The assignment to the copy."""
        inside = self.inside(s)
        assert isinstance(inside, ir.Provide)
        return replace(inside, func=self._ring, args=self._point(inside.args)) if s.func is self._f else inside

    def rewrite_Label(self, s: Label) -> Stmt:
        """The computation of the copy."""
        body = self.stmt(s.body)
        return Label(self._ring if s.func is self._f else s.func, s.stage, body)

    def rewrite_PrefetchRegion(self, s: ir.PrefetchRegion) -> Stmt:
        """The prefetch, of the copy."""
        if s.func is not self._f or s.box is None:
            return self.inside(s)
        box = [Interval(start, i.len) for start, i in zip(self._point([i.min for i in s.box]), s.box, strict=False)]
        return replace(s, func=self._ring, box=(*box, Interval(self._turn, ir.ONE)))

    def rewrite_WriteFile(self, s: ir.WriteFile) -> Stmt:
        """Files show memory whole."""
        if s.func is self._f:
            raise _NoRingError("a file shows it")
        return self.inside(s)


class _Replaced(Rewriter):
    """A tree with another statement in place of one."""

    def __init__(self, old: Stmt, new: Stmt) -> None:
        super().__init__()
        self._old, self._new = old, new

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def stmt(self, stmt: Stmt) -> Stmt:
        """The statement, or the other one."""
        return self._new if stmt is self._old else super().stmt(stmt)
