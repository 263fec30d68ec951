"""Memory that is arrays of functions: small, or asked for, as long as a thread's stack has room for all."""

from __future__ import annotations

import halide_core as hl
from halide_core import ir
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import UInt
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.memory.sizes import find_arrays
from halide_core.runtime.codegen.unit import emit_c

U8 = UInt(8)
QUARTER = 1 << 18


def asked(name: str, size: int, memory: MemoryType = MemoryType.Stack, within: str | None = None) -> ir.AllocateFlat:
    return ir.AllocateFlat(name, U8, ir.i64(size), size, memory, within=within)


def arrays(*stmts: ir.Stmt) -> set[str]:
    return {s.buffer for s in find_arrays(ir.Block(stmts))}


def test_small_memory_and_what_is_asked_for_are_arrays() -> None:
    small, large = asked("small", 16384, MemoryType.Auto), asked("large", 16385, MemoryType.Auto)
    heap, elsewhere = asked("heap", 1, MemoryType.Heap), asked("elsewhere", 1, within="large")
    assert arrays(small, large, heap, elsewhere, asked("stack", 16385)) == {"small", "stack"}


def test_arrays_that_are_there_at_one_time_have_room() -> None:
    whole = [asked(f"f{i}", QUARTER) for i in range(5)]
    assert arrays(*whole) == {"f0", "f1", "f2", "f3"}
    assert arrays(*whole[:3], ir.Block((whole[3],)), ir.Block((whole[4],))) == {f"f{i}" for i in range(5)}


def test_a_statement_that_stands_where_there_is_no_room_is_no_array() -> None:
    both = ir.Block((asked("f0", QUARTER), asked("f1", QUARTER)))
    assert arrays(both, asked("g", 3 * QUARTER), both) == {"f0", "g"}


def test_memory_for_the_stack_that_has_no_room_is_kept_memory() -> None:
    x, f, e = hl.Var("x"), hl.Func("f"), hl.i32(0)
    for i in range(6):
        g = hl.Func(f"g{i}")
        g[x] = x * i
        g.compute_root().store_in(hl.MemoryType.Stack)
        e = e + g[x]
    f[x] = e
    f.bound(x, 0, QUARTER // 4)
    text = emit_c(lower(f._request()))
    assert (text.count("aligned(64)"), text.count("halide_core_malloc(")) == (4, 2)
