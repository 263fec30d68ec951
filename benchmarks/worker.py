"""One side of a comparison, in a process of its own: it builds, compiles and runs what it is told, line by line.

In, on stdin, one JSON object a line. Out, on stdout, one object for each: its answer, or ``{"error": …}``.

    {"do": "load", "app": "blur", "schedule": "expert", "size": "full", "inputs": ["in.npy"], "compiles": 2}
        ->  {"compile_s": [0.31, 0.29]}
    {"do": "run", "count": 10}       ->  {"run_s": [0.0021, …], "cpu_s": [0.0021, …]}
    {"do": "save", "path": "o.npy"}  ->  {}

The number of threads is given by the environment (``HL_NUM_THREADS``, which both compilers read). It runs in the peer's
environment too, so it imports numpy, the applications and the language that it measures, and nothing else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.apps import APPS
from benchmarks.apps.app import CHOSEN, NONE, Inputs, Size

OURS, HALIDE = "halide_core", "halide"
_ENOUGH_S = 3.0
"""A compile that takes this long is not repeated."""


def load_inputs(given: list[str | float]) -> Inputs:
    """Arrays from files, scalars as they are."""
    return tuple(np.load(g) if isinstance(g, str) else g for g in given)


def compile_app(hl: Any, name: str, schedule: str, size: Size) -> tuple[Any, float]:
    """A freshly built and scheduled application as a callable, and the seconds that compiling it took."""
    built = APPS[name].build(hl, size)
    if schedule in CHOSEN:
        built.output.set_estimates([(0, extent) for extent in APPS[name].shape(size)])
        for argument, value in zip(built.arguments, APPS[name].inputs(size), strict=True):
            argument.set(hl.Buffer(value) if isinstance(value, np.ndarray) else value)
    elif schedule != NONE:
        APPS[name].schedules[schedule](built)
    start = time.perf_counter()
    if schedule in CHOSEN:
        params = hl.AutoschedulerParams(CHOSEN[schedule])
        built.output.apply_autoscheduler(autoscheduler_params=params)
    run = built.output.compile_to_callable(list(built.arguments))
    return run, time.perf_counter() - start


class Worker:
    """A worker, and the application that is loaded in it."""

    def __init__(self, side: str) -> None:
        self._hl = importlib.import_module(side)
        self._run: Callable[[], object] = lambda: None
        self._output: Any = None

    def warm_up(self) -> None:
        """Pays once what is no part of a compile's time: loading LLVM, compiling our runtime."""
        x, f = self._hl.Var("x"), self._hl.Func("warm")
        f[x] = x
        f.realize([8])

    def load(self, order: dict[str, Any]) -> dict[str, Any]:
        """Compiles an application, several times from nothing, and runs it once."""
        app = APPS[order["app"]]
        size = app.sizes[order["size"]]
        seconds: list[float] = []
        while len(seconds) < order["compiles"] and sum(seconds) < _ENOUGH_S:
            with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
                os.environ["HL_CACHE_DIR"] = folder  # an empty cache: nothing is taken from an earlier compile
                run, took = compile_app(self._hl, order["app"], order["schedule"], size)
            seconds.append(took)
        inputs, self._output = load_inputs(order["inputs"]), app.empty_output(size)
        buffer = self._hl.Buffer
        arguments = [buffer(a) if isinstance(a, np.ndarray) else a for a in (*inputs, self._output)]
        self._run = lambda: run(*arguments)
        self._run()
        return {"compile_s": seconds}

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """Times so many runs: by the clock on the wall, and by the processor time of all threads."""
        wall, processor = [], []
        for _ in range(order["count"]):
            start, busy = time.perf_counter(), time.process_time()
            self._run()
            wall.append(time.perf_counter() - start)
            processor.append(time.process_time() - busy)
        return {"run_s": wall, "cpu_s": processor}

    def save(self, order: dict[str, Any]) -> dict[str, Any]:
        """Writes the last result."""
        np.save(order["path"], self._output)
        return {}


def serve(worker: Any, orders: Any, answers: Any) -> None:
    """Answers until there are no more orders."""
    for line in orders:
        order = json.loads(line)
        try:
            answer = getattr(worker, order["do"])(order)
        except Exception as error:  # noqa: BLE001 - whatever the measured library raises is the answer
            answer = {"error": str(error).strip() or type(error).__name__, "kind": type(error).__name__}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def private_stdout() -> Any:
    """The stream that answers go to; what libraries print to stdout goes to stderr from now on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def ready(answers: Any) -> None:
    """Says that orders are taken."""
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()


def main() -> None:
    """Serves one side."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("side", choices=(OURS, HALIDE))
    answers = private_stdout()
    worker = Worker(arguments.parse_args().side)
    worker.warm_up()
    ready(answers)
    serve(worker, sys.stdin, answers)


if __name__ == "__main__":
    main()
