"""The arguments of a pipeline of blocks: the window of the whole picture, an array for each input, values of
parameters.

In: a Func or a Pipeline, a shape, arrays. Out: a Given, in which all of these are checked to go together.

    Given.of(blur, (480, 640), {image: array})   ->   window ((0, 640), (0, 480)), arrays {image: array}
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from halide_core.algorithm.model import Function, Image, Requirement, ScalarParam
from halide_core.blocks.input_wrappers import without_input_wrappers
from halide_core.blocks.local import number
from halide_core.blocks.origins import Origins, from_zero
from halide_core.errors import PipelineError
from halide_core.func.image_param import ImageParam
from halide_core.ir import Field
from halide_core.ir.types import type_of_dtype
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box, Question, Request, Topic, backend
from halide_core.run.output_files import TargetLike
from halide_core.run.pipeline import Realizable
from halide_core.run.target import Target, checked_target

Inputs: TypeAlias = "Mapping[ImageParam | str, Any]"
Whole: TypeAlias = "Sequence[ImageParam | str] | ImageParam | str | None"

_TOLD = 12
"""Lines of an explanation that an error has."""
_UNITS = {"": 1, "B": 1} | {
    unit: size
    for k, prefix in enumerate("KMGT", 1)
    for unit, size in ((f"{prefix}B", 1000**k), (f"{prefix}iB", 1024**k))
}


@dataclass(frozen=True, eq=False)
class Given:
    """Outputs, the window that is asked of them, and all that they are computed from."""

    request: Request
    """The user's pipeline."""
    outputs: tuple[Function, ...]
    """The user's Funcs, over inputs that begin at 0."""
    requirements: tuple[Requirement, ...]
    window: Box
    arrays: dict[Image, Any]
    values: dict[ScalarParam, int | float]
    memory: int
    """Bytes that a block may need."""
    whole: frozenset[str]
    """Names of the inputs of which a block may read all."""

    @classmethod
    def of(
        cls,
        f: Realizable,
        shape: Sequence[int],
        inputs: Inputs,
        memory: int | str,
        whole: Whole = (),
        target: TargetLike = None,
        mins: Sequence[int] | None = None,
    ) -> Given:
        """The arguments of a call.

        Raises: PipelineError.
        """
        if not isinstance(f, Realizable):
            raise PipelineError(f"Blocks are computed of a Func or a Pipeline, not of {f!r}.")
        request = f._request(target=checked_target(target, runs_here=True))
        window = _window(request.outputs, shape, mins)
        images = [i for i in request.inputs if isinstance(i, Image) and not i.embedded]
        arrays = _arrays(images, inputs)
        values = {p: _value(p) for p in request.inputs if isinstance(p, ScalarParam)}
        origins = {image: _mins(image, inputs) for image in images}
        outputs = without_input_wrappers(request.outputs)
        outputs, requirements = from_zero(outputs, request.requirements, origins)
        result = cls(
            request,
            outputs,
            requirements,
            window,
            arrays,
            values,
            as_bytes(memory),
            frozenset(_known(w, images) for w in ([whole] if isinstance(whole, str | ImageParam) else whole or ())),
        )
        _check_promises([*images, *request.outputs], values, result.shapes, window, origins)
        return result

    @property
    def name(self) -> str:
        """The pipeline's."""
        return self.request.name

    @property
    def target(self) -> Target | None:
        """The target that is asked for."""
        return self.request.target

    def why(self, image: Image) -> str:
        """The reasons for what is read of an input, as text: the first of them."""
        lines = str(backend().explain(self.request, Question(Topic.INPUT, image.name))).splitlines()
        more = [f'… explain(input="{image.name}") shows all of it.'] if len(lines) > _TOLD else []
        return "\n".join([*lines[:_TOLD], *more])

    def sharing(self, count: int) -> Given:
        """The same, where so many blocks share the memory."""
        return replace(self, memory=max(1, self.memory // count))

    @property
    def shapes(self) -> dict[Image, tuple[int, ...]]:
        """The extents of each array, x first."""
        return {i: tuple(int(n) for n in reversed(a.shape)) for i, a in self.arrays.items()}


def as_bytes(memory: int | str) -> int:
    """A number of bytes: 1000000, or "128MiB".

    Raises: PipelineError.
    """
    if isinstance(memory, int | np.integer) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B|)\s*", memory) if isinstance(memory, str) else None
    if found is None or found[2] not in _UNITS or not float(found[1]):
        raise PipelineError(f'memory is a number of bytes, or a text such as "128MiB", not {memory!r}.')
    return int(float(found[1]) * _UNITS[found[2]])


def _name(image: object) -> str:
    if isinstance(image, str):
        return image
    if isinstance(image, ImageParam):
        return image.name()
    raise PipelineError(f"An input is named by its ImageParam, or by the name of this, not by {image!r}.")


def _known(image: object, images: Sequence[Image]) -> str:
    name = _name(image)
    if all(i.name != name for i in images):
        raise PipelineError(f'There is no input "{name}". The inputs: {", ".join(i.name for i in images) or "none"}.')
    return name


def _window(outputs: Sequence[Function], shape: Sequence[int], mins: Sequence[int] | None) -> Box:
    """The window of a shape, x first, from 0 on or from elsewhere. All outputs have it."""
    if not isinstance(shape, list | tuple) or not isinstance(mins, list | tuple | None):
        given = shape if not isinstance(shape, list | tuple) else mins
        raise PipelineError(f"A shape is a list of extents, and mins are a list of coordinates, not {given!r}.")
    for f in outputs:
        if f.dimensions != len(shape):
            raise PipelineError(
                f'"{f.name}" has {f.dimensions} dimensions, and the shape {tuple(shape)} has {len(shape)}. Outputs of '
                f"several shapes are realized one by one."
            )
    if mins is not None and len(mins) != len(shape):
        raise PipelineError(f"The mins {tuple(mins)} and the shape {tuple(shape)} differ in length.")
    try:
        extents = [operator.index(n) for n in shape]
        lows = [0] * len(extents) if mins is None else [operator.index(n) for n in mins]
    except TypeError:
        told = f"{tuple(shape)}{'' if mins is None else f' from {tuple(mins)}'}"
        raise PipelineError(f"A shape is of integers, not {told}.") from None
    if any(n < 0 for n in extents):
        raise PipelineError(f"A shape can't be negative: {tuple(shape)}.")
    return tuple(reversed(list(zip(lows, extents, strict=True))))


def _arrays(images: Sequence[Image], inputs: Inputs) -> dict[Image, Any]:
    """The array of each input, checked."""
    if not isinstance(inputs, Mapping):
        raise PipelineError(f"Inputs are named, {{image: array}}: not {type(inputs).__name__}.")
    given = {_known(key, images): array for key, array in inputs.items()}
    found: dict[Image, Any] = {}
    for image in images:
        array = given.get(image.name, image.bound)
        if array is None:
            raise PipelineError(f'Input "{image.name}", made at {image.location}, has no array: name it in inputs.')
        found[image] = _array(array)
        _check_array(image, found[image])
    return found


def _mins(image: Image, inputs: Inputs) -> tuple[int, ...]:
    """The coordinates at which an input begins, x first: those of a Buffer."""
    array = next((a for key, a in inputs.items() if _name(key) == image.name), image.bound)
    if isinstance(array, Buffer) and array.dimensions() == image.dimensions:
        return tuple(array.dim(d).min() for d in range(image.dimensions))
    return (0,) * image.dimensions


def _array(array: Any) -> Any:
    """The array in what a user gives: a Buffer's own, or that of Dask in a labelled one of xarray."""
    if isinstance(array, Buffer):
        return np.asarray(array)
    inner = getattr(array, "data", None)
    return inner if hasattr(array, "dims") and hasattr(inner, "__dask_graph__") else array


def _check_array(image: Image, array: Any) -> None:
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise PipelineError(f'Input "{image.name}" needs an array, not {type(array).__name__}.')
    if type_of_dtype(np.dtype(array.dtype)) is not image.types[0]:
        raise PipelineError(f'Input "{image.name}" is of {image.types[0]}, but its array is of {array.dtype}.')
    if len(array.shape) != image.dimensions:
        raise PipelineError(f'Input "{image.name}" has {image.dimensions} dimensions, its array {len(array.shape)}.')
    if any(isinstance(n, float) for n in array.shape):
        raise PipelineError(f'The array of "{image.name}" has chunks of unknown sizes: call compute_chunk_sizes().')


def _value(p: ScalarParam) -> int | float:
    """The value of a Param. Its range is checked here, as blocks would only tell when they run."""
    if p.value is None:
        raise PipelineError(f'Param "{p.name}", made at {p.location}, has no value: call set().')
    if p.low is not None and not p.value >= p.low:
        raise PipelineError(f'Param "{p.name}", made at {p.location}, must be at least {p.low}, not {p.value}.')
    if p.high is not None and not p.value <= p.high:
        raise PipelineError(f'Param "{p.name}", made at {p.location}, must be at most {p.high}, not {p.value}.')
    return p.value


def _check_promises(
    buffers: Sequence[Image | Function],
    known: Mapping[ScalarParam, int | float],
    shapes: Mapping[Image, Sequence[int]],
    window: Box,
    origins: Origins,
) -> None:
    """Raises PipelineError where an array breaks what is promised of its shape: a block could not tell."""
    for buffer in buffers:
        for (field, d), value in buffer.constraints.items():
            if field is Field.STRIDE:
                continue
            whole = (origins[buffer][d], shapes[buffer][d]) if isinstance(buffer, Image) else window[d]
            has = whole[0 if field is Field.MIN else 1]
            promised = number(value, known, shapes, origins)
            if has != promised:
                raise PipelineError(
                    f'The {field.value} of dimension {d} of "{buffer.name}" is promised to be {promised}, but is {has}.'
                )
