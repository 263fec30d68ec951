"""11. Reductions over part of a box: ``RDom.where``.

A predicate says which points of a domain count. It can be a shape, depend on the pure variables, or on data; bounds
inference uses it, so that nothing outside is asked for.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
N = 9

# Which points of a 9 by 9 box count?
disc = hl.RDom([(-4, N), (-4, N)], "disc")
disc.where(disc.x * disc.x + disc.y * disc.y <= 16)
triangle = hl.RDom([(0, N), (0, N)], "triangle")
triangle.where(triangle.x <= triangle.y)

marks = hl.Func("marks")
marks[x, y] = 0
marks[disc.x + 4, disc.y + 4] += 1
marks[triangle.x, triangle.y] += 2
values = np.asarray(marks.realize([N, N]))
for row in values:
    print(" ".join(".o+#"[v] for v in row))
print("o: the disc, +: the triangle, #: both\n")
j, i = np.mgrid[0:N, 0:N]
assert (values == ((i - 4) ** 2 + (j - 4) ** 2 <= 16) + 2 * (i <= j)).all()

# A predicate on data: how many pixels are bright, and what is their mean?
picture = grey()
image = hl.Buffer(picture, "image")
bright = hl.RDom([(0, image.width()), (0, image.height())], "bright")
bright.where(image[bright.x, bright.y] > 200)
count, total = hl.Func("count"), hl.Func("total")
count[()] = 0
count[()] += hl.select(bright.x >= 0, 1, 0)
total[()] = 0
total[()] += hl.i32(image[bright.x, bright.y])
found, light = (np.asarray(f.realize([])).item() for f in (count, total))
table(["", "bright pixels", "their mean"], [["here", found, light / found]])
assert (found, light) == ((picture > 200).sum(), picture[picture > 200].sum())

# The mean over a disc around each pixel.
padded = hl.BoundaryConditions.repeat_edge(image)
lens = hl.Func("lens")
around = hl.u32(padded[x + disc.x, y + disc.y])
lens[x, y] = hl.u8(hl.sum(around) / hl.u32(49))
assert sum(a * a + b * b <= 16 for a in range(-4, 5) for b in range(-4, 5)) == 49
save("11_lens.png", lens.realize([image.width(), image.height()]))
