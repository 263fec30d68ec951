"""Facts of claims about the values in memory: guessed ranges, where they are narrower than their type's."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.verify.memory import MemoryReads
from halide_core.ir.types import INT32
from halide_core.lowering.driver import certify
from halide_core.reference.scalar_ops import round_to_float32

x = hl.Var("x")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (hl.cast(hl.Int(16), hl.u8(x)), (0, 255)),
        (hl.cast(hl.UInt(8), x), None),
        (hl.cast(hl.Int(32), 7), (7, 7)),
        (hl.cast(hl.Bool(), x), None),
        (hl.cast(hl.Bool(), 1), (1, 1)),
        (hl.clamp(x, -3, 9), (-3, 9)),
    ],
)
def test_guessed_range(value: hl.Expr, wanted: tuple[int, int] | None) -> None:
    f = hl.Func("f")
    f[x] = value
    assert MemoryReads().range_of(f.function, 0) == wanted


def test_guessed_range_ends_at_floats_of_either_width() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = hl.f32(hl.clamp(x, -3, 9))
    g[x] = hl.f64(hl.clamp(x, -3, 9)) * 0.1
    low, high = ValueRanges().of_function(f.function, 0)
    assert low <= -3 and high >= 9
    assert MemoryReads().range_of(f.function, 0) == (low, high), "they are floats already"
    low, high = ValueRanges().of(g.function.definitions[0].values[0])
    found = MemoryReads().range_of(g.function, 0)
    assert found is not None and found == ValueRanges().of_function(g.function, 0)
    assert found[0] <= low < -3 * 0.1 and 9 * 0.1 < high <= found[1], "what no float is moves outwards"
    assert all(round_to_float32(end) == end for end in found)


def test_unknowns_are_numbered_from_one() -> None:
    f = hl.Func("f")
    f[x] = x
    memory, read = MemoryReads(), ir.Access(INT32, f.function, (ir.i64(3),), 0, ir.LAST_STAGE)
    assert [memory.fresh(read, read.args).name for _ in range(2)] == ["f[3] #1", "f[3] #2"]


def test_truth_that_is_always_the_same_is_certified() -> None:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x] = x * 2
    g[x] = hl.cast(hl.Bool(), 1)
    f[x] = hl.select(g[x], h[x + 1], h[x])
    g.compute_root()
    h.compute_root()
    assert certify(f._request()).ok
