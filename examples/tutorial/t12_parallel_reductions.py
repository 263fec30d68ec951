"""12. Reductions on all cores: partial results first, by hand and by ``rfactor``.

The points of a reduction domain come one after the other. A sum may be taken in parts, because addition of integers is
associative; the parts are a Func of their own, whose pure variable can be vectorized or run in parallel. ``rfactor``
writes that Func for you.
"""

from __future__ import annotations

import numpy as np
from showing import table

import halide_core as hl

N, PARTS = 1 << 16, 16
numbers = np.random.default_rng(7).integers(-1000, 1000, N).astype(np.int32)
source = hl.Buffer(numbers, "source")
p = hl.Var("p")

# One loop over everything.
serial, r = hl.Func("serial"), hl.RDom([(0, N)], "r")
serial[()] = 0
serial[()] += source[r.x]

# 16 parts that don't know of each other, each over every 16th number; then their sum.
parts, each, over = hl.Func("parts"), hl.RDom([(0, N // PARTS)], "each"), hl.RDom([(0, PARTS)], "over")
parts[p] = 0
parts[p] += source[each.x * PARTS + p]
parts.compute_root().vectorize(p, 8)
parts.update().reorder(p, each.x).vectorize(p, 8)
fast = hl.Func("fast")
fast[()] = 0
fast[()] += parts[over.x]

# The same as a directive: the algorithm stays as it is, and its update is taken in parts.
factored, q, ro, ri = hl.Func("factored"), hl.RDom([(0, N)], "q"), hl.RVar("ro"), hl.RVar("ri")
factored[()] = 0
factored[()] += source[q.x]
partial = factored.update().split(q.x, ro, ri, PARTS).rfactor(ri, p)
partial.compute_root().vectorize(p, 8).update().reorder(p, ro).vectorize(p, 8)

# Rows of a picture: each row's sum is one task.
rows, row, columns = hl.Func("rows"), hl.Var("row"), hl.RDom([(0, 256)], "columns")
rows[row] = 0
rows[row] += source[row * 256 + columns.x]
rows.compute_root().update().parallel(row)
total, down = hl.Func("total"), hl.RDom([(0, N // 256)], "down")
total[()] = 0
total[()] += rows[down.x]

results = {f.name(): np.asarray(f.realize([])).item() for f in (serial, fast, factored, total)}
table(["written as", "sum"], results.items())
assert set(results.values()) == {numbers.sum()}
print()
factored.print_loop_nest()

# What order does not matter for, the compiler can't know: a loop that could race is refused.
try:
    serial.update().parallel(r.x)
    serial.compile_jit()
except hl.ScheduleError as error:
    print("\n" + str(error))
