"""A pipeline with extern stages, cut at them into segments, each compiled on its own.

In: a request some of whose Funcs are computed by C functions, and what compiles a request. Out: Segments.

    f[x] = e[x] + 1, e = box3(g)   ->   a pipeline for g; one for f that reads e as an input

An extern stage is computed once, before all that reads it, unless it is at a level: the Func whose loop that is in is a
segment of its own then, which runs once for each iteration, with the stage inside (``extern_parts``). So is every Func
at the root that such a segment reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.memo_key import is_memoized
from halide_core.algorithm.model import (
    Definition,
    Function,
    Image,
    Requirement,
    ScalarParam,
    callees,
    realization_order,
)
from halide_core.algorithm.read_by_params import SegmentReads, segment_reads
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.algorithm.snapshot import leaves
from halide_core.algorithm.strides import any_stride
from halide_core.errors import UNKNOWN_LOCATION, IgnoredDirectiveWarning, Location, ScheduleError, warn_user
from halide_core.ir.memory import Layout
from halide_core.run.backend import ArgumentKind, Compiled, Request
from halide_core.runtime.execute.extern_calls import ExternFunction, FuncImage, Value
from halide_core.runtime.execute.extern_directives import before_externs, reads_stages
from halide_core.runtime.execute.extern_parts import CallingLoops, blocks_of, inside, iteration, level_of, tell_copies
from halide_core.schedule.directives import ComputeRoot, Directive
from halide_core.schedule.storage_directives import AlignStorage, Memoize, ReorderStorage
from halide_core.scheduling.layout import laid_out
from halide_core.scheduling.phase0.copies import copied, place

Source = Image | ScalarParam

Compiling = Callable[[Request], Compiled]


def has_externs(request: Request) -> bool:
    """True where a Func of the request is computed by a C function."""
    return any(f.extern is not None for f in realization_order(request.outputs))


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A pipeline between extern stages, and its inputs: the user's, and images of components of extern stages."""

    compiled: Compiled
    inputs: tuple[Source, ...]
    reads: SegmentReads | None
    """Its reads by the values of Params; None where all of its inputs are read."""

    @property
    def outputs(self) -> int:
        """The number of buffers that it writes."""
        return sum(a.kind is ArgumentKind.OutputBuffer for a in self.compiled.arguments)

    def values(self, known: Mapping[Source | Function, Value]) -> list[Value]:
        """Its inputs; None for what is not there yet."""
        return [known.get(source) for source in self.inputs]


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The parts of a pipeline that is cut, and how they hang together."""

    request: Request
    cuts: Sequence[Function]
    """The Funcs that are computed apart from what reads them, in the order of their computation."""
    functions: Mapping[Function, ExternFunction]
    """The C functions of those that are extern stages."""
    blocks: Mapping[Function, CallingLoops]
    """The loops of those that have an extern stage inside."""
    images: Mapping[Function, tuple[Image, ...]]
    """By component, the image that segments read in place of it."""
    owners: Mapping[Image, Function]
    main: Segment
    """The one that writes the outputs."""
    parts: Mapping[Function, Segment]
    """Those that compute the other cuts; of one with such loops, an iteration of them."""
    before: Mapping[tuple[Function, int], Segment]
    """Those that compute what is passed to an extern stage, by its position."""

    def all(self) -> list[Segment]:
        """Every segment; what writes the outputs is the last."""
        return [*self.before.values(), *self.parts.values(), self.main]


def cut(request: Request, compiling: Compiling) -> Segments:
    """Cuts a pipeline, and compiles every segment. Segments may have extern stages of their own.

    Raises: as ``compiling``; ScheduleError where an extern stage is used outside of the loop that it is computed in;
        PipelineError where a C function is not in the process.
    """
    return _Cutter(request, compiling).segments()


class _Cutter:
    """Cuts one pipeline."""

    def __init__(self, request: Request, compiling: Compiling) -> None:
        self._request = request
        self._compiling = compiling
        self._order = realization_order(request.outputs)
        self._blocks = blocks_of(self._order, request.outputs)
        self._inner = {top: inside(block, self._blocks) for top, block in self._blocks.items()}
        self._cuts = self._found()
        self._functions = {e: ExternFunction(e) for e in self._cuts if e.extern is not None}
        self._images = self._imaged()
        self._owners = {image: e for e, images in self._images.items() for image in images}
        self._to: dict[ir.Callee, ir.Callee] = {}
        """By Funcs: what stands for them in segments."""
        for e, images in self._images.items():
            self._to[e] = images[0] if len(images) == 1 else self._copying(e)

    def segments(self) -> Segments:
        """The segments, compiled."""
        request = self._request
        roots = self._copy(self._order)
        for f in request.outputs:
            if f in self._images and f.keeps:
                raise ScheduleError(
                    f'"{f.name}" leaves points of its caller\'s memory as they are, so no loop of it, or of what '
                    f"reads it, can have an extern stage inside. Compute the stage at the root.",
                    _location(f),
                )
            apart = next((c for c in self._cuts if f.keeps and c is not f and f in realization_order([c])), None)
            if apart is not None:
                raise ScheduleError(
                    f'"{f.name}" leaves points of its caller\'s memory as they are, and "{apart.name}", which is '
                    f"computed before it, would read others there. Make what it reads a Func of its own.",
                    _location(f),
                )
        outputs = tuple(self._output(f) for f in request.outputs)
        required = tuple(_renamed_requirement(r, Renamed(self._to)) for r in request.requirements)
        main = self._segment(replace(request, outputs=outputs, requirements=required))
        made = [*roots.items(), *((f, iteration(b, self._inner[f], self._to)) for f, b in self._blocks.items())]
        parts = {
            f: self._segment(replace(request, outputs=(each,), requirements=(), name=f"{request.name}_part_{k}"))
            for k, (f, each) in enumerate(made)
        }
        before = self._before()
        return Segments(
            request, self._cuts, self._functions, self._blocks, self._images, self._owners, main, parts, before
        )

    def _found(self) -> list[Function]:
        """The Funcs that are computed apart: extern stages, those with one in their loops, and what these read; and
        those of which values are kept that depend on such stages."""
        within = {f for funcs in self._inner.values() for f in funcs if f.extern is not None}
        read = {g for funcs in self._inner.values() for f in funcs for g in callees(f)}
        at_root = {f for f in read if isinstance(f, Function) and isinstance(place(f), ComputeRoot)}
        kept = {f for f in self._order if isinstance(place(f), ComputeRoot) and self._is_kept_apart(f)}
        apart = {*self._blocks, *at_root, *kept}
        return [f for f in self._order if (f.extern and f not in within) or f in apart]

    def _is_kept_apart(self, f: Function) -> bool:
        """True where a Func is memoized that depends on an extern stage, or is passed to one, so that no part of the
        pipeline can keep its values."""
        passed = any(f in e.extern.params for e in self._order if e.extern is not None)
        return is_memoized(f) and f not in self._request.outputs and (passed or reads_stages(f))

    def _imaged(self) -> dict[Function, tuple[Image, ...]]:
        """New images, by component."""
        names = UniqueNames([f.name for f in self._order if f.extern is None or f in self._request.outputs])
        found: dict[Function, tuple[Image, ...]] = {}
        for e in self._cuts:
            typed = zip(_names(e), e.types, strict=True)
            found[e] = tuple([FuncImage(names.fresh(name), t, e, name) for name, t in typed])
            if layout_of(e).order[:1] not in ((), (0,)):  # neighbours in dimension 0 lie as far apart as they lie
                for image in found[e]:
                    image.constraints[ir.Field.STRIDE, 0] = any_stride(image)
        return found

    def _before(self) -> dict[tuple[Function, int], Segment]:
        """The segments of what is passed to extern stages, where that is no image."""
        before: dict[tuple[Function, int], Segment] = {}
        for e in self._functions:
            assert e.extern is not None
            for k, p in enumerate(e.extern.params):
                if isinstance(p, Function) and p not in self._images:
                    name = f"{self._request.name}_before_{len(before)}"
                    part = replace(self._request, outputs=(self._output(p),), requirements=(), name=name)
                    before[e, k] = self._segment(part)
        return before

    def _copy(self, order: Sequence[Function]) -> dict[Function, Function]:
        """Copies the Funcs, so that they read images in place of stages. Those at the root that have an image are
        the result: each is a segment of its own."""
        copies: dict[Function, Function] = {}
        for f in order:
            if f.extern is None and f not in self._blocks:
                copies[f] = copied(f, f.name, self._to, self._directives(f))
                self._to.setdefault(f, copies[f])
        renamed = Renamed(self._to)
        for f, copy in copies.items():
            copy.constraints = {at: renamed.expr(value) for at, value in f.constraints.items()}
            copy.alignment = f.alignment
            if f not in self._request.outputs:  # 0 is where nothing is defined
                copy.definitions = [replace(d, partial=()) for d in copy.definitions]
        tell_copies(copies)
        return {f: copy for f, copy in copies.items() if f in self._images}

    def _directives(self, f: Function) -> list[Directive]:
        """The directives of a Func's copy. Values are kept outside of the parts of the pipeline."""
        directives = before_externs(f)
        if not is_memoized(f) or not (self._is_kept_apart(f) or f in self._images):
            return directives
        if f not in self._images and not any(f in within for within in self._inner.values()):
            d = next(d for d in directives if isinstance(d, Memoize))
            warn_user(
                f'{d.spelled()}: "{f.name}" depends on an extern stage, or is passed to one: values are kept at the '
                f"root and in the loops that the stage is computed in, so this has no effect.",
                IgnoredDirectiveWarning,
                d.location,
            )
        return [d for d in directives if not isinstance(d, Memoize)]

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

    def _segment(self, request: Request) -> Segment:
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
        return Segment(self._compiling(whole), inputs, segment_reads(request.outputs))

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


def _names(e: Function) -> list[str]:
    """The names of the images of an extern stage: none is that of a component of an output."""
    return [e.name] if len(e.types) == 1 else [f"{e.name}_{k}" for k in range(len(e.types))]


def _location(f: Function) -> Location:
    return f.location or UNKNOWN_LOCATION


def layout_of(e: Function) -> Layout:
    """The layout of an extern stage's memory, by its directives."""
    return laid_out(e, [d for d in e.directives if isinstance(d, ReorderStorage | AlignStorage)])


def _renamed_requirement(r: Requirement, renamed: Renamed) -> Requirement:
    message = tuple([renamed.expr(m) if isinstance(m, ir.ExprNode) else m for m in r.message])
    return Requirement(renamed.expr(r.condition), message)
