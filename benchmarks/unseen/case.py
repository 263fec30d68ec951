"""One drawn case, made anew by its name: the same from either module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.unseen import colour, filters, geometry, sums
from benchmarks.unseen.drawing import Array, Drawing
from benchmarks.unseen.scheduling import schedule

FAMILIES: dict[str, Callable[[Drawing], None]] = {
    family.__name__: family for module in (filters, geometry, sums, colour) for family in module.FAMILIES
}


@dataclass(frozen=True)
class Name:
    """The name that a case is drawn from. Each family in turn; all else from the seed."""

    seed: int
    number: int
    threads: int
    mode: str = "drawn"

    @property
    def family(self) -> str:
        """The family's name."""
        return list(FAMILIES)[self.number % len(FAMILIES)]


@dataclass
class Case:
    """A scheduled pipeline with its inputs."""

    output: Any
    arguments: list[Any]
    inputs: list[Array | float | int]
    shape: tuple[int, ...]
    lines: list[str]
    rounds: bool

    def empty_output(self) -> Array:
        """Room for the result, numpy's way round."""
        kind = str(self.output.types()[0] if hasattr(self.output, "types") else self.output.type())
        return np.zeros(self.shape[::-1], np.dtype(_NUMPY.get(kind, kind)))


_NUMPY = {"uint1": "bool"}


def make(hl: Any, name: Name) -> Case:
    """Draws, defines and schedules."""
    d = Drawing(hl, f"{name.seed} {name.number}")
    FAMILIES[name.family](d)
    lines = schedule(d, name.threads, mode=name.mode)
    run(d, lines)
    arguments = [param for param, _ in (*d.images, *d.scalars)]
    return Case(d.stages[-1].func, arguments, [value for _, value in (*d.images, *d.scalars)], d.shape, lines, d.rounds)


def run(d: Drawing, lines: list[str]) -> None:
    """Applies lines of a schedule."""
    names: dict[str, Any] = {stage.name: stage.func for stage in d.stages}
    names |= {a.name(): a for stage in d.stages for a in stage.args}
    names |= {"hl": d.hl, "xi": d.hl.Var("xi"), "yi": d.hl.Var("yi")}
    for stage in d.stages:
        for number, update in enumerate(stage.updates):
            names |= {f"{stage.name}_{number}_{i}": r for i, r in enumerate(update.reduced)}
    for line in lines:
        exec(line, dict(names))  # noqa: S102  # it was written above
