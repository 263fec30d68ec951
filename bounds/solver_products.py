"""What is true of products of integers, for a solver that takes a product for one more unknown.

In: the z3 integers of products and of their factors. Out: z3 truth values.

    m = x*y, n = x*z   ->   y < z and x >= 0  ⇒  m + x <= n
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import z3

_Product = tuple[Any, Any, Any]
"""An unknown, and the two factors that it is the product of."""

_WINDOW = (1 << 31) + 2
"""No dimension of a window is longer: two such lengths have a product in int64."""


def product_lemmas(m: Any, x: Any, y: Any) -> list[Any]:
    """What is true of every product ``m = x·y`` of integers."""
    small = z3.And(x >= 0, x <= _WINDOW, y >= 0, y <= _WINDOW)
    return [
        z3.Implies(small, m <= _WINDOW * _WINDOW),
        (m == 0) == z3.Or(x == 0, y == 0),
        z3.Implies(z3.Or(z3.And(x > 0, y > 0), z3.And(x < 0, y < 0)), m > 0),
        z3.Implies(z3.Or(z3.And(x > 0, y < 0), z3.And(x < 0, y > 0)), m < 0),
        *(lemma for a, b in ((x, y), (y, x)) for lemma in _growth(m, a, b)),
    ]


def _growth(m: Any, x: Any, y: Any) -> list[Any]:
    """A product is as far from zero as either factor, or further."""
    return [
        z3.Implies(x == 1, m == y),
        z3.Implies(z3.And(x >= 1, y >= 0), m >= y),
        z3.Implies(z3.And(x >= 1, y <= 0), m <= y),
        z3.Implies(z3.And(x <= -1, y >= 0), m <= -y),
        z3.Implies(z3.And(x <= -1, y <= 0), m >= -y),
    ]


def pair_lemmas(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> list[Any]:
    """What is true of two products that share a factor: with it they grow by at least that factor a step.

    Where some factor is the same term in both, those that might happen to be equal besides are left out.
    """
    (m, x, y), (n, u, v) = one, other
    ways = [(a, b, c, d) for a, b in ((x, y), (y, x)) for c, d in ((u, v), (v, u))]
    sure = [way for way in ways if way[1].eq(way[3])]
    lemmas = []
    for a, b, c, d in sure or ways:
        shared = z3.And(b == d, b >= 0)
        lemmas += [
            z3.Implies(z3.And(b == d, a == c), m == n),
            z3.Implies(z3.And(shared, a < c), m + b <= n),
            z3.Implies(z3.And(shared, c < a), n + b <= m),
        ]
    return lemmas


class Products:
    """The unknowns that stand for products. ``say``: gives axioms their numbers."""

    def __init__(self, say: Callable[..., frozenset[int]]) -> None:
        self._say = say
        self._known: dict[tuple[int, int], tuple[_Product, frozenset[int]]] = {}
        self._about: dict[int, _Product] = {}
        """By the first axiom about each product."""
        self._pairs: dict[tuple[int, int], frozenset[int]] = {}
        self._multiples: dict[int, dict[int, None]] = {}
        self._against: dict[tuple[int, int, int], frozenset[int]] = {}

    def of(self, x: Any, y: Any) -> tuple[Any, frozenset[int]]:
        """The unknown that is ``x·y``, and its axioms."""
        key = (min(x.get_id(), y.get_id()), max(x.get_id(), y.get_id()))
        if key not in self._known:
            m = z3.Int(f"m!{len(self._known)}")
            axioms = self._say(*product_lemmas(m, x, y))
            self._known[key] = ((m, x, y), axioms)
            self._about[min(axioms)] = (m, x, y)
        (m, _, _), axioms = self._known[key]
        return m, axioms | self._with_multiples(x) | self._with_multiples(y)

    def multiple(self, x: Any, k: int) -> frozenset[int]:
        """The axioms that compare ``k·x`` with products by ``x``."""
        self._multiples.setdefault(x.get_id(), {})[k] = None
        return self._with_multiples(x)

    def _with_multiples(self, factor: Any) -> frozenset[int]:
        """Products by a factor against constant multiples of it, as far as both have come up."""
        said: frozenset[int] = frozenset()
        at = factor.get_id()
        for (m, x, y), _ in self._known.values() if at in self._multiples else ():
            if at not in (x.get_id(), y.get_id()):
                continue
            other = y if x.get_id() == at else x
            for k in self._multiples[at]:
                if (m.get_id(), at, k) not in self._against:
                    positive = factor >= 0
                    self._against[m.get_id(), at, k] = self._say(
                        z3.Implies(z3.And(positive, other >= k), m >= factor * k),
                        z3.Implies(z3.And(positive, other < k), m <= factor * k - factor),
                    )
                said |= self._against[m.get_id(), at, k]
        return said

    def comparisons(self, of: Collection[int], known: Collection[int]) -> list[int]:
        """The axioms that compare the products that the axioms ``of`` are about, with each other and with those that
        others are about. There is one for each two products: only who meets both should be told."""
        found: list[int] = []
        new = sorted(self._about.keys() & of)
        old = sorted(self._about.keys() & known)
        for i, n in enumerate(new):
            for m in (*old, *new[:i]):
                pair = (min(m, n), max(m, n))
                if pair not in self._pairs:
                    self._pairs[pair] = self._say(*pair_lemmas(self._about[pair[1]], self._about[pair[0]]))
                found += sorted(self._pairs[pair])
        return found

    def exact(self) -> list[Any]:
        """What every product so far is."""
        return [m == x * y for (m, x, y), _ in self._known.values()]
