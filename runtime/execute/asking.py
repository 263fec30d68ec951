"""Bounds queries of a loaded pipeline, for windows one after another, with structures that are made once.

In: the arguments of a pipeline, its inputs, of which some are unknown, and what calls it. Out: for windows of the
outputs, the regions that they need.

    Asked(arguments, [None, 3], invoke)([((0, 64), (0, 32))])   ->   [((-1, 66), (0, 32)), None], [((0, 64), (0, 32))]
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from halide_core.errors import PipelineError
from halide_core.ir.float16 import pattern_of
from halide_core.ir.types import Type, computed_type
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Argument, ArgumentKind, Box
from halide_core.runtime.crt.runtime_library import FFI
from halide_core.runtime.execute.descriptor import describe, unknown

_POINTERS = FFI.typeof("void *[]")
_VOID = FFI.typeof("void *")
_C_SCALARS = {"int": "int{}_t", "uint": "uint{}_t"}


class Asked:
    """Answers bounds queries for windows. May be called from several threads, one after another."""

    def __init__(
        self,
        arguments: Sequence[Argument],
        inputs: Sequence[Buffer | int | float | bool | Box | None],
        invoke: Callable[[Any], None],
    ) -> None:
        self._invoke = invoke
        self._lock = threading.Lock()
        self._keep: list[Any] = []  # what the pointers point to
        pointers: list[Any] = []
        self._inputs: list[_Unknown | None] = []
        for argument, value in zip(arguments, inputs, strict=False):
            asked = None
            if argument.kind is ArgumentKind.InputScalar:
                self._keep.append(scalar(argument.type, 0 if value is None else value))
                pointers.append(FFI.cast(_VOID, self._keep[-1]))
            elif isinstance(value, Buffer):
                self._keep.append(describe(value))
                pointers.append(self._keep[-1].pointer)
            else:
                assert value is None or isinstance(value, tuple)
                asked = _Unknown(argument, value or ((0, 0),) * argument.dimensions)
                pointers.append(asked.pointer)
            self._inputs.append(asked)
        self._outputs = [_Unknown(a, ((0, 0),) * a.dimensions) for a in arguments[len(inputs) :]]
        pointers += [asked.pointer for asked in self._outputs]
        self._pointers = FFI.new(_POINTERS, pointers) if pointers else FFI.NULL

    def __call__(self, windows: Sequence[Box]) -> tuple[list[Box | None], list[Box]]:
        """The regions of the unknown inputs, None for the others, and those of the outputs."""
        with self._lock:
            for asked in self._inputs:
                if asked is not None:
                    asked.put(asked.first)
            for output, window in zip(self._outputs, windows, strict=True):
                output.put(window)
            self._invoke(self._pointers)
            return [None if a is None else a.box() for a in self._inputs], [a.box() for a in self._outputs]


class _Unknown:
    """A buffer without memory, whose region a pipeline fills in."""

    def __init__(self, argument: Argument, first: Box) -> None:
        self._name = argument.name
        self.first = first
        buffer, shape = unknown(argument.type, [(0, 0, 1, 0)] * argument.dimensions)
        self._keep = buffer, shape
        self._dims = [shape[d] for d in range(argument.dimensions)]
        self.pointer = FFI.cast(_VOID, buffer)

    def put(self, box: Box) -> None:
        """Sets the region, of dense memory."""
        stride = 1
        for d, (dim, (low, extent)) in enumerate(zip(self._dims, box, strict=True)):
            try:
                dim.min, dim.extent = low, extent
            except OverflowError:
                raise PipelineError(
                    f'The window of "{self._name}", {extent} from {low} in dimension {d}, does not fit int32.'
                ) from None
            dim.stride = stride if stride < 1 << 31 else 1
            stride *= max(extent, 1)

    def box(self) -> Box:
        """The box of the dimensions now."""
        return tuple([(dim.min, dim.extent) for dim in self._dims])


def scalar(type: Type, value: object) -> Any:
    """A scalar in its C representation; a float of 16 bits is its bits, a pointer its address."""
    type = computed_type(type)
    if type.is_narrow_float():
        assert isinstance(value, int | float)
        return FFI.new("uint16_t *", pattern_of(value, type))
    if type.is_float():
        return FFI.new("float *" if type.bits() == 32 else "double *", value)
    if type.is_bool():
        return FFI.new("uint8_t *", int(bool(value)))
    return FFI.new(_C_SCALARS[type.code().name.lower()].format(type.bits()) + " *", int(value))  # type: ignore[call-overload]  # checked where it was given
