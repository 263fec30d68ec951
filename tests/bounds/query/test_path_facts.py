"""Facts along paths: each engine's own, and a query that no answer changes."""

from __future__ import annotations

import dataclasses

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answers, Engine
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Path, Query, Where, extract_query
from halide_core.lowering.driver import LoweringTrace, schedule

x, y, yi = hl.Var("x"), hl.Var("y"), hl.Var("yi")
n = ir.index_variable("n")


def stencil() -> Query:
    """The query of a stencil in tiles, whose producer slides inside of them."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x + y
    f[x, y] = g[x, y - 1] + g[x + 1, y + 1]
    f.split(y, y, yi, 8)
    g.store_at(f, y).compute_at(f, yi)
    return extract_query(schedule(f._request(), LoweringTrace()))


def texts(answers: Answers) -> list[str]:
    """Answers as text, with the start-up checks."""
    return [f"{a.interval.min!r}, {a.interval.len!r}" for a in answers.holes] + [repr(c) for c in answers.checks]


@pytest.mark.parametrize("before", [Engine.INTERVAL, Engine.ISL, Engine.BASELINE])
@pytest.mark.parametrize("engine", [Engine.INTERVAL, Engine.ISL, Engine.BASELINE])
def test_answers_are_the_same_when_another_engine_has_answered_the_query(before: Engine, engine: Engine) -> None:
    query = stencil()
    oracle_of(before).answer(query)
    assert texts(oracle_of(engine).answer(query)) == texts(oracle_of(engine).answer(stencil()))


def test_query_and_path_are_immutable() -> None:
    query = stencil()
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.unproven = {}  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.top.binder = None  # type: ignore[misc]
    with pytest.raises(AttributeError):
        query.reads.clear()  # type: ignore[attr-defined]


def test_path_sees_the_facts_above_it_when_those_come_later() -> None:
    top = Path(None, None)
    inside = top.then(Where(ir.TRUE)).then(Where(ir.TRUE))
    facts, others = PathFacts(), PathFacts()
    below = facts.at(inside)
    facts.at(top).assume_at_least(n, ir.ONE)
    assert below.proves_le(ir.ONE, n)
    assert facts.at(inside) is below
    assert not others.at(inside).proves_le(ir.ONE, n)
