"""The interfaces of bounds engines (definition 2.15).

In: a Query. Out: an Answer for each Func's holes and each input's region; or a BoundsError that names the access. An
engine is its Ranges, which know one access at a time; ``bounds.infer.inference`` makes answers of them.

    ends(x + 1, path: forall x in (?cpu f.x.min, 8), stop: top)   ->   [?cpu f.x.min + 1, ?cpu f.x.min + 8]
"""

from __future__ import annotations

from typing import Protocol

from halide_core.bounds.query.answers import Answers, Ends
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Path, Query
from halide_core.ir import ExprNode, Interval


class Oracle(Protocol):
    """A bounds engine."""

    @property
    def name(self) -> str:
        """The engine's name."""
        ...

    def answer(self, query: Query) -> Answers:
        """Intervals that satisfy every conjunct of the query.

        Raises: BoundsError where a region can't be bounded.
        """
        ...


class Ranges(Protocol):
    """The range of one expression along one path, by which one engine differs from another."""

    @property
    def facts(self) -> PathFacts:
        """Facts along paths: those that this engine records, and what inference notes of answered holes."""
        ...

    def ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The least and greatest value of ``e`` over the binders of ``path`` below ``stop``, in terms of what is
        bound at the stop: each at every point that reaches the end of the path."""
        ...

    def rough_ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The same for less work: sound, and perhaps looser."""
        ...

    def greatest(self, e: ExprNode) -> int | None:
        """A number that ``e`` is never above, whatever its atoms are; None where none is known."""
        ...

    def record(self, h: ExprNode, value: ExprNode) -> None:
        """A hole is answered."""
        ...

    def record_end(self, bounds: Interval, past: ExprNode) -> None:
        """The point behind an answered interval, where its start and its length say that in many words."""
        ...

    def use(self, h: ExprNode) -> ExprNode:
        """The expression that stands for a hole from now on."""
        ...

    def unholed(self, e: ExprNode) -> ExprNode:
        """An expression with what stands for each hole in it."""
        ...
