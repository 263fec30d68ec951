"""The ranges of operators hold every value that there is: all domains of constants take them from one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis import constant_ranges
from halide_core.analysis.interval import EVERYTHING, of_floats, of_integers, to_float, truncated
from halide_core.ir import BinaryOp, Field
from halide_core.ir.types import BOOL, INT32, INT64, Float, UInt
from halide_core.reference.scalar_ops import binary_function

Interval = tuple[int, int]
_INTERVALS = [(low, high) for low in range(-3, 5) for high in range(low, 5)]
_ARITHMETIC = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX]
FLOAT32 = Float(32)
_QUOTIENTS = [BinaryOp.DIV, BinaryOp.MOD]
_BITS = [BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR]


@pytest.mark.parametrize("op", [*_ARITHMETIC, *_QUOTIENTS, *_BITS])
def test_range_holds_every_value(op: BinaryOp) -> None:
    function = binary_function(op, INT32)
    for a, b in product(_INTERVALS, _INTERVALS):
        if op in (BinaryOp.SHL, BinaryOp.SHR) and b[0] < 0:
            continue
        values = [function(x, y) for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
        low, high = of_integers(op, a, b)
        assert low <= min(values) <= max(values) <= high, (a, b)
        if op in (*_ARITHMETIC, BinaryOp.DIV, BinaryOp.SHL, BinaryOp.SHR):
            assert (low, high) == (min(values), max(values)), (a, b)
        if op is BinaryOp.MOD:
            assert (low, high) == (0, max(abs(b[0]), abs(b[1]), 1) - 1), (a, b)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ((-math.inf, 5), (2, 4), (-math.inf, 2)),
        ((-math.inf, math.inf), (3, 3), EVERYTHING),
        ((-7, 9), (2, math.inf), (-4, 4)),
        ((0, math.inf), (0, math.inf), (0, math.inf)),
        ((2, 9), (-1, 3), (-9, 9)),
        ((-math.inf, 3), (-2, -1), (-3, math.inf)),
        ((2, 9), (0, 0), (0, 0)),
        ((2, 9), (1, 0), EVERYTHING),  # there is no such divisor
    ],
)
def test_range_of_a_quotient_of_what_is_unbounded(
    a: tuple[float, float], b: tuple[float, float], wanted: tuple[float, float]
) -> None:
    assert of_integers(BinaryOp.DIV, a, b) == wanted


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        (BinaryOp.BIT_AND, (-9, 9), (0, 7), (0, 7)),
        (BinaryOp.BIT_AND, (0, 5), (-3, 7), (0, 5)),
        (BinaryOp.BIT_AND, (0, 5), (1, 3), (0, 3)),
        (BinaryOp.BIT_AND, (-9, 9), (-1, 7), EVERYTHING),
        (BinaryOp.BIT_OR, (0, 5), (0, 8), (0, 15)),
        (BinaryOp.BIT_XOR, (0, 0), (0, 0), (0, 0)),
        (BinaryOp.BIT_OR, (-1, 5), (0, 8), EVERYTHING),
        (BinaryOp.BIT_OR, (0, 5), (-1, 8), EVERYTHING),
        (BinaryOp.SHL, (1, 1), (0, 31), (1, 1 << 31)),
        (BinaryOp.SHL, (1, 1), (0, 32), EVERYTHING),
        (BinaryOp.SHL, (1, 1), (-1, 3), EVERYTHING),
        (BinaryOp.SHR, (64, 64), (0, 6), (1, 64)),
        (BinaryOp.SHR, (64, 64), (-1, 6), EVERYTHING),
        (BinaryOp.ADD, (0, math.inf), (0, 1), (0, math.inf)),
        (BinaryOp.SUB, (0, 1), (0, math.inf), (-math.inf, 1)),
        (BinaryOp.MUL, (0, math.inf), (0, 0), (0, 0)),
        (BinaryOp.BIT_OR, (0, math.inf), (0, 1), EVERYTHING),
        (BinaryOp.SHR, (-math.inf, 9), (1, math.inf), (-math.inf, 4)),
        (BinaryOp.MIN, (0, math.inf), (3, 4), (0, 4)),
        (BinaryOp.MOD, (-math.inf, math.inf), (3, 4), (0, 3)),
        (BinaryOp.LT, (0, 3), (3, 4), (0, 1)),
        (BinaryOp.AND, (0, 1), (0, 1), (0, 1)),
    ],
)
def test_range_of_values(
    op: BinaryOp, a: tuple[float, float], b: tuple[float, float], wanted: tuple[float, float]
) -> None:
    assert of_integers(op, a, b, 32) == wanted


@pytest.mark.parametrize("op", [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL])
def test_range_of_floats_is_wider_by_what_rounding_takes(op: BinaryOp) -> None:
    a, b = (-1.1, 2.1), (0.15, 4.1)
    found = of_floats(op, a, b)
    assert found is not None
    for end, moved, outwards in zip(of_integers(op, a, b), found, (-1, 1), strict=True):
        assert 0 < (moved - end) * outwards <= 2.0**-18


def test_ends_that_are_floats_are_kept() -> None:
    assert of_floats(BinaryOp.ADD, (-1.0, 2.0), (0.0, 4.0)) == (-1.0, 6.0)
    assert of_floats(BinaryOp.MUL, (0.0, 1e-44), (0.0, 1e-3)) == (0.0, pytest.approx(0, abs=2e-36))
    assert to_float((-5, 1 << 24), INT32, FLOAT32) == (-5, 1 << 24)
    assert to_float((0, (1 << 24) + 1), INT32, FLOAT32) == (0, pytest.approx(1 << 24, abs=8))
    assert to_float((0, math.inf), INT32, FLOAT32) is None


def test_range_of_a_truncated_float() -> None:
    assert truncated((-1.5, 2.5), INT32) == (-1, 2)
    assert truncated((-1.5, 1e20), INT32) == (-1, INT32.range[1])
    assert truncated(None, INT32) == truncated(EVERYTHING, INT32) == INT32.range, "a NaN is 0"


def test_range_of_a_minimum_of_floats_is_any_where_an_operand_may_be_no_number() -> None:
    assert of_floats(BinaryOp.MIN, (0.0, math.inf), (3.0, 4.0)) is None
    assert of_floats(BinaryOp.MIN, (0.0, 9.0), (3.0, 4.0)) == (0.0, 4.0)
    assert of_floats(BinaryOp.DIV, (0.0, 9.0), (0.0, 4.0)) is None
    assert of_floats(BinaryOp.ADD, (0.0, 9e36), (0.0, 9e36)) is None, "it may be infinite"


@pytest.mark.parametrize("op", [BinaryOp.ADD, BinaryOp.MUL, BinaryOp.DIV])
@pytest.mark.parametrize("ends", [((0.0, 9.0), (3.0, 4.0)), ((-2.0, 5.0), (-0.5, -0.1)), ((0.0, 1e-44), (0.3, 7e5))])
def test_range_of_floats_holds_what_machines_compute(op: BinaryOp, ends: tuple[tuple[float, float], ...]) -> None:
    a, b = ends
    rng = np.random.default_rng(1)
    found = of_floats(op, a, b)
    assert found is not None
    low, high = found
    xs, ys = (np.float32(np.concatenate([rng.uniform(*each, 500), each])) for each in ends)
    with np.errstate(all="ignore"):
        function = {BinaryOp.ADD: np.add, BinaryOp.MUL: np.multiply, BinaryOp.DIV: np.divide}[op]
        values = function.outer(xs, ys)
    assert low <= values.min() <= values.max() <= high
    if a[0] >= 0 and b[0] >= 0:
        assert low >= 0
    assert high - low <= 1e-4 * max(abs(low), abs(high)) + 1.01 * float(np.ptp(values)) + 1e-29


def inferred(coordinate: Callable[[hl.ImageParam], hl.Expr]) -> tuple[int, int]:
    """The region of a table that is read at a coordinate made of bytes: its first and its last point."""
    x, image, table, f = hl.Var("x"), hl.ImageParam(hl.UInt(8), 1), hl.ImageParam(hl.Int(32), 1), hl.Func("f")
    f[x] = table[hl.i32(coordinate(image))]
    f.infer_input_bounds([4])
    side = table.get().dim(0)
    return side.min(), side.max()


def test_regions_by_functions_of_floats() -> None:
    x = hl.Var("x")
    assert inferred(lambda im: hl.sqrt(hl.f32(im[x]))) == (0, 15)
    assert inferred(lambda im: hl.hypot(hl.f32(im[x]), hl.f32(im[x + 1]))) == (0, 360)
    assert inferred(lambda im: hl.floor(hl.f32(im[x]) / 3)) == (0, 85)
    assert inferred(lambda im: hl.abs(hl.i16(im[x]) - 100)) == (0, 155)


@pytest.mark.parametrize("value", [2.5, -7.0])
def test_region_by_a_float_param(value: float) -> None:
    p, image = hl.Param(hl.Float(32), "p", value), hl.ImageParam(hl.Int(32), 1)
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = image[x + hl.i32(hl.ceil(p * 2))]
    f.infer_input_bounds([4])
    assert (image.get().dim(0).min(), image.get().dim(0).extent()) == (int(np.ceil(value * 2)), 4)
    image.get().fill(3)
    assert np.asarray(f.realize([4])).tolist() == f.evaluate([4]).tolist() == [3] * 4
    p.set(2e9)
    with pytest.raises(hl.PipelineError, match="int32"):
        f.realize([4])


@pytest.mark.parametrize(
    ("field", "wanted"), [(Field.EXTENT, (0, INT32.range[1])), (Field.MIN, INT32.range), (Field.STRIDE, INT32.range)]
)
def test_range_of_a_buffers_field(field: Field, wanted: Interval) -> None:
    f = hl.Func("f")
    f[hl.Var("x")] = 0
    assert constant_ranges.ConstantRanges({}).of(ir.BufferField(INT32, f.function, field, 0)) == wanted


def test_range_of_what_was_converted() -> None:
    ranges = constant_ranges.ConstantRanges()
    byte = ir.Variable(UInt(8), "b")
    assert ranges.of(ir.Cast(INT32, byte)) == (0, 255)
    assert ranges.of(ir.Cast(UInt(8), ir.i64(7))) == (7, 7)
    assert ranges.of(ir.Cast(INT32, ir.Variable(BOOL, "p"))) == (0, 1)
    assert ranges.of(ir.Cast(INT32, ir.Cast(FLOAT32, byte))) == INT32.range, "floats have no range here"
    assert ranges.of(ir.Cast(FLOAT32, byte)) == (-math.inf, math.inf)


@pytest.mark.parametrize("more", [-2, 0, 3])
@pytest.mark.parametrize("type", [INT64, INT32], ids=str)
def test_range_of_what_is_rounded_to_a_divisor_holds_every_value(more: int, type: ir.Type) -> None:
    """``(x/d + more)*d`` is near ``x``, however great the quotient and the divisor may be one by one."""
    x, d = ir.Variable(type, "x"), ir.Variable(type, "d")
    rounded = ir.mul(ir.add(ir.div(x, d), ir.const(more, type)), d)
    turned = ir.mul(d, ir.add(ir.div(x, d), ir.const(more, type)))
    for over, by in product(_INTERVALS, [each for each in _INTERVALS if each[0] > 0]):
        values = [(a // b + more) * b for a in range(over[0], over[1] + 1) for b in range(by[0], by[1] + 1)]
        for e in (rounded, turned):
            low, high = constant_ranges.ConstantRanges({x: over, d: by}).of(e)
            assert low <= min(values) <= max(values) <= high, (over, by)
    far = constant_ranges.ConstantRanges({x: (0, 1 << 29), d: (1, 1 << 29)}).of(rounded)
    assert -(1 << 31) <= far[0] <= far[1] <= 1 << 31
    assert constant_ranges.ConstantRanges({x: (0, 9), d: (0, 9)}).of(rounded) == of_integers(
        BinaryOp.MUL, (more, 9 + more), (0, 9)
    )


def test_range_of_a_multiple_of_a_sum_that_wraps_is_that_of_its_type() -> None:
    x, d = (ir.Variable(INT32, name) for name in ("x", "d"))
    beyond = ir.add(ir.div(x, d), ir.const(INT32.range[1], INT32))
    assert constant_ranges.ConstantRanges({x: INT32.range, d: (1, 1)}).of(ir.mul(beyond, d)) == INT32.range


@pytest.mark.parametrize("op", [BinaryOp.MIN, BinaryOp.MAX])
def test_range_of_the_lesser_of_two_that_are_rounded_holds_every_value(op: BinaryOp) -> None:
    x, y, d = (ir.index_variable(name) for name in "xyd")
    least = ir.mul(ir.binary(op, ir.div(x, d), ir.add(y, ir.ONE)), d)
    choose = min if op is BinaryOp.MIN else max
    for over, by in product(_INTERVALS, _INTERVALS):
        divisors = range(by[0], by[1] + 1)
        values = [choose(a // b if b else 0, -1) * b for a in range(over[0], over[1] + 1) for b in divisors if b >= 0]
        low, high = constant_ranges.ConstantRanges({x: over, y: (-2, -2), d: by}).of(least)
        assert not values or low <= min(values) <= max(values) <= high, (over, by)
    high = constant_ranges.ConstantRanges({x: (0, 1 << 29), y: (0, 1 << 40), d: (1, 1 << 31)}).of(least)[1]
    assert (high <= 1 << 29) == (op is BinaryOp.MIN)


def test_ranges_where_conditions_hold() -> None:
    x, y = ir.index_variable("x"), ir.index_variable("y")
    ranges = constant_ranges.ConstantRanges({x: (-5, 5), y: (-5, 5)})
    inside = ranges.where([ir.conjunction(ir.less(ir.ZERO, x), ir.less_equal(x, ir.i64(3))), ir.less_equal(y, x)])
    assert [inside.of(e) for e in (x, y, ir.mul(x, x))] == [(1, 3), (-5, 3), (1, 9)]
    assert ranges.of(ir.mul(x, x)) == (-25, 25)
    nowhere = ranges.where([ir.less(x, ir.ZERO), ir.less(ir.i64(9), x), ir.less(ir.ONE, y), ir.less(y, ir.ZERO)])
    assert [nowhere.of(e) for e in (x, y, ir.div(x, y))] == [(-5, -1), (2, 5), (-3, -1)]


@pytest.mark.parametrize("more", [-3, 0, 2])
def test_range_of_a_multiple_that_is_divided_again_holds_every_value(more: int) -> None:
    x, d = ir.index_variable("x"), ir.index_variable("d")
    two = ir.i64(2)
    near = ir.add(ir.mul(ir.div(ir.add(ir.mul(d, x), ir.ONE), two), two), ir.i64(more))
    for over, by in product(_INTERVALS, _INTERVALS):
        pairs = [(a, b) for a in range(over[0], over[1] + 1) for b in range(by[0], by[1] + 1)]
        values = [binary_function(BinaryOp.DIV, INT32)((a * b + 1) // 2 * 2 + more, b) for a, b in pairs]
        low, high = constant_ranges.ConstantRanges({x: over, d: by}).of(ir.div(near, d))
        assert low <= min(values) <= max(values) <= high, (over, by)
    low, high = constant_ranges.ConstantRanges({x: (0, 1 << 29), d: (0, 1 << 31)}).of(ir.div(near, d))
    assert -5 <= low <= high <= (1 << 29) + 4
