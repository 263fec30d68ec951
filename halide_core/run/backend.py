"""The protocol of the layers above the language.

``Func.realize`` needs a compiler and a runtime, which sit above the language. ``runtime`` implements ``Backend``; it
is found by its name (``implementation``) when it is first needed, so that importing the language stays cheap.

    backend().compile(request).run(values, buffers)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image, Requirement, ScalarParam
from halide_core.algorithm.strides import is_dense, with_strides
from halide_core.checks import shown
from halide_core.errors import PipelineError
from halide_core.ir.types import Type
from halide_core.lang.buffer import Buffer
from halide_core.lang.estimates import ArgumentEstimates, estimates_of
from halide_core.run.implementation import implementation
from halide_core.run.profile_data import Profile
from halide_core.run.target import Target
from halide_core.schedule.directives import StageDirective


class ArgumentKind(Enum):
    """The kind of an argument of a compiled pipeline."""

    InputScalar = "InputScalar"
    InputBuffer = "InputBuffer"
    OutputBuffer = "OutputBuffer"


class Carrier(Protocol):
    """A Param, an ImageParam, a Buffer, or the buffer of an output: what has an argument of a pipeline."""

    @property
    def source(self) -> Image | ScalarParam | Function:
        """The input or the output as the compiler sees it."""
        ...


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Argument:
    """One argument of the compiled function: ``Argument(param)`` of a Param, an ImageParam, a Buffer, or the buffer of
    an output. ``source`` is the Image, Parameter or Function it carries."""

    kind: ArgumentKind
    name: str
    type: Type
    dimensions: int
    source: ir.Callee | ir.Scalar
    component: int = 0
    dense: bool = True
    """True where dimension 0 must have stride 1: unless a constraint says which other stride it has."""
    strided: bool = False
    """True where the program reads or promises strides, which are those of the memory that is passed."""

    def __init__(self, of: Carrier) -> None:
        source = getattr(of, "source", None)
        match source:
            case ScalarParam():
                self._fill(ArgumentKind.InputScalar, source.name, source.type, 0, source, 0, True, False)
            case Image(types=(type,)):
                dense = is_dense(source)
                self._fill(ArgumentKind.InputBuffer, source.name, type, source.dimensions, source, 0, dense, False)
            case Function(types=(type,)):
                dense = is_dense(source)
                self._fill(ArgumentKind.OutputBuffer, source.name, type, source.dimensions, source, 0, dense, False)
            case _:
                raise PipelineError(
                    f"An Argument is made of a Param, an ImageParam, a Buffer, or the one output_buffer() of a Func, "
                    f"not of {shown(of)}."
                )

    def _fill(self, *values: object) -> None:
        for each, value in zip(dataclasses.fields(self), values, strict=True):
            object.__setattr__(self, each.name, value)

    @classmethod
    def of(
        cls,
        kind: ArgumentKind,
        name: str,
        type: Type,
        dimensions: int,
        source: ir.Callee | ir.Scalar,
        component: int = 0,
        dense: bool = True,
        strided: bool = False,
    ) -> Argument:
        """An argument with all that is known of it."""
        self = cls.__new__(cls)
        self._fill(kind, name, type, dimensions, source, component, dense, strided)
        return self

    @property
    def argument_estimates(self) -> ArgumentEstimates:
        """Estimates of the values."""
        assert isinstance(self.source, Image | Function | ScalarParam)
        return estimates_of(self.source)


def output_arguments(f: Function, *, strided: bool = False) -> list[Argument]:
    """The arguments that an output is written to: a buffer for each value of a point."""
    return [
        Argument.of(ArgumentKind.OutputBuffer, f.component_name(k), type, f.dimensions, f, k, is_dense(f), strided)
        for k, type in enumerate(f.types)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request to compile: the outputs, the inputs in the order of the function's arguments, its name."""

    outputs: tuple[Function, ...]
    inputs: tuple[Image | ScalarParam, ...]
    name: str
    flags: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    target: Target | None = None
    """None is this machine, with all of its instructions."""
    runtime: bool = True
    """True where a library carries the runtime; else the program that links it does."""


def arguments(request: Request, algorithm: Algorithm) -> tuple[Argument, ...]:
    """The arguments of the compiled function: the inputs as requested, then every component of every output."""
    result: list[Argument] = []
    strided = with_strides(algorithm)
    for source in request.inputs:
        if isinstance(source, Image):
            kind, type, dims = ArgumentKind.InputBuffer, source.types[0], source.dimensions
            result.append(Argument.of(kind, source.name, type, dims, source, 0, is_dense(source), source in strided))
        else:
            result.append(Argument.of(ArgumentKind.InputScalar, source.name, source.type, 0, source))
    for f in algorithm.outputs:
        result.extend(output_arguments(f, strided=f in strided))
    return tuple(result)


class OutputKind(Enum):
    """The kinds of files that ahead-of-time compilation can write."""

    C_SOURCE = "c_source"
    C_HEADER = "c_header"
    OBJECT = "object"
    STATIC_LIBRARY = "static_library"
    ASSEMBLY = "assembly"
    STMT = "stmt"
    STMT_HTML = "stmt_html"
    CONCEPTUAL_STMT = "conceptual_stmt"
    CONCEPTUAL_STMT_HTML = "conceptual_stmt_html"
    PYTHON_EXTENSION = "python_extension"
    PYTORCH_WRAPPER = "pytorch_wrapper"
    REGISTRATION = "registration"
    SCHEDULE = "schedule"
    FEATURIZATION = "featurization"
    PIPELINE = "hlpipe"


Box = tuple[tuple[int, int], ...]
"""(min, extent) of each dimension, the first being x."""


class Prepared(Protocol):
    """A run with given arguments, which can be repeated as long as they are as they were. Keeps nothing alive."""

    def run(self, arguments: Sequence[object]) -> bool:
        """Runs, unless anything about the arguments has changed; whether it did. Raises PipelineError."""
        ...


RegionQuery: TypeAlias = "Callable[[Sequence[Box]], tuple[list[Box | None], list[Box]]]"
"""From windows of the outputs to the regions of unknown inputs (None for the others) and of outputs."""


class Compiled(Protocol):
    """A loaded pipeline."""

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        ...

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs into the outputs. Raises PipelineError, with the pipeline's and the argument's name, and then
        the outputs are unchanged if the arguments were at fault."""
        ...

    def prepare(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> Prepared | None:
        """The same run, to be repeated at little cost; None where something must be copied on the way."""
        ...

    def take_profile(self) -> Profile:
        """The measurements since the last call. Raises PipelineError where it was not compiled to be measured."""
        ...

    def query(
        self, inputs: Sequence[Buffer | int | float | bool | Box | None], outputs: Sequence[Box]
    ) -> tuple[list[Box | None], list[Box]]:
        """The regions that computing the given output windows needs: of each input that is None, or the region that is
        thought of so far (None for the others), and of each output, which can be larger than its window. Nothing is
        computed."""
        ...

    def asked(self, inputs: Sequence[Buffer | int | float | bool | Box | None]) -> RegionQuery:
        """``query`` for the same inputs and windows one after another, at less cost each."""
        ...


class Certificate(Protocol):
    """Why a compiled program is right, claim by claim. ``print`` shows it as a table."""

    @property
    def ok(self) -> bool:
        """True where no claim is refuted, and none is left open."""
        ...

    @property
    def proven_share(self) -> float:
        """The part of the claims that holds without any start-up check."""
        ...

    def to_json(self) -> str:
        """The whole certificate, under a versioned schema."""
        ...


class Topic(Enum):
    """The topics of ``explain``; the value is the word for it."""

    LOOP = "loop"
    ALLOCATION = "allocation"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Question:
    """Why does the thing of this name have the bounds that it has?"""

    topic: Topic
    name: str


class Explanation(Protocol):
    """An explanation of what the compiler did, or of some bounds. ``print`` shows it; notebooks show a table."""

    def latex(self) -> str:
        """The closed forms of the bounds. Raises HalideError where sympy is not installed."""
        ...

    def _repr_latex_(self) -> str | None: ...

    def _repr_html_(self) -> str: ...


class BoundsQuery(Protocol):
    """The conditions that the bounds of a pipeline must satisfy. ``print`` shows it, one condition a line."""

    def to_smtlib(self, *, answered: bool = False) -> str:
        """A complete SMT-LIB 2 script: with open bounds, which a solver may look for; or, ``answered``, with those that
        the compiler found, where every check must say ``unsat``: no condition can fail."""
        ...


class Backend(Protocol):
    """The interface that ``runtime`` provides."""

    def check(self, function: Function, directives: Sequence[StageDirective]) -> None:
        """Refuses directives about loops that the Func's own stages show to be illegal. Raises: ScheduleError."""
        ...

    def compile(self, request: Request) -> Compiled:
        """Compiles, or takes from the cache on disk, and loads."""
        ...

    def write(self, requests: Sequence[Request], files: dict[OutputKind, Path]) -> None:
        """Writes ahead-of-time outputs of one function, or of several together; all or none."""
        ...

    def write_versions(
        self, requests: Sequence[Request], files: dict[OutputKind, Path], suffixes: Sequence[str] = ()
    ) -> None:
        """Writes one function for several targets, chosen from when it is first called; all files or none."""
        ...

    def write_runtime(self, target: Target | None, files: dict[OutputKind, Path]) -> None:
        """Writes the runtime alone, as an object or a library; all files or none."""
        ...

    def cpu_features(self) -> frozenset[str]:
        """The instructions that this machine's processor has, by the Linux kernel's names."""
        ...

    def unreached(self, target: Target) -> str:
        """Why no code is made for a machine, whatever is installed here; empty where it is."""
        ...

    def set_threads(self, count: int) -> None:
        """Sets how many threads the parallel loops of this process have, those that call them included."""
        ...

    def forget(self, group: int | None) -> None:
        """Gives up what memoized Funcs keep: that of one eviction key, or all."""
        ...

    def remember(self, size: int) -> None:
        """Sets how many bytes memoized Funcs keep; 0 is the default."""
        ...

    def certify(self, request: Request) -> Certificate:
        """Every claim about the compile, with its verdict."""
        ...

    def command(self, words: Sequence[str]) -> int:
        """The command line, ``python -m halide_core``. Returns the status for the shell."""
        ...

    def loop_nest(self, request: Request) -> str:
        """The scheduled loops as an indented text."""
        ...

    def explain(self, request: Request, question: Question | None = None) -> Explanation:
        """T0, each directive's effect, the query, and every hole's answer with its origin; or one question's answer."""
        ...

    def bounds_query(self, request: Request) -> BoundsQuery:
        """The query that bounds inference answers."""
        ...


def backend() -> Backend:
    """The runtime's backend, loaded on first use."""
    found: Backend = implementation()
    return found
