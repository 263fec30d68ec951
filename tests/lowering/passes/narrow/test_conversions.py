"""Floats that are certainly numbers of an integer type: what shows it, what doesn't, and that every value stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Intrinsic
from halide_core.ir.types import INT64, Float, Int
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.passes.narrow.conversions import use_float_ranges
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.dumps import after
from tests.support.interpreted import run_program

x, y = variables("x y")
Formula = Callable[[], hl.Expr]
BYTES = image(numbers((64,), np.uint8), "bytes")
REALS = image(
    np.concatenate([numbers((58,), np.float32), np.float32([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0])]), "reals"
)


def conversions(f: hl.Func) -> tuple[int, int]:
    """So many conversions of floats to integers are one operation, and so many take several."""
    stmt = after(f, "conversions")
    found = set(subexpressions(e for s in walk(stmt) if isinstance(s, ir.Store | ir.Let) for e in stmt_exprs(s)))
    one = [e for e in found if isinstance(e, ir.Call) and e.function is Intrinsic.TRUNCATED]
    casts = [e for e in found if isinstance(e, ir.Cast) and e.type.is_integer() and e.a.type.is_float()]
    return len(one), len(casts)


def fx() -> hl.Expr:
    return hl.f32(x)


def byte() -> hl.Expr:
    return hl.f32(BYTES[x])


def real() -> hl.Expr:
    return REALS[x]


SURE: dict[str, Formula] = {
    "of a coordinate": lambda: hl.i32(hl.floor(fx() * 0.37 - 0.5)),
    "of two coordinates": lambda: hl.i32(hl.round(0.96 * fx() - 0.28 * hl.f32(y))),
    "in float64": lambda: hl.i32(hl.f64(x) * hl.f64(0.7)),
    "of a wave": lambda: hl.i32(fx() + 9.5 * hl.sin(fx() * 0.1)),
    "of bytes": lambda: hl.u8(byte() * 0.99),
    "of the lesser of bytes": lambda: hl.i16(hl.min(byte(), 3.0 * byte()) - 77.25),
    "of a choice": lambda: hl.i32(hl.select(byte() > 9.0, fx(), -byte())),
    "of a clamp": lambda: hl.u8(hl.clamp(real(), 0.0, 255.0)),
    "of a clamp the other way round": lambda: hl.i16(hl.min(hl.max(real(), -32768.0), 32767.0)),
    "of what is above -1": lambda: hl.u8(byte() - 0.5),
    "of a root": lambda: hl.u8(hl.sqrt(byte())),
}
UNSURE: dict[str, Formula] = {
    "too far": lambda: hl.i32(fx() * 2.5),
    "too far for bytes": lambda: hl.u8(fx()),
    "of what may be NaN": lambda: hl.i32(real()),
    "of a quotient": lambda: hl.i32(fx() / byte()),
    "of a clamp that is wider": lambda: hl.u8(hl.clamp(real(), 0.0, 300.0)),
    "of a clamp by what may be NaN": lambda: hl.u8(hl.max(hl.min(real(), 255.0), real())),
    "below zero": lambda: hl.u8(byte() - 1.5),
    "without a sign in as many bits": lambda: hl.u32(byte()),
    "to int64 of fewer bits": lambda: hl.i64(byte()),
    "of a param": lambda: hl.i32(fx() * hl.Param(Float(32), "scale", 0.5)),
}


def of(formula: Formula) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = formula()
    return f


SCHEDULES: dict[str, Callable[[hl.Func], hl.Func]] = {
    "plain": lambda f: f,
    "vectors": lambda f: f.vectorize(x, 8),
    "shifted": lambda f: f.vectorize(x, 8, hl.TailStrategy.ShiftInwards).parallel(y),
    "guarded": lambda f: f.vectorize(x, 16, hl.TailStrategy.GuardWithIf),
    "tiles": lambda f: f.tile(x, y, hl.Var("xi"), hl.Var("yi"), 32, 4).vectorize(hl.Var("xi"), 16),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", SURE)
def test_ranges_show_it(name: str, schedule: str) -> None:
    one, several = conversions(SCHEDULES[schedule](of(SURE[name])))
    assert one > 0
    assert several == 0


@pytest.mark.parametrize("schedule", ["plain", "shifted"])
@pytest.mark.parametrize("name", UNSURE)
def test_nothing_shows_it(name: str, schedule: str) -> None:
    one, several = conversions(SCHEDULES[schedule](of(UNSURE[name])))
    assert one == 0
    assert several > 0


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [*SURE, *UNSURE])
def test_values_stay(name: str, schedule: str) -> None:
    """The interpreter, which looks at each number that is taken for one of the type, and compiled code."""
    assert_values_stay(SCHEDULES[schedule](of({**SURE, **UNSURE}[name])))


def assert_values_stay(f: hl.Func) -> None:
    wanted = f.evaluate([64, 3])
    for found in run_program(f, [(0, 64), (0, 3)], after="conversions").values():
        same(found, wanted)
    same(computed(f, [64, 3]), wanted)


UNREACHED: dict[str, Formula] = {
    "above": lambda: hl.max(hl.clamp(real(), 0.0, 1.0) * 9.0 + 0.5, 0.0),
    "below": lambda: hl.min(hl.clamp(real(), 0.0, 1.0) * 9.0 + 0.5, 9.75),
    "between": lambda: hl.clamp(byte() * 0.5, -0.5, 128.0),
    "of a coordinate": lambda: hl.max(fx() * 0.25, -(2.0**29)),
}
REACHED: dict[str, Formula] = {
    "by what may be NaN": lambda: hl.max(real() * 0.0, -1.0),
    "by what may be infinite": lambda: hl.min(hl.exp(byte()), 3e38),
    "by zeros of either sign": lambda: 1.0 / hl.max(hl.clamp(-real(), 0.0, 1.0) * -1.0 + 1.0, 0.0),
    "by the greatest": lambda: hl.min(byte() * 0.5, 127.25),
    "by the least": lambda: hl.max(byte() * 0.5 - 1.0, -0.5),
}


def limits(f: hl.Func) -> int:
    """The number of limits, but for those that a number is clamped by first."""
    stored = subexpressions(e for s in walk(after(f, "conversions")) if isinstance(s, ir.Store) for e in stmt_exprs(s))
    bounds = [e for e in stored if isinstance(e, ir.Binary) and e.op.value in ("min", "max") and e.type.is_float()]
    return sum(not isinstance(e.a, ir.Load) and not (isinstance(e.a, ir.Binary) and e.a in bounds) for e in bounds)


@pytest.mark.parametrize("schedule", ["plain", "shifted"])
@pytest.mark.parametrize("name", [*UNREACHED, *REACHED])
def test_limits_that_no_value_reaches_are_left_out(name: str, schedule: str) -> None:
    f = SCHEDULES[schedule](of({**UNREACHED, **REACHED}[name]))
    assert bool(limits(f)) == (name in REACHED)
    assert_values_stay(f)


TRUNCATED: dict[str, Formula] = {
    "of what has no sign": lambda: hl.min(hl.clamp(real(), 0.0, 1.0) * 9.0 + 0.5, 9.0),
    "of what may be negative": lambda: hl.clamp(real(), -0.9, 9.0),
    "of what may be negative, and a limit": lambda: hl.min(hl.clamp(real(), 0.0, 1.0) * 0.5 - 0.25, 0.125),
    "of a product by a negative number": lambda: hl.clamp(real(), 0.0, 1.0) * -0.5,
    "of a negative zero": lambda: hl.max(hl.min(real(), 9.0), -0.0),
}


@pytest.mark.parametrize("name", TRUNCATED)
def test_an_integer_has_no_negative_zero(name: str) -> None:
    """Nor has the float that is made of it."""
    f = hl.Func("f")
    f[x] = 1.0 / hl.f32(hl.i32(TRUNCATED[name]()))
    same(computed(f, [64]), f.evaluate([64]))
    same(computed(f.vectorize(x, 8), [64]), f.evaluate([64]))


@pytest.mark.parametrize("low", [-(2**30), 2**30 - 40])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_furthest_coordinates(schedule: str, low: int) -> None:
    f = SCHEDULES[schedule](of(SURE["of two coordinates"]))
    box = [(low, 40), (-low - 40, 3)]
    for found in run_program(f, box, after="conversions").values():
        same(found, f.evaluate(box))


def test_a_let_is_as_far_as_its_value_reaches() -> None:
    """A let hides the one of its variable before it."""
    let, v = partial(ir.Let, within=None), ir.Variable(Float(32), "v")
    coordinate = ir.cast(Float(32), ir.cast(Int(32), ir.Variable(INT64, "i")))
    stored = ir.Store("out", ir.ZERO, ir.cast(Int(32), ir.mul(v, ir.const(0.5, Float(32)))), False)
    found = use_float_ranges(ir.Block((let(v, coordinate), stored, let(v, ir.Load(Float(32), "in", ir.ZERO)), stored)))
    assert isinstance(found, ir.Block)
    kinds = [type(s.value) for s in found.stmts if isinstance(s, ir.Store)]
    assert kinds == [ir.Call, ir.Cast]


def test_an_int64_of_the_user_s_may_wrap() -> None:
    """A number from 0 on times 8 is negative where it wraps."""
    words = image(np.int64([0, 2**58, 2**60, 2**61 - 1, 2**62]), "words")
    f = hl.Func("f")
    f[x] = hl.u8(hl.f64(hl.clamp(words[x], 0, 2**61 - 1) * 8 / hl.i64(2**56)))
    assert conversions(f) == (0, 1)
    same(computed(f, [5]), np.uint8([0, 32, 0, 0, 0]))
