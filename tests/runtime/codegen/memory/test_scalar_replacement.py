"""Accumulators in local variables: which memory becomes them, and that results stay."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.memory.scalar_replacement import find_registers
from tests.support.targets import WIDE

x, y, xi, yi = (hl.Var(n) for n in ("x", "y", "xi", "yi"))


def all_registers(f: hl.Func) -> list[tuple[str, dict[int, int]]]:
    """The places of each allocation that a Func's pipeline for 64-byte registers keeps in local variables."""
    return [(each.buffer, at) for each, at in find_registers(lower(f._request(target=WIDE)).body).items()]


def registers(f: hl.Func) -> dict[str, dict[int, int]]:
    """The same of Funcs that are allocated alike wherever they are."""
    found = all_registers(f)
    assert all(each in dict(found).items() for each in found)
    return dict(found)


def product(lanes: int, rows: int, *, unroll: bool = True) -> hl.Func:
    """A small matrix product whose accumulators are computed for each tile."""
    rng = np.random.default_rng(1)
    a, b = (hl.Buffer(rng.integers(0, 9, (16, 16)).astype(np.float32)) for _ in range(2))
    k = hl.RDom([(0, 16)], "k")
    acc, out = hl.Func("acc"), hl.Func("out")
    acc[x, y] = hl.f32(0)
    acc[x, y] += a[k.x, y] * b[x, k.x]
    out[x, y] = acc[x, y]
    out.bound(x, 0, 16).bound(y, 0, 16).tile(x, y, xi, yi, lanes, rows).vectorize(xi)
    acc.compute_at(out, x).vectorize(x)
    acc.update(0).reorder(x, y, k.x).vectorize(x)
    if unroll:
        out.unroll(yi)
        acc.unroll(y).update(0).unroll(y)
    return out


@pytest.mark.parametrize(("lanes", "rows"), [(16, 1), (16, 4), (8, 2), (1, 3), (4, 16)])
def test_accumulators_of_a_tile_are_variables(lanes: int, rows: int) -> None:
    """One variable a row of the tile, as wide as a row."""
    f = product(lanes, rows)
    assert registers(f) == {"acc": {r * lanes: lanes for r in range(rows)}}
    assert np.array_equal(np.asarray(f.realize([16, 16])), f.evaluate([16, 16]))


def test_memory_indexed_at_run_time_stays_memory() -> None:
    """A serial loop over the rows of a tile reads a place that varies."""
    f = product(16, 4, unroll=False)
    assert registers(f) == {}
    assert np.array_equal(np.asarray(f.realize([16, 16])), f.evaluate([16, 16]))


def test_places_that_overlap_stay_memory() -> None:
    """Vectors written, elements read."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x, y] = f[0] + f[1] * 10 + f[3] + x + y
    f.compute_at(g, y).bound_extent(x, 4).vectorize(x, 4)
    assert registers(g) == {}
    assert np.array_equal(np.asarray(g.realize([5, 3])), g.evaluate([5, 3]))


def test_what_tasks_share_stays_memory() -> None:
    """A closure would have to carry the variable out again."""
    f, g = hl.Func("f"), hl.Func("g")
    f[()] = hl.i32(7)
    g[x, y] = f[()] + x
    f.compute_root()
    g.parallel(y)
    assert registers(g) == {}
    assert np.array_equal(np.asarray(g.realize([5, 3])), g.evaluate([5, 3]))


def test_a_scalar_is_a_variable_and_spreads_over_lanes() -> None:
    """A value of no dimensions, used by vectors; 8 bits wrap in it as they do in memory."""
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 300)], "r")
    f[()] = hl.u8(0)
    f[()] += hl.u8(r.x)
    g[x, y] = f[()] + hl.u8(x)
    f.compute_at(g, y)
    g.vectorize(x, 16)
    assert registers(g) == {"f": {0: 1}}
    assert np.array_equal(np.asarray(g.realize([32, 3])), g.evaluate([32, 3]))


def test_copies_of_a_loop_keep_lanes_of_their_own() -> None:
    """In the middle of each row lanes are vectors, at its ends each lane has a sum of its own."""
    rng = np.random.default_rng(3)
    image, r = hl.Buffer(rng.integers(0, 99, (60, 20)).astype(np.int32)), hl.RDom([(-2, 5)], "r")
    near, f = hl.BoundaryConditions.mirror_image(image), hl.Func("f")
    f[x, y] = hl.sum(near[x * 3 + r.x, y], "total")
    f.tile(x, y, xi, yi, 12, 4).vectorize(xi, 8)
    assert {tuple(places.items()) for _, places in all_registers(f)} >= {((0, 1),), ((0, 8),)}
    assert np.array_equal(np.asarray(f.realize([24, 20])), f.evaluate([24, 20]))


def test_truth_values_stay_memory() -> None:
    """They have another form in vectors than in memory."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x % 3 == 0
    g[x, y] = hl.select(f[x], x, y)
    f.compute_at(g, y).bound_extent(x, 8).vectorize(x, 8)
    g.bound(x, 0, 8).vectorize(x, 8)
    assert registers(g) == {}
    assert np.array_equal(np.asarray(g.realize([8, 3])), g.evaluate([8, 3]))


def test_memory_that_is_allocated_before_the_checks_is_in_the_part_that_computes() -> None:
    """Of several outputs one has a loop before it; small memory is variables of the function that uses it."""
    w, o, twin = hl.Func("w"), hl.Func("o"), hl.Func("twin")
    w[x] = hl.u32(x)
    w[0] = hl.u32(7)
    o[x] = hl.u32(1)
    twin[x] = w[0] + o[x] * 0
    w.hoist_storage_root()
    for found in hl.Pipeline([twin, o]).realize([3]), hl.Pipeline([o, twin]).realize([3]):
        assert sorted(map(int, np.asarray(found).ravel())) == [1, 1, 1, 7, 7, 7]
