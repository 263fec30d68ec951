"""Directives about how a stage meets memory, as data.

In: calls such as ``f.prefetch(g, y, y, 2)`` and ``f.update().atomic()``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from halide_core.ir import Callee, Expr
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.printer import format_expr
from halide_core.schedule.directives import Directive, StageDirective

_D = TypeVar("_D", bound=Directive)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Prefetch(StageDirective):
    """Each iteration of loop ``at`` begins by asking for what it would read of ``fetched`` if loop ``source`` were
    ``offset`` iterations further on."""

    fetched: Callee
    at: str
    source: str
    offset: Expr
    strategy: PrefetchBoundStrategy

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        assert isinstance(self, Prefetch)
        return replace(self, func=to.get(self.func, self.func), fetched=to.get(self.fetched, self.fetched))

    def variables(self) -> tuple[str, ...]:
        return (self.at, self.source)

    def with_variables(self, to: Mapping[str, str]) -> Prefetch:
        return replace(self, at=to.get(self.at, self.at), source=to.get(self.source, self.source))

    def exprs(self) -> tuple[Expr, ...]:
        return (self.offset,)

    def call(self) -> str:
        plain = self.strategy is PrefetchBoundStrategy.GuardWithIf
        strategy = "" if plain else f", PrefetchBoundStrategy.{self.strategy.value}"
        return f"prefetch({self.fetched.name}, {self.at}, {self.source}, {format_expr(self.offset)}{strategy})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Atomic(StageDirective):
    """Each update of a point is one step, so that reduction loops of the stage may be parallel or vectorized.
    ``override``: on the user's word that the order of the steps doesn't matter."""

    override: bool

    def call(self) -> str:
        return f"atomic({'True' if self.override else ''})"


class Partition(Enum):
    """Whether a loop is divided into a head, a steady part without the clamps and guards of its ends, and a tail."""

    Auto = "Auto"
    Never = "Never"
    Always = "Always"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionLoop(StageDirective):
    """Whether a loop is divided, or every loop that the stage has by then, where ``var`` is None. No value changes."""

    var: str | None
    policy: Partition

    def variables(self) -> tuple[str, ...]:
        return () if self.var is None else (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> PartitionLoop:
        return self if self.var is None else replace(self, var=to.get(self.var, self.var))

    def call(self) -> str:
        if self.var is None:
            return f"{self.policy.value.lower()}_partition_all()"
        return f"partition({self.var}, Partition.{self.policy.value})"
