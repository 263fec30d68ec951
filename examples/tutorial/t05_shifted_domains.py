"""5. Shifted domains: coordinates need not start at zero.

A Buffer has a least coordinate in each dimension. ``realize`` of a Buffer computes the points that it has, wherever
they lie; ``infer_input_bounds`` says which points of an input that needs.
"""

from __future__ import annotations

import numpy as np
from showing import save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
distance = hl.Func("distance")
distance[x, y] = x * x + y * y

# Around the origin, from -2 to 2 in both directions.
around = hl.Buffer(hl.Int(32), [5, 5])
around.set_min([-2, -2])
distance.realize(around)
near = range(-2, 3)
table([""] + [f"x={i}" for i in near], [[f"y={j}", *(around[i, j] for i in near)] for j in near])
assert around[-2, 1] == 5

# Part of a Buffer: a crop shares its memory, and keeps its coordinates.
right = around.cropped(0, 1, 2)
right.fill(0)
assert [around[i, 0] for i in near] == [4, 1, 0, 0, 0]

# What does a 3 by 3 neighbourhood of a 4 by 4 window at (10, 20) read?
source, blur = hl.ImageParam(hl.Int(32), 2, "source"), hl.Func("blur")
blur[x, y] = source[x - 1, y - 1] + source[x + 1, y + 1]
window = hl.Buffer(hl.Int(32), [4, 4])
window.set_min([10, 20])
blur.infer_input_bounds(window)
needed = source.get()
assert needed is not None
table(["dimension", "from", "to"], [[d, needed.dim(d).min(), needed.dim(d).max()] for d in (0, 1)])
assert [needed.dim(d).min() for d in (0, 1)] == [9, 19]

rings = hl.Func("rings")
rings[x, y] = hl.u8(distance[x, y] / 16 % 256)
canvas = hl.Buffer(hl.UInt(8), [161, 121])
canvas.set_min([-80, -60])
rings.realize(canvas)
save("05_rings.png", np.asarray(canvas))
