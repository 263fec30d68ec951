"""The certificates of the seven pipelines of ``tests.support.certificates``: how much is proven, and what the rest
is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.ir.visitor import walk
from tests.support.certificates import PIPELINES, row
from tests.support.certifying import compiled

_EXPLAINED = {ClaimKind.REGION, ClaimKind.INT32, ClaimKind.STARTUP}
"""Claims that may need a start-up check: that arguments are large enough, and that coordinates are of int32."""


@pytest.mark.parametrize("make", PIPELINES, ids=lambda m: m.__name__)
def test_tiled_pipeline_is_proven(make: Callable[[], hl.Func]) -> None:
    f = make()
    certificate = f.certify()
    assert isinstance(certificate, PipelineCertificate)
    assert certificate.ok, str(certificate)
    assert certificate.proven_share >= 0.95
    assert {r.claim.kind for r in certificate.results if r.status is Status.ASSERTED} <= _EXPLAINED
    assert all(r.checks for r in certificate.results if r.status is Status.ASSERTED)
    assert len(row(make.__name__, certificate).splitlines()) == 1 + len(certificate.checks)
    loops = [s for s in walk(compiled(f).tree) if isinstance(s, ir.For)]
    assert loops and not any(isinstance(inner, ir.Assert) for s in loops for inner in walk(s))
