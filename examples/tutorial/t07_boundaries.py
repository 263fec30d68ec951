"""7. Boundaries: what lies outside of a picture.

Reading outside of an input is an error, found before the first value is computed. A boundary condition is a Func that
has a value everywhere, so that a stencil need not know where the picture ends.
"""

from __future__ import annotations

import numpy as np
from showing import HEIGHT, WIDTH, grey, save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
image = hl.Buffer(grey(), "image")

mean = hl.Func("mean")
mean[x, y] = (hl.u16(image[x - 1, y]) + image[x + 1, y]) / 2
try:
    mean.realize([WIDTH, HEIGHT])
except hl.PipelineError as error:
    print(error, "\n")

BC = hl.BoundaryConditions
ways = {
    "repeat_edge": BC.repeat_edge(image),
    "repeat_image": BC.repeat_image(image),
    "mirror_image": BC.mirror_image(image),
    "mirror_interior": BC.mirror_interior(image),
    "constant_exterior": BC.constant_exterior(image, 128),
}
row = grey()[5]
rows = [[name, *padded.evaluate([(-3, 6), (5, 1)]).ravel()] for name, padded in ways.items()]
table(["row 5, x =", *range(-3, 3)], rows)
assert rows[0][1:4] == [row[0]] * 3
assert rows[2][1:4] == [row[2], row[1], row[0]]
assert rows[3][1:4] == [row[3], row[2], row[1]]

# The five, one above the other, each with a margin of 24 pixels.
strips = []
for padded in ways.values():
    shown = hl.Func("shown")
    shown[x, y] = padded[x, y]
    strip = hl.Buffer(hl.UInt(8), [WIDTH + 48, 60])
    strip.set_min([-24, 90])
    shown.realize(strip)
    strips.append(np.asarray(strip))
save("07_boundaries.png", np.concatenate(strips))
