"""Phase 0, first: factored reductions, Alg -> Alg.

In: a snapshot of the user's program. Out: one in which each stage with an ``rfactor`` merges the results of the new
Func that the directive made, the directives that are part of it are gone, and the law that it rests on is noted.

    f[x] += g[r.x, r.y];  f.update().rfactor(r.y, u)   ->   f[x] += p[x, r.y],   where p[x, u] += g[r.x, u]
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm.model import (
    AlgebraicLaw,
    Algorithm,
    Definition,
    Function,
    realization_order,
    with_made_funcs,
)
from halide_core.algorithm.rename import Renamed
from halide_core.func.scheduling.rfactor import Factored, factored, factored_stage
from halide_core.schedule.directives import Directive
from halide_core.schedule.func_directives import RFactor
from halide_core.scheduling.legality import refuse


def factor_reductions(algorithm: Algorithm) -> Algorithm:
    """Applies every ``rfactor``.

    Rewrite: see ``StageSchedule.rfactor``, where its legality was checked; the new Func has its definitions already.

    Legal when: these are still what the call makes of the stage. A schedule that was taken away, and is given again,
    may come after other directives about the loops that it was made of.

    Raises: ScheduleError.
    """
    parts = [(f, _parts(f)) for f in algorithm.functions]  # of a Func that a call made, before it is factored itself
    laws = [law for f, made in parts for law in _factor(f, made)]
    if not laws:
        return algorithm
    functions = tuple(with_made_funcs(realization_order(algorithm.outputs)))  # wrappers are not read yet
    directives = tuple(d for f in functions for d in f.directives)
    return replace(algorithm, functions=functions, directives=directives, laws=tuple(laws))


def _parts(function: Function) -> list[tuple[RFactor, Factored]]:
    found: list[tuple[RFactor, Factored]] = []
    for d in function.directives:
        if isinstance(d, RFactor):
            made = factored(d, *factored_stage(function, d.stage, d))
            has = d.partial.definitions if isinstance(d.partial, Function) else []
            if len(has) != 2 or not all(map(_alike, has, (made.neutral, made.update))):
                refuse(
                    d,
                    f'"{d.partial.own.name}" was made of other loops than the stage has here now. Call rfactor() anew, '
                    f"or take away the directives that came between.",
                )
            found.append((d, made))
    return found


def _alike(a: Definition, b: Definition) -> bool:
    """True where two definitions are one, but for what their loops are called."""
    if a.domain is not None and b.domain is not None:
        if a.domain.bounds != b.domain.bounds:
            return False
        over = Renamed({}, {a.domain: b.domain})
        tests = [over.expr(test) for test in a.conditions()]
        a = over.definition(replace(a, domain=None))
        return (a.args, a.values, tests) == (b.args, b.values, b.conditions())
    return a.domain is b.domain and (a.args, a.values, a.predicate) == (b.args, b.values, b.predicate)


def _factor(function: Function, parts: list[tuple[RFactor, Factored]]) -> list[AlgebraicLaw]:
    gone: list[Directive] = []
    merged = dict(enumerate(function.definitions))
    for d, made in parts:
        merged[d.stage] = made.merged
        gone += [d, *made.consumed]
    function.definitions = list(merged.values())
    function.directives = [d for d in function.directives if d not in gone]
    return [AlgebraicLaw(d, made.law) for d, made in parts]
