"""Lemmas about products: true of every product, and enough to know its sign and that it grows."""

from __future__ import annotations

from itertools import product

import z3

from halide_core.bounds.smt.axioms import Axioms
from halide_core.bounds.smt.products import _WINDOW, Products, _growth, _ways, pair_lemmas, product_lemmas

NUMBERS = range(-3, 4)
m, x, y, n, u, v = (z3.Int(name) for name in "mxynuv")


def hold(lemmas: list[z3.BoolRef], **values: int) -> bool:
    """True where all lemmas are true of some numbers."""
    given = [(z3.Int(name), z3.IntVal(value)) for name, value in values.items()]
    return all(z3.is_true(z3.simplify(z3.substitute(lemma, *given))) for lemma in lemmas)


def test_lemmas_are_true_of_every_product() -> None:
    lemmas = product_lemmas(m, x, y)
    assert all(hold(lemmas, m=a * b, x=a, y=b) for a, b in product(NUMBERS, NUMBERS))


def test_lemmas_tell_the_sign_of_a_product_and_its_least_size() -> None:
    lemmas = product_lemmas(m, x, y)
    for a, b in product(NUMBERS, NUMBERS):
        allowed = [c for c in range(-12, 13) if hold(lemmas, m=c, x=a, y=b)]
        least = max(abs(a), abs(b)) if a * b else 0
        assert all(c * (a * b) > 0 or c == a * b == 0 for c in allowed)
        assert min(map(abs, allowed)) == least
        if abs(a) == 1 or abs(b) == 1 or not a * b:
            assert a * b in allowed


def test_lemmas_without_those_of_growth_tell_the_sign_by_themselves() -> None:
    growth = len(_growth(m, x, y)) * 2
    signs = product_lemmas(m, x, y)[:-growth]
    for a, b, c in product(NUMBERS, NUMBERS, NUMBERS):
        assert hold(signs, m=c, x=a, y=b) == (c == 0 if a * b == 0 else a * b * c > 0)


def test_product_of_two_lengths_of_windows_is_bounded() -> None:
    lemmas = product_lemmas(m, x, y)
    assert hold(lemmas, m=_WINDOW * _WINDOW, x=_WINDOW, y=_WINDOW)
    assert not hold(lemmas, m=_WINDOW * _WINDOW + 1, x=_WINDOW, y=_WINDOW)
    assert hold(lemmas, m=(_WINDOW + 1) * _WINDOW, x=_WINDOW + 1, y=_WINDOW)


def test_lemmas_are_true_of_every_two_products() -> None:
    lemmas = pair_lemmas((m, x, y), (n, u, v))
    for a, b, c, d in product(range(-1, 3), repeat=4):
        assert hold(lemmas, m=a * b, x=a, y=b, n=c * d, u=c, v=d)


def test_values_that_break_a_comparison_are_found_and_no_others() -> None:
    for second in ((u, v), (x, v), (u, x)):
        axioms = Axioms()
        products = Products(axioms)
        (one, about), (other, more) = products.of(x, y), products.of(*second)
        lemmas = pair_lemmas((one, x, y), (other, *second))
        for a, b, c, d, p, q in product((-1, 0, 2), (-1, 0, 1), (0, 2), (-1, 0, 1), (-1, 0, 2), (-1, 0, 1, 2)):
            values = {x: a, y: b, u: c, v: d, one: p, other: q}
            given = [(z, z3.IntVal(n)) for z, n in values.items()]
            right = all(z3.is_true(z3.simplify(z3.substitute(lemma, *given))) for lemma in lemmas)
            first, last = ([values[z] for z in each] for each in ((one, x, y), (other, *second)))
            ways = [w for w in _ways((one, x, y), (other, *second)) if first[w[1]] == last[w[3]]]
            right = right and all(last[0] - first[0] == (last[w[2]] - first[w[0]]) * first[w[1]] for w in ways)
            found = products.broken(about | more, values.__getitem__, 1)
            assert (not found) == right, (second, values)
            told = [z3.simplify(z3.substitute(axioms[n], *given)) for n in found]
            assert right or any(z3.is_false(each) for each in told), "a state that is found broken is ruled out"


def test_multiples_of_a_factor_bound_its_products_on_both_sides() -> None:
    axioms = Axioms()
    products = Products(axioms)
    products.of(x, y)
    lemmas = [axioms[n] for n in products.multiple(x, 3)]
    about = next(iter(products._known.values()))[0][0]
    for a, b in product(range(5), range(-2, 8)):
        given = [(x, z3.IntVal(a)), (y, z3.IntVal(b))]
        allowed = [
            c for c in range(-20, 40) if all(
                z3.is_true(z3.simplify(z3.substitute(lemma, *given, (about, z3.IntVal(c))))) for lemma in lemmas
            )
        ]  # fmt: skip
        assert a * b in allowed
        assert b != 3 or allowed == [3 * a]


def test_product_by_a_factor_of_few_values_is_known_for_each() -> None:
    axioms = Axioms()
    products = Products(axioms)
    products.cases_of(y, range(-2, 3))
    about, numbers = products.of(x, y)
    lemmas = [axioms[n] for n in sorted(numbers & axioms.cases)]
    assert len(lemmas) == 5
    for a, b, c in product(range(-3, 4), range(-4, 5), range(-12, 13)):
        given = [(x, z3.IntVal(a)), (y, z3.IntVal(b)), (about, z3.IntVal(c))]
        kept = all(z3.is_true(z3.simplify(z3.substitute(lemma, *given))) for lemma in lemmas)
        assert kept == (c == a * b or b not in range(-2, 3))
