"""Formulas that the compiler knows single operations for, and that random terms seldom are.

In: a case as all other generators left it. Out: the case, mostly; seldom with one of its values in such a formula. Each
has random numbers of its own, so another one changes no case that has none of it.

    f[x] = a: uint8        ->   f[x] = uint8((uint16(a) + uint16(a + 3) + 1) >> 1)
    f[x] += a: float32     ->   f[x] += a*0.75
    f[x] = a: float32      ->   f[x] = ceil(a)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from halide_core.ir.types import Int, Type, UInt
from tests.campaigns.fuzz.case import Case, Definition, Item, Update
from tests.campaigns.fuzz.terms import INEXACT, Term, call, cast, infix, number, shift

_SHARES = {"mean": 0.06, "product": 0.5, "rounding": 0.25}
"""Of the cases that a formula is offered to: fewer have a value of its kind."""
_MOST_BITS = 16
"""Of a mean's operands: no sum of them leaves twice as many."""


def draw_formulas(case: Case, seed: int, at: int) -> Case:
    """The case, or the case with a formula."""
    for name, formula in FORMULAS.items():
        rng = random.Random(f"{seed}/{at}/{name}")
        if rng.random() < _SHARES[name]:
            case = _with(case, formula, rng)
    return case


def _with(case: Case, formula: Callable[[Item, random.Random], Item | None], rng: random.Random) -> Case:
    found = [(k, new) for k, item in enumerate(case.items) if (new := formula(item, rng)) is not None]
    if not found:
        return case
    k, new = rng.choice(found)
    return replace(case, items=(*case.items[:k], new, *case.items[k + 1 :]))


def _is_exact(term: Term) -> bool:
    return not any(node.text in INEXACT for node in term)


def _wider(type: Type) -> Type:
    return (UInt if type.is_uint() else Int)(2 * type.bits())


def _mean(item: Item, rng: random.Random) -> Item | None:
    """A mean of two narrow integers, computed in twice as many bits."""
    if not isinstance(item, Definition) or not _is_exact(item.value):
        return None
    type = item.value.type
    if not type.is_integer() or type.is_bool() or type.bits() > _MOST_BITS:
        return None
    wide, other = _wider(type), infix("+", item.value, number(rng.randrange(1, 9), type))
    total = infix("+", infix("+", cast(wide, item.value), cast(wide, other)), number(1, wide))
    return replace(item, value=cast(type, shift(">>", total, number(1, wide))))


def _product(item: Item, rng: random.Random) -> Item | None:
    """A product of floats that an update adds."""
    if not isinstance(item, Update) or item.op not in ("+=", "-=") or item.more or not _is_exact(item.value):
        return None
    if not item.value.type.is_float() or item.value.type.bits() < 2 * _MOST_BITS:
        return None
    return replace(item, value=infix("*", item.value, number(rng.choice([0.75, -1.5, 3.25]), item.value.type)))


def _rounding(item: Item, rng: random.Random) -> Item | None:
    """A float that is rounded to an integer's value."""
    if not isinstance(item, Definition) or not _is_exact(item.value) or not item.value.type.is_float():
        return None
    function = rng.choice(["ceil", "ceil", "round", "floor", "trunc"])
    return replace(item, value=call(function, item.value.type, item.value))


FORMULAS: dict[str, Callable[[Item, random.Random], Item | None]] = {
    "mean": _mean, "product": _product, "rounding": _rounding,
}  # fmt: skip
