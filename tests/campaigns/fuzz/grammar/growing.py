"""Programs grown from others: one to three changes of a case that reached new blocks of the compiler.

In: a case. Out: another one: other numbers, operators, windows and tails; a directive more, fewer, or elsewhere; an
update taken away, told twice, or in another order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Definition, Domain, Image, Item, Loop, Numbers, Told, Update
from tests.campaigns.fuzz.directives import Drawing, draw_loops
from tests.campaigns.fuzz.draw_terms import PROMISE
from tests.campaigns.fuzz.grammar.axes import Place, Way
from tests.campaigns.fuzz.grammar.schedules import draw_steered
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form, Term, number


def grown(case: Case, label: str, rng: random.Random) -> Case:
    """A case that differs in something."""
    case = replace(case, seed=label)
    changes = _CHANGES if not _promises_values(case) else tuple(c for c in _CHANGES if c not in _OF_VALUES)
    for _ in range(rng.choice([1, 1, 2, 3])):
        change = rng.choice(changes)
        case = change(case, rng) or case
    return case


def _promises_values(case: Case) -> bool:
    """True where something is promised of what a Func or an input holds, which other values would break."""
    terms = (term for item in case.items if isinstance(item, Definition | Update) for term in item.terms())
    promised = (node for term in terms for node in term if node.text == PROMISE)
    return any(node.form is Form.READ for promise in promised for node in promise)


def _numbers(case: Case, rng: random.Random) -> Case | None:
    """Another number in a definition."""
    return _with_terms(case, rng, lambda node: node.form is Form.NUMBER, lambda node: _other_number(node, rng))


def _operators(case: Case, rng: random.Random) -> Case | None:
    """Another operator."""
    swaps = {"+": "-*", "-": "+*", "*": "+-", "<": ("<=", "!="), "<=": ("<", "=="), "min": ("max",), "max": ("min",)}

    def changed(node: Term) -> Term:
        return replace(node, text=rng.choice(swaps[node.text]))

    return _with_terms(case, rng, lambda node: node.text in swaps and node.form in (Form.INFIX, Form.CALL), changed)


def _other_number(node: Term, rng: random.Random) -> Term:
    if node.type is INT32:
        return number(rng.choice([-2, -1, 0, 1, 2, 3, 4, 7]), INT32)
    if node.type.is_float() or node.type.is_bool():
        return number(rng.choice([0, 1]), node.type)
    return number(rng.choice([0, 1, 2, node.type.range[0], node.type.range[1]]), node.type)


def _with_terms(
    case: Case, rng: random.Random, fits: Callable[[Term], bool], change: Callable[[Term], Term]
) -> Case | None:
    """One node of one definition changed."""
    found = [
        (i, k)
        for i, item in enumerate(case.items)
        if isinstance(item, Definition | Update)
        for k, node in enumerate(node for term in item.terms() for node in _nodes(term))
        if fits(node)
    ]
    if not found:
        return None
    i, k = rng.choice(found)
    item, count = case.items[i], -1

    def at(node: Term) -> Term:
        nonlocal count
        if node.text == PROMISE:
            return node
        count += 1
        if count == k:
            return change(node)
        parts = tuple(map(at, node.parts))
        return node if parts == node.parts else replace(node, parts=parts)

    terms = tuple(map(at, item.terms()))
    new: Item
    if isinstance(item, Update):
        rank = len(item.point)
        new = replace(item, point=terms[:rank], value=terms[rank], more=terms[rank + 1 :])
    else:
        assert isinstance(item, Definition)
        new = replace(item, value=terms[0], more=terms[1:])
    return replace(case, items=(*case.items[:i], new, *case.items[i + 1 :]))


def _nodes(term: Term) -> Iterator[Term]:
    """The nodes of an expression that may change: not what is promised, which another number would break."""
    if term.text != PROMISE:
        yield term
        for part in term.parts:
            yield from _nodes(part)


def _windows(case: Case, rng: random.Random) -> Case:
    """Another window."""
    windows = tuple(
        tuple((rng.choice([low, low - 1, low + 2]), rng.choice([0, 1, 2, 3, 5, 6, extent])) for low, extent in window)
        for window in case.windows
    )
    return replace(case, windows=windows)


def _inputs(case: Case, rng: random.Random) -> Case:
    """Other values and sizes of the inputs."""
    items = tuple(
        replace(
            item,
            seed=rng.randint(0, 999),
            numbers=rng.choice(list(Numbers)),
            extents=tuple(rng.choice([1, 2, 3, 5, 8, e]) for e in item.extents),
        )
        if isinstance(item, Image) else item
        for item in case.items
    )  # fmt: skip
    return replace(case, items=items)


def _tails(case: Case, rng: random.Random) -> Case | None:
    """Another tail of a split."""
    found = [i for i, t in enumerate(case.directives) if any(isinstance(a, TailStrategy) for a in t.args)]
    if not found:
        return None
    i = rng.choice(found)
    args = tuple(rng.choice(list(TailStrategy)) if isinstance(a, TailStrategy) else a for a in case.directives[i].args)
    return _told(case, i, replace(case.directives[i], args=args))


def _factors(case: Case, rng: random.Random) -> Case | None:
    """Another factor, or another loop's name."""
    found = [(i, k) for i, t in enumerate(case.directives) for k, a in enumerate(t.args) if isinstance(a, Term | Loop)]
    if not found:
        return None
    i, k = rng.choice(found)
    args = list(case.directives[i].args)
    if isinstance(args[k], Term):
        args[k] = number(rng.choice([1, 2, 3, 4, 5, 8]), INT32)
    else:
        args[k] = Loop(rng.choice("xyz"))
    return _told(case, i, replace(case.directives[i], args=tuple(args)))


def _told(case: Case, i: int, *told: Told) -> Case:
    return replace(case, directives=(*case.directives[:i], *told, *case.directives[i + 1 :]))


def _fewer(case: Case, rng: random.Random) -> Case | None:
    """A directive less."""
    return _told(case, rng.randrange(len(case.directives))) if case.directives else None


def _more(case: Case, rng: random.Random) -> Case | None:
    """Directives about the loops of a stage that nothing was said of."""
    model = model_of(case)
    said = {(t.func, t.stage) for t in case.directives}
    free = [nest for nests in model.nests.values() for nest in nests if nest.stage not in said]
    if not free:
        return None
    nest, told = rng.choice(free), list(case.directives)
    draw_loops(Drawing(case, rng, nest, model.nests[nest.stage[0]], told), rng.choice([1, 2]))
    return replace(case, directives=tuple(told))


def _scheduled_anew(case: Case, rng: random.Random) -> Case | None:
    """Another schedule."""
    if "w" not in model_of(case).args:
        return None
    return draw_steered(replace(case, directives=()), rng, rng.choice(list(Place)), rng.choice(list(Way)))


def _updates(case: Case, rng: random.Random) -> Case | None:
    """An update in another place among those of its Func, or told twice; behind all that it reads."""
    found = [i for i, item in enumerate(case.items) if isinstance(item, Update) and not item.domain]
    if not found:
        return None
    i = rng.choice(found)
    update = case.items[i]
    others = [k for k, item in enumerate(case.items) if isinstance(item, Update) and item.name == update.name]
    others = [k for k in others if all(isinstance(item, Update | Domain) for item in case.items[k:i])]
    items = list(case.items)
    if rng.random() < 0.5:
        items.pop(i)
    items.insert(rng.choice(others), update)
    return replace(case, items=tuple(items))


_CHANGES: tuple[Callable[[Case, random.Random], Case | None], ...] = (
    _numbers, _numbers, _operators, _windows, _inputs, _tails, _factors, _fewer, _more, _scheduled_anew, _updates,
)  # fmt: skip
_OF_VALUES = (_numbers, _operators, _inputs, _updates)
"""Those after which Funcs have other values."""
