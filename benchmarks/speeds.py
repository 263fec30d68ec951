"""The two speeds of HL_COMPILE=fast: when the first result is there with and without it, and what the first code costs.

    python -m benchmarks.speeds --apps blur,sgemm --schedule expert --repeats 3

Each line is an application, in processes with caches that have the runtime and no pipeline; minima of several. "first":
from process start to the first result, on the clock. "cpu": compiling and the first run alone, as in a notebook, by the
processor time of this process and of C compilers. "swap": from the first result until the optimized code is there.
"run": one more run, by the processor time of all threads, and how many times as long the first code takes. The bits of
both are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import halide_core as hl
from benchmarks.apps import APPS
from benchmarks.worker import compile_app
from halide_core.runtime.execute.background import BACKGROUND
from halide_core.runtime.execute.jit import LoadedPipeline

ROOT = Path(__file__).resolve().parents[1]
_RUNS = 5
_WARM = "from halide_core.runtime.crt.runtime_library import runtime; runtime()"


@dataclass(frozen=True)
class Seconds:
    """The times of one process."""

    first: float
    wait_cpu: float
    run: float
    swap: float
    run_after: float
    bits: tuple[str, str]
    """Digests of the result before and after the code changed."""


def _cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def measured(name: str, schedule: str, size_name: str, started: float) -> Seconds:
    """The times of this process. ``started``: when it was, by the clock that all processes share."""
    app = APPS[name]
    size = app.sizes[size_name]
    began = time.monotonic()  # inputs are no part of it
    output = app.empty_output(size)
    given = [hl.Buffer(a) if isinstance(a, np.ndarray) else a for a in (*app.inputs(size), output)]
    inputs_s = time.monotonic() - began
    before = _cpu(resource.RUSAGE_SELF)
    run, _ = compile_app(hl, name, schedule, size)
    compilers = _cpu(resource.RUSAGE_CHILDREN)  # those in the background end later
    run(*given)
    wait_cpu, there = compilers + _cpu(resource.RUSAGE_SELF) - before, time.monotonic()
    first = hashlib.sha256(output.tobytes()).hexdigest()

    def least() -> float:
        times = []
        for _ in range(_RUNS):
            start = time.process_time()
            run(*given)
            times.append(time.process_time() - start)
        return min(times)

    BACKGROUND.wait()
    swap = time.monotonic() - there
    output.fill(0)
    quick = least()
    second = hashlib.sha256(output.tobytes()).hexdigest()
    if isinstance(pipeline := run._compiled, LoadedPipeline):
        pipeline.take_over(pipeline._libraries[0])  # back to the first code
    return Seconds(there - started - inputs_s, wait_cpu, least(), swap, quick, (first, second))


def _process(words: Sequence[str], cache: Path, haste: str) -> Seconds:
    """The times of one new process, with a copy of a cache."""
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
        shutil.copytree(cache, folder, dirs_exist_ok=True)
        environment = {**os.environ, "HL_CACHE_DIR": folder, "HL_COMPILE": haste}
        command = [sys.executable, "-m", "benchmarks.speeds", "--inside", *words, str(time.monotonic())]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return Seconds(**found | {"bits": tuple(found["bits"])})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", default=",".join(APPS), help=f"of: {', '.join(APPS)}")
    parser.add_argument("--schedule", default="expert")
    parser.add_argument("--size", default="full")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--inside", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Prints the table, or, inside, the times of this process."""
    options = _options()
    if options.inside is not None:
        *words, started = options.inside
        sys.stdout.write(json.dumps(asdict(measured(*words, float(started)))))
        return
    console = Console()
    table = Table(*"app|first s|fast s|ratio|cpu s|fast cpu|ratio|swap s|run ms|first code|bits".split("|"))
    ratios: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
        warm = {**os.environ, "HL_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", _WARM], env=warm, cwd=ROOT, check=True)
        for name in options.apps.split(","):
            if options.schedule not in APPS[name].schedules or options.size not in APPS[name].sizes:
                continue
            sides: dict[str, list[Seconds]] = {"": [], "fast": []}
            for _ in range(options.repeats):  # turn by turn
                for haste, found in sides.items():
                    found.append(_process([name, options.schedule, options.size], Path(folder), haste))
            whole, fast = sides[""], sides["fast"]

            def least(of: Sequence[Seconds], what: Callable[[Seconds], float]) -> float:
                return min(map(what, of))

            first = [least(side, lambda s: s.first) for side in (whole, fast)]
            cpu = [least(side, lambda s: s.wait_cpu) for side in (whole, fast)]
            after, before = least(fast, lambda s: s.run_after), least(fast, lambda s: s.run)
            ratios.append((first[1] / first[0], cpu[1] / cpu[0], before / after))
            same = len({bits for s in (*whole, *fast) for bits in s.bits}) == 1
            swap = least(fast, lambda s: s.swap)
            numbers = [*first, first[1] / first[0], *cpu, cpu[1] / cpu[0], swap, after * 1e3, before / after]
            table.add_row(name, *(f"{n:.2f}" for n in numbers), "equal" if same else "[red]differ[/]")
    means = [math.exp(sum(math.log(r[i]) for r in ratios) / len(ratios)) for i in range(3)]
    table.add_row("mean", "", "", f"{means[0]:.2f}", "", "", f"{means[1]:.2f}", "", "", f"{means[2]:.2f}", "")
    console.print(table)


if __name__ == "__main__":
    main()
