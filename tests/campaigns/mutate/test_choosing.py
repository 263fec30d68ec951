"""The draw is the same for a seed, has no mutant twice, and leaves nothing out."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.campaigns.mutate.choosing import all_mutants, choose
from tests.campaigns.mutate.mutant import PACKAGES, Key, Mutant, Operator
from tests.campaigns.mutate.operators import mutants
from tests.campaigns.mutate.survivors import EXPLAINED

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def everything() -> list[Mutant]:
    return all_mutants(ROOT)


def test_every_package_and_operator_is_there(everything: list[Mutant]) -> None:
    assert {m.path.partition("/")[0] for m in everything} == set(PACKAGES)
    assert {m.operator for m in everything} == set(Operator)
    assert len({m.id for m in everything}) == len(everything)


def test_draw_repeats_and_begins_alike(everything: list[Mutant]) -> None:
    drawn = choose(everything, 7, 100)
    assert drawn == choose(everything, 7, 100)
    assert drawn[:40] == choose(everything, 7, 40)
    assert drawn != choose(everything, 8, 100)


def test_draw_hardly_moves_when_one_function_changes(everything: list[Mutant]) -> None:
    drawn = choose(everything, 7, 100)
    function = (drawn[0].path, drawn[0].function)
    rest = [m for m in everything if (m.path, m.function) != function]
    assert len(set(drawn) - set(choose(rest, 7, 100))) <= 2 * sum((m.path, m.function) == function for m in drawn)


def test_draw_is_even_over_operators_and_files(everything: list[Mutant]) -> None:
    drawn = choose(everything, 7, 140)
    assert set(Counter(m.operator for m in drawn).values()) == {20}
    relations = Counter(m.path for m in drawn if m.operator is Operator.RELATION)
    assert max(relations.values()) == 1
    assert len(set(drawn)) == 140


def test_draw_of_all_is_all(everything: list[Mutant]) -> None:
    assert sorted(m.id for m in choose(everything, 1, len(everything) + 1)) == sorted(m.id for m in everything)


def test_every_drawn_mutant_is_another_program(everything: list[Mutant]) -> None:
    for m in choose(everything, 11, 300):
        text = (ROOT / m.path).read_bytes()
        assert ast.dump(ast.parse(m.edit.applied(text))) != ast.dump(ast.parse(text)), m.id


@pytest.mark.parametrize("key", EXPLAINED, ids=lambda key: key[0])
def test_survivor_that_is_explained_is_one_of_the_compiler_as_it_is(key: Key) -> None:
    path, _, function = key[0].partition(":")
    text = (ROOT / path).read_bytes()
    assert any(m.key(text) == key for m in mutants(path, text) if m.function == function)
