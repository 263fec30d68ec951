"""debug_to_file: what the files hold under schedules of all kinds, in each format; what is refused, and what fails."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import halide_core as hl
from halide_core.ir.debug_files import FileFormat
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import numbers
from tests.support.interpreted import run_passes
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def chain(type: hl.Type | None = None) -> tuple[hl.Func, hl.Func]:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = hl.cast(type or hl.Int(32), x * 3 + y)
    g[x, y] = hl.i32(f[x, y]) + hl.i32(f[x, y + 1])
    return f, g


def checked(g: hl.Func, sizes: list[int]) -> npt.NDArray[Any]:
    """The values of a run, which are the reference's."""
    found = np.asarray(g.realize(sizes))
    assert np.array_equal(found, g.evaluate(sizes))
    return found


def in_order(width: int, height: int) -> npt.NDArray[np.int64]:
    """The values of f from 0 on."""
    return np.arange(width) * 3 + np.arange(height)[:, None]


@pytest.mark.parametrize(
    "type", [hl.UInt(8), hl.Int(16), hl.UInt(32), hl.Int(64), hl.Float(16), hl.Float(32), hl.Float(64), hl.Bool()]
)
def test_npy_is_what_numpy_has_of_the_func(type: hl.Type, tmp_path: Path) -> None:
    f, g = chain(type)
    f.compute_root().debug_to_file(tmp_path / "f.npy")
    g.debug_to_file(str(tmp_path / "g.npy"))
    result = checked(g, [5, 3])
    written = np.load(tmp_path / "f.npy")
    assert np.array_equal(written, f.evaluate([5, 4]))
    assert written.dtype == np.asarray(f.evaluate([5, 4])).dtype
    assert np.array_equal(np.load(tmp_path / "g.npy"), result)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.npy", "g.npy"]


@pytest.mark.parametrize(
    ("type", "sizes", "kind"),
    [(hl.UInt(8), [5], 1), (hl.Int(16), [5, 4], 2), (hl.Float(32), [5, 4, 3], 3), (hl.Float(64), [2, 3, 4, 2], 3)],
)
def test_tiff_is_a_picture_of_channels(type: hl.Type, sizes: list[int], kind: int, tmp_path: Path) -> None:
    """All fields, with the strips that they name, are those of Halide's files."""
    f, args = hl.Func("f"), [hl.Var(name) for name in "xyzw"[: len(sizes)]]
    f[tuple(args)] = hl.cast(type, sum((k + 2) * v for k, v in enumerate(args)))
    f.debug_to_file(tmp_path / ("f.tif" if kind == 1 else "f.tiff"))
    values = checked(f, sizes)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    assert struct.unpack("<4sIH", data[:10]) == (b"II*\0", 8, 15)
    entries = [struct.unpack("<HHIHH", data[at : at + 12]) for at in range(10, 190, 12)]
    fields = {tag: (low if wide == 3 else low | high << 16, count) for tag, wide, count, low, high in entries}
    depth, channels = (sizes[2], sizes[3]) if len(sizes) == 4 else (1, [*sizes, 1, 1][2])
    height = [*sizes, 1][1]
    short = {258: type.bits(), 259: 1, 262: 1 + (channels >= 3), 277: channels, 284: 2, 296: 1, 339: kind}
    long = {256: sizes[0], 257: height, 278: height, 282: 194, 283: 202, 32997: depth}
    assert {tag: fields[tag] for tag in (*short, *long)} == {tag: (n, 1) for tag, n in (*short.items(), *long.items())}
    assert struct.unpack("<5I", data[190:210]) == (0, 1, 1, 1, 1)
    assert fields[273] == (210, channels) and fields[279][1] == channels
    starts, lengths = [210], [fields[279][0]]
    if channels > 1:
        starts, lengths = (list(struct.unpack_from(f"<{channels}I", data, fields[tag][0])) for tag in (273, 279))
    strips = [data[start : start + length] for start, length in zip(starts, lengths, strict=True)]
    assert b"".join(strips) == values.tobytes() == data[starts[0] :]


def test_file_has_values_where_nobody_else_reads_them(tmp_path: Path) -> None:
    before, f, g, p = hl.Func("before"), hl.Func("f"), hl.Func("g"), hl.Param(hl.Int(32), "p", 0)
    before[x] = x + 100
    f[x] = before[x] * 2
    g[x] = hl.select(p > 0, f[x], 7)
    before.compute_root()
    f.compute_root().debug_to_file(tmp_path / "f.npy")
    assert checked(g, [3]).tolist() == [7, 7, 7]
    assert np.load(tmp_path / "f.npy").tolist() == [200, 202, 204]


@pytest.mark.parametrize("dimensions", [0, 1, 3])
def test_npy_of_other_dimensions(dimensions: int, tmp_path: Path) -> None:
    f, at = hl.Func("f"), [hl.Var(f"v{i}") for i in range(dimensions)]
    f[tuple(at)] = sum([v * 10**i for i, v in enumerate(at)], hl.i32(7))
    f.debug_to_file(tmp_path / "f.npy")
    result = np.asarray(f.realize([4, 3, 2][:dimensions]))
    written = np.load(tmp_path / "f.npy")
    assert written.shape == result.shape
    assert np.array_equal(written, result)


def test_bfloat_is_a_record_of_its_bits(tmp_path: Path) -> None:
    f, _ = chain(hl.BFloat(16))
    f.debug_to_file(tmp_path / "f.npy")
    buffer = f.realize([4, 2])
    assert np.array_equal(np.load(tmp_path / "f.npy"), np.asarray(buffer))


def test_tmp_is_four_extents_the_type_and_the_values(tmp_path: Path) -> None:
    f, g = chain(hl.Int(16))
    f.compute_root().reorder_storage(y, x).debug_to_file(tmp_path / "f.tmp")
    checked(g, [5, 3])
    data = (tmp_path / "f.tmp").read_bytes()
    assert struct.unpack("<5i", data[:20]) == (5, 4, 1, 1, 5)
    assert np.array_equal(np.frombuffer(data[20:], "<i2").reshape(4, 5), in_order(5, 4))


def test_mat_is_an_array_of_matlab(tmp_path: Path) -> None:
    f = hl.Func("f")
    f[x] = hl.f64(x) / 2
    f.debug_to_file(tmp_path / "2 rows.mat")
    f.realize([3])
    data = (tmp_path / "2 rows.mat").read_bytes()
    assert data.startswith(b"MATLAB 5.0 MAT-file") and data[124:128] == b"\0\1IM"
    words = struct.unpack("<12i", data[128:176])
    assert words == (14, len(data) - 136, 6, 8, 6, 1, 5, 8, 3, 1, 1, len("v_2_rows"))
    assert data[176:184] == b"v_2_rows"
    assert struct.unpack("<2i3d", data[184:]) == (9, 24, 0.0, 0.5, 1.0)


def test_memory_that_slides_is_written_whole(tmp_path: Path) -> None:
    f, g = chain()
    f.store_root().compute_at(g, y).debug_to_file(tmp_path / "f.npy")
    checked(g, [4, 6])
    assert np.array_equal(np.load(tmp_path / "f.npy"), in_order(4, 7))


def test_last_realization_stays(tmp_path: Path) -> None:
    f, g = chain()
    f.compute_at(g, y).debug_to_file(tmp_path / "first.npy").debug_to_file(tmp_path / "f.npy")
    checked(g, [4, 3])
    assert np.array_equal(np.load(tmp_path / "f.npy"), in_order(4, 4)[2:])
    assert not (tmp_path / "first.npy").exists()


def test_parallel_realizations_write_one_whole_file(tmp_path: Path) -> None:
    f, g = chain()
    f.compute_at(g, y).debug_to_file(tmp_path / "f.npy")
    g.parallel(y).vectorize(x, 8)
    checked(g, [32, 200])
    written = np.load(tmp_path / "f.npy")
    assert any(np.array_equal(written, in_order(32, 201)[i : i + 2]) for i in range(200))
    assert [p.name for p in tmp_path.iterdir()] == ["f.npy"]


def test_all_stages_are_written_from_accumulators_too(tmp_path: Path) -> None:
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 10)])
    f[x] = 0
    f[x] += r * (x + 1)
    g[x, y] = f[x] + y
    f.compute_at(g, x).debug_to_file(tmp_path / "f.npy")
    checked(g, [4, 2])
    assert np.load(tmp_path / "f.npy").tolist() == [45 * 4]


def test_points_that_nothing_needs_are_zero(tmp_path: Path) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x + 1
    g[x] = f[x * 3]
    f.store_root().compute_at(g, x).debug_to_file(tmp_path / "f.npy")
    checked(g, [3])
    assert np.load(tmp_path / "f.npy").tolist() == [1, 0, 0, 4, 0, 0, 7]


def test_every_pass_keeps_the_answer_when_all_is_written(tmp_path: Path) -> None:
    f, g = chain()
    f.store_root().compute_at(g, y).debug_to_file(tmp_path / "f.npy").hoist_storage_root()
    g.vectorize(x, 4).unroll(y, 2).debug_to_file(tmp_path / "g.npy")
    window = [(0, 5), (0, 4)]
    for name, outcome in run_passes(g, window, rng=random.Random(1)).items():
        assert np.array_equal(outcome.result(0, window), g.evaluate([5, 4])), name
    assert g.certify().ok
    assert list(tmp_path.iterdir()) == []
    checked(g, [5, 4])
    assert np.array_equal(np.load(tmp_path / "f.npy"), in_order(5, 5))


def test_bounds_queries_write_nothing(tmp_path: Path) -> None:
    image, f = hl.ImageParam(hl.UInt(8), 1, "image"), hl.Func("f")
    f[x] = image[x] + hl.u8(1)
    f.debug_to_file(tmp_path / "f.npy")
    f.infer_input_bounds([9])
    assert list(tmp_path.iterdir()) == []
    image.set(numbers((9,), np.uint8))
    result = np.asarray(f.realize([9]))
    assert np.array_equal(np.load(tmp_path / "f.npy"), result)


def test_file_that_can_not_be_written(tmp_path: Path) -> None:
    f, g = chain()
    f.compute_at(g, y).debug_to_file(tmp_path / "none" / "f.npy")
    error = raised(hl.PipelineError, lambda: g.realize([4, 3]), str(tmp_path / "none" / "f.npy"), "No such file")
    assert "debug_to_file()" in error.message
    (tmp_path / "f.npy").mkdir()
    f.debug_to_file(tmp_path / "f.npy")
    g.parallel(y)
    raised(hl.PipelineError, lambda: g.realize([4, 3]), str(tmp_path / "f.npy"), "directory")
    assert [p.name for p in tmp_path.iterdir()] == ["f.npy"]


def test_stand_alone_program_writes_the_file(tmp_path: Path) -> None:
    f, g = chain(hl.UInt(8))
    f.compute_root().debug_to_file("dumped.npy")
    g.compile_to_static_library(str(tmp_path / "shown"), [], "shown")
    main = f"""#include "shown.h"
{DESCRIBE}
int main(void) {{
    int32_t data[12];
    halide_dimension_t dim[] = {{{{0, 4, 1, 0}}, {{0, 3, 4, 0}}}};
    halide_buffer_t out = describe(data, halide_type_int, 32, 2, dim);
    printf("%d", shown(&out));
    return 0;
}}
"""
    program = build(tmp_path, "main", main, "shown.a")
    assert run(program).stdout == "0"
    assert np.array_equal(np.load(tmp_path / "dumped.npy"), in_order(4, 4))
    (tmp_path / "dumped.npy").unlink()
    (tmp_path / "dumped.npy").mkdir()
    assert run(program).stdout == "17"


def test_schedules_as_values_keep_it(tmp_path: Path) -> None:
    f, g = chain()
    f.compute_root().debug_to_file("f.npy").trace_stores()
    text = str(hl.Schedule(g))
    assert "f.debug_to_file('f.npy')" in text and "f.trace_stores()" in text


def test_what_is_no_file_is_refused() -> None:
    f, _ = chain()
    nothing: Any = 3
    legal = ", ".join(f'".{suffix}"' for suffix in (*(format.value for format in FileFormat), "tif"))
    raised(hl.ScheduleError, lambda: f.debug_to_file("f.png"), '"f.png"', legal)
    raised(hl.ScheduleError, lambda: f.debug_to_file(nothing), "the path of a file", "3")
    raised(hl.ScheduleError, lambda: f.debug_to_file(""), "the path of a file")
    raised(hl.ScheduleError, lambda: f.debug_to_file("npy"), '"npy"', '".npy"')


def test_what_a_file_can_not_hold_is_refused() -> None:
    two, half, deep = hl.Func("two"), hl.Func("half"), hl.Func("deep")
    two[x] = (x, x)
    half[x] = hl.cast(hl.Float(16), x)
    deep[x, y, hl.Var("z"), hl.Var("w"), hl.Var("v")] = x
    raised(hl.ScheduleError, lambda: two.debug_to_file("f.npy"), '"two"', "2 values a point")
    raised(hl.ScheduleError, lambda: half.debug_to_file("f.mat"), '"half"', "float16", '".npy"')
    raised(hl.ScheduleError, lambda: deep.debug_to_file("f.tmp"), '"deep"', "5 dimensions", "at most 4")


def test_where_there_is_no_memory_it_is_refused() -> None:
    f, g = chain()
    f.debug_to_file("f.npy")
    with pytest.warns(hl.HalideWarning, match=r"f\.debug_to_file\('f\.npy'\).*no loops of its own"):
        g.realize([2, 2])
    outer = hl.Var("outer")
    f.compute_at(g, x)
    g.split(x, outer, x, 4).vectorize(x)
    with pytest.raises(hl.ScheduleError, match=r"f\.debug_to_file\('f\.npy'\).*vectorized loop"):
        g.realize([4, 1])


def test_folded_storage_is_refused() -> None:
    f, g = chain()
    f.store_root().compute_at(g, y).fold_storage(y, 2).debug_to_file("f.npy")
    with pytest.raises(hl.ScheduleError, match=r"fold_storage\(y, 2\).*can't fold: f\.debug_to_file\('f\.npy'\)"):
        g.realize([2, 2])
