"""The same program gives the same texts in every process, whatever else the process did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.dumps import histogram, pixels, tiled_blur

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from tests.lowering.test_determinism import texts
sys.stdout.write(texts())
"""


def texts() -> str:
    """The compiler's texts about two pipelines."""
    _bx, by = tiled_blur()
    hist, out, r = histogram()
    hist.vectorize(hist.args()[0], 8)
    hist.update().unroll(r.x)
    parts = []
    for f in (by, out):
        request = f._request()
        parts += [emit_c(lower(request)), str(f.explain()), f.loop_nest(), str(f.explain(input="in"))]
        parts += [f.bounds_query().to_smtlib(), f.bounds_query().to_smtlib(answered=True)]
    return "\n".join(parts)


@pytest.fixture(scope="module")
def here() -> str:
    """The texts in this process."""
    return texts()


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_texts_do_not_depend_on_the_order_of_hashes(here: str, seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == here
    assert "0x" not in here


def test_texts_do_not_depend_on_what_was_made_before(here: str) -> None:
    kept = [pixels(name) for name in ("f", "g", "bx", "by", "hist", "out") for _ in range(3)]
    kept[0][0].realize([4, 4])
    assert texts() == here
    del kept
    assert texts() == here
