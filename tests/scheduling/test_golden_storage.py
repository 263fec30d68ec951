"""Golden dumps of the directives about memory, and of those that only speak: what they leave of the program.

Each was read against what docs/internals says of layouts, folds and waivers. ``--update-golden`` rewrites them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core.ir.printer import format_stmt
from tests.support.dumps import after, both, histogram, pixels, producer_and_consumer
from tests.support.raising import raised

Golden = Callable[[str, str], None]

x, y = hl.Var("x"), hl.Var("y")


def laid_out(f: hl.Func) -> str:
    """With holes, filled, and flat: a layout is read by flattening alone."""
    return f"{both(f)}\n-- flat\n{format_stmt(after(f, 'simplify_again'))}\n"


def test_reorder_storage(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root().reorder_storage(y, x)
    golden("reorder_storage.txt", laid_out(f))


def test_align_storage(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root().align_storage(x, 16)
    golden("align_storage.txt", laid_out(f))


def test_bound_storage(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_at(f, y).bound_storage(x, 64)
    golden("bound_storage.txt", laid_out(f))


def test_store_in(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_at(f, x).store_in(hl.MemoryType.Heap)
    golden("store_in.txt", laid_out(f))


def test_fold_storage(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.store_root().compute_at(f, y).fold_storage(y, 4)
    golden("fold_storage.txt", laid_out(f))


def test_memoize(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    p = hl.Param(hl.Int(32), "p")
    h = hl.Func("h")
    h[x, y] = hl.memoize_tag(g[x, y], p)
    f[x, y] += h[x, y]
    h.compute_at(f, y).memoize(hl.EvictionKey(p))
    golden("memoize.txt", laid_out(f))


def test_compute_inline(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root().compute_inline()
    golden("inline.txt", both(f))  # as if nothing had been said


def test_allow_race_conditions(golden: Golden) -> None:
    hist, out, r = histogram()
    hist.update().allow_race_conditions().parallel(r.x)
    golden("allow_race_conditions.txt", both(out))


def test_what_only_speaks_leaves_the_program_as_it_was(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    f.set_estimate(x, 0, 100).set_estimates([(0, 100), (0, 50)])
    f.unscheduled()
    g.set_estimate(x, 0, 100)
    golden("inline.txt", both(f))


# -- what is refused, and what never is


@pytest.mark.parametrize("verb", ["fold_storage", "align_storage", "bound_storage"])
def test_length_in_memory_below_one(verb: str) -> None:
    g, _f, _x, _y = producer_and_consumer()
    raised(hl.ScheduleError, lambda: getattr(g.compute_root(), verb)(x, 0), "positive", f"{verb}()")


@pytest.mark.parametrize("verb", ["fold_storage", "align_storage", "bound_storage", "reorder_storage"])
def test_dimension_that_is_not_there(verb: str) -> None:
    g, _f, _x, _y = producer_and_consumer()
    given = () if verb == "reorder_storage" else (8,)
    raised(hl.ScheduleError, lambda: getattr(g, verb)(hl.Var("z"), *given), 'no dimension "z"', "it has: x, y")


@pytest.mark.parametrize(
    ("say", "told"),
    [
        (lambda f: f.store_in(hl.MemoryType.Heap), r"f\.store_in\(MemoryType\.Heap\): "),
        (lambda f: f.reorder_storage(y, x), r"f\.reorder_storage\(y, x\): "),
    ],
    ids=["store_in", "reorder_storage"],
)
def test_memory_of_an_output_is_the_callers(say: Callable[[hl.Func], object], told: str) -> None:
    f, _x, _y = pixels()
    say(f)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=f"{told}.*its memory is the caller's, so this has no effect"):
        both(f)


def test_races_are_allowed_in_a_stage_that_is_there_and_has_loops() -> None:
    raised(hl.ScheduleError, lambda: hl.Func("f").allow_race_conditions(), "it is not defined")
    g, f, _x, _y = producer_and_consumer()
    g.allow_race_conditions()
    with pytest.warns(hl.IgnoredDirectiveWarning, match="computed inline where it is used, so this has no effect"):
        both(f)


@pytest.mark.always_legal("compute_root", "compute_inline")
def test_placing_a_func_at_the_root_or_where_it_is_used_is_never_refused() -> None:
    g, h, f = hl.Func("g"), hl.Func("h"), hl.Func("f")
    r = hl.RDom([(0, 4)], "r")
    g[x, y] = 0
    g[x, y] += r.x + x
    h[x, y] = g[x, y] + g[x + 1, y]
    f[x, y] = h[x, y] * g[x, y + 1]
    f.parallel(y)
    wanted = f.evaluate([5, 4])
    for each in (g, h, f):
        for place in (each.compute_root, each.compute_inline):
            place()
            assert (f.realize([5, 4]).array == hl.Buffer(wanted).array).all()


def test_unroll_that_fails_is_a_loop_where_that_is_permitted(monkeypatch: pytest.MonkeyPatch) -> None:
    f = hl.Func("f")
    f[x] = x * x
    f.unroll(x)
    with pytest.raises(hl.ScheduleError, match="not a constant"):
        f.realize([7])
    monkeypatch.setenv("HL_PERMIT_FAILED_UNROLL", "1")
    assert list(f.realize([7])) == [k * k for k in range(7)]
    monkeypatch.delenv("HL_PERMIT_FAILED_UNROLL")
    with pytest.raises(hl.ScheduleError, match="not a constant"):
        f.realize([7])


@pytest.mark.parametrize("policy", list(hl.Partition))
def test_policy_of_all_loops_is_written_as_source(policy: hl.Partition) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root()
    f.partition_all(policy)
    verb = {"Auto": "partition_all(hl.Partition.Auto)"}.get(policy.name, f"{policy.name.lower()}_partition_all()")
    assert f"f.{verb}" in hl.Schedule(f).source()
    raised(hl.ScheduleError, lambda: f.partition_all("Never"), "hl.Partition")  # type: ignore[arg-type]
