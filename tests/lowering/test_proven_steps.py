"""Slides and folds are proven in every compile, by what did not decide them; what is not proven is not done."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.verify.by_cases import CaseProver
from halide_core.bounds.verify.program import step_claims
from halide_core.bounds.verify.vc import Status
from halide_core.lowering import proven_steps
from halide_core.lowering.driver import LoweringTrace, certify_lowered, lower
from tests.campaigns.fuzz.draw_sliding import draw_sliding
from tests.campaigns.fuzz.interpreted import request_of
from tests.support.certifying import compiled
from tests.support.sliding import blur

x, y = hl.Var("x"), hl.Var("y")


def folded() -> hl.Func:
    g, f = blur()
    g.store_root().compute_at(f, y).fold_storage(y, 4)
    return f


def test_what_is_not_proven_is_not_done_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaseProver, "proves", lambda *_: False)
    f = folded()
    with pytest.warns(hl.HalideWarning, match=r"fold_storage\(y, 4\).* so this has no effect"):
        told = f.loop_nest()
    assert '"y" does not slide: it was not proven that, of g' in told
    parts = compiled(f)
    assert not parts.answers.folds
    assert all(slide.loop is None for slide in parts.answers.slides)


def test_each_round_is_about_fewer_funcs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Func's slide is lost; the other's stays."""
    s, g, h, f = hl.ImageParam(hl.Int(32), 2, "s"), hl.Func("g"), hl.Func("h"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    h[x, y] = g[x, y - 1] + g[x, y + 1]
    f[x, y] = h[x, y - 1] + h[x, y + 1]
    g.store_root().compute_at(f, y)
    h.store_root().compute_at(f, y)
    proves = CaseProver.proves
    monkeypatch.setattr(CaseProver, "proves", lambda p, c: c.step.name != "h" and proves(p, c))
    slides = {slide.func.name: slide.loop for slide in compiled(f).answers.slides if slide.dim == 1}
    assert slides["h"] is None
    assert slides["g"] is not None
    s.set(np.arange(30 * 20, dtype=np.int32).reshape(30, 20))
    window = [(2, 10), (4, 12)]
    buffer = hl.Buffer(hl.Int(32), [10, 12])
    buffer.set_min([2, 4])
    f.realize(buffer)
    assert np.array_equal(np.asarray(buffer), f.evaluate(window))


@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards])
def test_long_chains_of_slides_are_proven(tail: hl.TailStrategy) -> None:
    """Each needs what is new of the next: the cases of one must not double those of the one before."""
    yo, yi = hl.Var("yo"), hl.Var("yi")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    stages: list[hl.Func] = []
    for k in range(8):
        before, stage = stages[-1] if stages else image, hl.Func(f"stage{k}")
        stage[x, y] = before[x, y] + before[x, y + 1] * 3 + before[x, y + 2]
        stages.append(stage)
    out = stages[-1].split(y, yo, yi, 8, tail)
    for stage in stages[:-1]:
        stage.store_at(out, yo).compute_at(out, yi)
    parts = compiled(out)
    assert sum(slide.loop is not None for slide in parts.answers.slides if slide.dim == 1) == 7
    assert out.certify().ok
    image.set(np.random.default_rng(3).integers(0, 9, (40, 6)).astype(np.uint16))
    assert np.array_equal(np.asarray(out.realize([6, 19])), np.asarray(out.evaluate([6, 19])))


def test_no_solver_is_loaded() -> None:
    text = (
        "import sys, halide_core as hl\n"
        "x, y = hl.Var('x'), hl.Var('y')\n"
        "g, f = hl.Func('g'), hl.Func('f')\n"
        "g[x, y] = x + y\n"
        "f[x, y] = g[x, y] + g[x, y + 1]\n"
        "g.store_root().compute_at(f, y)\n"
        "assert 'slides along' in f.loop_nest()\n"
        "f.realize([4, 4])\n"
        "assert 'z3' not in sys.modules\n"
    )
    without = {name: value for name, value in os.environ.items() if name != "HL_CERTIFY"}
    subprocess.run([sys.executable, "-c", text], check=True, env=without)


@pytest.mark.parametrize("number", range(12))
def test_what_a_compile_does_its_certificate_proves(number: int) -> None:
    """And what is proven without a solver, the solver proves as well."""
    outputs, _ = draw_sliding(22, number).build()
    request = request_of(outputs)
    trace = LoweringTrace()
    try:
        lower(request, trace=trace)
    except (hl.ScheduleError, hl.BoundsError):
        return
    assert trace.query is not None
    assert trace.answers is not None
    certificate = certify_lowered(request, trace)
    taken = [r for r in certificate.results if r.claim.step is not None]
    assert [r.claim.told() for r in taken if r.status not in (Status.PROVEN, Status.ASSERTED)] == []
    assert not proven_steps.unproven_steps(trace.query, trace.answers, dict(trace.passes)["fill"])
    slid = [slide for slide in trace.answers.slides if slide.loop is not None]
    claims = step_claims(trace.query, trace.answers, dict(trace.passes)["fill"])
    assert bool(claims) == bool(slid or trace.answers.folds)
