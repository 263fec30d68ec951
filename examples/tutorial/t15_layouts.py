"""15. Layouts: planar and interleaved pictures, and promises about them.

Loops go over coordinates, memory has strides. Dimension 0 has stride 1 unless you promise something else; promises are
checked when a pipeline starts, so that a wrong buffer is an error and not a wrong picture.
"""

from __future__ import annotations

import numpy as np
from showing import save, scene, table

import halide_core as hl

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
planar = scene()  # (c, y, x)
packed = np.ascontiguousarray(np.moveaxis(planar, 0, 2))  # (y, x, c)


def strides(buffer: hl.Buffer) -> list[int]:
    """The distance in memory of neighbours in x, y and c."""
    return [buffer.dim(d).stride() for d in range(3)]


as_planar, as_packed = hl.Buffer(planar), hl.Buffer(np.moveaxis(packed, 2, 0))
table(["layout", "strides of x, y, c"], [["planar", strides(as_planar)], ["interleaved", strides(as_packed)]])
assert strides(as_packed) == [3, 3 * as_packed.width(), 1]

image = hl.ImageParam(hl.UInt(8), 3, "image")
image.dim(0).set_stride(3)
image.dim(2).set_stride(1).set_bounds(0, 3)

# Weights of red, green and blue that add up to 256.
luma = hl.Func("luma")
luma[x, y] = hl.u8((hl.u32(image[x, y, 0]) * 77 + hl.u32(image[x, y, 1]) * 150 + hl.u32(image[x, y, 2]) * 29) >> 8)
luma.vectorize(x, 16)
image.set(as_packed)
result = np.asarray(luma.realize([as_packed.width(), as_packed.height()]))
weights = np.array([77, 150, 29], np.uint32)
assert (result == (planar.astype(np.uint32) * weights[:, None, None]).sum(axis=0) >> 8).all()

image.set(as_planar)
try:
    luma.realize([8, 8])
except hl.PipelineError as error:
    print("\n" + str(error))

# Outputs too: this one is written interleaved, in place.
swapped = hl.Func("swapped")
swapped[x, y, c] = image[x, y, 2 - c]
swapped.output_buffer().dim(0).set_stride(3)
swapped.output_buffer().dim(2).set_stride(1)
swapped.reorder(c, x, y).unroll(c, 3)
image.set(as_packed)
out = np.zeros_like(packed)
swapped.realize(hl.Buffer(np.moveaxis(out, 2, 0)))
assert (out == packed[:, :, ::-1]).all()
save("15_swapped.png", out)
