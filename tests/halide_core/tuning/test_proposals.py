"""Candidates: choices as data, the space as numbers, problems in files, and the weights that order them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.autoschedule.choices import ChoiceError, decoded, encoded
from halide_core.autoschedule.search import drawn, search
from halide_core.tuning.job import Ending, JobOutcome
from halide_core.tuning.learned import FEATURES, Measurement, rank_correlation, ridge
from halide_core.tuning.problem import Problem
from halide_core.tuning.proposals import ModelProposals
from halide_core.tuning.session import Options, Session
from halide_core.tuning.study import StudyProposals

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")


def two_blurs() -> Problem:
    source, across, down = hl.Func("source"), hl.Func("across"), hl.Func("down")
    source[x, y] = hl.f32(x * y)
    across[x, y] = source[x - 1, y] + source[x + 1, y]
    down[x, y] = across[x, y - 1] + across[x, y + 1]
    return Session.of(down, [640, 480], None, Options()).problem


def test_choices_are_read_as_they_were_written() -> None:
    problem = two_blurs()
    for found in search(problem.model(), best=8):
        text = encoded(found.placed(), problem.order)
        assert encoded(decoded(text, problem.order), problem.order) == text


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: [*rows[:-1], [9, *rows[-1][1:]]],
        lambda rows: [[*rows[0][:2], "CELLAR", *rows[0][3:]]],
        lambda rows: [[*rows[0][:3], [0], *rows[0][4:]]],
        lambda rows: [[*rows[0][:2], "TILE", *rows[0][3:]]],
        lambda rows: [[*rows[0][:5], [0, -8], *rows[0][6:]]],
        lambda rows: [rows[0][:-1]],
        lambda _: {"a": 1},
    ],
    ids=["no such Func", "no such level", "too few dimensions", "no such loops", "no lanes", "too short", "no list"],
)
def test_damaged_choices_are_refused(damage: object) -> None:
    problem = two_blurs()
    rows = json.loads(encoded(search(problem.model())[0].placed(), problem.order))
    assert callable(damage)
    with pytest.raises(ChoiceError):
        decoded(json.dumps(damage(rows)), problem.order)


def test_numbers_of_the_study_stand_for_the_choices_of_the_model() -> None:
    model = two_blurs().model()
    order = model.stages.order
    own = ModelProposals(model, order, 6)
    expected = [p.choice for p in ModelProposals(model, order, 6).ask(6)]
    study = StudyProposals(model, own, journal=None, name="s", seed=0)
    assert [p.choice for p in study.ask(len(expected))] == expected


def test_any_draw_is_a_program_with_the_same_values() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + 3 * y
    g[x, y] = f[x, y - 1] + f[x + 1, y + 1]
    problem = Session.of(g, [80, 70], None, Options()).problem
    random = np.random.default_rng(1)
    model = problem.model()
    choices = {
        encoded(drawn(model, lambda _, each: int(random.integers(len(each)))).placed(), problem.order)
        for _ in range(3)
    }
    assert len(choices) > 1
    for choice in sorted(choices):
        again = Session.of(g, [80, 70], None, Options()).problem
        again.schedule(choice)
        assert np.array_equal(again.pipeline.realize([80, 70]), g.evaluate([80, 70]))


def test_problem_keeps_the_layout_of_its_inputs(tmp_path: Path) -> None:
    image, f = hl.ImageParam(hl.UInt(8), 3, "image"), hl.Func("f")
    image.dim(0).set_stride(3)
    image.dim(2).set_stride(1)
    values = hl.Buffer.make_interleaved(hl.UInt(8), 8, 5, 3)
    values.set_min([2, -1, 0])
    np.asarray(values)[...] = np.arange(120, dtype=np.uint8).reshape(3, 5, 8)
    image.set(values)
    f[x, y, c] = image[x + 2, y - 1, c] + 1
    Session.of(f, [8, 5, 3], None, Options()).problem.write(tmp_path / "p")
    again = Problem.read(tmp_path / "p")
    assert np.array_equal(again.pipeline.realize([8, 5, 3]), f.evaluate([8, 5, 3]))


def test_measurements_change_the_order_of_what_is_left() -> None:
    model = two_blurs().model()
    order = model.stages.order
    plain, taught = (ModelProposals(model, order, 12) for _ in range(2))
    first, second = taught.ask(2)
    assert [p.choice for p in plain.ask(2)] == [first.choice, second.choice]
    taught.tell(first, JobOutcome(Ending.DONE, 1.0))
    taught.tell(second, JobOutcome(Ending.DONE, 0.01))
    left = taught.ask(12)
    assert sorted(p.choice for p in plain.ask(12)) == sorted(p.choice for p in left)
    estimates = [taught.estimator.estimate(p.found) for p in left]
    assert estimates == sorted(estimates)


def test_ridge_finds_the_weights_of_exact_measurements_and_ignores_how_fast_a_pipeline_is() -> None:
    random, count = np.random.default_rng(3), len(FEATURES)
    weights = random.normal(size=count)
    groups = []
    for scale in (1e-9, 3e-4):
        rows = random.random((30, count))
        groups.append([Measurement(r, 1e6, scale * 1e6 * math.exp(float(r @ weights))) for r in rows])
    assert np.allclose(ridge(groups, np.zeros(count), 1e-9), weights, atol=1e-6)
    assert np.allclose(ridge(groups, weights, 1e9), weights)


def test_rank_correlation_shares_ranks() -> None:
    assert rank_correlation([1, 2, 3], [10, 200, 3000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 2], [5, 5, 9]) == pytest.approx(1)
    assert rank_correlation([1, 1, 1], [5, 6, 9]) == 0
