"""Pipelines with extern stages: cut at them into segments, each compiled on its own, with calls of C in between.

In: a request some of whose Funcs are computed by C functions. Out: what ``compile_pipeline`` gives of any other.

    f[x] = e[x] + 1, e = box3(g)   ->   a pipeline for g; a call of box3; a pipeline for f that reads e as an input

Regions go from the outputs to the inputs, by the bounds queries of the segments and of the C functions; values go the
other way. An extern stage is computed once, before all that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from halide_core import ir
from halide_core.algorithm.model import (
    Algorithm,
    Definition,
    Function,
    Image,
    Renamed,
    Requirement,
    ScalarParam,
    leaves,
    realization_order,
)
from halide_core.errors import UNKNOWN_LOCATION, Location, PipelineError, ScheduleError
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Argument, Box, Compiled, RegionQuery, Request, arguments
from halide_core.run.profile_data import Profile
from halide_core.runtime.execute.extern_calls import ExternFunction, Value
from halide_core.runtime.execute.extern_memory import KeptStage
from halide_core.runtime.execute.jit import compile_pipeline
from halide_core.schedule.directives import ComputeRoot, Estimate, StoreRoot
from halide_core.schedule.storage_directives import Memoize
from halide_core.scheduling.phase0.copies import copied

Source = Image | ScalarParam
_ROUNDS = 64


def has_externs(request: Request) -> bool:
    """True where a Func of the request is computed by a C function."""
    return any(f.extern is not None for f in realization_order(request.outputs))


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """A pipeline between extern stages, and where its inputs come from: the user, or an extern stage."""

    compiled: Compiled
    inputs: tuple[Source | Function, ...]

    def values(self, known: Mapping[Source | Function, Value]) -> list[Value]:
        """Its inputs; None for what is not there yet."""
        return [known.get(source) for source in self.inputs]


@dataclass(slots=True, eq=False)
class _Plan:
    """The regions of one run: of extern stages, of what is passed to them, of inputs without data, of the outputs."""

    stages: dict[Function, Box] = field(default_factory=dict)
    passed: dict[tuple[Function, int], Box] = field(default_factory=dict)
    settled: dict[tuple[Function, int], Box] = field(default_factory=dict)
    inputs: dict[Image, Box] = field(default_factory=dict)
    outputs: list[Box] = field(default_factory=list)

    def want(self, segment: _Segment, boxes: Sequence[Box | None]) -> None:
        """Notes what a segment needs of its inputs."""
        for source, box in zip(segment.inputs, boxes, strict=True):
            if box is not None:
                self.need(source, box)

    def need(self, source: Source | Function, box: Box) -> None:
        """Notes a region that is needed of an extern stage, or of an input without data."""
        if isinstance(source, Function):
            self.stages[source] = _hull(self.stages.get(source, box), box)
        elif isinstance(source, Image):
            self.inputs[source] = _hull(self.inputs.get(source, box), box)


def compile_with_externs(request: Request) -> Staged:
    """Compiles every segment.

    Raises: as ``compile_pipeline``; ScheduleError for directives about extern stages that would have no effect;
        PipelineError where a C function is not in the process.
    """
    return Staged(request)


class Staged:
    """Implements ``halide_core.run.backend.Compiled``."""

    def __init__(self, request: Request) -> None:
        order = realization_order(request.outputs)
        _check_schedules(order)
        self._request = request
        self._externs = [f for f in order if f.extern is not None]
        self._functions = {e: ExternFunction(e) for e in self._externs}
        asked = {e: [d for d in e.directives if isinstance(d, Memoize)] for e in self._externs}
        self._kept = {e: KeptStage(e, self._functions[e], ds[-1]) for e, ds in asked.items() if ds}
        self._arguments = arguments(request, Algorithm(request.outputs, (), (), (), ()))
        self._images = {e: Image(e.name, e.types[0], e.dimensions, _location(e)) for e in self._externs}
        self._to: dict[ir.Callee, ir.Callee] = dict(self._images.items())
        copies: dict[Function, ir.Callee] = dict(self._images.items())
        for f in order:
            if f.extern is None:
                copy = copied(f, f.name, self._to)
                copies[f] = self._to[f] = copy
        renamed = Renamed(self._to)
        for f in order:
            copy_of = copies[f]
            if isinstance(copy_of, Function):
                copy_of.constraints = {at: renamed.expr(value) for at, value in f.constraints.items()}
                copy_of.alignment = f.alignment
        outputs = tuple(self._output(f) for f in request.outputs)
        required = tuple(_renamed_requirement(r, renamed) for r in request.requirements)
        self._main = self._segment(replace(request, outputs=outputs, requirements=required))
        self._before: dict[tuple[Function, int], _Segment] = {}
        for e in self._externs:
            assert e.extern is not None
            for k, p in enumerate(e.extern.params):
                if isinstance(p, Function) and p.extern is None:
                    name = f"{request.name}_before_{len(self._before)}"
                    part = replace(request, outputs=(self._output(p),), requirements=(), name=name)
                    self._before[e, k] = self._segment(part)

    def _output(self, f: Function) -> Function:
        """A Func as an output of a segment; an extern stage is copied."""
        if f.extern is None:
            made = self._to[f]
            assert isinstance(made, Function)
            return made
        args = tuple(ir.pure_variable(n) for n in f.args)
        value = ir.Access(f.types[0], self._images[f], args, 0, ir.LAST_STAGE)
        definition = Definition(args, (value,), None, ir.TRUE, _location(f))
        return Function(f.name, f.args, f.types, [definition], location=f.location)

    def _segment(self, request: Request) -> _Segment:
        images, params = leaves(realization_order(request.outputs), request.outputs, request.requirements)
        used = [s for s in request.inputs if s in images or s in params]
        stages = [e for e in self._externs if self._images[e] in images]
        names = {s.name for s in used}
        for e in stages:  # two Funcs may share a name, and an input may have it too
            image = self._images[e]
            while image.name in names:
                image.name += "_"
            names.add(image.name)
        inputs = (*used, *(self._images[e] for e in stages))
        return _Segment(compile_pipeline(replace(request, inputs=inputs)), (*used, *stages))

    # ---- what a Compiled does ------------------------------------------------------------------------------------

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        return self._arguments

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs the segments and the C functions in order. Raises PipelineError."""
        windows = [tuple((b.dim(d).min(), b.dim(d).extent()) for d in range(b.dimensions())) for b in outputs]
        known: dict[Source | Function, Value] = dict(zip(self._request.inputs, inputs, strict=True))
        plan = self._plan(known, windows)
        for e in self._externs:
            if e in plan.stages:
                known[e] = self._computed(e, plan, known)
        self._main.compiled.run(_given(self._main.values(known)), outputs)

    def prepare(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Nothing: each run asks for bounds anew, which the C functions may answer otherwise."""
        return

    def take_profile(self) -> Profile:
        """The measurements of the last segment, the one that writes the outputs."""
        return self._main.compiled.take_profile()

    def query(
        self, inputs: Sequence[Buffer | int | float | bool | Box | None], outputs: Sequence[Box]
    ) -> tuple[list[Box | None], list[Box]]:
        """The regions that the given output windows need; see ``Compiled.query``. They don't depend on those thought of
        so far: C functions know of no constraints."""
        known: dict[Source | Function, Value] = {
            source: None if isinstance(given, tuple) else given
            for source, given in zip(self._request.inputs, inputs, strict=True)
        }
        plan = self._plan(known, outputs)
        regions: list[Box | None] = []
        for source in self._request.inputs:
            absent = isinstance(source, Image) and known[source] is None
            nothing = ((0, 0),) * source.dimensions if isinstance(source, Image) else ()
            regions.append(plan.inputs.get(source, nothing) if absent and isinstance(source, Image) else None)
        return regions, plan.outputs

    def asked(self, inputs: Sequence[Buffer | int | float | bool | Box | None]) -> RegionQuery:
        """The same for windows one after another."""
        return lambda windows: self.query(inputs, windows)

    # ---- regions -------------------------------------------------------------------------------------------------

    def _plan(self, known: Mapping[Source | Function, Value], windows: Sequence[Box]) -> _Plan:
        """Regions, from the outputs up."""
        plan = _Plan()
        boxes, plan.outputs = self._main.compiled.query(self._main.values(known), windows)
        plan.want(self._main, boxes)
        for e in reversed(self._externs):
            if e not in plan.stages:
                continue
            assert e.extern is not None
            plan.stages[e], needed = self._functions[e].ask(plan.stages[e], known)
            for k, box in needed.items():
                param = e.extern.params[k]
                plan.passed[e, k] = box
                segment = self._before.get((e, k))
                if segment is None:
                    assert isinstance(param, Function | Image)
                    plan.need(param, box)
                else:
                    plan.settled[e, k] = self._settle(segment, plan, known, box)
        return plan

    def _settle(self, segment: _Segment, plan: _Plan, known: Mapping[Source | Function, Value], box: Box) -> Box:
        """The box that a segment writes where a region is needed of it: rounding up can make it more, round by
        round."""
        for _ in range(_ROUNDS):
            boxes, written = segment.compiled.query(segment.values(known), [box])
            grown = _hull(written[0], box)
            if grown == box:
                plan.want(segment, boxes)
                return box
            box = grown
        raise PipelineError("The regions that an extern stage needs keep growing. Round up fewer loops.")

    def _computed(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> Buffer:
        """The values of an extern stage: those that were kept, else the C function's."""
        region, kept = plan.stages[e], self._kept.get(e)
        made = allocated(e, region)
        if kept is None or not kept.recall(region, made, known):
            self._functions[e].fill(made, self._passed(e, plan, known), known)
            if kept is not None:
                kept.keep(region, made, known)
        return made

    # ---- values --------------------------------------------------------------------------------------------------

    def _passed(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> dict[int, Buffer]:
        """The buffers that are passed to a C function, by position."""
        assert e.extern is not None
        buffers: dict[int, Buffer] = {}
        for k, param in enumerate(e.extern.params):
            segment = self._before.get((e, k))
            if segment is not None:
                made = allocated(param, plan.settled[e, k])
                segment.compiled.run(_given(segment.values(known)), [made])
                buffers[k] = made.cropped(list(plan.passed[e, k]))
            elif isinstance(param, Function | Image):
                given = known[param]
                assert isinstance(given, Buffer)
                buffers[k] = given
        return buffers


def _location(f: Function) -> Location:
    return f.location or UNKNOWN_LOCATION


def allocated(callee: ir.Callee | ir.ExprNode, box: Box) -> Buffer:
    """New memory for a region."""
    assert isinstance(callee, ir.Callee)
    buffer = Buffer(callee.types[0], [extent for _, extent in box])
    buffer.set_min([low for low, _ in box])
    return buffer


def _given(values: Sequence[Value]) -> list[Buffer | int | float]:
    return [v for v in values if v is not None]


def _hull(a: Box, b: Box) -> Box:
    """The smallest region around two; an empty one counts for nothing."""
    if any(n == 0 for _, n in a) or any(n == 0 for _, n in b):
        return b if any(n == 0 for _, n in a) else a
    ends = [(min(x, y), max(x + m, y + n)) for (x, m), (y, n) in zip(a, b, strict=True)]
    return tuple((low, high - low) for low, high in ends)


def _renamed_requirement(r: Requirement, renamed: Renamed) -> Requirement:
    message = tuple([renamed.expr(m) if isinstance(m, ir.ExprNode) else m for m in r.message])
    return Requirement(renamed.expr(r.condition), message)


def _check_schedules(order: Sequence[Function]) -> None:
    for f in order:
        for d in f.directives:
            consumer = getattr(d, "consumer", None)
            if f.extern is not None and not isinstance(d, ComputeRoot | StoreRoot | Estimate | Memoize):
                raise ScheduleError(
                    f'{d.spelled()}: "{f.name}" is an extern stage, which is computed once, before all that reads it. '
                    f"Only compute_root(), store_root() and memoize() are legal.",
                    d.location,
                )
            if isinstance(consumer, Function) and consumer.extern is not None:
                raise ScheduleError(
                    f'{d.spelled()}: "{consumer.name}" is an extern stage and has no loops. What is passed to it is '
                    f"computed before it: write {f.name}.compute_root().",
                    d.location,
                )
