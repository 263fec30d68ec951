"""Certificates of sliding windows: what is left out was there before, and a slide that leaves out too much is refuted.

Each broken program is judged by the interpreter too: none that the certificate accepts gives another answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.verify.vc import ClaimKind
from halide_core.ir import ExprNode, HoleKind, Interval
from tests.support.certifying import broken_trees, certified, compiled, refilled, runs_right
from tests.support.sliding import blur, source, window

x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())


def rows() -> hl.Func:
    g, f = blur()
    g.store_root().compute_at(f, y)
    return f


def tiles() -> hl.Func:
    g, f = blur()
    f.split(y, yo, yi, 4, hl.TailStrategy.GuardWithIf)
    g.store_root().compute_at(f, yo).vectorize(x, 4, hl.TailStrategy.RoundUp)
    return f


def both_ways() -> hl.Func:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x)
    return f


PIPELINES = (rows, tiles, both_ways)


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_no_broken_tree_is_certified_and_wrong(make: Callable[[], hl.Func]) -> None:
    f = make()
    parts = compiled(f)
    wrong = 0
    trees = list(broken_trees(parts.tree))
    for told, tree in random.Random(5).sample(trees, min(len(trees), 14)):
        right = runs_right(f, parts, tree, [tuple(window(f))])
        wrong += not right
        if not right:
            assert not certified(parts, tree=tree).ok, told
    assert wrong > 3, "the changes do break programs"


def changed(answers: Answers, change: Callable[[Interval], Interval]) -> Answers:
    """The answers with the loops of the sliding rows changed."""
    rows = [s.dim for s in answers.slides if s.loop is not None]
    holes = [
        replace(a, interval=change(a.interval)) if a.kind is HoleKind.LOOP and a.dim in rows else a
        for a in answers.holes
    ]
    return replace(answers, holes=holes)


def one_later(i: Interval) -> Interval:
    """Starts one further up, and ends where it did."""
    return Interval(ir.add(i.min, ir.ONE), ir.sub(i.len, ir.ONE))


def without_first(i: Interval) -> Interval:
    """Never computes a whole window: #8140 of Halide's tracker in short."""
    def steady(e: ExprNode) -> ExprNode:
        return e.b if isinstance(e, ir.Select) else e

    assert isinstance(i.min, ir.Select)
    return Interval(steady(i.min), ir.ONE)


@pytest.mark.parametrize("change", [one_later, without_first])
def test_a_slide_that_leaves_out_too_much_is_refuted(change: Callable[[Interval], Interval]) -> None:
    f = rows()
    parts = compiled(f)
    broken = changed(parts.answers, change)
    kinds = {r.claim.kind for r in certified(parts, answers=broken).failures}
    assert ClaimKind.COVERAGE in kinds


def test_a_slide_needs_the_loop_that_it_goes_along() -> None:
    parts = compiled(rows())
    nowhere = replace(parts.answers, slides=[replace(s, loop=None) for s in parts.answers.slides])
    assert {r.claim.kind for r in certified(parts, answers=nowhere).failures} == {ClaimKind.COVERAGE}


def test_a_fold_of_too_few_slots_is_refuted() -> None:
    f = rows()
    parts = compiled(f)
    (g,) = parts.answers.folds
    certificate = certified(parts, answers=replace(parts.answers, folds={g: {1: ir.i64(2)}}))
    assert {r.claim.kind for r in certificate.failures} == {ClaimKind.FOLD}


@pytest.mark.parametrize("slots", [2, 3, 4, 5])
def test_a_fold_has_room_for_all_that_a_raised_stage_writes(slots: int) -> None:
    """The split raises stage 0 to four rows, of which two are read; stage 1 reads what it wrote."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + 10 * y
    g[x, y] += 1
    f[x, y] = g[x, y] + g[x, y + 1]
    g.store_root().fold_storage(y, 5).split(y, yo, yi, 4)
    parts = compiled(f)
    (folded,) = parts.answers.folds
    certificate = certified(parts, answers=replace(parts.answers, folds={folded: {1: ir.i64(slots)}}))
    assert {r.claim.kind for r in certificate.failures} == (set() if slots >= 4 else {ClaimKind.FOLD})


def test_a_fold_that_a_loop_further_in_moves_is_refuted() -> None:
    parts = compiled(both_ways())
    (g,) = parts.answers.folds
    certificate = certified(parts, answers=replace(parts.answers, folds={g: {0: ir.i64(3)}}))
    assert {r.claim.kind for r in certificate.failures} == {ClaimKind.FOLD}


def test_memory_forgets_a_point_whose_slot_is_taken() -> None:
    f = rows()
    parts = compiled(f)
    (g,) = parts.answers.folds
    tree = refilled(parts, replace(parts.answers, folds={g: {1: ir.i64(2)}}))
    assert not runs_right(f, parts, tree, [tuple(window(f))])
    assert runs_right(f, parts, parts.tree, [tuple(window(f))])
