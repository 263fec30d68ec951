"""Where the two packages differ on purpose: each case with its reason. ``make peer-test`` fails where one has gone.

In: the name of a case. Out: why it may differ. Names that are not here yet are no difference on purpose: ``Kind.TO_COME``
counts them apart, and a name that has come must leave the table.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """Why a difference is accepted."""

    BETTER = "this package does more, or says no where the answer would be wrong"
    UNDEFINED = "Halide leaves it undefined; here it is defined"
    CONVENTION = "the same in another form"
    TO_COME = "not here yet"


DIFFERENCES: dict[str, tuple[Kind, str]] = {}
