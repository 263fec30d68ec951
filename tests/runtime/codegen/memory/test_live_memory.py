"""Heap memory is freed once for all failures, in the reverse order, of the blocks that are open."""

from __future__ import annotations

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.memory.live_memory import FAILED, LiveMemory
from halide_core.runtime.codegen.names import Names
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, y = variables("x y")


def test_failure_without_memory_returns() -> None:
    memory = LiveMemory(Names())
    memory.open()
    assert memory.returning("e") == ["return e;"]
    assert memory.close() == [] and memory.declared() == []


def test_failures_share_what_frees() -> None:
    memory = LiveMemory(Names())
    memory.open()
    memory.add("a", "")
    outer = memory.returning("1")
    memory.open()
    memory.add("b", " counted();")
    memory.add("c", "")
    inner = memory.returning("2")
    assert memory.returning("3") == [f"{FAILED} = 3;", inner[1]]
    assert memory.close() == [
        "halide_core_free(c);",
        "halide_core_free(b); counted();",
        "if (0) {",
        f"{inner[1][5:-1]}:",
        "    halide_core_free(c);",
        "    halide_core_free(b); counted();",
        f"    {outer[1]}",
        "}",
    ]
    assert memory.close()[-4:] == [f"{outer[1][5:-1]}:", "    halide_core_free(a);", f"    return {FAILED};", "}"]
    assert memory.declared() == [f"    int {FAILED};"]


def test_only_what_a_failure_can_reach_is_freed_behind_one() -> None:
    memory = LiveMemory(Names())
    memory.open()
    memory.add("a", "")
    memory.returning("1")
    memory.add("b", "")
    assert "\n".join(memory.close()).count("halide_core_free(b)") == 1


def text_of(count: int) -> str:
    """The C of so many Funcs whose memory is in use together."""
    source, f = hl.ImageParam(hl.Float(32), 2, "in"), hl.Func("f")
    parts = [hl.Func(f"part{k}_") for k in range(count)]
    for k, g in enumerate(parts):
        g[x, y] = source[x, y] * (k + 1.5)
        g.compute_root()
    total = parts[0][x, y]
    for g in parts[1:]:
        total = total + g[x, y]
    f[x, y] = total
    return emit_c(lower(f._request()))


def test_text_grows_as_the_buffers_do() -> None:
    few, many = (text_of(count) for count in (10, 40))
    assert many.count("halide_core_free(") < 4.5 * few.count("halide_core_free(")
