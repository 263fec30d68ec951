"""Outcomes of a case.

In: nothing. Out: an Outcome, its kind for counting, and what was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.campaigns.fuzz.coverage import Feature


class Outcome(Enum):
    """The outcome of a case."""

    RAN = "ran"
    REFUSED = "refused"
    """A HalideError before the program runs: a definition, a directive, a bound that can't be found."""
    ASSERTED = "asserted"
    """A start-up check failed, in every judge alike."""
    TOO_LONG = "too long"
    """The budget of steps is spent."""
    MISMATCH = "mismatch"
    """Two judges differ, or one was stuck, or crashed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``kind`` names the judge and what it found; two failures of one kind are taken for one and the same."""

    outcome: Outcome
    kind: str = ""
    detail: str = ""
    features: frozenset[Feature] = frozenset()
    """The features that a case that ran exercised."""


class Mismatch(Exception):
    """Two judges differ."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
