"""Stages and Funcs of a case about which a directive may be: integer reductions, Funcs with loops of their own.

In: a case. Out: the names and numbers that a generator of a family chooses from.
"""

from __future__ import annotations

from tests.campaigns.fuzz.case import (
    Case,
    Consumer,
    Definition,
    Domain,
    Given,
    Loop,
    Told,
    Update,
)
from tests.campaigns.fuzz.terms import Form, Term

_LETTERS = "xyzw"
_OPERATORS = ("+", "*", "&", "|", "^")


def reductions(case: Case) -> list[tuple[str, int, Domain]]:
    """The stages that reduce by an operator that is known to be associative, over integers; Tuples by components."""
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    funcs = [item for item in case.items if isinstance(item, Definition)]
    exact = {f.name: all(not v.type.is_float() for v in f.terms()) for f in funcs}
    stages: dict[str, int] = {}
    found = []
    for item in case.items:
        if isinstance(item, Update):
            stages[item.name] = stages.get(item.name, 0) + 1
            domain = domains.get(item.domain)
            if domain is not None and exact.get(item.name, False) and _reduces(item, domain):
                found.append((item.name, stages[item.name], domain))
    return found


def _reduces(update: Update, domain: Domain) -> bool:
    def reads(term: Term) -> bool:
        return any(node.form is Form.READ and node.text == update.name for node in term)

    if any(map(reads, (*update.point, *domain.predicates))):
        return False
    if update.op in ("+=", "-=", "*="):
        return not any(map(reads, (update.value, *update.more)))
    if update.more:
        return False
    value = update.value
    operator = (value.form is Form.INFIX and value.text in _OPERATORS) or value.text in ("min", "max")
    if update.op != "=" or not operator or len(value.parts) != 2:
        return False
    own, new = value.parts
    return own.form is Form.READ and own.text == update.name and own.parts == update.point and not reads(new)


def names_its_loops(case: Case, func: str, stage: int) -> bool:
    """True where a directive is about loops of a stage: those that it names would be gone."""
    reduced = set().union(*(reduction_loops(case, func, s) for s in range(1, len(case.items) + 1)))
    inside = ("compute_at", "store_at")
    return any(
        ((t.func, t.stage) == (func, stage) and t.method != "unscheduled")
        or (t.method in inside and t.args[0] == Consumer(func) and t.args[1] in reduced)
        for t in case.directives
    )


def reduction_loops(case: Case, func: str, stage: int) -> set[Given]:
    """The loops of a stage that its domain makes, and what directives make of them."""
    updates = [item for item in case.items if isinstance(item, Update) and item.name == func]
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    domain = domains.get(updates[stage - 1].domain) if 0 < stage <= len(updates) else None
    found: set[Given] = set()
    if domain is not None:
        found.update(Loop(f"{domain.name}.{_LETTERS[i]}") for i in range(len(domain.bounds)))
        for told in case.directives:
            if (told.func, told.stage) == (func, stage) and not found.isdisjoint(told.args):
                found.update(a for a in told.args if isinstance(a, Loop))
    return found


def placed_funcs(case: Case) -> list[str]:
    """The Funcs that surely have loops of their own."""
    return [*case.outputs, *(t.func for t in case.directives if t.method in ("compute_root", "compute_at"))]


def with_told(case: Case, told: Told) -> Case:
    """The case with one more directive, after all others."""
    return Case(case.seed, case.items, case.outputs, case.windows, (*case.directives, told), case.tags)
