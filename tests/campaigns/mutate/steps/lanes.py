"""Vectors: guards, memory and places of lanes: what each step rests on.

In: nothing. Out: LANES, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.lowering.passes.vectorize import (
    first_lanes,
    gather_address,
    interchange,
    interleave,
    reduction_match,
    vectorize,
)
from tests.campaigns.mutate.steps.judges import Made
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, y


def every_second_twice() -> Made:
    """Lanes in pairs at places that are two apart from the next pair's."""
    f = hl.Func("f")
    f[x] = image()[2 * (x / 2) + 3 * (x % 2), 0]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def lanes_guarded() -> Made:
    f = hl.Func("f")
    r = hl.RDom([(0, 3)], "r")
    r.where(r.x * 2 < x)
    f[x] = 0
    f[x] += r.x + 1
    f.update(0).vectorize(x, 4, Tail.GuardWithIf)
    return f, [(0, 7)]


def lanes_apart() -> Made:
    """Every second element is stored, as far as a row goes."""
    f, r = hl.Func("f"), hl.RDom([(0, hl.Param(hl.Int(32), "n", 7))], "r")
    f[x] = 0
    f[2 * r.x] = r.x + 1
    f.update(0).vectorize(r.x, 4, Tail.GuardWithIf)
    return f, [(0, 14)]


def lanes_of_a_row() -> Made:
    im, f = image(), hl.Func("f")
    f[x, y] = im[x, y] + 1
    f.vectorize(x, 4, Tail.GuardWithIf)
    return f, [(0, 7), (0, 2)]


def lanes_of_memory() -> Made:
    """Vectors go through an inline reduction's loop in step, each with memory of its own."""
    im, f, near = image(160), hl.Func("f"), hl.RDom([(0, 3)], "near")
    f[x, y] = hl.maximum(near, im[x + near.x, y])
    f.vectorize(x, 2 * hl.get_host_target().natural_vector_size(hl.Int(32)))
    return f, [(-4, 64), (0, 1)]


def lanes_that_stop() -> Made:
    """Vectors that are made of several, each of which goes through a reduction as far as its own number says."""
    f, r, lanes = hl.Func("f"), hl.RDom([(0, 3)], "r"), hl.get_host_target().natural_vector_size(hl.Int(32))
    r.where(r.x < x / lanes)
    f[x] = 0
    f[x] += r.x + 1
    f.bound(x, 0, 4 * lanes)
    f.update(0).vectorize(x, 2 * lanes)
    return f, [(0, 4 * lanes)]


def taken_away() -> Made:
    """Subtractions of lanes from one element, all at once."""
    im, f, r = image(), hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x] = 0
    f[x] -= im[r.x, x]
    f.update(0).atomic().vectorize(r.x, 8)
    return f, [(0, 3)]


def far_lanes() -> Made:
    """Places whose first lane int32 holds, and whose last lane it does not."""
    at, im, f, least = image(), hl.ImageParam(hl.Int(32), 2, "far"), hl.Func("f"), 2**31 - 48
    buffer = hl.Buffer(np.arange(24 * 24, dtype=np.int32).reshape(24, 24))
    buffer.set_min([least, 0])
    im.set(buffer)
    im.dim(1).set_stride(24)
    f[x] = im[hl.clamp(at[x, 0] + least - 40, least, least + 23), x]
    f.vectorize(x, 4)
    return f, [(0, 8)]


def limits_of_large_numbers() -> Made:
    """Places that are kept below an int64 Param near its type's end, and then moved."""
    at, most, table, f = image(), hl.Param(hl.Int(64), "most", 2**63 - 1), hl.Func("table"), hl.Func("f")
    table[x] = x * 3
    f[x] = table[hl.clamp(hl.i32(hl.clamp(hl.i64(hl.u8(at[x, 0])), 0, most)) + 7, 0, 200)]
    table.compute_root()
    f.vectorize(x, 4)
    return f, [(0, 8)]


def two_in_an_element() -> Made:
    """Two steps of the inner reduction meet in one element: their order with the outer one's steps counts."""
    f, r = hl.Func("f"), hl.RDom([(0, 4), (0, 3)], "r")
    f[x, y] = x
    f[x, r.x / 2] = f[x, r.x / 2] * 3 + image()[x + r.y, r.x]
    f.update(0).reorder(x, r.x, r.y).vectorize(x, 4)
    return f, [(0, 8), (0, 2)]


def some_steps() -> Made:
    """Steps of which the reduction itself says whether they are taken."""
    f, r = hl.Func("f"), hl.RDom([(0, 5)], "r")
    r.where(r.x * 7 % 5 < 3)
    f[x, y] = x
    f[x, y] = f[x, y] * 3 + image()[x + r.x, y]
    f.update(0).reorder(x, r.x, y).vectorize(x, 4)
    return f, [(0, 8), (0, 2)]


def until_it_is_much() -> Made:
    """Steps that end where what they made is enough."""
    f, r = hl.Func("f"), hl.RDom([(0, 5)], "r")
    f[x, y] = x
    r.where(f[x, y] < 100)
    f[x, y] = f[x, y] * 3 + image()[x + r.x, y]
    f.update(0).reorder(x, r.x, y).vectorize(x, 4)
    return f, [(0, 8), (0, 2)]


LANES: dict[str, AutomaticStep] = {
    "interchange: iterations have no order": AutomaticStep(
        interchange, "_with_inside", "For(pure=True, ", "For(", two_in_an_element
    ),
    "interchange: no step moves what decides": AutomaticStep(
        interchange, "_is_the_same", "not moved and", "", some_steps
    ),
    "interchange: no step writes what decides": AutomaticStep(
        interchange, "_is_the_same", "Access, *SAYING", "*SAYING", until_it_is_much
    ),
    "vectors: a guard holds for all lanes": AutomaticStep(vectorize, "_for_all_lanes", "lanes - 1", "0", lanes_guarded),
    "first lanes: no others pass": AutomaticStep(
        first_lanes, "passing_lanes", "int(op is BinaryOp.LE)", "1", lanes_of_a_row
    ),
    "first lanes: the others are left out of all": AutomaticStep(
        first_lanes, "may_leave_lanes_out", "not _is_dense(s.index, lanes)", "False", lanes_apart
    ),
    "in step: each vector has its own memory": AutomaticStep(
        vectorize._FindLoops, "_vectors", "own_memory(body, self._names)", "body", lanes_of_memory
    ),
    "in step: loops are the same": AutomaticStep(
        interleave,
        "_same_loop",
        "b.bounds.min is a.bounds.min and b.bounds.len is a.bounds.len",
        "True",
        lanes_that_stop,
    ),
    "lanes of one element: they are combined first": AutomaticStep(
        reduction_match, "accumulation", "_COMBINED[op], new", "op, new", taken_away
    ),
    "gathers: places that int32 holds in all lanes": AutomaticStep(
        gather_address, "narrow_lanes", "high + max(far, 0) > INT32.range[1]", "False", far_lanes
    ),
    "gathers: limits in int32 are those of int64": AutomaticStep(
        gather_address, "_limited", "form.const and ", "False and ", limits_of_large_numbers
    ),
    "pairs of lanes: two lanes on is so many elements on": AutomaticStep(
        gather_address, "pairs_of_lanes", "return moved, ", "return 1, ", every_second_twice
    ),
}
