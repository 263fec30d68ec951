"""The compiler's copies of Funcs, one for each case of a specialized stage: they are scheduled as the user's Func is,
and messages speak of that alone."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl

x, y, z, u, w, yo, yi = (hl.Var(n) for n in "x y z u w yo yi".split())
Tail = hl.TailStrategy


def specialized() -> tuple[hl.Func, hl.Func, hl.Param]:
    """``f`` reads ``g``, and has two cases: in both ``g``, or its copy, is computed inside it."""
    g, f, n = hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "n", 4)
    g[x, y] = x * y
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    f.specialize(n > 3)
    return g, f, n


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("g.fold_storage(y, 2)", hl.ScheduleError),
        ("g.bound_storage(y, 2)", hl.ScheduleError),
        ("g.bound(x, 0, 2)", hl.PipelineError),
        ("g.split(z, u, w, 2)", hl.ScheduleError),
        ("g.split(x, y, w, 2)", hl.ScheduleError),
        ("g.fuse(x, y, u).split(u, u, w, 3, Tail.RoundUp)", hl.ScheduleError),
        ("g.vectorize(x)", hl.ScheduleError),
        ("g.unroll(x).rename(x, z)", hl.ScheduleError),
        ("g.store_at(f, x)", hl.ScheduleError),
        ("g.hoist_storage(f, z)", hl.ScheduleError),
        ("g.update().parallel(r)", hl.ScheduleError),
        ("g.update().atomic().parallel(r)", hl.ScheduleError),
        ("g.specialize_fail('')", hl.ScheduleError),
        ("g.trace_realizations(); f.vectorize(x, 4); g.compute_at(f, x.v)", hl.ScheduleError),
    ],
)
def test_refusal_speaks_of_the_user_s_func(call: str, error: type[hl.HalideError]) -> None:
    g, f, _ = specialized()
    r = hl.RDom([(0, 4)], "r")
    if "update" in call:
        g, f, n = hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "n", 4)
        g[x, y] = x * y
        g[x, y] = g[x, y] * 2 + r
        f[x, y] = g[x, y - 1] + g[x, y + 1]
        f.specialize(n > 3)
    g.compute_at(f, y)
    names = {"f": f, "g": g, "r": r, "hl": hl, "Tail": Tail, **VARS}
    with pytest.raises(error) as caught:
        exec(f"{call}; f.realize([4, 4])".replace("x.v", 'hl.Var("x.v")'), names)
    assert '"g"' in caught.value.message or "g." in caught.value.message
    assert "$" not in caught.value.message


VARS = {v.name(): v for v in (x, y, z, u, w, yo, yi)}


def test_uses_are_those_of_the_user_s_funcs() -> None:
    g, f, n = specialized()
    k = hl.Func("k")
    k[x, y] = f[x, y] + 1
    k.specialize(n > 2)
    f.compute_at(k, y)
    g.compute_at(k, z)
    with pytest.raises(hl.ScheduleError) as caught:
        k.realize([4, 4])
    assert "    f.s0 where 3 < n: k.s0[1].y > f.s0[1].y > f.s0[1].x" in caught.value.message
    assert "$" not in caught.value.message


def test_fold_names_loops_of_the_user_s_funcs() -> None:
    g, f, n = specialized()
    k = hl.Func("k")
    k[x, y] = f[x, y] + f[x + 1, y + 1]
    k.specialize(n > 2)
    f.compute_at(k, y)
    g.compute_at(f, x).store_at(k, y).fold_storage(x, 8)
    with pytest.raises(hl.ScheduleError) as caught:
        k.realize([4, 4])
    assert caught.value.message.startswith("g.fold_storage(x, 8): ")
    assert "$" not in caught.value.message


def test_fold_moves_along_the_only_loop_that_has_iterations() -> None:
    """Of a row of ``f`` each, the loop over its rows is none that ``g`` moves in."""
    g, f, n = specialized()
    k = hl.Func("k")
    k[x, y] = f[x, y] + f[x + 1, y]
    k.specialize(n > 2)
    f.compute_at(k, y)
    g.compute_at(f, x).store_at(k, y).fold_storage(x, 8)
    np.testing.assert_array_equal(np.asarray(k.realize([40, 9])), k.evaluate([40, 9]))


@pytest.mark.parametrize("value", [3, 4])
def test_place_in_the_loops_of_another_copy(value: int) -> None:
    g, f, _ = specialized()
    k, n = hl.Func("k"), hl.Param(hl.Int(32), "m", value)
    k[x, y] = f[x, y] + f[x + 1, y + 1]
    k.specialize(n > 3)
    f.compute_at(k, y)
    g.compute_at(f, x).store_at(f, y)
    np.testing.assert_array_equal(np.asarray(k.realize([7, 6])), k.evaluate([7, 6]))
    assert k.loop_nest().count("produce g") >= 2


def test_memory_in_lanes_is_that_of_the_user_s_func() -> None:
    a, f = hl.Func("a"), hl.Func("f")
    a[x, y] = x
    a[x, y] += y + 3
    f[x, y] = a[x, y]
    f[x, y] += a[x, y] + a[x + 2, y]
    a.align_bounds(x, 4)
    f.update(0).vectorize(x, 2, Tail.GuardWithIf)
    with pytest.raises(hl.ScheduleError) as caught:
        f.realize([6, 5])
    assert '"a" is computed inside this loop, and needs memory of another size in each lane' in caught.value.message
    assert "$" not in caught.value.message
    a.compute_root()  # as the message says
    np.testing.assert_array_equal(np.asarray(f.realize([6, 5])), f.evaluate([6, 5]))
