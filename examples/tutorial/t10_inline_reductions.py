"""10. Reductions inside an expression: sum, product, minimum, maximum.

``hl.sum(e)`` over a reduction domain is a value like any other. It stands for a Func with an update, made on the spot.
"""

from __future__ import annotations

import numpy as np
from showing import HEIGHT, WIDTH, grey, save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
picture = grey()
padded = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture, "image"))
window = hl.RDom([(-2, 5), (-2, 5)], "window")
near = padded[x + window.x, y + window.y]

mean, dilated, eroded = hl.Func("mean"), hl.Func("dilated"), hl.Func("eroded")
mean[x, y] = hl.u8(hl.sum(hl.u32(near)) / 25)
dilated[x, y] = hl.maximum(near)
eroded[x, y] = hl.minimum(near)

outline = hl.Func("outline")
outline[x, y] = dilated[x, y] - eroded[x, y]

around = np.lib.stride_tricks.sliding_window_view(np.pad(picture, 2, mode="edge"), (5, 5))
wanted = {
    mean: around.sum(axis=(2, 3)) // 25,
    dilated: around.max(axis=(2, 3)),
    eroded: around.min(axis=(2, 3)),
    outline: around.max(axis=(2, 3)) - around.min(axis=(2, 3)),
}
rows, pictures = [], []
for f, expected in wanted.items():
    result = np.asarray(f.realize([WIDTH, HEIGHT]))
    assert (result == expected).all()
    rows.append([f.name(), result[40, 40], f"{result.mean():.2f}"])
    pictures.append(result)
table(["over 5 by 5 pixels", "at (40, 40)", "on average"], rows)
save("10_neighbourhoods.png", np.concatenate(pictures, axis=1))
