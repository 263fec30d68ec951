"""Directives that make Funcs, as data: parts of a reduction, wrappers and clones.

In: calls such as ``f.update().rfactor(r.x, u)`` and ``g.in_(f)``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from halide_core.errors import ScheduleError
from halide_core.ir import Callee
from halide_core.schedule.directives import Directive, LoopVar, MadeFunc, Spelling, StageDirective


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RFactor(StageDirective):
    """``partial`` reduces over the stage's other loops for each value of those of ``factors``, a loop and a Var each;
    the stage merges what it finds."""

    verb: ClassVar[str] = "rfactor"
    factors: tuple[tuple[LoopVar, LoopVar], ...]
    partial: MadeFunc

    def arguments(self, to: Spelling) -> list[str]:
        pairs = [f"{to.loop(r)}, {to.loop(v)}" for r, v in self.factors]
        return pairs if len(pairs) == 1 else [f"[{', '.join(f'({p})' for p in pairs)}]"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReadInstead(Directive):
    """``consumers``, or all that have nothing else to read in its place, read ``instead`` where they read the Func."""

    instead: MadeFunc
    consumers: tuple[Callee, ...]

    def arguments(self, to: Spelling) -> list[str]:
        names = ", ".join(map(to.func, self.consumers))
        return [f"[{names}]" if len(self.consumers) > 1 else names]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class In(ReadInstead):
    """A Func with the same values is read instead."""

    verb: ClassVar[str] = "in_"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InInput(ReadInstead):
    """A Func with the values of an input is read in place of that. The directive is one of the Func's own: an input has
    none."""

    verb: ClassVar[str] = "in_"
    image: Callee

    def subject(self) -> str:
        return self.image.name


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CloneIn(ReadInstead):
    """A Func with the same definitions is read instead."""

    verb: ClassVar[str] = "clone_in"


def made_before(
    directives: Sequence[Directive], kind: type[ReadInstead], consumers: tuple[Callee, ...]
) -> Callee | None:
    """The Func that the same call made before, if it was made; ``directives`` are those about what is read.

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
