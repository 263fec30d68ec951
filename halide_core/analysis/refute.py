"""States in which some facts hold: what is negative in one of them can't be proven not to be.

In: lower and upper bounds of atoms. Out: a Model, which gives every int64 expression a value; None where the first try
breaks a fact. A search for a proof that has to fail is so seldom begun.

    x >= 0, x <= n - 1   ->   x = 0, n = 31   ->   no search can find that x - 1 is not negative

Nothing rests on a world: one that were wrong could only cost a proof.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from enum import Enum, auto
from threading import Lock
from typing import Protocol

from halide_core.analysis.linear import Linear
from halide_core.ir import Binary, BinaryOp, BufferField, Cast, ExprNode, Field, IntImm, Not, Select
from halide_core.ir.types import INT32, INT64
from halide_core.reference.scalar_ops import binary_function

_FUNCTIONS = {op: binary_function(op, INT64) for op in BinaryOp} | {
    BinaryOp.ADD: operator.add,  # indices never wrap
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
}

_NESTED = 32
"""Atoms whose bounds are being valued at one time: one further away is valued as if nothing were known of it."""

_FAR = 1 << 20
"""Further from zero a bound is one of a type: nothing interesting happens near it."""

_LONG = 1 << 1000
"""No operator's value is further from zero: those of squares of squares would have as many bits as these have factors.
A state that is not one refutes what could have been proven, and nothing else."""


class Known(Protocol):
    """Bounds on atoms."""

    def bounds_of(self, atom: ExprNode) -> tuple[Sequence[ExprNode], Sequence[ExprNode]]:
        """Bounds that the atom is not below, and bounds that it is not above."""
        ...


class Extreme(Enum):
    """The end of an atom's bounds whose value a model takes."""

    LEAST = auto()
    MOST = auto()
    ANY = auto()


class ModelKind(Enum):
    """Worlds that differ enough: where values lie, and how far from what bounds them."""

    LEAST = (Extreme.LEAST, 40)
    MOST = (Extreme.MOST, 40)
    MIXED = (Extreme.ANY, 40)
    NEAR = (Extreme.ANY, 5)
    BY = (Extreme.ANY, 12)
    FAR = (Extreme.ANY, 1 << 31)


_WORD = 32


class _RandomWords:
    """The random words that the states of one kind begin with, drawn once for all of them: to seed a generator takes
    longer than what most states draw of it. They are as many as the longest of these states drew."""

    def __init__(self, kind: ModelKind) -> None:
        self._random = random.Random(kind.name)
        self._known: list[int] = []
        self._lock = Lock()

    def at(self, place: int) -> int:
        """The word at a place."""
        while place >= len(self._known):
            with self._lock:
                self._known.append(self._random.getrandbits(_WORD))
        return self._known[place]


_WORDS = {kind: _RandomWords(kind) for kind in ModelKind}


class Model:
    """A state, found as it is asked about: an atom gets its value when an expression first needs it."""

    __slots__ = ("_drawn", "_open", "_span", "_values", "_where", "_words", "kind")

    def __init__(self, kind: ModelKind) -> None:
        self.kind = kind
        self._where, self._span = kind.value
        self._words = _WORDS[kind]
        self._drawn = 0
        """The words that were drawn."""
        self._values: dict[ExprNode, int] = {}
        self._open: set[ExprNode] = set()
        """The atoms whose bounds are being valued: a bound that leads back to one says nothing yet."""

    def value(self, form: Linear, known: Known) -> int:
        """The value of a form. New atoms are given values within their bounds."""
        total, values = form.const, self._values
        for atom, c in form.terms.items():
            value = values.get(atom)
            total += c * (self._value(atom, known) if value is None else value)
        return total

    def keeps(self, least: ExprNode, most: ExprNode, known: Known) -> bool:
        """True where ``least <= most``."""
        return self._value(least, known) <= self._value(most, known)

    def _value(self, e: ExprNode, known: Known) -> int:
        if isinstance(e, IntImm):
            return e.value
        value = self._values.get(e)
        if value is None:
            value = self._operator(e, known)
            if value is None:
                value = self._atom(e, known)
            self._values[e] = value
        return value

    def _operator(self, e: ExprNode, known: Known) -> int | None:
        """The value of an operator on int64 and truth values; None for all else."""
        if isinstance(e, Binary):
            a = e.a
            if a.type is not INT64 and not a.type.is_bool():
                return None
            value = int(_FUNCTIONS[e.op](self._value(a, known), self._value(e.b, known)))
            return value if -_LONG <= value <= _LONG else -_LONG if value < 0 else _LONG
        if isinstance(e, Select):
            return self._value(e.a if self._value(e.condition, known) else e.b, known)
        return 1 - self._value(e.a, known) if isinstance(e, Not) else None

    def _atom(self, e: ExprNode, known: Known) -> int:
        if e in self._open or len(self._open) >= _NESTED:
            raise _CircleError
        self._open.add(e)
        low, high = _range_of(e)
        lower, upper = known.bounds_of(e)
        for bound in lower:
            value = self._of_bound(bound, known)
            if value is not None and (low is None or value > low):
                low = value
        for bound in upper:
            value = self._of_bound(bound, known)
            if value is not None and (high is None or value < high):
                high = value
        self._open.discard(e)
        return self._between(e, low, high)

    def _of_bound(self, bound: ExprNode, known: Known) -> int | None:
        """The value of a bound; None where that hangs on the atom that it is of."""
        try:
            return self._value(bound, known)
        except _CircleError:
            return None

    def _draw(self, low: int, high: int) -> int:
        """A number of its kind's, the same in every run: as ``random.randint`` makes them."""
        count = high - low + 1
        assert count > 0, "there is such a number"
        bits = count.bit_length()
        while (found := self._bits(bits)) >= count:
            pass
        return low + found

    def _bits(self, count: int) -> int:
        """A number of so many random bits."""
        words, found, place = self._words, 0, 0
        while place < count:
            left = min(count - place, _WORD)
            found |= words.at(self._drawn) >> (_WORD - left) << place
            self._drawn += 1
            place += _WORD
        return found

    def _between(self, e: ExprNode, low: int | None, high: int | None) -> int:
        """A value in a range. Atoms without bounds are worth different things: equal ones would hide much."""
        where, span, draw = self._where, self._span, self._draw
        least = None if low is None or low < -_FAR else low
        most = None if high is None or high > _FAR else high
        if least is None:
            least = (0 if most is None else most) - draw(0, span)
        if most is None:
            most = least + draw(0, 2 * span)
        if isinstance(e, BufferField) and e.field is Field.EXTENT and where is not Extreme.LEAST:
            wished = draw(1, span)  # of an empty buffer little is true
        elif where is Extreme.ANY:
            wished = draw(least, max(least, min(most, least + span)))
        else:
            wished = least if where is Extreme.LEAST else most
        if high is not None:
            wished = min(wished, high)
        return wished if low is None else max(wished, low)


def _range_of(e: ExprNode) -> tuple[int | None, int | None]:
    """The values that an atom can have at all, as far as its type says."""
    match e:
        case BufferField(field=Field.EXTENT):
            return (0, INT32.range[1])
        case BufferField():
            return INT32.range
        case Cast(a=inner) if inner.type.is_integer() and inner.type.bits() < 64:
            return inner.type.range
    return (0, 1) if e.type.is_bool() else (None, None)


class _CircleError(Exception):
    """The value of an atom hangs on itself, or on too many others."""
