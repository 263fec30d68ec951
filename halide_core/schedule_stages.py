"""Directives about a stage that name other Funcs, as data.

In: calls such as ``f.prefetch(g, y, y, 2)``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from halide_core.ir import Callee, Expr
from halide_core.printer import format_expr
from halide_core.schedule import Directive, StageDirective
from halide_core.storage import PrefetchBoundStrategy

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
