"""A compiled pipeline as a Python function of its arguments.

In: values in the order given to ``compile_to_callable``, then the outputs. Out: the outputs, filled.

    c = f.compile_to_callable([p, ip]);  c(3, array, out)
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from halide_core.algorithm.model import Image, ScalarParam
from halide_core.checks import of_kind, shown
from halide_core.errors import PipelineError
from halide_core.lang.arguments.values import checked_value
from halide_core.lang.buffer import Buffer
from halide_core.lang.expr import Operand
from halide_core.run.backend import Argument, ArgumentKind, Compiled, Prepared, Request, backend


def as_buffer(value: object, argument: Argument) -> Buffer:
    """A Buffer for a buffer argument, made of an array where it isn't one.

    Raises:
        PipelineError: another type, or another number of dimensions; an output that is read-only.
    """
    kind = "Output" if argument.kind is ArgumentKind.OutputBuffer else "Input"
    what = f'{kind} "{argument.name}"'
    if isinstance(value, bool | int | float | str | bytes | Operand) or value is None:
        raise PipelineError(f"{what}: {shown(value)} is not an instance of Buffer, nor a numpy array.")
    buffer = value if isinstance(value, Buffer) else Buffer(value)
    if buffer.type() is not argument.type:
        raise PipelineError(
            f"{kind} buffer {argument.name} has type {argument.type} "
            f"but type of the buffer passed in is {buffer.type()}."
        )
    if buffer.dimensions() != argument.dimensions:
        raise PipelineError(
            f"{kind} buffer {argument.name} requires a buffer of exactly {argument.dimensions} dimensions, "
            f"but the buffer passed in has {buffer.dimensions()} dimensions."
        )
    if argument.kind is ArgumentKind.OutputBuffer and not buffer.array.flags.writeable:
        raise PipelineError(f"{what} is read-only: it is made of an array that can't be written.")
    return buffer


def run_or_query(
    compiled: Compiled, inputs: Sequence[Buffer | int | float], outputs: Sequence[Buffer]
) -> bool:
    """Runs, or, where a Buffer has no memory, gives each that has none the region that is needed of it.

    Returns: whether it ran.
    """
    absent = [b for b in (*inputs, *outputs) if isinstance(b, Buffer) and not b.has_memory()]
    if not absent:
        compiled.run(inputs, outputs)
        return True
    asked = [None if isinstance(v, Buffer) and not v.has_memory() else v for v in inputs]
    windows = [tuple((b.dim(d).min(), b.dim(d).extent()) for d in range(b.dimensions())) for b in outputs]
    needed, written = compiled.query(asked, windows)
    for buffer, region in zip((*inputs, *outputs), (*needed, *written), strict=True):
        if isinstance(buffer, Buffer) and not buffer.has_memory() and region is not None:
            buffer.set_region(region)
    return False


class Callable:
    """A compiled pipeline, from ``compile_to_callable``: call it with the inputs and then the outputs, by position or
    by name."""

    def __init__(self, request: Request, compiled: Compiled, given: int) -> None:
        self._request = of_kind(request, Request, "A Callable is made by compile_to_callable(): of what was compiled")
        self._name = request.name
        self._compiled = compiled
        self._given = given
        inputs = [a for a in compiled.arguments if a.kind is not ArgumentKind.OutputBuffer]
        outputs = [a for a in compiled.arguments if a.kind is ArgumentKind.OutputBuffer]
        self._inputs, self._embedded = inputs[:given], inputs[given:]
        self._parameters = self._inputs + outputs
        self._last: Prepared | None = None
        """A call that the next one most often repeats, with other values in the same buffers."""
        self._seen: tuple[int, ...] = ()
        """The identities of the last call's objects."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """A pickle holds the pipeline; it is compiled, or found on disk, where it is read."""
        return _compiled_again, (self._request, self._given)

    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a call, in order."""
        return tuple(self._parameters)

    def __call__(self, *args: Any, **named: Any) -> None:
        """Runs the pipeline; where a Buffer has no memory (``Buffer.make_bounds_query``), only asks for its region.

        Raises:
            PipelineError: too few or too many arguments, or one of another type; nothing is run then.
        """
        last = self._last
        if last is not None and not named and last.run(args):
            return
        values = self._bind(args, named)
        checked = [self._checked(v, a) for v, a in zip(values, self._parameters, strict=True)]
        inputs = checked[: len(self._inputs)] + [_embedded(a) for a in self._embedded]
        outputs = [b for b in checked[len(self._inputs) :] if isinstance(b, Buffer)]
        if run_or_query(self._compiled, inputs, outputs):
            self._remember(args, checked, inputs, outputs)

    def _remember(
        self,
        args: Sequence[object],
        checked: list[Buffer | int | float],
        inputs: list[Buffer | int | float],
        outputs: list[Buffer],
    ) -> None:
        """Prepares a call that was made twice in a row to be made again."""
        again = self._seen == (seen := tuple(map(id, args)))
        self._seen = seen
        if again and not self._embedded and len(args) == len(checked) and all(map(operator.is_, args, checked)):
            self._last = self._compiled.prepare(inputs, outputs)

    def _bind(self, args: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        names = [a.name for a in self._parameters]
        if len(args) > len(names):
            raise PipelineError(f"{self!r}: Expected at most {len(names)} positional arguments, but saw {len(args)}.")
        bound = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names:
                raise PipelineError(f"{self!r}: Unknown argument '{name}' specified via keyword.")
            if name in bound:
                raise PipelineError(f"{self!r}: Argument {name} specified multiple times.")
            bound[name] = value
        absent = [n for n in names if n not in bound]
        if absent:
            if named:
                one = f"Argument {absent[0]} was not specified by either positional or keyword argument"
            else:
                one = f"Expected exactly {len(names)} positional arguments, but saw {len(args)}"
            raise PipelineError(f"{self!r}: {one}; not given: {', '.join(absent)}.")
        return [bound[n] for n in names]

    def _checked(self, value: object, argument: Argument) -> Buffer | int | float:
        if argument.kind is not ArgumentKind.InputScalar:
            return as_buffer(value, argument)
        return checked_value(argument.type, value, f'Argument "{argument.name}"')

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(a.name for a in self._parameters)})"


def _compiled_again(request: Request, given: int) -> Callable:
    return Callable(request, backend().compile(request), given)


def _embedded(argument: Argument) -> Buffer | int | float:
    """The value of an input that no caller passes: a Buffer of a definition, or the context, which is NULL here."""
    source = argument.source
    value = source.value if isinstance(source, ScalarParam) else source.bound if isinstance(source, Image) else None
    assert isinstance(value, Buffer | int | float)
    return value
