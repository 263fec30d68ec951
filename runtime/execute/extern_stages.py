"""Pipelines with extern stages: cut at them into segments, each compiled on its own, with calls of C in between.

In: a request some of whose Funcs are computed by C functions. Out: what ``compile_pipeline`` gives of any other.

    f[x] = e[x] + 1, e = box3(g)   ->   a pipeline for g; a call of box3; a pipeline for f that reads e as an input

Regions go from the outputs to the inputs, by the bounds queries of the segments and of the C functions; values go the
other way. An extern stage is computed once, before all that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

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
from halide_core.ir.memory import Layout, plain_layout
from halide_core.ir.names import OUTERMOST
from halide_core.ir.types import INT32
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Argument, ArgumentKind, Box, Compiled, RegionQuery, Request, arguments
from halide_core.run.profile_data import Profile
from halide_core.runtime.execute.extern_calls import ExternFunction, Value, hull
from halide_core.runtime.execute.extern_memory import KeptStage
from halide_core.runtime.execute.jit import compile_pipeline
from halide_core.schedule.directives import AtLevel, ComputeAt, ComputeRoot, Directive, Estimate, StoreAt, StoreRoot
from halide_core.schedule.storage_directives import AlignStorage, Memoize, ReorderStorage
from halide_core.scheduling.layout import laid_out
from halide_core.scheduling.phase0.copies import copied

Source = Image | ScalarParam
_LEGAL = (ComputeRoot, StoreRoot, Estimate, Memoize, ReorderStorage, AlignStorage)
"""Directives about extern stages."""
_ROUNDS = 64


def has_externs(request: Request) -> bool:
    """True where a Func of the request is computed by a C function."""
    return any(f.extern is not None for f in realization_order(request.outputs))


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """A pipeline between extern stages, and its inputs: the user's, and images of components of extern stages."""

    compiled: Compiled
    inputs: tuple[Source, ...]

    @property
    def outputs(self) -> int:
        """The number of buffers that it writes."""
        return sum(a.kind is ArgumentKind.OutputBuffer for a in self.compiled.arguments)

    def values(self, known: Mapping[Source | Function, Value]) -> list[Value]:
        """Its inputs; None for what is not there yet."""
        return [known.get(source) for source in self.inputs]


@dataclass(slots=True, eq=False)
class _Plan:
    """The regions of one run: of extern stages, of what is passed to them, of inputs without data, of the outputs."""

    owners: Mapping[Image, Function]
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
        stage = self.owners.get(source) if isinstance(source, Image) else source
        if isinstance(stage, Function):
            self.stages[stage] = hull(self.stages.get(stage, box), box)
        elif isinstance(source, Image):
            self.inputs[source] = hull(self.inputs.get(source, box), box)


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
        self._images = {
            e: tuple([Image(name, t, e.dimensions, _location(e)) for name, t in zip(_names(e), e.types, strict=True)])
            for e in self._externs
        }
        for e, images in self._images.items():
            if _layout(e).order[:1] not in ((), (0,)):  # neighbours in dimension 0 lie as far apart as they lie
                for image in images:
                    image.constraints[ir.Field.STRIDE, 0] = ir.BufferField(INT32, image, ir.Field.STRIDE, 0)
        self._owners = {image: e for e, images in self._images.items() for image in images}
        self._to: dict[ir.Callee, ir.Callee] = {}
        for e, images in self._images.items():
            self._to[e] = images[0] if len(images) == 1 else self._output(e)
        copies: dict[Function, ir.Callee] = {}
        for f in order:
            if f.extern is None:
                copy = copied(_before_externs(f), f.name, self._to)
                copies[f] = self._to[f] = copy
        renamed = Renamed(self._to)
        for f in order:
            copy_of = copies.get(f)
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
        values = tuple([ir.Access(i.types[0], i, args, 0, ir.LAST_STAGE) for i in self._images[f]])
        definition = Definition(args, values, None, ir.TRUE, _location(f))
        return Function(f.name, f.args, f.types, [definition], location=f.location)

    def _segment(self, request: Request) -> _Segment:
        images, params = leaves(realization_order(request.outputs), request.outputs, request.requirements)
        used = [s for s in request.inputs if s in images or s in params]
        made = [image for image in self._owners if image in images]
        names = {s.name for s in used}
        for image in made:  # two Funcs may share a name, and an input may have it too
            while image.name in names:
                image.name += "_"
            names.add(image.name)
        inputs = (*used, *made)
        return _Segment(compile_pipeline(replace(request, inputs=inputs)), inputs)

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
                made = self._computed(e, plan, known)
                known.update(zip(self._images[e], made, strict=True))
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
        plan = _Plan(self._owners)
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
            boxes, written = segment.compiled.query(segment.values(known), [box] * segment.outputs)
            grown = reduce(hull, written, box)
            if grown == box:
                plan.want(segment, boxes)
                return box
            box = grown
        raise PipelineError("The regions that an extern stage needs keep growing. Round up fewer loops.")

    def _computed(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> list[Buffer]:
        """The values of an extern stage, by component: those that were kept, else the C function's."""
        region, kept = plan.stages[e], self._kept.get(e)
        made = allocated(e, region)
        if kept is None or not kept.recall(region, made, known):
            self._functions[e].fill(made, self._passed(e, plan, known), known)
            if kept is not None:
                kept.keep(region, made, known)
        return made

    # ---- values --------------------------------------------------------------------------------------------------

    def _passed(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> dict[int, list[Buffer]]:
        """The buffers that are passed to a C function, by position; of a Func one for each component."""
        assert e.extern is not None
        buffers: dict[int, list[Buffer]] = {}
        for k, param in enumerate(e.extern.params):
            segment = self._before.get((e, k))
            if segment is not None:
                made = allocated(param, plan.settled[e, k])
                segment.compiled.run(_given(segment.values(known)), made)
                buffers[k] = [each.cropped(list(plan.passed[e, k])) for each in made]
            elif isinstance(param, Function | Image):
                sources = self._images[param] if isinstance(param, Function) else (param,)
                given = [known[source] for source in sources]
                buffers[k] = [each for each in given if isinstance(each, Buffer)]
        return buffers


def _names(e: Function) -> list[str]:
    """The names of the images of an extern stage: none is that of a component of an output."""
    return [e.name] if len(e.types) == 1 else [f"{e.name}_{k}" for k in range(len(e.types))]


def _location(f: Function) -> Location:
    return f.location or UNKNOWN_LOCATION


def allocated(callee: ir.Callee | ir.ExprNode, box: Box) -> list[Buffer]:
    """New memory for a region, by component, laid out as the directives of an extern stage say."""
    assert isinstance(callee, ir.Callee)
    layout = _layout(callee) if isinstance(callee, Function) and callee.extern else plain_layout(len(box))
    sizes = [-(-extent // unit) * unit for (_, extent), unit in zip(box, layout.alignments, strict=True)]
    found = []
    for type in callee.types:
        buffer = Buffer(type, sizes, list(layout.order)) if sizes else Buffer.make_scalar(type)
        buffer.set_min([low for low, _ in box])
        found.append(buffer if tuple(sizes) == tuple(extent for _, extent in box) else buffer.cropped(list(box)))
    return found


def _layout(e: Function) -> Layout:
    return laid_out(e, [d for d in e.directives if isinstance(d, ReorderStorage | AlignStorage)])


def _given(values: Sequence[Value]) -> list[Buffer | int | float]:
    return [v for v in values if v is not None]


def _renamed_requirement(r: Requirement, renamed: Renamed) -> Requirement:
    message = tuple([renamed.expr(m) if isinstance(m, ir.ExprNode) else m for m in r.message])
    return Requirement(renamed.expr(r.condition), message)


def _is_at_extern(d: Directive) -> bool:
    """True where a directive names a place in an extern stage."""
    return isinstance(d, AtLevel) and isinstance(d.consumer, Function) and d.consumer.extern is not None


def _before_externs(f: Function) -> Function:
    """A Func whose place is the outermost one of an extern stage is computed before that, at the root of its part."""
    if not any(map(_is_at_extern, f.directives)):
        return f
    kept = [d for d in f.directives if not _is_at_extern(d)]
    at = next(d.location for d in f.directives if _is_at_extern(d))
    return replace(f, original=f.own, directives=[*kept, ComputeRoot(func=f, location=at)])


def _check_schedules(order: Sequence[Function]) -> None:
    for f in order:
        for d in f.directives:
            consumer = getattr(d, "consumer", None)
            if f.extern is not None and not isinstance(d, _LEGAL):
                raise ScheduleError(
                    f'{d.spelled()}: "{f.name}" is an extern stage, which is computed once, before all that reads it. '
                    f"Only compute_root(), store_root(), memoize(), reorder_storage() and align_storage() are legal.",
                    d.location,
                )
            if _is_at_extern(d) and (not isinstance(d, ComputeAt | StoreAt) or d.var != OUTERMOST):
                assert isinstance(consumer, Function)
                raise ScheduleError(
                    f'{d.spelled()}: "{consumer.name}" is an extern stage and has no loops. What is passed to it is '
                    f"computed before it: write {f.name}.compute_root().",
                    d.location,
                )
