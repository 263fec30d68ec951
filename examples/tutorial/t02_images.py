"""2. Pictures: Buffers, their coordinates, and arithmetic that does not overflow.

A Buffer is a numpy array seen with x first: ``buffer[x, y]`` is ``array[y, x]``. Nothing is copied. A colour picture is
planar here, an array of (c, y, x), so that its Buffer has the coordinates (x, y, c).
"""

from __future__ import annotations

import numpy as np
from showing import save, scene, table

import halide_core as hl

array = scene()
image = hl.Buffer(array)
table(
    ["", "numpy", "Buffer"],
    [
        ["shape", array.shape, (image.width(), image.height(), image.channels())],
        ["the pixel x=10, y=20, red", array[0, 20, 10], image[10, 20, 0]],
    ],
)
assert array[0, 20, 10] == image[10, 20, 0]
image[0, 0, 0] = 9
assert array[0, 0, 0] == 9  # the same memory

# uint8 * 1.5 is a float32; min keeps it a byte's; u8 converts it back.
x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
brighter = hl.Func("brighter")
brighter[x, y, c] = hl.u8(hl.min(image[x, y, c] * 1.5, 255.0))
result = np.asarray(brighter.realize([image.width(), image.height(), image.channels()]))
assert (result == np.minimum(array * np.float32(1.5), 255).astype(np.uint8)).all()

# Arithmetic on bytes stays in bytes and wraps, as numpy's does; that is seldom meant for light.
wrapped = hl.Func("wrapped")
wrapped[x, y, c] = image[x, y, c] + 100
assert (np.asarray(wrapped.realize(list(reversed(array.shape)))) == array + np.uint8(100)).all()
save("02_brighter.png", result)
