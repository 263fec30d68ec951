"""The behaviours that Halide documents, as cases: both packages show the same.

In and out as in ``making``.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from tests.behaviours import binding, funcs, mistakes, pipelines, reductions, schedules, values
from tests.behaviours.values import Behaviour, behaviours_of
from tests.campaigns.peer.making import Listing, PipelineCase

pipeline = Listing()


def _case(name: str, behaviour: Behaviour) -> PipelineCase:
    """A behaviour as a case, under a name that no other case has."""

    @wraps(behaviour)
    def shown(hl: Any) -> Any:
        return [found for found, _ in behaviour(hl)]

    shown.__name__ = f"documented_{name}"
    return shown


for _module in (values, funcs, schedules, pipelines, reductions, binding, mistakes):
    for _name, _each in behaviours_of(_module).items():
        pipeline(_case(_name, _each))
