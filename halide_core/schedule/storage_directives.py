"""Directives about a Func's memory, as data: how many slots it has, and how it is laid out.

In: calls such as ``f.fold_storage(y, 4)``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from halide_core.ir import ExprNode
from halide_core.ir.memory import MemoryType
from halide_core.schedule.directives import AtLevel, Directive, LoopVar, Spelling


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FoldStorage(Directive):
    """The Func's memory has ``extent`` slots in a dimension, which its points take in turn. ``forward`` says which way
    they come; that is known without it, and kept so that the call prints as it was written."""

    verb: ClassVar[str] = "fold_storage"
    var: LoopVar
    extent: ExprNode
    forward: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HoistStorage(AtLevel):
    """The Func's memory is allocated once for each iteration of a loop further out than it lives."""

    verb: ClassVar[str] = "hoist_storage"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HoistStorageRoot(Directive):
    """The Func's memory is allocated once a run."""

    verb: ClassVar[str] = "hoist_storage_root"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReorderStorage(Directive):
    """Dimensions lie in memory as listed, the dense one first; those not listed keep their places."""

    verb: ClassVar[str] = "reorder_storage"
    vars: tuple[LoopVar, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlignStorage(Directive):
    """The length of a dimension in memory is a multiple of ``alignment``."""

    verb: ClassVar[str] = "align_storage"
    var: LoopVar
    alignment: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoundStorage(Directive):
    """The length of a dimension in memory is ``length``, which is known at start-up."""

    verb: ClassVar[str] = "bound_storage"
    var: LoopVar
    length: ExprNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RingBuffer(Directive):
    """The Func's memory is there ``extent`` times, where it is computed ahead of what reads it (``Async``)."""

    verb: ClassVar[str] = "ring_buffer"
    extent: ExprNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Memoize(Directive):
    """Keeps what was computed of the Func for runs in which it would be computed again."""

    verb: ClassVar[str] = "memoize"
    eviction_key: ExprNode | None = None
    """By which number it can be given up."""

    def arguments(self, to: Spelling) -> list[str]:
        return [] if self.eviction_key is None else [f"hl.EvictionKey({to.expr(self.eviction_key)})"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoreIn(Directive):
    """The kind of memory."""

    verb: ClassVar[str] = "store_in"
    memory: MemoryType


StorageDirective = ReorderStorage | AlignStorage | BoundStorage | StoreIn
"""Those about the layout."""
