"""Runs what every pass left of a pipeline by the target semantics (figure 2.8).

In: a Func and a window. Out: the output in that window after each pass; an error where a program is stuck, where
ε_mem is left in the window, where something does not hold that bounds inference took for true, or where two passes
answer the bounds query differently.

    run_program(blur, [(0, 16), (0, 16)])   ->   {"fill": array, "simplify": array, …}
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import halide_core as hl
from halide_core.ir import Stmt
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter.machine import Outcome, interpret
from halide_core.lowering.interpreter.memory_model import AssertionFailure
from halide_core.run.backend import Argument, Box
from halide_core.run.pipeline import _values, allocated
from tests.support.assumed import with_assumptions

_ROUNDS = 64


def settled(stmt: Stmt, arguments: Sequence[Argument], values: Sequence[Any], window: Box) -> Box:
    """The region that the output needs for a window, as ``halide_core.run.pipeline`` finds it; its components' are
    alike.

    Raises: PipelineError where rounding up makes each round need more.
    """
    outputs = len(arguments) - len(values)
    for _ in range(_ROUNDS):
        regions = interpret(stmt, arguments, values, [window] * outputs).regions
        assert regions is not None, "a bounds query ran the program"
        region = regions[-1]
        assert region is not None and all(r == region for r in regions[len(values) :])
        if region == window:
            return region
        window = region
    raise hl.PipelineError(f"The region that the output needs keeps growing: {window}.")


def run_passes(
    func: hl.Func,
    window: Sequence[tuple[int, int]],
    *,
    after: str | None = None,
    rng: random.Random | None = None,
) -> dict[str, Outcome]:
    """The outcome of the program after each pass, or after the one called ``after``, on the inputs' current values."""
    request, trace = func._request(), LoweringTrace()
    values = _values(request)
    arguments = lower(request, trace=trace).arguments
    components = [(request.outputs[0], k) for k in range(len(request.outputs[0].types))]
    outcomes: dict[str, Outcome] = {}
    regions: dict[str, Box] = {}
    for name, stmt in trace.passes:
        if after in (None, name):
            regions[name] = settled(stmt, arguments, values, tuple(window))
            outputs = [allocated(f, regions[name], k) for f, k in components]
            outcomes[name] = interpret(stmt, arguments, values, outputs, shuffle=rng)
    if after is None:
        _check_assumptions(trace, arguments, values, [allocated(f, regions["fill"], k) for f, k in components], rng)
    assert outcomes, f"there is no pass {after!r} among {[name for name, _ in trace.passes]}"
    assert len(set(regions.values())) == 1, f"passes answer the query differently: {regions}"
    return outcomes


def _check_assumptions(
    trace: LoweringTrace,
    arguments: Sequence[Argument],
    values: Sequence[Any],
    outputs: Sequence[hl.Buffer],
    rng: random.Random | None,
) -> None:
    """Runs the filled program, which has run without, with all that its answers rest on."""
    assert trace.query is not None and trace.answers is not None
    try:
        interpret(with_assumptions(trace.query, trace.answers), arguments, values, outputs, shuffle=rng)
    except AssertionFailure as false:
        raise AssertionError(f"Bounds inference takes for true what is not: {false.message}") from false


def run_program(
    func: hl.Func,
    window: Sequence[tuple[int, int]],
    *,
    after: str | None = None,
    rng: random.Random | None = None,
) -> dict[str, np.ndarray]:
    """The (first component of the) output in a window, by pass.

    Args:
        func: the output, its inputs' values set.
        window: (min, extent) of each dimension.
        after: the one pass to look at; all of them where it is not given.
        rng: shuffles the iterations of parallel loops.

    Raises:
        StuckError: a program is stuck, or leaves ε_mem in the window.
        ScheduleError, BoundsError: the schedule is refused.
    """
    return {name: o.result(0, window) for name, o in run_passes(func, window, after=after, rng=rng).items()}
