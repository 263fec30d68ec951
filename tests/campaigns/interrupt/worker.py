"""The process that is interrupted: it compiles and runs pipelines that no process before it had.

In: the number of the first pipeline, how many there are, whether KeyboardInterrupt is caught. Out: the lines "ready",
"interrupted" where that happened, and when all answers were right the time and "right".
"""

from __future__ import annotations

import signal
import sys
import time

import numpy as np
from numpy.random import default_rng  # before there are signals: its import swallows what is raised in it

import halide_core as hl

_SIDE = 384
_TERMS = 300


def run(number: int) -> None:
    """One pipeline: sums over a reduction, rows in parallel or one after the other."""
    pixels = default_rng(number).integers(0, 1000, (_SIDE, _SIDE), np.uint32)
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.RDom([(0, _TERMS)], "r")
    f[x, y] = hl.u32(number)
    f[x, y] += (hl.Buffer(pixels)[x, y] ^ hl.u32(r.x)) * hl.u32(number + 3)
    if number % 2:
        f.update(0).parallel(y)
    wanted = np.full_like(pixels, number)
    for term in range(_TERMS):
        wanted += (pixels ^ np.uint32(term)) * np.uint32(number + 3)
    found = np.asarray(f.realize([_SIDE, _SIDE]))
    if not np.array_equal(found, wanted):
        raise SystemExit(f"pipeline {number} is wrong")


def main(first: int, count: int, *, catches: bool) -> None:
    """All pipelines; once more where an interruption was caught."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        for number in range(first, first + count):
            run(number)
    except KeyboardInterrupt:
        if not catches:
            raise
        sys.stdout.write("interrupted\n")
        for number in range(first, first + count):
            run(number)
    now = time.monotonic()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the interpreter is not ours
    sys.stdout.write(f"{now}\nright\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), catches=sys.argv[3] == "catches")
