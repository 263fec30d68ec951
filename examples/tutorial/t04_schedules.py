"""4. Schedules: the order of the loops, which never changes the answer.

The algorithm stays as it is; directives change its loops. Each is checked before anything runs, and an accepted
schedule gives the same bytes as any other. A schedule is a value too: it can be printed as source, taken away and given
again.
"""

from __future__ import annotations

import numpy as np
from showing import table

import halide_core as hl

x, y, xo, yo, xi, yi, tile = (hl.Var(n) for n in "x y xo yo xi yi tile".split())


def algorithm() -> hl.Func:
    """The same Func again, without a schedule."""
    f = hl.Func("f")
    f[x, y] = x * 10 + y
    return f


SCHEDULES = {
    "default": lambda f: f,
    "columns first": lambda f: f.reorder(y, x),
    "a loop in two": lambda f: f.split(x, xo, xi, 4),
    "two loops in one": lambda f: f.fuse(x, y, tile),
    "tiles": lambda f: f.tile(x, y, xo, yo, xi, yi, 4, 2),
    "vectors": lambda f: f.vectorize(x, 4),
    "unrolled": lambda f: f.unroll(x, 4),
    "tiles on all cores": lambda f: f.tile(x, y, xo, yo, xi, yi, 4, 2).fuse(xo, yo, tile).parallel(tile),
    "tiles of vectors": lambda f: f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi).unroll(yi),
}

expected = algorithm().evaluate([13, 7])  # 13 by 7: nothing divides it
rows = []
for name, schedule in SCHEDULES.items():
    f = algorithm()
    schedule(f)
    lines = [line.strip() for line in f.loop_nest().splitlines()]
    loops = [line.rstrip(":") for line in lines if line.startswith(("for", "parallel", "vectorized", "unrolled"))]
    same = (np.asarray(f.realize([13, 7])) == expected).all()
    assert same
    rows.append([name, "same" if same else "DIFFERENT", " > ".join(loops)])
table(["schedule", "answer", "loops, outermost first"], rows)

f = algorithm()
SCHEDULES["tiles of vectors"](f)
told = hl.Schedule(f)
print(f"\nthe last one, as source:\n{told}")
told.clear()
again = algorithm()
told.apply(again)
assert hl.Schedule(again).directives() == told.directives()
assert len(hl.Schedule(f)) == 0
