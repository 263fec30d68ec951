"""Pipelines that tests compute in blocks: each with its inputs, as people write and schedule them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import halide_core as hl

Boundary = Callable[[hl.ImageParam], hl.Func]

x, y, z, i = (hl.Var(name) for name in "xyzi")


@dataclass(frozen=True)
class App:
    """A pipeline, and what makes inputs for a shape of its result."""

    func: hl.Func
    inputs: dict[hl.ImageParam, Callable[[np.random.Generator, tuple[int, ...]], Any]]
    dimensions: int = 2

    def arrays(self, rng: np.random.Generator, shape: tuple[int, ...]) -> dict[hl.ImageParam, Any]:
        """An array for each input, for a result of a shape."""
        return {image: make(rng, shape) for image, make in self.inputs.items()}

    def whole(self, arrays: dict[hl.ImageParam, Any], shape: tuple[int, ...]) -> Any:
        """The result in one piece, as ``realize`` gives it."""
        for image, array in arrays.items():
            image.set(array)
        return np.asarray(self.func.realize(list(reversed(shape))))


def _floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.random(shape, np.float32)


def _bytes(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.integers(0, 256, shape).astype(np.uint8)


def stencil(boundary: Boundary) -> App:
    """Neighbours that lie up to two points away, as nobody scheduled them."""
    image = hl.ImageParam(hl.Float(32), 2, "image")
    padded = boundary(image)
    f = hl.Func("f")
    f[x, y] = padded[x - 2, y + 1] + 2 * padded[x + 1, y - 1] + 3 * padded[x, y]
    return App(f, {image: _floats})


def unsharp() -> App:
    """A sharpened picture: tiles of rows, a window that slides inside each."""
    image = hl.ImageParam(hl.Float(32), 2, "image")
    padded = hl.BoundaryConditions.repeat_edge(image)
    across, blurred, sharp = hl.Func("across"), hl.Func("blurred"), hl.Func("sharp")
    across[x, y] = (padded[x - 1, y] + 2 * padded[x, y] + padded[x + 1, y]) / 4
    blurred[x, y] = (across[x, y - 1] + 2 * across[x, y] + across[x, y + 1]) / 4
    sharp[x, y] = 2 * padded[x, y] - blurred[x, y]
    yo, yi = hl.Var("yo"), hl.Var("yi")
    sharp.split(y, yo, yi, 16, hl.TailStrategy.GuardWithIf).parallel(yo).vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    across.store_at(sharp, yo).compute_at(sharp, yi).vectorize(x, 8)
    return App(sharp, {image: _floats})


def harris() -> App:
    """The corner response of a picture, which loses two points at each edge."""
    image = hl.ImageParam(hl.Float(32), 2, "image")
    ix, iy, response = hl.Func("ix"), hl.Func("iy"), hl.Func("response")
    r = hl.RDom([(-1, 3), (-1, 3)], "r")
    weight = [hl.f32(1) / 12, hl.f32(2) / 12, hl.f32(1) / 12]
    ix[x, y] = sum(
        ((image[x + 2, y + 1 + d] - image[x, y + 1 + d]) * weight[d + 1] for d in (-1, 0, 1)), hl.f32(0)
    )
    iy[x, y] = sum(
        ((image[x + 1 + d, y + 2] - image[x + 1 + d, y]) * weight[d + 1] for d in (-1, 0, 1)), hl.f32(0)
    )
    sums = []
    for name, a, b in (("xx", ix, ix), ("xy", ix, iy), ("yy", iy, iy)):
        s = hl.Func(f"s{name}")
        s[x, y] = hl.f32(0)
        s[x, y] += a[x + 1 + r.x, y + 1 + r.y] * b[x + 1 + r.x, y + 1 + r.y]
        s.compute_at(response, y)
        sums.append(s)
    xx, xy, yy = (s[x, y] for s in sums)
    response[x, y] = xx * yy - xy * xy - hl.f32(0.04) * (xx + yy) * (xx + yy)
    ix.compute_at(response, y)
    iy.compute_at(response, y)
    return App(response, {image: lambda rng, shape: rng.random((shape[0] + 4, shape[1] + 4), np.float32)})


def pyramid(levels: int = 5) -> App:
    """A Gaussian pyramid, and back up again with what each level has."""
    image = hl.ImageParam(hl.Float(32), 2, "image")
    down = [hl.BoundaryConditions.repeat_edge(image)]
    for k in range(1, levels):
        f, g = hl.Func(f"half{k}"), down[-1]
        f[x, y] = (g[2 * x, 2 * y] + g[2 * x + 1, 2 * y] + g[2 * x, 2 * y + 1] + g[2 * x + 1, 2 * y + 1]) / 4
        f.compute_root()
        down.append(f)
    up = down[-1]
    for k in reversed(range(levels - 1)):
        f, g = hl.Func(f"up{k}"), up
        f[x, y] = (g[x / 2, y / 2] + g[(x + 1) / 2, (y + 1) / 2]) / 4 + down[k][x, y] / 2
        if k:
            f.compute_root()
        up = f
    return App(up, {image: _floats})


def equalise() -> App:
    """A histogram of the whole picture, and a map of it."""
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    r, q = hl.RDom(image, "r"), hl.RDom([(1, 255)], "q")
    hist, below, even = hl.Func("hist"), hl.Func("below"), hl.Func("even")
    hist[i] = hl.u32(0)
    hist[hl.i32(image[r.x, r.y])] += hl.u32(1)
    below[i] = hist[i]
    below[q.x] += below[q.x - 1]
    points = hl.u64(image.width()) * hl.u64(image.height())
    even[x, y] = hl.u8(hl.u64(below[hl.i32(image[x, y])]) * hl.u64(255) / hl.max(points, hl.u64(1)))
    hist.compute_root()
    below.compute_root()
    return App(even, {image: _bytes})


def volume() -> App:
    """A mean of seven neighbours in space."""
    image = hl.ImageParam(hl.UInt(16), 3, "image")
    p = hl.BoundaryConditions.mirror_interior(image)
    f = hl.Func("f")
    near = [p[x, y, z], p[x + 1, y, z], p[x - 1, y, z], p[x, y + 1, z], p[x, y - 1, z], p[x, y, z + 1], p[x, y, z - 1]]
    f[x, y, z] = hl.u16(sum((hl.u32(e) for e in near), hl.u32(0)) / 7)
    return App(f, {image: lambda rng, shape: rng.integers(0, 1 << 16, shape).astype(np.uint16)}, 3)


def warp() -> App:
    """A picture whose points come from up to six points away, as a second input says."""
    image, by = hl.ImageParam(hl.Float(32), 2, "image"), hl.ImageParam(hl.Int(32), 3, "by")
    padded = hl.BoundaryConditions.constant_exterior(image, hl.f32(-1))
    f = hl.Func("f")
    f[x, y] = padded[x + hl.clamp(by[x, y, 0], -6, 6), y + hl.clamp(by[x, y, 1], -6, 6)]
    shifts = lambda rng, shape: rng.integers(-9, 10, (2, *shape)).astype(np.int32)  # noqa: E731
    return App(f, {image: _floats, by: shifts})


APPS = {f.__name__: f for f in (unsharp, harris, pyramid, equalise, volume, warp)}
