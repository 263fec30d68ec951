"""The interface that every bounds engine has, and what it answers (definition 2.15).

In: a Query. Out: an Answer for each Func's holes and each input's region; or a BoundsError that names the access.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from bounds.query import Query
from halide_core.algorithm import Function, Image
from halide_core.ir import Assert, Expr, HoleKind, Interval
from halide_core.program import Level


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What fills one dimension's hole: an interval that may name holes answered before, and where it came from.

    ``multiple``: a directive made the length a multiple of this.
    """

    kind: HoleKind
    func: Function
    stage: int
    dim: int
    interval: Interval
    level: Level
    origin: str
    multiple: int = 1


@dataclass(slots=True, eq=False)
class Answers:
    """Every hole in the order of answering, consumers first; the regions of inputs and outputs; start-up checks."""

    holes: list[Answer] = field(default_factory=list)
    regions: dict[Image | Function, tuple[Interval, ...]] = field(default_factory=dict)
    checks: list[Assert] = field(default_factory=list)


class Oracle(Protocol):
    """A bounds engine."""

    name: str

    def answer(self, query: Query) -> Answers:
        """Intervals that satisfy every conjunct of the query.

        Raises: BoundsError where a region can't be bounded.
        """
        ...


Bound = tuple[Expr | None, Expr | None]
"""Least and greatest value; None where there is none."""
