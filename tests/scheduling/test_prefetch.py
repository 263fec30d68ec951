"""``prefetch``: which points it asks for, where, and that no value depends on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Interval, PrefetchLine, PrefetchRegion, Stmt
from halide_core.ir.printer import format_stmt
from halide_core.ir.visitor import Rewriter, walk
from halide_core.lowering.driver import lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import MemoryFault
from halide_core.lowering.interpreter.prefetch import is_inside
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import check, image, numbers
from tests.support.dumps import after

x, y, c, xo, yo, xi, yi = (hl.Var(n) for n in "x y c xo yo xi yi".split())
Strategy = hl.PrefetchBoundStrategy
GUARD = hl.TailStrategy.GuardWithIf


def pair() -> tuple[hl.ImageParam, hl.Func, hl.Func]:
    """An input, g, and f, which sums two rows of it."""
    im = image(numbers((24, 40), np.int32), "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x, y] + g[x, y + 1]
    return im, g, f


def boxes(f: hl.Func) -> list[str]:
    """The prefetches, as text."""
    found = [s for s in walk(after(f, "prefetch")) if isinstance(s, PrefetchRegion)]
    return [format_stmt(s) for s in found]


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("offset", [0, 1, 3, 1000])
def test_values_stay(strategy: hl.PrefetchBoundStrategy, offset: int) -> None:
    im, g, f = pair()
    g.compute_root().prefetch(im, y, y, offset, strategy)
    f.split(x, xo, xi, 16, GUARD).prefetch(g, xo, y, offset, strategy)
    check(f, [38, 20], np.asarray(f.evaluate([38, 20])))


def test_box_is_what_the_body_reads_further_on() -> None:
    _, g, f = pair()
    g.compute_root()
    f.prefetch(g, y, y, 2, Strategy.NonFaulting)
    assert boxes(f) == ["prefetch g((f.min.0, f.extent.0), (f.s0.y + 2, 2))"]


def test_guard_asks_for_nothing_beyond_the_memory() -> None:
    _, g, f = pair()
    g.compute_root()
    f.prefetch(g, y, y, 2)
    assert "if f.s0.y + 3 < f.min.1 + g.s0.y.len:" in format_stmt(after(f, "simplify"))


def test_loop_inside_the_one_that_is_ahead() -> None:
    _, g, f = pair()
    g.compute_root()
    f.tile(x, y, xo, yo, xi, yi, 8, 4, GUARD).prefetch(g, xo, yo, 1, Strategy.NonFaulting)
    (told,) = boxes(f)
    assert "f.s0.y.yo*4" in told and "+ 4" in told  # tiles of the next row of tiles
    check(f, [37, 19], np.asarray(f.evaluate([37, 19])))


def test_what_memory_decides_takes_the_whole_dimension() -> None:
    table, im = image(numbers((40,), np.int32), "table"), image(numbers((24, 40), np.int32), "im")
    f = hl.Func("f")
    f[x, y] = im[hl.clamp(table[y], 0, 39), y] + im[x, y]
    f.prefetch(im, y, y, 1)
    check(f, [30, 20], np.asarray(f.evaluate([30, 20])))


def test_producers_inside_the_loop_count() -> None:
    im, g, f = pair()
    f.prefetch(im, y, y, 1, Strategy.NonFaulting)
    g.compute_at(f, y)
    assert boxes(f) == ["prefetch im((f.min.0, f.extent.0), (f.s0.y + 1, 2))"]
    check(f, [30, 20], np.asarray(f.evaluate([30, 20])))


def test_specialized_stage_prefetches_in_each_case() -> None:
    im, g, f = pair()
    p = hl.Param(hl.Int(32), "p", 3)
    g.compute_at(f, y).store_root()
    f.prefetch(im, y, y, p).specialize(p > 2).vectorize(x, 4)
    assert sum(isinstance(s, PrefetchLine) for s in walk(lower(f._request()).body)) == 2
    check(f, [30, 20], np.asarray(f.evaluate([30, 20])))
    p.set(-1)
    with pytest.raises(hl.PipelineError, match="prefetch"):
        f.realize([30, 20])


def test_parallel_unrolled_and_update_loops() -> None:
    im, g, f = pair()
    r = hl.RDom([(0, 5), (0, 7)], "r")
    f[x, y] += im[x, r.y] * im[r.x, y]
    g.compute_root().parallel(y).prefetch(im, y, y, 2, Strategy.Clamp)
    f.unroll(y, 2).prefetch(g, y, y, 1)
    f.update().prefetch(im, r.y, r.y, 1).prefetch(f, y, y, 1)
    check(f, [30, 18], np.asarray(f.evaluate([30, 18])))


def test_components_of_a_tuple_and_points_without_dimensions() -> None:
    s, t, f = hl.Func("s"), hl.Func("t"), hl.Func("f")
    s[()] = 5
    t[x, y] = (x + y, hl.u8(x))
    f[x, y] = t[x, y][0] + hl.i32(t[x, y + 1][1]) + s[()]
    s.compute_root()
    t.compute_root().reorder_storage(y, x)
    f.prefetch(t, y, y, 1).prefetch(s, x, x, 1)
    assert {s.buffer for s in walk(lower(f._request()).body) if isinstance(s, PrefetchLine)} == {"t.0", "t.1", "s"}
    check(f, [9, 7], np.asarray(f.evaluate([9, 7])))


def test_address_outside_is_a_number() -> None:
    im, g, f = pair()
    g.compute_root()
    f[x, y] += im[x, y]
    f.prefetch(g, y, y, 2**31 - 1, Strategy.NonFaulting)
    f.update().prefetch(im, y, y, 2**31 - 1, Strategy.NonFaulting)
    text = emit_c(lower(f._request()))
    assert "__builtin_prefetch((const void *)((uintptr_t)im_data + (uintptr_t)" in text
    check(f, [30, 20], np.asarray(f.evaluate([30, 20])))


class _Further(Rewriter):
    """Prefetches of a place further on."""

    def rewrite_PrefetchLine(self, s: PrefetchLine) -> Stmt:
        """One far outside."""
        return replace(s, index=ir.add(s.index, ir.i64(10**6)))


def test_interpreter_sees_to_it_that_places_are_inside() -> None:
    _, g, f = pair()
    f.bound(x, 0, 6).bound(y, 0, 5)
    g.compute_root()
    f.prefetch(g, y, y, 2)
    lowered = lower(f._request())
    given: Any = [hl.Buffer(numbers((24, 40), np.int32))], [hl.Buffer(hl.Int(32), [6, 5])]
    interpret(lowered.body, lowered.arguments, *given)
    with pytest.raises(MemoryFault, match="prefetched"):
        interpret(_Further().stmt(lowered.body), lowered.arguments, *given)


def test_schedule_as_a_value() -> None:
    im, g, f = pair()
    p = hl.Param(hl.Int(32), "p", 1)
    g.compute_root().prefetch(im, y, y, p)
    f.prefetch(g, y, y, 2, Strategy.Clamp)
    plain = hl.Schedule(f)
    source = plain.source()
    assert source.startswith("def schedule(g, f, im, p):")
    assert "f.prefetch(g, y, y, 2, hl.PrefetchBoundStrategy.Clamp)" in source
    space: dict[str, Any] = {"hl": hl}
    exec(source, space)
    plain.clear()
    space["schedule"](g, f, im, p)
    assert hl.Schedule(f).directives() == plain.directives()
    other, again, last = image(numbers((24, 40), np.int32), "im"), hl.Func("g"), hl.Func("f")
    again[x, y] = other[x, y] * p
    last[x, y] = again[x, y] + again[x, y + 1]
    plain.apply(last)
    assert hl.Schedule(last).directives() == plain.directives()
    check(last, [9, 8], np.asarray(last.evaluate([9, 8])))


def test_prefetch_of_an_input_is_not_of_a_func_of_its_name() -> None:
    """Of what is read no input shares its name with a Func; one that nothing reads may."""
    unread, g, f = hl.ImageParam(hl.Int(32), 1, "g"), hl.Func("g"), hl.Func("f")
    g[x] = x * 2
    f[x, y] = g[x + y]
    g.compute_root()
    f.prefetch(unread, y, y, 2)
    with pytest.raises(hl.ScheduleError, match='nothing reads memory of "g", which is no part of the pip'):
        after(f, "prefetch")


@pytest.mark.parametrize("strategy", Strategy)
def test_prefetch_says_where_it_stays_inside(strategy: hl.PrefetchBoundStrategy) -> None:
    g = hl.Func("g")
    g[x] = 0
    for box in (None, (Interval(ir.ZERO, ir.ONE),)):
        region = PrefetchRegion(g.function, ir.index_variable("x"), ir.ONE, strategy, box)
        assert is_inside(region) == (box is not None and strategy is not Strategy.NonFaulting)
