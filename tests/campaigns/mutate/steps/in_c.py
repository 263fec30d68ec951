"""The automatic steps that happen in C text, each with the obligation that a mutant takes from it.

In: nothing. Out: IN_C: what ``steps.STEPS`` is for the passes. The judge is the C itself, built with the
sanitizers for this machine's vectors.
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.lowering.passes.partition.steady_part import SteadyPart
from halide_core.runtime.codegen import expr, uses
from halide_core.runtime.codegen.memory import scalar_replacement
from halide_core.runtime.codegen.stores import StoreEmitter
from halide_core.runtime.codegen.vector import (
    exact_quotients,
    integer_idioms,
    lane_ranges,
    strided_loads,
)
from halide_core.runtime.codegen.vector.gathers import close, pairs
from tests.campaigns.mutate.steps.judges import Made, sanitized
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, xi, xo, y


def overlapping() -> Made:
    """Vectors of a small memory are read across those that are written."""
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x] = im[x, 0] * 3
    f[x] = g[x] + g[x + 2]
    f.bound(x, 0, 8).split(x, xo, xi, 4, Tail.GuardWithIf).vectorize(xi)
    g.compute_at(f, xo).split(x, xo, xi, 4, Tail.RoundUp).vectorize(xi).unroll(xo)
    return f, [(0, 8)]


def far_rows() -> Made:
    """Rows that lie near to each other, and so far from the first one that their places leave int32."""
    at, im, f, least = image(), hl.ImageParam(hl.Int(32), 2, "far"), hl.Func("f"), 1 << 27
    buffer = hl.Buffer(np.arange(24 * 24, dtype=np.int32).reshape(24, 24))
    buffer.set_min([0, least])
    im.set(buffer)
    f[x] = im[hl.clamp(at[x, 0], 0, 23), hl.clamp(at[x, 1] + (least - 40), least, least + 23)]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def beyond_bytes() -> Made:
    """Places of a table that bytes do not hold."""
    at, f = image(), hl.Func("f")
    table = hl.ImageParam(hl.Int(32), 1, "table")
    table.set(hl.Buffer(np.arange(300, dtype=np.int32) * 7))
    f[x] = table[hl.clamp(at[x, 0] * 3, 0, 299)]
    f.vectorize(x, 8)
    return f, [(0, 16)]


def among_tasks() -> Made:
    """One element that all tasks read."""
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x] = im[x, 0]
    f[x, y] = g[0] + x + y
    g.compute_root()
    f.parallel(y)
    return f, [(0, 3), (0, 4)]


def exchanged() -> Made:
    """The components of a Tuple, each of which takes the other's old value."""
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 3)], "r")
    g[x] = (x, x * 5)
    g[x] = (g[x][1], g[x][0] + r.x)
    f[x] = g[x][0] * 100 + g[x][1]
    g.compute_root()
    return f, [(1, 4)]


def every_second() -> Made:
    """The last lane's element is the last that there is."""
    im, f = hl.ImageParam(hl.Int(32), 1, "im"), hl.Func("f")
    im.set(hl.Buffer(np.arange(15, dtype=np.int32)))
    f[x] = im[2 * x]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def three_quarters() -> Made:
    im, f = image(48), hl.Func("f")
    f[x] = im[3 * x / 4, 0]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def first_lanes_of_a_row() -> Made:
    """An update of some lanes of a row, all of which are read behind it."""
    im, g, f, n = image(), hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "n", 3)
    r = hl.RDom([(0, 8)], "r")
    r.where(hl.i64(r.x) < hl.i64(n))
    g[x] = im[x, 0]
    g[r.x] += 100
    f[x, y] = g[x] + y
    g.bound(x, 0, 8).compute_at(f, y).vectorize(x, 8).update().vectorize(r.x, 8)
    f.bound(x, 0, 8).vectorize(x, 8)
    return f, [(0, 8), (0, 2)]


def thirds_by_four() -> Made:
    """Places that rise by more than there are lanes."""
    im, f = image(48), hl.Func("f")
    f[x] = im[x / 3 * 4, 0]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def of_two_rows() -> Made:
    """Places next to each other, but for the row."""
    im, f = image(), hl.Func("f")
    at = hl.clamp(im[x, 0] - 50, -6, 16)
    f[x] = im[at, 1] + im[at + 1, 2]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def column() -> Made:
    """Elements that are a row apart."""
    im, f = image(), hl.Func("f")
    f[x] = im[0, x] + 1
    f.vectorize(x, 8)
    return f, [(0, 8)]


def differences() -> Made:
    """From one less than bytes hold."""
    im, f = image(), hl.Func("f")
    f[x] = hl.u8(254) - hl.u8(im[x, 0] * 5)
    f.vectorize(x, 16)
    return f, [(0, 16)]


def unsigned_products() -> Made:
    """Numbers of 16 bits without a sign, above those with one."""
    im, f = image(), hl.Func("f")
    f[x] = hl.i32(hl.u16(im[x, 0] * 700)) * hl.i32(hl.i16(im[x, 1]))
    f.vectorize(x, 16)
    return f, [(0, 16)]


def summed() -> Made:
    """One element takes in several in a row."""
    im, f, r = image(), hl.Func("f"), hl.RDom([(1, 8)], "r")
    f[x] = x
    f[im[0, 0] % 9] += im[r, 1]
    f.update(0).unroll(r.x, 4)
    return f, [(0, 9)]


def nearly_bytes() -> Made:
    """Limited to one less than bytes hold."""
    im, f = image(), hl.Func("f")
    f[x] = hl.u8(hl.clamp(hl.i16(im[x, 0] * 9 - 300), 0, 254))
    f.vectorize(x, 16)
    return f, [(0, 16)]


def doubtful_quotients() -> Made:
    """A number whose quotient by 0.099 is all but in the middle between two others."""
    im, f = image(), hl.Func("f")
    f[x] = hl.f32(im[x, 0] * 0 + 12549352) / 0.099
    f.vectorize(x, 16)
    return f, [(0, 16)]


def tiny_quotients() -> Made:
    """Of numbers whose quotients have few digits left."""
    im, f = image(), hl.Func("f")
    f[x] = hl.f32(im[x, 0] * 10 + 5) * hl.f32(2.0**-149) / 10.0
    f.vectorize(x, 16)
    return f, [(0, 16)]


def behind_the_greatest() -> Made:
    """A guard that holds behind the greatest number that there is."""
    f, r, p = hl.Func("f"), hl.RDom([(0, 9)], "r"), hl.Param(hl.Int(64), "p")
    p.set(2**63 - 1)
    r.where(p < hl.i64(r.x))
    f[x] = 0
    f[r.x] += 1
    return f, [(0, 9)]


IN_C: dict[str, AutomaticStep] = {
    "partition: thresholds stay in int64": AutomaticStep(
        SteadyPart, "_require", "not all(map(is_near, worst)) or ", "", behind_the_greatest, sanitized
    ),
    "registers: no place overlaps another": AutomaticStep(
        scalar_replacement._AccessSearch, "fits", "apart and ", "", overlapping, sanitized
    ),
    "registers: no task shares them": AutomaticStep(
        scalar_replacement._AccessSearch, "_access", "self._tasks[here] != tasks", "False", among_tasks, sanitized
    ),
    "registers: no lane that is left out is looked at": AutomaticStep(
        scalar_replacement._AccessSearch, "look", "used - own", "set()", first_lanes_of_a_row, sanitized
    ),
    "stores: components of a point are all read first": AutomaticStep(
        StoreEmitter, "_write", "if store is not first:", "if False:", exchanged, sanitized
    ),
    "stores in a row: what one writes is read anew": AutomaticStep(
        expr.SharedValues, "forget", "self._texts.pop(use, None)", "pass", summed, sanitized
    ),
    "strided loads: none is beyond the last lane": AutomaticStep(
        strided_loads, "load_every", "(lanes - 1) * (distance - 1)", "(distance - 1) * lanes", every_second, sanitized
    ),
    "strided loads: a block is read to its ends": AutomaticStep(
        strided_loads, "blocks", " and b + distance - 1 in known", "", every_second, sanitized
    ),
    "strided loads: a stride is that of channels": AutomaticStep(
        strided_loads, "load_strided", "stride == {k}", "stride >= {k}", column, sanitized
    ),
    "shared elements: neighbouring lanes are one apart": AutomaticStep(
        uses, "lanes_an_element", "stride is ir.ONE and ", "", three_quarters, sanitized
    ),
    "gathers: the sum of a row's place stays in int32": AutomaticStep(
        lane_ranges, "greatest_factor", "(most - max(high, 0)) // above", "most", far_rows, sanitized
    ),
    "gathers: bytes hold the places": AutomaticStep(uses, "_narrow", "fits(found, t)", "True", beyond_bytes, sanitized),
    "paired gathers: the two are in one row": AutomaticStep(
        pairs, "neighbours", "frozenset(form.terms.items())", "None", of_two_rows, sanitized
    ),
    "close gathers: registers hold what the lanes read": AutomaticStep(
        close, "registers_between", "rise // type.lanes() + 1", "1", thirds_by_four, sanitized
    ),
    "limits: they are the ends of the type": AutomaticStep(
        uses, "limited", "== to.range", "!= ()", nearly_bytes, sanitized
    ),
    "quotients: two products have the bits of every one": AutomaticStep(
        exact_quotients, "_parts", "if all(_is_right", "if True or all(_is_right", doubtful_quotients, sanitized
    ),
    "quotients: nothing loses digits": AutomaticStep(
        exact_quotients, "_asked", "if (__builtin_expect", "if (0 && __builtin_expect", tiny_quotients, sanitized
    ),
    "quotients: whole numbers lose none": AutomaticStep(
        exact_quotients, "_is_whole", "e.value.is_integer()", "True", tiny_quotients, sanitized
    ),
    "complements: the greatest number of the type": AutomaticStep(
        integer_idioms, "is_complement", "greatest.value == e.type.element_of().range[1]", "True", differences,
        sanitized,
    ),
    "narrow products: 16 bits hold the factors": AutomaticStep(
        integer_idioms, "is_narrow", "_SHORT.can_represent(inner.a.type.element_of())", "True", unsigned_products,
        sanitized,
    ),
}  # fmt: skip
