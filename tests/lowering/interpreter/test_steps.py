"""The interpreter's budget of steps: each iteration of each loop is one."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import OutOfSteps

x, y = hl.Var("x"), hl.Var("y")


def run(f: hl.Func, box: tuple[tuple[int, int], ...], steps: int) -> None:
    lowered = lower(f._request())
    output = hl.Buffer(hl.Int(32), [n for _, n in box])
    interpret(lowered.body, lowered.arguments, [], [output], steps=steps)


def plane() -> hl.Func:
    """``f[x, y] = x - y`` in two loops."""
    f = hl.Func("f")
    f[x, y] = x - y
    return f


@pytest.mark.parametrize("parallel", [False, True])
def test_every_iteration_is_a_step(parallel: bool) -> None:
    f = plane()
    if parallel:
        f.parallel(y)
    box = ((0, 5), (0, 3))
    run(f, box, 3 + 3 * 5)
    with pytest.raises(OutOfSteps):
        run(f, box, 3 + 3 * 5 - 1)


def test_loop_without_iterations_takes_none() -> None:
    run(plane(), ((0, 0), (0, 3)), 3)
