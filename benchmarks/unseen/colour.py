"""Families: colours in planes and interleaved, tables, tone curves, blends, pairs of values."""

from __future__ import annotations

from benchmarks.unseen.drawing import Drawing


def grey(d: Drawing) -> None:
    """Luma of three planes, and a picture with it."""
    w, h = d.size(500_000)
    x, y, c = d.x, d.y, d.c
    image = d.image("uint8", w, h, 3)
    luma = d.func(
        "luma", (x, y), (image[x, y, 0] * d.cast("uint16", 77) + image[x, y, 1] * d.cast("uint16", 150)
                         + image[x, y, 2] * d.cast("uint16", 29)) / 256, ("",),
    )  # fmt: skip
    value = d.cast("int16", image[x, y, c]) * 2 - d.cast("int16", luma[x, y])
    d.func("out", (x, y, c), d.cast("uint8", d.hl.clamp(value, 0, 255)), small=2)
    d.finish(w, h, 3)


def matrix(d: Drawing) -> None:
    """A colour matrix, in planes."""
    w, h = d.size(400_000)
    x, y, c = d.x, d.y, d.c
    image, m = d.image("float32", w, h, 3), d.image("float32", 3, 3)
    value = m[0, c] * image[x, y, 0] + m[1, c] * image[x, y, 1] + m[2, c] * image[x, y, 2]
    f = d.func("mixed", (x, y, c), value, ("",), small=2)
    d.func("out", (x, y, c), d.hl.min(f[x, y, c], 1.0), small=2)
    d.finish(w, h, 3)


def interleaved(d: Drawing) -> None:
    """A blur of pixels whose channels lie side by side."""
    w, h = d.size(300_000)
    c, x, y = d.c, d.x, d.y
    image = d.image("uint8", 3, w + 2, h + 2)
    a = d.func(
        "across",
        (c, x, y),
        (d.cast("uint16", image[c, x, y]) + image[c, x + 1, y] + image[c, x + 2, y]),
        ("",),
        small=0,
    )
    d.func("out", (c, x, y), d.cast("uint8", (a[c, x, y] + a[c, x, y + 1] + a[c, x, y + 2]) / 9), small=0)
    d.finish(3, w, h)


def packed(d: Drawing) -> None:
    """From planes to pixels, and a gain."""
    w, h = d.size(400_000)
    c, x, y = d.c, d.x, d.y
    image = d.image("uint8", w, h, 3)
    gain = d.scalar("float32", 1.3)
    f = d.func(
        "gained",
        (x, y, c),
        d.cast("uint8", d.hl.clamp(d.cast("float32", image[x, y, c]) * gain, 0.0, 255.0)),
        ("",),
        small=2,
    )
    d.func("out", (c, x, y), f[x, y, c], small=0)
    d.finish(3, w, h, rounds=True)


def table(d: Drawing) -> None:
    """A tone curve by a table of 256 values, made by a formula."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    i = hl.Var("i")
    image = d.image("uint8", w, h)
    f = d.func(
        "curve", (i,), d.cast("uint8", hl.clamp(hl.pow(d.cast("float32", i) / 255.0, 0.45) * 255.0, 0.0, 255.0)), ("",)
    )
    d.read_all_over()
    d.func("out", (x, y), f[d.cast("int32", image[x, y])])
    d.finish(w, h, rounds=True)


def toned(d: Drawing) -> None:
    """A tone curve by a power and a logarithm, of floats."""
    w, h = d.size(400_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w, h)
    f = d.func("curve", (x, y), hl.log(1.0 + 9.0 * image[x, y]), ("",))
    d.func("out", (x, y), hl.pow(f[x, y], 0.8) * 0.5)
    d.finish(w, h)


def blended(d: Drawing) -> None:
    """Two pictures mixed by a mask, in fixed point."""
    w, h = d.size()
    x, y = d.x, d.y
    a, b, mask = d.image("uint8", w, h), d.image("uint8", w, h), d.image("uint8", w, h)
    wide = d.cast("uint16", a[x, y]) * mask[x, y] + d.cast("uint16", b[x, y]) * (255 - mask[x, y])
    f = d.func("mixed", (x, y), d.cast("uint8", (wide + 128) / 256), ("",))
    d.func("out", (x, y), d.hl.max(f[x, y], a[x, y]))
    d.finish(w, h)


def interpolated(d: Drawing) -> None:
    """Linear interpolation of bytes by weights of bytes."""
    w, h = d.size()
    x, y = d.x, d.y
    a, b, weight = (d.image("uint8", w, h) for _ in range(3))
    d.func("out", (x, y), d.hl.lerp(a[x, y], b[x, y], weight[x, y]), ("",))
    d.finish(w, h)


def thresholds(d: Drawing) -> None:
    """Counts of pixels above a local mean, as bytes."""
    w, h = d.size(600_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint8", w, h)
    f = hl.BoundaryConditions.repeat_edge(image)
    r = hl.RDom([(-3, 7)], "r")
    across = d.func("across", (x, y), hl.sum(d.cast("uint16", f[x + r, y])), ("",))
    mean = d.func("mean", (x, y), hl.sum(d.cast("uint32", across[x, y + r])) / 49)
    d.func("out", (x, y), hl.select(d.cast("uint32", f[x, y]) > mean[x, y], d.cast("uint8", 255), d.cast("uint8", 0)))
    d.finish(w, h)


def pairs(d: Drawing) -> None:
    """The least and the greatest of windows, as a Tuple."""
    w, h = d.size(500_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint16", w + 2, h + 2)
    low = hl.min(hl.min(image[x, y], image[x + 1, y]), image[x + 2, y])
    high = hl.max(hl.max(image[x, y], image[x + 1, y]), image[x + 2, y])
    f = d.func("across", (x, y), (low, high), ("",))
    least = hl.min(hl.min(f[x, y][0], f[x, y + 1][0]), f[x, y + 2][0])
    most = hl.max(hl.max(f[x, y][1], f[x, y + 1][1]), f[x, y + 2][1])
    d.func("out", (x, y), most - least)
    d.finish(w, h)


def saturation(d: Drawing) -> None:
    """Pixels pulled towards their luma, planes of floats, with an unrolled look at all channels."""
    w, h = d.size(400_000)
    x, y, c = d.x, d.y, d.c
    image = d.image("float32", w, h, 3)
    amount = d.scalar("float32", 0.7)
    luma = d.func("luma", (x, y), 0.3 * image[x, y, 0] + 0.59 * image[x, y, 1] + 0.11 * image[x, y, 2], ("",))
    d.func("out", (x, y, c), luma[x, y] + amount * (image[x, y, c] - luma[x, y]), small=2)
    d.finish(w, h, 3)


FAMILIES = (
    grey, matrix, interleaved, packed, table, toned, blended, interpolated, thresholds, pairs, saturation
)  # fmt: skip
