"""Three places know the range of an operator's values from its operands': each must hold every value there is.

The certificate's, the one that values are indexed by, and SMT-LIB's answer apart from each other on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis import constant_ranges, value_range
from halide_core.bounds.query import smtlib_terms
from halide_core.ir import BinaryOp, Field
from halide_core.ir.types import BOOL, INT32, Float, UInt
from halide_core.reference.scalar_ops import binary_function

Interval = tuple[int, int]
_INTERVALS = [(low, high) for low in range(-3, 5) for high in range(low, 5)]
_ARITHMETIC = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX]
FLOAT32 = Float(32)
_QUOTIENTS = [BinaryOp.DIV, BinaryOp.MOD]
_BITS = [BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR]


def _of_value(op: BinaryOp, a: Interval, b: Interval) -> tuple[float, float]:
    return value_range._binary(op, a, b, INT32)


_RANGES: dict[str, tuple[Callable[..., tuple[float, float]], list[BinaryOp]]] = {
    "claims": (constant_ranges.of_operator, [*_ARITHMETIC, *_QUOTIENTS]),
    "values": (_of_value, [*_ARITHMETIC, *_QUOTIENTS, *_BITS]),
    "smtlib": (smtlib_terms._of_operator, [*_ARITHMETIC, *_QUOTIENTS]),
}
CASES = [(name, op) for name, (_, ops) in _RANGES.items() for op in ops]


@pytest.mark.parametrize(("name", "op"), CASES)
def test_range_holds_every_value(name: str, op: BinaryOp) -> None:
    function = binary_function(op, INT32)
    for a, b in product(_INTERVALS, _INTERVALS):
        if op in (BinaryOp.SHL, BinaryOp.SHR) and b[0] < 0:
            continue
        values = [function(x, y) for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
        low, high = _RANGES[name][0](op, a, b)
        assert low <= min(values) <= max(values) <= high, (a, b)
        if op in (*_ARITHMETIC, BinaryOp.SHL, BinaryOp.SHR):
            assert (low, high) == (min(values), max(values)), (a, b)
        if op is BinaryOp.DIV:
            most = max(abs(a[0]), abs(a[1]))
            assert -most - 1 <= low <= high <= most + 1, (a, b)
        if op is BinaryOp.MOD:
            assert (low, high) == (0, max(abs(b[0]), abs(b[1]), 1) - 1), (a, b)


def test_range_of_a_quotient_by_what_is_positive_is_exact() -> None:
    for a, b in product(_INTERVALS, [(1, 1), (1, 4), (3, 3), (2, 5)]):
        values = [x // y for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
        assert _of_value(BinaryOp.DIV, a, b) == (min(values), max(values))
        low, high = constant_ranges.of_operator(BinaryOp.DIV, a, b)
        assert low == (a[0] // b[0] if a[0] < 0 else 0)
        assert high == max(a[1] // b[0], 0)


def test_range_of_a_quotient_without_signs_is_that_of_its_numerator() -> None:
    assert smtlib_terms._of_operator(BinaryOp.DIV, (2, 9), (0, 3)) == (0, 9)
    assert smtlib_terms._of_operator(BinaryOp.DIV, (-2, 9), (0, 3)) == (-2, 9)
    assert smtlib_terms._of_operator(BinaryOp.DIV, (2, 9), (-1, 3)) == (-10, 10)


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        (BinaryOp.SHL, (-1, 3), (0, 2), (-4, 12)),
        (BinaryOp.SHL, (2, 3), (1, 2), (4, 12)),
        (BinaryOp.SHR, (-5, 9), (0, 1), (-5, 9)),
        (BinaryOp.SHR, (3, 9), (1, 1), (0, 9)),
        (BinaryOp.SHR, (-9, -3), (1, 1), (-9, 0)),
        (BinaryOp.BIT_AND, (-9, 9), (0, 7), (0, 7)),
        (BinaryOp.BIT_OR, (0, 1), (0, 1), (-math.inf, math.inf)),
    ],
)
def test_range_of_bits_for_solvers(op: BinaryOp, a: Interval, b: Interval, wanted: tuple[float, float]) -> None:
    assert smtlib_terms._of_operator(op, a, b) == wanted


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        (BinaryOp.BIT_AND, (-9, 9), (0, 7), (0, 7)),
        (BinaryOp.BIT_AND, (0, 5), (-3, 7), (0, 5)),
        (BinaryOp.BIT_AND, (0, 5), (1, 3), (0, 3)),
        (BinaryOp.BIT_AND, (-9, 9), (-1, 7), value_range.EVERYTHING),
        (BinaryOp.BIT_OR, (0, 5), (0, 8), (0, 15)),
        (BinaryOp.BIT_XOR, (0, 0), (0, 0), (0, 0)),
        (BinaryOp.BIT_OR, (-1, 5), (0, 8), value_range.EVERYTHING),
        (BinaryOp.BIT_OR, (0, 5), (-1, 8), value_range.EVERYTHING),
        (BinaryOp.SHL, (1, 1), (0, 31), (1, 1 << 31)),
        (BinaryOp.SHL, (1, 1), (0, 32), value_range.EVERYTHING),
        (BinaryOp.SHL, (1, 1), (-1, 3), value_range.EVERYTHING),
        (BinaryOp.SHR, (64, 64), (0, 6), (1, 64)),
        (BinaryOp.SHR, (64, 64), (-1, 6), value_range.EVERYTHING),
        (BinaryOp.ADD, (0, math.inf), (0, 1), value_range.EVERYTHING),
        (BinaryOp.ADD, (0, 1), (0, math.inf), value_range.EVERYTHING),
        (BinaryOp.MIN, (0, math.inf), (3, 4), (0, 4)),
        (BinaryOp.MOD, (-math.inf, math.inf), (3, 4), (0, 3)),
        (BinaryOp.LT, (0, 3), (3, 4), (0, 1)),
        (BinaryOp.AND, (0, 1), (0, 1), (0, 1)),
    ],
)
def test_range_of_values(
    op: BinaryOp, a: tuple[float, float], b: tuple[float, float], wanted: tuple[float, float]
) -> None:
    assert value_range._binary(op, a, b, INT32) == wanted


@pytest.mark.parametrize(
    ("op", "wanted"), [(BinaryOp.ADD, (-1.0, 6.0)), (BinaryOp.SUB, (-5.0, 2.0)), (BinaryOp.MUL, (-4.0, 8.0))]
)
def test_range_of_floats_is_wider_by_what_rounding_takes(op: BinaryOp, wanted: tuple[float, float]) -> None:
    low, high = value_range._binary(op, (-1.0, 2.0), (0.0, 4.0), FLOAT32)
    slack = 2.0**-18
    assert wanted[0] - 2 * slack <= low < wanted[0]
    assert wanted[1] < high <= wanted[1] + 2 * slack


def test_range_of_a_minimum_of_floats_is_any_where_an_operand_may_be_no_number() -> None:
    assert value_range._binary(BinaryOp.MIN, (0.0, math.inf), (3.0, 4.0), FLOAT32) == value_range.EVERYTHING
    assert value_range._binary(BinaryOp.MIN, (0.0, 9.0), (3.0, 4.0), FLOAT32) == (0.0, 4.0)
    assert value_range._binary(BinaryOp.DIV, (0.0, 9.0), (0.0, 4.0), FLOAT32) == value_range.EVERYTHING


@pytest.mark.parametrize("op", [BinaryOp.ADD, BinaryOp.MUL, BinaryOp.DIV])
@pytest.mark.parametrize(
    "ends", [((0.0, 9.0), (3.0, 4.0)), ((-2.0, 5.0), (-0.5, -0.1)), ((0.0, 1e-44), (0.3, 7e5))]
)
def test_range_of_floats_holds_what_machines_compute(op: BinaryOp, ends: tuple[tuple[float, float], ...]) -> None:
    a, b = ends
    rng = np.random.default_rng(1)
    low, high = value_range._binary(op, a, b, FLOAT32)
    xs, ys = (np.float32(np.concatenate([rng.uniform(*each, 500), each])) for each in ends)
    with np.errstate(all="ignore"):
        function = {BinaryOp.ADD: np.add, BinaryOp.MUL: np.multiply, BinaryOp.DIV: np.divide}[op]
        values = function.outer(xs, ys)
    assert low <= values.min() <= values.max() <= high
    if a[0] >= 0 and b[0] >= 0:
        assert low >= 0
    assert high - low <= 1e-4 * max(abs(low), abs(high)) + 1.01 * float(np.ptp(values)) + 1e-29


def inferred(coordinate: Callable[[hl.ImageParam], hl.Expr]) -> tuple[int, int]:
    """What of a table is read at a coordinate made of bytes: its first and its last point."""
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
