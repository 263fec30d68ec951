"""Asynchronous producers: the same values in every order of the threads, and no more of them ahead than is proven."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.infer import ahead
from halide_core.bounds.query.answers import Lead
from halide_core.bounds.verify.program import program_claims
from halide_core.ir import NOTHING, Acquire, Fork, Release, Stmt
from halide_core.ir.printer import format_stmt
from halide_core.ir.visitor import Rewriter, walk
from halide_core.lowering.driver import CERTIFIED, LoweringTrace, certify, lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import RaceError
from halide_core.lowering.interpreter.threads import DeadlockError
from halide_core.runtime.crt.runtime_library import runtime
from tests.support.checking import variables
from tests.support.dumps import after
from tests.support.interpreted import run_program
from tests.support.raising import raised

Golden = Callable[[str, str], None]

x, y, xo, yo, xi, yi = variables("x y xo yo xi yi")
W, H = 7, 6
GUARD = hl.TailStrategy.GuardWithIf


def rows() -> tuple[hl.Func, hl.Func]:
    """A producer, and what reads three rows of it."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y + x
    f[x, y] = g[x, y] + g[x, y + 1] * 2 + g[x, y + 2]
    return g, f


def chain(*, across: bool) -> tuple[hl.Func, hl.Func, hl.Func]:
    """Three stages; with ``across`` the last one reads the first too."""
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x + 2 * y
    g[x, y] = h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] + g[x, y + 1] + (h[x, y] * 3 if across else 0)
    return h, g, f


def at_the_root() -> hl.Func:
    g, f = rows()
    g.compute_root().async_()
    return f


def two_at_the_root() -> hl.Func:
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y], g[x, y] = x + 2 * y, x * y
    f[x, y] = g[x, y] - h[x, y]
    h.compute_root().async_()
    g.compute_root().async_()
    return f


def sliding() -> hl.Func:
    g, f = rows()
    g.store_root().compute_at(f, y).async_()
    return f


def folded() -> hl.Func:
    g, f = rows()
    g.store_root().compute_at(f, y).fold_storage(y, 5).async_()
    return f


def folded_tightly() -> hl.Func:
    g, f = rows()
    g.store_root().compute_at(f, y).fold_storage(y, 3).async_()
    return f


def in_each_row() -> hl.Func:
    g, f = rows()
    g.compute_at(f, y).async_()
    f.parallel(y)
    return f


def tiles() -> hl.Func:
    g, f = rows()
    f.tile(x, y, xo, yo, xi, yi, 4, 4)
    g.store_root().compute_at(f, xo).async_()
    return f


def strips_in_threads() -> hl.Func:
    g, f = rows()
    f.split(y, yo, yi, 3, GUARD).parallel(yo).vectorize(x, 4, GUARD)
    g.store_at(f, yo).compute_at(f, yi).vectorize(x, 4, GUARD).async_()
    return f


def one_behind_the_other() -> hl.Func:
    h, g, f = chain(across=False)
    h.store_root().compute_at(f, y).async_()
    g.store_root().compute_at(f, y).async_()
    return f


def read_by_two_threads() -> hl.Func:
    h, g, f = chain(across=True)
    h.store_root().compute_at(f, y).fold_storage(y, 8).async_()
    g.store_root().compute_at(f, y).fold_storage(y, 4).async_()
    return f


def with_its_own_producer() -> hl.Func:
    h, g, f = chain(across=False)
    h.store_root().compute_at(f, y)
    g.store_root().compute_at(f, y).async_()
    return f


def one_in_another() -> hl.Func:
    h, g, f = chain(across=False)
    h.compute_at(g, y).async_()
    g.compute_root().async_()
    f.parallel(y)
    return f


def updates_of_vectors() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    g[x, y] += g[x, y] * 2 - x
    f[x, y] = g[x, y] + g[x, y + 1]
    g.store_root().compute_at(f, y).vectorize(x, 4, GUARD).async_()
    g.update().vectorize(x, 4, GUARD)
    f.vectorize(x, 8, GUARD)
    return f


def two_cases() -> hl.Func:
    g, f = rows()
    p = hl.Param(hl.Int(32), "p", 3)
    g.store_root().compute_at(f, y).async_()
    f.specialize(p == 3).vectorize(x, 4, GUARD)
    return f


def unrolled() -> hl.Func:
    g, f = rows()
    f.unroll(y, 2, GUARD)
    g.store_root().compute_at(f, y).async_()
    return f


def tuples() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = (x + y, x * y)
    f[x, y] = g[x, y][0] + g[x, y + 1][1]
    g.store_root().compute_at(f, y).async_()
    return f


def walking_down() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + 3 * y
    f[x, y] = g[x, -y] + g[x, 1 - y]
    g.store_root().compute_at(f, y).async_()
    return f


def writing_elsewhere() -> hl.Func:
    """The update writes a row that other iterations read."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + 3 * y
    g[x, 2] += 5
    f[x, y] = g[x, y] + g[x, y + 1]
    g.store_root().compute_at(f, y).async_()
    return f


def ring_in_each_strip() -> hl.Func:
    g, f = rows()
    f.tile(x, y, xo, yo, xi, yi, 2, 2).parallel(yo)
    g.compute_at(f, xo).hoist_storage(f, yo).ring_buffer(3).async_()
    return f


def ring_of_all_tiles() -> hl.Func:
    g, f = rows()
    f.tile(x, y, xo, yo, xi, yi, 4, 2, GUARD)
    g.compute_at(f, xo).hoist_storage_root().ring_buffer(2).async_()
    return f


def ring_in_loops_that_a_guard_skips() -> hl.Func:
    """Six iterations are skipped between strips: the copy of the next one would be that of what is read yet."""
    g, f = rows()
    f.split(x, xo, xi, 3, hl.TailStrategy.ShiftInwards).split(y, yo, yi, 4, GUARD).reorder(xi, yi, yo, xo)
    g.compute_at(f, xi).hoist_storage_root().ring_buffer(4).async_()
    return f


def rings_one_behind_the_other() -> hl.Func:
    h, g, f = chain(across=True)
    h.compute_at(f, y).hoist_storage_root().ring_buffer(3).async_()
    g.compute_at(f, y).hoist_storage_root().ring_buffer(2).async_().vectorize(x, 4, GUARD)
    f.vectorize(x, 4, GUARD)
    return f


def ring_of_tuples_and_updates() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = (x + y, x * y)
    g[x, y] = (g[x, y][0] + 1, g[x, y][1] - g[x, y][0])
    f[x, y] = g[x, y][0] + g[x, y + 1][1]
    g.compute_at(f, y).hoist_storage_root().ring_buffer(4).reorder_storage(y, x).align_storage(y, 4).async_()
    return f


def read_where_a_param_says() -> hl.Func:
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x * y
    g[x, y] = hl.select(hl.Param(hl.Int(32), "p", 1) > 0, h[x, y] + h[x, y + 1], 0)
    f[x, y] = g[x, y] + g[x, y + 1]
    h.store_root().compute_at(f, y).async_()
    g.store_root().compute_at(f, y).async_()
    return f


def read_beyond_what_is_needed() -> hl.Func:
    """Rounding up reads rows that nobody needs, which the producer's thread may not write meanwhile."""
    h, g, f = chain(across=False)
    h.store_root().compute_at(f, y).async_()
    g.store_root().compute_at(f, y).split(y, yo, yi, 3, hl.TailStrategy.RoundUp)
    return f


PROGRAMS = [
    read_beyond_what_is_needed,
    ring_in_each_strip, ring_of_all_tiles, ring_in_loops_that_a_guard_skips, rings_one_behind_the_other,
    ring_of_tuples_and_updates,
    at_the_root, two_at_the_root, sliding, folded, folded_tightly, in_each_row, tiles, strips_in_threads,
    one_behind_the_other, read_by_two_threads, with_its_own_producer, one_in_another, updates_of_vectors, two_cases,
    unrolled, tuples, walking_down, writing_elsewhere,
    read_where_a_param_says,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_asynchronous_producers_change_no_value(program: Callable[[], hl.Func]) -> None:
    f = program()
    wanted = np.asarray(f.evaluate([W, H]))
    for seed in range(2):
        for found in run_program(f, [(0, W), (0, H)], rng=random.Random(seed)).values():
            np.testing.assert_array_equal(found, wanted)
    for _ in range(5):
        np.testing.assert_array_equal(np.asarray(f.realize([W, H])), wanted)
    assert any(isinstance(s, Fork) for s in walk(after(f, "fork")))


def test_forks_of_two_iterations_may_stand_in_one_block() -> None:
    """Those of a loop that is written out: what they allocate is hoisted, and nothing else is left between them."""
    k, g, f = hl.Func("k"), hl.Func("g"), hl.Func("f")
    k[y] = y * 5
    g[x] = x * 3
    f[y] = g[y] + g[y + 1] + k[y] + k[y + 1]
    f.bound(y, 0, 2)
    g.compute_at(f, y).hoist_storage_root().async_()
    k.compute_at(f, y).store_root()
    np.testing.assert_array_equal(f.realize([2]), f.evaluate([2]))


@pytest.mark.parametrize("program", [sliding, read_by_two_threads, strips_in_threads, one_in_another])
def test_nothing_waits_for_ever_where_there_is_one_thread(program: Callable[[], hl.Func]) -> None:
    f = program()
    wanted = np.asarray(f.evaluate([W, H]))
    before = runtime().halide_core_set_num_threads(1)
    try:
        for _ in range(50):
            np.testing.assert_array_equal(np.asarray(f.realize([W, H])), wanted)
    finally:
        runtime().halide_core_set_num_threads(before)


# -- how far ahead


def counts(f: hl.Func) -> dict[str, int]:
    """The semaphores and their first counts."""
    return {name: n for s in walk(after(f, "fork")) if isinstance(s, Fork) for name, n in s.semaphores}


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (sliding, {"g.filled": 0}),
        (folded, {"g.filled": 0, "g.free": 3}),
        (folded_tightly, {"g.filled": 0, "g.free": 1}),
        (tiles, {"g.filled": 0, "g.free": 1}),
        (walking_down, {"g.filled": 0, "g.free": 1}),
        (writing_elsewhere, {"g.filled": 0, "g.free": 1}),
        (at_the_root, {"g.filled": 0}),
        (read_beyond_what_is_needed, {"h.filled": 0, "h.free": 1}),
        (ring_in_each_strip, {"g.filled": 0, "g.free": 3}),
        (ring_of_tuples_and_updates, {"g.filled": 0, "g.free": 4}),
        (ring_in_loops_that_a_guard_skips, {"g.filled": 0, "g.free": 1}),
    ],
)
def test_producer_is_as_far_ahead_as_is_proven(program: Callable[[], hl.Func], wanted: Mapping[str, int]) -> None:
    assert counts(program()) == wanted


def test_asynchronous_func_folds_only_where_it_is_asked_to() -> None:
    assert "folding" not in format_stmt(after(sliding(), "fork"))
    assert "folding y by 5" in format_stmt(after(folded(), "fork"))


def _in_many_orders(run: Callable[[random.Random], object]) -> None:
    for seed in range(30):
        run(random.Random(seed))


@pytest.mark.uncertified
@pytest.mark.parametrize("program", [folded_tightly, folded, writing_elsewhere])
def test_a_few_iterations_further_would_be_a_race(
    program: Callable[[], hl.Func], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ahead.iterations_ahead

    def further(*given: Any) -> Lead:
        lead = known(*given)
        assert lead.count is not None
        return Lead(lead.count + 2, lead.loop, lead.dim)

    monkeypatch.setattr("halide_core.bounds.infer.inference.iterations_ahead", further)
    with pytest.raises(RaceError):
        _in_many_orders(lambda rng: run_program(program(), [(0, W), (0, H)], after="flatten", rng=rng))


class Without(Rewriter):
    """A tree whose threads don't wait, or don't tell."""

    def __init__(self, lost: type[Stmt]) -> None:
        super().__init__()
        self._lost = lost

    def stmt(self, stmt: Stmt) -> Stmt:
        return NOTHING if isinstance(stmt, self._lost) else super().stmt(stmt)


def test_producer_ahead_of_what_is_rounded_up_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who finds how far ahead it may be is not who proves it."""
    monkeypatch.setattr(ahead, "reads_beyond", lambda *_: False)
    f = read_beyond_what_is_needed()
    assert counts(f) == {"h.filled": 0, "h.free": 1}
    assert "reads beyond what is needed" in f.loop_nest()


@pytest.mark.parametrize(("lost", "error"), [(Acquire, RaceError), (Release, DeadlockError)])
def test_threads_that_do_not_wait_race_and_that_are_not_told_wait(lost: type[Stmt], error: type[Exception]) -> None:
    f = folded()
    request, trace = f._request(), LoweringTrace()
    arguments = lower(request, trace=trace).arguments
    broken = Without(lost).stmt(dict(trace.passes)["fork"])
    with pytest.raises(error):
        _in_many_orders(lambda rng: interpret(broken, arguments, [], [hl.Buffer(hl.Int(32), [W, H])], shuffle=rng))


def test_certificate_says_how_far_ahead_a_producer_is() -> None:
    g, f = rows()
    g.store_root().compute_at(f, y).fold_storage(y, 7).async_()
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    assert trace.query is not None and trace.answers is not None
    claims = program_claims(trace.query, trace.answers, dict(trace.passes)[CERTIFIED]).tree
    told = [str(claim.text) for claim in claims]
    assert any("4 iterations ahead, dimension 1 has slots enough" in t for t in told)
    assert any("is above what the iteration before reads" in t for t in told)


@pytest.mark.parametrize("slid", [True, False], ids=["slides", "is computed anew"])
def test_producer_that_is_ahead_by_other_loops_than_is_proven_is_refuted(
    monkeypatch: pytest.MonkeyPatch, slid: bool
) -> None:
    """Memory of one slice: one slice ahead, rows would be overwritten that are read still."""
    z = hl.Var("z")

    def forced(*given: Any) -> Lead:
        found = next((each for each in given[4] if each.loop is not None), None)
        return Lead(None) if found is None else Lead(None, found.loop, found.dim)

    monkeypatch.setattr("halide_core.bounds.infer.inference.iterations_ahead", forced)
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y + x
    f[x, y, z] = (g[x, y] + g[x, y + 1] if slid else g[x, (y * 7) % 5]) * z
    g.store_root().compute_at(f, y).async_()
    told = [each.claim.told() for each in certify(f._request()).failures]
    assert any('it is ahead by no iteration of loop "f.s0.z"' in each for each in told), told


# -- where there is no thread


def test_producer_of_two_threads_that_has_none_is_named() -> None:
    h, g, f = chain(across=True)
    h.store_root().compute_at(f, y)
    g.store_root().compute_at(f, y).async_()
    with pytest.warns(hl.IgnoredDirectiveWarning, match='"h" would be computed in one thread and read in another'):
        found = f.realize([W, H])
    np.testing.assert_array_equal(np.asarray(found), np.asarray(f.evaluate([W, H])))


@pytest.mark.always_legal("async_")
def test_output_and_inlined_func_have_no_thread() -> None:
    g, f = rows()
    f.async_()
    with pytest.warns(hl.IgnoredDirectiveWarning, match="nothing reads it beside"):
        f.realize([W, H])
    g, f = rows()
    g.async_()
    with pytest.warns(hl.IgnoredDirectiveWarning, match="computed inline"):
        f.realize([W, H])
    g, f = rows()
    g.ring_buffer(2)
    with pytest.warns(hl.IgnoredDirectiveWarning, match="computed inline"):
        f.realize([W, H])


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        (lambda g, f: g.compute_at(f, y).hoist_storage_root().ring_buffer(2), "one iteration after another"),
        (
            lambda g, f: g.store_at(f, y).compute_at(f, x).hoist_storage_root().ring_buffer(2).async_(),
            "its memory lives outside of loops around its computation",
        ),
        (lambda g, f: f.ring_buffer(2), "its memory is the caller's"),
    ],
)
def test_ring_that_nothing_would_use_is_told(schedule: Callable[[hl.Func, hl.Func], object], told: str) -> None:
    g, f = rows()
    g.compute_root()
    schedule(g, f)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=told):
        found = f.realize([W, H])
    np.testing.assert_array_equal(np.asarray(found), np.asarray(f.evaluate([W, H])))


def test_copy_less_would_be_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halide_core.lowering.driver.ring_leads", lambda rings, made: {made[f]: Lead(3) for f in rings})
    with pytest.raises(RaceError):
        _in_many_orders(lambda rng: run_program(ring_in_each_strip(), [(0, W), (0, H)], after="flatten", rng=rng))


# -- what fails


def test_error_of_a_producer_is_that_of_the_run() -> None:
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    n = hl.Param(hl.Int(32), "n", 4)
    r = hl.RDom([(0, n), (0, n)], "r")
    h[x, y] = x + y
    g[x, y] = y
    g[x, y] += h[r.x, r.y]
    f[x, y] = g[x, y] + g[x, y + 1]
    h.compute_at(g, y)
    g.store_root().compute_at(f, y).fold_storage(y, 2).async_()
    np.testing.assert_array_equal(np.asarray(f.realize([3, 3])), np.asarray(f.evaluate([3, 3])))
    n.set(1 << 22)
    for _ in range(3):
        raised(hl.PipelineError, lambda: f.realize([3, 3]), 'there is no memory for buffer "h"')


def test_error_of_an_inner_fork_ends_the_waits_of_those_around_it() -> None:
    """The last stage fails, and frees no more of what the first one waits for."""
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    n = hl.Param(hl.Int(32), "n", 4)
    r = hl.RDom([(0, n), (0, n)], "r")
    inner = hl.Func("inner")
    h[x, y] = x + y
    g[x, y] = h[x, y] + 1
    inner[x, y] = x + y
    f[x, y] = g[x, y] + h[x, y]
    f[x, y] += inner[r.x, r.y]
    out = hl.Func("out")
    out[x, y] = f[x, y]
    h.store_root().compute_at(out, y).fold_storage(y, 2).async_()
    g.store_root().compute_at(out, y).async_()
    f.compute_at(out, y)
    inner.compute_at(f, y)
    assert sum(isinstance(s, Fork) for s in walk(after(out, "fork"))) == 2
    np.testing.assert_array_equal(np.asarray(out.realize([3, 9])), np.asarray(out.evaluate([3, 9])))
    n.set(1 << 22)
    for _ in range(3):
        raised(hl.PipelineError, lambda: out.realize([3, 9]), 'there is no memory for buffer "inner"')


def test_async(golden: Golden) -> None:
    golden("async.txt", f"{format_stmt(after(folded(), 'fork'))}\n")


def test_ring_buffer(golden: Golden) -> None:
    golden("ring_buffer.txt", f"{format_stmt(after(ring_in_each_strip(), 'fork'))}\n")


def test_loop_nest_shows_asynchronous_funcs() -> None:
    assert "produce g (stored at the root) (async):" in hl.Pipeline(sliding()).loop_nest()
