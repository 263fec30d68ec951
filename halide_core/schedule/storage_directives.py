"""Directives about a Func's memory, as data: how many slots it has, and how it is laid out.

In: calls such as ``f.fold_storage(y, 4)``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from halide_core.ir import Expr
from halide_core.ir.memory import MemoryType
from halide_core.ir.printer import format_expr
from halide_core.schedule.directives import AtLevel, Directive


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FoldStorage(Directive):
    """The Func's memory has ``extent`` slots in a dimension, which its points take in turn. ``forward`` says which way
    they come; that is known without it, and kept so that the call prints as it was written."""

    var: str
    extent: Expr
    forward: bool = True

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> FoldStorage:
        return replace(self, var=to.get(self.var, self.var))

    def exprs(self) -> tuple[Expr, ...]:
        return (self.extent,)

    def call(self) -> str:
        backwards = "" if self.forward else ", False"
        return f"fold_storage({self.var}, {format_expr(self.extent)}{backwards})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HoistStorage(AtLevel):
    """The Func's memory is allocated once for each iteration of a loop further out than it lives."""

    verb: ClassVar[str] = "hoist_storage"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HoistStorageRoot(Directive):
    """The Func's memory is allocated once a run."""

    def call(self) -> str:
        return "hoist_storage_root()"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReorderStorage(Directive):
    """Dimensions lie in memory as listed, the dense one first; those not listed keep their places."""

    vars: tuple[str, ...]

    def variables(self) -> tuple[str, ...]:
        return self.vars

    def with_variables(self, to: Mapping[str, str]) -> ReorderStorage:
        return replace(self, vars=tuple(to.get(v, v) for v in self.vars))

    def call(self) -> str:
        return f"reorder_storage({', '.join(self.vars)})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlignStorage(Directive):
    """The length of a dimension in memory is a multiple of ``alignment``."""

    var: str
    alignment: int

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> AlignStorage:
        return replace(self, var=to.get(self.var, self.var))

    def call(self) -> str:
        return f"align_storage({self.var}, {self.alignment})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoundStorage(Directive):
    """The length of a dimension in memory is ``extent``."""

    var: str
    extent: int

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> BoundStorage:
        return replace(self, var=to.get(self.var, self.var))

    def call(self) -> str:
        return f"bound_storage({self.var}, {self.extent})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoreIn(Directive):
    """The kind of memory."""

    memory: MemoryType

    def call(self) -> str:
        return f"store_in(MemoryType.{self.memory.value})"


StorageDirective = ReorderStorage | AlignStorage | BoundStorage | StoreIn
"""Those about the layout."""
