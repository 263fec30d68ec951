"""A pipeline that is compiled, loaded, and called on numpy-backed buffers.

In: a Request. Out: a LoadedPipeline, from the cache on disk if it is there. The cache is asked before lowering.

    compile_pipeline(request).run([image, 3], [out])
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halide_core.algorithm import snapshot
from halide_core.backend import Argument, ArgumentKind, Box, Request
from halide_core.buffer import Buffer
from halide_core.debug import deep_recursion
from halide_core.errors import PipelineError, SpecializeFailError, ToolchainError
from halide_core.types import INT32, Type
from lowering.driver import arguments, lower
from lowering.lowered import Lowered
from runtime.cache import default_cache
from runtime.emit_c import emit_c
from runtime.entry import ENTRY, emit_entry, emit_hiding
from runtime.fingerprint import fingerprint
from runtime.runtime_library import FFI, INCLUDE_FOLDER, runtime
from runtime.toolchain import CompileOptions, compile_shared, find_compiler

FFI.cdef(f"int {ENTRY}(void **arguments);")

SPECIALIZE_FAIL = 16
"""``halide_core_error_specialize_fail`` of the C header."""

_C_SCALARS = {"int": "int{}_t", "uint": "uint{}_t"}


def compile_pipeline(request: Request) -> LoadedPipeline:
    """Compiles and loads.

    Raises: ScheduleError, BoundsError, ToolchainError.
    """
    runtime()  # its symbols must be there before a library that needs them is opened
    compiler = find_compiler()
    options = CompileOptions(include_folders=(INCLUDE_FOLDER,), extra_flags=request.flags)
    with deep_recursion():
        key = fingerprint(request, compiler, options)
        signature = arguments(request, snapshot(request.outputs))
    cache = default_cache()

    def build(output: Path) -> None:
        lowered = lower(request)
        with deep_recursion():
            text = _text(lowered)
        with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
            source = Path(folder) / "pipeline.c"
            source.write_text(text, encoding="utf-8")
            compile_shared([source], output, options=options, compiler=compiler)

    path = cache.get_or_build(key, build)
    try:
        library = FFI.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError:
        cache.discard(key)  # damaged, or evicted this very moment
        path = cache.get_or_build(key, build)
        try:
            library = FFI.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise ToolchainError(f'Pipeline "{request.name}" was compiled, but can\'t be loaded: {error}') from error
    return LoadedPipeline(request, library, signature)


def _text(lowered: Lowered) -> str:
    """The translation unit: the pipeline, under a symbol that clashes with nobody's, and its entry."""
    hiding, entry = (emit(lowered.name, lowered.arguments) for emit in (emit_hiding, emit_entry))
    return hiding + emit_c(lowered) + entry


class LoadedPipeline:
    """Implements ``halide_core.backend.Compiled``. May be called from several threads at once."""

    def __init__(self, request: Request, library: Any, args: tuple[Argument, ...]) -> None:
        self._name = request.name
        self._library = library  # keeps it loaded
        self._entry = getattr(library, ENTRY)
        self._arguments = args
        self._inputs = len(request.inputs)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        return self._arguments

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs into the outputs.

        An input that shares memory with an output is copied first, and a buffer whose first dimension is not dense
        goes through a dense copy, so that both simply work.

        Raises: PipelineError.
        """
        call = _Call(self._arguments)
        targets = []
        for argument, buffer in zip(self._arguments[self._inputs :], outputs, strict=True):
            array = buffer.array if _dense(buffer.array) else np.empty_like(buffer.array, order="C")
            targets.append((buffer.array, array))
            call.buffer(argument, array, buffer.mins)
        for argument, value in zip(self._arguments[: self._inputs], inputs, strict=True):
            if argument.kind is ArgumentKind.InputScalar:
                call.scalar(argument.type, value)
                continue
            assert isinstance(value, Buffer)
            array = value.array
            if not _dense(array) or any(np.may_share_memory(array, target) for _, target in targets):
                array = np.array(array, order="C", copy=True)
            call.buffer(argument, array, value.mins)
        self._invoke(call, len(outputs))
        for original, used in targets:
            if original is not used:
                original[...] = used

    def query(
        self, inputs: Sequence[Buffer | int | float | bool | None], outputs: Sequence[Box]
    ) -> tuple[list[Box | None], list[Box]]:
        """The regions that the given output windows need; see ``Compiled.query``."""
        call = _Call(self._arguments)
        for argument, window in zip(self._arguments[self._inputs :], outputs, strict=True):
            call.unknown(argument, window)
        asked: list[bool] = []
        for argument, value in zip(self._arguments[: self._inputs], inputs, strict=True):
            asked.append(value is None)
            if argument.kind is ArgumentKind.InputScalar:
                call.scalar(argument.type, 0 if value is None else value)
            elif value is None:
                call.unknown(argument, ((0, 0),) * argument.dimensions)
            else:
                assert isinstance(value, Buffer)
                call.buffer(argument, value.array, value.mins)
        self._invoke(call, len(outputs))
        boxes = call.boxes()
        given = [box if unknown else None for box, unknown in zip(boxes[len(outputs) :], asked, strict=True)]
        return given, [box for box in boxes[: len(outputs)] if box is not None]

    def _invoke(self, call: _Call, outputs: int) -> None:
        # The call was built outputs first, since inputs are compared with them; C takes inputs first.
        pointers = call.pointers[outputs:] + call.pointers[:outputs]
        code = self._entry(FFI.new("void *[]", pointers) if pointers else FFI.NULL)
        if code:
            text = FFI.string(runtime().halide_core_last_error())
            message = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
            error = SpecializeFailError if code == SPECIALIZE_FAIL else PipelineError
            raise error(message or f'Pipeline "{self._name}" failed.')


def _dense(array: np.ndarray[Any, Any]) -> bool:
    """Whether dimension 0, numpy's last axis, has stride 1, or a stride that is never used."""
    return array.size == 0 or array.ndim == 0 or array.shape[-1] < 2 or array.strides[-1] == array.itemsize


def _dims(array: np.ndarray[Any, Any], mins: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """min, extent, stride and flags of each dimension, the first being numpy's last axis. Strides that are never used
    are what a dense array has: numpy's are arbitrary there, and C checks them."""
    dims: list[tuple[int, int, int, int]] = []
    dense = 1
    for d in range(array.ndim):
        extent, stride = array.shape[-1 - d], array.strides[-1 - d] // array.itemsize
        unused = array.size == 0 or (d == 0 and extent < 2)
        dims.append((mins[d], extent, dense if unused else stride, 0))
        dense = min(dense * max(extent, 1), (1 << 31) - 1)
    return dims


class _Call:
    """The C arguments of one call, and what keeps them alive."""

    def __init__(self, args: tuple[Argument, ...]) -> None:
        self.pointers: list[Any] = []
        self._keep: list[Any] = []
        self._buffers: list[Any] = []
        self._arguments = args

    def scalar(self, type: Type, value: object) -> None:
        """A scalar, by pointer to its C representation."""
        if type.is_float():
            box = FFI.new("float *" if type.bits() == 32 else "double *", value)
        elif type.is_bool():
            box = FFI.new("uint8_t *", int(bool(value)))
        else:
            box = FFI.new(_C_SCALARS[type.code().name.lower()].format(type.bits()) + " *", int(value))  # type: ignore[call-overload]  # checked where it was given
        self._add(box, None)

    def buffer(self, argument: Argument, array: np.ndarray[Any, Any], mins: Sequence[int]) -> None:
        """A buffer over an array."""
        self._keep.append(array)
        self._describe(argument, _dims(array, mins), FFI.cast("uint8_t *", array.ctypes.data))

    def unknown(self, argument: Argument, box: Box) -> None:
        """A buffer without memory, whose region the pipeline fills in."""
        dims = []
        stride = 1
        for d, (low, extent) in enumerate(box):
            if not (INT32.can_represent(low) and INT32.can_represent(extent)):
                raise PipelineError(
                    f'The window of "{argument.name}", {extent} from {low} in dimension {d}, does not fit int32.'
                )
            dims.append((low, extent, stride, 0))
            stride *= max(extent, 1)
        self._describe(argument, [(a, n, s if s < 1 << 31 else 1, f) for a, n, s, f in dims], FFI.NULL)

    def _describe(self, argument: Argument, dims: list[tuple[int, int, int, int]], host: Any) -> None:
        shape = FFI.new("halide_dimension_t[]", dims) if dims else FFI.NULL
        buffer: Any = FFI.new("halide_buffer_t *")
        buffer.host = host
        buffer.type.code = int(argument.type.code())
        buffer.type.bits = argument.type.bits()
        buffer.type.lanes = 1
        buffer.dimensions = len(dims)
        buffer.dim = shape
        self._keep.append(shape)
        self._add(buffer, buffer)

    def _add(self, box: Any, buffer: Any) -> None:
        self._keep.append(box)
        self._buffers.append(buffer)
        self.pointers.append(FFI.cast("void *", box))

    def boxes(self) -> list[Box | None]:
        """What each buffer's dimensions say now; None for a scalar."""
        return [
            None if b is None else tuple((b.dim[d].min, b.dim[d].extent) for d in range(b.dimensions))
            for b in self._buffers
        ]
