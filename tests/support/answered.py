"""Answers of bounds inference, as text or as numbers.

    cpu(f, "g", "x")      ->  "(f.min.0 - 1, f.extent.0 + 2)"
    needed(f, [(0, 10)])  ->  {"in": ((-1, 12),)}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from halide_core import ir
from halide_core.algorithm.model import Image
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answer, Answers, Engine
from halide_core.bounds.query.query import extract_query
from halide_core.ir import BufferField, Field, HoleKind
from halide_core.ir.printer import dim_name, format_interval
from halide_core.ir.types import INT64
from halide_core.loop_nest import hole
from halide_core.lowering.driver import LoweringTrace, schedule
from halide_core.run.backend import backend
from halide_core.run.pipeline import Realizable
from tests.support.integers import value

Box = tuple[tuple[int, int], ...]


class Numbers:
    """The answers as numbers: for windows of the outputs, by name, and an iteration of loops, by the variables' names.

    Answers inside other loops have no number.
    """

    def __init__(
        self, f: Realizable, windows: Mapping[str, Sequence[tuple[int, int]]], loops: Mapping[str, int] | None = None
    ) -> None:
        found = answers(f)
        leaves: dict[ir.ExprNode, int] = {ir.index_variable(name): at for name, at in (loops or {}).items()}
        for callee in found.regions:
            for d, (low, extent) in enumerate(windows.get(callee.name, ())):
                leaves[BufferField(INT64, callee, Field.MIN, d)] = low
                leaves[BufferField(INT64, callee, Field.EXTENT, d)] = extent
        self._boxes: dict[tuple[HoleKind, str, int], dict[int, tuple[int, int]]] = {}
        for a in found.holes:
            holes = hole(a.kind, a.func, a.stage, a.dim)
            with suppress(LookupError):
                ends = value(a.interval.min, leaves), value(a.interval.len, leaves)
                leaves[holes.min], leaves[holes.len] = ends
                self._boxes.setdefault((a.kind, a.func.name, a.stage), {})[a.dim] = ends
        self._regions = {
            callee.name: tuple((value(i.min, leaves), value(i.len, leaves)) for i in box)
            for callee, box in found.regions.items()
            if isinstance(callee, Image)
        }

    def cpu(self, name: str, stage: int = 0) -> Box:
        """The compute bounds of a stage."""
        return self._box(HoleKind.CPU, name, stage)

    def mem(self, name: str) -> Box:
        """The memory of a Func."""
        return self._box(HoleKind.MEM, name, 0)

    def _box(self, kind: HoleKind, name: str, stage: int) -> Box:
        return tuple(ends for _, ends in sorted(self._boxes[kind, name, stage].items()))

    def needs(self, name: str) -> Box:
        """The region of an input."""
        return self._regions[name]


def answers(f: Realizable) -> Answers:
    """Every answer for a pipeline."""
    return oracle_of(Engine.INTERVAL).answer(extract_query(schedule(f._request(), LoweringTrace())))


def _one(f: Realizable, kind: HoleKind, name: str, stage: int, dim: str) -> str:
    def fits(a: Answer) -> bool:
        return a.kind is kind and a.func.name == name and a.stage == stage and dim_name(a.func, a.dim) == dim

    (found,) = [a for a in answers(f).holes if fits(a)]
    return format_interval(found.interval)


def cpu(f: Realizable, name: str, dim: str, stage: int = 0) -> str:
    """The compute bounds of one dimension of a stage."""
    return _one(f, HoleKind.CPU, name, stage, dim)


def mem(f: Realizable, name: str, dim: str) -> str:
    """The memory of one dimension of a Func."""
    return _one(f, HoleKind.MEM, name, 0, dim)


def region(f: Realizable, name: str) -> tuple[str, ...]:
    """The region of an input or output that the pipeline needs."""
    (box,) = [box for callee, box in answers(f).regions.items() if callee.name == name]
    return tuple(map(format_interval, box))


def needed(f: Realizable, *windows: Sequence[tuple[int, int]]) -> dict[str, Box]:
    """The regions of the inputs without data that windows of the outputs need, by the compiled bounds query."""
    request = f._request()
    values = [s.bound if isinstance(s, Image) else s.value for s in request.inputs]
    found, _ = backend().compile(request).query(values, [tuple(w) for w in windows])  # type: ignore[arg-type]
    return {s.name: box for s, box in zip(request.inputs, found, strict=True) if box is not None}


def output_regions(f: Realizable, *windows: Sequence[tuple[int, int]]) -> list[Box]:
    """The regions of the outputs that windows of them need: larger where a split rounds up or shifts."""
    request = f._request()
    values = [s.bound if isinstance(s, Image) else s.value for s in request.inputs]
    return backend().compile(request).query(values, [tuple(w) for w in windows])[1]  # type: ignore[arg-type]
