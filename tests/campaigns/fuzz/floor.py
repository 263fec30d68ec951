"""The floor (definition 2.5): where β₀'s filled program runs, ours must run too.

In: a case that was refused for its bounds, or that a start-up check stopped. Out: nothing, or a Mismatch where the
same program under the same schedule, filled by the baseline engine, gives the reference's values.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import halide_core as hl
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Engine
from halide_core.errors import InternalError
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter.memory_model import MemoryFault, RaceError, UndefinedValue
from tests.campaigns.fuzz.case import Program
from tests.campaigns.fuzz.compare import Array, compare
from tests.campaigns.fuzz.interpreted import KeepsGrowing, request_of, results, run_passes, spread
from tests.campaigns.fuzz.verdict import Mismatch


def check(case: Program, expected: Sequence[Array], ours: str, steps: int, *, scheduled: bool = True) -> None:
    """Raises Mismatch where the baseline's program runs to the end of its last pass.

    Args:
        case: the case.
        expected: the reference's values.
        ours: what became of our own program.
        steps: the interpreter's budget.
        scheduled: with the case's schedule, or without.
    """
    outputs, windows = case.build(scheduled=scheduled)
    request, trace = request_of(outputs), LoweringTrace()
    try:
        lowered = lower(request, oracle=oracle_of(Engine.BASELINE), trace=trace)
        if _forgot_a_fold(trace):
            return
        boxes = [tuple(w) for w in windows]
        for _, run in run_passes(request, lowered.arguments, trace, boxes, random.Random(case.seed), steps):
            outcome = run()
            found = results(outcome, request, boxes)
            names, cut = spread(request, case.outputs), spread(request, boxes)
            for name, array, wanted, window in zip(names, found, expected, cut, strict=True):
                compare("of the baseline", name, array, wanted, window)
    except (InternalError, UndefinedValue, MemoryFault, RaceError):
        raise  # whatever an engine answers, its program must be sound
    except (KeepsGrowing, hl.HalideError):
        return  # the baseline does not run either
    raise Mismatch(f"floor: {ours}", "the baseline's program runs, and gives the reference's values")


def _forgot_a_fold(trace: LoweringTrace) -> bool:
    """True where memory that the user folds is kept whole, as the baseline's boxes don't let it be proven: then it has
    more places than were asked for, and is another program."""
    assert trace.query is not None
    return any(func in trace.query.unproven for func, _ in trace.query.program.folded)
