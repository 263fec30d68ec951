"""9. Updates: values that change, in an order that is part of the algorithm.

A Func may have update definitions after the first, pure one. A reduction domain (RDom) runs over its points in order,
so scans and histograms can be written; each update has loops and a schedule of its own.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y, i = hl.Var("x"), hl.Var("y"), hl.Var("i")
picture = grey()
image = hl.Buffer(picture, "image")

# One row, one pixel, and a running sum, each over the values that the definition before it left.
f, r = hl.Func("f"), hl.RDom([(1, 7)], "r")
f[x] = x
f[3] = 100
f[r.x] = f[r.x] + f[r.x - 1]
print(f)
table(["stage", *range(8)], [["all", *np.asarray(f.realize([8]))]])
assert np.asarray(f.realize([8])).tolist() == np.cumsum([0, 1, 2, 100, 4, 5, 6, 7]).tolist()

# A histogram scatters: where it adds depends on the data.
pixels = hl.RDom([(0, image.width()), (0, image.height())], "pixels")
histogram = hl.Func("histogram")
histogram[i] = 0
histogram[hl.i32(image[pixels.x, pixels.y])] += 1
counts = np.asarray(histogram.realize([256]))
assert (counts == np.bincount(picture.ravel(), minlength=256)).all()

# The pure variables of an update can be scheduled freely; the reduction variables keep their order.
columns, down = hl.Func("columns"), hl.RDom([(0, image.height())], "down")
columns[x] = 0
columns[x] += hl.i32(image[x, down.x])
columns.update().reorder(x, down.x).vectorize(x, 8)
print()
columns.print_loop_nest()
assert (np.asarray(columns.realize([image.width()])) == picture.sum(axis=0, dtype=np.int32)).all()

chart = hl.Func("chart")
high = hl.Buffer(np.ascontiguousarray(counts * 100 // counts.max()).astype(np.int32), "high")
chart[x, y] = hl.select(100 - y <= high[x], hl.u8(30), hl.u8(235))
save("09_histogram.png", chart.realize([256, 101]))
