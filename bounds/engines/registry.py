"""The engines by name. What some of them need beyond Python is loaded when one is first asked for.

In: an engine's name, as ``HL_BOUNDS`` has it. Out: its Ranges.

    ranges_of(Engine.ISL).ends(x + 1, path, stop)
"""

from __future__ import annotations

from halide_core.bounds.engines.baseline import BaselineRanges
from halide_core.bounds.engines.chain import Ask, ImprovedRanges, Improvement
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.answers import Engine
from halide_core.config import bounds_engine
from halide_core.errors import HalideError


def chosen_engine() -> Engine:
    """The user's choice, read anew each time. Raises: HalideError for an unknown name, with those there are."""
    name = bounds_engine()
    for engine in Engine:
        if engine.value == name:
            return engine
    names = ", ".join(e.value for e in Engine)
    raise HalideError(f'HL_BOUNDS="{name}" is no bounds engine. It can be one of: {names}.')


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
