"""Points that threads update under a lock: several values, truth values, halves."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import same, variables

(x,) = variables("x")


def scattered(kind: str) -> hl.Func:
    """A reduction whose iterations meet in few points, in threads."""
    f, r = hl.Func("f"), hl.RDom([(0, 300), (0, 7)], "r")
    at = (r.x * 7 + r.y) % 5
    match kind:
        case "several values":
            f[x] = (0, hl.u64(1), hl.f64(0))
            f[at] = (f[at][0] + r.x, f[at][1] * hl.u64(3), hl.max(f[at][2], hl.f64(r.x * r.y)))
        case "truth values":
            f[x] = hl.cast(hl.Bool(), 0)
            f[at] = f[at] | (r.x * r.y > 1600)
        case "halves":
            f[x] = hl.cast(hl.Float(16), 0)
            f[at] = hl.max(f[at], hl.cast(hl.Float(16), r.x))
    f.update().atomic(kind == "halves").parallel(r.x, 8)
    return f


@pytest.mark.parametrize("kind", ["several values", "truth values", "halves"])
def test_steps_of_threads_take_turns(kind: str) -> None:
    f = scattered(kind)
    wanted = f.evaluate([6])
    for _ in range(5):
        found = f.realize([6])
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for got, want in pairs:
            same(got, np.asarray(want))
    assert f.certify().ok
