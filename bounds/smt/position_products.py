"""Axioms about products of two positions: each lies between those at its corners.

In: products of monotone functions of integers (``positions.Shape``), each with the unknown that is made of it. Out:
axioms. While one factor stays where it is, a product grows with the other or falls, and rounding is monotone.

    floor(a(x)*b(y)) with a(x) between a(u) and a(v), and b(y) between b(s) and b(t)
        ->   between the least and the greatest of floor(a(u)*b(s)), floor(a(u)*b(t)), floor(a(v)*b(s)) and
             floor(a(v)*b(t))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from halide_core.analysis.prover import nothing_known
from halide_core.bounds.smt.formulas import either
from halide_core.bounds.smt.positions import Part, Shape, is_settled, no_greater
from halide_core.ir import ExprNode
from halide_core.ir.logic import all_of, any_of

_MOST = 96
"""Of so many corners of a kind, of the values of one function, axioms are made."""

Axiom = tuple[ExprNode, Any]
"""A condition, and what holds of the unknowns then."""

_Value = tuple[Shape, Any]
_Place = tuple[ExprNode, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of corners, of each of which axioms are made of so many: others are not in its way."""

    outermost: bool
    """No ends of a factor are known to be further apart."""
    settled: bool
    """They are the same all through a run."""
    alike: bool
    """Both factors are made of the same integers, which mostly have the same ends."""


class PositionProducts:
    """The values of one function that is a product of two, or is made of one."""

    def __init__(self) -> None:
        self._values: list[_Value] = []
        self._by_place: dict[tuple[_Place, _Place, _Place], _Value] = {}
        self._made = Counter[_Kind]()

    def with_value(self, shape: Shape, z: Any) -> Iterator[Axiom]:
        """The axioms that a further value has with those so far. Of values that are the same all through a run, as
        corners are in the end, none is put between others."""
        self._values.append((shape, z))
        self._by_place.setdefault((shape.at(Part.BESIDE), shape.at(Part.ONE), shape.at(Part.OTHER)), (shape, z))
        varying = [value for value in self._values if not _is_settled(value[0].arguments)]
        for kind, corners in self._corners():
            for target in varying:
                new = shape in (target[0], *(corner[0] for corner in corners))
                if new and self._made[kind] < _MOST and all(corner[0] is not target[0] for corner in corners):
                    self._made[kind] += 1
                    yield from _between(target, corners)

    def _corners(self) -> Iterator[tuple[_Kind, list[_Value]]]:
        """Values at two places of one factor and of the other; two are one where there is but one."""
        for beside in dict.fromkeys(place[0] for place in self._by_place):
            ones = _Places(one for b, one, _ in self._by_place if b == beside)
            others = _Places(other for b, _, other in self._by_place if b == beside)
            for first in ones.pairs:
                for second in others.pairs:
                    places = [(beside, a, b) for a in first for b in second]
                    if all(place in self._by_place for place in places):
                        outermost = first in ones.outermost and second in others.outermost
                        settled = all(map(_is_settled, (*first, *second)))
                        kind = _Kind(outermost, settled, {*first} == {*second})
                        yield kind, [self._by_place[place] for place in places]


class _Places:
    """The places of one factor."""

    def __init__(self, places: Iterable[_Place]) -> None:
        found = list(dict.fromkeys(places))
        self.pairs = [*combinations(found, 2)] if len(found) > 1 else [(found[0], found[0])]
        """Pairs of places, between which others may be."""
        self.outermost: set[tuple[_Place, _Place]] = set()
        """Those of them that have no others around them, of places that are as far out."""
        for settled in (False, True):
            alike = [p for p in found if _is_settled(p) is settled]
            least = {p for p in alike if not any(q is not p and _is_below(q, p) for q in alike)}
            most = {p for p in alike if not any(q is not p and _is_below(p, q) for q in alike)}
            ends = {(p, q) for one in least for other in most for p, q in ((one, other), (other, one))}
            self.outermost |= ends.intersection(self.pairs)


def _is_settled(place: _Place) -> bool:
    return all(map(is_settled, place))


def _is_below(one: _Place, other: _Place) -> bool:
    known = nothing_known()
    return all(known.proves_le(a, b) for a, b in zip(one, other, strict=True))


def _between(target: _Value, corners: list[_Value]) -> Iterator[Axiom]:
    shape, z = target
    first, _, _, last = (corner for corner, _ in corners)
    inside = [condition for corner, _ in corners for condition in corner.given]
    inside += shape.given
    for part in (Part.ONE, Part.OTHER):
        up = all_of((no_greater(first, shape, part), no_greater(shape, last, part)))
        down = all_of((no_greater(last, shape, part), no_greater(shape, first, part)))
        inside.append(any_of((up, down)))
    values = [value for _, value in corners]
    yield all_of((*inside, no_greater(first, shape, Part.BESIDE))), either(*(value <= z for value in values))
    yield all_of((*inside, no_greater(shape, first, Part.BESIDE))), either(*(z <= value for value in values))
