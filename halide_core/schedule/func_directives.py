"""Directives that make Funcs, as data: parts of a reduction, wrappers and clones.

In: calls such as ``f.update().rfactor(r.x, u)`` and ``g.in_(f)``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from halide_core.errors import ScheduleError
from halide_core.ir import Callee
from halide_core.schedule.directives import Directive, StageDirective

_D = TypeVar("_D", bound=Directive)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RFactor(StageDirective):
    """``partial`` reduces over the stage's other loops for each value of those of ``factors``, a loop and a Var each;
    the stage merges what it finds."""

    factors: tuple[tuple[str, str], ...]
    partial: Callee

    def funcs(self) -> tuple[Callee, ...]:
        return (self.partial,)

    def variables(self) -> tuple[str, ...]:
        return tuple(name for pair in self.factors for name in pair)

    def with_variables(self, to: Mapping[str, str]) -> RFactor:
        return replace(self, factors=tuple((to.get(r, r), to.get(v, v)) for r, v in self.factors))

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        assert isinstance(self, RFactor)
        return replace(self, func=to.get(self.func, self.func), partial=to.get(self.partial, self.partial))

    def call(self) -> str:
        pairs = [f"{r}, {v}" for r, v in self.factors]
        return f"rfactor({pairs[0]})" if len(pairs) == 1 else f"rfactor([{', '.join(f'({p})' for p in pairs)}])"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReadInstead(Directive):
    """``consumers``, or all that have nothing else to read in its place, read ``instead`` where they read the Func."""

    instead: Callee
    consumers: tuple[Callee, ...]

    def funcs(self) -> tuple[Callee, ...]:
        return (self.instead,)

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        assert isinstance(self, ReadInstead)
        consumers = tuple(to.get(c, c) for c in self.consumers)
        instead = to.get(self.instead, self.instead)
        return replace(self, func=to.get(self.func, self.func), instead=instead, consumers=consumers)

    def among(self) -> str:
        """The consumers as arguments of the call."""
        names = ", ".join(c.name for c in self.consumers)
        return f"[{names}]" if len(self.consumers) > 1 else names


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class In(ReadInstead):
    """A Func with the same values is read instead."""

    def call(self) -> str:
        return f"in_({self.among()})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InInput(ReadInstead):
    """A Func with the values of an input is read in place of that. The directive is one of the Func's own: an input has
    none."""

    image: Callee

    def subject(self) -> str:
        return self.image.name

    def call(self) -> str:
        return f"in_({self.among()})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CloneIn(ReadInstead):
    """A Func with the same definitions is read instead."""

    def call(self) -> str:
        return f"clone_in({self.among()})"


def made_before(
    directives: Sequence[Directive], kind: type[ReadInstead], consumers: tuple[Callee, ...]
) -> Callee | None:
    """What the same call made before, if it was made; ``directives`` are those about what is read.

    Raises: ScheduleError where one of the consumers reads something else in its place.
    """
    for d in directives:
        if isinstance(d, ReadInstead) and isinstance(d, InInput) is (kind is InInput):
            if isinstance(d, kind) and set(d.consumers) == set(consumers):
                return d.instead
            if any(c in d.consumers for c in consumers) or not (d.consumers or consumers):
                raise ScheduleError(
                    f'{d.spelled()}, at line {d.location.line}, made "{d.instead.name}" for that: a Func reads one '
                    f"in place of another. Wrap that one in turn, or give that call all the consumers."
                )
    return None
