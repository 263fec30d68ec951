"""Descriptors of buffers for C: ``halide_buffer_t`` over numpy memory, made once for a Buffer and kept with it.

In: a Buffer. Out: a Descriptor, the one of the last call as long as memory, shape and coordinates are the same.

    describe(Buffer(np.zeros((3, 4), "u1")))   ->   host, dim = [(0, 4, 1), (0, 3, 4)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halide_core.ir.types import Type
from halide_core.lang.buffer import Buffer
from halide_core.runtime.crt.runtime_library import FFI

_DIMS = FFI.typeof("halide_dimension_t[]")
_BUFFER = FFI.typeof("halide_buffer_t *")
_VOID = FFI.typeof("void *")
_BYTES = FFI.typeof("uint8_t *")

_WORK = 10_000
"""The most steps that numpy takes to find an element that two arrays share."""

Dims = list[tuple[int, int, int, int]]
"""min, extent, stride and flags of each dimension."""


class Descriptor:
    """A ``halide_buffer_t`` and what keeps its memory alive. C only reads it, so threads may share one."""

    __slots__ = (
        "__weakref__",
        "_dtype",
        "_memory",
        "_shape",
        "_writeable",
        "array",
        "buffer",
        "high",
        "low",
        "mins",
        "pointer",
    )

    def __init__(self, array: np.ndarray[Any, Any], mins: tuple[int, ...], type: Type) -> None:
        self.array = array
        self.mins = mins
        self._shape, self._dtype, self._writeable = array.shape, array.dtype, array.flags.writeable
        self._memory: Any = FFI.from_buffer(array.data) if array.flags.c_contiguous else None
        """The memory while it was seen last; None where it can't be compared cheaply."""
        address = array.ctypes.data
        host = FFI.cast(_BYTES, address)
        self.buffer = _structure(type, _dims(array, mins), host)
        self.pointer = FFI.cast(_VOID, self.buffer[0])
        self.low, self.high = _bytes(array, address)

    def still_describes(self, buffer: Buffer) -> bool:
        """True where a Buffer's memory, type, shape and coordinates are those described, and may be written as they
        might. Its array may be another's too, and have been changed in place."""
        array = buffer.array
        return (
            array is self.array
            and buffer.mins is self.mins
            and self._memory is not None
            and array.shape == self._shape
            and array.dtype is self._dtype
            and array.flags.writeable is self._writeable
            and array.flags.c_contiguous
            and bool(FFI.from_buffer(array.data) == self._memory)
        )

    def overlaps(self, other: Descriptor) -> bool:
        """True where the memory of two may be shared."""
        return self.low < other.high and other.low < self.high


def describe(buffer: Buffer) -> Descriptor:
    """A Buffer's descriptor; the same object while nothing has changed."""
    known = buffer.described
    if isinstance(known, Descriptor) and known.still_describes(buffer):
        return known
    made = Descriptor(buffer.array, buffer.mins, buffer.type())
    buffer.described = made
    return made


def unknown(type: Type, dims: Dims) -> tuple[Any, Any]:
    """A structure without memory, whose region a pipeline fills in; and what keeps it alive."""
    return _structure(type, dims, FFI.NULL)


def copied(described: Descriptor) -> tuple[Any, Any]:
    """A structure of its own over a Buffer's memory, which C may write to; and what keeps it alive."""
    shape: Any = described.buffer[1]
    buffer: Any = FFI.new(_BUFFER, described.buffer[0][0])
    if shape != FFI.NULL:
        shape = FFI.new(_DIMS, list(shape))
        buffer.dim = shape
    return buffer, shape


def is_dense(array: np.ndarray[Any, Any]) -> bool:
    """True where dimension 0, numpy's last axis, has stride 1, or a stride that is never used."""
    return array.size == 0 or array.ndim == 0 or array.shape[-1] < 2 or array.strides[-1] == array.itemsize


def shares_elements(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True where two arrays have a byte in common, or numpy does not find out soon."""
    try:
        return np.shares_memory(a, b, max_work=_WORK)  # type: ignore[arg-type]  # any number, numpy says
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """True where elements share memory, by the rule of ``check_distinct`` in C, which sees no output that goes through
    a copy: from the least stride on, each steps over all that those before it span."""
    if not array.size:
        return False
    span = array.itemsize
    for step, n in sorted((abs(step), n) for step, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if step < span:
            return True
        span += step * (n - 1)
    return False


def _bytes(array: np.ndarray[Any, Any], address: int) -> tuple[int, int]:
    """The first byte of an array's elements, and the one after the last; no bytes where there are no elements."""
    if not array.size:
        return (0, 0)
    steps = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    low = address + sum(s for s in steps if s < 0)
    return (low, address + sum(s for s in steps if s > 0) + array.itemsize)


def _structure(type: Type, dims: Dims, host: Any) -> tuple[Any, Any]:
    shape = FFI.new(_DIMS, dims) if dims else FFI.NULL
    buffer: Any = FFI.new(_BUFFER)
    buffer.host = host
    buffer.type.code = int(type.code())
    buffer.type.bits = type.bits()
    buffer.type.lanes = 1
    buffer.dimensions = len(dims)
    buffer.dim = shape
    return buffer, shape


def _dims(array: np.ndarray[Any, Any], mins: Sequence[int]) -> Dims:
    """The dimensions, the first being numpy's last axis. Strides that are never used are what a dense array has:
    numpy's are arbitrary there, and C checks them."""
    dims: Dims = []
    dense = 1
    for d in range(array.ndim):
        extent, stride = array.shape[-1 - d], array.strides[-1 - d] // array.itemsize
        unused = array.size == 0 or (d == 0 and extent < 2)
        dims.append((mins[d], extent, dense if unused else stride, 0))
        dense = min(dense * max(extent, 1), (1 << 31) - 1)
    return dims
