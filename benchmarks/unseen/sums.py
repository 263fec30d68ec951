"""Families: reductions, products, scans, histograms, searches, normalisations."""

from __future__ import annotations

from benchmarks.unseen.drawing import Drawing


def product(d: Drawing) -> None:
    """A matrix product of some types."""
    n, m, k = (d.pick(64, 100, 128, 192, 256, 300) for _ in range(3))
    x, y = d.x, d.y
    kind, total = d.pick(("float32", "float32"), ("float64", "float64"), ("uint8", "int32"), ("int16", "int32"))
    a, b = d.image(kind, k, m, high=9), d.image(kind, n, k, high=9)
    r = d.hl.RDom([(0, k)], "r")
    f = d.func("product", (x, y), d.cast(total, 0), ("",))
    f[x, y] += d.cast(total, a[r, y]) * d.cast(total, b[x, r])
    d.updated((x, y), r.x)
    if d.rng.random() < 0.5:
        d.func("out", (x, y), d.hl.max(f[x, y], d.cast(total, 3)))
    d.finish(n, m)


def vector(d: Drawing) -> None:
    """A matrix times a vector: dot products along rows."""
    n, m = d.pick(500, 1024, 2000), d.pick(300, 1000)
    x, kind = d.x, d.pick("float32", "int32")
    a, v = d.image(kind, n, m, high=9), d.image(kind, n, high=9)
    r = d.hl.RDom([(0, n)], "r")
    f = d.func("out", (x,), d.cast(kind, 0), ("",))
    f[x] += a[r, x] * v[r]
    d.updated((x,), r.x)
    d.finish(m)


def layer(d: Drawing) -> None:
    """A convolution with channels, and a ramp after it."""
    w, h, ci, co = d.pick(32, 56, 70), d.pick(32, 50), d.pick(8, 16), d.pick(8, 16, 24)
    c, x, y, hl = d.c, d.x, d.y, d.hl
    image, weights = d.image("float32", ci, w + 2, h + 2), d.image("float32", co, 3, 3, ci)
    r = hl.RDom([(0, ci), (0, 3), (0, 3)], "r")
    f = d.func("conv", (c, x, y), d.cast("float32", 0), ("",), small=0)
    f[c, x, y] += weights[c, r.y, r.z, r.x] * image[r.x, x + r.y, y + r.z]
    d.updated((c, x, y), r.x, r.y, r.z)
    d.func("out", (c, x, y), hl.max(f[c, x, y], 0.0), small=0)
    d.finish(co, w, h)


def depthwise(d: Drawing) -> None:
    """A filter of its own for each channel, bytes to int32."""
    w, h, n = d.pick(50, 112), d.pick(50, 100), d.pick(8, 16, 32)
    c, x, y = d.c, d.x, d.y
    image, weights = d.image("uint8", n, w + 2, h + 2), d.image("int8", n, 3, 3, low=-9, high=9)
    r = d.hl.RDom([(0, 3), (0, 3)], "r")
    f = d.func("conv", (c, x, y), d.cast("int32", 0), ("",), small=0)
    f[c, x, y] += d.cast("int32", image[c, x + r.x, y + r.y]) * d.cast("int32", weights[c, r.x, r.y])
    d.updated((c, x, y), r.x, r.y)
    d.func("out", (c, x, y), d.cast("uint8", d.hl.clamp(f[c, x, y] / 16, 0, 255)), small=0)
    d.finish(n, w, h)


def histogram(d: Drawing) -> None:
    """A histogram, its cumulative sums, and a picture mapped through them."""
    w, h = d.size()
    x, y, hl = d.x, d.y, d.hl
    image = d.image("uint8", w, h)
    r, s = hl.RDom([(0, w), (0, h)], "r"), hl.RDom([(1, 255)], "s")
    f = d.func("hist", (x,), d.cast("int32", 0), ("",))
    f[d.cast("int32", image[r.x, r.y])] += 1
    d.updated((), r.x, r.y)
    d.read_all_over()
    g = d.func("cdf", (x,), f[x])
    g[s.x] += g[s.x - 1]
    d.updated((), s.x)
    d.read_all_over()
    total = d.cast("int64", g[d.cast("int32", image[x, y])]) * 255 / (w * h)
    d.func("out", (x, y), d.cast("uint8", hl.clamp(total, 0, 255)))
    d.finish(w, h)


def rows(d: Drawing) -> None:
    """A prefix sum along rows, or down columns."""
    w, h = d.size()
    x, y, kind = d.x, d.y, d.pick("int32", "float32")
    image = d.image(kind, w, h, high=9)
    down = d.rng.random() < 0.5
    r = d.hl.RDom([(1, (h if down else w) - 1)], "r")
    f = d.func("scan", (x, y), image[x, y], ("",))
    if down:
        f[x, r] += f[x, r - 1]
        d.updated((x,), r.x)
    else:
        f[r, y] += f[r - 1, y]
        d.updated((y,), r.x)
    d.read_all_over()
    d.func("out", (x, y), f[x, y] * 2)
    d.finish(w, h)


def integral(d: Drawing) -> None:
    """An integral image, and means of windows from it."""
    w, h = d.size(600_000)
    x, y, hl, n = d.x, d.y, d.hl, 4
    image = d.image("uint8", w + 2 * n, h + 2 * n)
    r, s = hl.RDom([(1, w + 2 * n - 1)], "r"), hl.RDom([(1, h + 2 * n - 1)], "s")
    f = d.func("sums", (x, y), d.cast("uint32", image[x, y]), ("",))
    f[r, y] += f[r - 1, y]
    d.updated((y,), r.x)
    f[x, s] += f[x, s - 1]
    d.updated((x,), s.x)
    d.read_all_over()
    value = f[x + 2 * n, y + 2 * n] + f[x, y] - f[x + 2 * n, y] - f[x, y + 2 * n]
    d.func("out", (x, y), d.cast("uint8", value / (4 * n * n)))
    d.finish(w, h)


def recursive(d: Drawing) -> None:
    """A recursive filter along rows, both ways."""
    w, h = d.size(600_000)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w, h)
    r = hl.RDom([(1, w - 1)], "r")
    f = d.func("iir", (x, y), image[x, y], ("",))
    f[r, y] = 0.6 * f[r, y] + 0.4 * f[r - 1, y]
    d.updated((y,), r.x)
    f[w - 1 - r, y] = 0.6 * f[w - 1 - r, y] + 0.4 * f[w - r, y]
    d.updated((y,), r.x)
    d.read_all_over()
    d.func("out", (x, y), hl.sqrt(f[x, y] + 1.0))
    d.finish(w, h)


def matching(d: Drawing) -> None:
    """Block matching: the offset whose patch differs least."""
    w, h = d.size(120_000)
    x, y, hl = d.x, d.y, d.hl
    left, right = d.image("uint8", w + 16, h), d.image("uint8", w + 16, h)
    z = d.z
    difference = d.func("difference", (x, y, z), d.cast("uint16", hl.absd(left[x, y], right[x + z, y])), ("",))
    patch = d.func("patch", (x, y, z), difference[x, y, z] + difference[x + 1, y, z] + difference[x + 2, y, z])
    r = hl.RDom([(0, 12)], "r")
    f = d.func("best", (x, y), (d.cast("uint16", 65535), d.cast("int32", 0)), ("patch",))
    better = patch[x, y, r] < f[x, y][0]
    f[x, y] = (hl.select(better, patch[x, y, r], f[x, y][0]), hl.select(better, r.x, f[x, y][1]))
    d.updated((x, y), r.x)
    d.func("out", (x, y), f[x, y][1] * 10, ("best",))
    d.finish(w, h)


def softmax(d: Drawing) -> None:
    """Softmax along rows."""
    w, h = d.pick(100, 256, 500), d.pick(200, 500)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w, h, low=-3, high=3)
    r = hl.RDom([(0, w)], "r")
    most = d.func("most", (y,), hl.maximum(image[r, y]), ("",))
    power = d.func("power", (x, y), hl.exp(image[x, y] - most[y]), ("most",))
    total = d.func("total", (y,), d.cast("float32", 0), ("power",))
    total[y] += power[r, y]
    d.updated((y,), r.x)
    d.func("out", (x, y), power[x, y] / total[y], ("power", "total"))
    d.finish(w, h)


def normalised(d: Drawing) -> None:
    """Rows with their mean taken away, divided by their deviation."""
    w, h = d.pick(256, 512, 1000), d.pick(200, 500)
    x, y, hl = d.x, d.y, d.hl
    image = d.image("float32", w, h)
    r = hl.RDom([(0, w)], "r")
    moments = d.func("moments", (y,), (d.cast("float32", 0), d.cast("float32", 0)), ("",))
    moments[y] = (moments[y][0] + image[r, y], moments[y][1] + image[r, y] * image[r, y])
    d.updated((y,), r.x)
    mean = moments[y][0] / w
    d.func("out", (x, y), (image[x, y] - mean) / hl.sqrt(moments[y][1] / w - mean * mean + 1e-5), ("moments",))
    d.finish(w, h)


def pooled(d: Drawing) -> None:
    """The greatest of 2 by 2 windows, with channels."""
    w, h, n = d.pick(100, 128), d.pick(60, 100), d.pick(8, 16, 30)
    c, x, y, hl = d.c, d.x, d.y, d.hl
    image = d.image(d.pick("float32", "uint8"), n, 2 * w, 2 * h)
    r = hl.RDom([(0, 2), (0, 2)], "r")
    d.func("out", (c, x, y), hl.maximum(image[c, 2 * x + r.x, 2 * y + r.y]), ("",), small=0)
    d.finish(n, w, h)


def iterated(d: Drawing) -> None:
    """A few steps of relaxation, each an update of whole rows by a stencil in one dimension."""
    w, h = d.size(300_000)
    x, y, n = d.x, d.y, d.pick(3, 6)
    image = d.image("float32", w, h)
    f = d.hl.BoundaryConditions.repeat_edge(image)
    step = d.func("step0", (x, y), f[x, y], ("",))
    for i in range(1, n):
        step = d.func(f"step{i}", (x, y), step[x, y] * 0.5 + 0.25 * (step[x - 1, y] + step[x + 1, y]))
    d.finish(w, h)


def columns(d: Drawing) -> None:
    """Sums of columns, taken away from them."""
    w, h = d.size()
    x, y, kind = d.x, d.y, d.pick("int32", "float32")
    image = d.image(kind, w, h, high=9)
    r = d.hl.RDom([(0, h)], "r")
    f = d.func("sums", (x,), d.cast(kind, 0), ("",))
    f[x] += image[x, r]
    d.updated((x,), r.x)
    d.read_all_over()
    d.func("out", (x, y), image[x, y] - f[x] / h)
    d.finish(w, h)


FAMILIES = (
    product, vector, layer, depthwise, histogram, rows, integral, recursive, matching, softmax, normalised, pooled,
    iterated, columns,
)  # fmt: skip
