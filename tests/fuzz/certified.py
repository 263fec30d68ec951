"""The certificate as a judge: what is certified must hold, and what runs must be certified.

In: a request, and what lowering it recorded. Out: nothing, or a Mismatch that shows the claim that is refuted or left
open.
"""

from __future__ import annotations

from halide_core.backend import Request
from lowering.driver import Trace, certify_lowered
from tests.fuzz.verdict import Mismatch


def check(request: Request, trace: Trace) -> None:
    """Every claim of the program is proven, or stands on a start-up check."""
    certificate = certify_lowered(request, trace)
    for failure in certificate.failures:
        claim = failure.claim
        told = f"{claim.func}: {claim.told()}"
        if failure.counterexample is not None:
            told += f"; fails for {failure.counterexample}"
        raise Mismatch(f"certificate: {failure.status.value} {claim.kind.value}", told)
