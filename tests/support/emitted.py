"""Compiles hand-made lowered pipelines and calls them on numpy arrays; shared by the tests of the C emitter."""

# mypy: disable-error-code="call-arg"
# (mypy does not see the fields of nodes whose decorator, ir._node, is a variable)

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir.types import Type, TypeCode, type_of_dtype
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.crt import runtime_library

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-pthread", f"-I{INCLUDE_FOLDER}")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-parameter")
NATIVE = ("-O2", "-march=native", "-fno-trapping-math")
SANITIZED = ("-O1", "-march=native", "-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all")


class Dimension(ctypes.Structure):
    """``halide_dimension_t``."""

    _fields_ = (
        ("min", ctypes.c_int32),
        ("extent", ctypes.c_int32),
        ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


class Buffer(ctypes.Structure):
    """``halide_buffer_t``."""

    _fields_ = (
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dimension)),
        ("padding", ctypes.c_void_p),
    )


def buffer(array: np.ndarray[Any, Any], mins: Sequence[int] = (), *, host: bool = True) -> Buffer:
    """A buffer over an array whose last axis is x; ``host=False`` asks for bounds."""
    type = type_of_dtype(array.dtype)
    assert type is not None
    dims = (Dimension * array.ndim)()
    for d in range(array.ndim):
        axis = array.ndim - 1 - d
        low = mins[d] if mins else 0
        dims[d] = Dimension(low, array.shape[axis], array.strides[axis] // array.itemsize, 0)
    code = int(TypeCode(type.code()))
    return Buffer(0, None, array.ctypes.data if host else None, 0, code, type.bits(), 1, array.ndim, dims, None)


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="halide_core_emitted_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _build(text: str, flags: Sequence[str]) -> Path:
    key = hashlib.sha256("\0".join([text, *flags]).encode()).hexdigest()[:20]
    source, library = _folder() / f"{key}.c", _folder() / f"{key}.so"
    if not library.exists():
        source.write_text(text)
        done = subprocess.run(
            [*find_compiler().command, *FLAGS, *flags, str(source), "-o", str(library), "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stderr[:4000]}\n{text[:20000]}"
    return library


def runtime() -> Any:
    """The runtime that pipelines find. There is one in a process: another would take its symbols away from it."""
    return runtime_library.runtime()


def load(lowered: Lowered, flags: Sequence[str] = NATIVE) -> Any:
    """The compiled function. All warnings are errors."""
    runtime()
    library = ctypes.CDLL(str(_build(emit_c(lowered), (*WARNINGS, *flags))))
    function = library[lowered.name]
    function.restype = ctypes.c_int
    return function


def run(lowered: Lowered, *arguments: Any, flags: Sequence[str] = NATIVE) -> int:
    """Compiles and calls; arrays become buffers. The answer is the error code."""
    given = [buffer(a) if isinstance(a, np.ndarray) else a for a in arguments]
    code: int = load(lowered, flags)(*[ctypes.byref(a) if isinstance(a, Buffer) else a for a in given])
    return code


def last_error() -> str:
    """The message of the last failure."""
    text = runtime_library.FFI.string(runtime().halide_core_last_error())
    assert isinstance(text, bytes)
    return text.decode()


def image(name: str, type: Type, dimensions: int = 1) -> Image:
    """Something to be carried by a buffer argument."""
    return Image(name, type, dimensions, UNKNOWN_LOCATION)


def input_buffer(source: Image) -> Argument:
    """An input buffer argument."""
    return Argument.of(ArgumentKind.InputBuffer, source.name, source.types[0], source.dimensions, source)


def output_buffer(source: Image) -> Argument:
    """An output buffer argument."""
    return Argument.of(ArgumentKind.OutputBuffer, source.name, source.types[0], source.dimensions, source)


def scalar_argument(name: str, type: Type) -> Argument:
    """A scalar argument."""
    return Argument.of(ArgumentKind.InputScalar, name, type, 0, ScalarParam(name, type, UNKNOWN_LOCATION))


def loop(var: ir.Variable, low: ir.ExprNode, length: ir.ExprNode, *body: ir.Stmt, parallel: bool = False) -> ir.For:
    """A loop over [low, low + length)."""
    kind = ir.LoopKind.PARALLEL if parallel else ir.LoopKind.SERIAL
    name = ir.LoopName("f", 0, 0, var.name)
    return ir.For(name, var, ir.Interval(low, length), kind, True, ir.Block(body))
