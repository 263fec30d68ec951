"""Running Funcs and compiling them to files: everything here asks the backend, which sits above the language.

In: outputs, and the values that Params and ImageParams hold. Out: Buffers, files, texts.

    f.realize([5, 5])   ->   compile, ask which region is written, allocate it, run, crop to 5 by 5
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias, overload

import numpy as np

from halide_core.algorithm.model import (
    Function,
    Image,
    Requirement,
    ScalarParam,
    realization_order,
    requirements_of,
    with_made_funcs,
)
from halide_core.algorithm.placed import warn_of_lost_places
from halide_core.algorithm.schedule_source import schedule_source
from halide_core.algorithm.snapshot import leaves
from halide_core.algorithm.user_context import is_passed
from halide_core.checks import integer, of_kind, shown
from halide_core.errors import PipelineError
from halide_core.lang.buffer import Buffer
from halide_core.lang.coordinates import requirement
from halide_core.lang.expr import ExprLike
from halide_core.own_name import package_name
from halide_core.reference import evaluate as semantics
from halide_core.run.allocation import allocated
from halide_core.run.arguments import ArgumentLike, check_distinct, in_order, inputs_of, sources
from halide_core.run.automatic import AUTO, AutoschedulerChoice, AutoSchedulerResults, choose, wanted
from halide_core.run.backend import (
    Argument,
    ArgumentKind,
    BoundsQuery,
    Box,
    Certificate,
    Compiled,
    Explanation,
    Question,
    RegionQuery,
    Request,
    Topic,
    backend,
    output_arguments,
)
from halide_core.run.callable import Callable, as_buffer, run_or_query
from halide_core.run.compile_memo import Built
from halide_core.run.output_files import OutputFiles, TargetLike, frozen
from halide_core.run.target import Target, checked_target, get_jit_target_from_environment
from halide_core.schedule.directives import Bound, Split, TailStrategy
from halide_core.unsupported import PIPELINE, Pending

Destination: TypeAlias = "Buffer | np.ndarray[Any, Any] | Sequence[int] | Sequence[Buffer | np.ndarray[Any, Any]]"
Filled: TypeAlias = "Buffer | np.ndarray[Any, Any] | Sequence[Buffer] | Sequence[np.ndarray[Any, Any]]"
Result: TypeAlias = "Buffer | tuple[Buffer, ...]"


class Realizable(OutputFiles, Pending):
    """The base of Func and Pipeline: outputs that can be run and compiled."""

    _pending = PIPELINE
    _built: Built | None = None

    def _functions(self) -> tuple[Function, ...]:
        """The outputs."""
        raise NotImplementedError  # Func and Pipeline say

    # Requests.

    def _defined(self) -> tuple[Function, ...]:
        functions = self._functions()
        for f in functions:
            if not f.definitions:
                raise PipelineError(f'Func "{f.name}" can\'t be realized: it is not defined.')
        return functions

    def _requirements(self) -> tuple[Requirement, ...]:
        """The requirements on every run."""
        return ()

    def _request(
        self, inputs: Sequence[Image | ScalarParam] | None = None, name: str = "", target: Target | None = None
    ) -> Request:
        outputs = self._defined()
        order = realization_order(outputs)
        warn_of_lost_places(with_made_funcs(order))
        requirements = (*self._requirements(), *requirements_of(order))
        images, params = leaves(with_made_funcs(order), outputs, requirements, inputs or ())
        check_distinct([*images, *params])
        arguments = inputs_of(images, params) if inputs is None else in_order(inputs, images, params)
        return Request(
            outputs, arguments, name or _identifier(outputs[0].name), requirements=requirements, target=target
        )

    def _current(self, target: Target | None = None) -> Request:
        """The request; the one of the last compile where nothing that it depends on has changed since."""
        built = self._built
        if built is not None and built.request.target == target and self._is_built(built):
            return built.request
        return self._request(target=target)

    def _is_built(self, built: Built) -> bool:
        return built.holds(self._functions(), self._requirements())

    def _compile(self, request: Request) -> Compiled:
        built = self._built
        if built is None or (
            built.request is not request
            and (built.request.target != request.target or not self._is_built(built))
        ):
            built = self._built = Built(frozen(request), backend().compile)
        return built.compiled

    def compile_jit(self, target: TargetLike = None, *, schedule: str | None = None) -> None:
        """Compiles now rather than at the first ``realize``; ``schedule="auto"`` chooses one for the estimates."""
        made_for = checked_target(target, runs_here=True)
        self._choose(schedule, None, made_for)
        self._compile(self._current(made_for))

    def apply_autoscheduler(
        self, target: TargetLike = None, autoscheduler_params: AutoschedulerChoice | None = None
    ) -> AutoSchedulerResults:
        """Chooses a schedule for the estimates of the outputs, and gives it to the Funcs.

        Args:
            target: what it is for; None is this machine.
            autoscheduler_params: ``hl.AutoschedulerParams(name, parameters)``. "Heuristic", as no name, chooses by
                rules, in milliseconds; "Model" by a search for the least cost, in seconds. "Tuned" and
                "Measured" are the schedules of those names. Of Halide's names Mullapudi2016 stands for the rules,
                Adams2019 and Li2018 for the search. ``parallelism`` is the number
                of threads, ``last_level_cache_size`` the bytes of cache that each has, ``beam_size`` how many choices
                the search keeps; other parameters change nothing.

        Returns:
            The schedule as Python source, and what it was chosen for. ``hl.Schedule(f)`` is it as a value.

        Raises:
            ScheduleError: Funcs that are scheduled already, or an output whose size nobody said.
        """
        made_for = checked_target(target, runs_here=False)
        choose(self._defined(), None, made_for, AUTO, autoscheduler_params)
        given = [(f, tuple(f.directives)) for f in with_made_funcs(realization_order(self._functions()))]
        made_for = made_for or get_jit_target_from_environment()
        chosen = self._functions()[0].automatic
        why = "" if chosen is None else chosen.why
        return AutoSchedulerResults(made_for, autoscheduler_params, schedule_source(given), explanation=why)

    def _choose(self, schedule: str | None, windows: Sequence[Box] | None, target: Target | None) -> None:
        """Has the Funcs scheduled where a call wants that."""
        if wanted(schedule):
            choose(self._defined(), windows, target, schedule)

    def __getstate__(self) -> dict[str, Any]:
        """The contents of a pickle: all but the compiled code, which is compiled again, or found on disk."""
        return {**self.__dict__, "_built": None}

    def invalidate_cache(self) -> None:
        """Forgets the compiled code that this object holds."""
        self._built = None

    # Running.

    @overload
    def realize(
        self, dst: Sequence[int] = (), target: TargetLike = None, *, sizes: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> Buffer | Any: ...  # Any stands for a tuple: that a Func has several values is no part of its type

    @overload
    def realize(
        self, dst: Filled, target: TargetLike = None, *, sizes: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> None: ...

    @overload
    def realize(
        self, dst: Destination, target: TargetLike = None, *, sizes: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> Buffer | Any | None: ...

    def realize(
        self,
        dst: Destination = (),
        target: TargetLike = None,
        *,
        sizes: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> Result | None:
        """Computes the outputs.

        Args:
            dst: sizes of a window from 0 (then Buffers of it are returned), or Buffers or arrays to fill, whose own
                coordinates are the window.
            schedule: "auto" chooses one for these sizes by rules, "model" by a search; "tuned" takes what ``hl.tune``
                found, "measured" looks for one where nothing was found; None leaves the Funcs as they are scheduled.

        Returns:
            A Buffer, a tuple of them where there are several outputs or values, or nothing where they were given, or
            where an input has no memory (``Buffer.make_bounds_query``): then it gets the region that is read of it.

        Raises:
            PipelineError: an input without a value, or the pipeline failed.
        """
        where = dst if sizes is None else sizes
        made_for = checked_target(target, runs_here=True)
        given = _buffers(where)
        if wanted(schedule):
            self._choose(schedule, self._windows(where, given), made_for)
        request = self._current(made_for)
        if given is not None:
            buffers, values = self._checked_outputs(request, given), _values(request)
            run_or_query(self._compile(request), values, buffers)
            return None
        windows = [_window(f, where) for f in request.outputs for _ in f.types]
        values = _values(request)
        compiled = self._compile(request)
        absent = [isinstance(v, Buffer) and not v.has_memory() for v in values]
        known = [None if lacks else v for v, lacks in zip(values, absent, strict=True)]
        _, regions = settled(partial(compiled.query, known), windows)
        if any(absent):
            run_or_query(compiled, values, [_query(a, r) for a, r in zip(_outputs(request), regions, strict=True)])
            return None
        filled = _filled(request, regions)
        try:
            compiled.run(values, filled)
        except PipelineError as error:
            raise type(error)(error.message + _grown(compiled, windows, regions)) from None
        result = tuple(b.cropped(list(w)) for b, w in zip(filled, windows, strict=True))
        return result[0] if len(result) == 1 else result

    def _windows(self, where: object, given: Sequence[object] | None) -> list[Box]:
        """The window of each output."""
        if given is None:
            return [_window(f, where) for f in self._defined()]
        request = self._current()
        boxes = iter([_box(b) for b in self._checked_outputs(request, given)])
        return [next(iter([next(boxes) for _ in f.types])) for f in request.outputs]

    def _checked_outputs(self, request: Request, given: Sequence[object]) -> list[Buffer]:
        arguments = _outputs(request)
        if len(given) != len(arguments):
            each = ", ".join(f'"{a.name}"' for a in arguments)
            told = f"{len(arguments)} outputs" + (f", {each}" if len(arguments) > len(request.outputs) else "")
            raise PipelineError(f"The pipeline has {told}, but {len(given)} buffers are given.")
        return [as_buffer(b, a) for b, a in zip(given, arguments, strict=True)]

    def evaluate(
        self,
        window: Sequence[int | tuple[int, int]],
        *,
        strict_float: bool = False,
        before: Buffer | np.ndarray[Any, Any] | Sequence[Buffer | np.ndarray[Any, Any]] | None = None,
    ) -> Any:
        """The values in a window by the reference semantics (figure 2.6), without schedule or compiler.

        Args:
            window: an extent, or (min, extent), for each dimension.
            strict_float: what a target with this feature computes, where no product is fused with a sum.
            before: what ``realize`` would be given to fill: points that a first definition leaves undefined keep the
                values that these Buffers or arrays have now, and are 0 elsewhere. They are not written.
        """
        box = _evaluated_box(window)
        outputs = self._defined()
        had: dict[Function, list[tuple[np.ndarray[Any, Any], Sequence[int]]]] = {}
        if before is not None:
            given = self._checked_outputs(self._request(), _buffers(before) or [])
            owners = [f for f in outputs for _ in f.types]
            for f, b in zip(owners, given, strict=True):
                had.setdefault(f, []).append((b.array, b.mins))
        results = [semantics.evaluate(f, box, strict_float=strict_float, before=had) for f in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def infer_arguments(self) -> list[Argument]:
        """The inputs that the outputs need: buffers, then scalars, each in the order of their names."""
        return [_argument(s) for s in self._request().inputs if is_passed(s)]

    def infer_input_bounds(self, dst: Destination, target: TargetLike = None) -> None:
        """Binds to each ImageParam without data a new Buffer of the region that computing ``dst`` reads; a larger one
        where constraints of its shape, or of others', ask for that.

        Raises:
            PipelineError: no shapes keep the constraints.
        """
        request = self._request(target=checked_target(target, runs_here=True))
        given = _buffers(dst)
        if given is None:
            windows = [_window(f, dst) for f in request.outputs for _ in f.types]
        else:
            windows = [_box(b) for b in self._checked_outputs(request, given)]
        values = [_value(s, optional=True) for s in request.inputs]
        compiled = self._compile(request)
        queries = [b for b in given or () if isinstance(b, Buffer) and not b.has_memory()]
        if given is None or queries:  # what ``realize`` makes: rounded up, as the schedule and the constraints ask for
            _, windows = settled(partial(compiled.query, values), windows)
        regions = _agreed(compiled, values, windows)
        for source, region in zip(request.inputs, regions, strict=True):
            if isinstance(source, Image) and source.bound is None and region is not None:
                source.bound = allocated(source, region)
        for buffer, window in zip(given or (), windows, strict=False):
            if buffer in queries:
                buffer.set_region(window)

    def compile_to_callable(
        self, arguments: Sequence[ArgumentLike], target: TargetLike = None, *, schedule: str | None = None
    ) -> Callable:
        """Compiles to a function of ``arguments`` and the outputs; ``schedule="auto"`` chooses one for the estimates.

        Raises:
            PipelineError: an input that is not among the arguments.
        """
        given, made_for = sources(arguments), checked_target(target, runs_here=True)
        self._choose(schedule, None, made_for)
        request = frozen(self._request(given, target=made_for))
        return Callable(request, backend().compile(request), len(given))

    def certify(self) -> Certificate:
        """Why the scheduled program is right: every claim about its memory, its loops and its values, with a verdict.

        It holds for every window, and for all values of the inputs. ``print`` shows it; ``ok`` says whether nothing is
        refuted and nothing is left open. It is of the loops that a schedule makes of the definitions, inlined ones in
        their places, before passes make them fast and C of them.

        Raises:
            HalideError: z3 is not installed.
        """
        return backend().certify(self._request())

    # Texts.

    def loop_nest(self) -> str:
        """The scheduled loops as an indented text."""
        return backend().loop_nest(self._request())

    def print_loop_nest(self) -> None:
        """Prints the scheduled loops."""
        sys.stdout.write(self.loop_nest().rstrip("\n") + "\n")

    def explain(
        self, *, loop: str | None = None, allocation: str | None = None, input: str | None = None
    ) -> Explanation:
        """Why the bounds are what they are: each directive's effect, the query, and each answer's origin.

        Args:
            loop: only why this loop runs as it does: ``"x"``, ``"f.x"`` or ``"f.s1.x"`` of update stage 1.
            allocation: only why the memory of the Func of this name is as large as it is.
            input: only why this much of the input of this name is needed.

        Returns:
            What ``print`` shows as text, a notebook as a table, and ``latex()`` as formulas.

        Raises:
            PipelineError: nothing has the name; the message lists what there is.
        """
        asked = ((Topic.LOOP, loop), (Topic.ALLOCATION, allocation), (Topic.INPUT, input))
        named = [(topic, name) for topic, name in asked if name is not None]
        questions = [Question(topic, of_kind(name, str, "explain() takes a name")) for topic, name in named]
        if len(questions) > 1:
            raise PipelineError("explain() answers one question at a time: a loop, an allocation or an input.")
        return backend().explain(self._request(), questions[0] if questions else None)

    def bounds_query(self) -> BoundsQuery:
        """The conditions that the bounds of all loops and of all memory must satisfy (figure 2.10a).

        ``print`` shows the conditions, and ``to_smtlib()`` gives them to a solver.
        """
        return backend().bounds_query(self._request())


class Pipeline(Realizable):
    """Several Funcs that are computed together, or one; ``Pipeline()`` is undefined until another takes its place."""

    def __init__(self, outputs: Realizable | Sequence[Realizable] | None = None) -> None:
        self._outputs: list[Realizable] = []
        self._required: list[Requirement] = []
        if outputs is None:
            return
        several = outputs if isinstance(outputs, list | tuple) else (outputs,)
        funcs = [f for f in several if isinstance(f, Realizable)]
        if not funcs or len(funcs) < len(several):
            raise PipelineError(f"A Pipeline is made of one Func or a list of Funcs, not of {shown(outputs)}.")
        self._outputs = funcs
        if len({id(f) for f in self._functions()}) < len(self._functions()):
            raise PipelineError("A Pipeline can't have the same Func as an output twice.")

    def _functions(self) -> tuple[Function, ...]:
        if not self._outputs:
            raise PipelineError("This Pipeline is undefined: it has no outputs. Write hl.Pipeline([f, …]).")
        return tuple(f for output in self._outputs for f in output._functions())

    def _requirements(self) -> tuple[Requirement, ...]:
        return (*self._required, *(r for output in self._outputs for r in output._requirements()))

    def add_requirement(self, condition: ExprLike, *args: ExprLike | str) -> None:
        """Demands of every run that a condition on Params and on the shapes of inputs and outputs holds.

        Args:
            condition: known when the pipeline starts. args: what a run that does not meet it says, texts and values.

        Raises:
            DefinitionError: the condition, or a value, is not known when the pipeline starts.
        """
        self._required.append(requirement("add_requirement()", condition, args))

    def outputs(self) -> list[Realizable]:
        """The Funcs that the Pipeline was made of."""
        return list(self._outputs)

    def get_func(self, index: int) -> Realizable:
        """One of the outputs.

        Raises:
            PipelineError: there is none of this number.
        """
        if not 0 <= integer(index, "get_func() takes the number of an output") < len(self._outputs):
            count = len(self._outputs)
            raise PipelineError(f"{self!r} has {count} output{'s' * (count != 1)}: no output {shown(index)}.")
        return self._outputs[index]

    def defined(self) -> bool:
        """True where every output has a definition."""
        return bool(self._outputs) and all(f.definitions for f in self._functions())

    def __repr__(self) -> str:
        if not self._outputs:
            return f"<{package_name()}.Pipeline Pipeline()>"
        return f"<{package_name()}.Pipeline {[f.name for output in self._outputs for f in output._functions()]}>"


def _hull(a: Box, b: Box) -> Box:
    """The smallest region around two. What is needed contains the window, or the run will say why not."""
    ends = [(min(x, y), max(x + m, y + n)) for (x, m), (y, n) in zip(a, b, strict=True)]
    return tuple((low, high - low) for low, high in ends)


_ROUNDS = 64
_MORE = (TailStrategy.Auto, TailStrategy.RoundUp, TailStrategy.ShiftInwards, TailStrategy.ShiftInwardsAndBlend)


def settled(query: RegionQuery, windows: list[Box]) -> tuple[list[Box | None], list[Box]]:
    """The regions of the inputs and of the outputs that contain the windows and need no larger ones themselves:
    rounding one stage up can make the next round further."""
    for _ in range(_ROUNDS):
        inputs, needed = query(windows)
        regions = [_hull(a, b) for a, b in zip(needed, windows, strict=True)]
        if regions == windows:
            return inputs, regions
        windows = regions
    raise PipelineError("The regions that the outputs need keep growing. Round up fewer loops, or use GuardWithIf.")


def _agreed(compiled: Compiled, values: Sequence[Any], windows: list[Box]) -> list[Box | None]:
    """The regions of the inputs without data: those that are read, made larger until they hold what is read of inputs
    of these shapes, and the constraints of their shapes hold of each other."""
    regions: list[Box | None] = [None] * len(values)
    for _ in range(_ROUNDS):
        asked = [v if r is None else r for v, r in zip(values, regions, strict=True)]
        found, _ = compiled.query(asked, windows)
        if found == regions:
            return regions
        regions = found
    names = ", ".join(f'"{a.name}"' for a, r in zip(compiled.arguments, regions, strict=False) if r is not None)
    raise PipelineError(
        f"No shapes of {names} hold what is read of them and keep the constraints that are set of them: with each "
        f"round they ask for more."
    )


def _grown(compiled: Compiled, windows: list[Box], regions: list[Box]) -> str:
    """The regions computed beyond the windows that were asked for, to add to an error that it may be the cause of."""
    outputs = [a for a in compiled.arguments if a.kind is ArgumentKind.OutputBuffer]
    more = [
        f'"{a.name}" from {region[0]} to {region[0] + region[1] - 1} in dimension {d}, '
        f"where {window[0]} to {window[0] + window[1] - 1} is asked for"
        for a, asked, got in zip(outputs, windows, regions, strict=True)
        for d, (window, region) in enumerate(zip(asked, got, strict=True))
        if window != region and _is_rounded(a.source, d)
    ]
    how = "hl.TailStrategy.GuardWithIf computes nothing beyond."
    return f". The schedule takes whole vectors or tiles, and computes {'; '.join(more)}: {how}" if more else ""


def _is_rounded(f: object, dim: int) -> bool:
    """True where an output has a split of a dimension that may take more of it than is asked for, if that is not
    set."""
    assert isinstance(f, Function)
    here = [d for d in f.directives if f.args[dim] in d.variables()[:1]]
    rounded = any(isinstance(d, Split) and d.tail in _MORE for d in here)
    return rounded and not any(isinstance(d, Bound) for d in here)


def _identifier(name: str) -> str:
    """A name as C allows it."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{text}" if text[:1].isdigit() else text


def _argument(source: Image | ScalarParam) -> Argument:
    if isinstance(source, Image):
        return Argument.of(ArgumentKind.InputBuffer, source.name, source.types[0], source.dimensions, source)
    return Argument.of(ArgumentKind.InputScalar, source.name, source.type, 0, source)


def _buffers(where: object) -> list[object] | None:
    """The buffers to fill, or None where sizes are given."""
    if isinstance(where, Buffer | np.ndarray):
        return [where]
    if isinstance(where, list | tuple) and any(isinstance(w, Buffer | np.ndarray) for w in where):
        return list(where)
    return None


def _evaluated_box(window: Sequence[int | tuple[int, int]]) -> Box:
    """Minima and extents of a window that is given by extents, or by both."""
    try:
        pairs = [w if isinstance(w, tuple) else (0, w) for w in window]
        return tuple((operator.index(low), operator.index(extent)) for low, extent in pairs)
    except (TypeError, ValueError) as error:
        raise PipelineError(
            f"A window is a list of extents, or of (min, extent), for each dimension, not {shown(window)}."
        ) from error


def _window(function: Function, sizes: object) -> Box:
    if not isinstance(sizes, list | tuple):
        raise PipelineError(
            f'"{function.name}" is realized with a list of sizes, or Buffers or arrays to fill, not {shown(sizes)}.'
        )
    if len(sizes) != function.dimensions:
        raise PipelineError(f'Func "{function.name}" has {function.dimensions} dimensions, not {len(sizes)}.')
    try:
        extents = [operator.index(s) for s in sizes]
    except TypeError as wrong:
        raise PipelineError(f"The sizes of a realization must be integers, not {list(sizes)}.") from wrong
    if any(e < 0 for e in extents):
        raise PipelineError(f"The sizes of a realization can't be negative: {extents}.")
    return tuple((0, e) for e in extents)


def _box(buffer: Buffer) -> Box:
    dims = [buffer.dim(i) for i in range(buffer.dimensions())]
    return tuple((d.min(), d.extent()) for d in dims)


def _query(argument: Argument, window: Box) -> Buffer:
    """A Buffer without memory, of a window."""
    buffer = Buffer.make_bounds_query(argument.type, [extent for _, extent in window])
    buffer.set_min([low for low, _ in window])
    return buffer


def _outputs(request: Request) -> list[Argument]:
    """The argument of each value of each output."""
    return [a for f in request.outputs for a in output_arguments(f)]


def _filled(request: Request, regions: Sequence[Box]) -> list[Buffer]:
    """A new Buffer for each value of each output."""
    places = [(f, k) for f in request.outputs for k in range(len(f.types))]
    return [allocated(f, region, k) for (f, k), region in zip(places, regions, strict=True)]


def _value(source: Image | ScalarParam, *, optional: bool = False) -> Buffer | int | float | None:
    if isinstance(source, ScalarParam):
        if source.value is None:
            raise PipelineError(f'Param "{source.name}", made at {source.location}, has no value: call set().')
        return source.value
    if source.bound is None and not optional:
        raise PipelineError(f'ImageParam "{source.name}", made at {source.location}, has no data: call set().')
    return source.bound if isinstance(source.bound, Buffer) else None


def _values(request: Request) -> list[Buffer | int | float]:
    values = [_value(source) for source in request.inputs]
    return [v for v in values if v is not None]
