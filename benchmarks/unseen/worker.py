"""One side of the campaign, in a process of its own: ``benchmarks.worker``, with drawn cases for applications.

{"do": "load", "seed": 7, "number": 3, "threads": 1, "mode": "drawn"}   ->   {"compile_s": 0.21, "lines": […]}
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.unseen.case import Name, make
from benchmarks.worker import HALIDE, OURS, Worker, private_stdout, ready, serve


class UnseenWorker(Worker):
    """A worker, and the case that is loaded in it."""

    def load(self, order: dict[str, Any]) -> dict[str, Any]:
        """Draws and compiles a case, and runs it once."""
        name = Name(order["seed"], order["number"], order["threads"], order["mode"])
        with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the kind "has not been scheduled"
            os.environ["HL_CACHE_DIR"] = folder
            case = make(self._hl, name)
            start = time.perf_counter()
            run = case.output.compile_to_callable(case.arguments)
            took = time.perf_counter() - start
        self._output = case.empty_output()
        buffer = self._hl.Buffer
        arguments = [buffer(a) if isinstance(a, np.ndarray) else a for a in (*case.inputs, self._output)]
        self._run = lambda: run(*arguments)
        self._run()
        return {"compile_s": took, "lines": case.lines, "rounds": case.rounds}


def main() -> None:
    """Serves one side."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("side", choices=(OURS, HALIDE))
    answers = private_stdout()
    worker = UnseenWorker(arguments.parse_args().side)
    worker.warm_up()
    ready(answers)
    serve(worker, sys.stdin, answers)


if __name__ == "__main__":
    main()
