"""Programs found by attacking the compiler by hand: each once read beyond its memory, or gave a wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.support.interpreted import run_program

x, y, xo, xi = (hl.Var(n) for n in ("x", "y", "xo", "xi"))


def same(f: hl.Func, *window: int) -> None:
    """Compiled equals reference."""
    assert np.array_equal(np.asarray(f.realize(list(window))), f.evaluate(window))


def image(values: list[int], low: int, type: hl.Type | None = None) -> hl.ImageParam:
    """A one-dimensional input that starts at ``low``."""
    kind = type or hl.Int(32)
    result = hl.ImageParam(kind, 1, "im")
    buffer = hl.Buffer(np.array(values, kind.dtype))
    buffer.set_min([low])
    result.set(buffer)
    return result


def test_memory_covers_what_a_rounded_update_reads_of_itself() -> None:
    f, h, r = hl.Func("f"), hl.Func("h"), hl.RDom([(0, 3)], "r")
    f[x, y] = x + 10 * y
    f[x, r.x] = f[x, x + r.x]
    f.update(0).split(x, xo, xi, 8, hl.TailStrategy.RoundUp)
    f.compute_root()
    h[x, y] = f[x, y]
    same(h, 5, 5)
    run_program(h, [(0, 5), (0, 5)])  # raises MemoryFault where a read leaves its buffer


def test_quotient_by_a_negative_number_says_nothing_of_its_numerator() -> None:
    p, f = hl.Param(hl.Int(32), "p", -5), hl.Func("f")
    r = hl.RDom([(0, (p - 3) / -2)])
    f[x] = 0
    f[x] += image([0], -5)[hl.max(p, -3)] + r.x
    with pytest.raises(hl.PipelineError, match='"im" is read'):
        f.realize([4])


def test_predicate_that_reads_an_input_stays_in_its_empty_loop() -> None:
    p, f = hl.Param(hl.Int(32), "p", -1), hl.Func("f")
    im = image([0], -1)
    r = hl.RDom([(0, (p + 1) / 2)])
    r.where(im[hl.max(p, 1)] > 0)
    f[x] = 0
    f[x] += r.x
    same(f, 4)


def test_index_from_floats_that_overflow_is_unbounded() -> None:
    u = hl.ImageParam(hl.UInt(8), 1, "u")
    u.set(hl.Buffer(np.arange(16, dtype=np.uint8)))
    big = (hl.f32(u[x]) + hl.f32(1)) * hl.f32(1e38) * hl.f32(100)
    f = hl.Func("f")
    f[x] = image(list(range(6)), 12)[hl.i32((big - big) * hl.f32(0) + hl.f32(13))]
    with pytest.raises(hl.BoundsError, match="no bound"):
        f.realize([9])


@pytest.mark.parametrize(
    "make",
    [
        lambda i: (i[x] * 4) / 4,
        lambda i: hl.select(i[x] + 1 > i[x], hl.i64(1), hl.i64(0)),
        lambda i: hl.min(i[x] + 1, i[3 - x] + 1),
    ],
)
def test_int64_values_wrap(make) -> None:
    f = hl.Func("f")
    f[x] = make(image([2**62, 2**63 - 1, -(2**63), 5], 0, hl.Int(64)))
    same(f, 4)


def test_int64_constants_wrap() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 14)])
    f[x] = 0
    f[x] += hl.select(hl.i64(r.x) * (1 << 62) * 4 <= 0, 1, 100)
    same(f, 1)


def test_divisor_that_leaves_int32_is_caught() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    g.compute_root()
    f[x] = g[7 % (x * 65536)]
    buffer = hl.Buffer(hl.Int(32), [5])
    buffer.set_min([65534])
    with pytest.raises(hl.PipelineError, match="leaves int32"):
        f.realize(buffer)


@pytest.mark.parametrize("split", [False, True])
def test_condition_on_a_reduction_variable_does_not_hide_that_it_leaves_int32(split: bool) -> None:
    # Beyond the last int32, r.x is far below zero for the condition, which then lets the write pass.
    start = hl.Param(hl.Int(32), "start", 2**31 - 3)
    f, r = hl.Func("f"), hl.RDom([(start, 5)], "r")
    r.where(r.x < 3)
    f[x] = 0
    f[r.x + 7] += 1
    if split:
        f.update().split(r.x, hl.RVar("ro"), hl.RVar("ri"), 2, hl.TailStrategy.GuardWithIf)
    with pytest.raises(hl.PipelineError, match=r"r\.x in .* leaves int32: from 2147483645 to 2147483649"):
        f.realize([10])
    assert f.certify().ok
    start.set(-7)
    assert np.asarray(f.realize([10])).tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


def test_extent_that_leaves_int32_is_caught() -> None:
    p, f = hl.Param(hl.Int(32), "p", 65536), hl.Func("f")
    r = hl.RDom([(0, p * p)])
    f[x] = x
    f[x] += r.x
    with pytest.raises(hl.PipelineError, match="leaves int32"):
        f.realize([4])


def test_deep_expression_compiles() -> None:
    f = hl.Func("f")
    e = x + 0
    for i in range(600):
        e = e + i % 3
    f[x] = e
    same(f, 3)


def test_coordinate_beside_a_square_of_floats_is_checked_where_two_outputs_share_a_stage() -> None:
    """The region of ``s`` depends on the square too, whose end was not known."""
    s, w, m, o, twin = (hl.Func(name) for name in ("s", "w", "m", "o", "twin"))
    r, far = hl.RDom([(1, 3)], "r"), (hl.f64(y) + 0.5) * 2.0 - 0.5
    s[x, y] = hl.BoundaryConditions.repeat_edge(hl.Buffer(hl.Int(32), [4, 4]))[x - 1, y]
    w[x, y] = x + y
    w[r, y] += s[hl.i32(hl.trunc(far * far)), r]
    w[x, 0] = s[(x + 2) * 2, r] + 1
    m[x, y] = w[2 - x, y]
    o[x, y], twin[x, y] = m[4 - x, y], m[3 - x, y]
    m.compute_root()
    w.compute_at(m, x)
    s.compute_at(m, y)
    outputs = [hl.Buffer(hl.Int(32), [1, 1]), hl.Buffer(hl.Int(32), [1, 1])]
    outputs[0].set_min([-(2**30), 2])
    with pytest.raises(hl.PipelineError, match="leaves int32"):
        hl.Pipeline([o, twin]).realize(outputs)
    assert hl.Pipeline([o, twin]).certify().ok


def test_greatest_of_an_int64_and_a_sum_does_not_add_to_the_int64() -> None:
    ends = np.array([2**63 - 1, -(2**63), 5, 2**63 - 50, -(2**63) + 40], np.int64)
    values, small = hl.Buffer(ends), hl.Buffer(np.array([1, 2, 3, 4, 5], np.int16))
    floats = hl.Buffer(np.array([1e30, -1e30, 5.0, np.inf, 3.0], np.float32))
    for value in (values[x], hl.i64(floats[x]), hl.i64(hl.u64(values[x]))):
        for e in (
            hl.max(value, hl.i64(small[x]) - 100),
            hl.min(value, hl.i64(small[x]) + 100),
            hl.min(hl.i64(x) + 100, value),
            hl.clamp(value, hl.i64(small[x]) - 50, hl.i64(small[x]) + 50),
        ):
            f = hl.Func("f")
            f[x] = e
            np.testing.assert_array_equal(np.asarray(f.realize([5])), np.asarray(f.evaluate([5])))
