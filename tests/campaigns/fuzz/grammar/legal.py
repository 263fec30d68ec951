"""Legality asked of the compiler: directives that it refuses are left out before a case is judged.

In: a case. Out: the case without the directives that the first half of lowering refuses, the last one first where it
doesn't say which. Bounds, which are most of the work, are asked for only where storage folds: they decide that.

A share of the cases is left as it was drawn (``WILD``): refusals are judged too.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import halide_core as hl
from halide_core.lowering.driver import LoweringTrace, lower, schedule
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.interpreted import request_of

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
    """The directive to leave out, if any is refused."""
    try:
        outputs, _ = case.build()
        if "fold_storage" in case.methods:
            lower(request_of(outputs))
        else:
            schedule(request_of(outputs), LoweringTrace())
    except (hl.ScheduleError, hl.DefinitionError, hl.BoundsError) as error:
        at = case.blamed_at(error.location)
        return len(case.directives) - 1 if at is None else at
    except Exception:  # noqa: BLE001  # a fault of the compiler, which the judges will meet too
        return None
    return None
