"""The judges of a case, and the verdict.

In: a case; which judges are asked besides the interpreter. Out: a Verdict, never an exception.

    reference  =  interpreter after each pass  =  the unscheduled program  =  compiled C  =  a stand-alone executable

All compare with the reference semantics. Where a start-up check fails, it fails for every judge; where the reference
has no value, no judge may have one.
"""

from __future__ import annotations

import random
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Flag, auto

import halide_core as hl
from halide_core.algorithm.model import realization_order
from halide_core.errors import InternalError
from halide_core.lowering.driver import LoweringTrace
from halide_core.lowering.interpreter.memory_model import AssertionFailure, OutOfSteps, StuckError
from halide_core.lowering.module import Lowered
from halide_core.reference import evaluate
from halide_core.run.backend import Request
from tests.campaigns.fuzz import certified, executable, floor
from tests.campaigns.fuzz.case import Program, Window
from tests.campaigns.fuzz.compare import Array, compare
from tests.campaigns.fuzz.compiled import run_compiled
from tests.campaigns.fuzz.coverage import Feature, covered
from tests.campaigns.fuzz.interpreted import KeepsGrowing, request_of, results, run_last, run_passes
from tests.campaigns.fuzz.made import Made, make
from tests.campaigns.fuzz.verdict import Mismatch, Outcome, Verdict

STEPS = 30_000
"""The greatest number of iterations of one run of the interpreter."""


class Judges(Flag):
    """Who is asked besides the interpreter."""

    UNSCHEDULED = auto()
    CERTIFICATE = auto()
    COMPILED = auto()
    EXECUTABLE = auto()
    BRIEF = auto()
    """Nobody: what the first and the last pass left is run alone, and the rest only where that is wrong."""
    NATIVE = auto()
    """Nobody: no pass is interpreted, for programs that would take too many steps."""


_Run = Callable[[], Sequence[Array]]

FAST = Judges(0)
INTERPRETED = Judges.UNSCHEDULED | Judges.CERTIFICATE


@dataclass(frozen=True, slots=True)
class Expected:
    """The results of the reference: for each value of each output an array, its name and window; or why there is
    none."""

    values: tuple[Array, ...]
    names: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    error: hl.PipelineError | None = None


def judge(case: Program, judges: Judges = INTERPRETED, made: Made | None = None) -> Verdict:
    """The verdict on a case; the same each time, unless it crashes the process. ``made``: the case, lowered before."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _verdict(case, judges, made)
    except _FoundInBrief as found:
        again = judge(case, judges & ~Judges.BRIEF)
        return again if again.outcome is Outcome.MISMATCH else Verdict(Outcome.MISMATCH, found.kind, found.detail)
    except Mismatch as found:
        return Verdict(Outcome.MISMATCH, found.kind, found.detail)
    except OutOfSteps as spent:
        return Verdict(Outcome.TOO_LONG, "steps", spent.message)
    except Exception as error:  # noqa: BLE001  # whatever a case makes fail is what is looked for
        if isinstance(error.__cause__, MemoryError):  # a schedule that makes an output larger than any machine
            return Verdict(Outcome.TOO_LONG, "memory", str(error))
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(Outcome.MISMATCH, f"{type(error).__name__} in {where.name}", traceback.format_exc(limit=-6))


def _verdict(case: Program, judges: Judges, made: Made | None) -> Verdict:
    try:
        made = made or make(case)
    except InternalError:
        raise
    except hl.HalideError as error:
        return _refused(case, error)
    request, lowered, trace = made.request, made.lowered, made.trace
    expected = reference(case, made.outputs)
    native: list[tuple[str, _Run]] = []
    if Judges.COMPILED in judges:
        native.append(("compiled", lambda: run_compiled(request, lowered, case.windows)))
    if Judges.EXECUTABLE in judges:
        native.append(("executable", lambda: executable.run(request, lowered, case.windows)))
    if Judges.NATIVE in judges:
        return _run_native(case, expected, native) or Verdict(Outcome.RAN, features=_features(case, made))
    try:
        _check_passes(case, request, lowered, trace, expected, brief=Judges.BRIEF in judges)
    except (AssertionFailure, KeepsGrowing) as stopped:
        return _stopped(case, expected, stopped, native)
    if Judges.CERTIFICATE in judges and not certified.check(request, trace, empty=_skips_checks(case)):
        return Verdict(Outcome.ASSERTED, "no window passes")
    for who, run in native:
        _compare(who, case, run(), expected)
    if Judges.UNSCHEDULED in judges and case.scheduled:
        refusal = _check_unscheduled(case, expected)
        if refusal is not None:
            return refusal
    return Verdict(Outcome.RAN, features=_features(case, made))


def _features(case: Program, made: Made) -> frozenset[Feature]:
    return covered(case, realization_order(made.request.outputs), made.trace)


# ---------------------------------------------------------------------------------------------------------
# Programs that don't run.


def _refused(case: Program, error: hl.HalideError) -> Verdict:
    kind = f"{type(error).__name__} of {case.blamed(error.location) or 'a definition'}"
    if isinstance(error, hl.BoundsError):
        _check_floor(case, reference(case, case.build()[0]), kind)
    return Verdict(Outcome.REFUSED, kind, error.message)


def _stopped(
    case: Program, expected: Expected, stopped: AssertionFailure | KeepsGrowing, native: Sequence[tuple[str, _Run]]
) -> Verdict:
    """A start-up check failed: it must fail in compiled code too, and for the baseline."""
    kind = stopped.failure.value if isinstance(stopped, AssertionFailure) else "regions keep growing"
    _check_floor(case, expected, kind)
    for who, run in native:
        try:
            run()
        except hl.PipelineError:
            continue
        raise Mismatch(f"ran {who}", f"where the interpreter stops: {stopped}")
    return Verdict(Outcome.ASSERTED, kind, str(stopped))


def _check_floor(case: Program, expected: Expected, kind: str) -> None:
    if expected.error is None:
        floor.check(case, expected.values, kind, STEPS)


# ---------------------------------------------------------------------------------------------------------
# The judges.


def reference(case: Program, outputs: Sequence[hl.Func]) -> Expected:
    """The values by the reference semantics."""
    values: list[Array] = []
    names: list[str] = []
    windows: list[Window] = []
    for f, name, window in zip(outputs, case.outputs, case.windows, strict=True):
        try:
            found = evaluate.evaluate(f.function, window)
        except hl.PipelineError as error:
            return Expected((), error=error)
        several = found if isinstance(found, tuple) else (found,)
        values += several
        names += [name if len(several) == 1 else f"{name}[…][{k}]" for k in range(len(several))]
        windows += [window] * len(several)
    return Expected(tuple(values), tuple(names), tuple(windows))


def _skips_checks(case: Program) -> bool:
    """True where the window of the only output is empty: no check is made then."""
    return len(case.windows) == 1 and any(extent == 0 for _, extent in case.windows[0])


def _run_native(case: Program, expected: Expected, native: Sequence[tuple[str, _Run]]) -> Verdict | None:
    """Runs compiled code alone: every judge of it stops, or none."""
    stopped: dict[str, hl.PipelineError] = {}
    for who, run in native:
        try:
            found = run()
        except hl.PipelineError as error:
            stopped[who] = error
            continue
        _compare(who, case, found, expected)
    if not stopped:
        return None
    if len(stopped) < len(native):
        raise Mismatch(f"ran but for {next(iter(stopped))}", str(next(iter(stopped.values()))))
    _check_floor(case, expected, "PipelineError")
    return Verdict(Outcome.ASSERTED, "PipelineError", str(stopped))


def _compare(who: str, case: Program, found: Sequence[Array], expected: Expected) -> None:
    if expected.error is not None:
        if _skips_checks(case):
            return
        raise Mismatch(f"ran {who}", f"where the reference has no value: {expected.error.message}")
    for name, array, wanted, window in zip(expected.names, found, expected.values, expected.windows, strict=True):
        compare(who, name, array, wanted, window)


class _FoundInBrief(Mismatch):
    """A mismatch of what the first or the last pass left, which the passes between may tell more of."""


def _check_passes(
    case: Program, request: Request, lowered: Lowered, trace: LoweringTrace, expected: Expected, *, brief: bool = False
) -> None:
    """Raises AssertionFailure and KeepsGrowing where the program stops itself."""
    if brief:
        try:
            _check_passes_run(case, request, lowered, trace, expected, brief=True)
        except Mismatch as found:
            raise _FoundInBrief(found.kind, found.detail) from found
    else:
        _check_passes_run(case, request, lowered, trace, expected, brief=False)


def _check_passes_run(
    case: Program, request: Request, lowered: Lowered, trace: LoweringTrace, expected: Expected, *, brief: bool
) -> None:
    at = "the query"
    try:
        rng = random.Random(case.seed)
        has_value = expected.error is None
        runs = run_passes(request, lowered.arguments, trace, case.windows, rng, STEPS, brief=brief, has_value=has_value)
        for name, run in runs:
            at = name
            outcome = run()
            if not has_value and name == trace.passes[0][0]:
                continue  # what the user requires is checked from the next pass on
            found = results(outcome, request, case.windows)
            _compare(f"after {name}", case, found, expected)
    except (AssertionFailure, OutOfSteps):
        raise
    except StuckError as stuck:
        raise Mismatch(f"{type(stuck).__name__} after {at}", stuck.message) from stuck


def _check_unscheduled(case: Program, expected: Expected) -> Verdict | None:
    """The program without its schedule: where the scheduled one runs, this one must, or its bounds can't be found."""
    outputs, _ = case.build(scheduled=False)
    try:
        found = run_last(request_of(outputs), case.windows, random.Random(case.seed), STEPS)
    except (OutOfSteps, InternalError):
        raise
    except hl.BoundsError as error:
        kind = "BoundsError without a schedule"
        floor.check(case, expected.values, kind, STEPS, scheduled=False)
        return Verdict(Outcome.REFUSED, kind, error.message)
    except (hl.HalideError, KeepsGrowing) as error:
        raise Mismatch(f"unscheduled {type(error).__name__}", str(error)) from error
    _compare("unscheduled", case, found, expected)
    return None
