"""Interval arithmetic, and an engine behind it that improves the ranges that it gives.

In: an expression and a path. Out: the tighter of two sound ranges; of two that are equal, that of interval arithmetic.
With isl behind it and asked only where it can help, this is the chain, the engine that a compile uses by default. What
is behind is not even loaded before it is asked. How often, and for how many steps, it may be asked is counted, never
timed: the same program has the same answers everywhere.

    x - x/2*2 + y   ->   interval arithmetic takes apart what belongs together, and says so   ->   isl: [0, 10]
    x + y           ->   interval arithmetic is exact
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from halide_core.bounds.engines.elimination import is_guard
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.answers import Ends
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Path
from halide_core.ir import ExprNode, Interval


class Improvement(Protocol):
    """Knows more about some kind of expression."""

    def ends(self, e: ExprNode, path: Path, stop: Path, known: Ends) -> Ends:
        """The range of ``e``, given one that is sound; never a looser one."""
        ...

    def greatest(self, e: ExprNode) -> int | None:
        """A number that ``e`` is never above, whatever its atoms are; None where none is known."""
        ...


Opening = Callable[[Extents], Improvement]
"""Loads an improvement, for the answers that some Extents know."""


class Ask(Enum):
    """When the engine behind is asked."""

    ALWAYS = "always"
    WHERE_LOST = "where lost"
    """Where there is no end, or ``Ends.lost``."""


class ImprovedRanges:
    """See the module's docstring."""

    def __init__(self, opening: Opening, ask: Ask) -> None:
        self._extents = Extents()
        self._opening = opening
        self._ask = ask
        self._improvement: Improvement | None = None
        self._improved: dict[tuple[ExprNode, Path, Path], tuple[Ends, Ends]] = {}
        """The answers of the engine behind, with the ranges that it was given."""

    def ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The range of ``e``, by the engine that knows best."""
        known = self._extents.ends(e, path, stop)
        if self._ask is Ask.WHERE_LOST and not known.lost and known.low is not None and known.high is not None:
            return known
        if any(e is not None and is_guard(e) for e in (known.low, known.high)):
            return known  # of wrapped numbers a tighter end may be found, but none that a start-up check can rule out
        before = self._improved.get((e, path, stop))
        if before is not None and before[0] is known:
            return before[1]
        found = self._opened().ends(e, path, stop, known)
        self._improved[e, path, stop] = known, found
        return found

    def _opened(self) -> Improvement:
        if self._improvement is None:
            self._improvement = self._opening(self._extents)
        return self._improvement

    def rough_ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The range by interval arithmetic alone."""
        return self._extents.ends(e, path, stop)

    def greatest(self, e: ExprNode) -> int | None:
        """The number that the engine behind knows."""
        return self._opened().greatest(e)

    @property
    def facts(self) -> PathFacts:
        """The facts along paths."""
        return self._extents.facts

    def record(self, h: ExprNode, value: ExprNode) -> None:
        """A hole is answered."""
        self._extents.record(h, value)

    def record_end(self, bounds: Interval, past: ExprNode) -> None:
        """The point behind an interval of holes."""
        self._extents.record_end(bounds, past)

    def use(self, h: ExprNode) -> ExprNode:
        """The expression that stands for a hole from now on."""
        return self._extents.use(h)

    def unholed(self, e: ExprNode) -> ExprNode:
        """Small answers in place of their holes."""
        return self._extents.unholed(e)
