"""Survivors that were looked at, each with the reason why no judge can, or need, see it.

In: nothing. Out: EXPLAINED: the reason for a file and function, a line of it, and that line as the mutant has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.mutate.mutant import Key


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
    """Why no judge sees it."""

    reason: Reason
    why: str


EXPLAINED: dict[Key, Survivor] = {}
