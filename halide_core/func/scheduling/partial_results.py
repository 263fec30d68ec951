"""The Func of partial results that ``rfactor`` makes, and the directive that says so.

In: a reduction stage, and the loops to factor out, each with the name of a Var. Out: the directive, with a Func.

    f[x] += g[x, r.x], r.x as u   ->   f_intm(x, u) = 0;  f_intm(x, u) += g[x, u]
"""

from __future__ import annotations

from halide_core.algorithm.model import Function
from halide_core.errors import ScheduleError, user_location
from halide_core.func.scheduling.rfactor import factored, factored_stage
from halide_core.schedule.func_directives import RFactor


def partial_results(function: Function, stage: int, factors: tuple[tuple[str, str], ...]) -> RFactor:
    """The directive of a call of ``rfactor``, which is not recorded yet.

    Raises:
        ScheduleError: a loop or a Var comes twice, or is one of the Func's own; the operator can't be factored.
    """
    news = [name for _, name in factors]
    taken = next((n for k, n in enumerate(news) if n in function.args or n in news[:k]), None)
    if taken is not None or len({name for name, _ in factors}) != len(factors):
        raise ScheduleError(
            f'rfactor() needs a loop and a new Var for each: "{taken or factors[0][0]}" is taken. '
            f'The Vars of "{function.name}": {", ".join(function.args) or "none"}.'
        )
    at = user_location()
    partial = Function(f"{function.name}_intm", (*function.args, *news), function.types, location=at)
    d = RFactor(func=function, stage=stage, location=at, factors=factors, partial=partial)
    made = factored(d, *factored_stage(function, stage))
    partial.definitions, partial.frozen_by = [made.neutral, made.update], at
    return d
