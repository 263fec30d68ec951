"""The memory of a Buffer and its shape: what numpy knows, told with x first and with coordinates that start anywhere.

In: a numpy array, or a type and sizes. Out: mins, extents and strides that a pipeline can rely on.

    np.zeros((3, 4), "u1")[::2]   ->   dim(0): (0, 4, stride 1);  dim(1): (0, 2, stride 8)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from halide_core.buffer.png import Array, png
from halide_core.checks import integer, integers, of_kind, shown
from halide_core.errors import DefinitionError, HalideError
from halide_core.ir.float16 import numbers
from halide_core.ir.types import BFLOAT16_DTYPE, INT32, Type, type_of_dtype


def allocate(
    type: Type,
    sizes: Sequence[int] | None = None,
    storage_order: Sequence[int] | str | None = None,
    name: str = "",
    *,
    zeroed: bool = True,
) -> tuple[Array, str]:
    """Memory of (x, y, …) sizes, the first dimension of ``storage_order`` dense; and the Buffer's name."""
    order: Sequence[int] | None = None
    if isinstance(storage_order, str):
        name = storage_order
    else:
        order = None if storage_order is None else integers(storage_order, "The storage_order of a Buffer is a list")
    of_kind(type, Type, "A Buffer is made of a hl.Type")
    if not isinstance(sizes, list | tuple):
        raise DefinitionError(f"The sizes of a Buffer must be a list, not {shown(sizes)}.")
    try:
        extents = [operator.index(s) for s in sizes]
    except TypeError as wrong:
        raise DefinitionError(f"The sizes of a Buffer must be integers, not {shown(list(sizes))}.") from wrong
    if any(e < 0 for e in extents):
        raise DefinitionError(f"The sizes of a Buffer can't be negative: {shown(extents)}.")
    if type.is_handle() or type.is_vector():
        raise DefinitionError(f"A Buffer of {type} can't be made.")
    n = len(extents)
    layout = list(range(n)) if order is None else list(order)
    if sorted(layout) != list(range(n)):
        raise DefinitionError(f"{layout} is not an order of {n} dimensions.")
    dense = _memory([extents[d] for d in reversed(layout)], type, zeroed=zeroed)
    return dense.transpose([n - 1 - layout.index(n - 1 - axis) for axis in range(n)]), name


ALIGNMENT = 128
"""Bytes that the address of memory made here is a multiple of: no vector straddles two lines of a cache."""


def _memory(shape: Sequence[int], type: Type, *, zeroed: bool) -> Array:
    """An array in C order."""
    size = math.prod(shape) * type.bytes()
    try:
        memory = (np.zeros if zeroed else np.empty)(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError) as full:
        raise HalideError(f"There is no memory for a Buffer of {size} bytes.") from full
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(type.dtype).reshape(shape)


def zeros_like(array: Array) -> Array:
    """Zeros of the shape of an array, its axes in the same order in memory."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    known = type_of_dtype(array.dtype)
    assert known is not None
    made: Array = _memory([array.shape[axis] for axis in order], known, zeroed=True)
    laid_out: Array = made.transpose([order.index(axis) for axis in range(array.ndim)])
    return laid_out


def view(buffer: Any, name: str = "", reverse_axes: bool = True) -> tuple[Array, str]:
    """The memory of an array, or of anything that shares memory as arrays do; and the Buffer's name."""
    if isinstance(buffer, np.ndarray):
        array: Array = buffer
    elif hasattr(buffer, "__array__") or hasattr(buffer, "__array_interface__"):
        array = np.asarray(buffer)
    elif hasattr(buffer, "__dlpack__"):
        array = np.from_dlpack(buffer)
    else:
        try:
            array = np.asarray(memoryview(buffer))
        except TypeError as wrong:
            raise DefinitionError(
                f"A Buffer is made from a numpy array or another buffer, or from a type and a list of sizes, "
                f"not from a {buffer.__class__.__name__}."
            ) from wrong
    if array.dtype.name == "bfloat16":  # of the library ml_dtypes, whose memory can't be shared by the buffer protocol
        array = array.view(BFLOAT16_DTYPE)
    return (array if reverse_axes else array.transpose()), name


def check_memory(array: Array) -> None:
    """Raises HalideError for memory that a pipeline can't work on."""
    if type_of_dtype(array.dtype) is None:
        order = "" if array.dtype.isnative else ": its byte order is not the machine's"
        raise HalideError(f"A Buffer can't hold elements of the numpy type {array.dtype}{order}.")
    if not array.flags.aligned:
        raise HalideError("A Buffer can't be made of misaligned memory. Pass a copy: array.copy().")
    if any(s % array.itemsize for s in array.strides):
        raise HalideError(
            f"A Buffer can't be made of an array with strides of {array.strides} bytes, which are no multiples "
            f"of its element's {array.itemsize}. Pass a copy: array.copy()."
        )


class BufferDimension:
    """The shape of a Buffer along one dimension."""

    def __init__(self, min: int, extent: int, stride: int) -> None:
        self._min, self._extent, self._stride = min, extent, stride

    def min(self) -> int:
        """The least coordinate."""
        return self._min

    def extent(self) -> int:
        """The number of coordinates."""
        return self._extent

    def max(self) -> int:
        """The greatest coordinate."""
        return self._min + self._extent - 1

    def stride(self) -> int:
        """The distance of neighbours in memory, in elements."""
        return self._stride


_HALF = 1 << 30
"""Coordinates and extents below it have sums that are int32."""


class Shaped:
    """An array with a name and with the least coordinate of each dimension."""

    _array: Array
    _mins: tuple[int, ...]
    _name: str
    _has_memory: bool
    _defined = True

    def _check_shape(self) -> None:
        array = self._array
        if all(-_HALF < n < _HALF for n in (*array.shape, *array.strides, *self._mins)):
            return  # by far the most; strides of bytes are no less than those of elements
        for i in range(self.dimensions()):
            d = self.dim(i)
            for what, value in (("min", d.min()), ("extent", d.extent()), ("stride", d.stride()), ("max", d.max())):
                if not INT32.can_represent(value):
                    raise HalideError(f'The {what} of dimension {i} of Buffer "{self._name}", {value}, is no int32.')

    def _memory(self) -> Array:
        raise NotImplementedError  # a Buffer says whether it has any

    @property
    def array(self) -> Array:
        """The memory as numpy sees it: axes in reverse order."""
        return self._array

    @property
    def mins(self) -> tuple[int, ...]:
        """The least coordinate of each dimension, x first."""
        return self._mins

    def name(self) -> str:
        """The Buffer's name."""
        return self._name

    def set_name(self, name: str) -> None:
        """Renames the Buffer; definitions that use it already keep the old name."""
        self._name = of_kind(name, str, "The name of a Buffer is a text")

    def type(self) -> Type:
        """The type of an element."""
        known = type_of_dtype(self._array.dtype)
        assert known is not None
        return known

    def dimensions(self) -> int:
        """The number of coordinates of a point."""
        return int(self._array.ndim)

    def defined(self) -> bool:
        """True where there is anything: ``Buffer()`` is nothing yet."""
        return self._defined

    def same_as(self, other: Shaped) -> bool:
        """True where both are the same view of the same memory."""
        other = of_kind(other, Shaped, "same_as() of a Buffer takes a Buffer")
        mine, theirs = self._array.__array_interface__, other._array.__array_interface__
        return self._mins == other._mins and mine == theirs

    def number_of_elements(self) -> int:
        """The product of the extents."""
        return int(self._array.size)

    def size_in_bytes(self) -> int:
        """Bytes from the first to just behind the last element in memory."""
        if not self._array.size:
            return 0
        span = sum(abs(s) * (n - 1) for s, n in zip(self._array.strides, self._array.shape, strict=True))
        return int(span + self._array.itemsize)

    def dim(self, dimension: int) -> BufferDimension:
        """The shape along one dimension."""
        if type(dimension) is not int:
            dimension = integer(dimension, f'A dimension of Buffer "{self._name}" is an integer')
        if not 0 <= dimension < self.dimensions():
            raise DefinitionError(
                f'Buffer "{self._name}" has {self.dimensions()} dimensions: no dimension {shown(dimension)}.'
            )
        axis = self.dimensions() - 1 - dimension
        return BufferDimension(self._mins[dimension], self._array.shape[axis], self._stride(axis))

    def _stride(self, axis: int) -> int:
        """The stride of an axis in elements. Where it means nothing numpy's is arbitrary: then it is a dense one."""
        shape = self._array.shape
        if not self._array.size or (shape[axis] == 1 and axis == len(shape) - 1):
            return math.prod(max(1, n) for n in shape[axis + 1 :])
        return int(self._array.strides[axis]) // self._array.itemsize

    def _dim_or_unit(self, dimension: int) -> BufferDimension:
        """One dimension; extent 1 from 0 where the Buffer has fewer, as images of fewer dimensions are used."""
        return self.dim(dimension) if dimension < self.dimensions() else BufferDimension(0, 1, 0)

    def left(self) -> int:
        """The least x."""
        return self._dim_or_unit(0).min()

    def right(self) -> int:
        """The greatest x."""
        return self._dim_or_unit(0).max()

    def top(self) -> int:
        """The least y."""
        return self._dim_or_unit(1).min()

    def bottom(self) -> int:
        """The greatest y."""
        return self._dim_or_unit(1).max()

    def width(self) -> int:
        """The extent of x."""
        return self._dim_or_unit(0).extent()

    def height(self) -> int:
        """The extent of y."""
        return self._dim_or_unit(1).extent()

    def channels(self) -> int:
        """The extent of the third dimension."""
        return self._dim_or_unit(2).extent()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self._memory()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError("A conversion to another dtype needs a copy.")
            return numbers(array).astype(dtype)
        return array.copy() if copy else array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The memory, by numpy's protocol; bfloat16, which numpy would convert by its bits, goes by ``__array__``."""
        if self._array.dtype == BFLOAT16_DTYPE:
            raise AttributeError("__array_interface__")
        return self._memory().__array_interface__

    def __dlpack__(self, **options: Any) -> Any:
        """The memory, by the DLPack protocol: ``torch.from_dlpack(buffer)`` shares it."""
        return self._memory().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the memory is, by the DLPack protocol: on the host."""
        kind, number = self._array.__dlpack_device__()
        return int(kind), int(number)

    def _repr_png_(self) -> bytes | None:
        """A picture, for notebooks: of two dimensions, or of three with 1, 3 or 4 channels."""
        return png(numbers(self._memory())) if self._has_memory else None

    def __buffer__(self, flags: int) -> memoryview:
        if self._array.dtype == BFLOAT16_DTYPE:
            raise BufferError("A Buffer of bfloat16 is shared by np.asarray(buffer) only.")
        return self._memory().data
