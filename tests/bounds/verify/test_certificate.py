"""Certificates: what is proven of right programs, and that nothing wrong is ever certified."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.ir import Interval, Stmt
from halide_core.ir.visitor import Rewriter, walk
from halide_core.run.backend import Box
from tests.support.certifying import broken_trees, certified, compiled, replaced, runs_right, wrong_answers

x, y, xo, yo, xi, yi, t = (hl.Var(n) for n in "x y xo yo xi yi t".split())
Tail = hl.TailStrategy


def picture(name: str = "source", type: hl.Type | None = None) -> hl.ImageParam:
    image = hl.ImageParam(type or hl.UInt(8), 2, name)
    data = np.random.default_rng(3).integers(0, 200, (24, 31))
    image.set(hl.Buffer(np.ascontiguousarray(data.astype(image.type().dtype))))
    return image


def blur(tail: hl.TailStrategy = Tail.Auto) -> hl.Func:
    source = hl.BoundaryConditions.repeat_edge(picture(type=hl.UInt(16)))
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = source[x - 1, y] + source[x + 1, y]
    down[x, y] = across[x, y - 1] + across[x, y + 1]
    down.tile(x, y, xo, yo, xi, yi, 4, 3, tail).parallel(yo).vectorize(xi, 2)
    across.compute_at(down, xo)
    return down


def guarded() -> hl.Func:
    return blur(Tail.GuardWithIf)


def rounded() -> hl.Func:
    return blur(Tail.RoundUp)


def histogram() -> hl.Func:
    source, counts = picture(), hl.Func("counts")
    r = hl.RDom([(0, 31), (0, 24)], "r")
    counts[x] = hl.u32(0)
    counts[hl.i32(source[r.x, r.y]) / 8] += hl.u32(1)
    total = hl.Func("total")
    total[x] = counts[hl.clamp(x, 0, 31)]
    counts.compute_root().vectorize(x, 4)
    total.split(x, xo, xi, 4, Tail.GuardWithIf).parallel(xo)
    return total


def scan() -> hl.Func:
    source, running, out = picture(), hl.Func("running"), hl.Func("out")
    r = hl.RDom([(1, 12)], "r")
    running[x, y] = hl.u32(source[hl.clamp(x, 0, 30), hl.clamp(y, 0, 23)])
    running[r.x, y] = running[r.x, y] + running[r.x - 1, y]
    out[x, y] = running[hl.clamp(x, 0, 12), y]
    out.parallel(y)
    running.compute_at(out, y).update(0).unroll(y)
    return out


def fused() -> hl.Func:
    source, f, g = picture(), hl.Func("f"), hl.Func("g")
    f[x, y] = hl.u32(source[hl.clamp(x, 0, 30), hl.clamp(y, 0, 23)]) + hl.u32(1)
    g[x, y] = f[x / 2, y] + f[x / 2 + 1, y]
    f.compute_root().fuse(x, y, t).parallel(t)
    g.fuse(x, y, t).split(t, xo, xi, 6).parallel(xo)
    return g


PIPELINES: list[Callable[[], hl.Func]] = [blur, guarded, rounded, histogram, scan, fused]
WINDOWS: list[list[Box]] = [[((0, 9), (0, 7)), ((-3, 4), (2, 3)), ((5, 17), (-1, 8))], [((0, 9),), ((-2, 13),)]]


def windows(f: hl.Func) -> list[Box]:
    return WINDOWS[0] if f.dimensions() == 2 else WINDOWS[1]


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_right_program_is_certified(make: Callable[[], hl.Func]) -> None:
    f = make()
    certificate = f.certify()
    assert certificate.ok, str(certificate)
    parts = compiled(f)
    assert runs_right(f, parts, parts.tree, windows(f))


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_wrong_answer_is_not_certified_unless_it_does_no_harm(make: Callable[[], hl.Func]) -> None:
    f = make()
    parts = compiled(f)
    passed = []
    for told, answers in wrong_answers(parts.answers):
        certificate = certified(parts, answers=answers)
        if certificate.ok:
            passed.append(told)
    assert not passed, passed


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_broken_program_is_not_certified_unless_it_is_right(make: Callable[[], hl.Func]) -> None:
    f = make()
    parts = compiled(f)
    refused = wrong = 0
    trees = list(broken_trees(parts.tree))
    for told, tree in random.Random(7).sample(trees, min(len(trees), 16)):
        certificate = certified(parts, tree=tree)
        if certificate.ok:
            assert runs_right(f, parts, tree, windows(f)), f"{told}: certified, and wrong"
            continue
        refused += 1
        wrong += not runs_right(f, parts, tree, windows(f))
    assert wrong > 4 and refused >= wrong, "the changes do break programs"


# ---------------------------------------------------------------------------------------------------------
# Single ways to be wrong.


def failing(certificate: PipelineCertificate) -> set[ClaimKind]:
    return {r.claim.kind for r in certificate.failures}


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_check_that_a_claim_rests_on_can_not_be_dropped(make: Callable[[], hl.Func]) -> None:
    parts = compiled(make())
    asserted = [r for r in certified(parts).results if r.status is Status.ASSERTED]
    # Checks of int32 overlap: what one of them says, others often imply.
    for check in dict.fromkeys(c for r in asserted if r.claim.kind is not ClaimKind.INT32 for c in r.checks):
        (here,) = [s for s in walk(parts.tree) if isinstance(s, ir.Assert) and s.condition is check.condition]
        assert not certified(parts, tree=replaced(parts.tree, here, ir.NOTHING)).ok, check


def test_parallel_reduction_is_refuted() -> None:
    parts = compiled(scan())
    (loop,) = [s for s in walk(parts.tree) if isinstance(s, ir.For) and not s.pure]
    racing = ir.For(loop.loop, loop.var, loop.bounds, ir.LoopKind.PARALLEL, loop.pure, loop.body)
    certificate = certified(parts, tree=replaced(parts.tree, loop, racing))
    assert failing(certificate) == {ClaimKind.RACE}
    assert any(r.status is Status.REFUTED for r in certificate.failures)


def test_parallel_histogram_is_not_certified() -> None:
    parts = compiled(histogram())
    loops = [s for s in walk(parts.tree) if isinstance(s, ir.For) and not s.pure]
    for loop in loops:
        racing = ir.For(loop.loop, loop.var, loop.bounds, ir.LoopKind.PARALLEL, loop.pure, loop.body)
        assert failing(certified(parts, tree=replaced(parts.tree, loop, racing))) == {ClaimKind.RACE}


def test_memory_shared_by_parallel_iterations_is_refuted() -> None:
    parts = compiled(blur())
    (memory,) = [s for s in walk(parts.tree) if isinstance(s, ir.Allocate)]
    (outer,) = [s for s in walk(parts.tree) if isinstance(s, ir.For) and s.kind is ir.LoopKind.PARALLEL]
    everything = tuple(ir.Interval(ir.i64(-(1 << 20)), ir.i64(1 << 21)) for _ in memory.bounds)
    tree = replaced(parts.tree, memory, ir.NOTHING)
    (loop,) = [s for s in walk(tree) if isinstance(s, ir.For) and s.loop == outer.loop]
    tree = replaced(tree, loop, ir.Block((ir.Allocate(memory.func, everything), loop)))
    assert ClaimKind.RACE in failing(certified(parts, tree=tree))


def test_race_through_the_predicate_of_an_rdom_is_refuted() -> None:
    """Section 2.9: what a predicate reads is read like any other value."""
    f, out = hl.Func("f"), hl.Func("out")
    r = hl.RDom([(0, 8)], "r")
    f[x] = x
    r.where(f[hl.clamp(r.x, 0, 7)] > 2)
    f[7 - r.x] = f[7 - r.x] + 1
    out[x] = f[hl.clamp(x, 0, 7)]
    f.compute_root()
    parts = compiled(out)
    (loop,) = [s for s in walk(parts.tree) if isinstance(s, ir.For) and not s.pure]
    racing = ir.For(loop.loop, loop.var, loop.bounds, ir.LoopKind.PARALLEL, loop.pure, loop.body)
    failures = certified(parts, tree=replaced(parts.tree, loop, racing)).failures
    assert certified(parts).ok
    assert any("where another reads it" in r.claim.told() for r in failures)


def test_dropped_obligation_is_not_certified() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    g[x] = f[x] + f[x + 1]
    f.compute_root().bound(x, 0, 9)
    parts = compiled(g)
    assert certified(parts).ok
    answers = Answers(parts.answers.holes, parts.answers.regions, [])
    assert ClaimKind.QUERY in failing(certified(parts, answers=answers))


def test_guess_of_a_value_range_is_proven_not_trusted() -> None:
    """The range of what an index reads is a claim about the definition that gives it."""
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x] = hl.i32(hl.u8(x)) % 8
    g[x] = x * 3
    h[x] = g[f[x]]
    f.compute_root()
    g.compute_root()
    parts = compiled(h)
    found = [r for r in certified(parts).results if r.claim.kind is ClaimKind.VALUES]
    assert [r.status for r in found] == [Status.PROVEN]
    (given,) = [s for s in walk(parts.tree) if isinstance(s, ir.Provide) and s.func.name == "f"]
    larger = ir.Provide(given.func, given.stage, given.args, (ir.add(given.values[0], ir.const(1, hl.Int(32))),))
    assert ClaimKind.VALUES in failing(certified(parts, tree=replaced(parts.tree, given, larger)))


def test_counterexample_makes_the_program_fail() -> None:
    """A refuted claim about memory: the window that it names does leave memory."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x * 2
    f[x] = g[x] + g[x + 1]
    g.compute_root()
    parts = compiled(f)
    tried = 0
    for _, tree in broken_trees(parts.tree):
        for r in certified(parts, tree=tree).failures:
            if r.claim.kind is ClaimKind.MEMORY and r.counterexample is not None and r.status is Status.REFUTED:
                low, extent = (r.counterexample.values.get(f"f.{end}.0", 1) for end in ("min", "extent"))
                assert not runs_right(f, parts, tree, [((low, extent),)]), str(r.counterexample)
                tried += 1
                break
    assert tried > 3


# ---------------------------------------------------------------------------------------------------------
# What is shown.


def test_certificate_is_shown_as_table_json_and_html() -> None:
    certificate = blur().certify()
    assert isinstance(certificate, PipelineCertificate)
    text = str(certificate)
    assert '"down" is certified' in text and "across" in text and "asserted" in text and "unless" in text
    data = json.loads(certificate.to_json())
    assert data["schema"] == 1 and data["ok"] is True
    assert len(data["claims"]) == len(certificate.results)
    asserted = [c for c in data["claims"] if c["status"] == "asserted"]
    assert asserted and all(data["checks"][i]["text"] for c in asserted for i in c["checks"])
    assert certificate._repr_html_().count("<tr>") == len({r.claim.func for r in certificate.results}) + 1


def test_certificate_says_the_same_of_the_same_program() -> None:
    def told() -> list[str]:
        data = json.loads(blur().certify().to_json())
        return [f"{c['kind']} {c['claim']} {c['status']}" for c in data["claims"]]

    assert told() == told()


@pytest.mark.parametrize("choice", [hl.max, hl.min, lambda a, b: hl.select(a < b, a, b)])
def test_choice_between_floats_rounds_nothing(choice: Callable[..., hl.Expr]) -> None:
    level, table, f = hl.Func("level"), hl.Func("table"), hl.Func("f")
    level[x] = choice(choice(hl.f32(x % 4) / 3, hl.f32(9.25)), hl.f32(2.5))
    table[x] = x * 3
    f[x] = table[hl.i32(hl.u8(hl.i32(level[x]))) % 16]
    level.compute_root()
    table.compute_root()
    assert f.certify().ok


def test_certificates_are_right_when_threads_ask_at_once() -> None:
    start = threading.Barrier(4)

    def work(width: int) -> bool:
        f, g = hl.Func("f"), hl.Func("g")
        g[x] = x * width
        f[x] = g[x] + g[x + width]
        g.compute_root()
        f.vectorize(x, 4)
        start.wait(60)
        return f.certify().ok

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(1, 5))) == [True] * 4


def test_shift_of_the_users_numbers_wraps_and_is_no_index() -> None:
    image, f, x = hl.ImageParam(hl.Float(32), 1, "image"), hl.Func("f"), hl.Var("x")
    f[x] = hl.i64(image[x]) << hl.i32(1)
    assert f.certify().ok


def test_gather_at_a_clamped_float_is_certified_and_right_for_numbers_that_are_none() -> None:
    position, table = hl.ImageParam(hl.Float(32), 1, "position"), hl.ImageParam(hl.Int(32), 1, "table")
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = table[hl.i32(hl.clamp(position[x], 0.0, 9.0))]
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    assert f.certify().ok
    position.set(hl.Buffer(np.array([1.5, np.nan, -3, 20, np.inf, -np.inf], np.float32)))
    table.set(hl.Buffer(np.arange(10, dtype=np.int32)))
    assert np.asarray(f.realize([6])).tolist() == [1, 9, 0, 9, 9, 0]


class Computed(Rewriter):
    """A tree whose memory tells less of what is computed of a memoized Func."""

    def __init__(self, less: Callable[[tuple[Interval, ...]], tuple[Interval, ...]]) -> None:
        super().__init__()
        self._less = less

    def rewrite_Allocate(self, s: ir.Allocate) -> Stmt:
        return replace(s, computed=self._less(s.computed))


@pytest.mark.parametrize("less", [
    lambda box: (),
    lambda box: box[:1],
    lambda box: tuple([Interval(i.min, ir.sub(i.len, ir.ONE)) for i in box]),
])  # fmt: skip
def test_what_is_kept_for_later_runs_is_told_apart_by_all_that_is_computed(
    less: Callable[[tuple[Interval, ...]], tuple[Interval, ...]]
) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * 3 + y
    f[x, y] = g[x, y] + g[x + 1, y]
    g.compute_at(f, y).memoize()
    parts = compiled(f)
    assert certified(parts).ok
    failures = certified(parts, tree=Computed(less).stmt(parts.tree)).failures
    assert [each.claim.kind for each in failures] == [ClaimKind.MEMOIZED]
