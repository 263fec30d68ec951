"""Automatic schedules as runs and compiles ask for them: ``schedule="auto"``, ``"model"``, and what is so by default.

In: the ``schedule`` of a call. Out: Funcs that have a schedule. ``halide_core.autoschedule``, which chooses it, is
loaded on first use.

    hl.set_default_schedule("auto");  f.realize([640, 480])   ->   scheduled for 640 by 480, if it had no schedule
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halide_core.algorithm.model import Function
from halide_core.checks import of_kind, shown
from halide_core.errors import ArgumentTypeError, NotAvailableError, ScheduleError
from halide_core.run.backend import Box
from halide_core.run.target import Target, get_jit_target_from_environment

AUTO, MODEL, TUNED, MEASURED = "auto", "model", "tuned", "measured"
"""The schedules that a call may ask for: a schedule by rules, in milliseconds; by a search, in seconds; the one that
``hl.tune`` kept, or else by a search; and that one, or else the best of some that are measured now, in a minute."""
_NAMES = {AUTO: "", MODEL: "Model", TUNED: "Tuned", MEASURED: "Measured"}


class AutoschedulerChoice(Protocol):
    """The name of an autoscheduler and its parameters, as ``hl.AutoschedulerParams`` has them."""

    name: str
    extra: dict[str, str]


@dataclass
class AutoSchedulerResults:
    """The schedule that was chosen, as Python source, and what it was chosen for."""

    target: Target
    autoscheduler_params: AutoschedulerChoice | None
    schedule_source: str
    featurization: bytes = b""
    """Empty: no choice is made by features."""
    explanation: str = ""
    """Of a choice that was searched for: of each Func what was chosen, its cost, and the next best choice."""


_PLUGINS = frozenset({"mullapudi2016", "adams2019", "li2018"})


def load_plugin(lib_name: str) -> None:
    """Nothing is to be loaded: the autoschedulers that Halide has in plugins are here. Paths and names as Halide takes
    them: "autoschedule_adams2019", "libautoschedule_adams2019.so".

    Raises:
        NotAvailableError: any other plugin.
    """
    file = Path(of_kind(lib_name, str, "load_plugin() takes a name")).name
    name = file.partition(".")[0].removeprefix("lib").removeprefix("autoschedule_")
    if name not in _PLUGINS:
        raise NotAvailableError(
            f'There is no plugin "{lib_name}". Those of {", ".join(sorted(_PLUGINS))} need not be loaded.'
        )


class _Default:
    """The default of calls that ask for no schedule."""

    schedule: str | None = None


def set_default_schedule(schedule: str | None) -> None:
    """Says what becomes of pipelines without any schedule, where a call doesn't say it: ``"auto"`` chooses one for the
    sizes of the call or the estimates by rules, if these are known, ``"model"`` by a search, ``"tuned"`` takes what
    ``hl.tune`` found, ``"measured"`` looks for one where nothing was found; None computes them as they are.

    Raises:
        ScheduleError: anything else.
    """
    _Default.schedule = checked(schedule)


def checked(schedule: str | None) -> str | None:
    """The ``schedule`` of a call.

    Raises:
        ScheduleError: it is none of these, nor None.
    """
    if schedule is not None and not (isinstance(schedule, str) and schedule in _NAMES):
        names = ", ".join(f'"{name}"' for name in _NAMES)
        raise ScheduleError(
            f"The schedule of a call is one of {names}, or None for that of the Funcs, not {shown(schedule)}."
        )
    return schedule


def wanted(schedule: str | None) -> bool:
    """True where a call wants a schedule to be chosen, itself or by default."""
    return (checked(schedule) or _Default.schedule) is not None


def _parts(params: AutoschedulerChoice) -> tuple[str, dict[str, str]]:
    """The name of an autoscheduler and its parameters."""
    name, parameters = getattr(params, "name", None), getattr(params, "extra", None)
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise ArgumentTypeError(f"The autoscheduler_params are hl.AutoschedulerParams(name, …), not {shown(params)}.")
    return name, parameters


def choose(
    outputs: Sequence[Function],
    windows: Sequence[Box] | None,
    target: Target | None,
    schedule: str | None,
    params: AutoschedulerChoice | None = None,
) -> None:
    """Gives the Funcs of a pipeline a schedule, unless they have the one that was chosen for the same before.

    Args:
        windows: of the outputs; None for those that estimates say.
        schedule: of the call; where it is None, nothing happens to Funcs with a schedule or without known sizes.

    Raises:
        ScheduleError: Funcs that the user has scheduled; sizes that are not known; no such autoscheduler.
    """
    from halide_core.autoschedule.automatic import (  # noqa: PLC0415  # few programs ask
        AutomaticRequest,
        schedule_automatically,
    )

    regions: Mapping[Function, tuple[tuple[int, int], ...]] | None = None
    if windows is not None:
        boxes = zip(outputs, windows, strict=True)
        regions = {f: tuple((low, low + length - 1) for low, length in box) for f, box in boxes}
    by = schedule or _Default.schedule or AUTO
    name, parameters = (_NAMES[by], {}) if params is None else _parts(params)
    made_for = target or get_jit_target_from_environment()
    request = AutomaticRequest.of(outputs, regions, made_for, name, parameters)
    if name == _NAMES[MEASURED]:
        from halide_core.tuning.measured import measure_unless_known  # noqa: PLC0415  # few programs ask

        measure_unless_known(outputs, request, by_default=schedule is None)
    schedule_automatically(outputs, request, by_default=schedule is None)
