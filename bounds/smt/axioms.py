"""Axioms: facts about the unknowns in terms, by number. A term names its own, and a solver is told those of a question.

In: facts, which are z3 truth values. Out: their numbers.

Terms and their products both say some, and neither holds the other: what z3 keeps for a context is much, and goes with
the last reference to it, not whenever cycles are looked for.
"""

from __future__ import annotations

from typing import Any


class Axioms:
    """The axioms of one set of terms."""

    def __init__(self) -> None:
        self._facts: list[Any] = []
        self.growing: set[int] = set()
        """Those that compare products: many, and needed by few proofs."""
        self.cases: set[int] = set()
        """Those that make a solver tell cases apart: that an extreme is one of two."""

    def __getitem__(self, number: int) -> Any:
        return self._facts[number]

    def say(self, *facts: Any) -> frozenset[int]:
        """The numbers of new axioms."""
        first = len(self._facts)
        self._facts.extend(facts)
        return frozenset(range(first, len(self._facts)))

    def compare(self, *facts: Any) -> frozenset[int]:
        """The numbers of new axioms that compare products."""
        numbers = self.say(*facts)
        self.growing |= numbers
        return numbers

    def tell_apart(self, *facts: Any) -> frozenset[int]:
        """The numbers of new axioms that make a solver tell cases apart."""
        numbers = self.say(*facts)
        self.cases |= numbers
        return numbers
