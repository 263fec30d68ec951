"""The verdict on a mutant: the judge that killed it, and what that judge saw.

In: a mutant's run. Out: a Verdict, which goes to a file as one line of JSON and comes back.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Judge(Enum):
    """Who can kill a mutant, in the order of a report's columns; the value is how a report calls it."""

    REFERENCE = "reference"
    """A pass's program, interpreted, differs from the program's meaning, is stuck, or races."""
    REFUSAL = "refusal"
    """A program is refused, or fails a start-up check, that the compiler itself runs."""
    COST = "cost"
    """The program is right, but computes, allocates or asks for more than the compiler's own."""
    CERTIFICATE = "certificate"
    """The certificate fails, has fewer claims, or holds for answers that are wrong."""
    CRASH = "crash"
    """The compiler ends in an error that it doesn't raise on purpose, or the process dies."""
    HANG = "hang"
    """It needs many times the processor time that the compiler itself needs."""
    TEST = "test"
    """A test fails, golden files included."""
    FUZZ = "fuzz"
    """A random program goes wrong, or is refused, that the compiler itself runs."""


SEMANTIC = (Judge.REFERENCE, Judge.REFUSAL, Judge.COST, Judge.CERTIFICATE, Judge.FUZZ)
"""The judges that know what a program means; tests were written by people who knew the code."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``judge`` is None for a survivor."""

    judge: Judge | None
    why: str
    seconds: float = 0.0
    """Processor time."""

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"judge": None if self.judge is None else self.judge.value}

    @staticmethod
    def from_data(data: dict[str, Any]) -> Verdict:
        """From JSON."""
        name = data["judge"]
        return Verdict(None if name is None else Judge(name), data["why"], data["seconds"])


class Killed(Exception):  # not an error: the mutant's end
    """Raised by the judge that kills a mutant."""

    def __init__(self, judge: Judge, why: str) -> None:
        super().__init__(why)
        self.judge = judge
        self.why = why
