"""Storage flattening: points of Funcs become positions in flat memory.

In: a tree with Access, Provide and Allocate. Out: one with Load, Store and AllocateFlat; labels are gone.

    allocate g((a, 8), (b, n)); g[x, y]    ->    allocate g: uint8[n*8]; g[(x - a) + (y - b)*8]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.model import Constraint, Image
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.errors import InternalError, ScheduleError
from halide_core.ir import (
    Access,
    Allocate,
    AllocateFlat,
    Block,
    BufferField,
    Callee,
    ExprNode,
    Field,
    For,
    IntImm,
    Label,
    Let,
    Load,
    PrefetchRegion,
    Provide,
    Stmt,
    Store,
    WriteFile,
)
from halide_core.ir.memory import Layout, MemoryType, plain_layout
from halide_core.ir.printer import dim_name
from halide_core.ir.types import INT64, Type
from halide_core.ir.visitor import Rewriter, walk
from halide_core.lowering.passes.allocation_bounds import constant_limit
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.lets import Lets
from halide_core.lowering.passes.prefetch_lines import lines_of

STACK_LIMIT = 1 << 18
"""Bytes that one Func may ask of a stack."""


def fits_stack(limit: int | None, type: Type) -> bool:
    """True of so many elements at most, of a type, that the stack has room for them."""
    return limit is not None and limit * type.bytes() <= STACK_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Where a callee's points are: the least coordinate, the stride and the fold of each dimension."""

    mins: tuple[ExprNode, ...]
    strides: tuple[ExprNode, ...]
    folds: tuple[ExprNode | None, ...]

    def index(self, args: tuple[ExprNode, ...], lets: Lets) -> ExprNode:
        """The position of a point."""
        total: ExprNode = ir.ZERO
        for arg, low, stride, slots in zip(args, self.mins, self.strides, self.folds, strict=True):
            place = lets.distance(arg, low) if slots is None else ir.mod(arg, slots)
            total = ir.add(total, ir.mul(place, stride))
        return simplify(total)


def flatten_storage(stmt: Stmt, outputs: tuple[Callee, ...], constraints: tuple[Constraint, ...] = ()) -> Stmt:
    """Flattens everything; inputs and outputs have the layout that their buffers say."""
    strides = {(c.buffer, c.dim): c.value for c in constraints if c.field is Field.STRIDE}
    shown = frozenset(s.func for s in walk(stmt) if isinstance(s, WriteFile))
    return _Flatten(outputs, names_in(stmt), strides, shown).stmt(stmt)


class _Flatten(Rewriter):
    def __init__(
        self,
        outputs: tuple[Callee, ...],
        names: UniqueNames,
        strides: Mapping[tuple[Callee, int], ExprNode],
        shown: frozenset[Callee],
    ) -> None:
        super().__init__()
        self._names = names
        self._strides = strides
        self._shown = shown
        self._layouts: dict[Callee, _Layout] = {f: self._of_argument(f) for f in outputs}
        self._lets = Lets()
        self._sizes: dict[Callee, ExprNode] = {}

    def _layout(self, callee: Callee) -> _Layout:
        known = self._layouts.get(callee)
        if known is None:
            if not isinstance(callee, Image):
                raise InternalError(f'"{callee.name}" is used where it has no memory.')
            known = self._layouts[callee] = self._of_argument(callee)
        return known

    def rewrite_Access(self, e: Access) -> ExprNode:
        """A load."""
        args = tuple([self.expr(a) for a in e.args])
        return Load(e.type, e.callee.component_name(e.component), self._layout(e.callee).index(args, self._lets))

    def rewrite_Provide(self, s: Provide) -> Stmt:
        """A store for each component, all at once."""
        at = self._layout(s.func).index(tuple([self.expr(a) for a in s.args]), self._lets)
        stores = [
            Store(s.func.component_name(k), at, self.expr(value), s.atomic) for k, value in enumerate(s.values)
        ]
        return stores[0] if len(stores) == 1 else ir.Stores(tuple(stores))

    def rewrite_WriteFile(self, s: WriteFile) -> Stmt:
        """The same, with the distances between points."""
        return replace(s, strides=self._layout(s.func).strides)

    def rewrite_Remember(self, s: ir.Remember) -> Stmt:
        """The same, with the size of its memory."""
        inner = self.inside(s)
        assert isinstance(inner, ir.Remember)
        return replace(inner, size=self._sizes[s.func])

    def rewrite_PrefetchRegion(self, s: PrefetchRegion) -> Stmt:
        """A prefetch for each line of the box, of each component."""
        assert s.box is not None, "a prefetch without a box"
        layout = self._layout(s.func)
        box = tuple([self.interval(i) for i in s.box])
        return ir.block([
            lines_of(s, k, box, layout.strides, lambda point: layout.index(point, self._lets), self._names)
            for k in range(len(s.func.types))
        ])

    def rewrite_Label(self, s: Label) -> Stmt:
        """The body alone."""
        return self.stmt(s.body)

    def rewrite_For(self, s: For) -> Stmt:
        """The loop; its variable has no value that a copy of it, of one iteration, may have had."""
        if self._lets.release(s.var):
            self._memo.clear()  # an access below means all of the variable's values
        return self.inside(s)

    def rewrite_Block(self, s: Block) -> Stmt:
        """Allocations become lets of strides and flat allocations; a memo of expressions ends with their scope."""
        result: list[Stmt] = []
        for stmt in s.stmts:
            if isinstance(stmt, Allocate):
                result.extend(self._allocate(stmt))
                self._memo.clear()  # an access below means the new memory
                continue
            if isinstance(stmt, Let) and self._lets.bind(stmt.var, stmt.value):
                self._memo.clear()  # an access below means the variable's new value
            result.append(self.stmt(stmt))
        return ir.block(result)

    def _allocate(self, s: Allocate) -> list[Stmt]:
        layout = s.layout or plain_layout(len(s.bounds))
        stmts: list[Stmt] = []
        strides: list[ExprNode] = [ir.ONE] * len(s.bounds)
        stride: ExprNode = ir.ONE
        limit: int | None = 1
        for place, d in enumerate(layout.order, 1):
            strides[d] = stride
            length, most = self._length(s, layout, d)
            limit = None if limit is None or most is None else limit * max(most, 0)
            stride = simplify(ir.mul(stride, length))
            if place < len(s.bounds) and not isinstance(stride, IntImm | ir.Variable):
                name = f"{s.func.name}.{dim_name(s.func, layout.order[place])}.stride"
                var = ir.index_variable(self._names.fresh(name))
                stmts.append(Let(var, stride, None))
                stride = var
        folds = tuple([s.fold(d) for d in range(len(strides))])
        self._sizes[s.func] = stride
        self._layouts[s.func] = _Layout(tuple([i.min for i in s.bounds]), tuple(strides), folds)
        for k, type in enumerate(s.func.types):
            memory, zeroed = _checked_memory(layout, s.func, stride, limit, type), s.func in self._shown
            stmts.append(AllocateFlat(s.func.component_name(k), type, stride, limit, memory, zeroed))
        return stmts

    def _length(self, s: Allocate, layout: Layout, d: int) -> tuple[ExprNode, int | None]:
        """The extent of a dimension in memory, and a constant upper bound of it."""
        length = s.fold(d) or layout.extents[d] or s.bounds[d].len
        most = constant_limit(simplify(self._lets.substituted(length)), Facts())
        unit = layout.alignments[d]
        if unit > 1:
            length = simplify(ir.mul(ir.div(ir.add(length, ir.i64(unit - 1)), ir.i64(unit)), ir.i64(unit)))
            most = None if most is None else -(-most // unit) * unit
        return length, most

    def _of_argument(self, callee: Callee) -> _Layout:
        """Strides that are promised to be constants are used as constants; start-up checks see to it."""
        mins = tuple(BufferField(INT64, callee, Field.MIN, d) for d in range(callee.dimensions))
        strides = tuple(self._stride(callee, d) for d in range(callee.dimensions))
        return _Layout(mins, strides, (None,) * len(mins))

    def _stride(self, callee: Callee, dim: int) -> ExprNode:
        promised = self._strides.get((callee, dim))
        if isinstance(promised, IntImm):
            return ir.i64(promised.value)
        # Dimension 0 is dense unless something else is promised.
        return ir.ONE if dim == 0 and promised is None else BufferField(INT64, callee, Field.STRIDE, dim)


def _checked_memory(layout: Layout, func: Callee, size: ExprNode, limit: int | None, type: Type) -> MemoryType:
    """Checks that memory which has to live on the stack has a size that fits. A size that only the run knows, and that
    no constant shows to fit, comes out of the memory that a pipeline keeps for its next run, which is as quick to have:
    a loose bound says nothing about the size that there will be, and an array of C needs a constant one."""
    if layout.memory not in (MemoryType.Stack, MemoryType.Register) or layout.asked is None:
        return layout.memory
    told, location = layout.asked
    name = func.own.name
    fits = fits_stack(limit, type)
    if not fits and layout.memory is MemoryType.Stack and not isinstance(size, IntImm):
        return MemoryType.Heap
    if limit is None:
        text = f'{told}: no constant bounds the size of "{name}", as registers need. bound_storage() sets it.'
        raise ScheduleError(text, location)
    if not fits:
        text = f'{told}: "{name}" may take {limit * type.bytes()} bytes, more than the {STACK_LIMIT} of the stack.'
        raise ScheduleError(text, location)
    return layout.memory
