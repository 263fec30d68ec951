"""A case that is lowered: who draws a legal schedule has lowered it already, and the judges need not do it again.

In: a case. Out: its outputs, the request, the lowered pipeline and the trace; or the HalideError of a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import halide_core as hl
from halide_core import loop_nest
from halide_core.lowering.driver import LoweringTrace, lower_scheduled, schedule
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Request
from tests.campaigns.fuzz.case import Program
from tests.campaigns.fuzz.interpreted import request_of


@dataclass(frozen=True, slots=True)
class Made:
    """A made case to judge. No window is part of it."""

    outputs: Sequence[hl.Func]
    request: Request
    lowered: Lowered
    trace: LoweringTrace


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The first half of it, which costs little."""

    outputs: Sequence[hl.Func]
    request: Request
    program: loop_nest.Program
    trace: LoweringTrace

    def made(self) -> Made:
        """Lowers the rest. Raises: HalideError where a bound is refused."""
        return Made(self.outputs, self.request, lower_scheduled(self.request, self.program, self.trace), self.trace)


def begin(case: Program) -> Scheduled:
    """Builds and schedules. Raises: HalideError where a definition or a directive is refused."""
    outputs, _ = case.build()
    request, trace = request_of(outputs), LoweringTrace()
    return Scheduled(outputs, request, schedule(request, trace), trace)


def make(case: Program) -> Made:
    """Builds and lowers. Raises: HalideError where a definition, a directive or a bound is refused."""
    return begin(case).made()
