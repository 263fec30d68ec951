"""The facts that bear on a claim."""

from __future__ import annotations

import pytest

from halide_core.bounds.smt.premise_selection import relevant

FACTS = [frozenset("xn"), frozenset("nm"), frozenset("yk"), frozenset(), frozenset("k"), frozenset("mpq")]


@pytest.mark.parametrize(
    ("claimed", "share", "expected"),
    [
        ("xn", 1.0, [0, 3]),
        ("x", 1.0, [3]),
        ("x", 0.5, [0, 1, 3]),
        ("x", 0.3, [0, 1, 3, 5]),
        ("k", 0.5, [2, 3, 4]),
        ("", 0.1, [3]),
    ],
)
def test_facts_that_bear_on_a_claim(claimed: str, share: float, expected: list[int]) -> None:
    found = relevant(FACTS, lambda fact: fact, set(claimed), share)
    assert found == [FACTS[i] for i in expected]
