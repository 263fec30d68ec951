"""Evaluation of deep recursions on a Python stack of bounded height.

In: a task, which is a function of an argument and of the number of Python calls that it is nested in, and which
remembers its results. Out: the result. What lies deeper than ``DEEPEST`` calls is evaluated first, from the top.

    f(x) = x;  f(r) = f(r - 1) + 2  over r in [1, 1000)
    run_bounded(stage.compute, (999,))  ->  1998; an f(r) in between unwinds the stack, and is evaluated before f(999)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Code: TypeAlias = "Callable[..., Any]"
"""A function whose last argument is the number of Python calls that it is nested in."""

# How many Python calls one evaluation may nest. What lies deeper is evaluated first, from the top.
DEEPEST = 300


class TooDeep(Exception):
    """Unwinds the stack: ``task(argument, 0)`` has to be evaluated, and remembered, first."""

    def __init__(self, task: Code, argument: Any) -> None:
        super().__init__()
        self.task = task
        self.argument = argument


def run_bounded(task: Code, argument: Any) -> Any:
    """``task(argument, 0)`` with a stack of bounded height. Tasks remember results, so that a retry advances."""
    waiting = [(task, argument)]
    while True:
        current, of = waiting[-1]
        try:
            result = current(of, 0)
        except TooDeep as deep:
            waiting.append((deep.task, deep.argument))
            continue
        waiting.pop()
        if not waiting:
            return result
