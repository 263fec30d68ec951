"""18. Performance: measure, change the schedule, measure again.

``hl.profile`` says where the time of a pipeline goes, Func by Func. The usual steps: compute producers near their use,
make the inner loop a vector, and give rows to the cores.
"""

from __future__ import annotations

import time

import numpy as np
from showing import table

import halide_core as hl

x, y, yo, yi = hl.Var("x"), hl.Var("y"), hl.Var("yo"), hl.Var("yi")
W, H = 768, 512
data = np.random.default_rng(5).integers(0, 256, (H + 2, W + 2)).astype(np.uint8)
image = hl.Buffer(data, "image")


def blur() -> tuple[hl.Func, hl.Func]:
    """Three across, three down, in 16 bits."""
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = hl.u16(image[x, y]) + image[x + 1, y] + image[x + 2, y]
    down[x, y] = hl.u8((across[x, y] + across[x, y + 1] + across[x, y + 2]) / 9)
    return across, down


def untouched(across: hl.Func, down: hl.Func) -> None:
    """across is computed three times"""


def stages(across: hl.Func, down: hl.Func) -> None:
    """once, but through all of memory"""
    across.compute_root().vectorize(x, 16)
    down.vectorize(x, 32)


def strips(across: hl.Func, down: hl.Func) -> None:
    """strips of 32 rows that stay in the cache"""
    down.split(y, yo, yi, 32).vectorize(x, 32)
    across.compute_at(down, yo).vectorize(x, 16)


def cores(across: hl.Func, down: hl.Func) -> None:
    """the strips, on all cores"""
    strips(across, down)
    down.parallel(yo)


wide = data.astype(np.uint16)
rows3 = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
expected = ((rows3[:-2] + rows3[1:-1] + rows3[2:]) // 9).astype(np.uint8)
rows = []
for schedule in (untouched, stages, strips, cores):
    across, down = blur()
    schedule(across, down)
    call = down.compile_to_callable([])
    out = np.zeros((H, W), np.uint8)
    call(out)
    assert (out == expected).all()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        call(out)
        times.append(time.perf_counter() - start)
    rows.append([schedule.__name__, f"{min(times) * 1e6:.0f} us", (schedule.__doc__ or "")])
table(["schedule", "best of 9", "what it does"], rows)

across, down = blur()
stages(across, down)
print()
print(hl.profile(down, [W, H], runs=3))
