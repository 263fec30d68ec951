"""The query, its answers and their reasons on programs drawn at random: what holds of each of them."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core.bounds.explain.provenance import GivenEnd, Reasons
from halide_core.bounds.query.conjuncts import list_conjuncts
from halide_core.bounds.query.query import Rule
from halide_core.lowering.driver import LoweringTrace, lower
from tests.bounds.query.test_smtlib import run
from tests.support.generate import draw

SEEDS = [0, 1, 3, 4, 5]
"""Of programs whose schedules are accepted."""


def drawn(seed: int) -> tuple[hl.Func, LoweringTrace]:
    """A program, and everything that lowering went through."""
    output, trace = draw(seed).output, LoweringTrace()
    lower(output._request(), trace=trace)
    return output, trace


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_no_conjunct_fails_under_the_answers(seed: int) -> None:
    output, _trace = drawn(seed)
    said = run(output.bounds_query().to_smtlib(answered=True))
    assert "sat" not in said
    assert said.count("unsat") > len(said) * 0.9  # products of extents can be too much for the solver


@pytest.mark.parametrize("seed", SEEDS)
def test_every_bound_has_a_reason(seed: int) -> None:
    output, trace = drawn(seed)
    assert trace.query is not None and trace.answers is not None
    reasons = Reasons(trace.query, trace.answers)
    for bound in reasons.all():
        needs = reasons.of(bound).needs
        assert needs, str(bound)
        if len(needs) == 1:
            assert needs[0].end is GivenEnd.BOTH, str(bound)
    for image in trace.query.program.algorithm.images:
        assert str(output.explain(input=image.name)).startswith(f"input {image.name}, dimension 0")
    for f in trace.query.program.algorithm.functions:
        if f not in trace.query.program.algorithm.outputs:
            assert str(output.explain(allocation=f.name)).startswith(f"?mem {f.name}.")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_loop_can_be_asked_about(seed: int) -> None:
    output, trace = drawn(seed)
    assert trace.query is not None
    for nest in trace.query.program.nests.values():
        for loop in nest.loops[-1:]:
            assert str(loop.name) in str(output.explain(loop=str(loop.name))).splitlines()[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_stage_has_its_conjuncts(seed: int) -> None:
    _output, trace = drawn(seed)
    assert trace.query is not None
    stages = len(trace.query.program.nests)
    functions = len(trace.query.program.algorithm.functions)
    rules = [c.rule for c in list_conjuncts(trace.query)]
    assert rules.count(Rule.WRITE) == rules.count(Rule.LOOPS) == stages
    assert rules.count(Rule.STAGES) == stages - functions
    assert rules.count(Rule.MEMORY) == functions
    assert rules.count(Rule.WINDOW) == 1
