"""Work for a process of its own: to compile a candidate, or to measure it.

In: a folder with a problem, and a choice of loops. Out: a JobOutcome: a time, or why there is none.

    Job("/tmp/tune-x", "[[1,1,…]]", JobRole.MEASURE)   ->   JobOutcome(Ending.DONE, 2e-5)
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum

PROBLEM, EXPECTED = "problem.pickle", "expected.pickle"
"""In the folder of a Job: the pipeline with its inputs, and the values that every schedule must give."""
MARK = "\x1ftuning:"
"""Before the answer of a process, as a candidate may print too."""


class JobRole(Enum):
    """The purpose of a process."""

    COMPILE = "compile"
    """Into the compile cache."""
    MEASURE = "measure"
    PLAIN = "plain"
    """Measure, and write what every candidate must give."""


class Ending(Enum):
    """The end of a candidate."""

    DONE = "done"
    REFUSED = "refused"
    """The compiler or the pipeline said why it can't be."""
    WRONG = "wrong"
    """Other bits than the plain program's: a fault of the compiler."""
    FAILED = "failed"


class Clock(Enum):
    """The time that counts: on a clock, or, of one thread, the processor's, which a busy machine changes less."""

    WALL = "wall"
    CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Job:
    """A candidate's work.

    Args:
        folder: where the problem is.
        choice: the loops, as ``autoschedule.choices`` writes them; the plain program's without one.
        hopeless: the seconds from which a candidate is not run again.
    """

    folder: str
    choice: str
    role: JobRole
    hopeless: float = 1e9
    clock: Clock = Clock.WALL

    def to_json(self) -> str:
        """The Job as text, for the process."""
        return json.dumps(asdict(self) | {"role": self.role.value, "clock": self.clock.value})

    @classmethod
    def from_json(cls, text: str) -> Job:
        """The Job of a text."""
        given = json.loads(text)
        return cls(**given | {"role": JobRole(given["role"]), "clock": Clock(given["clock"])})


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The least time of a run in seconds (0 for a compilation), or a reason."""

    result: Ending
    seconds: float = 0.0
    reason: str = ""
