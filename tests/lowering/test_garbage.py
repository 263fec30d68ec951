"""Funcs and what a compile makes of them go when nobody uses them: scripts that compile thousands of candidates."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

import halide_core as hl

USES: dict[str, Callable[[hl.Func], object]] = {
    "nothing": lambda f: None,
    "loop nest": hl.Func.loop_nest,
    "compile": lambda f: f.compile_jit(),
    "run": lambda f: f.realize([9, 5]),
    "evaluate": lambda f: f.evaluate([9, 5]),
    "certify": lambda f: f.certify(),
    "explain": lambda f: str(f.explain()),
}


@pytest.mark.parametrize("use", USES)
def test_of_a_func_nothing_is_left(use: str) -> None:
    def gone() -> weakref.ref[object]:
        x, y, xi, yi = hl.vars("x y xi yi")
        f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 3)], "r")
        g[x, y] = x + y
        f[x, y] = g[x, y] + g[x + 1, y]
        f[x, y] += r * g[x, y + r]
        f.tile(x, y, xi, yi, 8, 8, hl.TailStrategy.GuardWithIf)
        g.compute_root().vectorize(x, 4)
        USES[use](f)
        return weakref.ref(f.function)

    function = gone()
    gc.collect()
    assert function() is None
