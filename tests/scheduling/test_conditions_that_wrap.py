"""Conditions of a run on int64s near the ends of their type: they say what they are in int64, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl

x = hl.Var("x")
p, q = hl.Param(hl.Int(64), "p"), hl.Param(hl.Int(64), "q")
RUNS = ((0, 2**63 - 1), (5, 3), (3, 5), (2**63 - 1, 2**63 - 1))


def counts() -> hl.Func:
    f, over = hl.Func("f"), hl.RDom([(0, 4)])
    over.where(q > p)
    f[x] = 0
    f[x] += 1 + hl.select(q > p, 10, 20) + over.x
    return f


def table() -> hl.Func:
    f, values = hl.Func("f"), hl.Buffer(np.arange(20, dtype=np.int32))
    f[x] = values[hl.i32(hl.clamp(hl.min(q, p), hl.i64(0), hl.i64(9))) + x]
    return f


def check(f: hl.Func) -> None:
    for a, b in RUNS:
        q.set(a)
        p.set(b)
        np.testing.assert_array_equal(f.realize([5]), f.evaluate([5]))
    assert f.certify().ok


def test_a_specialization_by_a_sum_that_wraps() -> None:
    f, g = counts(), table()
    f.update().specialize(q < p + hl.i64(1)).unroll(x, 2)
    g.specialize(q < p + hl.i64(1)).vectorize(x, 4)
    check(f)
    check(g)


def test_a_requirement_on_a_sum_that_wraps() -> None:
    """At p = 2^63 - 1 it holds of every q, and q > p of none."""
    f = hl.Func("f")
    f[x] = hl.require(q >= p + hl.i64(1), hl.select(q > p, 10, 20), "no")
    for a, b in ((0, 2**63 - 1), (5, 3)):
        q.set(a)
        p.set(b)
        np.testing.assert_array_equal(f.realize([3]), [20 if b > 3 else 10] * 3)
    q.set(3)
    with pytest.raises(hl.PipelineError, match="no"):
        f.realize([3])


def test_a_requirement_of_a_pipeline() -> None:
    f = counts()
    pipeline = hl.Pipeline([f])
    pipeline.add_requirement(q >= p + hl.i64(1), "no")
    q.set(0)
    p.set(2**63 - 1)
    np.testing.assert_array_equal(np.asarray(pipeline.realize([5])), f.evaluate([5]))
