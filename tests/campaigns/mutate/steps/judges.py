"""Judges of a program whose compiler may have lost a check: each says what is wrong, or nothing.

In: a Func and a window. Out: which pass leaves another answer than the definition's, what the certificate does not
prove, or what a sanitizer says of the C.

    interpreted((f, [(0, 4)]))   ->   "partition, vectorize"
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.errors import InternalError
from halide_core.lowering.driver import lower
from halide_core.lowering.interpreter.memory_model import AssertionFailure, StuckError
from tests.campaigns.fuzz.executable import run
from tests.campaigns.fuzz.verdict import Mismatch
from tests.support.interpreted import run_program

Window = list[tuple[int, int]]
Made = tuple[hl.Func, Window]


def interpreted(made: Made) -> str:
    """The passes that leave another answer than the definition's, or are stuck. A program that is refused, or asserts
    something, gives no wrong answer."""
    func, window = made
    wanted = func.evaluate(window)
    try:
        found = run_program(func, window)
    except (hl.ScheduleError, hl.BoundsError, AssertionFailure):
        return ""
    except (StuckError, InternalError) as stuck:
        return str(stuck)
    return ", ".join(name for name, values in found.items() if not np.array_equal(values, wanted))


def certified(made: Made) -> str:
    """The first claim of the certificate that is not proven. Where a claim is of more than is read, numbers stay right
    without it, and nothing but the claim says that they do."""
    failures = made[0].certify().failures
    return str(failures[0].claim.text) if failures else ""


def sanitized(made: Made) -> str:
    """The same for the C, as a program of its own in which no access may leave memory."""
    func, window = made
    wanted, request = func.evaluate(window), func._request()
    try:
        (found,) = run(request, lower(request), [tuple(window)], flags=["-march=native"])
    except (Mismatch, LookupError, InternalError) as died:  # the latter two: C that names what it does not declare
        return str(died)
    return "" if np.array_equal(found, wanted) else f"{found} is not {wanted}"
