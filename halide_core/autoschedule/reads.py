"""The places that a loop reads a Func at, with what is inlined in between written out.

In: a place at which one Func reads another, and the place at which it is read itself. Out: the same place in the
variables of the loops that run.

    gray[x + 1, y] in gx, read as gx[x + 2, y]   ->   gray[x + 3, y], once however often it is read
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import Range
from halide_core.analysis.linear import Linear, linear_of
from halide_core.autoschedule.ranges import IndexRanges, Region
from halide_core.ir import Access, Callee, ExprNode, IntImm
from halide_core.ir.types import INT32
from halide_core.ir.visitor import free_variables, subexpressions, substitute


class Index:
    """One coordinate of a place: a sum of multiples of atoms, and a constant. Equal ones are equal."""

    __slots__ = ("_key", "const", "terms")

    def __init__(self, form: Linear) -> None:
        self.terms = tuple(form.terms.items())
        self.const = form.const
        self._key = (form.const, frozenset(self.terms))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def range(self, ranges: IndexRanges) -> Range:
        """Its least and greatest value."""
        low: int | float = self.const
        high: int | float = self.const
        for atom, times in self.terms:
            a, b = ranges.of(atom)
            low, high = (low + times * a, high + times * b) if times > 0 else (low + times * b, high + times * a)
        return (low, high)

    def expr(self) -> ExprNode:
        """The same as an expression."""
        total: ExprNode = IntImm(INT32, self.const)
        for atom, times in self.terms:
            each = atom if times == 1 else ir.Binary(atom.type, ir.BinaryOp.MUL, atom, IntImm(atom.type, times))
            if isinstance(total, IntImm) and not total.value:
                total = each
            else:
                total = ir.Binary(each.type, ir.BinaryOp.ADD, total, each)
        return total

    def step(self, variable: ExprNode) -> float:
        """By how much it moves where a variable moves by one: 0 and 1 are the cheap ones, one half is that of
        ``x/2``, and infinity stands for what no arithmetic says."""
        total = 0.0
        for atom, times in self.terms:
            total += times * _step(atom, variable) if atom is not variable else times
        return total


Coordinates = tuple[Index, ...]
"""A place at which a Func is read."""


def _step(atom: ExprNode, variable: ExprNode) -> float:
    """The same of what is no sum. A clamped variable moves by one nearly everywhere."""
    if variable not in free_variables(atom):
        return 0.0
    match atom:
        case ir.Binary(op=ir.BinaryOp.MIN | ir.BinaryOp.MAX, a=a, b=b):
            steps = [s for s in (_moves(a, variable), _moves(b, variable)) if s]
            return steps[0] if len(set(steps)) == 1 else math.inf
        case ir.Binary(op=ir.BinaryOp.DIV, a=a, b=ir.IntImm(value=value)) if value:
            return _moves(a, variable) / value
        case ir.Cast(a=a) if a.type.is_integer():
            return _moves(a, variable)
        case ir.Promise(value=a):
            return _moves(a, variable)
        case ir.Binary(op=ir.BinaryOp.MOD):
            return math.inf if any(isinstance(e, Access) for e in subexpressions([atom])) else 0.5
    return math.inf


def _moves(e: ExprNode, variable: ExprNode) -> float:
    return 1.0 if e is variable else Index(linear_of(e)).step(variable)


@dataclass(frozen=True)
class Reading:
    """A Func or an input, and a distinct place that it is read at."""

    callee: Callee
    place: Coordinates

    def region(self, ranges: IndexRanges) -> Region:
        """The region that is read."""
        return tuple([i.range(ranges) for i in self.place])

    @cached_property
    def scattered(self) -> bool:
        """True where values decide where it is read."""
        atoms = [atom for i in self.place for atom, _ in i.terms]
        return any(isinstance(e, Access) for e in subexpressions(atoms))


def readings(f: Function, stage: int) -> list[Reading]:
    """The reads of a stage of a Func, each place once, in the order of first use."""
    found: dict[Reading, None] = {}
    for e in subexpressions(f.definitions[stage].exprs()):
        if isinstance(e, Access):
            found.setdefault(Reading(e.callee, tuple(Index(linear_of(a)) for a in e.args)))
    return list(found)


class Inliner:
    """Writes places out, each combination once."""

    def __init__(self) -> None:
        self._own: dict[Function, list[Reading]] = {}
        self._known: dict[tuple[Function, Coordinates], tuple[Reading, ...]] = {}

    def through(self, f: Function, at: Coordinates) -> tuple[Reading, ...]:
        """The reads of a pure Func where it is computed for one place."""
        known = self._known.get((f, at))
        if known is None:
            known = self._known[f, at] = tuple(dict.fromkeys(self._composed(f, at)))
        return known

    def own(self, f: Function) -> list[Reading]:
        """The reads of a Func's first stage."""
        if f not in self._own:
            self._own[f] = readings(f, 0)
        return self._own[f]

    def _composed(self, f: Function, at: Coordinates) -> Iterator[Reading]:
        to = {ir.pure_variable(n): i for n, i in zip(f.args, at, strict=True)}
        forms = {v: Linear(dict(i.terms), i.const) for v, i in to.items()}
        exprs: dict[ExprNode, ExprNode] | None = None
        for own in self.own(f):
            place = []
            for i in own.place:
                form = Linear({}, i.const)
                for atom, times in i.terms:
                    if atom in forms:
                        form = form.plus(forms[atom], times)
                        continue
                    if exprs is None:
                        exprs = {v: each.expr() for v, each in to.items()}
                    form = form.plus(linear_of(substitute(atom, exprs)), times)
                place.append(Index(form))
            yield Reading(own.callee, tuple(place))
