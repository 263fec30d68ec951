"""21. Tuples: several values at every point, computed and updated together.

A Func may have more than one value at a point. All right-hand sides of an update are read before any is stored, so a
running pair, such as the greatest value so far and where it is, stays consistent. Realizing gives a Buffer for each.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
picture = grey()
image = hl.Buffer(picture, "image")
W, H = image.width(), image.height()

# Two values at a point: the mean of three pixels, and how far they are apart.
a, b, c = (hl.i32(image[x + i, y]) for i in range(3))
local = hl.Func("local")
local[x, y] = ((a + b + c) / 3, hl.max(a, b, c) - hl.min(a, b, c))
local.compute_root().vectorize(x, 8)
mean, spread = local.realize([W - 2, H])
print(local)
print(f"\nat (10, 20): mean {mean[10, 20]}, spread {spread[10, 20]}")

# Values of a Tuple are picked with a second pair of brackets.
sharpness = hl.Func("sharpness")
sharpness[x, y] = hl.u8(hl.min(local[x, y][1] * 3, 255))
save("21_sharpness.png", sharpness.realize([W - 2, H]))

# The brightest pixel of each row, and where it is: both are updated at once.
r = hl.RDom([(0, W)], "r")
brightest = hl.Func("brightest")
brightest[y] = (0, hl.i32(image[0, y]))
place, value = brightest[y][0], brightest[y][1]
here = hl.i32(image[r.x, y])
brightest[y] = (hl.select(here > value, r.x, place), hl.max(here, value))
places, values = brightest.realize([H])
table(["row", "at x", "value"], [[row, places[row], values[row]] for row in (0, 36, 100)])
assert (np.asarray(values) == picture.max(axis=1)).all()
assert (np.asarray(places) == picture.argmax(axis=1)).all()

# argmax does the same for a whole expression: the coordinates, then the value.
all_pixels = hl.RDom([(0, W), (0, H)], "all")
best = hl.Func("best")
best[()] = hl.argmax(image[all_pixels.x, all_pixels.y])
found = [np.asarray(each).item() for each in best.realize([])]
print(f"\nthe brightest pixel of all: x={found[0]}, y={found[1]}, value {found[2]}")
assert found[2] == picture.max() and picture[found[1], found[0]] == found[2]

# Complex numbers are pairs: how many steps does z -> z*z + c stay small?
z, step, steps = hl.Func("z"), hl.Var("step"), hl.RDom([(1, 40)], "steps")
c_re, c_im, t = x * 0.0156 - 2.1, y * 0.0156 - 1.0, steps.x
z[x, y, step] = (hl.f32(0), hl.f32(0))
re, im = z[x, y, t - 1][0], z[x, y, t - 1][1]
z[x, y, t] = (hl.clamp(re * re - im * im + c_re, -9.0, 9.0), hl.clamp(2 * re * im + c_im, -9.0, 9.0))
size = z[x, y, t][0] * z[x, y, t][0] + z[x, y, t][1] * z[x, y, t][1]
stays = hl.Func("stays")
stays[x, y] = hl.u8(hl.sum(hl.select(size < 4.0, 6, 0)))
z.compute_at(stays, y)
save("21_mandelbrot.png", stays.realize([192, 128]))
