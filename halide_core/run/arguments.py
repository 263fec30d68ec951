"""The inputs of a pipeline, in the order of the compiled function's arguments.

In: the images and parameters that the outputs mention, and what the user lists. Out: an ordered tuple, or an error.

    infer: ImageParams by name, Params by name, then the Buffers that stand in definitions
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from halide_core.algorithm.model import Image, ScalarParam
from halide_core.algorithm.user_context import is_passed
from halide_core.checks import shown
from halide_core.errors import PipelineError
from halide_core.lang.input_buffer import InputImage
from halide_core.lang.param import Param
from halide_core.run.backend import Argument

ArgumentLike: TypeAlias = "Param | InputImage | Argument"
Source: TypeAlias = "Image | ScalarParam"


def sources(arguments: Sequence[ArgumentLike]) -> list[Source]:
    """The images and parameters that the user's arguments stand for."""
    if not isinstance(arguments, Iterable) or isinstance(arguments, str | Param | InputImage | Argument):
        raise PipelineError(f"The arguments of a pipeline must be a list, not {shown(arguments)}.")
    found: list[Source] = []
    for a in arguments:
        source = a.source if isinstance(a, Param | InputImage | Argument) else None
        if not isinstance(source, Image | ScalarParam):
            raise PipelineError(f"An argument of a pipeline must be a Param, an ImageParam or an Argument, not {a!r}.")
        if source in found:
            raise PipelineError(f'"{source.name}" is an argument twice.')
        found.append(source)
    check_distinct(found)
    return found


def check_distinct(inputs: Sequence[Source]) -> None:
    """Raises PipelineError where two inputs share a name: calls, headers and messages could not tell them apart."""
    seen: dict[str, Source] = {}
    for source in inputs:
        other = seen.setdefault(source.name, source)
        if other is not source:
            raise PipelineError(
                f'Two inputs of the pipeline are called "{source.name}": one made at {other.location}, '
                f"one at {source.location}. Give them names of their own."
            )


def inputs_of(images: Sequence[Image], params: Sequence[ScalarParam]) -> tuple[Source, ...]:
    """All inputs in the order of ``infer_arguments``; what no caller passes last, in the order of first use."""
    free = sorted(filter(is_passed, images), key=lambda i: i.name)
    scalars = sorted(filter(is_passed, params), key=lambda p: p.name)
    return (*free, *scalars, *_own(images, params))


def _own(images: Sequence[Image], params: Sequence[ScalarParam]) -> list[Source]:
    """The inputs that no caller passes: embedded Buffers and the context."""
    found: list[Source] = [*images, *params]
    return [source for source in found if not is_passed(source)]


def in_order(given: Sequence[Source], images: Sequence[Image], params: Sequence[ScalarParam]) -> tuple[Source, ...]:
    """The user's arguments, then what no caller passes.

    Raises:
        PipelineError: an input that the user doesn't list.
    """
    needed: list[Source] = [*images, *params]
    for source in needed:
        if source not in given and is_passed(source):
            listed = ", ".join(g.name for g in given) or "none"
            raise PipelineError(
                f'The pipeline reads "{source.name}", made at {source.location}, '
                f"which is not among the arguments: {listed}."
            )
    check_distinct([*given, *(s for s in needed if s not in given)])
    return (*given, *(source for source in _own(images, params) if source not in given))
