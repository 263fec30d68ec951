"""Answers to a query, and what each rests on.

In: ranges of the query's clauses. Out: an Answer for each hole, with its evidence, and what slides and folds.

    ?cpu bx.s0.x = (?cpu by.s0.x.min, ?cpu by.s0.x.len)   because by.s0 reads bx[by.s0.x, …]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from halide_core.algorithm.model import Function, Image
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Clause
from halide_core.ir import Assert, ExprNode, HoleKind, Interval, LoopName
from halide_core.loop_nest import Level


class Engine(Enum):
    """The engine that gave a range; the value is its printed name, and that in ``HL_BOUNDS``."""

    CHAIN = "chain"
    INTERVAL = "interval"
    ISL = "isl"
    NONLINEAR = "nonlinear"
    BASELINE = "baseline"


Bound = tuple[ExprNode | None, ExprNode | None]
"""Least and greatest value; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The least and greatest value of an expression along a path, None where there is none, and who says so.

    ``lost``: whether something that is known of affine parts was not used, so that an exact engine may do better.
    """

    low: ExprNode | None
    high: ExprNode | None
    engine: Engine
    lost: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One coordinate of a clause, and its range where the answer stands."""

    clause: Clause
    dim: int
    point: ExprNode
    ends: Ends


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The answer for one dimension's hole: an interval that may name holes answered before, and where it came from.

    ``engine`` is the last in the chain that any part of it came from; ``evidence`` says it part by part. A directive
    made the length a ``multiple`` of a constant.
    """

    kind: HoleKind
    func: Function
    stage: int
    dim: int
    interval: Interval
    level: Level
    origin: str
    engine: Engine = Engine.INTERVAL
    evidence: tuple[Evidence, ...] = ()
    multiple: int = 1

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses that it covers, in the order of asking."""
        return tuple(dict.fromkeys(e.clause for e in self.evidence))


@dataclass(frozen=True, slots=True, eq=False)
class Slide:
    """One dimension of a Func, the loop that it slides along, if any, what the loops cover, and why in words.

    ``least``: how long that is at least, where a shifted split rests on it.
    """

    func: Function
    dim: int
    loop: LoopName | None
    covered: Interval
    told: str
    least: ExprNode | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lead:
    """By how many iterations a producer may be ahead of what reads it, None: by any number; and the loop and the
    dimension by which that is so, where it is not 0."""

    count: int | None
    loop: LoopName | None = None
    dim: int = 0


@dataclass(slots=True, eq=False)
class Answers:
    """Every hole in the order of answering, consumers first; the regions of inputs and outputs; start-up checks."""

    holes: list[Answer] = field(default_factory=list)
    regions: dict[Image | Function, tuple[Interval, ...]] = field(default_factory=dict)
    checks: list[Assert] = field(default_factory=list)
    evidence: dict[Image | Function, tuple[tuple[Evidence, ...], ...]] = field(default_factory=dict)
    """Of regions, by dimension."""
    folds: dict[Function, dict[int, ExprNode]] = field(default_factory=dict)
    """The number of slots of each dimension of memory that folds: start-up expressions."""
    ahead: dict[Function, Lead] = field(default_factory=dict)
    """The lead that asynchronous Funcs may have over what reads them."""
    slides: list[Slide] = field(default_factory=list)
    """Sliding windows, by dimension, those refused among them."""
    facts: PathFacts = field(default_factory=PathFacts)
    """Facts along the query's paths, as the engine that answered knows them."""
