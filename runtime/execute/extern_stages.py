"""Pipelines with extern stages: cut at them into segments, each compiled on its own, with calls of C in between.

In: a request some of whose Funcs are computed by C functions. Out: what ``compile_pipeline`` gives of any other.

    f[x] = e[x] + 1, e = box3(g)   ->   a pipeline for g; a call of box3; a pipeline for f that reads e as an input

Regions go from the outputs to the inputs, by the bounds queries of the segments and of the C functions; values go the
other way. An extern stage is computed once, before all that reads it, unless it is at a level: the Func whose loop that
is in is a segment of its own then, which runs once for each iteration, with the stage inside (``extern_parts``). So is
every Func at the root that such a segment reads. A stage with loops of its own calls its function for each iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    UniqueNames,
    callees,
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
from halide_core.runtime.execute.extern_algorithm import prepared
from halide_core.runtime.execute.extern_blocks import calls, loops_of, windows
from halide_core.runtime.execute.extern_calls import ExternFunction, Value, hull, is_empty, scalar
from halide_core.runtime.execute.extern_memory import KeptStage
from halide_core.runtime.execute.extern_parts import blocks_of, inside, iteration, level_of, tell_copies
from halide_core.runtime.execute.jit import compile_pipeline
from halide_core.schedule.directives import (
    Async,
    AtLevel,
    Bound,
    ComputeAt,
    ComputeRoot,
    Directive,
    Estimate,
    Fuse,
    Rename,
    Reorder,
    Split,
    StoreAt,
    StoreRoot,
    Traverse,
)
from halide_core.schedule.storage_directives import AlignStorage, Memoize, ReorderStorage
from halide_core.scheduling.layout import laid_out
from halide_core.scheduling.phase0.copies import copied, place

Source = Image | ScalarParam
_LOOPS = (Split, Fuse, Reorder, Rename, Traverse)
_LEGAL = (
    *_LOOPS, AlignStorage, Async, Bound, ComputeAt, ComputeRoot, Estimate, Memoize, ReorderStorage, StoreAt, StoreRoot,
)  # fmt: skip
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
    windows: dict[Function, list[tuple[Box, Box]]] = field(default_factory=dict)
    """Of Funcs whose loops call C functions: the window of each iteration, and the box that computing it writes."""
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
    return Staged(prepared(request))


class Staged:
    """Implements ``halide_core.run.backend.Compiled``."""

    def __init__(self, request: Request) -> None:
        order = realization_order(request.outputs)
        _check_schedules(order)
        self._request = request
        self._blocks = blocks_of(order, request.outputs)
        inner = {top: inside(block, self._blocks) for top, block in self._blocks.items()}
        within = {f for funcs in inner.values() for f in funcs if f.extern is not None}
        read = {g for funcs in inner.values() for f in funcs for g in callees(f)}
        at_root = {f for f in read if isinstance(f, Function) and isinstance(place(f), ComputeRoot)}
        self._cuts = [f for f in order if (f.extern and f not in within) or f in self._blocks or f in at_root]
        self._externs = [f for f in self._cuts if f.extern is not None]
        self._functions = {e: ExternFunction(e) for e in self._externs}
        self._calls = {e: calls(e) for e in self._externs}
        asked = {e: [d for d in e.directives if isinstance(d, Memoize)] for e in self._externs}
        self._kept = {e: KeptStage(e, ds[-1]) for e, ds in asked.items() if ds}
        self._arguments = arguments(request, Algorithm(request.outputs, (), (), (), ()))
        names = UniqueNames([f.name for f in order if f.extern is None or f in request.outputs])
        self._images = {
            e: tuple(
                [
                    Image(names.fresh(name), t, e.dimensions, _location(e))
                    for name, t in zip(_names(e), e.types, strict=True)
                ]
            )
            for e in self._cuts
        }
        for e, images in self._images.items():
            if _layout(e).order[:1] not in ((), (0,)):  # neighbours in dimension 0 lie as far apart as they lie
                for image in images:
                    image.constraints[ir.Field.STRIDE, 0] = ir.BufferField(INT32, image, ir.Field.STRIDE, 0)
        self._owners = {image: e for e, images in self._images.items() for image in images}
        self._to: dict[ir.Callee, ir.Callee] = {}
        for e, images in self._images.items():
            self._to[e] = images[0] if len(images) == 1 else self._copying(e)
        roots = self._copy(order)
        for f in request.outputs:
            if f in self._images and f.keeps:
                raise ScheduleError(
                    f'"{f.name}" leaves points of its caller\'s memory as they are, so no loop of it, or of what '
                    f"reads it, can have an extern stage inside. Compute the stage at the root.",
                    _location(f),
                )
        outputs = tuple(self._output(f) for f in request.outputs)
        required = tuple(_renamed_requirement(r, Renamed(self._to)) for r in request.requirements)
        self._main = self._segment(replace(request, outputs=outputs, requirements=required))
        made = [*roots.items(), *((top, iteration(self._blocks[top], inner[top], self._to)) for top in self._blocks)]
        self._parts = {
            f: self._segment(replace(request, outputs=(each,), requirements=(), name=f"{request.name}_part_{k}"))
            for k, (f, each) in enumerate(made)
        }
        self._before: dict[tuple[Function, int], _Segment] = {}
        for e in self._externs:
            assert e.extern is not None
            for k, p in enumerate(e.extern.params):
                if isinstance(p, Function) and p not in self._images:
                    name = f"{request.name}_before_{len(self._before)}"
                    part = replace(request, outputs=(self._output(p),), requirements=(), name=name)
                    self._before[e, k] = self._segment(part)

    def _copy(self, order: Sequence[Function]) -> dict[Function, Function]:
        """Copies the Funcs, so that they read images in place of stages. Those at the root that have an image are
        the result: each is a segment of its own."""
        copies: dict[Function, Function] = {}
        for f in order:
            if f.extern is None and f not in self._blocks:
                copies[f] = copied(f, f.name, self._to, _before_externs(f))
                self._to.setdefault(f, copies[f])
        renamed = Renamed(self._to)
        for f, copy in copies.items():
            copy.constraints = {at: renamed.expr(value) for at, value in f.constraints.items()}
            copy.alignment = f.alignment
            if f not in self._request.outputs:  # 0 is where nothing is defined
                copy.definitions = [replace(d, partial=()) for d in copy.definitions]
        tell_copies(copies)
        return {f: copy for f, copy in copies.items() if f in self._images}

    def _output(self, f: Function) -> Function:
        """A Func as an output of a segment; a stage that has an image is copied."""
        made = self._to[f]
        return made if f not in self._images and isinstance(made, Function) else self._copying(f)

    def _copying(self, f: Function) -> Function:
        """A Func that copies the images of a stage."""
        args = tuple(ir.pure_variable(n) for n in f.args)
        values = tuple([ir.Access(i.types[0], i, args, 0, ir.LAST_STAGE) for i in self._images[f]])
        definition = Definition(args, values, None, ir.TRUE, _location(f))
        made = Function(f.name, f.args, f.types, [definition], location=f.location)
        renamed = Renamed({**self._to, f: made})
        made.constraints = {at: renamed.expr(value) for at, value in f.constraints.items()}
        made.alignment = f.alignment
        return made

    def _segment(self, request: Request) -> _Segment:
        images, params = leaves(realization_order(request.outputs), request.outputs, request.requirements)
        used = [s for s in request.inputs if s in images or s in params]
        made = [image for image in self._owners if image in images]
        names = {s.name for s in used}
        for image in made:  # an input may have the name, too
            while image.name in names:
                image.name += "_"
            names.add(image.name)
        inputs = (*used, *made)
        whole = replace(request, inputs=inputs)
        if has_externs(whole):
            self._check_levels(whole)
            return _Segment(Staged(whole), inputs)
        return _Segment(compile_pipeline(whole), inputs)

    def _check_levels(self, part: Request) -> None:
        """Refuses a part that reads an extern stage outside of the loop that the stage is computed in."""
        known = {e.own for e in self._images}
        for e in realization_order(part.outputs):
            at = level_of(e) if e.extern and e.own not in known else None
            loops = [f.own for f in realization_order(part.outputs)]
            if at is not None and isinstance(at.consumer, Function) and at.consumer.own not in loops:
                raise ScheduleError(
                    f'{at.spelled()}: "{e.name}" is used outside of the loops of "{at.consumer.name}", too. Compute it '
                    f"further out: {e.name}.compute_root() is legal.",
                    at.location,
                )

    # ---- what a Compiled does ------------------------------------------------------------------------------------

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        return self._arguments

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs the segments and the C functions in order. Raises PipelineError."""
        asked = [tuple((b.dim(d).min(), b.dim(d).extent()) for d in range(b.dimensions())) for b in outputs]
        known: dict[Source | Function, Value] = dict(zip(self._request.inputs, inputs, strict=True))
        plan = self._plan(known, asked)
        for e in self._cuts:
            if e in plan.stages:
                made = self._computed(e, plan, known) if e.extern else self._made(e, plan, known)
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

    def _plan(self, known: Mapping[Source | Function, Value], asked: Sequence[Box]) -> _Plan:
        """Regions, from the outputs up."""
        plan = _Plan(self._owners)
        boxes, plan.outputs = self._main.compiled.query(self._main.values(known), asked)
        plan.want(self._main, boxes)
        for e in reversed(self._cuts):
            if e in plan.stages and e.extern:
                self._ask(e, plan, known)
            elif e in plan.stages:
                region = self._bounded(e, plan.stages[e], known) if e in self._blocks else plan.stages[e]
                plan.stages[e] = self._settle(self._parts[e], plan, known, region)
                if e in self._blocks:  # what parts need need not be in what all of it needs
                    plan.windows[e] = [
                        (window, self._settle(self._parts[e], plan, known, window))
                        for window in windows(self._blocks[e].steps, plan.stages[e])
                    ]
        return plan

    def _ask(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> None:
        """Notes what a C function needs: for all of its region, and for each window of its own loops."""
        assert e.extern is not None
        plan.stages[e] = self._bounded(e, plan.stages[e], known)
        plan.stages[e], needed = self._functions[e].ask(plan.stages[e], known)
        plan.windows[e] = []
        for window in windows(self._calls[e], plan.stages[e]) if self._calls[e] else ():
            computed, boxes = self._functions[e].ask(window, known)
            plan.windows[e].append((window, hull(window, computed)))
            for k, box in boxes.items():
                needed[k] = hull(needed[k], box)
        for k, box in needed.items():
            param = e.extern.params[k]
            plan.passed[e, k] = box
            segment = self._before.get((e, k))
            if segment is None:
                assert isinstance(param, Function | Image)
                plan.need(param, box)
            else:
                plan.settled[e, k] = self._settle(segment, plan, known, box)

    def _bounded(self, e: Function, region: Box, known: Mapping[Source | Function, Value]) -> Box:
        """The region that ``bound`` says. Raises PipelineError where it does not hold what is needed."""
        for d in e.directives:
            if isinstance(d, Bound):
                at = e.args.index(d.var)
                first, needed = region[at]
                low = first if d.min is None else scalar(d.min, known).value
                extent = scalar(d.extent, known).value
                if first < low or first + needed > low + extent:
                    raise PipelineError(
                        f'{d.spelled()}: these bounds do not cover required region of "{e.name}" in "{d.var}": from '
                        f"{first} to {first + needed - 1}.",
                        d.location,
                    )
                region = (*region[:at], (low, extent), *region[at + 1 :])
        return region

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
        if is_empty(region) or (kept is not None and kept.recall(region, made, known)):
            return made
        passed = self._passed(e, plan, known, [k for k in range(self._length(e)) if not self._moves(e, k)])
        for box, part in _parts_of(e, made, plan.windows[e] or [(region, region)]):
            self._functions[e].fill(part, {**passed, **self._moving(e, box, known)}, known)
        if kept is not None:
            kept.keep(region, made, known)
        return made

    def _length(self, e: Function) -> int:
        assert e.extern is not None
        return len(e.extern.params)

    def _moves(self, e: Function, k: int) -> bool:
        """True where what is passed is computed anew in each iteration of the stage's own loops."""
        assert e.extern is not None
        passed = e.extern.params[k]
        at = place(passed) if isinstance(passed, Function) and (e, k) in self._before else None
        return bool(self._calls[e]) and isinstance(at, ComputeAt) and _is_at_extern(at)

    def _moving(self, e: Function, window: Box, known: Mapping[Source | Function, Value]) -> dict[int, list[Buffer]]:
        """The buffers that are passed for one window, of what is computed anew."""
        moving = [k for k in range(self._length(e)) if self._moves(e, k)]
        if not moving:
            return {}
        plan = _Plan(self._owners)
        plan.stages[e] = window
        needed = self._functions[e].ask(window, known)[1]
        for k in moving:
            plan.passed[e, k] = needed[k]
            plan.settled[e, k] = self._settle(self._before[e, k], plan, known, needed[k])
        return self._passed(e, plan, known, moving)

    def _made(self, f: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> list[Buffer]:
        """The values of a Func that is a segment of its own, by component."""
        region, part = plan.stages[f], self._parts[f]
        made = allocated(f, region)
        for _, buffers in _parts_of(f, made, plan.windows.get(f, [(region, region)])):
            part.compiled.run(_given(part.values(known)), buffers)
        return made

    # ---- values --------------------------------------------------------------------------------------------------

    def _passed(
        self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value], positions: Sequence[int]
    ) -> dict[int, list[Buffer]]:
        """The buffers that are passed to a C function, at some positions; of a Func one for each component."""
        assert e.extern is not None
        buffers: dict[int, list[Buffer]] = {}
        for k in positions:
            param = e.extern.params[k]
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


def _parts_of(
    f: Function, made: Sequence[Buffer], parts: Sequence[tuple[Box, Box]]
) -> Iterator[tuple[Box, Sequence[Buffer]]]:
    """The windows of a Func's loops, one after another, and the memory to compute each in: that of the Func; or memory
    of its own where more than the window is computed, all of which counts then."""
    done: list[Box] = []
    for window, box in parts:
        if is_empty(window) or any(hull(whole, window) == whole for whole in done):
            continue
        if box == window:
            yield window, [each.cropped(list(window)) for each in made]
            continue
        own = allocated(f, box)
        yield box, own
        for each, values in zip(made, own, strict=True):
            each.copy_from(values)
        done.append(box)


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


def _before_externs(f: Function) -> list[Directive]:
    """The directives of a Func. One whose place is a loop of an extern stage is computed before a call of that, at the
    root of its part."""
    if not any(map(_is_at_extern, f.directives)):
        return f.directives
    at = next(d.location for d in f.directives if _is_at_extern(d))
    return [*(d for d in f.directives if not _is_at_extern(d)), ComputeRoot(func=f, location=at)]


def _check_schedules(order: Sequence[Function]) -> None:
    for f in order:
        for d in f.directives:
            if f.extern is not None and not isinstance(d, _LEGAL):
                raise ScheduleError(
                    f'{d.spelled()}: "{f.name}" is an extern stage, which a C function computes. Legal are places, '
                    f"loops around calls (split, tile, reorder, fuse, serial, parallel), bound(), memoize(), "
                    f"reorder_storage() and align_storage().",
                    d.location,
                )
            consumer = getattr(d, "consumer", None)
            if _is_at_extern(d):
                assert isinstance(consumer, Function) and isinstance(d, AtLevel)
                if d.var != OUTERMOST and d.var not in _called(consumer):
                    raise ScheduleError(
                        f'{d.spelled()}: "{consumer.name}" is an extern stage and has no loop "{d.var}" that calls its '
                        f"function. What is passed to it is computed before it: write {f.name}.compute_root().",
                        d.location,
                    )


def _called(e: Function) -> list[str]:
    """The loops that call an extern stage's function, the outermost first."""
    return loops_of(e, 0).order[: len(calls(e))]
