"""Lanes from anywhere in memory: every element type, by indices of every width; gathered, loaded one by one, and, of
neighbours, two by two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import AllocateFlat, Block, Load, Stmt, Store
from halide_core.ir.types import INT32, INT64, Float, Int, Type, UInt
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.gathers.anywhere import find_tables
from halide_core.runtime.compile.cross import Dialect, dialect
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.execute.jit import compile_pipeline
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.targets import MIDDLE, WIDE, host_without_avx512

x, y = variables("x y")
ELEMENTS = [UInt(8), Int(8), UInt(16), Int(16), UInt(32), Float(32), Int(64), Float(64)]
Index = Callable[[hl.ImageParam], hl.Expr]
INDICES: dict[str, tuple[Type, Index]] = {
    "bytes": (UInt(8), lambda at: hl.i32(at[x])),
    "signed bytes": (Int(8), lambda at: hl.i32(at[x]) + 128),
    "bytes that are computed": (UInt(8), lambda at: hl.i32(at[x] ^ hl.u8(0x5A))),
    "two bytes": (UInt(16), lambda at: hl.i32(at[x] & hl.u16(0xFF))),
    "clamped": (Int(32), lambda at: hl.clamp(at[x], 0, 255)),
    "clamped, and from below": (Int(32), lambda at: 120 + hl.clamp(at[x], -120, 135)),
    "of a row": (Int(32), lambda at: hl.clamp(at[x] + y, 0, 255)),
}


TUNES = ("generic", "znver3")
"""One gathers where there are instructions for it, and one loads elements."""


def tuned(f: hl.Func, tune: str, window: list[int], *arrays: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The result from arrays in the order of their ImageParams' names, compiled for another processor with this one's
    instructions."""
    out = hl.Buffer(f.type(), window)
    of_zig = dialect(find_compiler()) is Dialect.ZIG  # which takes -mtune for the processor that code runs on
    flags = ("-Xclang", "-tune-cpu", "-Xclang", tune) if of_zig else (f"-mtune={tune}",)
    compile_pipeline(replace(f._request(), flags=flags)).run([hl.Buffer(a) for a in arrays], [out])
    return np.asarray(out)


def looked_up(type: Type, index: str, lanes: int) -> hl.Func:
    """A table of the caller's, by numbers from memory."""
    kind, formula = INDICES[index]
    table = image(numbers((256,), np.int32).astype(type.dtype), "table")
    random = np.random.default_rng(5)
    low, high = kind.range if kind.bits() < 32 else (-300, 600)
    at = image(random.integers(low, high, 67, endpoint=True).astype(kind.dtype), "at")
    f = hl.Func("f")
    f[x, y] = table[formula(at)]
    return f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)


@pytest.mark.parametrize("index", list(INDICES))
@pytest.mark.parametrize("type", ELEMENTS, ids=str)
def test_elements_from_anywhere(type: Type, index: str) -> None:
    for lanes in (4, 8, 32):
        f = looked_up(type, index, lanes)
        wanted = f.evaluate([67, 2])
        same(computed(f, [67, 2]), wanted)
        same(np.asarray(f.realize([67, 2], target=host_without_avx512())), wanted)


def test_bytes_are_loaded_by_bytes() -> None:
    """As an index a byte needs no conversion; eight of them leave a register at once, those that are clamped, too."""
    text = emit_c(lower(looked_up(UInt(8), "bytes", 32)._request(target=MIDDLE)))
    assert "gather_u8x8_u8x8" in text and "i32x8_of_u8x8" not in text
    text = emit_c(lower(looked_up(UInt(8), "clamped", 32)._request(target=MIDDLE)))
    assert "gather_u8x8_u8x8" in text and "(uint8_t)(atw0 >> 56)" in text


@pytest.mark.parametrize("tune", TUNES)
@pytest.mark.parametrize("type", [UInt(8), UInt(16), Float(32), Int(64)], ids=str)
@pytest.mark.parametrize("lanes", [8, 12, 32])
def test_rows_anywhere(lanes: int, type: Type, tune: str) -> None:
    """Rows that are near to each other are counted in 32 bits, and those that lie backwards are not."""
    rows, columns = 40, 50
    random = np.random.default_rng(8)
    table = numbers((rows, columns), np.int32).astype(type.dtype)
    row, column = (random.integers(-9, 60, 67).astype(np.int32) for _ in "ab")
    tables, a, b = hl.ImageParam(type, 2, "a"), hl.ImageParam(hl.Int(32), 1, "b"), hl.ImageParam(hl.Int(32), 1, "c")
    f = hl.Func("f")
    f[x] = tables[hl.clamp(a[x], 0, columns - 1), hl.clamp(b[x], 0, rows - 1)]
    f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
    for held in (table, table[::-1]):
        wanted = held[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
        same(tuned(f, tune, [67], held, column, row), wanted)


@pytest.mark.parametrize("tune", TUNES)
@pytest.mark.parametrize("type", ELEMENTS, ids=str)
def test_however_a_machine_gathers(type: Type, tune: str) -> None:
    table = numbers((256,), np.int32).astype(type.dtype)
    random = np.random.default_rng(6)
    for kind in (np.uint8, np.int32):
        at = random.integers(0, 256, 67).astype(kind)
        tables, places = hl.ImageParam(type, 1, "a"), hl.ImageParam(hl.Buffer(at).type(), 1, "b")
        f = hl.Func("f")
        f[x] = tables[hl.clamp(hl.i32(places[x]), 0, 255)]
        f.vectorize(x, 16, hl.TailStrategy.GuardWithIf)
        same(tuned(f, tune, [67], table, at), table[at])


NEIGHBOURS = {"two": (0, 1), "backwards": (1, 0), "three": (1, 0, 2), "four": (3, 0, 1, 2), "apart": (0, 2)}


@pytest.mark.parametrize("tune", TUNES)
@pytest.mark.parametrize("type", [Int(32), Float(32), Int(64)], ids=str)
@pytest.mark.parametrize("chosen", NEIGHBOURS)
def test_neighbours(chosen: str, type: Type, tune: str) -> None:
    """The last elements of the table are read, and nothing behind them."""
    random, size = np.random.default_rng(7), 256
    table, at = random.integers(0, 99, size).astype(type.dtype), random.integers(0, size - 3, 67).astype(np.int32)
    at[:4] = size - 4
    steps = NEIGHBOURS[chosen]
    wanted = sum(table[at + step].astype(np.int64) * (step + 2) for step in steps)
    for lanes in (4, 8, 16):
        tables, places, f = hl.ImageParam(type, 1, "a"), hl.ImageParam(hl.Int(32), 1, "b"), hl.Func("f")
        place = hl.clamp(places[x], 0, size - 4)
        values = [hl.cast(Int(64), tables[place + step]) * (step + 2) for step in steps]
        f[x] = values[0] + sum(values[1:])
        f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
        same(tuned(f, tune, [67], table, at), wanted)


def test_neighbours_are_loaded_together() -> None:
    """In the loop, and in the last lanes of a row."""
    table, at = hl.ImageParam(hl.Float(32), 2), hl.ImageParam(hl.Int(32), 1)
    f = hl.Func("f")
    place = hl.clamp(at[x], 0, 9)
    f[x, y] = table[place, y] + table[place + 1, y] * table[place, y + 1] - table[place + 1, y + 1]
    f.vectorize(x, 8)
    text = emit_c(lower(f._request(target=MIDDLE)))
    assert text.count(" = gather_two_f32x8_") == 2 * 2 and " = gather_f32x8_" not in text


def test_neighbours_in_a_padded_table_are_looked_up() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    at = hl.ImageParam(hl.Int(32), 1)
    g[x] = hl.u8(x)
    place = hl.clamp(at[x], 0, 254)
    f[x] = g[place] + g[place + 1]
    g.compute_root()
    f.vectorize(x, 16)
    assert "gather_two" not in emit_c(lower(f._request(target=WIDE)))


@pytest.mark.parametrize("owners", [("a", "b"), ("a", None), (None, "b")], ids=str)
def test_table_lives_in_memory_of_its_own_in_each_copy_of_a_loop(owners: tuple[str | None, str | None]) -> None:
    """All that it lives in anywhere has room behind its end."""
    lanes = UInt(8, 16)
    places = ir.Cast(INT64.with_lanes(16), ir.Broadcast(INT32.with_lanes(16), ir.Variable(INT32, "at")))
    at = ir.Binary(places.type, ir.BinaryOp.ADD, ir.Broadcast(places.type, ir.ZERO), places)
    read = Store("out", ir.Ramp(places.type, ir.ZERO, ir.ONE), Load(lanes, "table", at))

    def copy(owner: str | None) -> Stmt:
        size = ir.index_variable("n")
        around = [] if owner is None else [AllocateFlat(owner, UInt(8), size, None)]
        return Block((*around, AllocateFlat("table", UInt(8), size, None, within=owner), read))

    assert find_tables(Block(tuple(map(copy, owners)))) == {"table", *owners} - {None}
