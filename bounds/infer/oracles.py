"""Engines as oracles: what they know of single accesses, made into answers of whole queries.

In: an engine's name, as ``HL_BOUNDS`` has it. Out: an Oracle.

    oracle_of(Engine.ISL).answer(query)
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core.bounds.engines.interface import Oracle
from halide_core.bounds.engines.registry import ranges_of
from halide_core.bounds.infer.inference import answer_query
from halide_core.bounds.query.answers import Answers, Engine
from halide_core.bounds.query.query import Query


@dataclass(frozen=True, slots=True)
class EngineOracle:
    """An engine as an Oracle."""

    engine: Engine

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.value

    def answer(self, query: Query) -> Answers:
        """Answers every hole. Raises: BoundsError where an access has no bound."""
        return answer_query(query, ranges_of(self.engine))


def oracle_of(engine: Engine) -> Oracle:
    """The engine as an Oracle."""
    return EngineOracle(engine)
