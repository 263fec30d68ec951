"""Making a failing case small.

In: a case, and whether another one fails in the same way. Out: a case that fails so too, and from which nothing that
this file knows how to take away can be taken away, unless attempts or time ran out first.

    directives, outputs and updates are dropped; expressions become parts of themselves, or 0; windows shrink
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Border, Case, Definition, Domain, Image, Item, Numbers, Scalar, Told, Update
from tests.campaigns.fuzz.draw_algorithm import used_items
from tests.campaigns.fuzz.draw_terms import PROMISE
from tests.campaigns.fuzz.terms import Form, Term, cast, number

ATTEMPTS = 250
"""The greatest number of cases judged on the way."""
SECONDS = 240.0
"""None is judged that long after the first: a campaign waits, and its case is kept as it was drawn as well."""


def shrink(case: Case, fails: Callable[[Case], bool], attempts: int = ATTEMPTS, seconds: float = SECONDS) -> Case:
    """The smallest case found that ``fails``."""
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for smaller in _smaller(case):
            if weight(smaller) >= weight(case):
                continue
            attempts -= 1
            if attempts < 0 or time.monotonic() > end:
                return case
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def weight(case: Case) -> int:
    """The amount of text in a case."""
    terms = [term for item in case.items for term in item.terms()]
    terms += [term for told in case.directives for term in told.terms()]
    total = sum(4 * len(told.args) + 8 for told in case.directives) + 8 * len(case.items) + 8 * len(case.outputs)
    total += sum(_node_weight(node) for term in terms for node in term)
    total += sum(min(abs(low), 9) + min(extent, 40) for window in case.windows for low, extent in window)
    return total + sum(_item_weight(item) for item in case.items)


_ZEROS = ("0", "0.0", "False")


def _node_weight(node: Term) -> int:
    if node.form is not Form.NUMBER:
        return 5
    zero = node.text in _ZEROS
    return 2 + (not zero) + (not zero and node.text not in ("1", "1.0", "True"))


def _item_weight(item: Item) -> int:
    match item:
        case Image():
            return sum(map(abs, item.mins)) + sum(item.extents) + (item.numbers is Numbers.WHOLE) + item.embedded
        case Scalar():
            return (item.value != 0) + (abs(item.value) > 1) + 3 * (item.range is not None)
        case Domain():
            return 3 * len(item.predicates)
        case Border():
            return 3 * (item.bounds is not None) + 5 * (item.kind != "repeat_edge")
        case Update():
            return 3 * (item.op != "=")
    return 0


# ---------------------------------------------------------------------------------------------------------
# Candidates, the boldest first.


def _smaller(case: Case) -> Iterator[Case]:
    for candidate in _candidates(case):
        yield replace(candidate, items=used_items(candidate), tags=())


def _candidates(case: Case) -> Iterator[Case]:
    yield from _fewer_directives(case)
    yield from _fewer_outputs(case)
    yield from _fewer_updates(case)
    yield from _other_outputs(case)
    yield from _smaller_windows(case)
    for i, item in enumerate(case.items):
        for changed in _smaller_items(item):
            yield replace(case, items=(*case.items[:i], changed, *case.items[i + 1 :]))
    for i, told in enumerate(case.directives):
        for simpler in _simpler_directives(told):
            yield replace(case, directives=(*case.directives[:i], simpler, *case.directives[i + 1 :]))


def _fewer_directives(case: Case) -> Iterator[Case]:
    count = len(case.directives)
    size = count
    while size:
        for at in range(0, count, size):
            yield replace(case, directives=case.directives[:at] + case.directives[at + size :])
        size //= 2


def _fewer_outputs(case: Case) -> Iterator[Case]:
    if len(case.outputs) > 1:
        for i in range(len(case.outputs)):
            outputs, windows = case.outputs[:i] + case.outputs[i + 1 :], case.windows[:i] + case.windows[i + 1 :]
            yield _pruned(replace(case, outputs=outputs, windows=windows))


def _other_outputs(case: Case) -> Iterator[Case]:
    """A producer as the only output, in a window of its own."""
    if len(case.outputs) == 1:
        for item in case.items:
            if isinstance(item, Definition) and item.name not in case.outputs:
                window = tuple((0, 4) for _ in item.args)
                changed = replace(case, outputs=(item.name,), windows=(window,))
                yield _pruned(changed)


_LAYOUTS = ("store_in", "reorder_storage", "align_storage", "bound_storage")


def _pruned(case: Case) -> Case:
    """Without directives that name Funcs that nothing needs any more."""
    items = used_items(replace(case, directives=()))
    names = {item.name for item in items}
    places = ("compute_root", "compute_at", "compute_inline", "store_at", "store_root", "fold_storage", *_LAYOUTS)
    kept = tuple(
        t
        for t in case.directives
        if t.func in names
        and all(getattr(a, "name", "") in names for a in t.args[:1] if t.method in ("compute_at", "store_at"))
        and not (t.func in case.outputs and t.method in places)
    )
    return replace(case, directives=kept)


def _fewer_updates(case: Case) -> Iterator[Case]:
    for i, item in enumerate(case.items):
        if isinstance(item, Update):
            stage = 1 + sum(isinstance(e, Update) and e.name == item.name for e in case.items[:i])
            told = tuple(
                replace(t, stage=t.stage - (t.stage > stage)) if t.func == item.name else t
                for t in case.directives
                if not (t.func == item.name and t.stage == stage)
            )
            yield replace(case, items=case.items[:i] + case.items[i + 1 :], directives=told)


def _smaller_windows(case: Case) -> Iterator[Case]:
    for i, window in enumerate(case.windows):
        for d, (low, extent) in enumerate(window):
            for change in ((0, extent), (low, 1), (low, extent // 2), (low, extent - 1)):
                if change[1] >= 0 and change != (low, extent):
                    changed = (*window[:d], change, *window[d + 1 :])
                    yield replace(case, windows=(*case.windows[:i], changed, *case.windows[i + 1 :]))


def _smaller_items(item: Item) -> Iterator[Item]:
    match item:
        case Image():
            yield replace(item, embedded=False)
            yield replace(item, numbers=Numbers.SMALL)
            yield replace(item, mins=(0,) * len(item.mins))
        case Scalar():
            yield replace(item, range=None)
            for value in (0, 1):
                yield replace(item, value=type(item.value)(value))
        case Domain():
            for i in range(len(item.predicates)):
                yield replace(item, predicates=item.predicates[:i] + item.predicates[i + 1 :])
            for i, (low, extent) in enumerate(item.bounds):
                for a, b in [(number(0, INT32), extent), *((low, number(n, INT32)) for n in (1, 2, 3))]:
                    yield replace(item, bounds=(*item.bounds[:i], (a, b), *item.bounds[i + 1 :]))
            for i, predicate in enumerate(item.predicates):
                for term in _simpler(predicate):
                    yield replace(item, predicates=(*item.predicates[:i], term, *item.predicates[i + 1 :]))
        case Border():
            yield replace(item, bounds=None)
            yield replace(item, kind="repeat_edge", exterior=None)
        case Definition():
            for term in _simpler(item.value):
                yield replace(item, value=term)
            yield from _simpler_more(item)
        case Update():
            yield replace(item, op="=")
            for term in _simpler(item.value):
                yield replace(item, value=term)
            yield from _simpler_more(item)
            for i, at in enumerate(item.point):
                for term in _simpler(at):
                    yield replace(item, point=(*item.point[:i], term, *item.point[i + 1 :]))


def _simpler_more(item: Definition | Update) -> Iterator[Item]:
    for i, value in enumerate(item.more):
        for term in _simpler(value):
            yield replace(item, more=(*item.more[:i], term, *item.more[i + 1 :]))


def _simpler(term: Term) -> Iterator[Term]:
    """The term with one of its nodes made simpler, the outermost first."""
    zero = number(0, term.type)
    if term.form is not Form.NUMBER:
        yield zero
        yield number(1, term.type)
        for part in term.parts:
            if part.type is term.type:
                yield part
        for part in term.parts:
            if part.type is not term.type and term.form not in (Form.CAST, Form.READ):
                yield cast(term.type, part)
        if term.form is Form.CAST and term.parts[0].form is Form.CAST:
            yield cast(term.type, term.parts[0].parts[0])
    elif term.text not in _ZEROS:
        yield zero
        yield number(1, term.type)
    for i, part in enumerate(() if term.text == PROMISE else term.parts):  # another number may break a promise
        for simpler in _simpler(part):
            yield term.with_part(i, simpler)


def _simpler_directives(told: Told) -> Iterator[Told]:
    if told.args and isinstance(told.args[-1], TailStrategy):
        yield replace(told, args=told.args[:-1])
    for i, arg in enumerate(told.args):
        if isinstance(arg, Term):
            for n in (1, 2, 3, 4):
                yield replace(told, args=(*told.args[:i], number(n, INT32), *told.args[i + 1 :]))
