"""The lanes of a vector that pass a guard: how many, what is done for these alone, and the memory that others leave."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, FirstLanes, Load, Ramp, Store
from halide_core.ir.types import INT32, INT64, Float, Int, Type, UInt
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.vectorize import vectorize
from halide_core.lowering.passes.vectorize.first_lanes import may_leave_lanes_out, passing_lanes
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.interpreted import run_program
from tests.support.targets import WIDE, host_without_avx512

x, y = variables("x y")
lane, start, n, m = (ir.index_variable(name) for name in ("lane", "start", "n", "m"))
LANES = 8
DENSE = Ramp(INT64.with_lanes(LANES), start, ir.ONE)
TYPES = [UInt(8), UInt(16), Int(32), Float(32), Float(64), Int(64), hl.Bool()]
far = ir.Cast(INT64, ir.Load(UInt(64), "far", ir.ZERO))


def wide(type: Type) -> Type:
    return type.with_lanes(LANES)


def test_first_lanes_pass_an_end() -> None:
    assert passing_lanes(ir.less(lane, n), lane, start) == (ir.TRUE, ir.sub(n, start))
    assert passing_lanes(ir.less_equal(ir.add(lane, m), n), lane, start) == (
        ir.TRUE, ir.add(ir.sub(ir.sub(n, m), start), ir.ONE),
    )  # fmt: skip
    both = ir.conjunction(ir.less(m, n), ir.less(lane, n))
    assert passing_lanes(both, lane, start) == (ir.conjunction(ir.less(m, n), ir.TRUE), ir.sub(n, start))


@pytest.mark.parametrize(
    "condition",
    [
        ir.less(n, lane),
        ir.less(ir.mul(lane, ir.i64(2)), n),
        ir.less(ir.add(lane, far), n),
        ir.binary(BinaryOp.EQ, lane, n),
        ir.less(ir.mul(lane, lane), n),
    ],
    ids=repr,
)
def test_other_lanes_may_pass_other_conditions(condition: ExprNode) -> None:
    assert passing_lanes(condition, lane, start) is None


def stored(value: ExprNode, index: ExprNode = DENSE) -> Store:
    return Store("out", index, value)


def test_lanes_are_left_out_of_dense_loads_and_stores() -> None:
    dense = Load(wide(INT32), "in", DENSE)
    one = ir.Broadcast(wide(INT32), Load(INT32, "in", start))
    assert may_leave_lanes_out(stored(ir.Binary(wide(INT32), BinaryOp.DIV, dense, one)), LANES)
    assert not may_leave_lanes_out(stored(ir.Binary(wide(INT32), BinaryOp.DIV, one, dense)), LANES)
    floats = Load(wide(Float(32)), "in", DENSE)
    assert may_leave_lanes_out(stored(ir.Binary(floats.type, BinaryOp.DIV, floats, floats)), LANES)
    apart = Ramp(DENSE.type, start, ir.i64(2))
    assert not may_leave_lanes_out(stored(Load(wide(INT32), "in", apart)), LANES)
    assert not may_leave_lanes_out(stored(dense, apart), LANES)
    assert not may_leave_lanes_out(stored(dense), 2 * LANES)
    assert not may_leave_lanes_out(Store("out", DENSE, dense, atomic=True), LANES)


def rows(type: Type, lanes: int, tail: hl.TailStrategy) -> hl.Func:
    """Neighbours of a row, whose ends lie in memory that no lane behind them may read or write."""
    random = np.random.default_rng(3)
    held = image(random.integers(0, 2 if type.is_bool() else 100, (3, 90)).astype(type.dtype), "in")
    f = hl.Func("f")
    f[x, y] = held[x, y] ^ held[x + 1, y] if type.is_bool() else held[x, y] + held[x + 1, y] * held[0, y]
    return f.vectorize(x, lanes, tail)


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_rows_of_every_length(type: Type) -> None:
    for lanes in (4, 16, 64):
        f = rows(type, lanes, hl.TailStrategy.GuardWithIf)
        for width in (1, lanes - 1, lanes + 1, 89):
            wanted = f.evaluate([width, 3])
            same(computed(f, [width, 3]), wanted)
            same(np.asarray(f.realize([width, 3], target=host_without_avx512())), wanted)
            around = np.full((3, width + 80), 77).astype(type.dtype)
            f.realize(hl.Buffer(around[:, 5 : width + 5]))
            same(around[:, 5 : width + 5], wanted)
            assert (around[:, :5] == around[0, 0]).all() and (around[:, width + 5 :] == around[0, 0]).all()


def test_update_as_long_as_a_param_says() -> None:
    p = hl.Param(hl.Int(32), "p", 13)
    r = hl.RDom([(0, p)], "r")
    held = image(numbers((50,), np.int32), "in")
    f = hl.Func("f")
    f[x] = 1
    f[r.x] += held[r.x] * 3
    f.update(0).vectorize(r.x, 16)
    trace = LoweringTrace()
    lower(f._request(target=WIDE), trace=trace)
    assert any(isinstance(s, FirstLanes) for s in walk(trace.passes[-1][1]))
    for end in (-3, 0, 1, 13, 31, 50):
        p.set(end)
        same(computed(f, [50]), f.evaluate([50]))


@pytest.mark.parametrize("lanes", [8, 64])
def test_reductions_that_a_guard_is_around(lanes: int) -> None:
    """All lanes of their sums are added to, in a register or in memory; the first lanes alone are read and written."""
    held = image(np.random.default_rng(4).integers(0, 200, (9, 11, 70)).astype(np.uint8), "in")
    c, r, f = hl.Var("c"), hl.RDom([(0, 3), (0, 2)]), hl.Func("f")
    p = hl.Param(hl.Int(32), "p", 3)  # a quotient by it leaves the loops inside
    part = held[c, hl.clamp(x / p + x + r.x, 0, 10), y + r.y]
    f[c, x, y] = hl.u16(hl.maximum(part)) + hl.sum(hl.u16(part) * hl.u16(r.x + 1)) // 7
    f.vectorize(c, lanes, hl.TailStrategy.GuardWithIf)
    for channels in (1, 3, lanes, lanes + 5):
        wanted = f.evaluate([channels, 5, 8])
        same(computed(f, [channels, 5, 8]), wanted)
        same(np.asarray(f.realize([channels, 5, 8], target=host_without_avx512())), wanted)
    trace = LoweringTrace()
    lower(f._request(target=WIDE), trace=trace)
    masked = [s for s in walk(dict(trace.passes)["vectorize"]) if isinstance(s, FirstLanes)]
    assert any(isinstance(inside, ir.For) for s in masked for inside in walk(s.body))


def test_rows_of_tuples_that_memory_tells() -> None:
    rows_of, held = image(np.array([3, 0, 4, 4, 1], np.int32), "rows"), image(numbers((5, 40), np.int32), "in")
    f, r = hl.Func("f"), hl.RDom([(0, 5)], "r")
    row = hl.clamp(rows_of[r.x], 0, 4)
    f[x, y] = (0, 0)
    f[x, row] = (f[x, row][1] + held[x, r.x], f[x, row][0] + 1)
    f.update(0).reorder(x, r.x).vectorize(x, 16, hl.TailStrategy.GuardWithIf)
    for width in (1, 37):
        for found, wanted in zip(f.realize([width, 5]), f.evaluate([width, 5]), strict=True):
            same(np.asarray(found), wanted)


def test_tree_says_which_lanes() -> None:
    trace = LoweringTrace()
    f = rows(UInt(16), 16, hl.TailStrategy.GuardWithIf)
    lower(f._request(target=WIDE), trace=trace)
    found = [s for s in walk(trace.passes[-1][1]) if isinstance(s, FirstLanes)]
    assert len(found) == 1
    assert "first " in repr(found[0]) and " lanes:" in repr(found[0])


def test_interpreter_looks_at_the_number_of_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorize, "passing_lanes", lambda *_: (ir.TRUE, ir.i64(17)))
    with pytest.raises(InternalError, match="17 of 16 lanes can't do anything"):
        run_program(rows(Int(32), 16, hl.TailStrategy.GuardWithIf), [(0, 21), (0, 3)])


def test_interpreter_leaves_lanes_out() -> None:
    f = rows(Int(32), 16, hl.TailStrategy.GuardWithIf)
    after = run_program(f, [(0, 21), (0, 3)])
    for found in after.values():
        same(found, f.evaluate([21, 3]))
