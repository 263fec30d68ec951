"""The automatic steps of the compiler, each with a mutant of its check: STEPS those of passes, IN_C those of C text."""

from __future__ import annotations

from tests.campaigns.mutate.steps.in_c import IN_C
from tests.campaigns.mutate.steps.lanes import LANES
from tests.campaigns.mutate.steps.loops import LOOPS
from tests.campaigns.mutate.steps.memory import MEMORY
from tests.campaigns.mutate.steps.needed import NEEDED
from tests.campaigns.mutate.steps.numbers import NUMBERS
from tests.campaigns.mutate.steps.sliding import SLIDING
from tests.campaigns.mutate.steps.step import AutomaticStep

__all__ = ["IN_C", "STEPS"]

STEPS: dict[str, AutomaticStep] = SLIDING | NEEDED | LOOPS | MEMORY | LANES | NUMBERS
