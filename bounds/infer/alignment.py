"""Compute bounds that directives put on multiples: ``align_bounds`` and ``align_extent``.

In: the conditions of the directives, and an interval that is needed. Out: the least one around it that meets them.

    x in (3, 9), aligned to 8      ->   (0, 16)
    x in (3, 9), its extent to 8   ->   (3, 16)

An empty interval stays empty, so that nothing is computed, or read, for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.ir import Callee, End, ExprNode, Hole, Interval, IntImm, Select
from halide_core.ir.types import INT64
from halide_core.schedule.directives import Directive


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    modulus: ExprNode
    remainder: ExprNode
    directive: Directive


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """An interval of ``count`` times ``modulus`` points; ``nonempty``: the count is certainly not 0."""

    min: ExprNode
    count: ExprNode
    modulus: ExprNode
    nonempty: bool
    directive: Directive
    facts: Facts

    @property
    def multiple(self) -> int:
        """The modulus, if it is a constant."""
        return self.modulus.value if isinstance(self.modulus, IntImm) else 1

    def interval(self) -> Interval:
        """Its least coordinate and its length."""
        return Interval(self.min, Simplifier(self.facts).expr(ir.mul(self.count, self.modulus)))

    def at_least(self, least: ExprNode) -> Aligned:
        """The interval with at least so many points."""
        needed = _multiples(least, self.modulus, Simplifier(self.facts))
        if self.nonempty and isinstance(needed, IntImm) and needed.value <= 1:
            return self
        return replace(self, count=Simplifier(self.facts).maximum(self.count, needed))


class Alignments:
    """The alignments that directives ask of holes."""

    def __init__(self) -> None:
        self._asked: dict[ExprNode, _Asked] = {}
        self._told: dict[tuple[Callee, int], Directive] = {}

    def ask(self, hole: Hole, modulus: ExprNode, remainder: ExprNode, directive: Directive) -> None:
        """``hole % modulus == remainder``, the remainder being 0 for a length."""
        self._asked[hole] = _Asked(modulus, remainder, directive)
        self._told[hole.func, hole.dim] = directive

    def of(self, holes: Interval, needed: Interval, facts: Facts) -> Aligned | None:
        """The least interval that meets what is asked of two holes; None where that is nothing."""
        wanted = self._asked.get(holes.len)
        if wanted is None:
            return None
        simplifier = Simplifier(facts)
        modulus = wanted.modulus
        start, length = needed.min, needed.len
        if holes.min in self._asked:
            rest = self._asked[holes.min].remainder
            below = simplifier.expr(ir.div(ir.sub(start, rest), modulus))
            start = simplifier.expr(ir.add(ir.mul(below, modulus), rest))
        count = _multiples(simplifier.expr(ir.sub(ir.add(needed.min, length), start)), modulus, simplifier)
        nonempty = facts.proves_le(ir.ONE, length)
        if not nonempty:
            count = simplifier.expr(Select(INT64, ir.less_equal(ir.ONE, length), count, ir.ZERO))
        return Aligned(start, count, modulus, nonempty, wanted.directive, facts)

    def checks(self, holes: Interval, given: Interval) -> Iterator[tuple[ExprNode, str]]:
        """Conditions on bounds that another directive fixes, each with the message of its failure."""
        for end, value in ((End.MIN, given.min), (End.LEN, given.len)):
            wanted = self._asked.get(holes.min if end is End.MIN else holes.len)
            if wanted is not None:
                meets = ir.equal(ir.mod(value, wanted.modulus), wanted.remainder)
                told = f"{wanted.directive.spelled()}: another directive gives bounds that don't meet it"
                yield simplify(meets), told

    def note(self, callee: Callee, dim: int) -> str:
        """For a message about a region: the directive that made it larger than what is asked for."""
        directive = self._told.get((callee, dim))
        return "" if directive is None else f", because of {directive.spelled()}"


def _multiples(length: ExprNode, modulus: ExprNode, simplifier: Simplifier) -> ExprNode:
    """The length in units of the modulus, rounded up."""
    return simplifier.expr(ir.div(ir.add(length, ir.sub(modulus, ir.ONE)), modulus))
