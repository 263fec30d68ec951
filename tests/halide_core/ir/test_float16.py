"""Floats of 16 bits: rounding, conversions and arithmetic beside numpy's, in C, by the reference, after each pass."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.float16 import pattern_of, rounded, value_of_pattern
from tests.support.interpreted import run_passes
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")
HALF, BFLOAT = hl.Float(16), hl.BFloat(16)
PATTERNS = np.arange(1 << 16, dtype=np.uint16)
HALVES = PATTERNS.view(np.float16)
Binary = Callable[[Any, Any], Any]


def bits_of(f: hl.Func, extent: int) -> Any:
    array = np.asarray(f.realize([extent]))
    return array["bfloat16"] if array.dtype.names else array.view(np.uint16)


def converted(type: hl.Type, values: Any, lanes: int) -> Any:
    """The bits of numbers that compiled code converted."""
    f, source = hl.Func("f"), hl.Buffer(values)
    f[x] = hl.cast(type, source[x])
    if lanes > 1:
        f.vectorize(x, lanes)
    return bits_of(f, len(values))


def near_ties() -> Any:
    """Floats around every number that lies between two float16, or two bfloat16."""
    with np.errstate(invalid="ignore"):
        words = HALVES[::7].astype(np.float32).view(np.uint32)
    high = PATTERNS[::7].astype(np.uint32) << 16
    some = [words + d for d in (0, 0xFFF, 0x1000, 0x1001)] + [high + d for d in (0, 0x7FFF, 0x8000, 0x8001)]
    return np.concatenate(some).view(np.float32)


def as_half(values: Any) -> Any:
    """Numbers as numpy rounds them, NaN as the language has it."""
    with np.errstate(all="ignore"):
        half = values.astype(np.float16)
    return np.where(np.isnan(half), np.uint16(0x7E00), half.view(np.uint16))


@pytest.mark.parametrize("lanes", [1, 16])
def test_float16_is_rounded_as_numpy_does(lanes: int) -> None:
    values = near_ties()
    assert np.array_equal(converted(HALF, values, lanes), as_half(values))


@pytest.mark.parametrize("lanes", [1, 16])
def test_float64_is_rounded_once(lanes: int) -> None:
    drawn = np.random.default_rng(3)
    wide = drawn.standard_normal(4000) * 10.0 ** drawn.integers(-9, 6, 4000)
    ties = [1 + 2**-11 + 2**-40, 1 + 2**-11, 65519.99, 65520, 1e300, -1e-300, 2**-25, 2**-25 * (1 + 2**-40)]
    values = np.concatenate([wide, ties, [np.inf, -np.inf, np.nan, -0.0]])
    assert np.array_equal(converted(HALF, values, lanes), as_half(values))
    assert [pattern_of(float(v), HALF) for v in values] == as_half(values).tolist()


@pytest.mark.parametrize("lanes", [1, 16])
def test_bfloat16_is_the_nearest_upper_half(lanes: int) -> None:
    values = near_ties()
    words = values.view(np.uint32).astype(np.uint64)
    nearest = (words + 0x7FFF + (words >> 16 & 1)) >> 16
    expected = np.where(np.isnan(values), 0x7FC0, nearest).astype(np.uint16)
    assert np.array_equal(converted(BFLOAT, values, lanes), expected)
    assert [pattern_of(float(v), BFLOAT) for v in values[:2000]] == expected[:2000].tolist()


def test_bfloat16_of_a_float64_is_rounded_once() -> None:
    values = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8, 3.4e38, 1e300, math.nan, -0.0, 1e-40])
    expected = [0x3F81, 0x3F80, 0x7F80, 0x7F80, 0x7FC0, 0x8000, 1]
    assert converted(BFLOAT, values, 1).tolist() == expected
    assert [pattern_of(float(v), BFLOAT) for v in values] == expected


@pytest.mark.parametrize("lanes", [1, 16])
def test_every_float16_widens(lanes: int) -> None:
    f, source = hl.Func("f"), hl.Buffer(HALVES.copy())
    f[x] = hl.f32(source[x])
    if lanes > 1:
        f.vectorize(x, lanes)
    found = np.asarray(f.realize([len(HALVES)]))
    assert np.array_equal(found, HALVES.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(HALVES)) or np.isnan(HALVES).any()


def test_every_pattern_comes_back() -> None:
    for type, nan in ((HALF, 0x7E00), (BFLOAT, 0x7FC0)):
        for bits in range(0, 1 << 16, 3):
            value = value_of_pattern(bits, type)
            assert pattern_of(value, type) == (nan if math.isnan(value) else bits)


OPERATIONS: list[tuple[str, Binary, Binary]] = [
    ("sum", lambda p, q: p + q, lambda p, q: p + q),
    ("difference", lambda p, q: p - q, lambda p, q: p - q),
    ("product", lambda p, q: p * q, lambda p, q: p * q),
    ("quotient", lambda p, q: p / q, lambda p, q: p / q),
    ("two roundings", lambda p, q: p + q * p, lambda p, q: p + q * p),
    ("negation", lambda p, q: -p, lambda p, q: -p),
    ("magnitude", lambda p, q: hl.abs(p), lambda p, q: np.abs(p)),
    ("root", lambda p, q: hl.sqrt(hl.abs(p)), lambda p, q: np.sqrt(np.abs(p))),
    ("least", hl.min, np.minimum),
    ("comparison", lambda p, q: p < q, lambda p, q: p < q),
    ("choice", lambda p, q: hl.select(p < q, q, p * 2), lambda p, q: np.where(p < q, q, p * np.float16(2))),
    ("bits", lambda p, q: hl.reinterpret(hl.UInt(16), p), lambda p, q: p.view(np.uint16)),
    ("from bits", lambda p, q: hl.reinterpret(HALF, hl.u16(x)), lambda p, q: PATTERNS[: len(p)].view(np.float16)),
    ("whole", lambda p, q: hl.floor(p * 8), lambda p, q: np.floor(p * np.float16(8))),
    ("integer", lambda p, q: hl.i8(p * 200), lambda p, q: np.clip(np.trunc(p * np.float16(200)), -128, 127)),
    ("truth", lambda p, q: hl.cast(hl.Bool(), p), lambda p, q: p != 0),
    ("wider", lambda p, q: p + hl.f32(q), lambda p, q: p.astype(np.float32) + q.astype(np.float32)),
    ("literal", lambda p, q: p + 0.1, lambda p, q: p.astype(np.float32) + np.float32(0.1)),
]


@pytest.mark.parametrize(("name", "ours", "numpys"), OPERATIONS, ids=[o[0] for o in OPERATIONS])
def test_arithmetic_is_numpys(name: str, ours: Binary, numpys: Binary) -> None:
    drawn = np.random.default_rng(5)
    a, b = (drawn.standard_normal(512).astype(np.float16) for _ in range(2))
    f, p, q = hl.Func("f"), hl.Buffer(a), hl.Buffer(b)
    f[x] = ours(p[x], q[x])
    f.vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    expected = numpys(a, b).astype(f.type().dtype)
    assert np.array_equal(np.asarray(f.realize([509])), expected[:509])
    assert np.array_equal(f.evaluate([40]), expected[:40])


def test_bfloat16_computes_in_float32() -> None:
    f = hl.Func("f")
    f[x] = hl.cast(BFLOAT, x) / 7 + 1
    out = f.realize([9])
    assert isinstance(out, hl.Buffer)
    quotients = [rounded(float(np.float32(i) / np.float32(7)), BFLOAT) for i in range(9)]
    expected = [rounded(quotient + 1, BFLOAT) for quotient in quotients]
    assert list(out) == expected and np.asarray(out, np.float32).tolist() == expected
    assert np.array_equal(f.evaluate([9]), np.asarray(out))


@pytest.mark.parametrize("type", [HALF, BFLOAT])
def test_every_pass_keeps_the_answer(type: hl.Type) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, 5)])
    f[x] = hl.cast(type, x) * hl.cast(type, 0.3)
    f[r.x] += hl.cast(type, r.x) / 3
    g[x] = f[hl.i32(hl.cast(type, hl.clamp(x, 0, 9)) * 2)] + hl.sqrt(f[x + 1])
    g.split(x, x, y, 4).vectorize(y)
    f.compute_at(g, x)
    expected = g.evaluate([10])
    for name, outcome in run_passes(g, [(0, 10)], rng=random.Random(7)).items():
        assert np.array_equal(outcome.result(0, [(0, 10)]), expected), name
    assert np.array_equal(np.asarray(g.realize([10])), expected)


def test_buffer_holds_numbers() -> None:
    for type in (HALF, BFLOAT):
        b = hl.Buffer(type, [3, 2])
        b.fill(0.1)
        b[1, 1] = math.inf if type is HALF else 70000.0
        near = rounded(0.1, type)
        assert b[0, 0] == near and b[1, 1] == (math.inf if type is HALF else 70144.0)
        assert b.type() is type and hl.Buffer(np.asarray(b)).type() is type
        assert not b.all_equal(near) and b.cropped(1, 0, 1).all_equal(near) and b.copy()[0, 0] == near
    assert np.asarray(hl.Buffer(HALF, [2])).dtype == np.float16
    assert np.asarray(hl.Buffer(BFLOAT, [2])).dtype.names == ("bfloat16",)


@pytest.mark.parametrize("type", [HALF, BFLOAT])
def test_param_holds_what_the_type_can(type: hl.Type) -> None:
    p, f = hl.Param(type, "p", 0.1), hl.Func("f")
    f[x] = hl.f32(p) * 2
    assert p.get() == rounded(0.1, type)
    assert np.asarray(f.realize([1])).tolist() == [2 * rounded(0.1, type)] == f.evaluate([1]).tolist()
    p.set_range(0.0, 1.0)
    p.set(2.0)
    raised(hl.PipelineError, lambda: f.realize([1]), '"p"', "at most 1, not 2")


def test_types_answer_as_halides() -> None:
    assert [HALF.is_float(), HALF.is_bfloat(), BFLOAT.is_float(), BFLOAT.is_bfloat()] == [True, False, True, True]
    assert [str(HALF), str(BFLOAT), str(hl.BFloat(16, 4)), HALF.bytes()] == ["float16", "bfloat16", "bfloat16x4", 2]
    assert hl.Float(32).can_represent(HALF) and hl.Float(32).can_represent(BFLOAT) and HALF.can_represent(2050)
    assert not HALF.can_represent(BFLOAT) and not HALF.can_represent(2049) and not HALF.can_represent(65536)
    assert not HALF.can_represent(hl.Int(8))
    h, b = hl.cast(HALF, x), hl.cast(BFLOAT, x)
    assert (h + x).type() is HALF and (hl.u8(x) * b).type() is BFLOAT and (h + 1.5).type() is hl.Float(32)
    assert (h + 5000).type() is HALF and hl.sin(h).type() is HALF and hl.sin(b).type() is hl.Float(32)


def test_two_kinds_have_no_common_type() -> None:
    h, b = hl.cast(HALF, x), hl.cast(BFLOAT, x)
    raised(hl.TypeMismatchError, lambda: h + b, "float16", "bfloat16", "hl.f32(")
    raised(hl.TypeMismatchError, lambda: h + 2049, "2049", "float16")
    raised(hl.TypeMismatchError, lambda: b + 257, "257", "bfloat16")
    raised(hl.DefinitionError, lambda: hl.BFloat(32), "BFloat(32", "16")
    raised(hl.DefinitionError, lambda: hl.Float(8), "Float(8", "16, 32, 64")


def test_index_of_narrow_floats_is_bounded_and_certified() -> None:
    for type in (HALF, BFLOAT):
        f, g = hl.Func("f"), hl.Func("g")
        f[x] = x * x
        g[x] = f[hl.i32(hl.cast(type, hl.clamp(x, 0, 100)) * 2)]
        f.compute_root()
        assert np.asarray(g.realize([5])).tolist() == [0, 4, 16, 36, 64]
        assert g.certify().ok


def test_printing_shows_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x] = hl.print(hl.cast(HALF, x) / 2, "and", hl.cast(BFLOAT, x))
    with warnings.catch_warnings():
        f.realize([2])
    assert capfd.readouterr().out.splitlines() == ["0.000000 and 0.000000", "0.500000 and 1.000000"]


@pytest.mark.parametrize("value", [10**30, -(10**30)])
def test_great_integer_is_infinite(value: int) -> None:
    assert rounded(value, hl.Float(16)) == (math.inf if value > 0 else -math.inf)
