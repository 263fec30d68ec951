"""Families: pyramids, resampling, warps, demosaics, transposes, volumes."""

from __future__ import annotations

from benchmarks.unseen.drawing import Drawing


def halved(d: Drawing) -> None:
    """Down-sampling by two in both dimensions."""
    w, h = d.size()
    x, y, kind = d.x, d.y, d.pick("uint16", "float32")
    image = d.image(kind, w, h)
    across = d.func("across", (x, y), (image[2 * x, y] + image[2 * x + 1, y]) / 2, ("",))
    d.func("out", (x, y), (across[x, 2 * y] + across[x, 2 * y + 1]) / 2)
    d.finish(w // 2, h // 2)


def doubled(d: Drawing) -> None:
    """Up-sampling by two, linearly."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w // 2, h // 2)
    f = hl.BoundaryConditions.repeat_edge(image)
    across = d.func("across", (x, y), 0.25 * f[x / 2 - 1 + 2 * (x % 2), y] + 0.75 * f[x / 2, y], ("",))
    d.func("out", (x, y), 0.25 * across[x, y / 2 - 1 + 2 * (y % 2)] + 0.75 * across[x, y / 2])
    d.finish(w, h)


def pyramid(d: Drawing) -> None:
    """Two levels down, and up again, added to what was lost."""
    w, h = d.size(600_000)
    w, h = w // 8 * 8, h // 8 * 8
    x, y = d.x, d.y
    image = d.image("float32", w, h)
    f = d.hl.BoundaryConditions.repeat_edge(image)
    f = d.func("in_", (x, y), f[x, y], ("",))
    names = ["in_"]
    levels = [f]
    for i in range(1, 3):
        p = levels[-1]
        across = d.func(f"dx{i}", (x, y), (p[2 * x - 1, y] + 2.0 * p[2 * x, y] + p[2 * x + 1, y]) * 0.25, (names[-1],))
        down = (across[x, 2 * y - 1] + 2.0 * across[x, 2 * y] + across[x, 2 * y + 1]) * 0.25
        levels.append(d.func(f"d{i}", (x, y), down, (f"dx{i}",)))
        names.append(f"d{i}")
    up, name = levels[-1], names[-1]
    for i in (1, 0):
        ux = d.func(f"ux{i}", (x, y), 0.5 * (up[x / 2, y] + up[(x + 1) / 2, y]), (name,))
        uy = 0.5 * (ux[x, y / 2] + ux[x, (y + 1) / 2])
        name = f"u{i}"
        up = d.func(name, (x, y), levels[i][x, y] * 0.5 + 0.5 * uy, (f"ux{i}", names[i]))
    d.finish(w, h)


def resize(d: Drawing) -> None:
    """Resampling at float coordinates, linearly, by a factor given at run time."""
    w, h = d.size(600_000)
    x, y, hl = d.x, d.y, d.hl
    factor = d.rng.uniform(0.6, 1.9)
    image = d.image(d.pick("uint8", "float32"), int(w * factor) + 2, int(h * factor) + 2)
    scale = d.scalar("float32", factor)
    f = hl.BoundaryConditions.repeat_edge(image)
    f = d.func("in_", (x, y), d.cast("float32", f[x, y]), ("",))
    sx, sy = (d.cast("float32", x) + 0.5) * scale - 0.5, (d.cast("float32", y) + 0.5) * scale - 0.5
    ix, iy = d.cast("int32", hl.floor(sx)), d.cast("int32", hl.floor(sy))
    fx, fy = sx - hl.floor(sx), sy - hl.floor(sy)
    across = d.func("across", (x, y), f[ix, y] * (1.0 - fx) + f[ix + 1, y] * fx)
    d.func("out", (x, y), across[x, iy] * (1.0 - fy) + across[x, iy + 1] * fy)
    d.finish(w, h, rounds=True)


def warp(d: Drawing) -> None:
    """Looking up at positions that another input gives."""
    w, h = d.size(600_000)
    x, y, hl = d.x, d.y, d.hl
    image, offsets = d.image("uint8", w, h), d.image("int16", w, h, 2, low=-9, high=9)
    sx = hl.clamp(x + d.cast("int32", offsets[x, y, 0]), 0, w - 1)
    sy = hl.clamp(y + d.cast("int32", offsets[x, y, 1]), 0, h - 1)
    wide = d.func("wide", (x, y), d.cast("uint16", image[x, y]) * 3, ("",))
    d.read_all_over()
    d.func("out", (x, y), wide[sx, sy])
    d.finish(w, h)


def rotated(d: Drawing) -> None:
    """A rotation, to the nearest pixel."""
    w, h = d.size(600_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint8", w, h)
    f = hl.BoundaryConditions.constant_exterior(image, d.cast("uint8", 0), [(0, w), (0, h)])
    fx, fy = d.cast("float32", x), d.cast("float32", y)
    sx = d.cast("int32", hl.round(0.96 * fx - 0.28 * fy))
    sy = d.cast("int32", hl.round(0.28 * fx + 0.96 * fy))
    d.func("out", (x, y), f[sx, sy], ("",))
    d.finish(w, h, rounds=True)


def demosaic(d: Drawing) -> None:
    """Green at every pixel of a Bayer pattern, by parity."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint16", w, h)
    f = hl.BoundaryConditions.mirror_interior(image)
    raw = d.func("raw", (x, y), d.cast("int32", f[x, y]), ("",))
    around = (raw[x - 1, y] + raw[x + 1, y] + raw[x, y - 1] + raw[x, y + 1]) / 4
    green = d.func("green", (x, y), hl.select((x + y) % 2 == 0, raw[x, y], around))
    d.func("out", (x, y), d.cast("uint16", (green[x - 1, y] + 2 * green[x, y] + green[x + 1, y]) / 4))
    d.finish(w, h)


def deinterleaved(d: Drawing) -> None:
    """A Bayer pattern taken apart into quarter planes, each filtered."""
    w, h = d.size()
    x, y, c, hl = d.x, d.y, d.c, d.hl
    image = d.image("uint16", w + 8, h + 8)
    quarter = [(0, 0), (1, 0), (0, 1), (1, 1)]
    planes = hl.mux(c, [image[2 * x + i, 2 * y + j] for i, j in quarter])
    parts = d.func("parts", (x, y, c), planes, ("",), small=2)
    d.func("out", (x, y, c), (parts[x, y, c] + parts[x + 1, y, c] + parts[x, y + 1, c] + 1) / 3, small=2)
    d.finish(w // 2, h // 2, 4)


def transposed(d: Drawing) -> None:
    """A transpose, after some work."""
    w, h = d.size()
    x, y, kind = d.x, d.y, d.pick("uint8", "uint16", "float32")
    image = d.image(kind, h, w)
    f = d.func("work", (x, y), image[x, y] * 2 + 1, ("",))
    d.func("out", (x, y), f[y, x])
    d.finish(w, h)


def mirrored(d: Drawing) -> None:
    """A picture read backwards, and mixed with itself."""
    w, h = d.size()
    x, y, kind = d.x, d.y, d.pick("uint8", "float32")
    image = d.image(kind, w, h)
    f = d.func("work", (x, y), image[x, y] / 2, ("",))
    d.func("out", (x, y), f[w - 1 - x, y] + f[x, h - 1 - y])
    d.finish(w, h)


def volume(d: Drawing) -> None:
    """A stencil in three dimensions."""
    n, x, y, z = d.pick(48, 64, 100), d.x, d.y, d.z
    image = d.image("float32", n, n, n)
    f = d.hl.BoundaryConditions.repeat_edge(image)
    f = d.func("in_", (x, y, z), f[x, y, z], ("",))
    near = [f[x - 1, y, z], f[x + 1, y, z], f[x, y - 1, z], f[x, y + 1, z], f[x, y, z - 1], f[x, y, z + 1]]
    step = d.func("step", (x, y, z), f[x, y, z] * 0.4 + sum(near[1:], near[0]) * 0.1)
    if d.rng.random() < 0.6:
        near = [step[x - 1, y, z], step[x + 1, y, z], step[x, y, z - 1], step[x, y, z + 1]]
        d.func("out", (x, y, z), step[x, y, z] * 0.6 + sum(near[1:], near[0]) * 0.1)
    d.finish(n, n, n)


def boxes(d: Drawing) -> None:
    """Separable sums in three dimensions, of integers."""
    n, x, y, z = d.pick(48, 64, 90), d.x, d.y, d.z
    image = d.image("uint8", n + 2, n + 2, n + 2)
    a = d.func(
        "a",
        (x, y, z),
        sum((d.cast("uint16", image[x + i, y, z]) for i in (1, 2)), d.cast("uint16", image[x, y, z])),
        ("",),
    )
    b = d.func("b", (x, y, z), a[x, y, z] + a[x, y + 1, z] + a[x, y + 2, z])
    d.func("out", (x, y, z), (b[x, y, z] + b[x, y, z + 1] + b[x, y, z + 2]) / 27)
    d.finish(n, n, n)


FAMILIES = (
    halved, doubled, pyramid, resize, warp, rotated, demosaic, deinterleaved, transposed, mirrored, volume, boxes
)  # fmt: skip
