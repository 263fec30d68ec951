"""Legality asked of the compiler: directives that it refuses are left out before a case is judged.

In: a case. Out: the case without the directives that lowering refuses, the last one first where it doesn't say which.

Most are refused by the first half of lowering, which costs little: that is asked first, of every draw. Bounds, which
are most of the work, are asked of those alone that meet what was ordered; what they made is handed to the judges.

A share of the cases is left as it was drawn (``WILD``): refusals are judged too.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import halide_core as hl
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.made import Made, Scheduled, begin

WILD = 0.03
"""The share of cases that nothing is asked about."""
_ROUNDS = 6


def legal(case: Case) -> tuple[Case | None, Scheduled | None]:
    """A case with a legal schedule, as far as it is lowered; no case where too little of it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_ROUNDS):
            found = _begun(case)
            if not isinstance(found, hl.HalideError):
                return case, found
            if not case.directives:
                break
            case = _without(case, found)
    return None, None


def _begun(case: Case) -> Scheduled | hl.HalideError | None:
    """The case's first half, or why it is refused."""
    try:
        return begin(case)
    except (hl.ScheduleError, hl.DefinitionError, hl.BoundsError) as error:
        return error
    except Exception:  # noqa: BLE001  # a fault of the compiler, which the judges will meet too
        return None


def bounded(case: Case, scheduled: Scheduled | None) -> tuple[Case, Made | None]:
    """A case whose schedule is legal, lowered. Where memory folds, bounds say how: what they refuse then is left out,
    and nothing is lowered. Other refusals of theirs are for the judges."""
    if scheduled is None:
        return case, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return case, scheduled.made()
        except (hl.ScheduleError, hl.BoundsError) as error:
            if "fold_storage" not in case.methods:
                return case, None
            fewer = _without(case, error)
        except Exception:  # noqa: BLE001  # a fault of the compiler, which the judges will meet too
            return case, None
    return legal(fewer)[0] or replace(case, directives=()), None


def _without(case: Case, error: hl.HalideError) -> Case:
    """The case without the directive that an error is about."""
    at = case.blamed_at(error.location)
    at = len(case.directives) - 1 if at is None else at
    return replace(case, directives=(*case.directives[:at], *case.directives[at:][1:]))
