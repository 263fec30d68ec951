"""A stand-alone executable as a judge: the emitted C, the C runtime and ``main.c``, under the sanitizers.

In: a request, lowered; windows. Out: the outputs' values in them; a PipelineError where the pipeline refuses to run; a
Mismatch where the program dies, with what the sanitizers printed. Of C that is very long, sanitizers are left out: gcc
takes minutes for them.

Nothing here has a limit of time: who asks in a campaign counts the processors' time of a worker and of what it started.

    gcc -fsanitize=address,undefined pipeline.c main.o and the runtime's objects   ->   ./program   ->   3.raw, regions
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import halide_core as hl
from halide_core.debug import deep_recursion
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind, Request
from halide_core.run.pipeline import _values
from halide_core.runtime.codegen.entry import emit_entry, emit_hiding
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import STANDARD_FLAGS, find_compiler
from halide_core.runtime.crt.runtime_library import SOURCES
from tests.campaigns.fuzz.case import Window
from tests.campaigns.fuzz.compare import Array
from tests.campaigns.fuzz.interpreted import spread
from tests.campaigns.fuzz.verdict import Mismatch

_SANITIZERS = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_LONG = 200_000
_ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
_REFUSED = 3
_KINDS = {ArgumentKind.InputScalar: 0, ArgumentKind.InputBuffer: 1, ArgumentKind.OutputBuffer: 2}


def run(request: Request, lowered: Lowered, windows: Sequence[Window], *, flags: Sequence[str] = ()) -> list[Array]:
    """The values by a program of its own, in the window of each output. ``flags``: more of the C compiler's."""
    with deep_recursion():
        hiding, entry = (emit(lowered.name, lowered.arguments) for emit in (emit_hiding, emit_entry))
        text = hiding + emit_c(lowered) + entry
    with tempfile.TemporaryDirectory(prefix="fuzz_") as name:
        folder = Path(name)
        (folder / "pipeline.c").write_text(text, encoding="utf-8")
        checks = _SANITIZERS if len(text) < _LONG else ("-O0",)
        inputs = [*flags, str(folder / "pipeline.c"), *map(str, _support(checks)), "-lpthread", "-lm"]
        _compile(inputs, folder / "program", checks)
        boxes = spread(request, windows)
        _write_arguments(folder, lowered.arguments, _values(request), boxes)
        _run(folder)
        return _results(folder, lowered.arguments, boxes)


def _compile(given: Sequence[str], output: Path, checks: Sequence[str]) -> None:
    flags = [f for f in STANDARD_FLAGS if not f.startswith("-O")]
    command = [*find_compiler().command, *flags, *checks, f"-I{INCLUDE_FOLDER}", *given, "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Mismatch("executable does not compile", done.stderr[-2000:])


_kept: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def _support(checks: Sequence[str]) -> tuple[Path, ...]:
    """The objects that every program is linked with, made once for this process."""
    _kept.append(tempfile.TemporaryDirectory(prefix="fuzz_support_"))
    folder = Path(_kept[-1].name)
    made = []
    for source in (Path(__file__).parent / "main.c", *SOURCES):
        made.append(folder / f"{source.stem}.o")
        _compile(["-c", str(source)], made[-1], checks)
    return tuple(made)


def _write_arguments(
    folder: Path, arguments: Sequence[Argument], values: Sequence[object], windows: Sequence[Window]
) -> None:
    lines = [str(len(arguments))]
    for i, argument in enumerate(arguments):
        box: Window = ()
        if argument.kind is ArgumentKind.OutputBuffer:
            box = windows[i - len(values)]
        else:
            value = values[i]
            array = value.array if isinstance(value, hl.Buffer) else np.array(value, argument.type.dtype)
            if isinstance(value, hl.Buffer):
                box = tuple(zip(value.mins, reversed(array.shape), strict=True))
            (folder / f"{i}.raw").write_bytes(np.ascontiguousarray(array).tobytes())
        numbers = [_KINDS[argument.kind], argument.type.bytes(), int(argument.type.code()), argument.type.bits()]
        numbers += [len(box), *(n for pair in box for n in pair)]
        lines.append(" ".join(map(str, numbers)))
    (folder / "arguments").write_text("\n".join(lines) + "\n")


def _run(folder: Path) -> None:
    done = subprocess.run(
        [folder / "program"],
        cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, check=False, errors="replace",
    )  # fmt: skip
    if done.returncode == _REFUSED:
        raise hl.PipelineError(done.stdout)
    if done.returncode:
        raise Mismatch("executable dies", f"exit status {done.returncode}\n{done.stdout}{done.stderr[-3000:]}")


def _results(folder: Path, arguments: Sequence[Argument], windows: Sequence[Window]) -> list[Array]:
    numbers = iter(map(int, (folder / "regions").read_text().split()))
    first = len(arguments) - len(windows)
    found: list[Array] = []
    for i, (argument, window) in enumerate(zip(arguments[first:], windows, strict=True)):
        region = [(next(numbers), next(numbers)) for _ in window]
        data = np.frombuffer((folder / f"{first + i}.raw").read_bytes(), argument.type.dtype)
        array = data.reshape([extent for _, extent in reversed(region)])
        cut = [slice(low - at, low - at + n) for (low, n), (at, _) in zip(window, region, strict=True)]
        found.append(array[tuple(reversed(cut))])
    return found
