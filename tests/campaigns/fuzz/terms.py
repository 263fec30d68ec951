"""Expressions as data: trees that render as Python source over the public interface.

In: a form, a text, parts, a type. Out: source text.

    infix("+", name("x", INT32), number(1, INT32))   ->   x + 1

Every term knows the type that its source has, so that one can stand for another wherever the types agree: that is all
that drawing and shrinking need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from halide_core.ir.types import BOOL, INT32, Type

INEXACT_OF_ONE = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
INEXACT_OF_TWO = ("atan2", "power")
INEXACT = frozenset((*INEXACT_OF_ONE, *INEXACT_OF_TWO))
"""Functions whose compiled results may differ in the last bits: only the outermost of an output's value."""


class Form(Enum):
    """The syntactic form of a term."""

    NUMBER = "number"
    NAME = "name"
    READ = "read"
    INFIX = "infix"
    PREFIX = "prefix"
    CALL = "call"
    CAST = "cast"
    REDUCTION = "reduction"


@dataclass(frozen=True, slots=True)
class Term:
    """One node. ``text`` is the literal, name, operator or function; of a READ, what is read; of a REDUCTION the
    function, and ``over`` its RDom. ``of`` is the item that a NAME belongs to: the RDom of a variable, the input of a
    field, the Param itself."""

    type: Type
    form: Form
    text: str
    parts: tuple[Term, ...] = ()
    over: str = ""
    of: str = ""
    component: int = -1
    """The component of a Tuple, where a READ or a REDUCTION gives one."""

    def __iter__(self) -> Iterator[Term]:
        """The term and everything in it."""
        yield self
        for part in self.parts:
            yield from part

    @property
    def owner(self) -> str:
        """The item that the node names, if it names one: the input of a field, the RDom of its variable."""
        if self.form is Form.READ:
            return self.text
        return self.of if self.form is Form.NAME else ""

    def size(self) -> int:
        """The number of nodes."""
        return 1 + sum(part.size() for part in self.parts)

    def with_part(self, at: int, part: Term) -> Term:
        """The term with another part."""
        return replace(self, parts=(*self.parts[:at], part, *self.parts[at + 1 :]))

    def rewritten(self, change: Callable[[Term], Term]) -> Term:
        """The term with ``change`` applied to every node, parts first."""
        parts = tuple(part.rewritten(change) for part in self.parts)
        return change(self if parts == self.parts else replace(self, parts=parts))


def type_source(type: Type) -> str:
    """A type as source: ``hl.UInt(8)``."""
    if type.is_bool():
        return "hl.Bool()"
    kind = "Float" if type.is_float() else "Int" if type.is_int() else "UInt"
    return f"hl.{kind}({type.bits()})"


# ---------------------------------------------------------------------------------------------------------
# Making terms.


def number(value: float, type: Type) -> Term:
    """A literal; an integer must be a value of the type."""
    if type.is_float():
        text = repr(float(value)) if math.isfinite(value) else f'float("{value}")'
    else:
        text = str(bool(value)) if type.is_bool() else str(int(value))
    return Term(type, Form.NUMBER, text)


def name(text: str, type: Type = INT32, *, of: str = "") -> Term:
    """A pure variable; or, of an item, a reduction variable, a Param or a field of an input."""
    return Term(type, Form.NAME, text, (), "", of)


def read(source: str, type: Type, *args: Term, component: int = -1) -> Term:
    """A Func or an input at a point, or one of its values there."""
    return Term(type, Form.READ, source, args, component=component)


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def infix(op: str, a: Term, b: Term, type: Type | None = None) -> Term:
    """``a op b``. ``type`` is that of the result where it is not the operands' own, or bool for a comparison."""
    result = BOOL if op in _COMPARISONS else type or a.type
    return Term(result, Form.INFIX, op, (a, b))


def shift(op: str, a: Term, count: Term) -> Term:
    """``a << count`` or ``a >> count``: as signed as ``a``, and as wide as the wider of the two."""
    wide = count.type.bits() > a.type.bits()
    return infix(op, a, count, a.type.with_bits(count.type.bits()) if wide else a.type)


def prefix(op: str, a: Term) -> Term:
    """``-a`` or ``~a``."""
    return Term(a.type, Form.PREFIX, op, (a,))


def call(function: str, type: Type, *args: Term) -> Term:
    """``hl.function(args)``."""
    return Term(type, Form.CALL, function, args)


def cast(type: Type, a: Term) -> Term:
    """``hl.cast(type, a)``; nothing where it is of the type already."""
    return a if a.type is type else Term(type, Form.CAST, "cast", (a,))


def saturated(type: Type, a: Term) -> Term:
    """``hl.saturating_cast(type, a)``."""
    return Term(type, Form.CAST, "saturating_cast", (a,))


def reinterpreted(type: Type, a: Term) -> Term:
    """``hl.reinterpret(type, a)``."""
    return Term(type, Form.CAST, "reinterpret", (a,))


def undefined(type: Type) -> Term:
    """``hl.undef(type)``."""
    return name(f"hl.undef({type_source(type)})", type)


def reduction(function: str, over: str, value: Term) -> Term:
    """``hl.sum(r, value)`` and its like."""
    return Term(value.type, Form.REDUCTION, function, (value,), over)


def located(function: str, over: str, rank: int, value: Term, component: int) -> Term:
    """One value of ``hl.argmin(r, value)`` or ``hl.argmax``: a coordinate of the RDom's ``rank``, or the value."""
    type = INT32 if component < rank else value.type
    return Term(type, Form.REDUCTION, function, (value,), over, component=component)


# ---------------------------------------------------------------------------------------------------------
# Source.


def source(term: Term) -> str:
    """The term as source. Its value is an Expr, or a Python number where it is an int32 literal."""
    match term.form:
        case Form.NUMBER:
            return term.text if term.type is INT32 else f"hl.cast({type_source(term.type)}, {term.text})"
        case Form.NAME:
            return term.text
        case Form.READ:
            return f"{term.text}[{', '.join(map(source, term.parts)) or '()'}]{_chosen(term)}"
        case Form.INFIX:
            a, b = term.parts
            left = _operand(a, literal=b.type is INT32 and not _plain(b))
            return f"{left} {term.text} {_operand(b, literal=a.type is INT32)}"
        case Form.PREFIX:
            return f"{term.text}{_operand(term.parts[0], literal=False)}"
        case Form.CALL if term.text == "mux":
            index, *values = term.parts
            return f"hl.mux({source(index)}, [{', '.join(map(_typed, values))}])"
        case Form.CALL if term.text in ("gather", "scatter"):
            return f"hl.{term.text}([{', '.join(map(_typed, term.parts))}])"
        case Form.CALL if term.text == "power":
            base, exponent = term.parts
            return f"{_operand(base, literal=False)} ** {_operand(exponent, literal=False)}"
        case Form.CALL:
            return f"hl.{term.text}({', '.join(map(_typed, term.parts))})"
        case Form.CAST:
            return f"hl.{term.text}({type_source(term.type)}, {_typed(term.parts[0])})"
        case Form.REDUCTION:
            return f"hl.{term.text}({term.over}, {_typed(term.parts[0])}){_chosen(term)}"


def _chosen(term: Term) -> str:
    return "" if term.component < 0 else f"[{term.component}]"


def _typed(term: Term) -> str:
    """A term as an Expr: a plain number would take the type of what it meets."""
    return f"hl.i32({term.text})" if _plain(term) else source(term)


def _plain(term: Term) -> bool:
    return term.form is Form.NUMBER and term.type is INT32


def _operand(term: Term, *, literal: bool) -> str:
    if _plain(term):
        return source(term) if literal else _typed(term)
    text = source(term)
    bare = term.form not in (Form.INFIX, Form.PREFIX) and term.text != "power"
    return text if bare else f"({text})"
