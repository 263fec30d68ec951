"""Families of directives that are added to a case as it was drawn: each with one random stream of its own.

In: a case, and the seed and the number that alone decide the stream. Out: the case, mostly as it was; seldom with a
directive more, for which others about the same loops may make room. Another family, or a change of one, changes no
case that has none of its directives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from halide_core.schedule.directives import Directive
from tests.campaigns.fuzz.case import Case

Draw = Callable[[Case, random.Random], Case | None]
"""Adds directives to a case; None where the case has nothing for them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A generator, the directives that it records, and the share of cases that it is asked for."""

    draw: Draw
    records: tuple[type[Directive], ...]
    share: float


@dataclass(frozen=True, slots=True)
class Family:
    """The generators of some directives. ``methods`` are those of the interface that ``more`` draws more of."""

    name: str
    methods: Mapping[str, Drawn]
    more: tuple[Drawn, ...] = ()

    def added(self, case: Case, seed: int, number: int) -> Case:
        """The case, or the case with some of the family's directives."""
        rng = random.Random(f"{seed}/{number}/{self.name}")
        for each in (*self.methods.values(), *self.more):
            if rng.random() < each.share:
                case = each.draw(case, rng) or case
        return case
