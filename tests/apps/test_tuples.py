"""Tuples in compiled code: updates that happen at once, under every kind of schedule; buffers, callables, libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import Array, image, numbers, same, variables

x, y, xo, xi, yo, yi = variables("x y xo xi yo yi")
Tail = hl.TailStrategy
SOURCE = numbers((11, 19), np.int32) % 1000


def turned() -> hl.Func:
    """Three values that change places in each step, so that every store needs what another one overwrites."""
    source, f, r = image(SOURCE), hl.Func("f"), hl.RDom([(1, 3)])
    f[x, y] = (source[x, y], hl.u8(source[x, y]), hl.f32(source[x, y]) / 4)
    f[x, y] = (hl.i32(f[x, y][1]) + r.x, hl.u8(f[x, y][2]), hl.f32(f[x, y][0]))
    f[x, 2] = (f[x, 2][0], hl.u8(f[x, 2][0]), f[x, 2][2] + 1.0)
    return f


def wanted() -> list[Array]:
    a, b, c = SOURCE.copy(), SOURCE.astype(np.uint8), SOURCE.astype(np.float32) / np.float32(4)
    for r in (1, 2, 3):
        # What float32 gives as uint8: truncated, and saturated.
        a, b, c = b.astype(np.int32) + np.int32(r), np.clip(np.trunc(c), 0, 255).astype(np.uint8), a.astype(np.float32)
    b[2], c[2] = a[2].astype(np.uint8), c[2] + np.float32(1)
    return [a, b, c]


def vectors(f: hl.Func) -> None:
    f.vectorize(x, 8, Tail.GuardWithIf).parallel(y)
    f.update(0).vectorize(x, 8, Tail.GuardWithIf)
    f.update(1).vectorize(x, 4, Tail.GuardWithIf)


def unrolled(f: hl.Func) -> None:
    f.tile(x, y, xo, yo, xi, yi, 4, 2, Tail.GuardWithIf).unroll(xi)
    f.update(0).reorder(x, y).unroll(y, 2, Tail.GuardWithIf).parallel(x)
    f.update(1).unroll(x, 3, Tail.GuardWithIf)


def special(f: hl.Func) -> None:
    wide = f.output_buffers()[1].width() > 8
    f.specialize(wide).vectorize(x, 8, Tail.GuardWithIf)
    f.update(0).specialize(wide).vectorize(x, 16, Tail.GuardWithIf)


SCHEDULES: list[Callable[[hl.Func], object]] = [lambda f: f, vectors, unrolled, special]


def check(found: object, expected: list[Array]) -> None:
    assert isinstance(found, tuple)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        same(one, other)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["none", "vectors", "unrolled", "special"])
def test_values_are_right_under_every_schedule(schedule: Callable[[hl.Func], object]) -> None:
    f = turned()
    schedule(f)
    check(f.realize([19, 11]), wanted())
    assert f.certify().ok


@pytest.mark.parametrize("schedule", SCHEDULES[:3], ids=["none", "vectors", "unrolled"])
def test_values_are_right_when_the_func_is_stored_inside_another(schedule: Callable[[hl.Func], object]) -> None:
    f, g = turned(), hl.Func("g")
    g[x, y] = hl.f32(f[x, y][0]) + f[x, y][2] - hl.f32(f[18 - x, y][1])
    g.vectorize(x, 4, Tail.GuardWithIf).parallel(y)
    f.compute_at(g, y)
    schedule(f)
    a, b, c = wanted()
    same(g.realize([19, 11]), a.astype(np.float32) + c - b[:, ::-1].astype(np.float32))
    same(g.evaluate([3, 3]), np.asarray(g.realize([3, 3])))


def test_reference_agrees() -> None:
    check(turned().evaluate([19, 11]), wanted())


@pytest.mark.parametrize("lanes", [1, 8])
def test_place_of_an_extreme_is_found_in_registers(lanes: int) -> None:
    source, f, r = image(SOURCE), hl.Func("f"), hl.RDom([(0, 19)])
    best = hl.argmax(r, source[r.x, y], "best")
    f[y] = best
    if lanes > 1:
        f.vectorize(y, lanes, Tail.GuardWithIf)
    found = f.realize([11])
    check(found, [SOURCE.argmax(1).astype(np.int32), SOURCE.max(1)])
    check(f.evaluate([11]), [SOURCE.argmax(1).astype(np.int32), SOURCE.max(1)])


def test_complex_numbers_are_multiplied_in_place() -> None:
    z, r = hl.Func("z"), hl.RDom([(0, 3)])
    z[x] = (hl.f32(x), hl.f32(1))
    re, im = z[x]
    z[x] = (re * re - im * im + hl.f32(r.x) * 0.0, re * im + im * re)
    z.update(0).vectorize(x, 4)
    c = np.arange(8).astype(np.complex64) + 1j
    for _ in range(3):
        c = c * c
    found = z.realize([8])
    check(found, [c.real.astype(np.float32), c.imag.astype(np.float32)])


def test_buffers_are_filled_when_their_layouts_differ() -> None:
    f = hl.Func("f")
    f[x, y] = (x + y, hl.u8(x - y))
    a, b = np.zeros((5, 30), np.int32)[:, ::2][:, :7], np.zeros((9, 7), np.uint8)[2:7][::-1]
    f.realize([a, b])
    columns, rows = np.meshgrid(np.arange(7), np.arange(5))
    same(a, (columns + rows).astype(np.int32))
    same(b, (columns - rows).astype(np.uint8))
    first, second = hl.Buffer(hl.Int(32), [7, 5]), hl.Buffer(hl.UInt(8), [7, 5])
    first.set_min([3, 0])
    with pytest.raises(hl.PipelineError, match=r'"f.1" has min 0 .* "f.0" has min 3'):
        f.realize([first, second])
    with pytest.raises(hl.PipelineError, match=r'2 outputs, "f.0", "f.1", but 1 buffers'):
        f.realize(a)
    with pytest.raises(hl.PipelineError, match=r"buffer f.1 has type uint8 but .* is int32"):
        f.realize([a, a])
    shared, g = np.zeros((5, 8), np.int32), hl.Func("g")
    g[x, y] = (x, y)
    with pytest.raises(hl.PipelineError, match="overlaps"):
        g.realize([shared[:, :7], shared[:, 1:]])


def test_outputs_are_mixed_when_some_are_tuples() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = (x, hl.f32(x))
    g[x] = f[x][0] * 2 + 1
    f.vectorize(x, 4)
    found = hl.Pipeline([g, f]).realize([6])
    n = np.arange(6, dtype=np.int32)
    check(found, [n * 2 + 1, n, n.astype(np.float32)])
    call = f.compile_to_callable([])
    a, b = np.zeros(8, np.int32), np.zeros(8, np.float32)
    assert [argument.name for argument in call.arguments()] == ["f.0", "f.1"]
    call(a, b)
    assert a.tolist() == b.tolist() == list(range(8))
    call(**{"f.1": b[::-1], "f.0": a})
    assert b.tolist() == list(range(8))[::-1]


def test_region_is_asked_for_once_when_a_tuple_is_rounded_up() -> None:
    f, ip = hl.Func("f"), hl.ImageParam(hl.Int(32), 1, "ip")
    f[x] = (ip[x], ip[x + 2])
    f.vectorize(x, 8, Tail.RoundUp)
    f.infer_input_bounds([5])
    bound = ip.get()
    assert bound is not None
    assert (bound.dim(0).min(), bound.dim(0).extent()) == (0, 10)
    array = numbers((10,), np.int32)
    ip.set(array)
    check(f.realize([5]), [array[:5], array[2:7]])


MAIN = (
    '#include "pair.h"\n'
    + DESCRIBE
    + """
int main(void) {
    static int32_t low[6];
    static uint8_t high[6];
    halide_dimension_t a[1] = {{-2, 6, 1, 0}}, b[1] = {{-2, 6, 1, 0}}, q[1] = {{0, 0, 0, 0}};
    halide_buffer_t first = describe(low, halide_type_int, 32, 1, a);
    halide_buffer_t second = describe(high, halide_type_uint, 8, 1, b);
    halide_buffer_t asked = describe(0, halide_type_uint, 8, 1, q);
    if (pair(&first, &asked)) return 1;
    printf("%d %d;", asked.dim[0].min, asked.dim[0].extent);
    if (pair(&first, &second)) return 2;
    for (int i = 0; i < 6; i++) printf(" %d,%d", low[i], high[i]);
    b[0].min = 0;
    printf("; %d", pair(&first, &second));
    return 0;
}
"""
)


def test_library_takes_a_buffer_for_each_value(tmp_path: Path) -> None:
    f, r = hl.Func("pair"), hl.RDom([(0, 2)])
    f[x] = (x, hl.u8(x * x))
    f[x] = (hl.i32(f[x][1]) + r.x, hl.u8(f[x][0]))
    f.compile_to_static_library(str(tmp_path / "pair"), [])
    header = (tmp_path / "pair.h").read_text()
    assert "int pair(halide_buffer_t *pair_0, halide_buffer_t *pair_1);" in header
    done = run(build(tmp_path, "main", MAIN, "pair.a"))
    values = [(i % 256, i * i % 256) for i in range(-2, 4)]
    told = " ".join(f"{a + 1},{b}" for a, b in values)
    assert (done.returncode, done.stdout.split("; ")) == (0, ["-2 6", told, "6"])
