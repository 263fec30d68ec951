"""The elementary functions of float32: the same bits in the reference, in scalar code and in lanes, and how exact."""

import math

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import InternalError
from halide_core.ir import Intrinsic
from halide_core.ir.types import Float
from halide_core.reference.elementary import steps_of
from halide_core.reference.hyperbolic import tanh
from halide_core.reference.scalar_ops import call_function, round_to_float32
from halide_core.reference.steps import bits, real, reference, select, trace, widen

FUNCTIONS = [f for f in Intrinsic if steps_of(f) is not None]
MANY = (Intrinsic.EXP, Intrinsic.LOG, Intrinsic.SIN, Intrinsic.POW)
TWO = (Intrinsic.POW, Intrinsic.ATAN2)
ULP = {Intrinsic.EXP: 1.02, Intrinsic.LOG: 1.0, Intrinsic.SIN: 1.6, Intrinsic.COS: 1.6, Intrinsic.TANH: 1.5,
       Intrinsic.POW: 0.93}  # fmt: skip
"""The errors that no float32 has (``benchmarks/elementary``); of the functions that are computed in float64, REST."""
REST = 0.51
SPECIAL = [
    *(0.0, 1.0, math.inf, math.nan, 2.0, 3.0, 0.5, 2.0**23 + 1, 2.0**24, 2.0**-149, 1e-40, 3e38),
    *(65535.5, 65536.0, 1e5, 88.7, 88.73, 87.5, 103.9, 104.1, 0.625, 2.0**-126),
]
VALUES = np.float32([s * v for v in SPECIAL for s in (1, -1)])


def arguments(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Special values with all others, and bits at random, and numbers that are not far from 0."""
    rng = np.random.default_rng(5)
    some = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    near = rng.normal(0, 3, count).astype(np.float32)
    first = np.concatenate([np.repeat(VALUES, len(VALUES)), some, near])
    last = np.concatenate([np.tile(VALUES, len(VALUES)), rng.permutation(some), rng.permutation(near)])
    whole = len(first) // 32 * 32
    return first[:whole], last[:whole]


def words(values: np.ndarray) -> np.ndarray:
    """Bits, the same of every NaN."""
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: str(f.value))
def test_scalar_code_lanes_and_reference_give_the_same_bits(function: Intrinsic) -> None:
    a, b = arguments(64)
    call = call_function(function, Float(32), Float(32))
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    wanted = np.float32([call(*(pair if function in TWO else pair[:1])) for pair in pairs])
    x, i = hl.Var("x"), hl.Var("i")
    first, last = hl.Buffer(a), hl.Buffer(b)
    parts = []
    for lanes in (1, 4, 8, 32):
        part = hl.Func(f"lanes{lanes}")
        values = (first[x], last[x]) if function in TWO else (first[x],)
        part[x] = getattr(hl, function.value)(*values)
        part.compute_root()
        if lanes > 1:
            part.vectorize(x, lanes)
        parts.append(part)
    both = hl.Func("both")
    both[x, i] = hl.mux(i, [part[x] for part in parts])
    for row in np.asarray(both.realize([len(a), len(parts)])):
        assert np.array_equal(words(row), words(wanted))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: str(f.value))
def test_results_are_as_exact_as_documented(function: Intrinsic) -> None:
    a, b = arguments(300)
    call = call_function(function, Float(32), Float(32))
    exact = call_function(function, Float(64), Float(64))
    for pair in zip(a.tolist(), b.tolist(), strict=True):
        args = pair if function in TWO else pair[:1]
        value, true = call(*args), exact(*args)
        nearest = round_to_float32(true)
        if math.isnan(true) or math.isinf(nearest):
            assert str(value) == str(nearest), args
        else:
            unit = float(np.spacing(np.float32(abs(nearest))))
            assert abs(value - true) <= ULP.get(function, REST) * unit, (args, value, true)
            assert math.copysign(1, value) == math.copysign(1, true), args


def test_a_trace_says_what_it_can_not_do() -> None:
    with pytest.raises(InternalError, match="is no float32"):
        trace(lambda x: x * 0.1, 1)
    with pytest.raises(InternalError, match="ADD of f64 and f32"):
        trace(lambda x: widen(x) + x, 1)
    with pytest.raises(InternalError, match="A choice between"):
        trace(lambda x: select(x < 0.0, x, bits(x)), 1)


def test_words_wrap_and_shift_signs_in() -> None:
    function = reference(trace(lambda x: real(((bits(x) + 0xFFFFFFFF) >> 31) & 0x3F800000), 1), lambda name: math.sin)
    assert [function(v) for v in (0.0, 1.0, -0.0)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("target", ["x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx2-fma"])
def test_no_instruction_changes_a_bit(target: str) -> None:
    a, b = arguments(32)
    x, i = hl.Var("x"), hl.Var("i")
    first, last = hl.Buffer(a), hl.Buffer(b)
    values = [getattr(hl, f.value)(*((first[x], last[x]) if f in TWO else (first[x],))) for f in MANY]
    found = hl.Func("found")
    found[x, i] = hl.mux(i, values)
    found.bound(i, 0, len(values)).unroll(i).vectorize(x, 4)
    rows = np.asarray(found.realize([len(a), len(values)], hl.Target(target)))
    for function, row in zip(MANY, rows, strict=True):
        call = call_function(function, Float(32), Float(32))
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        wanted = np.float32([call(*(pair if function in TWO else pair[:1])) for pair in pairs])
        assert np.array_equal(words(row), words(wanted)), function


def test_fast_pow_is_close_and_zero_of_zero() -> None:
    base, exponent = hl.Param(hl.Float(32)), hl.Param(hl.Float(32))
    f = hl.Func()
    f[()] = hl.fast_pow(base, exponent)
    for b, e in ((0.0, 2.5), (2.0, 10.0), (0.3, -2.0), (7.5, 1.0)):
        base.set(b)
        exponent.set(e)
        assert np.asarray(f.realize()).item() == pytest.approx(b**e, rel=2.0**-19)


def test_float64_is_the_library_s_also_where_a_compiler_could_compute() -> None:
    inputs = np.random.default_rng(0).uniform(0.1, 9, 20_000)
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.pow(hl.Buffer(inputs)[x], hl.f64(2.0))
    assert np.asarray(f.realize([len(inputs)])).tolist() == [math.pow(v, 2.0) for v in inputs.tolist()]
    g[x] = hl.tan(hl.f64(0.1282641200357204)) + hl.tanh(hl.f64(-0.3849665855658735))
    assert np.asarray(g.realize([1])).item() == math.tan(0.1282641200357204) + tanh(-0.3849665855658735)


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_hyperbolic_tangent_of_float64_is_within_two_units(lanes: int) -> None:
    rng = np.random.default_rng(7)
    drawn = [rng.uniform(-scale, scale, 4000) for scale in (0.1, 0.6, 1, 3, 30)]
    special = [0.0, -0.0, 5e-324, 2.0**-1022, 22.0, np.nextafter(22, 0), 800.0, 1.7e308, math.inf, -math.inf, math.nan]
    worst_of_the_library = [0.2335337181126165] * (-len(special) % 8)  # whole vectors in all
    inputs = np.concatenate([*drawn, special, worst_of_the_library])
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.tanh(hl.Buffer(inputs)[x])
    f.vectorize(x, lanes)
    found = np.asarray(f.realize([len(inputs)]))
    assert found.view(np.uint64).tolist() == np.array([tanh(v) for v in inputs.tolist()]).view(np.uint64).tolist()
    exact = np.tanh(inputs.astype(np.longdouble))
    error = np.abs(found - exact) / np.spacing(np.abs(exact.astype(np.float64)))
    assert np.nanmax(error) < 1.5
