"""Ranges of values, by brute force: every value that an expression can have is inside, and an index made of it too."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Image
from halide_core.analysis import float_functions
from halide_core.analysis.interval import EVERYTHING
from halide_core.analysis.value_range import ValueRanges
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import Access, Binary, BinaryOp, Call, Cast, ExprNode, Intrinsic, Not, Select
from halide_core.ir.types import BOOL, INT32, Type
from halide_core.reference.scalar_ops import binary_function, call_function, cast_function
from tests.support.answered import cpu

TYPES = [hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(16), hl.Int(32), hl.UInt(32), hl.Float(32), hl.Float(64)]
INPUTS = {t: [Image(f"{t}_{i}", t, 0, UNKNOWN_LOCATION) for i in range(2)] for t in TYPES}
ODD_FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 255.5, -1.0, 3e9, -3e9, 1e30, math.inf, -math.inf, math.nan]
_CALLS = [
    Intrinsic.FLOOR, Intrinsic.CEIL, Intrinsic.ROUND, Intrinsic.TRUNC, Intrinsic.ABS, Intrinsic.SQRT, Intrinsic.EXP,
    Intrinsic.LOG, Intrinsic.SIN, Intrinsic.COS, Intrinsic.ATAN, Intrinsic.TANH,
]  # fmt: skip


class _Draw:
    """Random well-typed expressions over the inputs."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def expr(self, type: Type, depth: int) -> ExprNode:
        r = self.rng
        if depth == 0 or r.random() < 0.15:
            return self._leaf(type)
        match r.randint(0, 7 if type.is_float() else 6):
            case 0:
                return Cast(type, self.expr(r.choice(TYPES), depth - 1))
            case 1:
                return Select(type, self.condition(depth - 1), self.expr(type, depth - 1), self.expr(type, depth - 1))
            case 2:
                low, high = self._constant(type), self._constant(type)
                return Binary(type, BinaryOp.MAX, Binary(type, BinaryOp.MIN, self.expr(type, depth - 1), high), low)
            case 3:
                return self._call(type, depth)
            case 7:  # of two that are no numbers the second counts
                op = r.choice([BinaryOp.MIN, BinaryOp.MAX])
                return Binary(type, op, self._constant(type), self.expr(type, depth - 1))
        ops = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX]
        if type.is_integer():
            ops += [BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR]
        op = r.choice(ops)
        if op in (BinaryOp.SHL, BinaryOp.SHR):
            return Binary(type, op, self.expr(type, depth - 1), ir.const(r.randint(-2, 9), hl.Int(type.bits())))
        b = self._constant(type) if r.random() < 0.4 else self.expr(type, depth - 1)
        return Binary(type, op, self.expr(type, depth - 1), b)

    def condition(self, depth: int) -> ExprNode:
        r = self.rng
        type = r.choice(TYPES)
        op = r.choice([BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE])
        test: ExprNode = Binary(BOOL, op, self.expr(type, depth // 2), self.expr(type, depth // 2))
        return Not(BOOL, test) if r.random() < 0.2 else test

    def _leaf(self, type: Type) -> ExprNode:
        if self.rng.random() < 0.3:
            return self._constant(type)
        return Access(type, self.rng.choice(INPUTS[type]), (), 0, ir.LAST_STAGE)

    def _constant(self, type: Type) -> ExprNode:
        if type.is_float():
            return ir.const(self.rng.choice([0.0, 0.5, -1.5, 3.0, 100.25, -7.0, 1e-3]), type)
        low, high = type.range
        return ir.const(self.rng.choice([0, 1, 2, 3, 7, 16, 100, high, low, high // 2]), type)

    def _call(self, type: Type, depth: int) -> ExprNode:
        if type.is_float():
            return Call(type, self.rng.choice(_CALLS), (self.expr(type, depth - 1),))
        if type.is_uint():
            return Call(type, Intrinsic.ABS, (self.expr(hl.Int(type.bits()), depth - 1),))
        return self.expr(type, depth - 1)

    def inputs(self) -> dict[Image, Any]:
        return {image: self._value(t) for t in TYPES for image in INPUTS[t]}

    def _value(self, type: Type) -> Any:
        r = self.rng
        if type.is_float():
            return cast_function(hl.Float(64), type)(r.choice([*ODD_FLOATS, r.uniform(-300, 300)]))
        low, high = type.range
        return r.choice([low, high, 0, 1, high // 2, r.randint(low, high)])


def _value(e: ExprNode, inputs: Mapping[Image, Any]) -> Any:
    match e:
        case ir.IntImm() | ir.FloatImm():
            return e.value
        case Access(callee=callee):
            assert isinstance(callee, Image)
            return inputs[callee]
        case Cast(a=a, type=type):
            return cast_function(a.type, type)(_value(a, inputs))
        case Select(condition=condition, a=a, b=b):
            return _value(a if _value(condition, inputs) else b, inputs)
        case Not(a=a):
            return not _value(a, inputs)
        case Call(function=function, args=(a,), type=type):
            return call_function(function, a.type, type)(_value(a, inputs))
        case Binary(op=op, a=a, b=b):
            return binary_function(op, a.type)(_value(a, inputs), _value(b, inputs))
    raise AssertionError(e)


@settings(max_examples=700)
@given(st.integers(0, 1 << 40))
@example(0)
def test_range_holds_every_value(seed: int) -> None:
    draw = _Draw(seed)
    e = draw.expr(draw.rng.choice(TYPES), draw.rng.randint(1, 4))
    low, high = ValueRanges().of(e)
    least, most = ValueRanges().numbers(e) if e.type.is_float() else (low, high)
    for _ in range(30):
        inputs = draw.inputs()
        found = _value(e, inputs)
        if e.type.is_float():
            first, last = ValueRanges().converted(e, INT32)
            assert first <= cast_function(e.type, INT32)(found) <= last, (e, found, first, last)
        if math.isnan(found):
            assert (low, high) == EVERYTHING, (e, low, high)
        else:
            assert low <= found <= high, (e, found, low, high)
            assert least <= found <= most, (e, found, least, most)


# -- exact ranges that bounds hang on

x = hl.Var("x")
u8 = hl.ImageParam(hl.UInt(8), 1, "u8")
i8 = hl.ImageParam(hl.Int(8), 1, "i8")
f32 = hl.ImageParam(hl.Float(32), 1, "f32")


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (hl.i32(u8[x]), (0, 255)),
        (hl.i32(u8[x]) * 2 - hl.i32(i8[x]), (-127, 638)),
        (hl.i32(u8[x]) // 16, (0, 15)),
        (hl.i32(i8[x]) // 16, (-8, 7)),
        (hl.i32(i8[x]) % 16, (0, 15)),
        (hl.i32(i8[x]) >> 2, (-32, 31)),
        (hl.i32(u8[x]) & 15, (0, 15)),
        (hl.i32(u8[x] + u8[x + 1]), (0, 255)),
        (hl.u8(hl.i32(u8[x]) // 2), (0, 127)),
        (hl.u8(hl.i32(u8[x]) + 1), (0, 255)),
        (hl.clamp(hl.i32(f32[x]), -3, 12), (-3, 12)),
        (hl.i32(hl.clamp(f32[x], -3.5, 12.5)), (-3, 12)),
        (hl.i32(hl.f32(u8[x]) * 2.0), (0, 510)),
        (hl.i32(hl.abs(i8[x])), (0, 128)),
        (hl.select(u8[x] < 3, hl.i32(u8[x]), -5), (-5, 255)),
        (hl.min(hl.i32(u8[x]), 7), (0, 7)),
        ((hl.i32(u8[x]) & 3) << 2, (0, 12)),
        (hl.i32(u8[x] << 2), (0, 255)),
        (hl.i32(hl.saturating_cast(hl.UInt(8), hl.i32(i8[x]) * 2)), (0, 254)),
        (hl.i32(hl.sqrt(hl.f32(u8[x]))), (0, 15)),
        (hl.i32(hl.sin(hl.f32(u8[x])) * 8.5), (-8, 8)),
        (hl.i32(hl.clamp(f32[x], 0.0, 9.0)), (0, 9)),
        (hl.i32(hl.clamp(f32[x], 0.0, 1.0) * 8.0 + 0.5), (0, 8)),
        (hl.i32(hl.min(hl.max(f32[x], -2.0), hl.f32(u8[x]))), (-2, 255)),
        (hl.i32(hl.max(hl.min(9.0, f32[x]), 0.0)), (0, 9)),  # a NaN becomes 0.0
        (hl.i32(hl.min(9.0, hl.max(0.0, f32[x]))), (0, 9)),  # and here it stays one until the cast
        (hl.i32(hl.min(9.0, hl.max(5.0, f32[x]))), (0, 9)),  # which makes it 0
        (hl.i32(hl.max(-9.0, hl.min(-5.0, f32[x]))), (-9, 0)),
        (hl.i32(hl.min(hl.max(5.0, f32[x]), 9.0)), (5, 9)),
        (hl.i32(hl.max(5.0, hl.min(hl.sqrt(f32[x]), 9.0))), (5, 9)),
        (hl.i32(1.0 / hl.sqrt(f32[x])), (-(1 << 31), (1 << 31) - 1)),  # the root of -0.0 is -0.0
    ],
)
def test_range_of_an_index(e: hl.Expr, expected: tuple[int, int]) -> None:
    assert ValueRanges().of(hl.Expr(e)._node()) == expected


@pytest.mark.parametrize("function", float_functions._GROWING)
def test_function_that_grows_is_bounded_as_far_as_its_limits_and_no_further(function: Intrinsic) -> None:
    growing, double = float_functions._GROWING[function], hl.Float(64)
    for end in (growing.least, growing.most):
        low, high = ValueRanges().of(Call(double, function, (ir.const(end, double),)))
        assert low <= growing.function(end) <= high < math.inf
    for beyond in (growing.least - abs(growing.least) - 1, growing.most * 2):
        assert ValueRanges().of(Call(double, function, (ir.const(beyond, double),))) == EVERYTHING


def test_a_nan_that_is_no_number_of_a_clamp_is_read_at_0() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3 + 1
    f[x] = g[hl.i32(hl.min(10.0, hl.max(5.0, f32[x])))]
    g.compute_root()
    f32.set(hl.Buffer(np.array([math.nan, 7, 3, math.inf, -math.inf], np.float32)))
    assert np.asarray(f.realize([5])).tolist() == f.evaluate([5]).tolist() == [1, 22, 16, 31, 16]


def test_range_of_a_param_is_what_it_promises() -> None:
    p = hl.Param(hl.Int(32), "p")
    p.set_range(1, 9)
    assert ValueRanges().of(hl.Expr(p + 1)._node()) == (2, 10)


def test_range_of_a_float_param_is_of_numbers_of_its_type() -> None:
    """A check at start-up compares with the float32 that is next to 0.1, which is greater."""
    p, g, f = hl.Param(hl.Float(32), "p", 0.1), hl.Func("g"), hl.Func("f")
    p.set_range(0.0, 0.1)
    assert ValueRanges().of(hl.Expr(p)._node()) == (0, float(np.float32(0.1)))
    g[x] = hl.i32(hl.floor((p - hl.f32(0.1)) * 1000.0)) + hl.clamp(x, 0, 0)
    f[x] = g[g[x]] + 5
    g.compute_root()
    assert np.asarray(f.realize([3])).tolist() == f.evaluate([3]).tolist() == [5, 5, 5]


def test_range_of_a_func_covers_its_updates() -> None:
    f = hl.Func("f")
    f[x] = hl.i32(u8[x])
    f[3] = -7
    f[x] = hl.min(f[x], 1000)
    assert ValueRanges().of_function(f.function, 0) == (-(1 << 31), 1000)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (hl.i32(u8[x]) - hl.i32(u8[x + 1]), "(-255, 511)"),
        (hl.i32(i8[x]) * 3, "(-384, 766)"),
        (hl.clamp(hl.i32(f32[x]), 2, 5), "(2, 4)"),
        (hl.i32(u8[x]) + x, "(f.min.0, f.extent.0 + 255)"),
        ((hl.i32(u8[x]) & 3) << 2, "(0, 13)"),
        (hl.i32(hl.sqrt(hl.f32(u8[x]))), "(0, 16)"),
        (hl.min(hl.i32(hl.abs(f32[x])), 15), "(0, 16)"),
        (hl.min(hl.i32(f32[x] * f32[x]), 15), "(0, 16)"),
        (hl.i32(hl.min(hl.sqrt(f32[x]), 15.0)), "(0, 16)"),
    ],
)
def test_index_of_values_bounds_what_is_computed(index: hl.Expr, expected: str) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[index]
    g.compute_root()
    assert cpu(f, "g", "x") == expected


def test_index_of_unbounded_values_is_refused() -> None:
    i32 = hl.ImageParam(hl.Int(32), 1, "i32")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[i32[x]]
    g.compute_root()
    told = r'reads "g" at .*i32\[.*which has no bound\. Give it one, for example hl\.clamp'
    with pytest.raises(hl.BoundsError, match=told):
        f.compile_jit()


def test_values_at_the_ends_of_a_range_stay_inside_memory() -> None:
    data = np.array([-128, 127, -1, 0, 5], np.int8)
    image = hl.ImageParam(hl.Int(8), 1, "in")
    image.set(data)
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 10
    f[x] = g[hl.i32(image[x] + hl.i8(1)) * 2]
    g.compute_root()
    expected = (data + np.int8(1)).astype(np.int32) * 20
    assert np.array_equal(f.realize([5]).array, expected)
    assert np.array_equal(f.evaluate([5]), expected)


@pytest.mark.parametrize("type", [hl.Int(8), hl.UInt(8)], ids=str)
def test_range_of_a_quotient_and_a_remainder_of_one_value_holds_every_value(type: Type) -> None:
    """x/2 - 1 + 2*(x%2) jumps by 2.5 from step to step: its ends are not where those of x are."""
    x = Access(type, INPUTS[type][0], (), 0, 0)
    one, two = ir.const(1, type), ir.const(2, type)

    def combined(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
        return Binary(type, op, a, b)

    half, rest = combined(BinaryOp.DIV, x, two), combined(BinaryOp.MOD, x, two)
    e = combined(BinaryOp.ADD, combined(BinaryOp.SUB, half, one), combined(BinaryOp.MUL, two, rest))
    low, high = ValueRanges().of(e)
    least, most = type.range
    values = [least + (v // 2 - 1 + 2 * (v % 2) - least) % 256 for v in range(int(least), int(most) + 1)]
    assert low <= min(values)
    assert max(values) <= high
    if type.is_int():  # nothing wraps: it is no wider than what its parts say
        assert (low, high) == (least // 2 - 1, most // 2 - 1 + 2)
