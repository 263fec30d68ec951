"""Lines of print and print_when while compiled code runs: they change nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import Array, same, variables

x, y = variables("x y")
Tail = hl.TailStrategy


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_line_shows_values_as_halide_does(capsys: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x] = hl.print(x, hl.f32(x) / 3, hl.f64(x), hl.i8(-x), hl.u64(x), x > 1, 3.5, 7, "100%", hl.u8(x)) + 1
    same(f.realize([3]), np.arange(1, 4, dtype=np.int32))
    assert shown(capsys) == [
        "0 0.000000 0.000000e+00 0 0 false 3.500000 7 100% 0",
        "1 0.333333 1.000000e+00 -1 1 false 3.500000 7 100% 1",
        "2 0.666667 2.000000e+00 -2 2 true 3.500000 7 100% 2",
    ]
    assert f.evaluate([3]).tolist() == [1, 2, 3]
    assert f.certify().ok
    assert shown(capsys) == []


def test_line_is_shown_where_a_condition_holds(capsys: pytest.CaptureFixture[str]) -> None:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    f[x, y] = hl.print_when((x == p) & (y > 0), x * 10 + y, "at", x, y)
    same(f.realize([4, 3]), np.add.outer(np.arange(3), np.arange(4) * 10).astype(np.int32))
    assert shown(capsys) == ["21 at 2 1", "22 at 2 2"]


def test_lines_of_vectors_come_lane_by_lane(capsys: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x] = (hl.print(x * x, "square"), hl.f32(x))
    f.vectorize(x, 4, Tail.GuardWithIf)
    found = f.realize([6])
    assert isinstance(found, tuple)
    same(found[0], np.arange(6, dtype=np.int32) ** 2)
    assert shown(capsys) == [f"{i * i} square" for i in range(6)]


def test_lines_of_threads_do_not_mix(capsys: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x, y] = hl.print(x + y, "x" * 60, x, y)
    f.parallel(y)
    f.realize([20, 30])
    wanted = [f"{i + j} {'x' * 60} {i} {j}" for i in range(20) for j in range(30)]
    assert sorted(shown(capsys)) == sorted(wanted)


def test_lines_of_an_inlined_func_and_of_an_update(capsys: pytest.CaptureFixture[str]) -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 2)])
    g[x] = hl.print(x + 5, "g")
    f[x] = g[x] * 2
    f[r.x] = hl.print_when(f[r.x] > 10, f[r.x] + r.x, "was", f[r.x])
    same(f.realize([2]), np.array([10, 13], np.int32))
    assert shown(capsys) == ["5 g", "6 g", "13 was 12"]


def test_coordinate_shows_nothing_and_needs_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    ip = hl.ImageParam(hl.Int(32), 1, "ip")
    g[x] = x * 3
    f[x] = ip[hl.print(x + 1, "coordinate")] + g[hl.print(2 * x)]
    g.compute_root()
    f.infer_input_bounds([4])
    data = ip.get()
    assert data is not None
    assert (data.dim(0).min(), data.dim(0).extent()) == (1, 4)
    ip.set(np.arange(6, dtype=np.int32))
    same(f.realize([4]), (np.arange(4) * 7 + 1).astype(np.int32))
    assert shown(capsys) == []


def test_message_may_read_what_the_value_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = hl.print(x, "beside", g[x - 1])
    g.compute_root()
    f.realize([2])
    assert shown(capsys) == ["0 beside -3", "1 beside 0"]


def test_printing_is_refused_where_it_has_no_value() -> None:
    with pytest.raises(hl.TypeMismatchError):
        hl.print(x, None)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(hl.TypeMismatchError, match="condition"):
        hl.print_when(hl.f32(x), x)


MAIN = (
    '#include "f.h"\n'
    + DESCRIBE
    + """
static void louder(const char *line) { printf("<%s>\\n", line); }
int main(void) {
    int32_t out[2];
    halide_dimension_t d[1] = {{0, 2, 1, 0}};
    halide_buffer_t b = describe(out, halide_type_int, 32, 1, d);
    if (f(&b)) return 1;
    halide_core_set_print_handler(louder);
    return f(&b);
}
"""
)


def test_library_prints_to_stdout_or_to_a_handler(tmp_path: Path) -> None:
    f = hl.Func("f")
    f[x] = hl.print(x, "of a library")
    f.compile_to_static_library(str(tmp_path / "f"), [])
    done = run(build(tmp_path, "main", MAIN, "f.a"))
    lines = ["0 of a library", "1 of a library"]
    assert (done.returncode, done.stdout.splitlines()) == (0, [*lines, *(f"<{line}>" for line in lines)])


def test_bits_of_a_float_can_be_a_coordinate() -> None:
    h, r, source = hl.Func("h"), hl.RDom([(0, 9)]), hl.Buffer(np.linspace(-3, 3, 9, dtype=np.float32))
    h[x] = 0
    h[hl.i32(hl.reinterpret(hl.UInt(32), source[r.x]) >> 28)] += 1
    h.bound(x, 0, 16)
    wanted: Array = np.bincount(np.linspace(-3, 3, 9, dtype=np.float32).view(np.uint32) >> 28, minlength=16)
    same(h.realize([16]), wanted.astype(np.int32))
    assert h.certify().ok


def test_conditions_show_nothing_and_are_certified(capsys: pytest.CaptureFixture[str]) -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 5)], "r")
    r.where(hl.print(r.x, "asked") > 1)
    f[x] = 0
    f[x] += r.x
    same(f.realize([2]), np.array([9, 9], dtype=np.int32))
    assert f.certify().ok
    assert shown(capsys) == []
