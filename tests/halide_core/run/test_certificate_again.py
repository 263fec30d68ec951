"""Certificates of one program are the same, step by step, whatever the process did before, and in every thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import halide_core as hl
from halide_core.bounds.verify.certificate import PipelineCertificate

x, y, z, xo, yo, xi, yi, xz = (hl.Var(n) for n in ("x", "y", "z", "xo", "yo", "xi", "yi", "xz"))


def tiled() -> hl.Func:
    image, g, f = hl.ImageParam(hl.UInt(8), 2, "in"), hl.Func("g"), hl.Func("f")
    g[x, y] = image[x, y] + image[x + 1, y]
    f[x, y] = g[x, y] + g[x, y + 1]
    f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi, 8)
    g.compute_at(f, xo)
    return f


def fused() -> hl.Func:
    f = hl.Func("f")
    f[x, y, z] = x + y * z
    f.fuse(x, z, xz).fuse(xz, y, xz).parallel(xz, 3, hl.TailStrategy.GuardWithIf)
    return f


def steps(certificate: PipelineCertificate) -> list[int]:
    """The steps of each kind of claim."""
    assert certificate.ok, certificate
    return [spent.steps for spent in certificate.spent.values()]


def test_no_step_depends_on_what_came_before() -> None:
    first = steps(tiled().certify())
    assert sum(first) > 0
    for _ in range(3):
        fused().certify()
    assert steps(tiled().certify()) == first


def test_threads_certify_side_by_side() -> None:
    alone = [steps(make().certify()) for make in (tiled, fused)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: steps((tiled, fused)[k % 2]().certify()), range(12)))
    assert found == [alone[k % 2] for k in range(12)]
