"""The cost of a compile: lowering of stencil chains and unrolled choices as they grow, and first pixels of a blur.

    python -m benchmarks.compile_time [--repeats 3]

Lowering is everything up to the C compiler: the snapshot, 𝓛, 𝓢, 𝓑, the passes. Minima of several runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.run.backend import Request

STAGES = (25, 50, 100, 200)
ARMS = (100, 200, 400)
ROOT = Path(__file__).resolve().parents[1]
FIRST_PIXEL = [sys.executable, "-m", "benchmarks.first_pixel"]


def chain(stages: int, *, tiled: bool) -> Request:
    """A chain of 3 x 3 means, every stage compute_root, or all but the last at tiles of the last."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    funcs: list[hl.Func] = []
    for i in range(stages):
        before = funcs[-1] if funcs else image
        f = hl.Func(f"stage{i}")
        total = before[x, y]
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx or dy:
                    total = total + before[x + dx, y + dy]
        f[x, y] = total / 9
        funcs.append(f)
    output = funcs[-1]
    if tiled:
        xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
        output.tile(x, y, xo, yo, xi, yi, 64, 32)
        for f in funcs[:-1]:
            f.compute_at(output, xo)
    else:
        for f in funcs:
            f.compute_root()
    return output._request(name="chain")


def arms(count: int) -> Request:
    """A choice among so many values, in an unrolled loop over all of them."""
    x, c, f = hl.Var("x"), hl.Var("c"), hl.Func("f")
    f[x, c] = hl.mux(c, [x * (i + 1) + i for i in range(count)])
    f.bound(c, 0, count).unroll(c)
    return f._request(name="arms")


def lowering_seconds(make: Callable[[], Request], repeats: int) -> float:
    """The least time to lower a fresh program."""
    best = float("inf")
    for _ in range(repeats):
        request = make()
        start = time.perf_counter()
        lower(request)
        best = min(best, time.perf_counter() - start)
    return best


def first_pixel_seconds(repeats: int) -> tuple[float, float]:
    """Whole-process seconds of a script that blurs one small image: without a cache, and with a warm one."""
    cold, warm = float("inf"), float("inf")
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "HL_CACHE_DIR": folder}
            for is_warm in (False, True):
                start = time.perf_counter()
                subprocess.run(FIRST_PIXEL, check=True, env=environment, capture_output=True, cwd=ROOT)
                seconds = time.perf_counter() - start
                if is_warm:
                    warm = min(warm, seconds)
                else:
                    cold = min(cold, seconds)
    return cold, warm


def main() -> None:
    """Prints both tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=3)
    repeats = arguments.parse_args().repeats
    console = Console()

    table = Table(title="lowering, seconds")
    table.add_column("schedule")
    for n in STAGES:
        table.add_column(f"{n} stages", justify="right")
    table.add_column("200 : 50", justify="right")
    for tiled in (False, True):
        seconds = {n: lowering_seconds(partial(chain, n, tiled=tiled), repeats) for n in STAGES}
        name = "compute_at tiles" if tiled else "compute_root"
        table.add_row(name, *(f"{s:.3f}" for s in seconds.values()), f"{seconds[200] / seconds[50]:.2f}")
    console.print(table)

    table = Table(title="lowering of unrolled arms, seconds")
    for n in ARMS:
        table.add_column(f"{n} arms", justify="right")
    table.add_row(*(f"{lowering_seconds(partial(arms, n), repeats):.3f}" for n in ARMS))
    console.print(table)

    cold, warm = first_pixel_seconds(repeats)
    table = Table(title="process start to first pixel of a blur, seconds")
    table.add_column("cold cache", justify="right")
    table.add_column("warm cache", justify="right")
    table.add_row(f"{cold:.3f}", f"{warm:.3f}")
    console.print(table)


if __name__ == "__main__":
    main()
