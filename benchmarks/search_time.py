"""The growth of what it takes to choose a schedule by a search, from 10 stages to 100.

    python -m benchmarks.search_time [--repeats 3] [--profile chain]

Prints for each kind of pipeline the processor's seconds (the least of some runs), and how they grow beside n log n: at
most 1.00 where the search keeps up with it.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import pstats
import sys
import time
from collections.abc import Callable

import halide_core as hl
from halide_core.algorithm.model import realization_order
from halide_core.autoschedule.constants import Constants
from halide_core.autoschedule.cost import CostModel
from halide_core.autoschedule.machine import machine
from halide_core.autoschedule.search import search
from halide_core.autoschedule.stages import PipelineStages
from halide_core.run.target import Target

STAGES = (10, 20, 50, 100)
_SIZE = ((0, 2559), (0, 1919))
_TARGET = Target("x86-64-linux-avx-avx2-fma-f16c-sse41")
_x, _y = hl.Var("x"), hl.Var("y")


def _input() -> hl.ImageParam:
    return hl.ImageParam(hl.Float(32), 2, "image")


def chain(count: int) -> hl.Func:
    """Each stage is a mean of five points of the one before."""
    before: hl.ImageParam | hl.Func = _input()
    for i in range(count):
        f = hl.Func(f"f{i}")
        f[_x, _y] = (
            before[_x, _y] + before[_x - 1, _y] + before[_x + 1, _y] + before[_x, _y - 1] + before[_x, _y + 1]
        ) / 5
        before = f
    assert isinstance(before, hl.Func)
    return before


def points(count: int) -> hl.Func:
    """Each stage is a value of its point in the one before."""
    before: hl.ImageParam | hl.Func = _input()
    for i in range(count):
        f = hl.Func(f"f{i}")
        f[_x, _y] = before[_x, _y] * 0.5 + float(i)
        before = f
    assert isinstance(before, hl.Func)
    return before


def diamonds(count: int) -> hl.Func:
    """Every third stage joins two that read the same one."""
    before: hl.ImageParam | hl.Func = _input()
    for i in range(count // 3):
        a, b, f = hl.Func(f"a{i}"), hl.Func(f"b{i}"), hl.Func(f"f{i}")
        a[_x, _y] = before[_x - 1, _y] + before[_x + 1, _y]
        b[_x, _y] = before[_x, _y - 1] + before[_x, _y + 1]
        f[_x, _y] = a[_x, _y] * b[_x, _y] * 0.1
        before = f
    assert isinstance(before, hl.Func)
    return before


KINDS: dict[str, Callable[[int], hl.Func]] = {f.__name__: f for f in (chain, points, diamonds)}


def searched(output: hl.Func) -> tuple[float, int]:
    """The processor's seconds of one search, and how many choices it looked at."""
    function = output.function
    order = realization_order([function])
    start = time.process_time()
    stages = PipelineStages(order, {function: _SIZE})
    found = search(CostModel(stages, machine(_TARGET, {"parallelism": "2"}), Constants()))[0]
    return time.process_time() - start, found.examined


def main() -> int:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--profile", choices=KINDS, help="show where the time of 50 stages goes, and no more")
    given = parser.parse_args()
    if given.profile:
        profiler = cProfile.Profile()
        profiler.runcall(searched, KINDS[given.profile](50))
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
        return 0
    for kind in given.kinds.split(","):
        first = 0.0
        for count in STAGES:
            runs = [searched(KINDS[kind](count)) for _ in range(given.repeats)]
            seconds = min(s for s, _ in runs)
            scale = seconds / (count * math.log(count))
            first = first or scale
            told = f"{kind:10} {count:4} stages {seconds:7.2f} s, {runs[0][1]:7} choices"
            print(f"{told}, growth over n log n {scale / first:5.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
