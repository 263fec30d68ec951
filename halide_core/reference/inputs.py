"""The constants of an evaluation: the values of parameters and the contents of images.

In: what the caller passed, and what parameters and images are bound to. Out: numbers of the declared types, and
images as flat lists; what is missing, of another type, or read outside of an image is a PipelineError.

    Inputs({gain: 300}, {}).param(gain)                                 ->  300;  an error where gain is a uint8
    Inputs({}, {photo: (array, (0, 0))}).table(photo).extents           ->  (640, 480), x first
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from halide_core import ir
from halide_core.algorithm.model import Image, ScalarParam
from halide_core.algorithm.strides import is_dense, not_dense
from halide_core.errors import InternalError, Location, PipelineError
from halide_core.ir.float16 import numbers
from halide_core.ir.types import Type
from halide_core.reference.scalar_ops import Value, value_of, wrap_function

Array: TypeAlias = "npt.NDArray[Any]"


@runtime_checkable
class BoundArray(Protocol):
    """The interface of ``Image.bound``: the data, with numpy axes reversed, and the first coordinates, x first."""

    @property
    def array(self) -> Array: ...

    @property
    def mins(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class Table:
    """An image as a flat list; dimension 0 is dense."""

    image: Image
    values: list[Value]
    mins: tuple[int, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """Those of the caller's array, in elements."""

    def outside(self, location: Location, point: tuple[int, ...]) -> None:
        """Raises the error for a point that the image doesn't have."""
        for dim, (at, low, extent) in enumerate(zip(point, self.mins, self.extents, strict=True)):
            if not low <= at < low + extent:
                raise PipelineError(
                    f'Input "{self.image.name}" is read at {at} in dimension {dim}, '
                    f"outside of its {extent} elements from {low} to {low + extent - 1} "
                    f"(point {', '.join(map(str, point))}).",
                    location,
                )


class Before:
    """The contents of an output's buffer before a pipeline runs; 0 where there is no buffer."""

    def __init__(self, type: Type, had: tuple[Array, Sequence[int]] | None) -> None:
        self._had = had
        self._type = type

    def at(self, point: tuple[int, ...]) -> Value:
        """The value of a point."""
        if self._had is not None:
            array, mins = self._had
            place = tuple([a - low for a, low in zip(reversed(point), reversed(mins), strict=True)])
            if all(0 <= k < n for k, n in zip(place, array.shape, strict=True)):
                value: Value = numbers(np.reshape(array[place], 1)).tolist()[0]
                return value
        zero = value_of(0, self._type)
        assert zero is not None
        return zero


class Inputs:
    """The constants of a realization: parameter values and image contents."""

    def __init__(
        self, params: Mapping[ScalarParam, object], images: Mapping[Image, tuple[Array, Sequence[int]]]
    ) -> None:
        self._params = params
        self._images = images
        self._tables: dict[Image, Table] = {}

    def param(self, param: ir.Scalar) -> Value:
        """The value of a parameter."""
        assert isinstance(param, ScalarParam)
        given = self._params.get(param, param.value)
        if given is None:
            raise PipelineError(f'The parameter "{param.name}" has no value: set it, or pass it in `params`.')
        value = value_of(given, param.computed)
        if value is None:
            raise PipelineError(f'The parameter "{param.name}" can\'t be {given!r}: it is of type {param.type}.')
        return value

    def table(self, image: Image) -> Table:
        """The contents of an image, copied on first use."""
        if image not in self._tables:
            array, mins = self._bound(image)
            if array.ndim != image.dimensions or len(mins) != image.dimensions:
                raise PipelineError(f'Input "{image.name}" has {image.dimensions} dimensions, its array {array.ndim}.')
            if array.dtype != image.types[0].dtype:
                raise PipelineError(f'Input "{image.name}" is of type {image.types[0]}, its array of {array.dtype}.')
            strides = tuple(s // array.itemsize for s in reversed(array.strides))
            self._tables[image] = Table(
                image, numbers(array.ravel()).tolist(), tuple(map(int, mins)), tuple(reversed(array.shape)), strides
            )
        return self._tables[image]

    def _bound(self, image: Image) -> tuple[Array, Sequence[int]]:
        if image in self._images:
            return self._images[image]
        bound = cast(object, image.bound)
        if not isinstance(bound, BoundArray):
            raise PipelineError(f'The input "{image.name}" has no buffer: set it, or pass it in `images`.')
        return bound.array, bound.mins

    def buffer_field(self, e: ir.BufferField) -> int:
        """The value of a field of one dimension of a buffer."""
        if not isinstance(e.buffer, Image):
            raise InternalError(f'"{e!r}" asks for the shape of a Func.')
        table = self.table(e.buffer)
        if e.field is ir.Field.STRIDE and is_dense(e.buffer) and table.extents[0] > 1 and table.strides[0] != 1:
            raise not_dense(e.buffer.name, table.strides[0])
        shape = {ir.Field.MIN: table.mins, ir.Field.EXTENT: table.extents, ir.Field.STRIDE: table.strides}
        value: int = wrap_function(e.type)(shape[e.field][e.dim])
        return value
