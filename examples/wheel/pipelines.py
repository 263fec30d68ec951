"""The package's pipelines."""

from __future__ import annotations

import halide_core as hl

x, y = hl.vars("x y")


@hl.generator("brighten")
class Brighten:
    """Adds a number to every pixel, and stays white where it is."""

    source = hl.InputBuffer(hl.UInt(8), 2)
    by = hl.InputScalar(hl.UInt(8))
    out = hl.OutputBuffer(hl.UInt(8), 2)

    def generate(g):
        g.out[x, y] = hl.u8_sat(hl.u16(g.source[x, y]) + g.by)
        g.out.vectorize(x, g.natural_vector_size(hl.UInt(8)), hl.TailStrategy.GuardWithIf).parallel(y)
