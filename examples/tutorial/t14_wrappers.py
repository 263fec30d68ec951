"""14. Wrappers: a Func between a producer and one consumer, to copy what is used often.

A Func that only repeats another's values changes nothing, but it has loops and memory of its own: so an input can be
brought into a small, dense block before a tile reads it many times.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())
W, H = 128, 96
picture = grey()
image = hl.Buffer(picture, "image")
padded = hl.BoundaryConditions.mirror_interior(image)


def median(source: hl.Func, name: str) -> hl.Func:
    """The middle of three values, across."""
    a, b, c = source[x - 1, y], source[x, y], source[x + 1, y]
    f = hl.Func(name)
    f[x, y] = hl.max(hl.min(a, b), hl.min(hl.max(a, b), c))
    return f


plain = median(padded, "plain")

# The same values through a copy of what each tile needs, edges already mirrored.
block = hl.Func("block")
block[x, y] = padded[x, y]
tiled = median(block, "tiled")
tiled.tile(x, y, xo, yo, xi, yi, 32, 16).vectorize(xi, 16)
block.compute_at(tiled, xo).vectorize(x, 2)

# in_() makes such a Func as a directive, so that the algorithm stays as it is. Where a Func was made for you, as edges
# is here, its variables are hl._0, hl._1 and so on.
edges = hl.BoundaryConditions.mirror_interior(image)
wrapped = median(edges, "wrapped")
wrapped.tile(x, y, xo, yo, xi, yi, 32, 16).vectorize(xi, 16)
edges.in_(wrapped).compute_at(wrapped, xo).vectorize(hl._0, 2)
wrapped.print_loop_nest()

results = [np.asarray(f.realize([W, H])) for f in (plain, tiled, wrapped)]
mirrored = np.pad(picture, 1, mode="reflect")[1 : H + 1, : W + 2]
expected = np.median(np.stack([mirrored[:, i : i + W] for i in range(3)]), axis=0).astype(np.uint8)
print()
equal = [[n, bool((r == expected).all())] for n, r in zip(("plain", "tiled", "wrapped"), results, strict=True)]
table(["", "equal to numpy's median"], equal)
assert all(same for _, same in equal)
save("14_median.png", results[1])
