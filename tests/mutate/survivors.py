"""Survivors that were looked at, each with the reason why no judge can, or need, see it.

In: nothing. Out: EXPLAINED: for a mutant's id the changed line, which must still be the mutant's, and the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a mutant survives."""

    EQUIVALENT = "equivalent"
    """The program does the same for every input."""
    LIMIT = "limit"
    """It moves a limit that trades time for exactness or size, and that could as well be the other number."""
    TWICE = "checked twice"
    """Something else catches what this would have."""
    TEXT = "text"
    """Only what people read changes."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """``line`` is the first changed line as the mutant has it; an explanation of another line is out of date."""

    line: str
    reason: Reason
    why: str


EXPLAINED: dict[str, Survivor] = {}
