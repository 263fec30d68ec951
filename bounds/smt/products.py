"""Lemmas about products of integers, for a solver that takes a product for one more unknown.

In: the z3 integers of products and of their factors. Out: z3 truth values.

    m = x*y, n = x*z   ->   y < z and x >= 0  ⇒  m + x <= n
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from halide_core.bounds.smt.axioms import Axioms
from halide_core.bounds.smt.formulas import both, either, implies, integer

_Product = tuple[Any, Any, Any]
"""An unknown, and the two factors that it is the product of."""

_FEW = 16
"""Factors so far apart are compared exactly, where a state shows that it matters."""

FEW_VALUES = 16
"""A factor that is declared to have no more values makes a product linear in cases."""

_WINDOW = (1 << 31) + 2
"""No dimension of a window is longer: two such lengths have a product in int64."""


def product_lemmas(m: Any, x: Any, y: Any) -> list[Any]:
    """Lemmas about every product ``m = x·y`` of integers."""
    small = both(x >= 0, x <= _WINDOW, y >= 0, y <= _WINDOW)
    return [
        implies(small, m <= _WINDOW * _WINDOW),
        (m == 0) == either(x == 0, y == 0),
        implies(either(both(x > 0, y > 0), both(x < 0, y < 0)), m > 0),
        implies(either(both(x > 0, y < 0), both(x < 0, y > 0)), m < 0),
        *(lemma for a, b in ((x, y), (y, x)) for lemma in _growth(m, a, b)),
    ]


def _growth(m: Any, x: Any, y: Any) -> list[Any]:
    """A product is as far from zero as either factor, or further."""
    return [
        implies(x == 1, m == y),
        implies(both(x >= 1, y >= 0), m >= y),
        implies(both(x >= 1, y <= 0), m <= y),
        implies(both(x <= -1, y >= 0), m <= -y),
        implies(both(x <= -1, y <= 0), m >= -y),
    ]


def pair_lemmas(one: _Product, other: _Product) -> list[Any]:
    """Lemmas about two products that share a factor: with it they grow by at least that factor a step."""
    lemmas = []
    for a, b, c, d in _ways(one, other):
        m, n = one[0], other[0]
        shared = both(one[b] == other[d], one[b] >= 0)
        lemmas += [
            implies(both(one[b] == other[d], one[a] == other[c]), m == n),
            implies(both(shared, one[a] < other[c]), m + one[b] <= n),
            implies(both(shared, other[c] < one[a]), n + one[b] <= m),
        ]
    return lemmas


def _ways(one: _Product, other: _Product) -> list[tuple[int, int, int, int]]:
    """The ways to compare factors of two products: places of one's own and its shared factor, and of the other's.

    Where some factor is the same term in both, those that might happen to be equal besides are left out.
    """
    ways = [(a, b, c, d) for a, b in ((1, 2), (2, 1)) for c, d in ((1, 2), (2, 1))]
    return [way for way in ways if one[way[1]].eq(other[way[3]])] or ways


def _agree(one: Sequence[int], other: Sequence[int], ways: Sequence[tuple[int, int, int, int]]) -> bool:
    """True where values of two products keep to all that their lemmas say."""
    for a, b, c, d in ways:
        if one[b] == other[d]:
            steps = other[c] - one[a]
            grown = other[0] - one[0]
            if steps == 0 and grown:
                return False
            if one[b] >= 0 and ((steps > 0 and grown < one[b]) or (steps < 0 and -grown < one[b])):
                return False
    return True


def _few_steps(one: Sequence[int], other: Sequence[int], way: tuple[int, int, int, int]) -> int | None:
    """The distance of the other factors, where it is small and the products are closer than it implies."""
    a, b, c, d = way
    steps = other[c] - one[a]
    wrong = one[b] == other[d] and other[0] - one[0] != steps * one[b]
    return steps if wrong and abs(steps) <= _FEW else None


class Products:
    """The unknowns that stand for products. ``axioms``: where what compares them is said."""

    def __init__(self, axioms: Axioms) -> None:
        self._say = axioms.compare
        self._tell_apart = axioms.tell_apart
        self._values: dict[int, range] = {}
        """By their numbers: the values of factors that are declared to have few."""
        self._known: dict[tuple[int, int], tuple[_Product, frozenset[int]]] = {}
        self._about: dict[int, _Product] = {}
        """By the first axiom about each product."""
        self._pairs: dict[tuple[int, int], frozenset[int]] = {}
        self._steps: dict[tuple[int, int, tuple[int, int, int, int], int], frozenset[int]] = {}
        self._compared: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}
        self._multiples: dict[int, dict[int, None]] = {}
        self._against: dict[tuple[int, int, int], frozenset[int]] = {}

    def of(self, x: Any, y: Any) -> tuple[Any, frozenset[int]]:
        """The unknown that is ``x·y``, and its axioms."""
        key = (min(x.get_id(), y.get_id()), max(x.get_id(), y.get_id()))
        if key not in self._known:
            m = integer(f"m!{len(self._known)}", x.ctx)
            axioms = self._say(*product_lemmas(m, x, y)) | self._by_cases(m, x, y) | self._by_cases(m, y, x)
            self._known[key] = ((m, x, y), axioms)
            self._about[min(axioms)] = (m, x, y)
        (m, _, _), axioms = self._known[key]
        return m, axioms | self._with_multiples(x) | self._with_multiples(y)

    def cases_of(self, factor: Any, values: range) -> None:
        """From here on a product by a factor that may have few values is known for each."""
        self._values[factor.get_id()] = values

    def _by_cases(self, m: Any, x: Any, factor: Any) -> frozenset[int]:
        values = self._values.get(factor.get_id(), range(0))
        return self._tell_apart(*(implies(factor == k, m == x * k) for k in values))

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
                        implies(both(positive, other >= k), m >= factor * k),
                        implies(both(positive, other <= k), m <= factor * k),
                        implies(both(positive, other < k), m <= factor * k - factor),
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
                found += self._pair(min(m, n), max(m, n))
        return found

    def broken(self, of: Collection[int], value: Callable[[Any], int], most: int) -> list[int]:
        """Of the axioms that compare the products that the axioms ``of`` are about, some that values break: not many
        more than ``most``, and none only where all hold."""
        found: list[int] = []
        about = sorted(self._about.keys() & of)
        values = [[value(z) for z in self._about[n]] for n in about]
        pairs = [(i, j) for i in range(len(about)) for j in range(i)]
        for i, j in pairs:
            m, n = about[j], about[i]
            if (m, n) not in self._compared:
                self._compared[m, n] = _ways(self._about[n], self._about[m])
            if not _agree(values[i], values[j], self._compared[m, n]):
                found += self._pair(m, n)
                if len(found) >= most:
                    return found
        for i, j in pairs if not found else ():
            for way in self._compared[about[j], about[i]]:
                steps = _few_steps(values[i], values[j], way)
                if steps is not None:
                    found += self._apart(about[j], about[i], way, steps)
                    if len(found) >= most:
                        return found
        return found

    def _apart(self, m: int, n: int, way: tuple[int, int, int, int], steps: int) -> list[int]:
        """Lemmas on the distance of two products whose other factors are so many steps apart."""
        if (m, n, way, steps) not in self._steps:
            one, other, (a, b, c, d) = self._about[n], self._about[m], way
            shared, factor, apart = one[b] == other[d], one[b], other[c] - one[a]
            grown = one[0] + steps * factor
            self._steps[m, n, way, steps] = self._say(
                implies(both(shared, factor >= 0, apart >= steps), grown <= other[0]),
                implies(both(shared, factor >= 0, apart <= steps), grown >= other[0]),
                implies(both(shared, factor <= 0, apart >= steps), grown >= other[0]),
                implies(both(shared, factor <= 0, apart <= steps), grown <= other[0]),
            )
        return sorted(self._steps[m, n, way, steps])

    def _pair(self, m: int, n: int) -> list[int]:
        if (m, n) not in self._pairs:
            self._pairs[m, n] = self._say(*pair_lemmas(self._about[n], self._about[m]))
        return sorted(self._pairs[m, n])

    def factors(self) -> list[Any]:
        """All that products are made of, each once."""
        found = {z.get_id(): z for (_, x, y), _ in self._known.values() for z in (x, y)}
        return list(found.values())

    def exact(self) -> list[Any]:
        """The definition of every product so far."""
        return [m == x * y for (m, x, y), _ in self._known.values()]
