"""Lanes whose places are close together: the elements that they read and no others, for machines of all kinds."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.types import INT64, Float, Int, Type, UInt
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.gathers.close import registers_between
from tests.support.checking import image, numbers, same, variables
from tests.support.targets import WIDE

(x,) = variables("x")
TARGETS = ("host", "x86-64-linux-avx2-avx-sse41", "x86-64-linux")
PLACES: tuple[Callable[[hl.Expr], hl.Expr], ...] = (
    lambda at: at // 4 * 2 + 1,
    lambda at: at // 5 + 3,
    lambda at: at // 2 * 2,
    lambda at: at // 3 * 4,
    lambda at: hl.max(at // 2, at // 3 * 2 - 4),
    lambda at: at // 4 + at // 3,
    lambda at: hl.clamp(at - 5, 0, 30),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("type", [UInt(8), Int(32), Float(32), Float(64)], ids=str)
def test_places_that_rise_slowly(type: Type, target: str) -> None:
    data = numbers((140,), type.dtype)
    for lanes in (4, 8, 16):
        source, f = image(data, "source"), hl.Func("f")
        f[x] = (*(source[place(x + lanes // 4 + 1)] for place in PLACES),)
        f.vectorize(x, lanes)
        for found, wanted in zip(f.realize([96], hl.Target(target)), f.evaluate([96]), strict=True):
            same(np.asarray(found), wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize(("by", "step"), [(2, 2), (2, 3), (4, 2), (4, 4)])
def test_nothing_around_them_is_touched(by: int, step: int, start: int, lanes: int, target: str) -> None:
    """The elements end with a page, or begin with one, and no other page can be read."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    whole = np.frombuffer(memory, np.float32)
    whole[:] = np.arange(len(whole)) % 251
    libc = ctypes.CDLL(None)
    others = [ctypes.c_void_p(whole.ctypes.data + at) for at in (0, 2 * page)]
    first, last = start // by * step, (start + lanes - 1) // by * step
    middle, size = page // whole.itemsize, last - first + 1
    assert all(libc.mprotect(at, page, 0) == 0 for at in others)
    try:
        for part in (whole[middle : middle + size], whole[2 * middle - size : 2 * middle]):
            source, f = hl.ImageParam(hl.Float(32), 1, "source"), hl.Func("f")
            f[x] = source[(x + start) // by * step]
            f.vectorize(x, lanes)
            held = hl.Buffer(part)
            held.set_min([first])
            source.set(held)
            wanted = part[(np.arange(lanes) + start) // by * step - first]
            same(np.asarray(f.realize([lanes], hl.Target(target))), wanted)
    finally:
        assert all(libc.mprotect(at, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0 for at in others)


def test_one_load_for_a_register() -> None:
    source, f = image(numbers((80,), np.float32), "source"), hl.Func("f")
    f[x] = source[x // 4 * 2] + source[x // 4 * 2 + 1]
    f.vectorize(x, 8)
    text = emit_c(lower(f._request(target=WIDE)))
    assert "gather_close_1_f32x8" in text and "gather_two_" not in text


def lanes_of(count: int, step: int = 1) -> ir.ExprNode:
    """Places at equal distances."""
    return ir.Ramp(INT64.with_lanes(count), ir.index_variable("x"), ir.i64(step))


def placed(rest: ir.ExprNode) -> ir.ExprNode:
    """The index of places behind a row's."""
    return ir.add(ir.Broadcast(rest.type, ir.index_variable("row")), rest)


def of_lanes(op: ir.BinaryOp, a: ir.ExprNode, b: int) -> ir.ExprNode:
    """An operator of lanes, and of one number for all."""
    return ir.Binary(a.type, op, a, ir.Broadcast(a.type, ir.i64(b)))


def test_places_are_close() -> None:
    """As many elements as a register has, and one more; lanes that fall; what may rise in any way."""
    quarters = of_lanes(ir.BinaryOp.DIV, lanes_of(8), 4)
    type = Float(32, 8)
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MUL, quarters, 3))) == 1
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MUL, quarters, 4))) == 2
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MUL, quarters, 7))) == 2
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MUL, quarters, 8))) == 0
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MUL, quarters, -1))) == 0
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.DIV, lanes_of(8), -4))) == 0
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.DIV, lanes_of(8, -1), 4))) == 0
    assert registers_between(type, placed(of_lanes(ir.BinaryOp.MOD, lanes_of(8), 4))) == 0
    assert registers_between(Float(32, 4), placed(of_lanes(ir.BinaryOp.DIV, lanes_of(4), 4))) == 0, "half a register"
