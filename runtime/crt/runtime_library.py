"""Compiles the runtime (``SOURCES``) once per machine and loads it into the process.

In: nothing but the environment. Out: the library through cffi, and ``FFI``, which knows the types of
``halide_runtime.h`` and serves whoever calls compiled pipelines.

    runtime().halide_core_get_num_threads()
    -> 2

It is loaded with RTLD_GLOBAL: pipelines that are loaded later take their ``halide_core_*`` from it, so all of them
share one pool of threads and one error handler.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from halide_core.config import check_thread_count
from halide_core.errors import ToolchainError
from halide_core.runtime.compile.cache import default_cache
from halide_core.runtime.compile.load import load
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import (
    CompileOptions,
    Compiler,
    compile_object,
    compile_shared,
    cpu_identity,
    find_compiler,
)
from halide_core.runtime.crt import abi

HEADER: Final = INCLUDE_FOLDER / "halide_runtime.h"
_INSIDE: Final = (INCLUDE_FOLDER / "platform.h", INCLUDE_FOLDER / "threads.h")
_PARTS = (
    "context.c", "runs.c", "pool.c", "fork.c", "serial.c", "memory.c", "checks.c", "support.c", "trace.c", "files.c",
    "memo.c", "profiles.c",
)  # fmt: skip
SOURCES: Final = tuple(INCLUDE_FOLDER / name for name in _PARTS)

FFI: Final = abi.FFI

# NODELETE: cffi unloads a library when its object dies, at exit too, and pipelines may still use this one then.
_DLOPEN_FLAGS: Final = os.RTLD_NOW | os.RTLD_GLOBAL | os.RTLD_NODELETE

# One unit, at -O1: half the compiler's time of three at -O2, which is what a first result waits for. What the runtime
# does is wait, call and write files.
_OPTIONS: Final = CompileOptions(include_folders=(INCLUDE_FOLDER,), extra_flags=("-O1",))
UNIT: Final = "".join(f'#include "{path.name}"\n' for path in SOURCES)
"""The whole runtime as one C file."""
HOOKS: Final = tuple(INCLUDE_FOLDER / f"halide_{name}.c" for name in ("hooks", "errors", "profiler"))
"""Halide's names for it, which programs of C may call."""
_HOOKS: Final = "".join(f'#include "{path.name}"\n' for path in HOOKS)

_lock: Final = threading.Lock()
_library: Any = None  # cffi's Lib, whose functions exist only at run time


class _CompileAhead(threading.Thread):
    """A compilation that runs beside the program."""

    def __init__(self) -> None:
        super().__init__(name="halide_core_runtime")
        self.warned: Warning | None = None
        """A warning that the filters make an error: it is given once, so it has to be passed on."""

    def run(self) -> None:
        """Compiles. An error is met again by those who need the runtime, whose line it belongs to."""
        try:
            default_cache().get_or_build(_key(find_compiler()), _build)
        except ToolchainError:
            pass
        except Warning as warning:
            self.warned = warning


_ahead: _CompileAhead | None = None


def _print(line: Any) -> None:
    text = FFI.string(line)
    assert isinstance(text, bytes)
    sys.stdout.write(text.decode("utf-8", "replace") + "\n")


_show: Final = FFI.callback("halide_core_print_handler", _print)
"""Shows a line where Python prints, from whatever thread."""


def runtime() -> Any:
    """The loaded runtime; the first call loads it."""
    return _library if _library is not None else load_runtime()


def start_runtime() -> None:
    """Begins to compile the runtime beside what its caller does next, once in a process.

    ``runtime()`` waits for it. What goes wrong is found again there, and raised where the user's line is known.
    """
    global _ahead
    with _lock:
        if _library is not None or _ahead is not None or _is_cached():
            return
        # It asks to be told of forks: before one comes while the thread imports it, and before this module asks, since
        # who asks last is told first, and the thread must have ended when filelock keeps its locks for the child.
        import filelock  # noqa: F401, PLC0415

        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_settle)
        thread = _CompileAhead()
        with suppress(RuntimeError):  # there are no more threads, or Python is ending: then it is compiled when needed
            thread.start()
            _ahead = thread


def _is_cached() -> bool:
    with suppress(ToolchainError):
        return default_cache().verify(_key(find_compiler()))
    return False


def load_runtime() -> Any:
    """Compiles the runtime unless the cache has it, loads it, and silences its messages on stderr.

    Errors are raised as exceptions by those who call pipelines, with the text of ``halide_core_last_error``.

    Raises:
        ToolchainError: there is no compiler, it fails, or what it wrote can't be loaded.
    """
    global _library
    with _lock:
        if _library is None:
            if _ahead is not None:
                _ahead.join()
                warned, _ahead.warned = _ahead.warned, None
                if warned is not None:
                    raise warned
            check_thread_count()
            library = _open()
            library.halide_core_quiet_errors()
            library.halide_core_set_print_handler(_show)
            _library = library
        return _library


def _settle() -> None:
    """A forked process has none of its parent's threads, and all of its locks."""
    if _ahead is not None:
        _ahead.join()


def _open() -> Any:
    return load("The runtime", _key(find_compiler()), _build, lambda path: FFI.dlopen(str(path), _DLOPEN_FLAGS))


def _build(output: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
        unit = Path(folder) / "runtime.c"
        unit.write_text(UNIT, encoding="utf-8")
        compile_shared([unit], output, options=_OPTIONS, compiler=find_compiler())


def runtime_object(options: CompileOptions) -> Path:
    """The runtime as an object file for libraries of C, which the cache keeps."""
    return _object(UNIT, options)


def hooks_object(options: CompileOptions) -> Path:
    """Halide's names for the runtime, to stand beside it in a library: linked where they are called."""
    return _object(_HOOKS, options)


def standalone_object(options: CompileOptions) -> Path:
    """Both in one, for programs."""
    return _object(f"{UNIT}{_HOOKS}", options)


def _object(text: str, options: CompileOptions) -> Path:
    def build(output: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
            unit = Path(folder) / "halide_runtime.c"
            unit.write_text(text, encoding="utf-8")
            compile_object(unit, output, options=options)

    compiler = options.compiler or find_compiler()
    return default_cache().get_or_build(_key(compiler, ("object", text, *options.flags())), build)


def _key(compiler: Compiler, flags: Sequence[str] = _OPTIONS.flags()) -> str:
    digest = hashlib.sha256()
    for path in (HEADER, *_INSIDE, *SOURCES, *HOOKS):
        digest.update(path.read_bytes())
        digest.update(b"\0")
    for text in (compiler.identity, *flags, cpu_identity()):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
