"""Stores as C: one element, or lanes of them, or every component of a point at once.

In: stores that happen together. Out: lines that first read everything that the stores need, then write in order.

    f.0[x] = f.1[x]; f.1[x] = f.0[x]   ->   const int32_t t0 = f_0[x]; f_0[x] = f_1[x]; f_1[x] = t0;
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from halide_core import ir
from halide_core.analysis.index import silent
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp
from halide_core.ir.types import INT64, Type
from halide_core.ir.visitor import any_has, has, nodes_of, subexpressions, substitute
from halide_core.runtime.codegen.address import address, subscript
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.expr import ExprEmitter, Leaves
from halide_core.runtime.codegen.names import Names, stored
from halide_core.runtime.codegen.text import PRODUCT, UNARY, Text
from halide_core.runtime.codegen.uses import uses_of
from halide_core.runtime.codegen.vector.gcc_masked_loads import read_first
from halide_core.runtime.codegen.vector.pixel_stores import channels, store_pixels
from halide_core.runtime.codegen.vector.prelude import Prelude

_CROWDED = 12
"""So many vectors, with what they are made of, fill 16 registers: gcc schedules loads so early that one more is needed,
and keeps a sum in memory (sgemm takes twice as long with AVX2)."""


class StoreEmitter:
    """Emits stores; ``index_lets`` are the variables whose lets are index arithmetic, ``registers`` the buffers whose
    elements are local variables."""

    def __init__(
        self,
        leaves: Leaves,
        exprs: ExprEmitter,
        prelude: Prelude,
        names: Names,
        index_lets: set[str],
        registers: Container[str],
    ) -> None:
        self._registers = registers
        self._leaves = leaves
        self._exprs = exprs
        self._prelude = prelude
        self._names = names
        self._index_lets = index_lets
        self.locks = False
        """True where some point is updated under a lock."""

    def emit(self, stores: Sequence[ir.Store], line: Callable[[str], None], *, meeting: bool = False) -> None:
        """The lines of one store, or of several at once. ``meeting``: other threads may update the element."""
        first = stores[0]
        if meeting and first.atomic and first.buffer not in self._registers:
            if not _takes_lock(stores):
                self._update(first, line)
                return
            self.locks = True
            (at,) = self._exprs.emit(uses_of(first, self._index_lets)[1:], line)
            lock, place = self._names.numbered("lock"), subscript(at)
            line(f"unsigned char *const {lock} = halide_core_lock(&{self._leaves.buffer(first.buffer)}[{place}]);")
            self.emit(stores, line)
            line(f"halide_core_unlock({lock});")
            return
        self.emit_run([[self._placed(s, line) for s in stores] if _are_found_in_memory(stores) else stores], line)

    def _placed(self, store: ir.Store, line: Callable[[str], None]) -> ir.Store:
        """A store whose place is a constant of its own, found before anything is written. Lanes in a row stay in one:
        some may have to be left out."""
        match store.index:
            case ir.Ramp(type=type, base=base, stride=stride):
                distance = stride if isinstance(stride, ir.IntImm) else self._kept(stride, line)
                return replace(store, index=ir.Ramp(type, self._kept(base, line), distance))
        return replace(store, index=self._kept(store.index, line))

    def _kept(self, index: ir.ExprNode, line: Callable[[str], None]) -> ir.Variable:
        """A constant that holds an index."""
        (place,) = self._exprs.emit([(index, False)], line)
        at = ir.Variable(index.type, self._names.numbered("place"))
        type = self._prelude.type(at.type)
        line(f"const {type} {self._leaves.bind(at, type)} = {place.text};")
        return at

    def emit_run(self, points: Sequence[Sequence[ir.Store]], line: Callable[[str], None]) -> None:
        """The lines of stores one after the other, each of a point's components: what they share is evaluated once,
        unless a store in between writes what it reads. A C compiler sees that only where no store is in between."""
        groups = list(self._groups(points))
        uses = [[uses_of(store, self._index_lets) for store in stores] for stores, _ in groups]
        first = {load for stores, _ in groups for store in stores if (load := read_first(store)) is not None}
        together = self._exprs.together([[use for each in group for use in each] for group in uses], first)
        crowded = self._fill_registers(points)
        for (stores, pixels), group in zip(groups, uses, strict=True):
            # What two of the stores share, their index above all, becomes a constant of its own here.
            declared: list[str] = []
            texts = iter(together.emit([use for each in group for use in each], declared.append))
            if crowded and declared:
                self._prelude.typedef("IN_ORDER", resource("in_order.h"))
                line("IN_ORDER;")
            for each in declared:
                line(each)
            write = self._write_pixels if pixels else self._write
            write(stores, [[next(texts) for _ in each] for each in group], line)
            for store in stores:
                together.forget(store.buffer)

    def _fill_registers(self, points: Sequence[Sequence[ir.Store]]) -> bool:
        """True where the vectors that stay in registers leave few of 16 for what they are made of."""
        kept = [s for stores in points for s in stores if s.buffer in self._registers and s.value.type.is_vector()]
        return len(kept) >= _CROWDED

    def _groups(self, points: Sequence[Sequence[ir.Store]]) -> Iterator[tuple[Sequence[ir.Store], bool]]:
        """The stores that are written at once: of a point, or the channels of pixels."""
        at = 0
        while at < len(points):
            count = 1 if self._exprs.mask else channels(points[at:], self._registers)
            yield [store for point in points[at : at + count] for store in point], count > 1
            at += count

    def _write_pixels(
        self, stores: Sequence[ir.Store], texts: Sequence[Sequence[Text]], line: Callable[[str], None]
    ) -> None:
        """The line of stores of channels."""
        first, (_, base, stride) = stores[0], texts[0]
        values = ", ".join(value.text for value, *_ in texts)
        function = store_pixels(self._prelude, first.value.type, len(stores))
        line(f"{function}({self._leaves.buffer(first.buffer)} + {base.at(PRODUCT)}, {stride.text}, {values});")

    def _write(self, stores: Sequence[ir.Store], texts: Sequence[Sequence[Text]], line: Callable[[str], None]) -> None:
        """The lines of the stores of a point, whose values are read first."""
        first = stores[0]
        ready: list[tuple[ir.Store, str, list[Text]]] = []
        for store, (value, *where) in zip(stores, texts, strict=True):
            if store.index.type.lanes() != store.value.type.lanes():
                raise InternalError(f"A store has an index and a value of different lanes:\n{store!r}")
            text = self._exprs.as_stored(value, store.value.type)
            if store is not first:
                name = self._names.numbered("t")
                line(f"const {self._prelude.type(_in_memory(store.value.type))} {name} = {text};")
                text = name
            ready.append((store, text, where))
        for store, text, where in ready:
            line(self._store(store, text, where))

    def _update(self, store: ir.Store, line: Callable[[str], None]) -> None:
        """One element, updated in one step among threads: by an instruction that machines have for it, or by trying
        until no other thread came between."""
        own = ir.Load(store.value.type, store.buffer, store.index)
        loads = list(nodes_of([store.value], ir.Load))
        if any(e.buffer == own.buffer and e is not own for e in loads):
            raise InternalError(f"An atomic update reads another element:\n{store!r}")
        pointer, (_, *uses) = self._leaves.buffer(store.buffer), uses_of(store, self._index_lets)
        operand = _fetched(store.value, own)
        if operand is not None:
            value, *where = self._exprs.emit([(operand[1], False), *uses], line)
            at, given = f"&{pointer}[{subscript(where[0])}]", self._exprs.as_stored(value, store.value.type)
            line(f"(void)__atomic_fetch_{operand[0]}({at}, {given}, __ATOMIC_RELAXED);")
            return
        type = stored(store.value.type)
        at, old, new = (self._names.numbered(n) for n in ("element", "old", "new"))
        before = ir.Variable(store.value.type, old)
        (place,) = self._exprs.emit(uses, line)
        line(f"{type} *const {at} = &{pointer}[{subscript(place)}];")
        line(f"{type} {self._leaves.bind(before, type)};")
        old = self._leaves.variable(before).text
        line(f"__atomic_load({at}, &{old}, __ATOMIC_RELAXED);")
        line("for (;;) {")
        result = substitute(store.value, {own: before})
        (value,) = self._exprs.emit([(silent(result), False)], line)
        line(f"{type} {new} = {self._exprs.as_stored(value, store.value.type)};")
        done = f"__atomic_compare_exchange({at}, &{old}, &{new}, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)"
        line(f"if ({done}) break;")
        line("}")
        if silent(result) is not result:  # it is shown once, and not at each try
            (value,) = self._exprs.emit([(result, False)], line)
            line(f"(void){value.at(UNARY)};")

    def prefetch(self, stmt: ir.PrefetchLine, line: Callable[[str], None]) -> None:
        """A prefetch; local variables are near already. The address is a number: one outside of the memory is no
        pointer that C lets a program have, and arithmetic that is no index's wraps."""
        if stmt.buffer in self._registers:
            return
        (index,) = self._exprs.emit([(stmt.index, False)], line)
        place = self._leaves.buffer(stmt.buffer)
        address = f"(uintptr_t){place} + (uintptr_t){index.at(UNARY)} * sizeof *{place}"
        line(f"__builtin_prefetch((const void *)({address}));")

    def _store(self, store: ir.Store, text: str, where: list[Text]) -> str:
        kept = self._leaves.register(store.buffer, store.index)
        if kept is not None:
            return f"{kept} = {text};"
        pointer, type = self._leaves.buffer(store.buffer), store.value.type
        if type.is_scalar():
            return f"{pointer}[{subscript(where[0])}] = {text};"
        call = address(self._prelude, "store", _in_memory(type), pointer, store.index, where, mask=self._exprs.mask)
        return f"{call}, {text});"


Points = list[tuple[ir.Store, ...]]
"""Stores one after the other, each of a point's components."""


def runs(stmts: Sequence[ir.Stmt], *, meeting: bool) -> Iterator[ir.Stmt | Points]:
    """Statements in order, neighbouring stores together. ``meeting``: other threads may update elements."""
    found = [(stmt, _points(stmt, meeting=meeting)) for stmt in stmts]
    for simple, group in groupby(found, lambda each: bool(each[1])):
        together = list(group)
        if simple and (len(together) > 1 or stores_of(together[0][0])):
            yield [point for _, points in together for point in points]
        else:
            yield from (stmt for stmt, _ in together)


def stores_of(stmt: ir.Stmt) -> tuple[ir.Store, ...]:
    """The stores that a statement does at once; none of another statement."""
    return (stmt,) if isinstance(stmt, ir.Store) else stmt.stores if isinstance(stmt, ir.Stores) else ()


def _points(stmt: ir.Stmt, *, meeting: bool) -> Points:
    """The writes of a statement that does nothing else: neither locks a point nor shows a value. Of an unrolled
    iteration's block the variables, which other iterations compute of the same, are written out."""
    values: dict[ir.ExprNode, ir.ExprNode] = {}
    points: Points = []
    for each in stmt.stmts if isinstance(stmt, ir.Block) else (stmt,):
        stores = stores_of(each)
        if isinstance(each, ir.Let) and isinstance(stmt, ir.Block) and _is_index(each.value):
            values[each.var] = substitute(each.value, values)
        elif stores and _is_simple(stores, meeting=meeting):
            points.append(tuple(_with(store, values) for store in stores))
        else:
            return []
    return points


def _with(store: ir.Store, values: Mapping[ir.ExprNode, ir.ExprNode]) -> ir.Store:
    index, value = (substitute(e, values) for e in (store.index, store.value))
    return replace(store, index=index, value=value) if values else store


def _is_index(value: ir.ExprNode) -> bool:
    """True where a value is of coordinates alone, and so the same wherever it is computed."""
    return value.type is INT64 and not has(value, ir.Load, ir.Print)


def _is_simple(stores: Sequence[ir.Store], *, meeting: bool) -> bool:
    locked = meeting and any(store.atomic for store in stores)
    shown = any(silent(store.value) is not store.value for store in stores)
    return not locked and not shown and not _are_found_in_memory(stores)


def _are_found_in_memory(stores: Sequence[ir.Store]) -> bool:
    """True where the places of stores that are at once depend on memory, which these may write."""
    return len(stores) > 1 and any_has([s.index for s in stores], ir.Load)


def _takes_lock(stores: Sequence[ir.Store]) -> bool:
    """True where threads can't update a point in one step by an instruction: only one number is exchanged as a
    whole."""
    type = stores[0].value.type
    return len(stores) > 1 or type.is_bool() or type.is_narrow_float()


_FETCHED = {
    BinaryOp.ADD: "add", BinaryOp.SUB: "sub", BinaryOp.BIT_AND: "and", BinaryOp.BIT_OR: "or", BinaryOp.BIT_XOR: "xor",
}  # fmt: skip


def _fetched(value: ir.ExprNode, own: ir.ExprNode) -> tuple[str, ir.ExprNode] | None:
    """The instruction that takes in a value, and that value; None where there is none. Integers wrap in it."""
    if not isinstance(value, ir.Binary) or value.op not in _FETCHED or not value.type.is_integer():
        return None
    a, b = (value.b, value.a) if value.b is own and value.op is not BinaryOp.SUB else (value.a, value.b)
    return (_FETCHED[value.op], b) if a is own and own not in subexpressions([b]) else None


def _in_memory(type: Type) -> Type:
    """The type of what memory holds: lanes of a bool are bytes."""
    return type.with_bits(8) if type.is_bool() and type.is_vector() else type
