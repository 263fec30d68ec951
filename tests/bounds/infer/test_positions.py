"""Coordinates that wrap where they leave int32: a start-up check rules that out, and no memory is taken for it."""

from __future__ import annotations

import numpy as np

import halide_core as hl


def test_memory_of_a_whole_loop_leaves_out_what_a_check_rules_out() -> None:
    """Half of all int32s would be needed if a coordinate wrapped in one of the tiles, whose last one is cut."""
    x, y, xo, xi = hl.vars("x y xo xi")
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = f[x, hl.i32(hl.i64(2 - y) + hl.i64(x) * 2) + 1] + f[x, 0]
    expected = o.evaluate([7, 2])
    o.split(x, xo, xi, 5, hl.TailStrategy.PredicateStores)
    f.compute_at(o, xo).hoist_storage(o, y)
    assert np.array_equal(np.asarray(o.realize([7, 2])), expected)
