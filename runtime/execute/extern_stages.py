"""Pipelines with extern stages: segments and calls of C functions, one after another.

In: a request some of whose Funcs are computed by C functions. Out: what ``compile_pipeline`` gives of any other.

    f[x] = e[x] + 1, e = box3(g)   ->   run g's pipeline; call box3; run f's

Regions go from the outputs to the inputs, by the bounds queries of the segments and of the C functions; values go the
other way. A stage with loops of its own calls its function for each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image, realization_order
from halide_core.algorithm.read_by_params import Holds, is_shown
from halide_core.errors import PipelineError
from halide_core.ir.memory import plain_layout
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Argument, Box, Compiled, RegionQuery, Request, arguments
from halide_core.run.profile_data import Profile
from halide_core.runtime.execute.extern_algorithm import prepared
from halide_core.runtime.execute.extern_blocks import calls, windows
from halide_core.runtime.execute.extern_calls import Value, hull, is_empty, scalar
from halide_core.runtime.execute.extern_demands import Demands, demands
from halide_core.runtime.execute.extern_directives import check_schedules, is_at_extern
from halide_core.runtime.execute.extern_memory import kept_stage
from halide_core.runtime.execute.extern_profile import StagedProfile
from halide_core.runtime.execute.extern_segments import Segment, Source, cut, has_externs, layout_of
from halide_core.runtime.execute.jit import compile_pipeline
from halide_core.schedule.directives import Bound, ComputeAt
from halide_core.scheduling.phase0.copies import place

_ROUNDS = 64


def compile_with_externs(request: Request) -> Staged:
    """Compiles every segment.

    Raises: as ``compile_pipeline``; ScheduleError for directives about extern stages that would have no effect;
        PipelineError where a C function is not in the process.
    """
    whole = prepared(request)
    return Staged(whole, demands(whole, compile_pipeline))


def _compiled(request: Request) -> Compiled:
    """A segment, compiled; it may have extern stages of its own."""
    return Staged(request) if has_externs(request) else compile_pipeline(request)


@dataclass(slots=True, eq=False)
class _Plan:
    """The regions of one run: of extern stages, of what is passed to them, of inputs without data, of the outputs."""

    owners: Mapping[Image, Function]
    stages: dict[Function, Box] = field(default_factory=dict)
    passed: dict[tuple[Function, int], Box] = field(default_factory=dict)
    settled: dict[tuple[Function, int], Box] = field(default_factory=dict)
    windows: dict[Function, list[tuple[Box, Box]]] = field(default_factory=dict)
    """Of Funcs whose loops call C functions: the window of each iteration, and the box that computing it writes."""
    anew: dict[tuple[Function, Box], dict[int, tuple[Box, Box]]] = field(default_factory=dict)
    """By an extern stage and the box that one of its calls computes: what that is passed of Funcs that are computed for
    it alone, and the box that computing those writes."""
    inputs: dict[Image, Box] = field(default_factory=dict)
    outputs: list[Box] = field(default_factory=list)

    def want(self, segment: Segment, boxes: Sequence[Box | None]) -> None:
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


class Staged:
    """Implements ``halide_core.run.backend.Compiled``."""

    def __init__(self, request: Request, demanded: Demands | None = None) -> None:
        """``demanded``: what the whole pipeline demands of its inputs; nothing where this is a part of one."""
        order = realization_order(request.outputs)
        check_schedules(order)
        self._segments = cut(request, _compiled)
        self._profile = StagedProfile(request.name, order)
        externs = list(self._segments.functions)
        self._calls = {e: calls(e) for e in externs}
        found = {f: kept_stage(f) for f in self._segments.cuts}
        self._kept = {f: kept for f, kept in found.items() if kept is not None}
        self._arguments = arguments(request, Algorithm(request.outputs, (), (), (), ()))
        self._demands = demanded

    # ---- what a Compiled does ------------------------------------------------------------------------------------

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        return self._arguments

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs the segments and the C functions in order. Raises PipelineError."""
        with self._profile.run():
            self._run(inputs, outputs)

    def _run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        asked = [tuple((b.dim(d).min(), b.dim(d).extent()) for d in range(b.dimensions())) for b in outputs]
        inputs = inputs if self._demands is None else self._demands.met(inputs)
        known: dict[Source | Function, Value] = dict(zip(self._segments.request.inputs, inputs, strict=True))
        plan = self._plan(known, asked)
        recalled, wanted, idle = self._recalled(plan, known)
        for e in self._segments.cuts:
            if e in idle:  # memory is passed, whose values are dropped
                known.update(zip(self._segments.images[e], self._allocated(e, plan.stages[e]), strict=True))
            if e in wanted:
                made = recalled.get(e) or (self._computed(e, plan, known) if e.extern else self._made(e, plan, known))
                known.update(zip(self._segments.images[e], made, strict=True))
        self._segments.main.compiled.run(_given(self._segments.main.values(known)), outputs)

    def _recalled(
        self, plan: _Plan, known: Mapping[Source | Function, Value]
    ) -> tuple[dict[Function, list[Buffer]], set[Function], set[Function]]:
        """The values that were kept; the cuts whose values are needed, those among them, but not what is read by
        these alone; and those that are given to what runs, but not read by it, since Params rule that out."""
        holds = cache(lambda test: bool(scalar(test, known).value))
        recalled: dict[Function, list[Buffer]] = {}
        wanted, given = self._read_by([self._segments.main], holds), self._read_by([self._segments.main])
        for e in reversed(self._segments.cuts):
            if e not in wanted or e not in plan.stages:
                continue
            kept, made = self._kept.get(e), allocated(e, plan.stages[e])
            if kept is not None and not is_empty(plan.stages[e]) and kept.recall(plan.stages[e], made, known):
                recalled[e] = made
                self._profile.holds(e, made)
            else:
                wanted |= self._needed_by(e, holds)
                given |= self._needed_by(e)
        needed = {e for e in wanted if e in plan.stages}
        return recalled, needed, {e for e in given if e in plan.stages} - needed

    def _read_by(self, segments: Iterable[Segment], holds: Holds | None = None) -> set[Function]:
        """The cuts that segments are given, or those of them that they read where Params have certain values."""
        owners, found = self._segments.owners, set()
        for segment in segments:
            read = segment.reads.needed(holds) if segment.reads and holds else segment.inputs
            for i in segment.inputs:
                if isinstance(i, Image) and i in owners and (i in read or is_shown(owners[i])):
                    found.add(owners[i])
        return found

    def _needed_by(self, f: Function, holds: Holds | None = None) -> set[Function]:
        """The cuts that a cut is given, or reads where Params have certain values."""
        if f.extern is None:
            return self._read_by([self._segments.parts[f]], holds)
        passed = {p for p in f.extern.params if isinstance(p, Function) and p in self._segments.images}
        return passed | self._read_by([s for (e, _), s in self._segments.before.items() if e is f], holds)

    def prepare(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Nothing: each run asks for bounds anew, which the C functions may answer otherwise."""
        return

    def take_profile(self) -> Profile:
        """The measurements since the last call: of the segments, the C functions, and the memory between them."""
        return self._profile.take([segment.compiled for segment in self._segments.all()])

    def query(
        self, inputs: Sequence[Buffer | int | float | bool | Box | None], outputs: Sequence[Box]
    ) -> tuple[list[Box | None], list[Box]]:
        """The regions that the given output windows need; see ``Compiled.query``. They don't depend on those thought of
        so far: C functions know of no constraints."""
        known: dict[Source | Function, Value] = {
            source: None if isinstance(given, tuple) else given
            for source, given in zip(self._segments.request.inputs, inputs, strict=True)
        }
        plan = self._plan(known, outputs)
        regions: list[Box | None] = []
        for source in self._segments.request.inputs:
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
        plan = _Plan(self._segments.owners)
        boxes, plan.outputs = self._segments.main.compiled.query(self._segments.main.values(known), asked)
        plan.want(self._segments.main, boxes)
        for e in reversed(self._segments.cuts):
            if e in plan.stages and e.extern:
                self._ask(e, plan, known)
            elif e in plan.stages:
                region = self._bounded(e, plan.stages[e], known) if e in self._segments.blocks else plan.stages[e]
                plan.stages[e] = self._settle(self._segments.parts[e], plan, known, region)
                if e in self._segments.blocks:  # what parts need need not be in what all of it needs
                    plan.windows[e] = [
                        (window, self._settle(self._segments.parts[e], plan, known, window))
                        for window in windows(self._segments.blocks[e].steps, plan.stages[e])
                    ]
        return plan

    def _ask(self, e: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> None:
        """Notes what a C function needs: for all of its region, and for each window of its own loops."""
        assert e.extern is not None
        plan.stages[e] = self._bounded(e, plan.stages[e], known)
        plan.stages[e], needed = self._segments.functions[e].ask(plan.stages[e], known)
        plan.windows[e] = []
        moving = [k for k in range(self._length(e)) if self._moves(e, k)]
        for window in windows(self._calls[e], plan.stages[e]) if self._calls[e] else ():
            computed, boxes = self._segments.functions[e].ask(window, known)
            whole = hull(window, computed)
            plan.windows[e].append((window, whole))
            for k, box in boxes.items():
                needed[k] = hull(needed[k], box)
            if moving and not is_empty(whole):
                given = boxes if whole == window else self._segments.functions[e].ask(whole, known)[1]
                # Rounded up or moved, what one window needs need not be in what all of them need.
                plan.anew[e, whole] = {
                    k: (given[k], self._settle(self._segments.before[e, k], plan, known, given[k])) for k in moving
                }
        for k, box in needed.items():
            param = e.extern.params[k]
            plan.passed[e, k] = box
            segment = self._segments.before.get((e, k))
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
                        f"{d.spelled()}: Bounds given for {e.name} in {d.var} (from {low} to {low + extent - 1}) do "
                        f"not cover required region (from {first} to {first + needed - 1}).",
                        d.location,
                    )
                region = (*region[:at], (low, extent), *region[at + 1 :])
        return region

    def _settle(self, segment: Segment, plan: _Plan, known: Mapping[Source | Function, Value], box: Box) -> Box:
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
        region = plan.stages[e]
        made = self._allocated(e, region)
        if is_empty(region):
            return made
        passed = self._passed(e, plan, known, [k for k in range(self._length(e)) if not self._moves(e, k)])
        for box, part in _parts_of(e, made, plan.windows[e] or [(region, region)]):
            given = {**passed, **self._moving(e, box, plan, known)}
            with self._profile.call(e):
                self._segments.functions[e].fill(part, given, known)
        self._keep(e, region, made, known)
        return made

    def _keep(self, f: Function, region: Box, made: Sequence[Buffer], known: Mapping[Source | Function, Value]) -> None:
        kept = self._kept.get(f)
        if kept is not None and not is_empty(region):
            kept.keep(region, made, known)

    def _length(self, e: Function) -> int:
        assert e.extern is not None
        return len(e.extern.params)

    def _moves(self, e: Function, k: int) -> bool:
        """True where what is passed is computed anew in each iteration of the stage's own loops."""
        assert e.extern is not None
        passed = e.extern.params[k]
        at = place(passed) if isinstance(passed, Function) and (e, k) in self._segments.before else None
        return bool(self._calls[e]) and isinstance(at, ComputeAt) and is_at_extern(at)

    def _moving(
        self, e: Function, box: Box, plan: _Plan, known: Mapping[Source | Function, Value]
    ) -> dict[int, list[Buffer]]:
        """The buffers that are passed where a box is computed, of what is computed anew."""
        own = _Plan(self._segments.owners)
        found = plan.anew.get((e, box), {})
        for k, (passed, settled) in found.items():
            own.passed[e, k], own.settled[e, k] = passed, settled
        return self._passed(e, own, known, list(found))

    def _made(self, f: Function, plan: _Plan, known: Mapping[Source | Function, Value]) -> list[Buffer]:
        """The values of a Func that is a segment of its own, by component."""
        region, part = plan.stages[f], self._segments.parts[f]
        made = self._allocated(f, region)
        for _, buffers in _parts_of(f, made, plan.windows.get(f, [(region, region)])):
            part.compiled.run(_given(part.values(known)), buffers)
        self._keep(f, region, made, known)
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
            segment = self._segments.before.get((e, k))
            if segment is not None:
                assert isinstance(param, Function)
                made = self._allocated(param, plan.settled[e, k])
                segment.compiled.run(_given(segment.values(known)), made)
                buffers[k] = [each.cropped(list(plan.passed[e, k])) for each in made]
            elif isinstance(param, Function | Image):
                sources = self._segments.images[param] if isinstance(param, Function) else (param,)
                given = [known[source] for source in sources]
                buffers[k] = [each for each in given if isinstance(each, Buffer)]
        return buffers

    def _allocated(self, f: Function, box: Box) -> list[Buffer]:
        """Memory for a Func that is computed apart from what reads it."""
        made = allocated(f, box)
        self._profile.holds(f, made)
        return made


def allocated(callee: ir.Callee | ir.ExprNode, box: Box) -> list[Buffer]:
    """New memory for a region, by component, laid out as the directives of an extern stage say."""
    assert isinstance(callee, ir.Callee)
    layout = layout_of(callee) if isinstance(callee, Function) and callee.extern else plain_layout(len(box))
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


def _given(values: Sequence[Value]) -> list[Buffer | int | float]:
    return [v for v in values if v is not None]
