"""Unsharp masking of a photograph: blur the grey picture, and add back what the blur took away.

    python examples/unsharp_photo.py
"""

from __future__ import annotations

import math

import numpy as np
from photograph import photograph, save

import halide_core as hl

SIGMA = 1.5
TAPS = 3


def kernel() -> list[float]:
    """Weights of the taps from the middle outwards, which sum to one over both sides."""
    raw = [math.exp(-(i * i) / (2 * SIGMA * SIGMA)) for i in range(TAPS + 1)]
    total = raw[0] + 2 * sum(raw[1:])
    return [float(np.float32(w / total)) for w in raw]


def unsharp(image: hl.ImageParam, amount: hl.Param) -> hl.Func:
    """The sharpened picture: uint8, dimensions x, y, c."""
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    padded = hl.BoundaryConditions.repeat_edge(image)
    weights = kernel()

    grey = hl.Func("grey")
    grey[x, y] = 0.299 * hl.f32(padded[x, y, 0]) + 0.587 * hl.f32(padded[x, y, 1]) + 0.114 * hl.f32(padded[x, y, 2])

    blurred_down = weights[0] * grey[x, y]
    for i in range(1, TAPS + 1):
        blurred_down = blurred_down + weights[i] * (grey[x, y - i] + grey[x, y + i])
    down = hl.Func("down")
    down[x, y] = blurred_down
    blurred_across = weights[0] * down[x, y]
    for i in range(1, TAPS + 1):
        blurred_across = blurred_across + weights[i] * (down[x - i, y] + down[x + i, y])
    across = hl.Func("across")
    across[x, y] = blurred_across

    ratio = hl.Func("ratio")
    ratio[x, y] = (grey[x, y] + amount * (grey[x, y] - across[x, y])) / hl.max(grey[x, y], 1.0)
    result = hl.Func("unsharp")
    result[x, y, c] = hl.u8(hl.clamp(ratio[x, y] * hl.f32(padded[x, y, c]) + 0.5, 0.0, 255.0))

    yo, yi = hl.Var("yo"), hl.Var("yi")
    result.bound(c, 0, 3).reorder(c, x, y).unroll(c).split(y, yo, yi, 32).parallel(yo).vectorize(x, 16)
    ratio.compute_at(result, yi).vectorize(x, 16)
    down.compute_at(result, yo).vectorize(x, 16)
    grey.compute_at(result, yo).vectorize(x, 16)
    return result


def main() -> None:
    """Sharpens the photograph, and compares a part of it with the reference semantics."""
    picture = photograph()
    height, width, _ = picture.shape
    image = hl.ImageParam(hl.UInt(8), 3, "photo")
    amount = hl.Param(hl.Float(32), "amount", 1.5)
    image.set(np.ascontiguousarray(picture.transpose(2, 0, 1)))
    sharp = unsharp(image, amount)
    result = np.asarray(sharp.realize([width, height, 3]))
    part = np.asarray(sharp.evaluate([(200, 16), (150, 8), (0, 3)]))
    if not (result[:, 150:158, 200:216] == part).all():
        raise SystemExit("The compiled picture differs from the reference semantics.")
    print(save("unsharp.png", result.transpose(1, 2, 0)))
    print("equal to reference: yes")


if __name__ == "__main__":
    main()
