"""Values of the algorithm's classes as JSON, by the types of their fields: one rule a type, for both ways.

In: a value and its type. Out: what JSON has of it, in which expressions, Funcs, inputs and domains are numbers of rows.
Back: values of that very type, or an error: nothing is believed of what is read, and no class is made but those that
are listed here.

    Split(f, x, xo, xi, 8)   ->   {"is": "Split", "func": 3, "location": ["blur.py", 12], "old": "x", …, "factor": 17}
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from halide_core import ir
from halide_core.algorithm.model import Definition, Partial, ReductionDomain, Requirement, ScalarParam, Tag
from halide_core.errors import Location
from halide_core.ir import Callee, Domain, ExprNode, Interval, Scalar
from halide_core.ir.grammar import RULES
from halide_core.ir.types import INT32, BFloat, Bool, Float, Handle, Int, Type, UInt
from halide_core.schedule.directives import Branch, DebugToFile, Directive

TYPES: Final = {str(t): t for t in (Bool(), BFloat(16), *(make(b) for make in (Int, UInt) for b in (8, 16, 32, 64)))}
TYPES.update({str(t): t for t in (Float(16), Float(32), Float(64))})
POINTER: Final = str(Handle())
"""A type of scalars alone."""
_NAMES: Final = {type: name for name, type in TYPES.items()}

EXPRESSIONS: Final = {
    kind.__name__: kind
    for kind in (
        *(ir.IntImm, ir.FloatImm, ir.Variable, ir.RVarRef, ir.ParamRef, ir.BufferField, ir.Binary, ir.Not),
        *(ir.Select, ir.Cast, ir.Call, ir.Promise, ir.Print, ir.Access),
    )
}
"""The classes of nodes that definitions are made of."""
_PARTS: Final = frozenset({Branch, Definition, Interval, Partial, Requirement, Tag})
_LONGEST: Final = 1 << 63


class DamageError(ValueError):
    """Data that are no serialization."""


def _all(of: type[Directive]) -> dict[str, type[Directive]]:
    found = {of.__name__: of} if "verb" in vars(of) or not of.__subclasses__() else {}
    for each in of.__subclasses__():
        found |= _all(each)
    return found


@cache
def directives() -> dict[str, type[Directive]]:
    """The directives that are written, by name: all but those that would write files where they are read."""
    return {name: kind for name, kind in _all(Directive).items() if kind is not DebugToFile}


_hints: dict[type, tuple[tuple[str, Any, Any], ...]] = {}


def hints(kind: type[Any]) -> tuple[tuple[str, Any, Any], ...]:
    """The fields of a class: names, types and defaults."""
    if kind not in _hints:
        types_of = get_type_hints(kind, include_extras=True)
        _hints[kind] = tuple((f.name, types_of[f.name], f.default) for f in fields(kind))
    return _hints[kind]


@dataclass
class Tables:
    """The objects that numbers stand for."""

    expressions: list[ExprNode] = field(default_factory=list)
    callees: list[Callee] = field(default_factory=list)
    scalars: list[ScalarParam] = field(default_factory=list)
    domains: list[ReductionDomain] = field(default_factory=list)

    def of(self, hint: Any) -> list[Any] | None:
        """The table of a type."""
        if hint is ExprNode:
            return self.expressions
        if hint is Callee:
            return self.callees
        if hint is Scalar:
            return self.scalars
        return self.domains if hint in (Domain, ReductionDomain) else None


class Numbers:
    """The numbers that stand for objects, to write them."""

    def __init__(self, tables: Tables) -> None:
        every = (tables.expressions, tables.callees, tables.scalars, tables.domains)
        self._of: dict[int, int] = {id(e): i for table in every for i, e in enumerate(table)}

    def knows(self, thing: object) -> bool:
        """True where something has a number."""
        return id(thing) in self._of

    def encoded(self, value: Any) -> Any:
        """A value, or a tuple of them, as JSON has it."""
        if isinstance(value, tuple) and type(value) is tuple:
            return [self.encoded(part) for part in value]
        if isinstance(value, ExprNode | Callee | Scalar | Domain):
            return self._of[id(value)]
        if isinstance(value, Location):
            return [value.file, value.line]
        if isinstance(value, Type):
            return _NAMES[value]
        if isinstance(value, Enum):
            return value.name
        if isinstance(value, Directive):
            return {"is": type(value).__name__, **self.parts(value)}
        return self.parts(value) if type(value) in _PARTS else value

    def parts(self, value: Any) -> dict[str, Any]:
        """The fields of a record, without those that have their default."""
        given = {name: (getattr(value, name), default) for name, _, default in hints(type(value))}
        return {name: self.encoded(v) for name, (v, default) in given.items() if v is not default and v != default}

    def row(self, e: ExprNode) -> list[Any]:
        """An expression, whose operands have numbers."""
        return [type(e).__name__, *(self.encoded(getattr(e, name)) for name, _, _ in hints(type(e)))]


def decoded(hint: Any, data: Any, tables: Tables) -> Any:
    """The value of a type that JSON has.

    Raises:
        DamageError: there is none.
    """
    origin = get_origin(hint)
    if origin is Annotated:
        return decoded(get_args(hint)[0], data, tables)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(hint), data, tables)
    if origin is tuple:
        return _tuple(get_args(hint), data, tables)
    table = tables.of(hint)
    if table is not None:
        return table[number(data, len(table))]
    if hint in (int, bool, str):
        return _plain(hint, data)
    if hint is Type:
        return TYPES[data]
    if hint is Location:
        return Location(_plain(str, data[0]), number(data[1], 1 << 31)) if len(data) == 2 else damaged(data)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint.__members__[data]
    if hint is Directive:
        return record(directives()[data["is"]], {k: v for k, v in data.items() if k != "is"}, tables)
    return record(hint, data, tables) if hint in _PARTS else damaged(data)


def damaged(data: object) -> Any:
    """Raises DamageError for a part of what is read."""
    raise DamageError(f"{str(data)[:80]} is out of place")


def number(data: object, below: int) -> int:
    """An integer from 0 to ``below`` - 1."""
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < below:
        damaged(data)
    assert isinstance(data, int)
    return data


def _plain(kind: type, data: object) -> Any:
    if type(data) is not kind or (kind is int and not -_LONGEST <= data < 2 * _LONGEST):  # type: ignore[operator]  # an int
        damaged(data)
    return data


def _one_of(kinds: Sequence[Any], data: object, tables: Tables) -> Any:
    if data is None:
        return None if type(None) in kinds else damaged(data)
    others = [k for k in kinds if k is not type(None) and (k is str) == (isinstance(data, str) and str in kinds)]
    return decoded(others[0], data, tables) if len(others) == 1 else damaged(data)


def _tuple(kinds: Sequence[Any], data: object, tables: Tables) -> tuple[Any, ...]:
    if not isinstance(data, list):
        return damaged(data)  # type: ignore[no-any-return]  # it raises
    each = [kinds[0]] * len(data) if kinds[-1] is Ellipsis else kinds
    return tuple([decoded(k, part, tables) for k, part in zip(each, data, strict=True)])


def record(kind: Any, data: Any, tables: Tables) -> Any:
    """A record of a class, all of whose fields are there, or have a default."""
    given = dict(data)
    values = {}
    for name, hint, default in hints(kind):
        if name in given:
            values[name] = decoded(hint, given.pop(name), tables)
        elif default is MISSING:
            damaged(data)
    return damaged(data) if given else kind(**values)


def expression(data: Any, tables: Tables) -> ExprNode:
    """An expression of a row, whose operands are expressions of rows before."""
    kind = EXPRESSIONS[data[0]]
    of = hints(kind)
    if len(data) != len(of) + 1:
        damaged(data)
    made = kind(*(decoded(hint, part, tables) for (_, hint, _), part in zip(of, data[1:], strict=True)))
    if not made.type.is_scalar() or not _is_well_formed(made):
        damaged(data)
    return made


def _is_well_formed(e: ExprNode) -> bool:
    """True where a node keeps the grammar's rules, as they are for definitions: coordinates are int32."""
    if isinstance(e, ir.Access):
        fits = len(e.args) == e.callee.dimensions and all(a.type is INT32 for a in e.args)
        return fits and 0 <= e.component < len(e.callee.types) and e.type is e.callee.types[e.component]
    if isinstance(e, ir.Variable | ir.RVarRef) and e.type is not INT32:
        return False
    if isinstance(e, ir.RVarRef):
        return 0 <= e.index < len(e.domain.names)
    return all(rule.holds(e) for rule in RULES.get(type(e), ()))
