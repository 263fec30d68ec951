"""Certificates of what is promised of arguments: a promise that no run checks is none."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.verify.vc import ClaimKind
from halide_core.ir import Assert, Block, Failure
from halide_core.ir.visitor import Rewriter, walk
from tests.support.certifying import certified, compiled

x, y = hl.Var("x"), hl.Var("y")


def promised() -> hl.Func:
    """A pipeline with a promise of each kind."""
    im, n, v = hl.ImageParam(hl.Int(32), 2, "im"), hl.Param(hl.Int(32), "n"), hl.Param(hl.Float(16), "v")
    n.set_range(1, 9)
    v.set_min_value(0.5)
    im.dim(0).set_min(n)
    im.dim(1).set_stride(64)
    f = hl.Func("f")
    f[x, y] = hl.require(n * 2 < 16, im[x + n, y] + hl.i32(v), "n is ", n)
    f.output_buffer().dim(0).set_extent(8)
    return f


class Without(Rewriter):
    """A tree without one of its checks."""

    def __init__(self, lost: Assert) -> None:
        super().__init__()
        self._lost = lost

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        return Block(()) if stmt is self._lost else super().stmt(stmt)


KINDS = {
    Failure.ASSERTION: 1,
    Failure.PARAMETER_RANGE: 3,
    Failure.ARGUMENT_BOUNDS: 1,
    Failure.ARGUMENT_EXTENT: 1,
    Failure.ARGUMENT_STRIDE: 3,
}


def _of_region(check: Assert) -> bool:
    """True for a check that a buffer has the region that is accessed."""
    return "but it has only" in str(check.message)


def test_promises_are_checked() -> None:
    certificate = certified(compiled(promised()))
    assert certificate.ok, str(certificate)
    told = [r.claim.told() for r in certificate.results if r.claim.told().startswith("it is checked that")]
    assert len(told) == sum(KINDS.values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_promise_that_is_not_checked_is_refuted(kind: Failure) -> None:
    parts = compiled(promised())
    lost = [s for s in walk(parts.tree) if isinstance(s, Assert) and s.failure is kind and not _of_region(s)]
    assert len(lost) == KINDS[kind]
    for each in lost:
        failures = certified(parts, tree=Without(each).stmt(parts.tree)).failures
        assert any(r.claim.kind is ClaimKind.STARTUP and "it is checked that" in r.claim.told() for r in failures)


def test_requirement_of_int64s_that_wrap_is_checked() -> None:
    """It is checked as C computes it, and claimed so."""
    x, f = hl.Var("x"), hl.Func("f")
    p, q = hl.Param(hl.Int(64), "p", 3), hl.Param(hl.Int(64), "q", 2)
    f[x] = x
    pipeline = hl.Pipeline([f])
    pipeline.add_requirement(q < p + 1)
    assert pipeline.certify().ok
