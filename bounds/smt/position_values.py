"""Positions that are made of numbers and of integers alone: their value at given integers is known.

In: monotone functions of integers (``positions.Shape``), each with the unknown that is made of it. Out: where a state
gives such an unknown another value than the function has there, facts that rule the state out, and all others beyond.

    z = int(floor(float32(x)*0.5)), x = 3, z = 7   ->   x <= 3 implies z <= 1,   x >= 3 implies z >= 1

A function with a Param in it has no value here; it is compared with its values elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from halide_core import ir
from halide_core.bounds.smt.axioms import Axioms
from halide_core.bounds.smt.formulas import both, implies, literal_truth
from halide_core.bounds.smt.positions import Shape
from halide_core.ir.types import INT32, Type
from halide_core.reference.concrete import evaluate


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A position as an integer: the unknowns of it and of what it is applied to, and under which conditions."""

    type: Type
    shape: Shape
    z: Any
    arguments: Sequence[Any]
    given: Any


class PositionValues:
    """The positions of one set of terms. ``axioms``: where facts about them are said."""

    def __init__(self, axioms: Axioms) -> None:
        self._say = axioms.tell_apart
        self._mark = axioms.compare
        self._about: dict[int, _Placed] = {}
        """By an axiom that says nothing, and marks the terms that have one in them."""
        self._told: dict[tuple[int, tuple[int, ...]], frozenset[int]] = {}

    def place(self, type: Type, shape: Shape, z: Any, arguments: Sequence[Any], given: Sequence[Any]) -> frozenset[int]:
        """One more; the axiom that marks it."""
        if shape.is_product or not shape.is_of_numbers:
            return frozenset()
        true = literal_truth(True, z.ctx)
        mark = self._mark(true)
        self._about[min(mark)] = _Placed(type, shape, z, arguments, both(true, *given))
        return mark

    def broken(self, of: Collection[int], value: Callable[[Any], int], most: int) -> list[int]:
        """Facts that a state breaks about the positions that the axioms ``of`` mark: not many more than ``most``."""
        found: list[int] = []
        for number in sorted(self._about.keys() & of):
            placed = self._about[number]
            at = tuple(value(z) for z in placed.arguments)
            if not value(placed.given) or not all(INT32.can_represent(k) for k in at):
                continue
            is_at = _value(placed, at)
            if value(placed.z) != is_at:
                if (number, at) not in self._told:
                    self._told[number, at] = self._say(*_facts(placed, at, is_at))
                found += sorted(self._told[number, at])
                if len(found) >= most:
                    break
        return found


def _value(placed: _Placed, at: Sequence[int]) -> int:
    shape = placed.shape
    return int(evaluate(ir.Cast(placed.type, shape.function), dict(zip(shape.unknowns, at, strict=True))))


def _facts(placed: _Placed, at: Sequence[int], value: int) -> list[Any]:
    ends = list(zip(placed.arguments, at, placed.shape.slopes, strict=True))
    above = [z >= k if slope.grows else z <= k for z, k, slope in ends]
    below = [z <= k if slope.grows else z >= k for z, k, slope in ends]
    return [
        implies(both(placed.given, *above), placed.z >= value),
        implies(both(placed.given, *below), placed.z <= value),
    ]
