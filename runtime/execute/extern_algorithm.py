"""Pipelines with extern stages before they are cut at these: the parts of phase 0 that are about several Funcs.

In: a request. Out: one for copies of its Funcs, without ``rfactor`` and ``in_``: consumers read what these made.

    e.in_(f), e an extern stage   ->   w(x, y) = e(x, y); f(x, y) = w(x, y) + 1
    e(x, y) += 1, likewise        ->   e(x, y) = c(x, y); e(x, y) += 1, c the extern stage

A reduction may be found in one part of the pipeline and merged in another, so the parts can't do this themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function, callees, realization_order
from halide_core.algorithm.snapshot import snapshot
from halide_core.lowering.laws import check_laws
from halide_core.run.backend import Request
from halide_core.runtime.execute.extern_blocks import loops_of
from halide_core.schedule.directives import (
    AtLevel,
    ComputeAt,
    ComputeRoot,
    Directive,
    StageDirective,
    StoreAt,
    StoreRoot,
)
from halide_core.schedule.storage_directives import AlignStorage, Memoize, ReorderStorage
from halide_core.scheduling.phase0.copies import place
from halide_core.scheduling.phase0.factor import factor_reductions
from halide_core.scheduling.phase0.wrappers import wrap_calls

_LAYOUT = AlignStorage | ReorderStorage


def prepared(request: Request) -> Request:
    """The same request about copies of the Funcs.

    Raises: ScheduleError, as phase 0.
    """
    algorithm = factor_reductions(snapshot(request.outputs, request.requirements, request.inputs, externs=True))
    check_laws(algorithm.laws, request.target)
    algorithm = wrap_calls(algorithm)
    order = realization_order(algorithm.outputs)
    for e in order:
        if e.extern is not None and not e.is_pure:
            _give_first_stage(e, order, algorithm.outputs)
    return replace(request, outputs=algorithm.outputs, requirements=algorithm.requirements)


def _give_first_stage(e: Function, order: Sequence[Function], outputs: Sequence[Function]) -> None:
    """Makes an extern stage with updates two Funcs: a stage without, and one that updates a copy of its values. The
    first has the loops around calls, and what is kept; both have a place and a layout."""
    made = Function(e.name, e.args, e.types, e.definitions[:1], location=e.location, extern=e.extern)
    about_both = [d for d in e.directives if isinstance(d, ComputeAt | ComputeRoot | StoreAt | StoreRoot | _LAYOUT)]
    about_made = [d for d in e.directives if _is_of_calls(d)]
    made.directives = [replace(d.renamed({e: made}), user=d.own) for d in e.directives if d in about_both + about_made]
    e.directives = [d for d in e.directives if d not in about_made]
    if place(e) is None and e not in outputs:
        e.directives.append(ComputeRoot(func=e, location=e.definitions[0].location))
    loops = loops_of(made, 0).order
    for g in order:
        if g in callees(made):
            within = [
                isinstance(d, AtLevel) and d.consumer is e and d.stage <= 0 and d.var in loops for d in g.directives
            ]
            g.directives = [
                d.renamed({e: made}) if inside else d for d, inside in zip(g.directives, within, strict=True)
            ]
    args = tuple(map(ir.pure_variable, e.args))
    values = tuple([ir.Access(t, made, args, k, ir.LAST_STAGE) for k, t in enumerate(e.types)])
    e.definitions[0] = replace(e.definitions[0], args=args, values=values)
    e.extern = None


def _is_of_calls(d: Directive) -> bool:
    return isinstance(d, Memoize) or (isinstance(d, StageDirective) and d.stage == 0)
