"""Premise selection: with the facts that bear on a claim alone it is proven sooner, if they are enough.

In: facts and what each is about, what the claim is about, a share. Out: the facts of which at least that share is about
what the claim, or a fact taken before, is about.

    x < n   |   0 <= x, x < m, m <= n, y < k   ->   all but the last, for a share of a half
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

_Fact = TypeVar("_Fact")
_Thing = TypeVar("_Thing")


def relevant(
    facts: Sequence[_Fact], about: Callable[[_Fact], Collection[_Thing]], claimed: Collection[_Thing], share: float
) -> list[_Fact]:
    """The facts that bear on what is ``claimed``, in their order. A fact about nothing is one of them."""
    known = set(claimed)
    taken = [False] * len(facts)
    grows = True
    while grows:
        near = [i for i, fact in enumerate(facts) if not taken[i] and _share(about(fact), known) >= share]
        for i in near:
            taken[i] = True
            known.update(about(facts[i]))
        grows = bool(near) and share < 1
    return [fact for i, fact in enumerate(facts) if taken[i]]


def _share(things: Collection[_Thing], known: set[_Thing]) -> float:
    return sum(thing in known for thing in things) / len(things) if things else 1
