"""Phase 0, first: factored reductions, Alg -> Alg.

In: a snapshot of the user's program. Out: one in which each stage with an ``rfactor`` merges the results of the new
Func that the directive made, the directives that are part of it are gone, and the law that it rests on is noted.

    f[x] += g[r.x, r.y];  f.update().rfactor(r.y, u)   ->   f[x] += p[x, r.y],   where p[x, u] += g[r.x, u]
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm.model import AlgebraicLaw, Algorithm, Function, realization_order, with_made_funcs
from halide_core.func.scheduling.rfactor import factored, factored_stage
from halide_core.schedule.directives import Directive
from halide_core.schedule.func_directives import RFactor


def factor_reductions(algorithm: Algorithm) -> Algorithm:
    """Applies every ``rfactor``.

    Rewrite: see ``StageSchedule.rfactor``, where its legality was checked; the new Func has its definitions already.
    """
    laws = [law for f in algorithm.functions for law in _factor(f)]
    if not laws:
        return algorithm
    functions = tuple(with_made_funcs(realization_order(algorithm.outputs)))  # wrappers are not read yet
    directives = tuple(d for f in functions for d in f.directives)
    return replace(algorithm, functions=functions, directives=directives, laws=tuple(laws))


def _factor(function: Function) -> list[AlgebraicLaw]:
    laws: list[AlgebraicLaw] = []
    gone: list[Directive] = []
    merged = dict(enumerate(function.definitions))
    for d in function.directives:
        if isinstance(d, RFactor):
            made = factored(d, *factored_stage(function, d.stage, d))
            merged[d.stage] = made.merged
            gone += [d, *made.consumed]
            laws.append(AlgebraicLaw(d, made.law))
    function.definitions = list(merged.values())
    function.directives = [d for d in function.directives if d not in gone]
    return laws
