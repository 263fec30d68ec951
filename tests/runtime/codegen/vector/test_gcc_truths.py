"""Conditions as places in memory: gcc's vectorizer must not take them for masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Select
from halide_core.ir.types import BOOL, INT32
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.gcc_truths import is_condition

x = hl.Var("x")
n = hl.Param(hl.Int(32), "n", 3)
TYPES = [(hl.Float(32), hl.Float(32)), (hl.Int(32), hl.Int(32)), (hl.UInt(8), hl.UInt(8))]


def promised(place: hl.Expr) -> hl.Expr:
    """A place in the table, of which gcc does not see that it is one."""
    return hl.unsafe_promise_clamped(place, 0, 4)


PLACES: dict[str, Callable[[hl.Expr], hl.Expr]] = {
    "a comparison": lambda v: hl.i32(v > 9),
    "the other way round": lambda v: 1 - hl.i32(v > 9),
    "a byte": lambda v: hl.i32(hl.u8(v > 9)),
    "a choice": lambda v: hl.select(v > 9, 1, 0),
    "of 0 and 1": lambda v: hl.select(v > 9, 0, 1),
    "of neighbours": lambda v: hl.select(v > 9, 5, 4),
    "of a Param": lambda v: hl.select(v > 9, n + 1, n),
    "a truth value": lambda v: hl.i32(hl.cast(hl.Bool(), v)),
    "a quotient": lambda v: promised(hl.i32(v) // hl.i32(v)),
    "of what is never 0": lambda v: promised((hl.i32(v) + 1) // (hl.i32(v) + 1)),
    "its last bit": lambda v: promised((hl.i32(v) // hl.i32(v)) & 1),
    "a rest": lambda v: promised(1 % hl.i32(v)),
    "of what the condition says": lambda v: promised(hl.select(v == 1, hl.i32(v), 0)),
    "of what it leaves": lambda v: promised(hl.select(v != 0, 1, hl.i32(v))),
    "of a byte that is none": lambda v: promised(hl.select(hl.u8(v) > 0, 1, hl.u8(v))),
    "of neighbours by what one is": lambda v: promised(hl.select(v == 5, hl.i32(v) - 4, 0)),
    "a quarter of a choice": lambda v: hl.select(v > 9, 4, 0) // 4,
    "the last bit of one": lambda v: hl.select(v > 9, 255, 0) & 1,
    "both": lambda v: hl.i32((v > 9) & (v < 40)),
}


@pytest.mark.parametrize("types", TYPES)
def test_what_is_looked_up_by_a_condition_is_what_is_there(types: tuple[hl.Type, hl.Type]) -> None:
    """No schedule: gcc makes vectors of these loops."""
    image, table = hl.ImageParam(types[0], 1, "image"), hl.ImageParam(types[1], 1, "table")
    image.set(hl.Buffer(np.random.default_rng(0).integers(0, 60, 45).astype(types[0].dtype)))
    table.set(hl.Buffer(np.arange(5, 25).astype(types[1].dtype)))
    for name, place in PLACES.items():
        f, g, s = hl.Func("f"), hl.Func("g"), hl.Func("s")
        f[x] = table[place(image[x])]
        s[x] = hl.cast(types[1], x * 7 + 5)
        g[x] = s[place(image[x])]
        s.compute_root()
        for each in (f, g):
            np.testing.assert_array_equal(each.realize([45]), each.evaluate([45]), err_msg=name)


@pytest.mark.parametrize("types", TYPES)
def test_what_a_condition_put_into_a_local_variable_is_looked_up(types: tuple[hl.Type, hl.Type]) -> None:
    image, table = hl.ImageParam(types[0], 1, "image"), hl.ImageParam(types[1], 1, "table")
    image.set(hl.Buffer(np.random.default_rng(0).integers(0, 3, 45).astype(types[0].dtype)))
    table.set(hl.Buffer(np.arange(5, 25).astype(types[1].dtype)))
    for of_image in (False, True):
        f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 1)], "r")
        r.where(image[x + r] == 1)
        g[x] = 0
        g[x] = hl.i32(image[x + r]) if of_image else r * 0 + 1
        f[x] = table[hl.clamp(g[x], 0, 4)]
        g.compute_at(f, x)
        np.testing.assert_array_equal(f.realize([45]), f.evaluate([45]))


def test_numbers_of_conditions_that_are_no_places_are_left_to_gcc() -> None:
    f = hl.Func("f")
    f[x] = hl.u8(hl.f32(x) * 0.5 > 3.0)
    assert "hidden" not in emit_c(lower(f._request()))
    s = hl.Func("s")
    s[x] = x * 3
    s.compute_root()
    f = hl.Func("f")
    f[x] = s[hl.i32(hl.f32(x) * 0.5 > 3.0)]
    assert "hidden_i64(" in emit_c(lower(f._request()))


def test_choices_of_integers_that_are_one_apart() -> None:
    c, a = ir.Variable(BOOL, "c"), ir.Variable(INT32, "a")
    one = ir.const(1, INT32)
    assert is_condition(Select(INT32, c, ir.add(a, one), a))
    assert is_condition(Select(INT32, c, ir.const(7, INT32), ir.const(8, INT32)))
    assert not is_condition(Select(INT32, c, ir.const(7, INT32), ir.const(9, INT32)))
    assert not is_condition(Select(INT32, c, a, one))


def test_loops_that_look_nothing_up_hide_nothing() -> None:
    """A choice is one to gcc there; what it decides is hidden where it is loaded to be a place."""
    source, table = hl.ImageParam(hl.Int(32), 1, "source"), hl.ImageParam(hl.Float(32), 1, "table")
    chosen, copied, f = hl.Func("chosen"), hl.Func("copied"), hl.Func("f")
    chosen[x] = hl.select(source[x] > 9, 1, 0)
    copied[x] = chosen[x] + source[x] * 0
    f[x] = table[hl.clamp(copied[x], 0, 3)]
    chosen.compute_root()
    copied.compute_root()
    text = emit_c(lower(f._request()))
    stores = [line.split("] = ") for line in text.splitlines() if "] = " in line]
    (made,), (taken,), (looked_up,) = (
        [value for place, value in stores if place.lstrip().startswith(f"{name}[")]
        for name in ("chosen", "copied", "f_data")
    )
    assert "hidden" not in made and "hidden" not in taken
    assert "hidden_i64(copied[" in looked_up


def test_what_is_computed_where_there_is_anything_to_compute_is_decided_by_no_condition() -> None:
    """The whole program stands behind an ``if``, which asks whether the output is empty."""
    source = hl.ImageParam(hl.Float(32), 1, "source")
    level, table, f = hl.Func("level"), hl.Func("table"), hl.Func("f")
    level[x] = hl.u8(hl.clamp(source[x], 0.0, 255.0))
    table[x] = x * 3
    f[x] = table[level[x]]
    level.compute_root()
    table.compute_root()
    lowered = lower(f._request())
    assert any(isinstance(s, ir.If) for s in walk(lowered.body))
    assert "hidden" not in emit_c(lowered)
