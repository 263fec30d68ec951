"""What is asked of z3's own objects: solvers, their counts of steps, and the values of models.

In: solvers and models. Out: numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3


def new_solver(context: Any) -> Any:
    """A solver of linear arithmetic, the same in every process."""
    solver = z3.SimpleSolver(ctx=context)
    solver.set("random_seed", 0)
    solver.set("arith.solver", 2)  # its steps are ten times as quick as the default's, and it takes fewer than that
    solver.set("arith.nl", False)  # products are unknowns with lemmas: there is nothing nonlinear
    return solver


def steps_of(solver: Any) -> int:
    """How many steps it counts so far."""
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def valued(model: Any) -> Callable[[Any], int]:
    """What a model says that integers are worth."""
    return lambda z: number_of(model.eval(z, model_completion=True))


def number_of(value: Any) -> int:
    """A z3 number, or truth value, as a Python one."""
    return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())
