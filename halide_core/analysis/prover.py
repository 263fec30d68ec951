"""Facts about index expressions at a place in a program, and a small prover on top of them.

In: lower and upper bounds of atoms (loop variables, lengths, guards). Out: ``proves_le(a, b)``: True is a proof,
False only says that none was found. Work is bounded by steps, never by time.

    facts.within(x, ZERO, n - 1).proves_le(x/8*8, n - 1)   ->   True
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from halide_core.analysis.interval import EVERYTHING, Range, of_integers, union
from halide_core.analysis.linear import Linear, Literal, atoms_of, difference, linear_of
from halide_core.analysis.refute import Model, ModelKind
from halide_core.ir import Binary, BinaryOp, BufferField, Cast, ExprNode, Field, IntImm, Select
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT64

_STEPS = 64
_DEPTH = 10
_RANGE_DEPTH = 4
_EXACT = 1 << 52
"""Floats hold every integer up to here."""
_LONGEST = 1 << 1000
"""Integers beyond this can't be added to what is infinite."""
_KINDS = tuple(ModelKind)


class _Proven:
    """The answers to questions, which are a form and all facts that a proof of it could use."""

    __slots__ = ("answers", "numbers", "plain")

    def __init__(self) -> None:
        self.answers: dict[tuple[object, ...], bool] = {}
        self.numbers: dict[tuple[object, ...], int] = {}
        """Numbers for lists of facts, by which they are compared."""
        self.plain: dict[ExprNode, ExprNode] = {}
        """Expressions as they are simplified by no facts; they rest on answers, and live as long."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reach:
    """The facts that a search may come to from an atom, by their number, and the atoms that these are about."""

    number: int
    atoms: set[ExprNode]


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """The bounds of an atom, by their number, and the atoms that these and it are made of."""

    number: int
    atoms: tuple[ExprNode, ...]


_shared: ContextVar[_Proven | None] = ContextVar("_shared", default=None)


@contextmanager
def shared_proofs() -> Iterator[None]:
    """Keeps the answers to questions for all Facts made inside: passes ask the same of the same places again.

    Not for longer: a search that gives up may depend on what was asked before it, and a compile must not depend on
    those before it.
    """
    token = _shared.set(_Proven())
    try:
        yield
    finally:
        _shared.reset(token)


class Facts:
    """Bounds on atoms, layered: a child sees its parent's facts and adds its own."""

    __slots__ = (
        "_about",
        "_answered",
        "_lower",
        "_near",
        "_near_above",
        "_parent",
        "_proofs",
        "_ranges",
        "_reaches",
        "_said",
        "_seen",
        "_simplified",
        "_simplified_above",
        "_upper",
        "_worlds",
    )

    def __init__(self, parent: Facts | None = None) -> None:
        self._parent = parent
        answered = parent._answered if parent is not None else _shared.get()
        self._answered: _Proven = _Proven() if answered is None else answered
        self._lower: dict[ExprNode, list[ExprNode]] = {}
        self._upper: dict[ExprNode, list[ExprNode]] = {}
        self._proofs: dict[tuple[object, ...], bool] = {}
        """By constant and terms: whether a form was proven not to be negative."""
        self._ranges: dict[ExprNode, Range] = {}  # of atoms; a fact learnt later by a parent could only narrow them
        self._said: list[tuple[ExprNode, ExprNode]] = []
        """The facts of this layer, as pairs of which the second is not below the first."""
        self._about: list[ExprNode] = []
        """The atoms that these are about."""
        self._worlds: list[Model | None] = [None] * len(_KINDS)
        """States in which facts hold, one of each kind."""
        self._seen = [(-1, 0)] * len(_KINDS)
        """Of how many facts each is: parents', and own."""
        self._reaches: dict[ExprNode, tuple[_Reach, int, int]] = {}
        """By atoms, with how many facts they are right for: parents', and own."""
        self._near: dict[ExprNode, _Near] = {}
        self._near_above = 0
        """Of how many facts of parents these are."""
        self._simplified: dict[ExprNode, ExprNode] = {}
        self._simplified_above = 0
        """Of how many facts of parents."""

    def assume_at_least(self, atom: ExprNode, bound: ExprNode) -> None:
        """From here on ``bound <= atom``."""
        self._lower.setdefault(atom, []).append(bound)
        self._said.append((bound, atom))
        self._about.append(atom)
        self._forget(atom)

    def assume_at_most(self, atom: ExprNode, bound: ExprNode) -> None:
        """From here on ``atom <= bound``."""
        self._upper.setdefault(atom, []).append(bound)
        self._said.append((atom, bound))
        self._about.append(atom)
        self._forget(atom)

    def said(self) -> list[tuple[ExprNode, ExprNode]]:
        """The facts of this layer alone, as pairs of which the second is not below the first."""
        return list(self._said)

    def simplified(self) -> dict[ExprNode, ExprNode]:
        """A memo for the expressions that are simplified by these facts, as they are now."""
        above = self._parent.count() if self._parent is not None else 0
        if self._simplified_above != above:
            self._simplified, self._simplified_above = {}, above
        return self._simplified

    def plain(self) -> dict[ExprNode, ExprNode]:
        """A memo for the expressions that are simplified by no facts, of all Facts that share their answers."""
        return self._answered.plain

    def _forget(self, atom: ExprNode) -> None:
        self._near.pop(atom, None)
        self._simplified = {}
        self._proofs.clear()
        self._ranges.clear()

    def assume_range(self, atom: ExprNode, low: ExprNode, high: ExprNode) -> None:
        """From here on ``low <= atom <= high``."""
        self.assume_at_least(atom, low)
        self.assume_at_most(atom, high)

    def bounds_of(self, atom: ExprNode) -> tuple[Sequence[ExprNode], Sequence[ExprNode]]:
        """Known lower and upper bounds of an atom, the nearest first."""
        lower: Sequence[ExprNode] = ()
        upper: Sequence[ExprNode] = ()
        layer: Facts | None = self
        while layer is not None:
            if layer._said:
                own = layer._lower.get(atom)
                if own is not None:
                    lower = [*lower, *own] if lower else own
                own = layer._upper.get(atom)
                if own is not None:
                    upper = [*upper, *own] if upper else own
            layer = layer._parent
        return lower, upper

    def proves_le(self, a: ExprNode, b: ExprNode) -> bool:
        """True where ``a <= b`` is certain."""
        return a is b or self.proves_nonnegative(difference(b, a))

    def proves_nonnegative(self, form: Linear) -> bool:
        """True where ``form >= 0`` is certain."""
        if not form.terms:
            return form.const >= 0
        key = (form.const, *form.terms.items())
        known = self._proofs.get(key)
        if known is None:
            known = self._proofs[key] = self._proven_above(key) or self._searched(form, key)
        return known

    def _searched(self, form: Linear, key: tuple[object, ...]) -> bool:
        """The answer of a search for a proof, unless it is known from a place where the same facts matter."""
        above = self._parent.count() if self._parent is not None else 0
        question = (*key, None, *[self._reach(atom, above).number for atom in form.terms])
        answers = self._answered.answers
        known = answers.get(question)
        if known is None:
            known = answers[question] = _ProofSearch(self).proves(form)
        return known

    def _reach(self, atom: ExprNode, above: int) -> _Reach:
        """The facts that a search may come to from an atom. ``above``: how many facts all parents have.

        New facts about atoms that it does not come to leave it as it is.
        """
        own = len(self._said)
        known = self._reaches.get(atom)
        found: _Reach | None = None
        if known is None or known[1] != above:
            found = self._reach_above(atom, above)
        elif known[2] == own:
            return known[0]
        elif known[0].atoms.isdisjoint(self._about[known[2] :]):
            found = known[0]
        if found is None:
            found = self._walked(atom, above)
        self._reaches[atom] = (found, above, own)
        return found

    def _reach_above(self, atom: ExprNode, above: int) -> _Reach | None:
        """The reach by parents' facts, where it comes to no atom that this layer knows more of."""
        parent = self._parent
        if parent is None:
            return None
        found = parent._reach(atom, above - len(parent._said))
        apart = self._lower.keys().isdisjoint(found.atoms) and self._upper.keys().isdisjoint(found.atoms)
        return found if apart else None

    def _walked(self, atom: ExprNode, above: int) -> _Reach:
        """Every fact that a search may come to from an atom, in the order in which they are met."""
        self._renew(above)
        near, around = self._near, self._around
        met = {atom}
        waiting = [atom]
        found: list[int] = []
        while waiting:
            atom = waiting.pop()
            known = near.get(atom) or around(atom)
            found.append(known.number)
            for other in known.atoms:
                if other not in met:
                    met.add(other)
                    waiting.append(other)
        numbers = self._answered.numbers
        return _Reach(numbers.setdefault(tuple(found), len(numbers)), met)

    def _renew(self, above: int) -> None:
        """Forgets what parents that know more by now had said of atoms."""
        layer: Facts | None = self
        while layer is not None:
            if layer._near_above != above:
                layer._near.clear()
                layer._near_above = above
            layer = layer._parent
            above -= len(layer._said) if layer is not None else 0

    def _around(self, atom: ExprNode) -> _Near:
        """All that is known of an atom alone."""
        known = self._near.get(atom)
        if known is None:
            parent = self._parent
            if parent is None or atom in self._lower or atom in self._upper:
                known = self._gathered(atom)
            else:
                known = parent._around(atom)
            self._near[atom] = known
        return known

    def _gathered(self, atom: ExprNode) -> _Near:
        lower, upper = self.bounds_of(atom)
        parts = (atom.a, atom.b, *lower, *upper) if isinstance(atom, Binary | Select) else (*lower, *upper)
        atoms = dict.fromkeys(other for part in parts for other in atoms_of(part))
        numbers = self._answered.numbers
        return _Near(numbers.setdefault((atom, *lower, None, *upper), len(numbers)), tuple(atoms))

    def _proven_above(self, key: tuple[object, ...]) -> bool:
        """True where a parent has a proof: its facts hold here too."""
        layer = self._parent
        while layer is not None:
            if layer._proofs.get(key):
                return True
            layer = layer._parent
        return False

    def _states(self) -> Iterator[Model]:
        """States in which all facts hold, those of parents among them: at most one of each kind.

        Each is brought up to date when it is asked for: most that is false is refuted by the first, or the second.
        """
        above = self._parent.count() if self._parent is not None else 0
        for number in range(len(_KINDS)):
            world = self._state(number, above)
            if world is not None:
                yield world

    def _state(self, number: int, above: int) -> Model | None:
        """The state of one kind: a parent's may do. None where none was found. ``above``: how many facts all parents
        have."""
        world = self._worlds[number]
        seen_above, seen = self._seen[number]
        if seen_above != above:
            parent = self._parent
            world = parent._state(number, above - len(parent._said)) if parent is not None else Model(_KINDS[number])
            seen = 0
        if seen != len(self._said):
            world = None if world is None else self._kept(world, self._said[seen:])
        self._worlds[number], self._seen[number] = world, (above, len(self._said))
        return world

    def count(self) -> int:
        """The number of facts, those of parents among them: it grows with each that is assumed."""
        count = 0
        layer: Facts | None = self
        while layer is not None:
            count += len(layer._said)
            layer = layer._parent
        return count

    def _kept(self, world: Model, new: list[tuple[ExprNode, ExprNode]]) -> Model | None:
        """A world, if new facts hold there too; else another that kinds the same way; None if that fails."""
        if all(world.keeps(least, most, self) for least, most in new):
            return world
        other = Model(world.kind)
        layer: Facts | None = self
        while layer is not None:
            if not all(other.keeps(least, most, self) for least, most in layer._said):
                return None
            layer = layer._parent
        return other

    def constant_range(self, e: ExprNode) -> Range:
        """Constant bounds of an int64 expression, without search."""
        return self.form_range(linear_of(e))

    def form_range(self, form: Linear) -> Range:
        """Constant bounds of a sum, without search."""
        if abs(form.const) > _LONGEST:
            return EVERYTHING
        low: float = form.const  # exact, as all finite ends are: a float of an int64 would be another number
        high: float = form.const
        for atom, c in form.terms.items():
            lo, hi = self._atom_range(atom, _RANGE_DEPTH)
            if c < 0:
                lo, hi = hi, lo
            low += c * lo
            high += c * hi
        return (low, high)

    def _atom_range(self, atom: ExprNode, depth: int) -> Range:
        known = self._ranges.get(atom)
        if known is None:
            known = self._compute_range(atom, depth)
            if depth >= _RANGE_DEPTH:
                self._ranges[atom] = known
        return known

    def _compute_range(self, atom: ExprNode, depth: int) -> Range:
        low, high = structural_range(atom, self, depth)
        lower, upper = self.bounds_of(atom)
        for bound in lower:
            if isinstance(bound, IntImm) and bound.value > low:
                low = bound.value
        for bound in upper:
            if isinstance(bound, IntImm) and bound.value < high:
                high = bound.value
        return (low, high)


def structural_range(atom: ExprNode, facts: Facts, depth: int = 4) -> Range:
    """Constant bounds that an atom's shape alone implies."""
    match atom:
        case IntImm(value=value):
            return (value, value)
        case BufferField(field=Field.EXTENT):
            return (0, (1 << 31) - 1)
        case BufferField():
            return (-(1 << 31), (1 << 31) - 1)
        case Cast(a=inner) if inner.type.is_integer() and atom.type is INT64 and inner.type.bits() < 64:
            return inner.type.range
        case Binary(op=BinaryOp.MOD, b=IntImm(value=k)) if k != 0:
            return (0, abs(k) - 1)
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b) if depth:
            return of_integers(op, _range(a, facts, depth - 1), _range(b, facts, depth - 1))
        case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0 and depth:
            return of_integers(BinaryOp.DIV, _range(a, facts, depth - 1), (k, k))
        case Binary(op=BinaryOp.DIV, a=a, b=b) if depth and (by := _range(b, facts, depth - 1))[0] >= 1:
            low, high = of_integers(BinaryOp.DIV, _range(a, facts, depth - 1), by)
            whole = low < 1 and _range_of(difference(a, b), facts, depth - 1)[0] >= 0
            return (1 if whole else low, high)
        case Select(a=a, b=b) if depth:
            return union(_range(a, facts, depth - 1), _range(b, facts, depth - 1))
    return EVERYTHING


def _range(e: ExprNode, facts: Facts, depth: int) -> Range:
    return _range_of(linear_of(e), facts, depth)


def _range_of(form: Linear, facts: Facts, depth: int) -> Range:
    low: float = form.const
    high: float = form.const
    for atom, c in form.terms.items():
        lo, hi = facts._atom_range(atom, depth)
        if c < 0:
            lo, hi = hi, lo
        low += c * lo
        high += c * hi
    return (low, high)


@remembered("_weight")
def _weight(e: ExprNode) -> int:
    """The depth of nested operators in an expression."""
    return 1 + max(_weight(e.a), _weight(e.b)) if isinstance(e, Binary | Select) else 0


def _quotients(atoms: Iterable[ExprNode]) -> Iterator[tuple[Binary, int]]:
    """Of some atoms, the quotients by positive numbers, each with that number."""
    for atom in atoms:
        match atom:
            case Binary(op=BinaryOp.DIV, b=IntImm(value=k)) if k > 0:
                yield atom, k


class _OutOfStepsError(Exception):
    """A search has taken all the steps that it may take."""


class _ProofSearch:
    """One bounded search for a proof that a form is not negative."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._states: list[Model] = []
        """States in which all facts hold, as far as they were asked for."""
        self._others = facts._states()
        """Those that were not."""
        self._steps = _STEPS
        self._failed: dict[tuple[object, ...], int] = {}
        """Forms that were not proven, and how deep the search for a proof was."""
        self._known: tuple[dict[ExprNode, list[Linear]], ...] = ({}, {})
        """The forms of the lower and the upper bounds of atoms, as far as they were asked for."""

    def proves(self, form: Linear) -> bool:
        """True where a proof was found within the steps."""
        try:
            return self.nonnegative(form, _DEPTH)
        except _OutOfStepsError:
            return False

    def nonnegative(self, form: Linear, depth: int) -> bool:
        """Replaces one atom at a time by something not above it, until a constant is left."""
        key = (form.const, frozenset(form.terms.items()))
        if self._failed.get(key, -1) >= depth:
            return False
        self._steps -= 1
        if self._steps < 0:
            raise _OutOfStepsError
        found = self._found(form, depth)
        if not found:
            self._failed[key] = depth
        return found

    def _is_refuted(self, form: Linear) -> bool:
        """True where a form is negative in a state in which all facts hold."""
        facts, states = self._facts, self._states
        for world in states:
            if world.value(form, facts) < 0:
                return True
        for world in self._others:
            states.append(world)
            if world.value(form, facts) < 0:
                return True
        return False

    def _found(self, form: Linear, depth: int) -> bool:
        if self._is_refuted(form):
            return False
        low: float = form.const
        ranges = self._facts._ranges
        for atom, c in form.terms.items():
            lo, hi = ranges.get(atom) or self._facts._atom_range(atom, _RANGE_DEPTH)
            low += c * (lo if c > 0 else hi)
        if low >= 0:
            return True
        if depth == 0:
            return False
        operators = [atom for atom in form.terms if isinstance(atom, Binary | Select)]
        if operators:
            if any(self.nonnegative(each, depth - 1) for each in self._cancelled(form, operators)):
                return True
            if any(self.nonnegative(each, depth - 1) for each in self._apart(form, operators, depth)):
                return True
            # The atom that holds most goes first: what comes out of it can still cancel against the others.
            operators.sort(key=_weight, reverse=True)
            return any(self._through_operator(form, atom, form.terms[atom], depth) for atom in operators)
        return self._through_facts(form, depth)

    def _cancelled(self, form: Linear, operators: Sequence[ExprNode]) -> Iterator[Linear]:
        """Forms that are not above, in which an operator atom is gone, as a bound of another atom has it too."""
        terms = form.terms
        for atom, c in terms.items():
            for bound in self._bounds(atom, c):
                other = bound.terms
                if other and any(c * other.get(each, 0) == -terms[each] for each in operators):
                    yield form.replacing(atom, bound)

    def _apart(self, form: Linear, operators: Sequence[ExprNode], depth: int) -> Iterator[Linear]:
        """Forms that are not above, without two quotients by one number: a/k - b/k is at least (a - b)/k."""
        for one, k in _quotients(operators):
            for other, same in _quotients(operators):
                c, d = form.terms[one], form.terms[other]
                if same != k or not c > 0 > d:
                    continue
                between = difference(one.a, other.a)
                low = self._facts.form_range(between)[0]
                if not -_EXACT <= low <= _EXACT:
                    if not self.nonnegative(between, depth - 1):
                        continue
                    low = 0
                both = min(c, -d)
                yield form.plus(Linear({one: 1, other: -1}, 0), -both).plus(Linear({}, int(low) // k), both)

    def _bounds(self, atom: ExprNode, c: int) -> list[Linear]:
        """The forms of the bounds by which an atom with a factor may be replaced."""
        known = self._known[c < 0]
        found = known.get(atom)
        if found is None:
            found = known[atom] = [linear_of(bound) for bound in self._facts.bounds_of(atom)[c < 0]]
        return found

    def _through_operator(self, form: Linear, atom: Binary | Select, c: int, depth: int) -> bool:
        """The proof by cases of one operator atom, or by what is known of it."""
        match atom:
            case Select(a=a, b=b):
                return self._all(form, atom, (a, b), depth)
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                # min is below either operand: as a positive term both must do, as a negative one either does.
                if (op is BinaryOp.MIN) == (c > 0):
                    return self._all(form, atom, (a, b), depth)
                return any(self.nonnegative(form.replacing(atom, linear_of(e)), depth - 1) for e in (a, b))
            case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0:
                # k·(a div k) lies in [a - k + 1, a].
                scaled = form.times(k // math.gcd(k, c))
                c = scaled.terms[atom]
                rest = scaled.plus(Linear({atom: 1}, 0), -c)
                worst = linear_of(a).plus(Linear({}, 1 - k)) if c > 0 else linear_of(a)
                return self.nonnegative(rest.plus(worst, c // k), depth - 1)
            case Binary(op=BinaryOp.MUL, a=Binary(op=BinaryOp.DIV, a=n, b=d), b=by) if by is d and self._is_positive(d):
                worst = linear_of(n).plus(linear_of(d), -1).plus(Linear({}, 1)) if c > 0 else linear_of(n)
                if self.nonnegative(form.replacing(atom, worst), depth - 1):  # n div d*d lies in [n - d + 1, n]
                    return True
        return self._through_facts(form, depth)

    def _is_positive(self, e: ExprNode) -> bool:
        return _range(e, self._facts, _RANGE_DEPTH)[0] >= 1

    def _all(self, form: Linear, atom: ExprNode, cases: tuple[ExprNode, ...], depth: int) -> bool:
        return all(self.nonnegative(form.replacing(atom, linear_of(e)), depth - 1) for e in cases)

    def _through_facts(self, form: Linear, depth: int) -> bool:
        """The proof by what is known of one atom: first by what cancels against the others."""
        terms = form.terms
        candidates: list[tuple[int, ExprNode, Linear]] = []
        for atom, c in terms.items():
            for bound in self._bounds(atom, c):
                if isinstance(bound, Literal) and len(terms) == 1:
                    continue
                shared = sum([1 for each in bound.terms if each in terms])
                candidates.append((-shared, atom, bound))
        candidates.sort(key=_rank)
        return any(self.nonnegative(form.replacing(atom, bound), depth - 1) for _, atom, bound in candidates)


def _rank(candidate: tuple[int, ExprNode, Linear]) -> int:
    return candidate[0]


def nothing_known() -> Facts:
    """No facts beyond what shapes imply."""
    return Facts()
