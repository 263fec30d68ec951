"""Elements at equal distances: the same with shuffles and one by one, and nothing is read beyond the last of them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.types import INT64, Float, Int, Type, UInt
from halide_core.runtime.codegen.vector.prelude import Prelude
from halide_core.runtime.codegen.vector.strided_loads import (
    InBlock,
    blocks,
    load_every,
    load_of_block,
    load_strided,
)
from tests.support.checking import computed, image, numbers, same, variables

(x,) = variables("x")


@pytest.mark.parametrize("target", ["host", "x86-64-linux-avx2-avx-sse41", "x86-64-linux-sse41", "x86-64-linux"])
@pytest.mark.parametrize("distance", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("type", [UInt(8), Int(16), Float(32), Float(64)], ids=str)
def test_every_so_many_elements(type: Type, distance: int, target: str) -> None:
    for lanes in (4, 8, 16, 32, 64):
        count = 2 * lanes
        source = image(numbers(((count - 1) * distance + 1,), type.dtype), "source")
        f = hl.Func("f")
        f[x] = source[x * distance]
        f.vectorize(x, lanes)
        same(np.asarray(f.realize([count], hl.Target(target))), np.asarray(source.get())[::distance])


def functions(type: Type, lanes: int, distances: Sequence[int]) -> list[str | None]:
    return [load_every(Prelude(), type.with_lanes(lanes), k) for k in distances]


def test_which_lanes_are_shuffled() -> None:
    assert functions(UInt(8), 32, (2, 3, 4)) == [f"load_every_{k}_u8x32" for k in (2, 3, 4)]
    assert functions(UInt(8), 32, (0, 1, 9, -2)) == [None] * 4
    assert functions(UInt(8), 16, (5, 8)) == ["load_every_5_u8x16", "load_every_8_u8x16"]
    assert functions(Float(32), 16, (8, 9)) == ["load_every_8_f32x16", None]
    assert functions(Float(32), 8, (4, 5)) == ["load_every_4_f32x8", None], "more loads than half of the lanes"
    assert functions(UInt(8), 8, (2, 4)) == ["load_every_2_u8x8", "load_every_4_u8x8"], "half a register"
    assert functions(UInt(16), 4, (2, 3)) == ["load_every_2_u16x4", None], "as many loads and shuffles as lanes"
    assert functions(Float(64), 2, (2,)) == [None], "two lanes"


def test_loads_end_with_the_last_element() -> None:
    prelude = Prelude()
    load_every(prelude, UInt(8, 16), 3)
    text = prelude.text()
    assert "p + 16)" in text
    assert "p + 30)" in text, "16 elements from 30 on end at 45 = 15*3"
    assert "p + 32)" not in text


@pytest.mark.parametrize("lanes", [8, 64])
@pytest.mark.parametrize("distance", [2, 3, 4, 7, 8])
def test_nothing_behind_the_last_element_is_touched(distance: int, lanes: int) -> None:
    """The last element is the last of a page, and the next page can't be read."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    whole = np.frombuffer(memory, np.uint8)
    whole[:] = np.arange(2 * page) % 251
    libc = ctypes.CDLL(None)
    start = whole.ctypes.data
    assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
    try:
        size = (lanes - 1) * distance + 1
        part = whole[page - size : page]
        source, f = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Func("f")
        f[x] = source[x * distance]
        f.vectorize(x, lanes)
        source.set(hl.Buffer(part))
        same(computed(f, [lanes]), part[::distance].copy())
    finally:
        assert libc.mprotect(ctypes.c_void_p(start + page), page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@pytest.mark.parametrize("target", ["host", "x86-64-linux-avx2-avx-sse41", "x86-64-linux"])
@pytest.mark.parametrize("distance", [2, 3, 4, 8])
@pytest.mark.parametrize("type", [UInt(8), Int(16), Float(32), Float(64)], ids=str)
def test_elements_between_share_loads(type: Type, distance: int, target: str) -> None:
    for lanes in (4, 8, 16, 32):
        count = 2 * lanes
        data = numbers(((count + 1) * distance,), type.dtype)
        source, f = image(data, "source"), hl.Func("f")
        f[x] = (*(source[x * distance + j] for j in range(distance + 1)),)  # the last one is of the next block
        f.vectorize(x, lanes)
        found = f.realize([count], hl.Target(target))
        for j in range(distance + 1):
            same(np.asarray(found[j]), data[j::distance][:count])


def places(*offsets: int, distance: int = 2) -> list[int | None]:
    """The distances of loads at offsets from the beginnings of their blocks; None of those in none."""
    type, base = Float(32, 8), ir.index_variable("at")
    index = [ir.Ramp(INT64.with_lanes(8), ir.add(base, ir.i64(n)), ir.i64(distance)) for n in offsets]
    found = blocks(loads := [ir.Load(type, "source", at) for at in index])
    return [found[load].ahead if load in found else None for load in loads]


def test_blocks_are_read_to_both_ends() -> None:
    assert places(0, 1) == [0, 1]
    assert places(0) == places(1) == [None]
    assert places(0, 2) == [None, None]
    assert places(4, -1, 0) == [None, 0, 1]
    assert places(0, 1, 2) == [0, 1, 1], "the third one ends a block that begins with the second"
    assert places(0, 2, distance=3) == [0, 2]
    assert places(0, 1, 2, distance=3) == [0, 1, 2]
    assert places(0, 1, 2, distance=4) == [None] * 3
    assert places(0, 1, distance=5) == [None, None]


def test_places_from_memory_are_in_no_block() -> None:
    """A store between the two loads may write where they read."""
    at = ir.Cast(INT64, ir.Load(Int(32), "g", ir.ZERO))
    index = [ir.Ramp(INT64.with_lanes(8), ir.add(at, ir.i64(n)), ir.i64(2)) for n in (0, 1)]
    assert blocks([ir.Load(Int(32, 8), "source", each) for each in index]) == {}


def test_loads_of_a_block_are_the_same() -> None:
    prelude = Prelude()
    for ahead in range(3):
        load_of_block(prelude, UInt(8, 16), InBlock(3, ahead))
    text = prelude.text()
    assert text.count("p + 16)") == text.count("p + 32)") == 3
    assert "p + 30)" not in text
    load_of_block(narrow := Prelude(), UInt(16, 4), InBlock(2, 1))
    assert "u16x8 r = load_u16x8(p);" in narrow.text(), "a block that fits a register"


@pytest.mark.parametrize("backwards", [False, True])
def test_a_block_and_what_goes_backwards_stay_in_their_memory(backwards: bool) -> None:
    """Their elements end with a page, or begin with one, and no other page can be read."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    whole = np.frombuffer(memory, np.uint8)
    whole[:] = np.arange(3 * page) % 251
    libc = ctypes.CDLL(None)
    others = [ctypes.c_void_p(whole.ctypes.data + at) for at in (0, 2 * page)]
    assert all(libc.mprotect(at, page, 0) == 0 for at in others)
    try:
        lanes = 32
        part = whole[page : page + lanes] if backwards else whole[2 * page - 2 * lanes : 2 * page]
        source, f = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Func("f")
        f[x] = source[lanes - 1 - x] if backwards else source[2 * x] ^ source[2 * x + 1]
        f.vectorize(x, lanes)
        source.set(hl.Buffer(part))
        same(computed(f, [lanes]), part[::-1].copy() if backwards else part[::2] ^ part[1::2])
    finally:
        assert all(libc.mprotect(at, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0 for at in others)


@pytest.mark.parametrize("target", ["host", "x86-64-linux-avx2-avx-sse41", "x86-64-linux"])
@pytest.mark.parametrize("type", [UInt(8), Int(16), Float(32), Float(64)], ids=str)
def test_elements_that_go_backwards(type: Type, target: str) -> None:
    for lanes in (2, 4, 8, 16, 32, 64):
        source, f = image(numbers((3 * lanes,), type.dtype), "source"), hl.Func("f")
        f[x] = source[3 * lanes - 1 - x]
        f.vectorize(x, lanes)
        same(np.asarray(f.realize([3 * lanes], hl.Target(target))), np.asarray(source.get())[::-1].copy())


@pytest.mark.parametrize("lanes", [4, 16])
def test_distance_that_is_known_at_run_time_only(lanes: int) -> None:
    source, k = image(numbers((200,), np.uint8), "source"), hl.Param(hl.Int(32), "k", 3)
    f = hl.Func("f")
    f[x] = source[x * k]
    f.vectorize(x, lanes)
    for distance in (0, 1, 2, 3, 4, 5):
        k.set(distance)
        same(computed(f, [32]), np.asarray(source.get())[np.arange(32) * distance])


def test_distances_of_channels_are_asked_for() -> None:
    prelude = Prelude()
    assert load_strided(prelude, UInt(8, 16)) == "load_strided_u8x16"
    text = prelude.text()
    assert "if (stride == 3) return load_every_3_u8x16(p);" in text and "load_every_4_u8x16(p)" in text
    narrow = Prelude()
    load_strided(narrow, UInt(8, 4))
    assert "load_every" not in narrow.text()
