"""From nothing to one result: a process that imports a language, builds one application, compiles it and runs it once.

    python -m benchmarks.first_result halide_core blur expert full in.npy

It prints one line when the result is there, the peak of its memory in KiB; the time until then is what
``processes.first_result`` measures. The environment says which cache is used, and whether there is anything in it.
"""

from __future__ import annotations

import importlib
import resource
import sys
from pathlib import Path

from benchmarks.apps import APPS
from benchmarks.worker import compile_app, load_inputs, private_stdout


def peak_kib() -> int:
    """The most memory that this program held. ``ru_maxrss`` would count what the parent held when it forked."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most // 1024 if sys.platform == "darwin" else most
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Does it."""
    side, name, schedule, size_name, *given = sys.argv[1:]
    answers = private_stdout()
    app = APPS[name]
    size = app.sizes[size_name]
    run, _ = compile_app(importlib.import_module(side), name, schedule, size)
    output = app.empty_output(size)
    run(*load_inputs([g if g.endswith(".npy") else float(g) for g in given]), output)
    answers.write(f"{peak_kib()}\n")
    answers.flush()


if __name__ == "__main__":
    main()
