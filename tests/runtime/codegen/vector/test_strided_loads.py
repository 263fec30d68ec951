"""Elements at equal distances: the same with shuffles and one by one, and nothing is read beyond the last of them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.runtime.codegen.vector.prelude import Prelude
from halide_core.runtime.codegen.vector.strided_loads import load_every, load_strided
from tests.support.checking import computed, image, numbers, same, variables

(x,) = variables("x")


@pytest.mark.parametrize("target", ["host", "x86-64-linux-avx2-avx-sse41", "x86-64-linux-sse41", "x86-64-linux"])
@pytest.mark.parametrize("distance", [2, 3, 4, 5])
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
    assert functions(UInt(8), 32, (0, 1, 5, -2)) == [None] * 4
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
@pytest.mark.parametrize("distance", [2, 3, 4])
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
