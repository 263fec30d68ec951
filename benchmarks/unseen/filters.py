"""Families: stencils, boundaries, separable and weighted filters, medians, morphology, sharpening."""

from __future__ import annotations

from typing import Any

from benchmarks.unseen.drawing import Drawing


def _bounded(d: Drawing, image: Any, width: int, height: int) -> Any:
    """The input behind a boundary condition."""
    conditions = d.hl.BoundaryConditions
    kind = d.pick("repeat_edge", "constant_exterior", "repeat_image", "mirror_image", "mirror_interior")
    bounds = [(0, width), (0, height)]
    made = getattr(conditions, kind)
    if kind == "constant_exterior":
        return made(image, d.hl.cast(image.type(), 0), bounds)
    return made(image, bounds)


def box(d: Drawing) -> None:
    """A box blur in two passes, integers."""
    w, h = d.size()
    n, x, y = d.pick(3, 5, 7), d.x, d.y
    image = d.image("uint16", w + n, h + n)
    across = sum((image[x + i, y] for i in range(1, n)), image[x, y])
    f = d.func("across", (x, y), across / n, ("",))
    d.func("out", (x, y), sum((f[x, y + i] for i in range(1, n)), f[x, y]) / n)
    d.finish(w, h)


def stencil(d: Drawing) -> None:
    """One stencil behind a boundary condition."""
    w, h = d.size()
    x, y = d.x, d.y
    image = d.image("uint8", w, h)
    f = _bounded(d, image, w, h)
    wide = d.func("wide", (x, y), d.cast("int16", f[x, y]), ("",))
    k = d.pick(1, 2)
    value = wide[x, y] * 4
    for dx, dy in ((-k, 0), (k, 0), (0, -k), (0, k)):
        value = value - wide[x + dx, y + dy]
    d.func("out", (x, y), d.cast("uint8", d.hl.clamp(d.hl.abs(value), 0, 255)))
    d.finish(w, h)


def chain(d: Drawing) -> None:
    """Several stencils after each other, floats or integers."""
    w, h = d.size(700_000)
    x, y, kind = d.x, d.y, d.pick("float32", "uint16", "int32")
    image = d.image(kind, w, h)
    f = _bounded(d, image, w, h)
    f = d.func("s0", (x, y), f[x, y], ("",))
    for i in range(1, d.rng.randint(2, 5)):
        a, b = d.pick((1, 0), (0, 1), (1, 1))
        value = f[x - a, y - b] + f[x, y] + f[x + a, y + b]
        f = d.func(f"s{i}", (x, y), d.cast(kind, value / (3 if kind != "float32" else 3.0)))
    d.finish(w, h)


def weighted(d: Drawing) -> None:
    """A separable filter with weights given at run time, by inline sums."""
    w, h = d.size(600_000)
    x, y, n = d.x, d.y, d.pick(3, 5, 9)
    image, weights = d.image("float32", w, h), d.image("float32", n)
    f = d.hl.BoundaryConditions.repeat_edge(image)
    r = d.hl.RDom([(0, n)], "r")
    across = d.func("across", (x, y), d.hl.sum(weights[r] * f[x + r - n // 2, y]), ("",))
    d.func("out", (x, y), d.hl.sum(weights[r] * across[x, y + r - n // 2]))
    d.finish(w, h)


def convolution(d: Drawing) -> None:
    """A 2-D filter as an update over a reduction domain."""
    w, h = d.size(500_000)
    x, y, n = d.x, d.y, d.pick(3, 5)
    kind, total = d.pick(("uint8", "int32"), ("float32", "float32"), ("int16", "int32"))
    image, weights = d.image(kind, w + n, h + n, high=100), d.image(kind, n, n, high=10)
    r = d.hl.RDom([(0, n), (0, n)], "r")
    f = d.func("out", (x, y), d.cast(total, 0), ("",))
    f[x, y] += d.cast(total, image[x + r.x, y + r.y]) * d.cast(total, weights[r.x, r.y])
    d.updated((x, y), r.x, r.y)
    d.finish(w, h)


def gradient(d: Drawing) -> None:
    """Sobel's gradients and their magnitude."""
    w, h = d.size()
    x, y = d.x, d.y
    image = d.image("uint8", w, h)
    f = _bounded(d, image, w, h)
    wide = d.func("wide", (x, y), d.cast("int16", f[x, y]), ("",))
    gx = d.func(
        "gx", (x, y), wide[x + 1, y - 1] - wide[x - 1, y - 1] + 2 * (wide[x + 1, y] - wide[x - 1, y])
        + wide[x + 1, y + 1] - wide[x - 1, y + 1], ("wide",),
    )  # fmt: skip
    gy = d.func(
        "gy", (x, y), wide[x - 1, y + 1] - wide[x - 1, y - 1] + 2 * (wide[x, y + 1] - wide[x, y - 1])
        + wide[x + 1, y + 1] - wide[x + 1, y - 1], ("wide",),
    )  # fmt: skip
    d.func("out", (x, y), d.cast("uint8", d.hl.min(d.hl.abs(gx[x, y]) + d.hl.abs(gy[x, y]), 255)), ("gx", "gy"))
    d.finish(w, h)


def corners(d: Drawing) -> None:
    """Products of gradients, summed in windows."""
    w, h = d.size(500_000)
    x, y = d.x, d.y
    image = d.image("float32", w + 6, h + 6)
    ix = d.func("ix", (x, y), image[x + 2, y + 1] - image[x, y + 1], ("",))
    iy = d.func("iy", (x, y), image[x + 1, y + 2] - image[x + 1, y], ("",))

    def summed(name: str, value: Any, reads: tuple[str, ...]) -> Any:
        p = d.func(f"{name}p", (x, y), value, reads)
        around = [p[x + i, y + j] for i in range(3) for j in range(3)]
        return d.func(name, (x, y), sum(around[1:], around[0]), (f"{name}p",))

    a = summed("a", ix[x, y] * ix[x, y], ("ix",))
    b = summed("b", iy[x, y] * iy[x, y], ("iy",))
    m = summed("m", ix[x, y] * iy[x, y], ("ix", "iy"))
    det, trace = a[x, y] * b[x, y] - m[x, y] * m[x, y], a[x, y] + b[x, y]
    d.func("out", (x, y), det - 0.04 * trace * trace, ("a", "b", "m"))
    d.finish(w, h)


def median(d: Drawing) -> None:
    """The median of three rows of medians of three."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    image = d.image(d.pick("uint8", "uint16", "float32"), w + 2, h + 2)

    def middle(a: Any, b: Any, c: Any) -> Any:
        return hl.max(hl.min(a, b), hl.min(hl.max(a, b), c))

    rows = d.func("rows", (x, y), middle(image[x, y], image[x + 1, y], image[x + 2, y]), ("",))
    d.func("out", (x, y), middle(rows[x, y], rows[x, y + 1], rows[x, y + 2]))
    d.finish(w, h)


def morphology(d: Drawing) -> None:
    """An opening: the least of a window, then the greatest."""
    w, h = d.size()
    x, y, n, hl = d.x, d.y, d.pick(3, 5), d.hl
    image = d.image("uint8", w, h)
    f = _bounded(d, image, w, h)
    f = d.func("in_", (x, y), f[x, y], ("",))
    for name, of in (("least", hl.min), ("most", hl.max)):
        across = f[x - n // 2, y]
        for i in range(1, n):
            across = of(across, f[x + i - n // 2, y])
        f = d.func(f"{name}_x", (x, y), across)
        down = f[x, y - n // 2]
        for i in range(1, n):
            down = of(down, f[x, y + i - n // 2])
        f = d.func(f"{name}_y", (x, y), down)
    d.finish(w, h)


def sharpened(d: Drawing) -> None:
    """Unsharp masking of one channel, by floats."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint8", w, h)
    f = _bounded(d, image, w, h)
    grey = d.func("grey", (x, y), d.cast("float32", f[x, y]) / 255.0, ("",))
    across = d.func("across", (x, y), 0.25 * grey[x - 1, y] + 0.5 * grey[x, y] + 0.25 * grey[x + 1, y], ("grey",))
    blurred = d.func("blurred", (x, y), 0.25 * across[x, y - 1] + 0.5 * across[x, y] + 0.25 * across[x, y + 1])
    strength = d.scalar("float32", 1.5)
    value = grey[x, y] + strength * (grey[x, y] - blurred[x, y])
    d.func("out", (x, y), d.cast("uint8", hl.clamp(value * 255.0, 0.0, 255.0)), ("grey", "blurred"))
    d.finish(w, h, rounds=True)


def bilateral(d: Drawing) -> None:
    """A small bilateral filter: weights by difference."""
    w, h = d.size(200_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w, h)
    f = _bounded(d, image, w, h)
    f = d.func("in_", (x, y), f[x, y], ("",))
    r = hl.RDom([(-2, 5), (-2, 5)], "r")
    delta = f[x + r.x, y + r.y] - f[x, y]
    weight = 1.0 / (1.0 + 40.0 * delta * delta)
    top = d.func("top", (x, y), hl.sum(weight * f[x + r.x, y + r.y]), ("in_",))
    bottom = d.func("bottom", (x, y), hl.sum(weight), ("in_",))
    d.func("out", (x, y), top[x, y] / bottom[x, y], ("top", "bottom"))
    d.finish(w, h)


def similarity(d: Drawing) -> None:
    """Non-local means, small: patches compared at some offsets."""
    w, h = d.size(150_000)
    x, y, hl = d.x, d.y, d.hl
    dx, dy = hl.Var("dx"), hl.Var("dy")
    image = d.image("float32", w, h)
    f = hl.BoundaryConditions.repeat_edge(image)
    clamped = d.func("in_", (x, y), f[x, y], ("",))
    delta = clamped[x, y] - clamped[x + dx, y + dy]
    difference = d.func("difference", (x, y, dx, dy), delta * delta, ("in_",))
    patch = d.func(
        "patch", (x, y, dx, dy), difference[x - 1, y, dx, dy] + difference[x, y, dx, dy] + difference[x + 1, y, dx, dy]
    )
    r = hl.RDom([(-2, 5), (-2, 5)], "r")
    weight = hl.exp(-8.0 * patch[x, y, r.x, r.y])
    d.func("out", (x, y), hl.sum(weight * clamped[x + r.x, y + r.y]) / hl.sum(weight), ("patch", "in_"))
    d.finish(w, h)


FAMILIES = (
    box, stencil, chain, weighted, convolution, gradient, corners, median, morphology, sharpened, bilateral, similarity
)  # fmt: skip
