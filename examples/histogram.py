"""Histogram equalisation of a photograph: a reduction, a scan, and a gather through its result.

    python examples/histogram.py
"""

from __future__ import annotations

import numpy as np
from photograph import photograph, save

import halide_core as hl


def main() -> None:
    """Equalises the brightness, and compares with numpy."""
    picture = photograph()
    luma = np.ascontiguousarray((picture @ np.array([77, 150, 29])) >> 8).astype(np.uint8)
    height, width = luma.shape

    x, y, i = hl.Var("x"), hl.Var("y"), hl.Var("i")
    image = hl.ImageParam(hl.UInt(8), 2, "luma")
    image.set(luma)
    pixels = hl.RDom([(0, image.width()), (0, image.height())], "pixels")
    levels = hl.RDom([(1, 255)], "levels")

    histogram = hl.Func("histogram")
    histogram[i] = hl.u32(0)
    histogram[hl.i32(image[pixels.x, pixels.y])] += hl.u32(1)

    below = hl.Func("below")  # how many pixels are at most as bright
    below[i] = histogram[i]
    below[levels.x] = below[levels.x - 1] + histogram[levels.x]

    equalised = hl.Func("equalised")
    count = hl.u32(image.width()) * hl.u32(image.height())
    equalised[x, y] = hl.u8(below[hl.i32(image[x, y])] * hl.u32(255) // count)

    histogram.compute_root()
    below.compute_root()
    equalised.parallel(y)
    result = np.asarray(equalised.realize([width, height]))

    cumulative = np.cumsum(np.bincount(luma.ravel(), minlength=256)).astype(np.uint64)
    expected = (cumulative[luma] * 255 // luma.size).astype(np.uint8)
    if not (result == expected).all():
        raise SystemExit("The compiled picture differs from numpy's.")
    print(save("equalised.png", result))
    counts = np.asarray(histogram.realize([256]))
    for first in range(0, 256, 32):
        share = counts[first : first + 32].sum() / luma.size
        print(f"{first:3}-{first + 31:3} {'#' * round(share * 100)} {share:.1%}")
    print("equal to reference: yes")


if __name__ == "__main__":
    main()
