"""22. Blocks: arrays that are larger than memory, with the edges of each block found by bounds inference.

How much a block of the result needs of its neighbours is what bounds inference knows of any pipeline. So an array of
Dask is computed block by block, in threads, processes or on a cluster, without a halo that anybody had to guess; and an
array on disk goes through memory as a stream. Needs ``pip install 'halide-core[dask]'``.
"""

from __future__ import annotations

import dask.array as da
import numpy as np
from showing import grey, save

import halide_core as hl
import halide_core.dask

x, y = hl.Var("x"), hl.Var("y")
picture = np.asarray(hl.Buffer(grey()))

image = hl.ImageParam(hl.UInt(8), 2, "image")
padded = hl.BoundaryConditions.mirror_image(image)
around = hl.RDom([(-4, 9), (-4, 9)], "around")
mean = hl.Func("mean")
mean[x, y] = hl.u8(hl.sum(hl.u32(padded[x + around.x, y + around.y])) / 81)
mean.vectorize(x, 16, hl.TailStrategy.GuardWithIf)

# What the blocks will read: 4 points around each, and nothing beyond them.
array = da.from_array(picture, chunks=(100, 100))
print(halide_core.dask.plan(mean, picture.shape, chunks=(128, 128), inputs={image: array}))

# A lazy array: Dask decides where its blocks run, and when. It is what one piece would be, to the last bit.
lazy = halide_core.dask.realize(mean, picture.shape, chunks=(128, 128), inputs={image: array})
print(f"\n{lazy}")
blurred = lazy.compute()
image.set(picture)
whole = np.asarray(mean.realize([picture.shape[1], picture.shape[0]]))
print(f"equal to one piece: {np.array_equal(blurred, whole)}")
save("22_blocks.png", hl.Buffer(blurred))

# A histogram takes in the whole array: part by part, and the parts are added, as whole numbers may be in any order.
r, i = hl.RDom(image, "r"), hl.Var("i")
histogram = hl.Func("histogram")
histogram[i] = hl.u32(0)
histogram[hl.i32(image[r.x, r.y])] += hl.u32(1)
counts = halide_core.dask.realize(histogram, (256,), inputs={image: array}, memory="16KiB")
print(f"points counted: {counts.compute().sum()} of {picture.size}")

# Into an array that need not fit memory, such as one of Zarr: blocks are written as they are computed.
stored = np.zeros_like(picture)
halide_core.dask.store(mean, stored, chunks=(128, 128), inputs={image: array}).compute()
print(f"what is stored is equal too: {np.array_equal(stored, whole)}")

# On one machine, without Dask: from any array that can be sliced into any whose slices can be set.
out = np.zeros_like(picture)
hl.stream(mean, picture, out, memory="64KiB")
print(f"the stream is equal too: {np.array_equal(out, whole)}")
