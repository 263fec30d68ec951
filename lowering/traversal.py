"""Which directive said how a loop is run: for errors that only show after bounds inference.

In: the directives of an algorithm. Out: for a loop, the error of the user's own line.

    f.vectorize(x): its length is not a constant: f.extent.0      at blur.py:9
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.errors import Location, ScheduleError
from halide_core.ir import For, IntImm, LoopKind, LoopName
from halide_core.schedule import Directive, Traverse
from scheduling.legality import as_written


class Traversals:
    """The last directive about each loop."""

    def __init__(self, directives: Iterable[Directive]) -> None:
        self._of: dict[LoopName, Traverse] = {
            LoopName(d.func.name, d.stage, d.branch.number, d.var): d for d in directives if isinstance(d, Traverse)
        }

    def error(self, loop: LoopName, reason: str) -> ScheduleError:
        """The error of the directive that made a loop what it is."""
        directive = self._of.get(loop)
        told = f'Loop "{loop.var}" of "{loop.func}"' if directive is None else as_written(directive).spelled()
        location: Location | None = None if directive is None else directive.location
        return ScheduleError(f"{told}: {reason}", location)

    def constant_length(self, loop: For) -> int:
        """The length of a loop that its directive needs to be constant."""
        if isinstance(loop.bounds.len, IntImm):
            return loop.bounds.len.value
        f, verb = loop.loop, "vectorize" if loop.kind is LoopKind.VECTORIZED else "unroll"
        raise self.error(
            f,
            f"the length of the loop is not a constant: {loop.bounds.len}. "
            f"Give a factor, for example {f.func}.{verb}({f.var}, 8), "
            f"or fix the length with {f.func}.bound_extent({f.var}, n).",
        )
