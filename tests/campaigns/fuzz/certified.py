"""The certificate as a judge: what is certified must hold, and what runs must be certified.

In: a request, and what lowering it recorded. Out: whether any window lets the program start, or a Mismatch that shows
the claim that is refuted or left open.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.lowering.driver import LoweringTrace, certify_lowered
from halide_core.run.backend import Request
from tests.campaigns.fuzz.verdict import Mismatch


def check(request: Request, trace: LoweringTrace, *, empty: bool = False) -> bool:
    """Every claim of the program is proven, or stands on a start-up check. False where all that is wrong is that no
    window passes those: an empty one, which skips them, shows nothing else."""
    certificate = certify_lowered(request, trace)
    for failure in certificate.failures:
        claim = failure.claim
        refuted = failure.status is Status.REFUTED
        if empty and claim.kind is ClaimKind.STARTUP and refuted and claim.conclusion is ir.TRUE:
            return False
        told = f"{claim.func}: {claim.told()}"
        if failure.counterexample is not None:
            told += f"; fails for {failure.counterexample}"
        raise Mismatch(f"certificate: {failure.status.value} {claim.kind.value}", told)
    return True
