"""Seven pipelines under their tiled schedules, and what their certificates say: ``python -m
tests.support.certificates``.

In: nothing. Out: a table: claims, the share that is proven outright, the start-up checks that the rest needs, seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import halide_core as hl
from halide_core.bounds.verify.certificate import PipelineCertificate, check_text
from halide_core.bounds.verify.vc import Status

x, y, xo, yo, xi, yi, c = (hl.Var(n) for n in "x y xo yo xi yi c".split())


def blur() -> hl.Func:
    """Two box filters, the first in the tiles of the second."""
    source = hl.ImageParam(hl.UInt(16), 2, "source")
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = (source[x - 1, y] + source[x, y] + source[x + 1, y]) / 3
    down[x, y] = (across[x, y - 1] + across[x, y] + across[x, y + 1]) / 3
    down.tile(x, y, xo, yo, xi, yi, 64, 32).vectorize(xi, 16).parallel(yo)
    across.compute_at(down, xo).vectorize(x, 16)
    return down


def unsharp() -> hl.Func:
    """A picture and what a Gaussian takes from it."""
    source = hl.ImageParam(hl.Float(32), 2, "source")
    across, smooth, sharp = hl.Func("across"), hl.Func("smooth"), hl.Func("sharp")
    weights = [0.0625, 0.25, 0.375, 0.25, 0.0625]
    across[x, y] = sum((w * source[x + i - 2, y] for i, w in enumerate(weights)), start=hl.f32(0.0))
    smooth[x, y] = sum((w * across[x, y + i - 2] for i, w in enumerate(weights)), start=hl.f32(0.0))
    sharp[x, y] = 2.0 * source[x, y] - smooth[x, y]
    sharp.tile(x, y, xo, yo, xi, yi, 64, 16).vectorize(xi, 8).parallel(yo)
    across.compute_at(sharp, xo).vectorize(x, 8)
    smooth.compute_at(sharp, xo).vectorize(x, 8)
    return sharp


def harris() -> hl.Func:
    """Corners: gradients, their products, sums of those over 3 by 3, a response."""
    source = hl.ImageParam(hl.Float(32), 2, "source")
    ix, iy, response = hl.Func("ix"), hl.Func("iy"), hl.Func("response")

    def along(dx: int, dy: int, side: int) -> hl.Expr:
        return source[x + dx + side * dy, y + dy + side * dx]

    ix[x, y] = (along(1, 0, -1) - along(-1, 0, 1)) + 2.0 * (along(1, 0, 0) - along(-1, 0, 0)) + (
        along(1, 0, 1) - along(-1, 0, -1)
    )
    iy[x, y] = (along(0, 1, -1) - along(0, -1, 1)) + 2.0 * (along(0, 1, 0) - along(0, -1, 0)) + (
        along(0, 1, 1) - along(0, -1, -1)
    )
    sums = []
    for name, a, b in (("sxx", ix, ix), ("sxy", ix, iy), ("syy", iy, iy)):
        product, total = hl.Func(name[1:]), hl.Func(name)
        product[x, y] = a[x, y] * b[x, y]
        total[x, y] = sum(
            (product[x + dx, y + dy] for dx in (-1, 0, 1) for dy in (-1, 0, 1)), start=hl.f32(0.0)
        )
        sums.append(total)
    sxx, sxy, syy = sums
    trace = sxx[x, y] + syy[x, y]
    response[x, y] = sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y] - 0.04 * trace * trace
    response.tile(x, y, xo, yo, xi, yi, 64, 32).vectorize(xi, 8).parallel(yo)
    for f in (ix, iy):
        f.compute_at(response, xo).vectorize(x, 8)
    return response


def histogram() -> hl.Func:
    """Counts each of 256 values in each row of a picture, rows in parallel; then in all of it."""
    source = hl.ImageParam(hl.UInt(8), 2, "source")
    width, height = source.dim(0).extent(), source.dim(1).extent()
    rows, total = hl.Func("rows"), hl.Func("total")
    across, down = hl.RDom([(0, width)], "across"), hl.RDom([(0, height)], "down")
    rows[x, y] = hl.u32(0)
    rows[hl.i32(source[source.dim(0).min() + across.x, y]), y] += hl.u32(1)
    total[x] = hl.u32(0)
    total[x] += rows[x, source.dim(1).min() + down.x]
    rows.compute_root().parallel(y).vectorize(x, 8)
    rows.update(0).parallel(y)
    total.vectorize(x, 8)
    total.update(0).split(x, xo, xi, 64).reorder(xi, down.x, xo).vectorize(xi, 8).parallel(xo)
    return total


def matmul() -> hl.Func:
    """A product of matrices, in tiles that stay in registers."""
    a, b = (hl.ImageParam(hl.Float(32), 2, n) for n in "ab")
    k = hl.RDom([(0, a.dim(0).extent())], "k")
    product, out = hl.Func("product"), hl.Func("out")
    product[x, y] = hl.f32(0.0)
    product[x, y] += a[k.x + a.dim(0).min(), y] * b[x, k.x + b.dim(1).min()]
    out[x, y] = product[x, y]
    out.tile(x, y, xo, yo, xi, yi, 32, 8).vectorize(xi, 8).parallel(yo)
    product.compute_at(out, xo).vectorize(x, 8)
    product.update(0).reorder(x, y, k.x).vectorize(x, 8).unroll(y, 4)
    return out


def scan() -> hl.Func:
    """A recursive filter along the rows, forth and back, strips of rows in parallel."""
    source = hl.ImageParam(hl.Float(32), 2, "source")
    left, width = source.dim(0).min(), source.dim(0).extent()
    steps = hl.max(width - 1, 0)
    forth, back = hl.RDom([(1, steps)], "forth"), hl.RDom([(1, steps)], "back")
    filtered, out = hl.Func("filtered"), hl.Func("out")
    filtered[x, y] = hl.BoundaryConditions.repeat_edge(source)[x, y]
    filtered[left + forth.x, y] = 0.25 * filtered[left + forth.x, y] + 0.75 * filtered[left + forth.x - 1, y]
    last = left + width - 1
    filtered[last - back.x, y] = 0.25 * filtered[last - back.x, y] + 0.75 * filtered[last - back.x + 1, y]
    out[x, y] = filtered[x, y]
    out.tile(x, y, xo, yo, xi, yi, 64, 8).reorder(xi, yi, xo, yo).vectorize(xi, 8).parallel(yo)
    filtered.compute_at(out, yo)
    for stage in (filtered.update(0), filtered.update(1)):
        stage.vectorize(y, 8, hl.TailStrategy.GuardWithIf)
    return out


def pyramid() -> hl.Func:
    """Three levels down by two, and back up again."""
    source = hl.ImageParam(hl.Float(32), 2, "source")
    level: hl.Func = hl.Func("level0")
    level[x, y] = source[x, y]
    downs = [level]
    for i in (1, 2):
        half = hl.Func(f"level{i}")
        above = downs[-1]
        half[x, y] = 0.25 * (
            above[2 * x, 2 * y] + above[2 * x + 1, 2 * y] + above[2 * x, 2 * y + 1] + above[2 * x + 1, 2 * y + 1]
        )
        half.compute_root().tile(x, y, xo, yo, xi, yi, 32, 8).vectorize(xi, 8).parallel(yo)
        downs.append(half)
    up = downs[-1]
    for i in (1, 0):
        finer = hl.Func(f"up{i}")
        finer[x, y] = 0.5 * (downs[i][x, y] + 0.5 * (up[x / 2, y / 2] + up[(x + 1) / 2, (y + 1) / 2]))
        if i:
            finer.compute_root().tile(x, y, xo, yo, xi, yi, 32, 8).vectorize(xi, 8).parallel(yo)
        up = finer
    up.tile(x, y, xo, yo, xi, yi, 64, 16).vectorize(xi, 8).parallel(yo)
    return up


PIPELINES: tuple[Callable[[], hl.Func], ...] = (blur, unsharp, harris, histogram, matmul, scan, pyramid)


def row(name: str, certificate: PipelineCertificate) -> str:
    """One line of the table, and one for each start-up check."""
    counts = ", ".join(f"{certificate.count(s)} {s.value}" for s in Status if certificate.count(s))
    share = f"{100 * certificate.proven_share:>6.1f} % proven"
    lines = [f"{name:<10} {len(certificate.results):>5} claims {share} {certificate.seconds:>6.2f} s   {counts}"]
    lines += [f"           unless {check_text(check)}" for check in certificate.checks]
    return "\n".join(lines)


def main() -> int:
    """Prints the table. 1 where a certificate is not complete, or less than 95 % is proven."""
    good = True
    for make in PIPELINES:
        certificate = make().certify()
        assert isinstance(certificate, PipelineCertificate)
        good = good and certificate.ok and certificate.proven_share >= 0.95
        sys.stdout.write(row(make.__name__, certificate) + "\n")
        if not certificate.ok:
            sys.stdout.write(f"{certificate}\n")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
