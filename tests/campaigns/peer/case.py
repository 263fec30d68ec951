"""The cases: an expression as a source text, or a pipeline as a function; and the groups that one process runs at once.

In: the lists of ``expressions``, ``generate`` and ``pipelines``. Out: cases by name, the same in every process.

    Case("u8 + 300", source='a_u8 + 300')
    Case("boundary_repeat_edge", function=boundary_repeat_edge)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaigns.peer import (
    borders,
    documented,
    expressions,
    externs,
    files,
    generate,
    inputs,
    parts,
    pipelines,
    schedules,
    shared_loops,
    targets,
    tracker,
    tuples,
)
from tests.campaigns.peer.making import PipelineCase

RANDOM_SEED = 20240
RANDOM_EXPRESSIONS = 320
GROUP = 16
PIPELINE_MODULES = (
    pipelines, tuples, inputs, files, schedules, shared_loops, targets, tracker, parts, externs, borders, documented,
)  # fmt: skip
EXPRESSION_FILE = "<expression>"

# Functions that no two libraries compute to the last bit.
_TRANSCENDENTAL = frozenset(
    """acos acosh asin asinh atan atan2 atanh cos cosh erf exp fast_cos fast_exp fast_log fast_pow fast_sin log pow sin
    sinh tan tanh""".split()
)
_EXACT_ULPS, _TRANSCENDENTAL_ULPS = 2, 16


@dataclass(frozen=True)
class Case:
    """One thing to compare. An expression has a ``source``, a pipeline a ``function`` of the package."""

    name: str
    source: str
    function: PipelineCase | None = None

    @property
    def ulps(self) -> int:
        """The greatest distance of floats, in ulps."""
        words = re.findall(r"\w+", self.source)
        powers = "**" in self.source and self.function is None
        return _TRANSCENDENTAL_ULPS if powers or any(w in _TRANSCENDENTAL for w in words) else _EXACT_ULPS


def all_cases() -> dict[str, Case]:
    """Every case by its name, listed expressions first."""
    sources = [*expressions.LISTED, *generate.random_expressions(RANDOM_SEED, RANDOM_EXPRESSIONS)]
    cases = [Case(source, source) for source in dict.fromkeys(sources)]
    functions = [f for module in PIPELINE_MODULES for f in module.pipeline.cases]
    cases += [Case(f.__name__, inspect.getsource(f), f) for f in functions]
    named = {case.name: case for case in cases}
    assert len(named) == len(cases), "two cases of one name"
    return named


def groups(cases: Sequence[Case]) -> list[list[str]]:
    """The names of the cases that run together: expressions in groups, each pipeline on its own."""
    plain = [c.name for c in cases if c.function is None]
    together = [plain[i : i + GROUP] for i in range(0, len(plain), GROUP)]
    return together + [[c.name] for c in cases if c.function is not None]
