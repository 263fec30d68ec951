"""The engines by name. What some of them need beyond Python is loaded when one is first asked for.

In: an engine's name, as ``HL_BOUNDS`` has it. Out: an Oracle.

    oracle_of(Engine.ISL).answer(query)
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from halide_core.bounds.engines.baseline import BaselineRanges
from halide_core.bounds.engines.chain import Ask, ImprovedRanges, Improvement
from halide_core.bounds.engines.interface import Answers, Engine, Oracle, Ranges
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.infer.inference import answer_query
from halide_core.bounds.query.query import Query
from halide_core.errors import HalideError

VARIABLE = "HL_BOUNDS"


@dataclass(frozen=True, slots=True)
class EngineOracle:
    """An engine as an Oracle."""

    engine: Engine

    @property
    def name(self) -> str:
        """What the engine is called."""
        return self.engine.value

    def answer(self, query: Query) -> Answers:
        """Answers every hole. Raises: BoundsError where an access has no bound."""
        return answer_query(query, ranges_of(self.engine))


def chosen_engine() -> Engine:
    """The user's choice, read anew each time. Raises: HalideError for an unknown name, with those there are."""
    name = os.environ.get(VARIABLE, "").strip() or Engine.CHAIN.value
    for engine in Engine:
        if engine.value == name:
            return engine
    names = ", ".join(e.value for e in Engine)
    raise HalideError(f'{VARIABLE}="{name}" is no bounds engine. It can be one of: {names}.')


def oracle_of(engine: Engine) -> Oracle:
    """The engine as an Oracle."""
    return EngineOracle(engine)


def ranges_of(engine: Engine) -> Ranges:
    """A fresh engine, which knows no answers yet."""
    match engine:
        case Engine.CHAIN:
            return ImprovedRanges(chained_polyhedra, Ask.WHERE_LOST)
        case Engine.INTERVAL:
            return Extents()
        case Engine.ISL:
            return ImprovedRanges(polyhedra, Ask.ALWAYS)
        case Engine.NONLINEAR:
            return ImprovedRanges(polynomials, Ask.ALWAYS)
        case Engine.BASELINE:
            return BaselineRanges()


def polyhedra(extents: Extents) -> Improvement:
    """isl, for the ranges that ``extents`` has found."""
    from halide_core.bounds.engines.polyhedral import Polyhedra  # noqa: PLC0415  # isl takes long to import

    return Polyhedra(extents)


def chained_polyhedra(extents: Extents) -> Improvement:
    """isl as a part of the chain: what it improves by very little stays as short as it was."""
    from halide_core.bounds.engines.polyhedral import CHAINED, Polyhedra  # noqa: PLC0415  # isl takes long to import

    return Polyhedra(extents, CHAINED)


def polynomials(extents: Extents) -> Improvement:
    """sympy, for the ranges that ``extents`` has found."""
    from halide_core.bounds.engines.nonlinear import Polynomials  # noqa: PLC0415  # sympy takes long to import

    return Polynomials(extents)
