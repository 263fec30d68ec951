"""A pipeline that is compiled, loaded, and called on numpy-backed buffers.

In: a Request. Out: a LoadedPipeline, from the cache on disk if it is there. The cache is asked before lowering.

    compile_pipeline(request).run([image, 3], [out])
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, count
from pathlib import Path
from typing import Any

import numpy as np

from halide_core.algorithm.model import Function, realization_order, with_made_funcs
from halide_core.algorithm.snapshot import snapshot
from halide_core.algorithm.strides import not_dense
from halide_core.config import haste_demanded, profiles_demanded
from halide_core.debug import deep_recursion
from halide_core.errors import HalideWarning, PipelineError, SpecializeFailError, warn_user
from halide_core.lang.buffer import Buffer
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind, Box, Request, arguments
from halide_core.run.profile_data import Profile
from halide_core.runtime.compile.fingerprint import fingerprint
from halide_core.runtime.compile.target_flags import compile_options
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.crt.runtime_library import FFI, runtime, start_runtime
from halide_core.runtime.execute.asking import Asked, scalar
from halide_core.runtime.execute.background import BACKGROUND
from halide_core.runtime.execute.descriptor import Descriptor, describe, is_dense, overlaps_itself, shares_elements
from halide_core.runtime.execute.interruptions import begin_run
from halide_core.runtime.execute.profiler import Profiler
from halide_core.runtime.execute.tiers import Draft, hurried_library, optimized_library
from halide_core.schedule.storage_directives import Memoize
from halide_core.scheduling.phase0.inline import warn_of_lost_directives
from halide_core.scheduling.phase0.wrappers import warn_of_readers_beside

_POINTERS = FFI.typeof("void *[]")
_VOID = FFI.typeof("void *")
SPECIALIZE_FAIL = 16
"""``halide_core_error_specialize_fail`` of the C header."""
_ATTEMPTS = 20
"""Compiles of one call, while other threads change what is compiled."""
_numbers = count(1)
"""Of pipelines with memoized Funcs: they may have the same code, and other inputs."""


def _remembers(request: Request) -> bool:
    order = with_made_funcs(realization_order(request.outputs))
    return any(isinstance(d, Memoize) for f in order for d in f.directives)


class _ChangedError(Exception):
    """Another thread changed what was being compiled."""


def compile_pipeline(request: Request, made: Lowered | None = None) -> LoadedPipeline:
    """Compiles and loads. ``made``: what ``lower`` makes of the request, where that is known.

    Raises: ScheduleError, BoundsError, ToolchainError; PipelineError where other threads change it all the time.
    """
    for _ in range(_ATTEMPTS):
        with suppress(_ChangedError):
            return _compiled(request, made)
    raise PipelineError(f'Pipeline "{request.name}" was changed by another thread each time it was compiled.')


def _compiled(request: Request, made: Lowered | None) -> LoadedPipeline:
    compiler = find_compiler()
    start_runtime()
    bare = not (request.flags or profiles_demanded())
    options = replace(compile_options(request, runs_here=True), bare=bare)
    with deep_recursion():
        key = fingerprint(request, compiler, options)
        algorithm = snapshot(request.outputs, request.requirements, request.inputs)
        signature = arguments(request, algorithm)
    warn_of_readers_beside(algorithm)
    warn_of_lost_directives(algorithm)  # also where the cache saves the lowering, which says it too

    def emitted() -> list[str]:
        from halide_core.runtime.execute.build import emit  # noqa: PLC0415  # what the cache has needs none

        texts = emit(request, made)
        with deep_recursion():
            if fingerprint(request, compiler, options) != key:
                raise _ChangedError
        return texts

    def opened(path: Path) -> Any:
        runtime()  # its symbols must be there before a library that needs them is opened
        return FFI.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)

    draft = Draft(f'Pipeline "{request.name}"', key, options, compiler, emitted, opened)
    if not haste_demanded():
        return LoadedPipeline(request, optimized_library(draft), signature)
    library, left = hurried_library(draft)
    pipeline = LoadedPipeline(request, library, signature)
    if left is not None:
        BACKGROUND.add(pipeline, left)
    return pipeline


class LoadedPipeline:
    """Implements ``halide_core.run.backend.Compiled``. May be called from several threads at once."""

    def __init__(self, request: Request, library: Any, args: tuple[Argument, ...]) -> None:
        self._name = request.name
        self._libraries = [library]
        """Keeps them loaded: a call in another thread may still be in the first one."""
        self._entry = library.halide_core_entry
        self._arguments = args
        self._inputs = len(request.inputs)
        self._profiler = Profiler(request.name, library) if profiles_demanded() else None
        self._context = FFI.cast(_VOID, next(_numbers)) if _remembers(request) else None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs in order, then the outputs."""
        return self._arguments

    def take_over(self, library: Any) -> None:
        """Runs a library of the same program from the next call on. Calls that go on end in the code they are in."""
        self._libraries.append(library)
        self._entry = library.halide_core_entry

    def stay(self, reason: str) -> None:
        """Keeps the code that is there, and warns once, when it is called next, that there will be no other."""
        entry = self._entry

        def warning(pointers: Any) -> int:
            self._entry = entry
            warn_user(
                f'Pipeline "{self._name}" could not be optimized in the background, and goes on with the code that '
                f"was made first. {reason}",
                HalideWarning,
            )
            code: int = entry(pointers)
            return code

        self._entry = warning

    def run(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> None:
        """Runs into the outputs.

        An input that shares memory with an output is copied first, and a buffer whose first dimension is not dense
        goes through a dense copy, so that both simply work.

        Raises: PipelineError.
        """
        targets = self._targets(outputs)
        keep: list[Any] = []
        pointers: list[Any] = []
        for argument, value in zip(self._arguments, inputs, strict=False):
            if isinstance(value, Buffer):
                source = describe(value)
                spread = argument.dense and not is_dense(source.array)
                if spread:
                    _keep_strides(argument, source.array)
                if spread or any(source.overlaps(t) for t in targets):
                    source = Descriptor(_copy(source, argument), value.mins, argument.type)
                keep.append(source)
                pointers.append(source.pointer)
            else:
                box = scalar(argument.type, value)
                keep.append(box)
                pointers.append(FFI.cast(_VOID, box))
        pointers += [t.pointer for t in targets]
        self._invoke(pointers)
        for buffer, target in zip(outputs, targets, strict=True):
            if buffer.array is not target.array:
                buffer.array[...] = target.array

    def _targets(self, outputs: Sequence[Buffer]) -> list[Descriptor]:
        """Where each output is written."""
        written = self._arguments[self._inputs :]
        self._refuse_shared(outputs)
        targets = [_target(buffer, argument) for buffer, argument in zip(outputs, written, strict=True)]
        apart = self._apart(targets)
        for argument in written:
            if argument.strided and argument.source in apart:
                raise PipelineError(
                    f'The buffers of "{argument.source.name}" differ in layout, and the pipeline reads or promises its '
                    f"strides, so that no copies of one layout can be taken for them: give them the same strides."
                )
        return [_dense(b, a) if a.source in apart else t for b, a, t in zip(outputs, written, targets, strict=True)]

    def _refuse_shared(self, outputs: Sequence[Buffer]) -> None:
        """Refuses outputs that share elements. C compares them as well, but sees no memory behind copies."""
        written = zip(self._arguments[self._inputs :], outputs, strict=True)
        for (one, here), (other, there) in combinations(written, 2):
            if shares_elements(here.array, there.array):
                told = f'output buffer "{one.name}" overlaps output buffer "{other.name}" in memory.'
                raise PipelineError(f'Pipeline "{self._name}": {told}')

    def _apart(self, targets: Sequence[Descriptor]) -> list[object]:
        """The Tuples whose buffers differ in layout: in C the values of a point are at one place in all of them."""
        first: dict[object, Descriptor] = {}
        written = zip(self._arguments[self._inputs :], targets, strict=True)
        return [a.source for a, t in written if _steps(first.setdefault(a.source, t)) != _steps(t)]

    def prepare(self, inputs: Sequence[Buffer | int | float | bool], outputs: Sequence[Buffer]) -> Repeated | None:
        """A run that can be repeated; None where a buffer must go through a copy, or memory is too complex to watch."""
        seen = [describe(v) if isinstance(v, Buffer) else v for v in (*inputs, *outputs)]
        targets = [d for d in seen[self._inputs :] if isinstance(d, Descriptor)]
        for argument, d in zip(self._arguments, seen, strict=True):
            if isinstance(d, Descriptor):
                read = argument.kind is ArgumentKind.InputBuffer
                if (argument.dense and not is_dense(d.array)) or (read and any(d.overlaps(t) for t in targets)):
                    return None
        return None if self._apart(targets) else Repeated(self, seen)

    def invoke(self, pointers: Any) -> None:
        """Calls the C function with an array of pointers to the arguments. Raises PipelineError."""
        begin_run()
        code = self._entry(pointers) if self._context is None else self._enter_in_context(pointers)
        if code:
            text = FFI.string(runtime().halide_core_last_error())
            message = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
            error = SpecializeFailError if code == SPECIALIZE_FAIL else PipelineError
            raise error(message or f'Pipeline "{self._name}" failed.')

    def _enter_in_context(self, pointers: Any) -> int:
        """Calls it where what memoized Funcs keep is this pipeline's alone: tags are numbers of its inputs."""
        around = runtime().halide_core_swap_user_context(self._context)
        try:
            code: int = self._entry(pointers)
        finally:
            runtime().halide_core_swap_user_context(around)
        return code

    def take_profile(self) -> Profile:
        """The measurements since the last call."""
        if self._profiler is None:
            raise PipelineError(f'Pipeline "{self._name}" was not compiled to be measured.')
        return self._profiler.take()

    def query(
        self, inputs: Sequence[Buffer | int | float | bool | Box | None], outputs: Sequence[Box]
    ) -> tuple[list[Box | None], list[Box]]:
        """The regions that the given output windows need; see ``Compiled.query``."""
        return self.asked(inputs)(outputs)

    def asked(self, inputs: Sequence[Buffer | int | float | bool | Box | None]) -> Asked:
        """The same queries for windows one after another; see ``Compiled.asked``."""
        return Asked(self._arguments, inputs, self.invoke)

    def _invoke(self, pointers: list[Any]) -> None:
        self.invoke(FFI.new(_POINTERS, pointers) if pointers else FFI.NULL)


class Repeated:
    """Implements ``halide_core.run.backend.Prepared``: pointers to what describes the arguments, good while it does.

    C only reads them, so threads may share one. The descriptors belong to their Buffers; only weak references are kept,
    so that a Callable does not keep the pictures of its last call in memory.
    """

    def __init__(self, pipeline: LoadedPipeline, seen: Sequence[Descriptor | int | float | bool]) -> None:
        self._pipeline = pipeline
        boxes = [
            None if isinstance(d, Descriptor) else scalar(a.type, d)
            for a, d in zip(pipeline.arguments, seen, strict=True)
        ]
        self._boxes = boxes  # keeps the scalars alive
        pointers = [
            d.pointer if isinstance(d, Descriptor) else FFI.cast(_VOID, box or 0)
            for d, box in zip(seen, boxes, strict=True)
        ]
        self._pointers = FFI.new(_POINTERS, pointers)
        self._expected = [weakref.ref(d) if isinstance(d, Descriptor) else d for d in seen]

    def run(self, arguments: Sequence[object]) -> bool:
        """Runs if each argument is a Buffer that is still described as it was, or the very number that it was."""
        if len(arguments) != len(self._expected):
            return False
        held = []  # what C reads, while it does
        for given, expected in zip(arguments, self._expected):  # noqa: B905  # compared above; this is the hot path
            if expected.__class__ is weakref.ref:
                known = expected()
                if known is None or not isinstance(given, Buffer) or given.described is not known:
                    return False
                if not known.still_describes(given):
                    return False
                held.append(known)
            elif given is not expected:
                return False
        self._pipeline.invoke(self._pointers)
        return True


def _target(buffer: Buffer, argument: Argument) -> Descriptor:
    """Where an output is written: its own memory, or dense memory from which it is copied."""
    described = describe(buffer)
    if not argument.dense or is_dense(described.array):
        return described
    _keep_strides(argument, described.array)
    return _dense(buffer, argument)


def _copy(source: Descriptor, argument: Argument) -> np.ndarray[Any, Any]:
    """An input in other memory: with the same strides, where the program knows them."""
    array = source.array
    if not argument.strided:
        return np.array(array, order="C" if argument.dense else "K", copy=True)
    memory = np.empty(source.high - source.low, np.uint8)
    first = array.ctypes.data - source.low if array.size else 0
    alike: np.ndarray[Any, Any] = np.ndarray(array.shape, array.dtype, memory, first, array.strides)
    alike[...] = array
    return alike


def _keep_strides(argument: Argument, array: np.ndarray[Any, Any]) -> None:
    """Refuses a copy with other strides than those that the program reads."""
    if argument.strided:
        raise not_dense(argument.name, array.strides[-1] // array.itemsize)


def _dense(buffer: Buffer, argument: Argument) -> Descriptor:
    """Dense memory for an output; with what the buffer has, where the pipeline leaves points as they are."""
    if overlaps_itself(buffer.array):
        raise PipelineError(f"{buffer!r} has points that share memory.")
    keeps = isinstance(argument.source, Function) and argument.source.keeps
    array = np.array(buffer.array, order="C", copy=True) if keeps else np.empty_like(buffer.array, order="C")
    return Descriptor(array, buffer.mins, buffer.type())


def _steps(target: Descriptor) -> list[int]:
    """The strides in elements."""
    return [stride // target.array.itemsize for stride in target.array.strides]
