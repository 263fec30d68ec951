"""Proofs of claims without a solver: by cases, and by what is known of single atoms.

In: Claims. Out: whether each was proven, within a number of steps. True is a proof; False only says that none was
found.

    y >= m + 1, y - 1 <= p <= y + 1, p < select(y <= m, y - 1, y + 1)   ⇒   y - 2 <= p <= y
    case y <= m:  against y >= m + 1;   case p < y + 1:  p - (y - 2) >= 1, y - p >= 0

A claim is proven by refuting the opposite: what it rests on, and that it does not hold, are taken apart until only
comparisons of linear forms are left, and each case must contradict itself (a tableau). Choices, and the lesser or
greater of two, are cases of the comparison that they stand in. It shares the claims with the certificate
(``bounds.verify.program``), and with what decides the steps that they are about only the arithmetic of
``halide_core.analysis``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import gcd

from halide_core import ir
from halide_core.analysis.index import exact_index
from halide_core.analysis.infeasible import contradict
from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.bounds.verify.vc import Claim, Context
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Not, Select
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import BOOL
from halide_core.ir.visitor import Closing, subexpressions, substitute

_STEPS = 150
"""Formulas that are taken apart for one claim."""

_WORK = 8000
"""Work allowed for one claim, or for one context. The cases of a formula may double with each of its parts."""

_ALTERNATIVES = 64
"""Cases of a formula by its connectives for which sums of comparisons are looked at."""

_APART = 1
"""So many atoms of a sum are taken apart."""

_DISTANCE = 3
"""So far from a formula are the comparisons that sums are made of: some share an atom with it, others with these, …"""

_FORMS_SEARCHED = 4
"""A search among so many forms is as much work as taking in one formula."""

Case = tuple[ExprNode, ...]
"""Formulas that hold together."""

Cases = tuple[Case, ...]
"""A disjunction of cases that a formula expands to. Just the formula itself: it is not made of others."""

_Terms = frozenset[tuple[ExprNode, int]]

_MIRRORED = {BinaryOp.LT: BinaryOp.LE, BinaryOp.LE: BinaryOp.LT}


class CaseProver:
    """Proves claims one after the other; what contexts share is taken in once, and what is claimed again is known.
    ``searches``: where a case stays open, whether all that follows from what is known is looked at. ``share``: by what
    the work allowed for a claim is divided."""

    def __init__(self, *, searches: bool = True, share: int = 1) -> None:
        self._searches = searches
        self._share = share
        self.gave_up = False
        """True where the last claim has more cases than are looked at."""
        self._places: dict[Context, _KnownAt] = {}
        self._proven: dict[tuple[Context, ExprNode], bool | None] = {}
        """Verdicts on claims; None of one that was given up."""

    def proves(self, claim: Claim) -> bool:
        """True where the conclusion follows from the context."""
        found: bool | None = False
        for context in (claim.near, claim.context):
            if context is not None and not found:
                key = (context, claim.conclusion)
                if key not in self._proven:
                    self._proven[key] = self._decided(*key)
                found = self._proven[key]
        self.gave_up = found is None
        return bool(found)

    def _decided(self, context: Context, conclusion: ExprNode) -> bool | None:
        """The same; None where there are too many cases. What formulas say by themselves is mostly enough: only where
        it is not, each is compared with all that follows from what is known."""
        if conclusion is ir.TRUE:
            return True
        place = self._place(context)
        if place.impossible:
            return True
        wanted = Not(BOOL, place.closed(conclusion))
        quick = _Tableau(searches=False, share=self._share)
        if place.state.refutes_sums(wanted) or quick.closes(place.state.below(), [wanted]):
            return True
        if not self._searches:
            return None if quick.budget.is_spent() else False
        tableau = _Tableau(searches=True, share=self._share)
        if tableau.closes(place.state.below(), [wanted]):
            return True
        return None if tableau.budget.is_spent() else False

    def _place(self, context: Context) -> _KnownAt:
        nodes: list[Context] = []
        at: Context | None = context
        while at is not None and at not in self._places:
            nodes.append(at)
            at = at.parent
        place = _KnownAt.top() if at is None else self._places[at]
        if nodes:
            place = self._places[context] = place.below(nodes[::-1])
        return place


class _KnownAt:
    """Knowledge in a context, in terms of what has no definition in it."""

    def __init__(self, values: Mapping[ExprNode, ExprNode], state: _State, *, impossible: bool = False) -> None:
        self._values = values
        self._closing = Closing(values)
        self.state = state
        self.impossible = impossible

    def closed(self, e: ExprNode) -> ExprNode:
        """A condition in terms of what has no definition: quotients of one thing have one form."""
        closed = self._closing.expr(e)
        divides = any(isinstance(part, Binary) and part.op is BinaryOp.DIV for part in subexpressions([closed]))
        return simplify(closed) if divides else closed

    @staticmethod
    def top() -> _KnownAt:
        """Nothing is known."""
        return _KnownAt({}, _State(Facts(), frozenset(), {}, ()))

    def below(self, nodes: Sequence[Context]) -> _KnownAt:
        """A place further in."""
        values = dict(self._values)
        values.update({node.variable: node.fact for node in nodes if node.variable is not None})
        place = _KnownAt(values, self.state.below(), impossible=self.impossible)
        facts = [place.closed(node.fact) for node in nodes if node.variable is None]
        place.impossible |= place.state.takes(facts, _Budget(), searches=False)  # it mostly has a state
        return place


class _Budget:
    """The work left for a claim or a context. Where it is spent, less is known, and no more is claimed."""

    def __init__(self, share: int = 1) -> None:
        self.steps = _STEPS // share
        self.work = _WORK // share

    def is_spent(self) -> bool:
        """True where something was left out."""
        return self.steps < 0 or self.work < 0


class _State:
    """The hypotheses of a case: linear facts, conditions that are no comparisons, and formulas whose cases are open."""

    def __init__(
        self, facts: Facts, said: frozenset[ExprNode], forms: Mapping[_Terms, Linear], open: tuple[Cases, ...]
    ) -> None:
        self.facts = facts
        self._said = said
        self._forms = dict(forms)
        """By their terms the linear forms that are not negative, with the least constant that is known."""
        self.open = open

    def below(self) -> _State:
        """A state to add to."""
        return _State(Facts(self.facts), self._said, self._forms, self.open)

    def apart(self, at: int) -> _State:
        """The state for one case of an open formula."""
        return _State(Facts(self.facts), self._said, self._forms, self.open[:at] + self.open[at + 1 :])

    def takes(self, formulas: Sequence[ExprNode], budget: _Budget, *, searches: bool) -> bool:
        """Takes formulas in, the first one first; whether they contradict what was said, or what a search finds."""
        waiting = list(reversed(formulas))
        while waiting:
            formula = waiting.pop()
            said = _comparison(formula)
            budget.work -= 1 + (0 if said is None else len(said.form.terms))
            budget.work -= len(self._forms) // _FORMS_SEARCHED if searches else 0
            if budget.work < 0:
                return False
            if self._contradicts(formula, said) or (searches and said is not None and self._disproves(said.form)):
                return True
            cases = _cases(formula, said)
            if not cases:
                return True
            if said is not None:
                self._learns(said)
            elif cases == ((formula,),):
                self._said |= {formula}
            if len(cases) > 1:
                self.open = (*self.open, cases)
            elif cases[0] != (formula,):
                waiting += reversed(cases[0])
        return False

    def is_impossible(self) -> bool:
        """True where the comparisons that were taken in contradict each other, those that have cases left out."""
        forms = [form for form in self._forms.values() if not any(map(_inside, form.terms))]
        atoms = dict.fromkeys(atom for form in forms for atom in form.terms)
        return contradict([*forms, *(end for atom in atoms for end in _quotient(atom))])

    def refutes_sums(self, formula: ExprNode) -> bool:
        """True where sums of comparisons contradict each case of a formula. Choices, and the lesser or greater of two,
        are numbers like any other in them: what a tile reads is mostly as far from its beginning as where it was
        computed, wherever the tile begins."""
        cases = list(islice(_alternatives((formula,)), _ALTERNATIVES + 1))
        return len(cases) <= _ALTERNATIVES and all(map(self._contradicts_sums, cases))

    def _contradicts_sums(self, case: Sequence[Linear]) -> bool:
        """True where forms contradict those that have atoms in common with them, those that have some in common with
        these, and so on, as far as sums of so many are made."""
        forms = list(case)
        for _ in range(_DISTANCE):
            atoms = dict.fromkeys(atom for form in forms for atom in form.terms)
            near = (form for form in self._forms.values() if not atoms.keys().isdisjoint(form.terms))
            forms = [*case, *near, *(end for atom in atoms for end in (*_quotient(atom), *_ends(atom)))]
            if contradict(forms):
                return True
        return _contradict_apart(forms, _APART)

    def refutes(self, formula: ExprNode) -> bool:
        """True where a comparison, or a condition that is none, contradicts what was said."""
        return formula is ir.FALSE or self._contradicts(formula, _comparison(formula))

    def _contradicts(self, formula: ExprNode, said: _Comparison | None) -> bool:
        if said is None:
            return _opposite(formula) in self._said
        other = self._forms.get(said.opposite)
        return said.form.const + other.const < 0 if other is not None else not said.terms and said.form.const < 0

    def _disproves(self, form: Linear) -> bool:
        return self.facts.proves_nonnegative(form.times(-1).plus(Linear({}, -1)))

    def _learns(self, said: _Comparison) -> None:
        form = said.form
        known = self._forms.get(said.terms)
        if known is None or form.const < known.const:
            self._forms[said.terms] = form
        divisor = gcd(*form.terms.values())
        for atom, c in form.terms.items():
            if abs(c) == divisor:  # the others are multiples, and a constant is rounded to one
                terms = {a: k // divisor for a, k in form.terms.items() if a is not atom}
                rest = Linear(terms, form.const // divisor)
                if c > 0:
                    self.facts.assume_at_least(atom, to_expr(rest.times(-1)))
                else:
                    self.facts.assume_at_most(atom, to_expr(rest))


class _Tableau:
    """One search for a contradiction."""

    def __init__(self, *, searches: bool, share: int) -> None:
        self.budget = _Budget(share)
        self._searches = searches
        """True where a search for a proof of its opposite is made for each formula."""

    def closes(self, state: _State, formulas: Sequence[ExprNode]) -> bool:
        """True where formulas contradict a state, in each of its cases."""
        while not state.takes(formulas, self.budget, searches=self._searches):
            self.budget.steps -= 1
            found = _next(state)
            if found is None or self.budget.is_spent():
                return state.is_impossible()
            at, live = found
            if len(live) > 1:
                return all(self.closes(state.apart(at), case) for case in live)
            if not live:
                return True
            state, formulas = state.apart(at), live[0]
        return True


def _next(state: _State) -> tuple[int, Cases] | None:
    """The open formula to take apart: the last one that has one case left, or else the last one of all; and its cases
    that are not refuted at once."""
    chosen: tuple[int, Cases] | None = None
    for at in reversed(range(len(state.open))):
        live = tuple([case for case in state.open[at] if not any(map(state.refutes, case))])
        if len(live) < 2:
            return at, live
        chosen = chosen or (at, live)
    return chosen


def _alternatives(formulas: Sequence[ExprNode]) -> Iterator[tuple[Linear, ...]]:
    """The cases of formulas by their connectives: the forms of the comparisons of each. What is no comparison says
    nothing."""
    forms: list[Linear] = []
    waiting = list(formulas)
    while waiting:
        formula = waiting.pop()
        said = _comparison(formula)
        cases = ((),) if said is not None else _connected(formula)
        if said is not None:
            forms.append(said.form)
        if len(cases) != 1:
            for case in cases:
                yield from ((*forms, *more) for more in _alternatives((*waiting, *case)))
            return
        if cases != ((formula,),):
            waiting += cases[0]
    yield tuple(forms)


def _contradict_apart(forms: Sequence[Linear], depth: int) -> bool:
    """True where forms contradict each other whichever of the two an atom is that is the lesser or greater one."""
    atoms = dict.fromkeys(atom for form in forms for atom in form.terms) if depth else {}
    for ends in map(_ends, atoms):
        cases = [[*forms, end.times(-1)] for end in ends]
        if cases and all(contradict(case) or _contradict_apart(case, depth - 1) for case in cases):
            return True
    return False


def _ends(atom: ExprNode) -> tuple[Linear, ...]:
    """Non-negative forms about the lesser or greater of two: how far the two are from it."""
    match atom:
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
            sign = 1 if op is BinaryOp.MIN else -1
            return tuple(linear_of(e).plus(Linear({atom: 1}, 0), -1).times(sign) for e in (a, b))
    return ()


def _quotient(atom: ExprNode) -> tuple[Linear, ...]:
    """Non-negative forms about a quotient: k·(a/k) is in [a - k + 1, a]."""
    match atom:
        case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0:
            rest = linear_of(a).plus(Linear({atom: 1}, 0), -k)
            return (rest, rest.times(-1).plus(Linear({}, k - 1)))
    return ()


def _inside(atom: ExprNode) -> Binary | Select | None:
    """Some choice, or the lesser or greater of two, that an atom is made of, or is: an innermost one."""
    return _innermost(atom) if isinstance(atom, Binary | Select) else None


@remembered("_case")
def _innermost(atom: Binary | Select) -> Binary | Select | None:
    for e in subexpressions([atom]):
        if isinstance(e, Select) or (isinstance(e, Binary) and e.op in (BinaryOp.MIN, BinaryOp.MAX)):
            return e
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """A linear form that a comparison says is not negative; its terms, and those of its opposite."""

    form: Linear
    terms: _Terms
    opposite: _Terms


def _comparison(e: ExprNode) -> _Comparison | None:
    """The form of a comparison of integers; None for what is none."""
    return _compared(e) if isinstance(e, Binary) and e.op in _MIRRORED else None


@remembered("_comparison")
def _compared(e: Binary) -> _Comparison | None:
    a, b = exact_index(e.a), exact_index(e.b)
    if a is None or b is None:
        return None
    form = difference(b, a)
    if e.op is BinaryOp.LT:
        form = form.plus(Linear({}, -1))
    terms = form.terms.items()
    return _Comparison(form, frozenset(terms), frozenset([(atom, -c) for atom, c in terms]))


def _opposite(e: ExprNode) -> ExprNode:
    """The negation of a condition."""
    match e:
        case Not(a=a):
            return a
        case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b) if a.type.is_integer():
            return Binary(BOOL, _MIRRORED[op], b, a)
    return Not(BOOL, e)


def _cases(e: ExprNode, said: _Comparison | None) -> Cases:
    """The cases of a formula; of a comparison, those of its form."""
    if said is None:
        return _connected(e)
    found = _of_comparison(e)
    return ((e,),) if found is None else found


def _connected(e: ExprNode) -> Cases:
    """The cases of what is made of conditions."""
    if e is ir.TRUE:
        return ((),)
    if e is ir.FALSE:
        return ()
    match e:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return ((a, b),)
        case Binary(op=BinaryOp.OR, a=a, b=b):
            return _connected(a) + _connected(b)
        case Binary(op=BinaryOp.EQ, a=a, b=b) if a.type.is_integer():
            return ((ir.less_equal(a, b), ir.less_equal(b, a)),)
        case Binary(op=BinaryOp.NE, a=a, b=b) if a.type.is_integer():
            return ((ir.less(a, b),), (ir.less(b, a),))
        case Select(condition=condition, a=a, b=b):
            return ((condition, a), (Not(BOOL, condition), b))
        case Not(a=a):
            return _connected_otherwise(a)
    return ((e,),)


def _connected_otherwise(e: ExprNode) -> Cases:
    """The cases of where a condition does not hold."""
    if e is ir.TRUE or e is ir.FALSE:
        return () if e is ir.TRUE else ((),)
    match e:
        case Not(a=a):
            return _connected(a)
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return _connected_otherwise(a) + _connected_otherwise(b)
        case Binary(op=BinaryOp.OR, a=a, b=b):
            return ((Not(BOOL, a), Not(BOOL, b)),)
        case Select(condition=condition, a=a, b=b):
            return ((condition, Not(BOOL, a)), (Not(BOOL, condition), Not(BOOL, b)))
        case Binary(op=BinaryOp.EQ | BinaryOp.NE as op, a=a, b=b) if a.type.is_integer():
            return _connected(Binary(BOOL, BinaryOp.NE if op is BinaryOp.EQ else BinaryOp.EQ, a, b))
    return ((_opposite(e),),)


@remembered("_cases")
def _of_comparison(e: ExprNode) -> Cases | None:
    """The cases of a comparison whose form has a choice, or the lesser or greater of two; None for one that has none:
    it is not made of others."""
    said = _comparison(e)
    assert said is not None
    form = said.form
    for atom, c in form.terms.items():
        match atom:
            case Select(condition=condition, a=a, b=b):
                one, other = _with(form, atom, a), _with(form, atom, b)
                return ((condition, one), (Not(BOOL, condition), other))
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX, a=a, b=b):
                one, other = _with(form, atom, a), _with(form, atom, b)
                return ((one, other),) if (atom.op is BinaryOp.MIN) == (c > 0) else ((one,), (other,))
    inner = next((part for atom in form.terms if (part := _inside(atom)) is not None), None)
    return None if inner is None else _cases_inside(e, inner)


def _cases_inside(e: ExprNode, inner: Binary | Select) -> Cases:
    """The cases of a comparison by those of a part of it, wherever it stands: in a quotient, a product."""
    one, other = (simplify(substitute(e, {inner: end})) for end in (inner.a, inner.b))
    if isinstance(inner, Select):
        return ((inner.condition, one), (Not(BOOL, inner.condition), other))
    least, most = (one, other) if inner.op is BinaryOp.MIN else (other, one)
    return ((ir.less_equal(inner.a, inner.b), least), (ir.less(inner.b, inner.a), most))


def _with(form: Linear, atom: ExprNode, value: ExprNode) -> ExprNode:
    """The comparison with a value in place of an atom."""
    return ir.less_equal(ir.ZERO, to_expr(form.replacing(atom, linear_of(value))))
