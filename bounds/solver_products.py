"""What is true of products of integers, for a solver that takes a product for one more unknown.

In: the z3 integers of products and of their factors. Out: z3 truth values.

    m = x*y, n = x*z   ->   y < z and x >= 0  ⇒  m + x <= n
"""

from __future__ import annotations

from typing import Any

import z3

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
