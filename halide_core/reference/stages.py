"""The points of a Func after each of its definitions, computed when they are asked for, and remembered.

In: the code of each definition, as ``halide_core.reference.translate`` makes it, and the iterations of its reduction
domain.
Out: stages, which give the value of any point [FUNC-EVAL]. ``depth`` counts nested Python calls everywhere.

    f(x) = 0;  f(r) += g(r)  over r in [0, 8)
    Fold(Pure(), …).at((3,), 0)   ->  0 + g(3): of the 8 iterations, only those that write f(3) are evaluated

A reduction is unrolled [RDOM-EVAL] by numbering its iterations: the value of a point after iteration t is what the
last iteration up to t that wrote it gave [UPDATE-EVAL].
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias

from halide_core.reference.inputs import Before
from halide_core.reference.stack import DEEPEST, Code, TooDeep

Point: TypeAlias = "tuple[int, ...]"


class StageValues:
    """The values of a Func after one of its definitions."""

    def __init__(self) -> None:
        self.memo: dict[Point, Any] = {}

    def at(self, point: Point, depth: int) -> Any:
        """The value of a point; a tuple where the Func has several components."""
        value = self.memo.get(point)
        return self.compute(point, depth + 1) if value is None else value

    def compute(self, point: Point, depth: int) -> Any:
        """``at`` for a point that is not known yet."""
        raise NotImplementedError  # each kind of stage says


class Pure(StageValues):
    """Stage 0 [FUNC-EVAL]."""

    body: Code

    def compute(self, point: Point, depth: int) -> Any:
        if depth > DEEPEST:
            raise TooDeep(self.compute, point)
        value = self.memo[point] = self.body(point, (), None, depth + 1)
        return value


class Kept(Pure):
    """A first definition that leaves points undefined: these have what was there before.

    ``body`` gives None where nothing is defined; else the value and, by component, whether it is defined.
    """

    def __init__(self, before: Sequence[Before]) -> None:
        super().__init__()
        self._before = before

    def compute(self, point: Point, depth: int) -> Any:
        if depth > DEEPEST:
            raise TooDeep(self.compute, point)
        found = self.body(point, (), None, depth + 1)
        had = [b.at(point) for b in self._before]
        if found is not None:
            value, defined = found
            given = (value,) if len(had) == 1 else value
            had = [g if d else h for g, d, h in zip(given, defined, had, strict=True)]
        self.memo[point] = result = had[0] if len(had) == 1 else tuple(had)
        return result


@dataclass
class _Log:
    """The iterations that wrote each cell, among the first ``done``."""

    done: int = 0
    hits: dict[Point, list[int]] = field(default_factory=dict)


@dataclass
class Writes:
    """The writes of an update definition, found as far as they were asked for.

    ``target(pure, r, t, depth)`` gives the coordinates in the reduction dimensions that iteration ``t`` writes,
    None where a predicate fails; no target at all means that every iteration writes the only cell.
    """

    target: Code | None
    iterations: Iterations
    shared: bool
    """True where all points of the pure dimensions are written by the same iterations."""
    at_once: int = 1
    """So many iterations in a row read what they read before any of them writes."""
    logs: dict[Point, _Log] = field(default_factory=dict)

    def of(self, pure: Point, cell: Point, end: int, depth: int) -> Sequence[int]:
        """The iterations that write a cell: in order, all those before ``end`` and perhaps later ones."""
        if self.target is None:
            return range(end)
        log = self.logs.setdefault(() if self.shared else pure, _Log())
        if log.done < end:
            self._extend((pure, end), depth + 1)
        return log.hits.get(cell, ())

    def _extend(self, request: tuple[Point, int], depth: int) -> None:
        if depth > DEEPEST:
            raise TooDeep(self._extend, request)
        pure, end = request
        assert self.target is not None
        log = self.logs[() if self.shared else pure]
        while log.done < end:
            t = log.done
            cell = self.target(pure, self.iterations.points[t], self.begun(t), depth + 1)
            if cell is not None:
                log.hits.setdefault(cell, []).append(t)
            log.done = t + 1

    def begun(self, t: int) -> int:
        """The first of the iterations that are at once with one."""
        return t - t % self.at_once


@dataclass
class Iterations:
    """The points of a reduction domain in the order of execution; one empty point where there is no domain."""

    ranges: list[list[int]]

    def __len__(self) -> int:
        count = 1
        for values in self.ranges:
            count *= len(values)
        return count

    @cached_property
    def points(self) -> list[Point]:
        """The values of the reduction variables in each iteration; the first changes fastest."""
        return [p[::-1] for p in itertools.product(*reversed(self.ranges))]


def _picker(dims: Sequence[int]) -> Callable[[Point], Point]:
    """The function that takes some coordinates out of a point."""
    match dims:
        case []:
            return lambda point: ()
        case [dim]:
            return lambda point: (point[dim],)
        case _:
            return itemgetter(*dims)


class Update(StageValues):
    """An update definition: ``body(pure, r, state, depth)`` gives the value that one iteration writes."""

    body: Code

    def __init__(self, before: StageValues, pure_dims: Sequence[bool], writes: Writes) -> None:
        super().__init__()
        self.before = before
        self.writes = writes
        self.pure = _picker([i for i, pure in enumerate(pure_dims) if pure])
        self.cell = _picker([i for i, pure in enumerate(pure_dims) if not pure])
        self.count = len(writes.iterations)


class Fold(Update):
    """A definition that reads its own Func at most at the point being written: each point is a loop of its own.

    The state is the point's current value.
    """

    def __init__(self, before: StageValues, pure_dims: Sequence[bool], writes: Writes, reads_itself: bool) -> None:
        super().__init__(before, pure_dims, writes)
        self.reads_itself = reads_itself
        self.unfinished: dict[Point, tuple[int, Any]] = {}

    def compute(self, point: Point, depth: int) -> Any:
        if depth > DEEPEST:
            raise TooDeep(self.compute, point)
        hits = self.writes.of(self.pure(point), self.cell(point), self.count, depth + 1)
        if not hits:
            value = self.before.at(point, depth + 1)
        elif self.reads_itself:
            value = self._fold(point, hits, depth + 1)
        else:
            value = self.body(self.pure(point), self.writes.iterations.points[hits[-1]], None, depth + 1)
        self.memo[point] = value
        return value

    def _fold(self, point: Point, hits: Sequence[int], depth: int) -> Any:
        start, value = self.unfinished.pop(point, (0, None))
        if value is None:
            value = self.before.at(point, depth + 1)
        pure, points, body = self.pure(point), self.writes.iterations.points, self.body
        done = start
        try:
            for done in range(start, len(hits)):
                value = body(pure, points[hits[done]], value, depth + 1)
        except TooDeep:
            self.unfinished[point] = done, value
            raise
        return value


class Scan(Update):
    """A definition that reads its own Func anywhere. The state is the number of the iteration."""

    def __init__(self, before: StageValues, pure_dims: Sequence[bool], writes: Writes) -> None:
        super().__init__(before, pure_dims, writes)
        self.written: dict[tuple[Point, int], Any] = {}

    def compute(self, point: Point, depth: int) -> Any:
        if depth > DEEPEST:
            raise TooDeep(self.compute, point)
        value = self.memo[point] = self.just_before(point, self.count, depth + 1)
        return value

    def just_before(self, point: Point, t: int, depth: int) -> Any:
        """The value of a point after the iterations before ``t``."""
        pure = self.pure(point)
        hits = self.writes.of(pure, self.cell(point), t, depth + 1)
        earlier = bisect_left(hits, t)
        if not earlier:
            return self.before.at(point, depth + 1)
        key = pure, hits[earlier - 1]
        value = self.written.get(key)
        return self._write(key, depth + 1) if value is None else value

    def _write(self, key: tuple[Point, int], depth: int) -> Any:
        if depth > DEEPEST:
            raise TooDeep(self._write, key)
        pure, t = key
        value = self.written[key] = self.body(pure, self.writes.iterations.points[t], self.writes.begun(t), depth + 1)
        return value
