"""The interface to z3's own objects: solvers, their counts of steps, and the values of models.

In: solvers and models. Out: numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import z3

_STEPS = "rlimit count"
"""The key of z3's statistics."""


class Arithmetic(Enum):
    """The decision procedure for linear arithmetic."""

    QUICK = 2
    """By a simplex whose steps take a tenth of the other's time, and which most often takes fewer than ten times as
    many."""
    DEEP = 6
    """By z3's own choice, which knows more of divisibility."""


def new_solver(context: Any, arithmetic: Arithmetic = Arithmetic.QUICK) -> Any:
    """A solver of linear arithmetic, the same in every process."""
    solver = z3.SimpleSolver(ctx=context)
    # Products are unknowns with lemmas: there is nothing nonlinear.
    solver.set("random_seed", 0, "arith.solver", arithmetic.value, "arith.nl", False)
    return solver


def say(solver: Any, *formulas: Any) -> None:
    """Has a solver know truth values; ``Solver.add`` looks at each first, which takes as long as knowing it."""
    context, known = solver.ctx.ref(), solver.solver
    for each in formulas:
        z3.Z3_solver_assert(context, known, each.as_ast())


def steps_of(solver: Any) -> int:
    """The steps that a solver's context has counted so far."""
    statistics = solver.statistics()
    context, counts = statistics.ctx.ref(), statistics.stats
    near_the_end = reversed(range(len(statistics)))
    at = next(i for i in near_the_end if z3.Z3_stats_get_key(context, counts, i) == _STEPS)
    return int(z3.Z3_stats_get_uint_value(context, counts, at))


def valued(model: Any) -> Callable[[Any], int]:
    """The integer values of a model."""
    return lambda z: number_of(model.eval(z, model_completion=True))


def number_of(value: Any) -> int:
    """A z3 number, or truth value, as a Python one."""
    return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


def unknowns_in(term: Any) -> list[Any]:
    """The unknowns that a term is made of, each once."""
    found: dict[int, Any] = {}
    left, seen = [term], set()
    while left:
        z = left.pop()
        if z.get_id() in seen:
            continue
        seen.add(z.get_id())
        if z3.is_const(z) and z.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[z.get_id()] = z
        left += z.children()
    return list(found.values())
