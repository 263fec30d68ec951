"""Measures of a compiled program by the target semantics.

In: a Func with a schedule, and a window. Out: a Measure: refused with which error; else the points computed, the cells
allocated, the nodes evaluated and the regions of the inputs. Wrong programs are Killed on the spot.

    measure(blur, [(0, 16), (0, 9)]).points   ->   {"bx": 396, "by": 288}
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import halide_core as hl
from halide_core.algorithm.model import Image
from halide_core.errors import InternalError
from halide_core.ir import Allocate, AllocateFlat, Provide, Stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter import machine as interpreter
from halide_core.lowering.interpreter.code import AccessPlace, Allocation, Code
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import AssertionFailure, StuckError
from halide_core.lowering.interpreter.writes import FlatWrite, Run
from halide_core.run.backend import Box
from tests.campaigns.mutate.verdict import Judge, Killed
from tests.support.interpreted import run_passes

_ON_PURPOSE = (hl.ScheduleError, hl.BoundsError, hl.PipelineError, AssertionFailure)


@dataclass(slots=True)
class Measure:
    """Counts are over all passes, by buffer; ``refused`` names the error of a program that was not run."""

    refused: str = ""
    points: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    regions: dict[str, list[list[int]]] = field(default_factory=dict)

    def more_than(self, other: Measure) -> str:
        """The items that cost more than in ``other``, as text; empty if there are none."""
        for what in ("points", "cells"):
            mine, theirs = getattr(self, what), getattr(other, what)
            for name, count in mine.items():
                if count > theirs.get(name, 0):
                    return f"{count} {what} of {name} instead of {theirs.get(name, 0)}"
        for name, box in self.regions.items():
            for d, ((low, n), (known, size)) in enumerate(zip(box, other.regions[name], strict=True)):
                if low < known or low + n > known + size:
                    return f"{name} is asked for ({low}, {n}) in dimension {d} instead of ({known}, {size})"
        if self.nodes > other.nodes:
            return f"{self.nodes} nodes are evaluated instead of {other.nodes}"
        return ""


def measure(func: hl.Func, window: Sequence[tuple[int, int]]) -> Measure:
    """Runs what every pass left of a program.

    Raises: Killed where a program's answer is not the reference's, or it is stuck.
    """
    expected = func.evaluate(window)
    found = Measure()
    try:
        with _counting(found):
            outcomes = run_passes(func, window, rng=random.Random(7))
        for name, outcome in outcomes.items():
            result = outcome.result(0, window)
            if not np.array_equal(result, expected, equal_nan=result.dtype.kind == "f"):
                raise Killed(Judge.REFERENCE, f"after {name} the answer is another one")
        found.regions = _regions(func, window)
    except _ON_PURPOSE as error:
        return Measure(refused=type(error).__name__)
    except InternalError as error:
        raise Killed(Judge.CRASH, f"InternalError: {error.message}") from error
    except StuckError as error:
        raise Killed(Judge.REFERENCE, f"{type(error).__name__}: {error.message}") from error
    return found


def _regions(func: hl.Func, window: Sequence[tuple[int, int]]) -> dict[str, list[list[int]]]:
    """The program's answer to the bounds query of its inputs."""
    request, trace = func._request(), LoweringTrace()
    lowered = lower(request, trace=trace)
    values = [None if isinstance(s, Image) else s.value for s in request.inputs]
    outputs: list[Box] = [tuple(window)] * (len(lowered.arguments) - len(values))
    answered = interpret(lowered.body, lowered.arguments, values, outputs).regions
    assert answered is not None
    names = [a.name for a in lowered.arguments]
    return {n: [list(ends) for ends in box] for n, box in zip(names, answered, strict=True) if box is not None}


@contextmanager
def _counting(into: Measure) -> Iterator[None]:
    """While it lasts, the interpreter counts."""

    def evaluated(machine: Any, stmt: Stmt) -> Run:
        run, nodes = translate(machine, stmt), _size(stmt)

        def more() -> None:
            into.nodes += nodes
            run()

        return more if nodes else run

    def counted(stmt: Provide, code: Code, place: AccessPlace) -> Run:
        run, name = write_point(stmt, code, place), place.allocation.name

        def more() -> None:
            into.points[name] = into.points.get(name, 0) + code.lanes
            run()

        return more

    def written(write: FlatWrite, found: list[Any]) -> None:
        name = write._place.allocation.name
        into.points[name] = into.points.get(name, 0) + len(found)
        write_lanes(write, found)

    def allocated(
        stmt: Allocate | AllocateFlat, code: Code, allocation: Allocation, within: Allocation | None = None
    ) -> Run:
        run = allocate(stmt, code, allocation, within)

        def more() -> None:
            run()
            into.cells[allocation.name] = into.cells.get(allocation.name, 0) + allocation.memories[0].size

        return more

    allocate, translate = interpreter.allocate, interpreter._Machine._stmt
    write_point, write_lanes = interpreter.write_point, FlatWrite.write
    with (
        patch.object(interpreter._Machine, "_stmt", evaluated),
        patch.object(interpreter, "write_point", counted),
        patch.object(FlatWrite, "write", written),
        patch.object(interpreter, "allocate", allocated),
    ):
        yield


def _size(stmt: Stmt) -> int:
    """The nodes that one execution of a statement evaluates."""
    return sum(1 for _ in subexpressions(stmt_exprs(stmt)))
