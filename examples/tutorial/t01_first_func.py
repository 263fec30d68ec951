"""1. The first Func: a value at every point of the plane.

A Func has no size. It says what the value at any (x, y) is, and nothing about when, where or in which order values are
computed. Only ``realize`` asks for some of them.
"""

from __future__ import annotations

import numpy as np
from showing import save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")  # names of coordinates, nothing more

gradient = hl.Func("gradient")
gradient[x, y] = x + y
print(gradient)  # gradient[x, y] = x + y

# Values from (0, 0) on, 8 wide and 4 high. The loops are compiled to C and run.
small = gradient.realize([8, 4])
table([""] + [f"x={i}" for i in range(8)], [[f"y={j}"] + [small[i, j] for i in range(8)] for j in range(4)])
assert small[3, 2] == 5

# A Func can be realized again, with another size, and used in others.
picture = hl.Func("picture")
picture[x, y] = hl.u8((gradient[x, y] * 3) % 256)
save("01_gradient.png", picture.realize([160, 120]))

# evaluate() computes the same values from the definition alone, point by point, without any compiler: the reference.
assert (picture.evaluate([16, 12]) == np.asarray(picture.realize([16, 12]))).all()
