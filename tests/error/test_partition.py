"""Policies of loops that are refused: of loops that are not there, and of loops that can't be divided."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, t = (hl.Var(n) for n in "xyt")
NEVER, ALWAYS = hl.Partition.Never, hl.Partition.Always


def edge() -> hl.Func:
    """Reads its input's neighbours, and repeats its edge."""
    data = np.random.default_rng(3).integers(0, 255, (13, 29)).astype(np.uint8)
    source, f = hl.BoundaryConditions.repeat_edge(hl.Buffer(data)), hl.Func("f")
    f[x, y] = hl.u16(source[x - 1, y]) + source[x, y + 1]
    return f


def test_a_loop_without_clamps_stays_whole() -> None:
    f = hl.Func("f")
    f[x] = x
    f.partition(x, ALWAYS)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r"f\.partition\(x, Partition\.Always\): .*nothing to divide"):
        assert np.array_equal(f.realize([4]), np.arange(4))


def test_loops_of_which_none_can_be_divided_stay_whole() -> None:
    f = hl.Func("f")
    f[x, y] = x + y
    f.always_partition_all()
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r"f\.always_partition_all\(\): there is nothing to divide"):
        assert np.array_equal(f.realize([4, 2]), [[0, 1, 2, 3], [1, 2, 3, 4]])


def test_a_vectorized_loop_has_no_parts() -> None:
    g = hl.Func("g")
    g[x] = hl.clamp(x, 0, 3)
    g.bound(x, 0, 8).vectorize(x).always_partition(x)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r"always_partition\(x\): there is nothing to divide"):
        assert np.array_equal(g.realize([8]), [0, 1, 2, 3, 3, 3, 3, 3])


@pytest.mark.parametrize("name", ["partition", "never_partition", "always_partition"])
def test_there_must_be_such_a_loop(name: str) -> None:
    f = edge()
    with pytest.raises(hl.ScheduleError, match=r'has no loop "t"\. Its loops, innermost first: x, y'):
        getattr(f, name)(*([t, NEVER] if name == "partition" else [t]))


@pytest.mark.parametrize("name", ["never_partition_all", "always_partition_all"])
def test_a_func_that_is_inlined_has_no_loops(name: str) -> None:
    f, g = edge(), hl.Func("g")
    getattr(f, name)()
    g[x, y] = f[x, y]
    with pytest.warns(hl.HalideWarning, match=f"{name}.*computed inline"):
        g.realize([4, 4])


def test_a_policy_is_one_of_three() -> None:
    f = edge()
    refused(hl.ScheduleError, lambda: f.partition(x, "never"), "'never'", "hl.Partition", at="f.partition")  # type: ignore[arg-type]
    refused(hl.ScheduleError, lambda: f.never_partition("x"), "Vars and RVars", at="f.never_partition")  # type: ignore[arg-type]
    assert not f._function.directives
