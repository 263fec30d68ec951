"""Each documented behaviour, as a test that names it."""

from __future__ import annotations

import pytest

import halide_core as hl
from tests.behaviours import binding, funcs, mistakes, pipelines, reductions, schedules, values
from tests.behaviours.values import behaviours_of

FILES = (values, funcs, schedules, pipelines, reductions, binding, mistakes)
BEHAVIOURS = {name: each for module in FILES for name, each in behaviours_of(module).items()}


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::halide_core.HalideWarning")
def test_behaviour_is_as_documented(name: str) -> None:
    shown = BEHAVIOURS[name](hl)
    assert shown
    for found, wanted in shown:
        assert found == wanted, BEHAVIOURS[name].__doc__


def test_every_behaviour_says_what_it_shows() -> None:
    assert len(BEHAVIOURS) >= 150
    assert all(each.__doc__ for each in BEHAVIOURS.values())
