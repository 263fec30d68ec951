"""Ten Generators, from a function of two numbers to a pyramid with as many outputs as it is asked for.

    python examples/generators/gallery.py -help
    python examples/generators/gallery.py -g blur -o out target=host
    python examples/generators/gallery.py -g pyramid -o out levels=4 -e static_library,c_header,python_extension
"""

from __future__ import annotations

import operator

import halide_core as hl

x, y, i = hl.vars("x y i")
GUARD = hl.TailStrategy.GuardWithIf


@hl.generator("axpy")
class Axpy:
    """Numbers in, a number out."""

    a, b, c = hl.InputScalar(float), hl.InputScalar(float), hl.InputScalar(float)
    out = hl.OutputScalar(float)

    def generate(g):
        g.out[()] = g.a * g.b + g.c


@hl.generator("brighten")
class Brighten:
    """A parameter that the build system sets, and a number that every run is given."""

    factor = hl.GeneratorParam(2)
    source = hl.InputBuffer(hl.UInt(8), 2)
    offset = hl.InputScalar(hl.UInt(8))
    out = hl.OutputBuffer(hl.UInt(8), 2)

    def generate(g):
        g.out[x, y] = hl.u8_sat(hl.u16(g.source[x, y]) * g.factor + g.offset)
        g.out.vectorize(x, g.natural_vector_size(hl.UInt(8)), GUARD).parallel(y)


@hl.generator("blur")
class Blur:
    """Two stages, with a schedule that may be left out."""

    scheduled = hl.GeneratorParam(True)
    source = hl.InputBuffer(hl.UInt(16), 2)
    out = hl.OutputBuffer(hl.UInt(16), 2)

    def generate(g):
        across = hl.Func("across")
        across[x, y] = (g.source[x, y] + g.source[x + 1, y] + g.source[x + 2, y]) / 3
        g.out[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
        if g.scheduled:
            size = g.natural_vector_size(hl.UInt(16))
            g.out.vectorize(x, size, GUARD)
            across.store_root().compute_at(g.out, y).vectorize(x, size, GUARD)


@hl.alias(xor_mask={"op": "xor"}, and_mask={"op": "and"}, or_mask={"op": "or"})
@hl.generator("mask")
class Mask:
    """Other names for some values of a parameter."""

    op = hl.GeneratorParam("xor")
    source = hl.InputBuffer(hl.UInt(8), 2)
    bits = hl.InputScalar(hl.UInt(8))
    out = hl.OutputBuffer(hl.UInt(8), 2)

    def generate(g):
        apply = {"xor": operator.xor, "and": operator.and_, "or": operator.or_}[g.op]
        g.out[x, y] = apply(g.source[x, y], g.bits)


@hl.generator("convert")
class Convert:
    """Types and dimensions that the build system says: ``source.type=uint8 source.dim=3 out.type=float32 …``."""

    source = hl.InputBuffer(None, None)
    out = hl.OutputBuffer(None, None)

    def generate(g):
        g.out[hl._] = hl.cast(g.out.type(), g.source[hl._])


@hl.generator("histogram")
class Histogram:
    """A reduction over a picture whose size each run brings along."""

    bins = hl.GeneratorParam(16)
    source = hl.InputBuffer(hl.UInt(8), 2)
    out = hl.OutputBuffer(hl.UInt(32), 1)

    def generate(g):
        r = hl.RDom(g.source)
        g.out[i] = hl.u32(0)
        g.out[hl.clamp(hl.i32(g.source[r.x, r.y]) * g.bins / 256, 0, g.bins - 1)] += hl.u32(1)
        g.out.bound(i, 0, g.bins)


@hl.generator("brightest")
class Brightest:
    """A Tuple: where each row is brightest, and how bright."""

    source = hl.InputBuffer(hl.UInt(8), 2)
    out = hl.OutputBuffer([hl.Int(32), hl.UInt(8)], 1)

    def generate(g):
        r = hl.RDom([(0, g.source.width())])
        g.add_requirement(g.source.width() > 0, "a row needs a pixel")
        g.out[y] = (0, hl.u8(0))
        here, best = g.source[r, y], g.out[y]
        better = here > best[1]
        g.out[y] = (hl.select(better, r, best[0]), hl.select(better, here, best[1]))


@hl.generator("unsharp")
class Unsharp:
    """Another Generator, called like a function."""

    source = hl.InputBuffer(hl.UInt(16), 2)
    amount = hl.InputScalar(float)
    out = hl.OutputBuffer(hl.UInt(16), 2)

    def generate(g):
        g.amount.set_range(0.0, 4.0)
        soft = Blur.call(g.source, generator_params={"scheduled": False})
        sharp = hl.f32(g.source[x + 1, y + 1]) * (1.0 + g.amount) - hl.f32(soft[x, y]) * g.amount
        g.out[x, y] = hl.u16_sat(hl.round(sharp))
        soft.compute_at(g.out, y).vectorize(x, 8, GUARD)
        g.out.vectorize(x, 8, GUARD).parallel(y)


@hl.generator("mix")
class Mix:
    """As many inputs as a parameter says, and a weight for each."""

    count = hl.GeneratorParam(2)
    out = hl.OutputBuffer(float, 2)

    def configure(g):
        for k in range(g.count):
            g.add_input(f"picture_{k}", hl.InputBuffer(hl.UInt(8), 2))
        for k in range(g.count):
            g.add_input(f"weight_{k}", hl.InputScalar(float))

    def generate(g):
        pictures = [getattr(g, f"picture_{k}") for k in range(g.count)]
        weights = [getattr(g, f"weight_{k}") for k in range(g.count)]
        value = hl.Expr(0.0)
        for picture, weight in zip(pictures, weights, strict=True):
            value = value + hl.f32(picture[x, y]) * weight
        g.out[x, y] = value
        g.out.vectorize(x, g.natural_vector_size(float), GUARD)


@hl.generator("pyramid")
class Pyramid:
    """As many outputs as a parameter says, each half as large as the one before."""

    levels = hl.GeneratorParam(3)
    source = hl.InputBuffer(hl.UInt(8), 2)

    def configure(g):
        for k in range(g.levels):
            g.add_output(f"level_{k}", hl.OutputBuffer(hl.UInt(8), 2))

    def generate(g):
        finer = g.source
        for k in range(g.levels):
            level = getattr(g, f"level_{k}")
            corners = [hl.u16(finer[2 * x + dx, 2 * y + dy]) for dy in (0, 1) for dx in (0, 1)]
            level[x, y] = hl.u8((corners[0] + corners[1] + corners[2] + corners[3] + 2) / 4)
            level.compute_root().vectorize(x, 16, GUARD)
            finer = level


if __name__ == "__main__":
    hl.main()
