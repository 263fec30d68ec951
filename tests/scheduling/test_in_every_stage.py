"""A Func computed in a loop of a consumer of which several stages read it is computed in each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.counting import Count, counted
from tests.support.offers import Names, offers, refusal

x, y, z, xo, xi = (hl.Var(n) for n in ("x", "y", "z", "xo", "xi"))
Tail = hl.TailStrategy
W, H = 9, 7


def reader() -> Names:
    """Three stages of ``f`` read ``g``, each another part; the last along a reduction."""
    k, g, f, r = hl.Func("k"), hl.Func("g"), hl.Func("f"), hl.RDom([(0, 4)], "r")
    k[x, y] = x * 3 + y
    g[x, y] = k[x, y] * k[x + 1, y]
    f[x, y] = g[x, y] + g[x, y + 1]
    f[x, y] += g[x + 1, y] * 2
    f[x, y] += g[x + r, y]
    return {"k": k, "g": g, "f": f, "r": r, "x": x, "y": y, "z": z, "xo": xo, "xi": xi, "hl": hl, "Tail": Tail}


def total(count: Count, name: str) -> int:
    """The number of computed points of a Func and its copies, each as often as it was."""
    return sum(n for (func, _, _), n in count.points.items() if func.split("$")[0] == name)


def test_each_stage_computes_what_it_reads() -> None:
    names = reader()
    f, g = names["f"], names["g"]
    g.compute_at(f, y)
    count = counted(f, [(0, W), (0, H)])
    assert total(count, "g") == H * (2 * W + W + (W + 3))
    assert max(count.largest[name] for name in count.largest if name.startswith("g")) == 2 * W


def test_rows_slide_in_each_stage() -> None:
    names = reader()
    f, g = names["f"], names["g"]
    g.compute_at(f, y).store_root()
    count = counted(f, [(0, W), (0, H)])
    assert total(count, "g") == (H + 1) * W + H * W + H * (W + 3)


SCHEDULES: dict[str, Callable[[Names], None]] = {
    "an inner loop": lambda n: n["g"].compute_at(n["f"], x),
    "memory further out": lambda n: n["g"].compute_at(n["f"], x).store_at(n["f"], y).hoist_storage_root(),
    "a chain": lambda n: (n["g"].compute_at(n["f"], y), n["k"].compute_at(n["f"], y)),
    "a chain in its own loop": lambda n: (n["g"].compute_at(n["f"], y), n["k"].compute_at(n["g"], y)),
    "a chain, further in": lambda n: (n["g"].compute_at(n["f"], y), n["k"].compute_at(n["g"], x).store_at(n["f"], y)),
    "a wrapper": lambda n: (n["g"].compute_root(), n["g"].in_(n["f"]).compute_at(n["f"], y)),
    "lanes and threads": lambda n: (
        n["g"].compute_at(n["f"], y).vectorize(x, 4, Tail.RoundUp),
        n["f"].parallel(y),
        n["f"].update(0).vectorize(x, 4, Tail.GuardWithIf),
        n["f"].update(1).parallel(y),
    ),
    "cases of one stage": lambda n: (
        n["f"].update(0).specialize(n["f"].output_buffer().dim(0).extent() > 4).parallel(y),
        n["g"].compute_at(n["f"], y).specialize(n["f"].output_buffer().dim(1).extent() > 4),
    ),
    "a loop that is split in each": lambda n: (
        n["f"].split(x, xo, xi, 4, Tail.GuardWithIf),
        n["f"].update(0).split(x, xo, xi, 3, Tail.GuardWithIf),
        n["f"].update(1).split(x, xo, xi, 2, Tail.GuardWithIf),
        n["g"].compute_at(n["f"], xo),
    ),
    "fetched ahead": lambda n: (
        n["g"].compute_at(n["f"], y),
        n["k"].compute_root(),
        n["g"].prefetch(n["k"], y, y, 1),
        n["f"].update(0).prefetch(n["g"], x, x, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_the_answer_is_that_of_the_definitions(schedule: Callable[[Names], None]) -> None:
    names = reader()
    schedule(names)
    f = names["f"]
    counted(f, [(0, W), (0, H)])
    np.testing.assert_array_equal(np.asarray(f.realize([W, H])), f.evaluate([W, H]))
    certificate = f.certify()
    assert certificate.ok, str(certificate)


def test_readers_inside_different_stages() -> None:
    """``g`` is read by Funcs that are computed in the loops of different stages."""
    g, a, b, f = (hl.Func(n) for n in "gabf")
    g[x, y] = x + y * 5
    a[x, y] = g[x, y] + g[x + 1, y]
    b[x, y] = g[x, y] - g[x, y + 2]
    f[x, y] = a[x, y]
    f[x, y] += b[x, y]
    a.compute_at(f, x)
    b.compute_at(f, x)
    g.compute_at(f, y)
    count = counted(f, [(0, W), (0, H)])
    assert total(count, "g") == H * ((W + 1) + 3 * W)


def test_a_consumer_that_is_copied_itself() -> None:
    """``k`` has updates and no place, so that each stage of ``f`` has its own."""
    g, k, f = (hl.Func(n) for n in "gkf")
    g[x, y] = x + y * 5
    k[x, y] = g[x, y]
    k[x, y] += g[x + 1, y]
    f[x, y] = k[x, y]
    f[x, y] += k[x, y + 1] * 3
    g.compute_at(k, y)
    counted(f, [(0, W), (0, H)])
    np.testing.assert_array_equal(np.asarray(f.realize([W, H])), f.evaluate([W, H]))


def test_memory_in_a_loop_of_a_copy() -> None:
    """``k`` and ``m`` have a copy for each stage of ``f``: the levels of each copy of ``g`` are in those."""
    g, m, k, f = (hl.Func(n) for n in "gmkf")
    g[x, y] = x + y * 5
    m[x, y] = g[x, y] + g[x + 1, y]
    k[x, y] = m[x, y] * 2
    k[x, y] += 3
    f[x, y] = k[x, y]
    f[x, y] += k[x, y + 1] * 3
    k.compute_at(f, y)
    m.compute_at(k, y)
    g.compute_at(m, x).store_at(k, y)
    count = counted(f, [(0, W), (0, H)])
    assert total(count, "g") == 2 * H * (W + 1)


def two_stages(producer_updates: bool) -> tuple[hl.Func, hl.Func, hl.Func]:
    """``k`` is read by ``g``, which two stages of ``f`` read: in one that is an update, if asked for."""
    k, g, f = (hl.Func(n) for n in "kgf")
    k[x, y] = x * 3 + y
    g[x, y] = x + k[x + 1, y]
    if producer_updates:
        g[x, y] += k[x, y + 1]
    f[x, y] = g[x, y]
    f[x, y] += g[x + 1, y] * 2
    return k, g, f


PLACES: list[Callable[[hl.Func], hl.LoopLevel]] = [
    lambda g: hl.LoopLevel(g, hl.Var.outermost()),
    lambda g: hl.LoopLevel(g, y, 1),
    lambda g: hl.LoopLevel(g, y),
]


@pytest.mark.parametrize("placed", [True, False])
@pytest.mark.parametrize("updates", [True, False])
@pytest.mark.parametrize("at", PLACES, ids=["around", "one stage", "each stage"])
def test_places_at_a_consumer_that_has_copies(
    at: Callable[[hl.Func], hl.LoopLevel], updates: bool, placed: bool
) -> None:
    k, g, f = two_stages(updates)
    if placed:
        g.compute_at(f, y)
    elif not updates:
        g.compute_at(f, x)
    if at is PLACES[1]:  # a level of the update, which alone reads it then
        h = hl.Func("h")
        h[x, y] = x
        h[x, y] += k[x, y]
        f[x, y] -= h[x, y]
        k, g = k.clone_in(h), h
        if placed:
            h.compute_at(f, y)
    k.compute_at(at(g))
    counted(f, [(0, W), (0, H)])
    assert f.certify().ok


def test_levels_of_a_consumer_that_has_copies() -> None:
    def build() -> Names:
        k, g, f = two_stages(False)
        return {"k": k, "g": g, "f": f, "x": x, "y": y, "z": z, "hl": hl}

    message = refusal(build, "g.compute_at(f, y)", "k.compute_at(f, z)")
    assert offers(message) == [
        "k.compute_root()", "k.compute_at(f, y)", "k.compute_at(g, y)", "k.compute_at(g, x)"
    ]  # fmt: skip
    assert message.endswith("    g.s0: f.s0.y > g.s0.y > g.s0.x\n    g.s0: f.s1.y > g.s0.y > g.s0.x")


def test_the_place_around_the_consumer_is_one_for_all_stages() -> None:
    names = reader()
    h = hl.Func("h")
    h[x, y] = names["f"][x, y]
    names["f"].compute_at(h, y)
    names["g"].compute_at(names["f"], hl.Var.outermost())
    count = counted(h, [(0, W), (0, H)])
    assert total(count, "g") == H * 2 * (W + 3)
    assert set(count.largest) == {"g", "f"}


def test_a_loop_that_not_all_stages_have() -> None:
    message = refusal(reader, "g.compute_at(f, z)")
    assert offers(message) == ["g.compute_root()", "g.compute_at(f, y)", "g.compute_at(f, x)"]
    assert "f.s0: f.s0.y > f.s0.x" in message
    assert "f.s2: f.s2.y > f.s2.x > f.s2.r.x" in message
    split = "f.update(1).split(x, xo, xi, 2, hl.TailStrategy.GuardWithIf)"
    message = refusal(reader, split, "g.compute_at(f, xo)")
    assert offers(message) == ["g.compute_root()", "g.compute_at(f, y)"]


def test_a_level_of_one_stage_is_of_that_stage_alone() -> None:
    names = reader()
    names["g"].compute_at(hl.LoopLevel(names["f"], y, 1))
    with pytest.raises(hl.ScheduleError, match='not every use of "g" is inside a loop "y" of stage 1 of "f"'):
        names["f"].realize([W, H])
