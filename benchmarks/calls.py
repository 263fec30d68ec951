"""A call that computes next to nothing: what getting in and out of a pipeline takes.

    python -m benchmarks.calls

Halves two bfloat16 numbers from one buffer into another, by ``realize``, by a Callable that gets Buffers or arrays,
and by a Python extension written ahead of time. Microseconds a call, of this thread's own time: the least mean of
twenty turns of 2000 calls.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import halide_core as hl

_CALLS, _TURNS = 2000, 20


def _pipeline() -> tuple[hl.Func, hl.ImageParam]:
    x, f, bits = hl.Var("x"), hl.Func("halved"), hl.ImageParam(hl.BFloat(16), 1, "bits")
    f[x] = hl.cast(hl.BFloat(16), hl.f32(bits[x]) / 2.0)
    return f, bits


def _extension(folder: Path) -> Any:
    """The function ``halved`` of a module that is built and loaded."""
    f, bits = _pipeline()
    path = folder / "halved.abi3.so"
    f.compile_to({hl.OutputFileType.python_extension: str(path)}, [bits], "halved")
    spec = importlib.util.spec_from_file_location("halved", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.halved


def microseconds(call: Callable[[], object]) -> float:
    """The least time of one call, on its thread."""
    best = float("inf")
    for _ in range(_TURNS):
        start = time.thread_time_ns()
        for _ in range(_CALLS):
            call()
        best = min(best, (time.thread_time_ns() - start) / _CALLS * 1e-3)
    return best


def main() -> None:
    """Measures each, and prints a row of each."""
    f, bits = _pipeline()
    source, out = np.zeros(2, hl.BFloat(16).dtype), np.zeros(2, hl.BFloat(16).dtype)
    bits.set(source)
    given, target = hl.Buffer(source), hl.Buffer(out)
    called = f.compile_to_callable([bits])
    with tempfile.TemporaryDirectory() as folder:
        halved = _extension(Path(folder))
        for name, call in (
            ("realize", lambda: f.realize(target)),
            ("Callable of Buffers", lambda: called(given, target)),
            ("Callable of arrays", lambda: called(source, out)),
            ("extension", lambda: halved(source, out)),
        ):
            print(f"{name:20} {microseconds(call):6.2f} us")


if __name__ == "__main__":
    main()
