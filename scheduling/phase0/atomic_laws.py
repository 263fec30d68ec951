"""Atomic updates: whether the order in which iterations take their turns matters.

In: an algorithm. Out: one with the laws that its atomic stages may rest on. A law is demanded where iterations that may
meet run at once, or trade places (``scheduling.reductions``): in the order of its domain a step is the update itself.

    f[x] += g[r];  f.update().atomic()   ->   offered: x + y is associative and commutative
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm.model import AlgebraicLaw, Algorithm, Function
from halide_core.analysis.associativity import law_of, updates_points
from halide_core.errors import DependenceError
from halide_core.schedule.access_directives import Atomic
from halide_core.scheduling.legality import refuse


def atomic_laws(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the laws of its atomic stages on offer.

    Raises: ScheduleError for a stage that no step can be made of.
    """
    for f in algorithm.functions:
        for d in f.directives:
            if isinstance(d, Atomic):
                algorithm = with_offer(algorithm, f, d)
    return algorithm


def with_offer(algorithm: Algorithm, f: Function, d: Atomic) -> Algorithm:
    """The algorithm with the law of one atomic stage on offer, if there is one: it may be the user's word.

    Raises: ScheduleError for a stage that no step can be made of.
    """
    if d.stage >= len(f.definitions):
        return algorithm  # the loops phase refuses it
    definition = f.definitions[d.stage]
    if definition.domain is not None and definition.domain.at_once:
        told = "the definition gives several points values at once (hl.scatter), which is no one step."
        refuse(d, told, DependenceError)
    if not updates_points(f, definition):
        return algorithm
    law = None if d.override else law_of(f, definition)
    if not d.override and (law is None or not law.commutes):
        return algorithm
    return replace(algorithm, offered=(*algorithm.offered, AlgebraicLaw(d, law)))


def offer_of(algorithm: Algorithm, d: Atomic) -> AlgebraicLaw | None:
    """The law on offer for an atomic stage. What it was found for may have been copied, or specialized, since."""
    for each in reversed(algorithm.offered):
        given = each.directive
        assert isinstance(given, Atomic)
        if (given.stage, given.override) == (d.stage, d.override) and given.own.func is d.own.func:
            return each
    return None
