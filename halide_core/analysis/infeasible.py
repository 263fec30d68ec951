"""Contradictions between linear inequalities, by elimination of one atom after the other (Fourier and Motzkin).

In: linear forms that are not negative. Out: whether no integers make them so. True is a proof.

    x - y, y - z - 1, z - x   ->   True: their sum is -1
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from halide_core.analysis.linear import Linear
from halide_core.ir import ExprNode

_Terms = frozenset[tuple[ExprNode, int]]

_MOST = 200
"""Forms to work on at one time."""


def contradict(forms: Iterable[Linear]) -> bool:
    """True where some combination of the forms, none of which is negative, is."""
    rows: dict[_Terms, Linear] = {}
    if any(_adds(rows, form) for form in forms):
        return True
    while True:
        counts: dict[ExprNode, list[int]] = {}
        for form in rows.values():
            for atom, c in form.terms.items():
                found = counts.setdefault(atom, [0, 0, 0, 0])
                found[c > 0] += 1
                found[2 + (c > 0)] += abs(c) != 1
        if not counts:
            return False
        atom = min(counts, key=lambda a: _cost(*counts[a]))
        below = [form for form in rows.values() if form.terms.get(atom, 0) > 0]
        above = [form for form in rows.values() if form.terms.get(atom, 0) < 0]
        rows = {key: form for key, form in rows.items() if atom not in form.terms}
        if len(rows) + len(below) * len(above) > _MOST:
            return False
        for one in below:
            for other in above:
                if _adds(rows, one.times(-other.terms[atom]).plus(other, one.terms[atom])):
                    return True


def _cost(below: int, above: int, longer_below: int, longer_above: int) -> tuple[bool, int]:
    """The worth of an atom's elimination: first of all that no integers are lost, as the atom is alone in all forms of
    one sign; then that few forms come of it."""
    return bool(longer_below and longer_above), below * above


def _adds(rows: dict[_Terms, Linear], form: Linear) -> bool:
    """Adds a form, divided by what its coefficients share; whether it is a negative constant."""
    if not form.terms:
        return form.const < 0
    divisor = gcd(*form.terms.values())
    terms = {atom: c // divisor for atom, c in form.terms.items()}
    key = frozenset(terms.items())
    least = form.const // divisor
    known = rows.get(key)
    if known is None or known.const > least:
        rows[key] = Linear(terms, least)
    return False
