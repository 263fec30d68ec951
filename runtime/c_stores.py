"""Stores as C: one element, or lanes of them, or every component of a point at once.

In: stores that happen together. Out: lines that first read everything that the stores need, then write.

    f.0[x] = f.1[x]; f.1[x] = f.0[x]   ->   const int32_t t0 = f_0[x]; f_0[x] = f_1[x]; f_1[x] = t0;
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.types import Type
from runtime.c_expr import ExprEmitter, Leaves, address, subscript
from runtime.c_names import Names
from runtime.c_text import UNARY, Text
from runtime.c_uses import uses_of
from runtime.vectors import Prelude


class StoreEmitter:
    """Emits stores; ``index_lets`` are the variables whose lets are index arithmetic."""

    def __init__(
        self, leaves: Leaves, exprs: ExprEmitter, prelude: Prelude, names: Names, index_lets: set[str]
    ) -> None:
        self._leaves = leaves
        self._exprs = exprs
        self._prelude = prelude
        self._names = names
        self._index_lets = index_lets

    def emit(self, stores: Sequence[ir.Store], line: Callable[[str], None]) -> None:
        """The lines of one store, or of several at one index."""
        first = stores[0]
        for store in stores:
            if store.index.type.lanes() != store.value.type.lanes():
                raise InternalError(f"A store has an index and a value of different lanes:\n{store!r}")
            if store.index is not first.index:
                raise InternalError(f"The components of a point are stored at different places:\n{store!r}")
        uses = [uses_of(store, self._index_lets) for store in stores]
        # What two of the stores share, their index above all, becomes a constant of its own here.
        texts = iter(self._exprs.emit([use for each in uses for use in each], line))
        ready: list[tuple[ir.Store, str, list[Text]]] = []
        for store, each in zip(stores, uses, strict=True):
            value, *where = [next(texts) for _ in each]
            stored = self._exprs.as_stored(value, store.value.type)
            if store is not first:
                name = self._names.numbered("t")
                line(f"const {self._prelude.type(_in_memory(store.value.type))} {name} = {stored};")
                stored = name
            ready.append((store, stored, where))
        for store, stored, where in ready:
            line(self._store(store, stored, where))

    def prefetch(self, stmt: ir.PrefetchLine, line: Callable[[str], None]) -> None:
        """A prefetch. The address is a number: one outside of the memory is no pointer that C lets a program have, and
        arithmetic that is no index's wraps."""
        (index,) = self._exprs.emit([(stmt.index, False)], line)
        place = self._leaves.buffer(stmt.buffer)
        address = f"(uintptr_t){place} + (uintptr_t){index.at(UNARY)} * sizeof *{place}"
        line(f"__builtin_prefetch((const void *)({address}));")

    def _store(self, store: ir.Store, stored: str, where: list[Text]) -> str:
        kept = self._leaves.register(store.buffer, store.index)
        if kept is not None:
            return f"{kept} = {stored};"
        pointer, type = self._leaves.buffer(store.buffer), store.value.type
        if type.is_scalar():
            return f"{pointer}[{subscript(where[0])}] = {stored};"
        call = address(self._prelude, "store", _in_memory(type), pointer, store.index, where)
        return f"{call}, {stored});"


def _in_memory(type: Type) -> Type:
    """The type of what memory holds: lanes of a bool are bytes."""
    return type.with_bits(8) if type.is_bool() and type.is_vector() else type
