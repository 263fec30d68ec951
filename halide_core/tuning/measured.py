"""``schedule="measured"``: the best few of the model's choices, measured when there is nothing in the store.

In: outputs, and what a schedule is asked for. Out: the store has one. ``hl.tune`` looks further, for as long as it may.

    f.realize([640, 480], schedule="measured")   ->   half a minute of measuring; the next process has it at once
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from halide_core.algorithm.model import Function, realization_order
from halide_core.autoschedule.automatic import AutomaticRequest, chosen_before, expected_windows, scheduled
from halide_core.autoschedule.machine import machine
from halide_core.autoschedule.store import store_folder, store_key, stored
from halide_core.errors import NotAvailableError, PipelineError, ScheduleError
from halide_core.func.func import Func
from halide_core.run.pipeline import Pipeline
from halide_core.run.target import Target, is_this_machine
from halide_core.tuning.session import Options, Session

_BUDGET, _TRIALS = 60.0, 16
"""Seconds and candidates: whichever are fewer."""


def _measured(session: Session) -> None:
    session.measure()


@dataclass(frozen=True, slots=True)
class Habit:
    """The way in which pipelines are measured.

    Args:
        searches_known: whether a pipeline is searched once a process, even where the store has a schedule.
    """

    options: Options
    search: Callable[[Session], None] = _measured
    searches_known: bool = False
    quiet: bool = True
    seen: set[str] = field(default_factory=set)


class _Habit:
    """The one of this process."""

    current = Habit(Options(_BUDGET, _TRIALS, jobs=os.cpu_count() or 1))


@contextmanager
def measuring(habit: Habit) -> Iterator[None]:
    """``with measuring(habit):`` pipelines are measured in another way meanwhile."""
    before = _Habit.current
    _Habit.current = habit
    try:
        yield
    finally:
        _Habit.current = before


def measure_unless_known(outputs: Sequence[Function], request: AutomaticRequest, *, by_default: bool = False) -> None:
    """Measures where the store has nothing. Where nothing can be kept or measured (no cache folder, another machine, an
    extern stage), the model's choice stands.

    Raises:
        ScheduleError: an output whose size nobody said; unless it is ``by_default``.
        PipelineError: the plain program can't be run, or no candidate; unless it is ``by_default``: then the model's
            choice stands, too.
    """
    target = Target(request.target)
    if chosen_before(outputs, request):
        return
    if scheduled(realization_order(outputs)) is not None or store_folder() is None or not is_this_machine(target):
        return
    try:
        windows = expected_windows(outputs, request)
    except ScheduleError:
        if by_default:
            return
        raise
    with suppress(NotAvailableError, *([PipelineError] if by_default else [])):
        key = store_key(outputs, windows, machine(target, dict(request.parameters)))
        habit = _Habit.current
        known = key.digest in habit.seen if habit.searches_known else stored(key) is not None
        if not known:
            habit.seen.add(key.digest)
            habit.search(Session(Pipeline([Func._of(f) for f in outputs]), request, habit.options, quiet=habit.quiet))
