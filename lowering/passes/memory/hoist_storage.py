"""Hoisted allocations: memory that a loop's iterations take in turn is allocated once, outside of that loop.

In: a flat tree, and for each buffer the loop inside which its memory is to be allocated (None: no loop). Out: the tree
with those allocations moved there; each is as large as the largest that it replaces.

    for y: { allocate g[y + 1]; … }   ->   allocate g[n]; for y in (0, n): …

Nothing that is read changes: what an iteration reads of the memory it wrote before. That loops in between are neither
parallel nor vectors is ``scheduling``'s check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import Elimination, mentions
from halide_core.errors import ScheduleError
from halide_core.ir import AllocateFlat, Binary, BinaryOp, Block, ExprNode, For, Let, Stmt
from halide_core.ir.types import INT32, INT64, Float
from halide_core.ir.visitor import Rewriter, sub_stmts, substitute, walk
from halide_core.loop_nest import Hoisting
from halide_core.lowering.passes.flatten import fits_stack


def hoist_allocations(stmt: Stmt, hoisted: Mapping[str, Hoisting]) -> Stmt:
    """Moves the allocations of some buffers out.

    Raises: ScheduleError, at the user's line, where nothing bounds a size over the loops in between.
    """
    if not hoisted:
        return stmt
    hoist = _StorageHoist(hoisted, stmt)
    return hoist.with_own(hoist.stmt(stmt), stmt, 0)


@dataclass(slots=True)
class _Moved:
    """An allocation on its way out: its size holds in the scope of the first ``depth`` names."""

    stmt: AllocateFlat
    hoisting: Hoisting
    depth: int
    size: ExprNode
    """The size of an iteration."""


class _StorageHoist(Rewriter):
    def __init__(self, hoisted: Mapping[str, Hoisting], whole: Stmt) -> None:
        super().__init__()
        self._whole = whole
        self._hoisted = hoisted
        self._scope: list[Let | For] = []
        """The names that a size may mention, outermost first."""
        self._loops: list[For] = []
        self._moving: list[_Moved] = []
        self._places = _places(hoisted, whole)
        self._values = ValueRanges()

    def rewrite_Block(self, s: Block) -> Stmt:
        """Without the allocations that move out; with those whose place is inside this loop."""
        start, since = len(self._scope), len(self._moving)
        result: list[Stmt] = []
        for stmt in s.stmts:
            if isinstance(stmt, AllocateFlat) and stmt.buffer in self._hoisted:
                self._moving.append(_Moved(stmt, self._hoisted[stmt.buffer], len(self._scope), stmt.size))
                continue
            result.append(self.stmt(stmt))
            if isinstance(stmt, Let):
                self._scope.append(stmt)
        self._leave(start)
        return self.with_own(Block(tuple(result)), s, since)

    def rewrite_For(self, s: For) -> Stmt:
        """The loop, with the allocations whose place is inside it."""
        self._loops.append(s)
        self._scope.append(s)
        start, since = len(self._scope), len(self._moving)
        body = self.stmt(s.body)
        self._leave(start)
        body = self.with_own(body, s.body, since)
        self._loops.pop()
        self._leave(start - 1)
        return replace(s, body=body)

    def with_own(self, body: Stmt, was: Stmt, since: int) -> Stmt:
        """A body with those of the allocations out of it whose place is just inside the loop around it, each once;
        ``since`` is how many were on their way out before it."""
        around = self._loops[-1].body if self._loops else self._whole
        own: dict[str, AllocateFlat] = {}
        for moved in [m for m in self._moving[since:] if self._is_place(m.stmt.buffer)]:
            buffer = moved.stmt.buffer
            if was is not around and _allocations(buffer, was) < _allocations(buffer, around):
                continue
            self._moving.remove(moved)
            known, new = own.get(buffer), _limited(moved)
            own[buffer] = new if known is None else _larger(known, new)
        if not own:
            return body
        return Block((*own.values(), *(body.stmts if isinstance(body, Block) else (body,))))

    def _is_place(self, buffer: str) -> bool:
        """True where the memory of a buffer is allocated just inside the loop here: no place of it is further out, as
        that of a first iteration is that is peeled off this loop; memory is allocated around both then."""
        places = self._places[buffer]
        here = [loop for loop in (None, *self._loops) if loop in places]
        return bool(here) and here[0] is (self._loops[-1] if self._loops else None)

    def _leave(self, start: int) -> None:
        """Leaves the scope of the names from ``start`` on: sizes are bounded over them, the innermost first."""
        for at in reversed(range(start, len(self._scope))):
            for moved in self._moving:
                if moved.depth > at:
                    size = largest_over(moved.stmt.size, self._scope[at], self._values)
                    size = size or _small_limit(moved.stmt)
                    if size is None:
                        raise _unbounded(moved)
                    moved.stmt, moved.depth = replace(moved.stmt, size=size), at
        del self._scope[start:]


def largest_over(size: ExprNode, scope: Let | For, values: ValueRanges) -> ExprNode | None:
    """The greatest that a size can be while a name has the values that it has there; None where nothing bounds it."""
    if scope.var not in mentions(size):
        return size
    if isinstance(size, Binary) and size.op is BinaryOp.MUL:  # it stays a product, whose overflow C code tells
        a, b = largest_over(size.a, scope, values), largest_over(size.b, scope, values)
        return None if a is None or b is None else simplify(ir.mul(a, b))
    if isinstance(scope, Let):
        return simplify(substitute(size, _named(scope)))
    first, last = scope.bounds.min, ir.sub(ir.add(scope.bounds.min, scope.bounds.len), ir.ONE)
    found = Elimination({scope.var: (first, simplify(last))}, Facts(), values).bound(size, up=True)
    return None if found is None else simplify(ir.maximum(found, ir.ZERO))


def _named(scope: Let) -> dict[ExprNode, ExprNode]:
    """Values for a name and for conversions of it. A coordinate is an int32, which is not to be seen of its value:
    floats are made of that as it is, of which the ends are known over the loops further out."""
    coordinate = ir.Cast(INT32, scope.var)
    named: dict[ExprNode, ExprNode] = {scope.var: scope.value, ir.Cast(INT64, coordinate): scope.value}
    return named | {ir.Cast(t, coordinate): ir.Cast(t, scope.value) for t in (Float(32), Float(64))}


def _places(hoisted: Mapping[str, Hoisting], whole: Stmt) -> dict[str, set[For | None]]:
    """For each buffer the loops that its allocations are asked for in: around each the innermost one that its level is
    or is inside of; None for the whole program."""
    found: dict[str, set[For | None]] = {buffer: set() for buffer in hoisted}

    def visit(stmt: Stmt, loops: tuple[For, ...]) -> None:
        if isinstance(stmt, AllocateFlat) and stmt.buffer in found:
            around = hoisted[stmt.buffer].around
            found[stmt.buffer].add(next((loop for loop in reversed(loops) if loop.loop in around), None))
        inside = (*loops, stmt) if isinstance(stmt, For) else loops
        for each in sub_stmts(stmt):
            visit(each, inside)

    visit(whole, ())
    return found


def _allocations(buffer: str, stmt: Stmt) -> int:
    return sum(isinstance(s, AllocateFlat) and s.buffer == buffer for s in walk(stmt))


def _limited(moved: _Moved) -> AllocateFlat:
    """An allocation no larger than what each iteration was known to need: ends of terms that vary together were
    found apart, and may come to more. A small one is as large as that; of others it is forgotten."""
    stmt = moved.stmt
    if stmt.limit is None or stmt.size is moved.size or Facts().constant_range(stmt.size)[1] <= stmt.limit:
        return stmt
    most = _small_limit(stmt)
    return replace(stmt, limit=None) if most is None else replace(stmt, size=most)


def _small_limit(stmt: AllocateFlat) -> ExprNode | None:
    """The most that an allocation needs, where the stack has room for it."""
    return ir.i64(stmt.limit) if stmt.limit is not None and fits_stack(stmt.limit, stmt.type) else None


def _larger(a: AllocateFlat, b: AllocateFlat) -> AllocateFlat:
    limit = None if a.limit is None or b.limit is None else max(a.limit, b.limit)
    return replace(a, size=simplify(ir.maximum(a.size, b.size)), limit=limit)


def _unbounded(moved: _Moved) -> ScheduleError:
    d = moved.hoisting.directive
    own = d.own
    return ScheduleError(
        f'{d.spelled()}: nothing bounds the size of "{own.func.name}" over the loops that would share its memory. The '
        f"legal choices: a loop further in, bound_storage(), which sets the size, or no hoisting.",
        d.location,
    )
