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
from halide_core.lowering.driver import LoweringTrace, schedule
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.interpreted import request_of
from tests.campaigns.fuzz.made import Made, make

WILD = 0.03
"""The share of cases that nothing is asked about."""
_ROUNDS = 6


def legal(case: Case) -> Case | None:
    """A case with a legal schedule; None where too little of it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_ROUNDS):
            at = _refused(case)
            if at is None:
                return case
            if not case.directives:
                return None
            case = replace(case, directives=(*case.directives[:at], *case.directives[at:][1:]))
    return None


def _refused(case: Case) -> int | None:
    """The directive to leave out, if any is refused before bounds."""
    try:
        outputs, _ = case.build()
        schedule(request_of(outputs), LoweringTrace())
    except (hl.ScheduleError, hl.DefinitionError, hl.BoundsError) as error:
        return _blamed(case, error)
    except Exception:  # noqa: BLE001  # a fault of the compiler, which the judges will meet too
        return None
    return None


def _blamed(case: Case, error: hl.HalideError) -> int:
    at = case.blamed_at(error.location)
    return len(case.directives) - 1 if at is None else at


def bounded(case: Case) -> tuple[Case, Made | None]:
    """A case whose schedule is legal, lowered. Where memory folds, bounds say how: what they refuse then is left out,
    and nothing is lowered. Other refusals of theirs are for the judges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return case, make(case)
        except (hl.ScheduleError, hl.BoundsError) as error:
            if "fold_storage" not in case.methods:
                return case, None
            at = _blamed(case, error)
        except Exception:  # noqa: BLE001  # a fault of the compiler, which the judges will meet too
            return case, None
    fewer = replace(case, directives=(*case.directives[:at], *case.directives[at:][1:]))
    return legal(fewer) or replace(case, directives=()), None
