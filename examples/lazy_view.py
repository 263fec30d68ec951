"""A view of a picture that is computed as far as it is looked at: Dask, matplotlib.

    python examples/lazy_view.py        # writes examples/out/lazy_view.png

The sharpened mosaic has 64 million points and is never computed: a window of it takes the blocks that it shows. What
napari is given, ``viewer.add_image(lazy)``, is the same array, of which it asks for what is on the screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from matplotlib.figure import Figure

import halide_core as hl
import halide_core.dask

x, y = hl.Var("x"), hl.Var("y")
image = hl.ImageParam(hl.Float(32), 2, "image")
padded = hl.BoundaryConditions.mirror_image(image)
blurred, sharp = hl.Func("blurred"), hl.Func("sharp")
blurred[x, y] = (padded[x - 1, y] + padded[x + 1, y] + padded[x, y - 1] + padded[x, y + 1]) / 4
sharp[x, y] = 2 * padded[x, y] - blurred[x, y]


made: list[tuple[int, ...]] = []


def rings(i: Any, j: Any) -> Any:
    """Rings around each of many centres."""
    made.append(i.shape)
    return np.sin(np.hypot(i % 700 - 350, j % 700 - 350) / 8).astype(np.float32)


mosaic = da.fromfunction(rings, shape=(8000, 8000), chunks=(500, 500), dtype=np.float32)
lazy = halide_core.dask.realize(sharp, mosaic.shape, chunks=(500, 500), inputs={image: mosaic})
print(halide_core.dask.plan(sharp, mosaic.shape, chunks=(500, 500), inputs={image: mosaic}))

window = np.s_[3400:4300, 1200:2300]
made.clear()
shown = lazy[window]
view = np.asarray(shown)
print(f"a view of {view.shape} takes {shown.npartitions} of {lazy.npartitions} blocks, and {len(made)} chunks")

# It is what one piece would be: the window and what it needs around it, all at once.
image.set(np.asarray(mosaic[3399:4301, 1199:2301]))
whole = np.asarray(sharp.realize([1102, 902]))[1:-1, 1:-1]
print(f"equal to one piece: {np.array_equal(view, whole)}")

figure = Figure(figsize=(6, 5))
axes = figure.subplots()
axes.imshow(view, cmap="gray", extent=(1200, 2300, 4300, 3400))
axes.set_title("a window of 64 million points")
out = Path(__file__).resolve().parent / "out" / "lazy_view.png"
out.parent.mkdir(exist_ok=True)
figure.savefig(out)
print(f"picture: {out}")
