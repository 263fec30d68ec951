"""Means, narrow products and tables: with an instruction, without one, and at the end of memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.lowering.driver import lower
from halide_core.lowering.passes.narrow.conversions import use_float_ranges
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.gathers.anywhere import find_tables
from halide_core.runtime.codegen.vector.integer_idioms import is_narrow
from halide_core.runtime.codegen.vector.x86_builtins import (
    Builtin,
    complement,
    lookup,
    mean,
    narrow_product,
    saturation,
)
from tests.runtime.codegen.test_expr import Batch
from tests.support import emitted
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.targets import WIDE

x, y = variables("x y")
FLAGS = [emitted.NATIVE, ("-O2",), ("-O2", "-mavx2"), emitted.SANITIZED]


def ends(type: Type) -> np.ndarray:
    """Difficult numbers of a type."""
    low, high = type.range
    some = [low, low + 1, low // 2, -1, 0, 1, 2, 3, 100, high // 2, high - 1, high, 17, 18, 19, 20]
    return np.array([v if low <= v <= high else high - 7 for v in some], type.dtype)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("type", [UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)], ids=str)
def test_mean(type: Type, flags: Sequence[str]) -> None:
    a, b = np.repeat(ends(type), 16), np.tile(ends(type), 16)
    wanted = ((a.astype(object) + b.astype(object) + 1) >> 1).astype(type.dtype)
    for lanes in (1, 4, 16, 32, 64):
        batch = Batch({"a": a, "b": b}, lanes)
        args = (batch.value("a"), batch.value("b"))
        batch.add("mean", ir.Call(args[0].type, Intrinsic.ROUNDING_HALVING_ADD, args), wanted)
        batch.check(flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("type", [UInt(8), Int(8)], ids=str)
def test_bytes_to_the_left_and_to_the_right(type: Type, flags: Sequence[str]) -> None:
    a = np.arange(type.range[0], type.range[1] + 1).astype(type.dtype)
    for lanes in (4, 8, 16, 32, 64):
        batch = Batch({"a": a}, lanes)
        for n in range(8):
            value, by = batch.value("a"), ir.Broadcast(type.with_lanes(lanes), ir.const(n, type))
            batch.add("left", ir.Binary(value.type, BinaryOp.SHL, value, by), (a.astype(int) << n).astype(type.dtype))
            batch.add("right", ir.Binary(value.type, BinaryOp.SHR, value, by), a >> n)
            if 1 << n <= type.range[1]:
                power = ir.Broadcast(type.with_lanes(lanes), ir.const(1 << n, type))
                batch.add("quotient", ir.Binary(value.type, BinaryOp.DIV, value, power), a >> n)
        batch.check(flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("source", [Float(32), Float(64)], ids=str)
@pytest.mark.parametrize("to", [UInt(8), Int(8), UInt(16), Int(16), Int(32)], ids=str)
def test_floats_that_are_limited(to: Type, source: Type, flags: Sequence[str]) -> None:
    """As numpy's are that are limited first; what is no number is the limit that comes first."""
    low, high = to.range
    near = [low - 1.0, low - 0.5, low, high, high + 0.5, high + 1.0]
    a = np.array([math.nan, math.inf, -math.inf, -0.0, 0.5, -0.5, *near, 1e30, 99.9, -99.9, 1.0], source.dtype)
    for lanes in (1, 4, 16):
        batch = Batch({"a": a}, lanes)
        for least, most in ((low, high), (low, high - 1), (low + 3, high // 2), (low - 5, high), (low, high + 300)):
            first, last = (batch.constant(float(end), source) for end in (least, most))
            x = batch.value("a")
            lesser = ir.binary(BinaryOp.MIN, ir.binary(BinaryOp.MAX, x, first), last)
            greater = ir.binary(BinaryOp.MAX, ir.binary(BinaryOp.MIN, x, last), first)
            ends_of_floats = np.array([least, most], source.dtype)
            inside = low <= float(ends_of_floats[0]) and float(ends_of_floats[1]) <= high
            clipped = np.clip(a, *ends_of_floats).astype(float)
            for e, otherwise in ((lesser, least), (greater, most)):
                stored = use_float_ranges(ir.Store("out", ir.ZERO, ir.Cast(to.with_lanes(lanes), e)))
                assert isinstance(stored, ir.Store)
                made = stored.value
                assert isinstance(made, ir.Call) == inside
                whole = np.trunc(np.where(np.isnan(a), source.dtype.type(otherwise), clipped))
                batch.add("limited", made, np.clip(whole, low, high).astype(np.int64).astype(to.dtype))
        batch.check(flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("type", [UInt(8), UInt(16), UInt(32)], ids=str)
def test_greatest_number_less_another(type: Type, flags: Sequence[str]) -> None:
    a, greatest = np.repeat(ends(type), 2), type.range[1]
    for lanes in (1, 4, 16, 32):
        batch = Batch({"a": a}, lanes)
        for constant in (greatest, greatest - 1):
            taken = ir.sub(batch.constant(constant, type), batch.value("a"))
            batch.add(f"from {constant}", taken, (constant - a.astype(object)).astype(object) % (greatest + 1))
        batch.check(flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("type", [Int(16), UInt(8), Int(8)], ids=str)
def test_products_of_numbers_that_16_bits_hold(type: Type, flags: Sequence[str]) -> None:
    a, b = np.repeat(ends(type), 16), np.tile(ends(type), 16)
    for lanes in (1, 4, 8, 16):
        batch = Batch({"a": a, "b": b}, lanes)
        wide = Int(32, lanes)
        p, q = (ir.cast(wide, batch.value(name)) for name in "ab")
        batch.add("of two", ir.mul(p, q), a.astype(np.int32) * b.astype(np.int32))
        for constant in (-32768, -1, 432, 32767, 32768):
            c = batch.constant(constant, Int(32))
            batch.add(f"with {constant}", ir.mul(p, c), a.astype(np.int32) * np.int32(constant))
            batch.add(f"{constant} first", ir.mul(c, p), a.astype(np.int32) * np.int32(constant))
        batch.check(flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("source", [Int(16), Int(32)], ids=str)
def test_lanes_that_are_limited_to_a_narrower_type(source: Type, flags: Sequence[str]) -> None:
    near = [end + d for bits in (8, 16) for t in (UInt(bits), Int(bits)) for end in t.range for d in (-1, 0, 1)]
    a = np.concatenate([ends(source), np.array([v for v in near if v in range(*source.range)][:16], source.dtype)])
    for lanes in (1, 2, 4, 8, 16, 32):
        batch = Batch({"a": a}, lanes)
        value = batch.value("a")
        for to in (t for t in (UInt(8), Int(8), UInt(16), Int(16)) if t.bits() < source.bits()):
            low, high = (batch.constant(end, source) for end in to.range)
            wanted = np.clip(a, *to.range).astype(to.dtype)
            wide = to.with_lanes(lanes)
            batch.add(f"{to}, above", ir.cast(wide, ir.minimum(ir.maximum(value, low), high)), wanted)
            batch.add(f"{to}, below", ir.cast(wide, ir.maximum(ir.minimum(value, high), low)), wanted)
            off = batch.constant(to.range[1] - 1, source)
            nearly = np.clip(a, to.range[0], to.range[1] - 1).astype(to.dtype)
            batch.add(f"{to}, less", ir.cast(wide, ir.minimum(ir.maximum(value, low), off)), nearly)
        batch.check(flags)


def test_narrow_numbers_are_told_by_their_types() -> None:
    wide, short = Int(32, 8), ir.Load(Int(16, 8), "m", ir.Ramp(Int(64, 8), ir.ZERO, ir.ONE))
    assert is_narrow(ir.cast(wide, short))
    assert not is_narrow(ir.cast(wide, ir.cast(UInt(16, 8), short)))
    assert not is_narrow(ir.add(ir.cast(wide, short), ir.cast(wide, short)))
    assert not is_narrow(ir.cast(Int(64, 8), short))
    for value, fits in ((-32768, True), (32767, True), (32768, False), (-32769, False)):
        assert is_narrow(ir.Broadcast(wide, ir.const(value, Int(32)))) is fits


def test_names_of_instructions() -> None:
    assert mean(UInt(8, 64)) == Builtin("pavgb512_mask", "({v})a, ({v})b, ({v})a, -1")
    assert mean(UInt(16, 8)) == Builtin("pavgw128", "({v})a, ({v})b")
    assert mean(Int(8, 16)) is None and mean(UInt(32, 16)) is None
    assert complement(UInt(8, 32)) == Builtin("psubusb256", "({v})~(a ^ a), ({v})a")
    assert complement(Int(8, 16)) is None and complement(UInt(32, 16)) is None
    assert narrow_product(Int(32, 8)) == Builtin("pmaddwd256", "(v16hi)a, (v16hi)(b & 0xffff)")
    assert narrow_product(Int(32, 2)) is None and narrow_product(UInt(32, 16)) is None
    assert saturation(UInt(8, 8), Int(16, 8)) == Builtin("packuswb128", "({v})a, ({v})a", low=64)
    assert saturation(Int(16, 16), Int(32, 16)) == Builtin("pmovsdw512_mask", "({v})a, (v16hi){{0}}, -1")
    assert saturation(UInt(8, 32), Int(16, 32)) is None and saturation(UInt(8, 8), UInt(16, 8)) is None
    assert lookup(Int(32, 16), Int(32, 16)) is None and lookup(UInt(8, 8), Int(32, 8)) is None


@pytest.mark.parametrize("type", [UInt(8), Int(8), UInt(16), Int(16)], ids=str)
@pytest.mark.parametrize("size", [2, 5, 256, 16384, 20000])
def test_table_is_read_to_its_last_element(type: Type, size: int) -> None:
    """Small tables are arrays on the stack, large ones are on the heap; both have room behind their end."""
    table, at = image(numbers((size,), type.dtype), "table"), image(numbers((128,), np.int32), "at")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = table[x] + hl.cast(type, 3)
    f[x] = g[hl.clamp(at[x], 0, size - 1)]
    g.compute_root()
    f.vectorize(x, 16)
    lowered = lower(f._request(target=WIDE))
    assert find_tables(lowered.body) == {"g"}
    assert "lookup_" in emit_c(lowered)
    same(computed(f, [128]), f.evaluate([128]))


def test_memory_of_a_caller_is_no_table() -> None:
    table, at = image(numbers((9,), np.uint8), "table"), image(numbers((64,), np.int32), "at")
    f = hl.Func("f")
    f[x] = table[hl.clamp(at[x], 0, 8)]
    f.vectorize(x, 16)
    lowered = lower(f._request(target=WIDE))
    assert find_tables(lowered.body) == set()
    assert "lookup_" not in emit_c(lowered)
    same(computed(f, [64]), f.evaluate([64]))


def test_table_of_truth_values() -> None:
    at = image(numbers((64,), np.int32), "at")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x % 3 == 1
    f[x] = hl.select(g[hl.clamp(at[x], 0, 8)], at[x], 7)
    g.compute_root()
    f.vectorize(x, 16)
    same(computed(f, [64]), f.evaluate([64]))
