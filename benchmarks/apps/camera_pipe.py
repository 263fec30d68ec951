"""A camera's raw pipeline: hot pixels, demosaicking of a GRBG sensor, colour correction, tone curve, sharpening.

The sensor's uint16 values become an RGB picture of uint8. All arithmetic but the curve's is on integers.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.apps.app import EXPERT, PLAIN, App, Array, Built, Inputs, Size, Tolerance, Work, picture

_MARGIN = 16
"""The output's first pixel in the raw picture, along both axes."""

_MATRIX = ((432, -112, -64, -6000), (-88, 392, -48, -5200), (-24, -184, 464, -5600))
"""Sensor colours to sRGB, in 1/256; the last column is the offset."""

_BLACK, _WHITE = 25, 1023
_GAMMA, _CONTRAST = float(np.float32(1 / 2.0)), float(np.float32(1.6))
_SHARPEN = 32
"""Strength of the sharpening, in 1/32."""


def _inputs(size: Size) -> Inputs:
    width, height = size
    return (picture(width + 2 * _MARGIN, height + 2 * _MARGIN, 1, "uint16", 1000, 16),)


def _average(hl: Any, a: Any, b: Any, narrow: Any, wide: Any) -> Any:
    """The mean of two, rounded up, without overflow."""
    return narrow((wide(a) + wide(b) + 1) >> 1)


def _demosaic(hl: Any, raw: Any) -> tuple[Any, list[Any]]:
    """The full colours of a GRBG mosaic, whose quarter-size planes are 0: G beside red, 1: R, 2: B, 3: G beside blue.

    Green is interpolated along the direction in which it changes less; red and blue follow the green of the pixel.
    """
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")

    def mean(a: Any, b: Any) -> Any:
        return _average(hl, a, b, hl.i16, hl.i32)

    def plane(name: str, k: int) -> Any:
        f = hl.Func(name)
        f[x, y] = raw[x, y, k]
        return f

    g_gr, r_r, b_b, g_gb = (plane(n, k) for k, n in enumerate(("g_gr", "r_r", "b_b", "g_gb")))
    funcs: list[Any] = []

    def func(name: str, value: Any) -> Any:
        f = hl.Func(name)
        f[x, y] = value
        funcs.append(f)
        return f

    vertical, vertical_change = mean(g_gb[x, y - 1], g_gb[x, y]), hl.absd(g_gb[x, y - 1], g_gb[x, y])
    across, across_change = mean(g_gr[x + 1, y], g_gr[x, y]), hl.absd(g_gr[x + 1, y], g_gr[x, y])
    g_r = func("g_r", hl.select(across_change < vertical_change, across, vertical))
    vertical, vertical_change = mean(g_gr[x, y + 1], g_gr[x, y]), hl.absd(g_gr[x, y + 1], g_gr[x, y])
    across, across_change = mean(g_gb[x - 1, y], g_gb[x, y]), hl.absd(g_gb[x - 1, y], g_gb[x, y])
    g_b = func("g_b", hl.select(across_change < vertical_change, across, vertical))

    r_gr = func("r_gr", g_gr[x, y] - mean(g_r[x, y], g_r[x - 1, y]) + mean(r_r[x - 1, y], r_r[x, y]))
    b_gr = func("b_gr", g_gr[x, y] - mean(g_b[x, y], g_b[x, y - 1]) + mean(b_b[x, y], b_b[x, y - 1]))
    r_gb = func("r_gb", g_gb[x, y] - mean(g_r[x, y], g_r[x, y + 1]) + mean(r_r[x, y], r_r[x, y + 1]))
    b_gb = func("b_gb", g_gb[x, y] - mean(g_b[x, y], g_b[x + 1, y]) + mean(b_b[x, y], b_b[x + 1, y]))

    rising = g_b[x, y] - mean(g_r[x, y], g_r[x - 1, y + 1]) + mean(r_r[x, y], r_r[x - 1, y + 1])
    falling = g_b[x, y] - mean(g_r[x - 1, y], g_r[x, y + 1]) + mean(r_r[x - 1, y], r_r[x, y + 1])
    less = hl.absd(r_r[x, y], r_r[x - 1, y + 1]) < hl.absd(r_r[x - 1, y], r_r[x, y + 1])
    r_b = func("r_b", hl.select(less, rising, falling))
    rising = g_r[x, y] - mean(g_b[x, y], g_b[x + 1, y - 1]) + mean(b_b[x, y], b_b[x + 1, y - 1])
    falling = g_r[x, y] - mean(g_b[x + 1, y], g_b[x, y - 1]) + mean(b_b[x + 1, y], b_b[x, y - 1])
    less = hl.absd(b_b[x, y], b_b[x + 1, y - 1]) < hl.absd(b_b[x + 1, y], b_b[x, y - 1])
    b_r = func("b_r", hl.select(less, rising, falling))

    def mosaic(a: Any, b: Any, d: Any, e: Any) -> Any:
        """The full plane: ``a b`` in even rows, ``d e`` in odd ones."""
        even = hl.select(x % 2 == 0, a[x / 2, y / 2], b[x / 2, y / 2])
        odd = hl.select(x % 2 == 0, d[x / 2, y / 2], e[x / 2, y / 2])
        return hl.select(y % 2 == 0, even, odd)

    full = hl.Func("full")
    red, blue = mosaic(r_gr, r_r, r_b, r_gb), mosaic(b_gr, b_r, b_b, b_gb)
    full[x, y, c] = hl.select(c == 0, red, hl.select(c == 1, mosaic(g_gr, g_r, g_b, g_gb), blue))
    return full, funcs


def _build(hl: Any, size: Size) -> Built:
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    shifted, cool, raw = hl.Func("shifted"), hl.Func("cool"), hl.Func("raw")
    shifted[x, y] = hl.i16(image[x + _MARGIN, y + _MARGIN])
    around = hl.max(hl.max(shifted[x - 2, y], shifted[x + 2, y]), hl.max(shifted[x, y - 2], shifted[x, y + 2]))
    cool[x, y] = hl.clamp(shifted[x, y], hl.i16(0), around)
    even = hl.select(c == 0, cool[2 * x, 2 * y], cool[2 * x + 1, 2 * y])
    odd = hl.select(c == 2, cool[2 * x, 2 * y + 1], cool[2 * x + 1, 2 * y + 1])
    raw[x, y, c] = hl.select(c < 2, even, odd)
    full, quarter = _demosaic(hl, raw)

    corrected, curve, curved = hl.Func("corrected"), hl.Func("curve"), hl.Func("curved")
    r, g, b = (hl.i32(full[x, y, k]) for k in range(3))
    rows = [hl.i16((r * a + g * d + b * e + f) >> 8) for a, d, e, f in _MATRIX]
    corrected[x, y, c] = hl.select(c == 0, rows[0], hl.select(c == 1, rows[1], rows[2]))
    level = hl.clamp(hl.f32(x - _BLACK) / hl.f32(_WHITE - _BLACK), 0.0, 1.0)
    bent = hl.pow(level, hl.f32(_GAMMA))
    dark = hl.pow(hl.f32(2.0) * bent, hl.f32(_CONTRAST)) * hl.f32(0.5)
    light = hl.f32(1.0) - hl.pow(hl.f32(2.0) - hl.f32(2.0) * bent, hl.f32(_CONTRAST)) * hl.f32(0.5)
    toned = hl.select(bent > hl.f32(0.5), light, dark)
    curve[x] = hl.u8(hl.clamp(toned * hl.f32(255.0) + hl.f32(0.5), 0.0, 255.0))
    curved[x, y, c] = curve[hl.clamp(hl.i32(corrected[x, y, c]), 0, 1023)]

    def mean(a: Any, d: Any) -> Any:
        return _average(hl, a, d, hl.u8, hl.u16)

    soft_y, soft, output = hl.Func("soft_y"), hl.Func("soft"), hl.Func("output")
    soft_y[x, y, c] = mean(mean(curved[x, y - 1, c], curved[x, y + 1, c]), curved[x, y, c])
    soft[x, y, c] = mean(mean(soft_y[x - 1, y, c], soft_y[x + 1, y, c]), soft_y[x, y, c])
    detail = hl.i16(curved[x, y, c]) - hl.i16(soft[x, y, c])
    output[x, y, c] = hl.u8_sat(hl.i16(curved[x, y, c]) + (detail * hl.i16(_SHARPEN)) / 32)
    funcs = SimpleNamespace(
        cool=cool, raw=raw, quarter=quarter, full=full, corrected=corrected, curve=curve, curved=curved, soft_y=soft_y,
        soft=soft, x=x, y=y, c=c,
    )  # fmt: skip
    return Built(hl, output, (image,), funcs)


def _plain(b: Built) -> None:
    f = b.funcs
    for each in (f.cool, f.raw, *f.quarter, f.full, f.corrected, f.curve, f.curved, f.soft_y, f.soft):
        each.compute_root()


def _expert(b: Built) -> None:
    """Strips of rows, in which every stage is a few rows ahead of the next one.

    What Halide's own schedule has besides are folded storage, a specialised output stride and ``align_bounds``.
    """
    f = b.funcs
    x, y, c = f.x, f.y, f.c
    (yi,) = b.var("yi")
    f.curve.compute_root()
    b.output.bound(c, 0, 3).split(y, y, yi, 32).reorder(x, c, yi, y).vectorize(x, 32).parallel(y)
    f.cool.compute_at(b.output, y).vectorize(x, 32)
    f.raw.compute_at(b.output, y).reorder(x, c, y).bound(c, 0, 4).unroll(c).vectorize(x, 16)
    for each in f.quarter:
        each.compute_at(b.output, y).vectorize(x, 16)
    f.full.compute_at(b.output, y).bound(c, 0, 3).reorder(x, c, y).unroll(c).vectorize(x, 32)
    f.corrected.compute_at(b.output, y).bound(c, 0, 3).reorder(x, c, y).unroll(c).vectorize(x, 32)
    f.curved.compute_at(b.output, y).reorder(x, c, y).vectorize(x, 32)
    f.soft_y.compute_at(b.output, yi).reorder(x, c, y).vectorize(x, 32)


def _mean(a: Array, b: Array) -> Array:
    return np.asarray((a + b + 1) >> 1)


def _reference(inputs: Inputs, size: Size) -> Array:
    (image,) = inputs
    assert isinstance(image, np.ndarray)
    width, height = size
    wide = image.astype(np.int32)
    rows, columns = wide.shape

    def at(a: Array, dx: int, dy: int) -> Array:
        return np.roll(a, (-dy, -dx), (0, 1))

    around = np.maximum.reduce([at(wide, -2, 0), at(wide, 2, 0), at(wide, 0, -2), at(wide, 0, 2)])
    cool = np.maximum(np.minimum(wide, around), 0)
    gr, r, b, gb = cool[::2, ::2], cool[::2, 1::2], cool[1::2, ::2], cool[1::2, 1::2]

    def pick(one: tuple[Array, Array], other: tuple[Array, Array]) -> Array:
        """The mean of the pair that differs less; the second on a tie."""
        return np.where(abs(one[0] - one[1]) < abs(other[0] - other[1]), _mean(*one), _mean(*other))

    g_r = pick((at(gr, 1, 0), gr), (at(gb, 0, -1), gb))
    g_b = pick((at(gb, -1, 0), gb), (at(gr, 0, 1), gr))
    r_gr = gr - _mean(g_r, at(g_r, -1, 0)) + _mean(at(r, -1, 0), r)
    b_gr = gr - _mean(g_b, at(g_b, 0, -1)) + _mean(b, at(b, 0, -1))
    r_gb = gb - _mean(g_r, at(g_r, 0, 1)) + _mean(r, at(r, 0, 1))
    b_gb = gb - _mean(g_b, at(g_b, 1, 0)) + _mean(b, at(b, 1, 0))

    def diagonal(
        green: Array, other: Array, value: Array, one: list[tuple[int, int]], two: list[tuple[int, int]]
    ) -> Array:
        pairs = [[at(value, *step) for step in steps] for steps in (one, two)]
        greens = [_mean(*(at(other, *step) for step in steps)) for steps in (one, two)]
        first, second = (green - g + _mean(*pair) for g, pair in zip(greens, pairs, strict=True))
        return np.where(abs(pairs[0][0] - pairs[0][1]) < abs(pairs[1][0] - pairs[1][1]), first, second)

    r_b = diagonal(g_b, g_r, r, [(0, 0), (-1, 1)], [(-1, 0), (0, 1)])
    b_r = diagonal(g_r, g_b, b, [(0, 0), (1, -1)], [(1, 0), (0, -1)])
    planes = np.zeros((3, rows, columns), np.int32)
    for plane, parts in zip(planes, ((r_gr, r, r_b, r_gb), (gr, g_r, g_b, gb), (b_gr, b_r, b, b_gb)), strict=True):
        plane[::2, ::2], plane[::2, 1::2], plane[1::2, ::2], plane[1::2, 1::2] = parts
    corrected = np.stack([(planes[0] * a + planes[1] * d + planes[2] * e + f) >> 8 for a, d, e, f in _MATRIX])
    level = np.clip((np.arange(1024, dtype=np.float32) - _BLACK) / np.float32(_WHITE - _BLACK), 0, 1)
    bent = level ** np.float32(_GAMMA)
    dark, light = ((2 * v) ** np.float32(_CONTRAST) * np.float32(0.5) for v in (bent, 1 - bent))
    curve = np.clip(np.where(bent > 0.5, 1 - light, dark) * 255 + np.float32(0.5), 0, 255).astype(np.uint8)
    curved = curve[np.clip(corrected, 0, 1023)].astype(np.int32)
    soft_y = _mean(_mean(np.roll(curved, 1, 1), np.roll(curved, -1, 1)), curved)
    soft = _mean(_mean(np.roll(soft_y, 1, 2), np.roll(soft_y, -1, 2)), soft_y)
    sharp = np.clip(curved + (curved - soft) * _SHARPEN // 32, 0, 255).astype(np.uint8)
    return sharp[:, _MARGIN : _MARGIN + height, _MARGIN : _MARGIN + width]


APP = App(
    name="camera_pipe",
    about="raw u16 to RGB u8",
    sizes={"full": (2560, 1920), "small": (192, 64)},
    inputs=_inputs,
    build=_build,
    schedules={PLAIN: _plain, EXPERT: _expert},
    reference=_reference,
    shape=lambda size: (*size, 3),
    dtype="uint8",
    work=lambda size: Work(150 * size[0] * size[1], 5 * size[0] * size[1]),
    tolerance=Tolerance(3, 0, 1e-3),
)
