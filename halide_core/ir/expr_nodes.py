"""Expressions and holes (figure 2.5b): what the grammar in ``ir`` is made of.

Hash-consed: two that are built alike are one object, so equality is ``is``, and a memo keyed by a node never walks a
shared part twice. Frozen; built positionally.

    Binary(INT64, BinaryOp.ADD, x, y) is Binary(INT64, BinaryOp.ADD, x, y)   ->   True
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from enum import Enum
from functools import wraps
from threading import RLock
from typing import Any, TypeVar

from halide_core.errors import Location
from halide_core.ir.float16 import value_of_pattern
from halide_core.ir.pickled import from_rows, rows_of
from halide_core.ir.signatures import of_bits, of_floats, of_integers, of_magnitude, of_nan, of_numbers
from halide_core.ir.types import Type

# ---------------------------------------------------------------------------------------------------------
# What an expression can name.


class Callee:
    """Something that an expression reads at a point: a Func or an image. Compared by identity."""

    name: str
    dimensions: int
    types: tuple[Type, ...]

    def component_name(self, component: int) -> str:
        """The name of one component's memory: ``f``, or ``f.0``, ``f.1`` … where a point has several values."""
        return component_names(self.name, len(self.types))[component]

    @property
    def own(self) -> Callee:
        """The user's, where this is a copy that the compiler made: what messages name."""
        return self


def component_names(name: str, count: int) -> tuple[str, ...]:
    """The names of the memory of something with so many values at a point."""
    return (name,) if count == 1 else tuple([f"{name}.{k}" for k in range(count)])


class Scalar:
    """A named scalar input of a pipeline. Compared by identity."""

    name: str
    type: Type


class Domain:
    """A reduction domain: an ordered list of named variables. Compared by identity."""

    names: tuple[str, ...]


# ---------------------------------------------------------------------------------------------------------
# Expressions.

_format: Callable[[Any], str] = object.__repr__


def format_node(node: object) -> str:
    """A node as the printer shows it."""
    return _format(node)


def print_nodes_with(formatter: Callable[[Any], str]) -> None:
    """Sets how nodes show themselves; the printer, which sits above the grammar, calls this once."""
    global _format
    _format = formatter


_Key = tuple[Any, ...]
_LEAST = 1 << 12
"""A table of fewer nodes isn't cleared of dead ones."""

_T = TypeVar("_T")
_FIRST = RLock()
"""The lock under which the function of a class is written."""


class _Nodes:
    """The nodes of one class that are alive, by their fields.

    Dead ones are left in the table until it has doubled: a callback for each would cost more than the node.
    """

    __slots__ = ("_lock", "_most", "known")

    def __init__(self) -> None:
        self.known: dict[_Key, weakref.ref[Any]] = {}
        self._most = _LEAST
        self._lock = RLock()

    def keep(self, key: _Key, node: _T) -> _T:
        """The node of a key from now on: this one, unless another thread was first."""
        with self._lock:
            known = self.known.get(key)
            other: _T | None = None if known is None else known()
            if other is not None:
                return other
            self.known[key] = weakref.ref(node)
            if len(self.known) > self._most:
                for dead in [k for k, r in self.known.items() if r() is None]:
                    del self.known[dead]
                self._most = max(_LEAST, 2 * len(self.known))
        return node


class _HashConsed(type):
    """Makes a class return the node it already has for the same fields.

    The table knows nodes, Funcs and inputs among the fields by their ids, which are theirs as long as a node that holds
    them is alive: a key that held them would keep a Func, whose definitions hold the node, for ever.
    """

    def __init__(cls, *named: Any) -> None:
        super().__init__(*named)
        cls.__class__ = _HashConsed  # not what a node that it extends has become

    def __call__(cls, *fields: Any) -> Any:
        """The first call of a class: others are those of the function that is written for it."""
        with _FIRST:
            if cls.__class__ is _HashConsed:  # no other thread was first, whose table would be another one
                made = staticmethod(cls._written())
                cls.__class__ = type("_Written", (_HashConsed,), {"__call__": made})
        return cls(*fields)

    def _written(cls) -> Callable[..., Any]:
        """The function from a node's fields to the node, written out as there is one call of it a node."""
        given = [(f.name, str(f.type)) for f in dataclass_fields(cls)]  # type: ignore[arg-type]  # each is one
        names = [name for name, _ in given]
        key = "".join(_KEYS.get(kind, "{}").format(name) + ", " for name, kind in given)
        own = next(BITS[base] for base in cls.__mro__ if base in BITS)  # of one that is not of here, that of its base
        bits = [str(own), *(_CONTENTS[kind].format(name) for name, kind in given if kind in _CONTENTS)]
        lines = [
            f"def make({', '.join(names)}):",
            f"    key = ({key})",
            "    known = look_up(key)",
            "    node = None if known is None else known()",
            "    if node is None:",
            "        node = new(cls)",
            *(f"        set_{name}(node, {name})" for name in names),
            f"        set_contents(node, {' | '.join(bits)})",
            "        node = keep(key, node)",
            "    return node",
        ]
        table = _Nodes()
        scope: dict[str, Any] = {"cls": cls, "ExprNode": ExprNode, "new": object.__new__}
        scope |= {"bits": BITS, "contents_of": _contents_of, "set_contents": ExprNode.__dict__["contents"].__set__}
        scope |= {"look_up": table.known.get, "keep": table.keep}
        scope |= {f"set_{name}": getattr(cls, name).__set__ for name in names}
        exec("\n".join(lines), scope)  # noqa: S102  # names of our own
        made: Callable[..., Any] = scope["make"]
        return made


_KEYS = {
    **dict.fromkeys(("ExprNode", "Callee", "Scalar", "Domain"), "id({})"),
    "tuple[ExprNode, ...]": "tuple([id(e) for e in {}])",
    "tuple[str | ExprNode, ...]": "tuple([id(e) if isinstance(e, ExprNode) else e for e in {}])",
}
"""The text of fields in a key, where not the fields themselves."""
_CONTENTS = {
    "BinaryOp": "bits[{}]",
    "ExprNode": "{}.contents",
    **dict.fromkeys(("tuple[ExprNode, ...]", "tuple[str | ExprNode, ...]"), "contents_of({})"),
}
"""The text of what fields add to a node's contents."""


def _contents_of(members: tuple[str | ExprNode, ...]) -> int:
    """The contents of a field of several nodes, and texts."""
    found = 0
    for each in members:
        if isinstance(each, ExprNode):
            found |= each.contents
    return found


class ExprNode(metaclass=_HashConsed):
    """A typed expression. Built positionally; equality is identity."""

    __slots__ = (
        "__weakref__",
        "_case",
        "_cases",
        "_comparison",
        "_facts",
        "_far",
        "_free",
        "_linear",
        "_mentions",
        "_of_index",
        "_of_params",
        "_of_value",
        "_simple",
        "_unchecked",
        "_weight",
        "contents",
    )
    type: Type
    contents: int
    """The kinds of the nodes that are in the expression, itself among them, as bits of BITS: most walks look for what
    is not there."""

    def __repr__(self) -> str:
        return _format(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return from_rows, (rows_of(self, ExprNode),)


def remembered(slot: str) -> Callable[[Callable[[Any], _T]], Callable[[Any], _T]]:
    """Makes a function of a node keep its answer with the node, in a slot of its own. A table would keep the answer as
    long as anything in it is used, and with it the node."""
    member = ExprNode.__dict__[slot]

    def decorate(function: Callable[[Any], _T]) -> Callable[[Any], _T]:
        known: Callable[[Any], _T] = member.__get__
        keep: Callable[[Any, _T], None] = member.__set__

        @wraps(function)
        def answer(e: Any) -> _T:
            try:
                return known(e)
            except AttributeError:
                found = function(e)
                keep(e, found)
                return found

        return answer

    return decorate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntImm(ExprNode):
    """An integer or truth value, always inside its type's range."""

    type: Type
    value: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatImm(ExprNode):
    """A floating-point number, kept as its bit pattern: 0.0 is not -0.0."""

    type: Type
    pattern: int

    @property
    def value(self) -> float:
        """The number as a Python float."""
        if self.type.is_narrow_float():
            return value_of_pattern(self.pattern, self.type)
        code, unsigned = ("<f", "<I") if self.type.bits() == 32 else ("<d", "<Q")
        number: float = struct.unpack(code, struct.pack(unsigned, self.pattern))[0]
        return number


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable(ExprNode):
    """A pure variable of a definition (int32), or a loop or let variable of the target language (int64)."""

    type: Type
    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RVarRef(ExprNode):
    """The ``index``-th variable of a reduction domain."""

    type: Type
    domain: Domain
    index: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParamRef(ExprNode):
    """The value of a scalar parameter."""

    type: Type
    param: Scalar


class Field(Enum):
    """A field of one dimension of a buffer."""

    __hash__ = object.__hash__

    MIN = "min"
    EXTENT = "extent"
    STRIDE = "stride"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BufferField(ExprNode):
    """``min``, ``extent`` or ``stride`` (in elements) of one dimension of an argument buffer."""

    type: Type
    buffer: Callee
    field: Field
    dim: int


class BinaryOp(Enum):
    """Binary operators; the value is how they print."""

    __hash__ = object.__hash__  # as in all kinds that nodes have: Enum's own is a function in Python

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    MOD = "%"
    MIN = "min"
    MAX = "max"
    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    AND = "&&"
    OR = "||"
    BIT_AND = "&"
    BIT_OR = "|"
    BIT_XOR = "^"
    SHL = "<<"
    SHR = ">>"


COMPARISONS = frozenset({BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE})
LOGICAL = frozenset({BinaryOp.AND, BinaryOp.OR})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Binary(ExprNode):
    """``a op b``. Both operands have one type; comparisons and logic give bool."""

    type: Type
    op: BinaryOp
    a: ExprNode
    b: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Not(ExprNode):
    """Logical negation of a bool."""

    type: Type
    a: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(ExprNode):
    """``a`` where ``condition`` holds, else ``b``; both are evaluated."""

    type: Type
    condition: ExprNode
    a: ExprNode
    b: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(ExprNode):
    """Conversion by value: integers wrap; float to integer truncates and saturates, NaN gives 0."""

    type: Type
    a: ExprNode


class Intrinsic(Enum):
    """Mathematical functions, and the bits of a float as an integer and back: the user's name of each, how many
    arguments it has, and which types go together. FMA is ``a*b + c``, rounded once, and has no name for users
    (``fused_products``). ROUNDING_HALVING_ADD, of integers, is what the compiler finds in longer formulas; TRUNCATED is
    a cast of a float that is certainly a number of the type."""

    __hash__ = object.__hash__

    _value_: str
    arity: int
    fits: Callable[..., bool]
    """True where the type of a result goes with those of arguments."""

    def __new__(cls, name: str, arity: int = 1, fits: Callable[..., bool] = of_floats) -> Intrinsic:
        """A function by the name that it has in source."""
        made = object.__new__(cls)
        made._value_, made.arity, made.fits = name, arity, fits
        return made

    ABS = "abs", 1, of_magnitude
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ATAN2 = "atan2", 2
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    POW = "pow", 2
    FMA = "fma", 3
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    IS_NAN = "is_nan", 1, of_nan
    REINTERPRET = "reinterpret", 1, of_bits
    ROUNDING_HALVING_ADD = "rounding_halving_add", 2, of_integers
    TRUNCATED = "truncated", 1, of_numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(ExprNode):
    """A mathematical function of values."""

    type: Type
    function: Intrinsic
    args: tuple[ExprNode, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Promise(ExprNode):
    """``value``, an integer that the user promises to lie in [low, high], on a line of his. Bounds rely on it."""

    type: Type
    value: ExprNode
    low: ExprNode
    high: ExprNode
    location: Location


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Print(ExprNode):
    """``a``; where ``condition`` holds, ``message``, texts and values, is shown on a line of its own."""

    type: Type
    a: ExprNode
    condition: ExprNode
    message: tuple[str | ExprNode, ...]


class EventCode(Enum):
    """The kinds of events in a traced run, by Halide's numbers."""

    LOAD = 0
    STORE = 1
    BEGIN_REALIZATION = 2
    END_REALIZATION = 3
    PRODUCE = 4
    END_PRODUCE = 5
    CONSUME = 6
    END_CONSUME = 7
    BEGIN_PIPELINE = 8
    END_PIPELINE = 9
    TAG = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Event(Print):
    """A line that is an event of a trace: of component ``component`` of ``name``, an input's or a Func's. The values of
    the message are the coordinates, or a min and an extent of each dimension; the last one of a load or a store is the
    element."""

    code: EventCode
    name: str
    of_input: bool
    component: int
    tag: str


LAST_STAGE = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Access(ExprNode):
    """``f[args]``: component ``component`` of a Func or an image at a point.

    ``stage`` is the label of figure 2.7: the stage whose value is meant, LAST_STAGE from outside the Func.
    """

    type: Type
    callee: Callee
    args: tuple[ExprNode, ...]
    component: int
    stage: int


class HoleKind(Enum):
    """Definition 2.14 (1), and the bounds of a reduction loop, which are never holes."""

    __hash__ = object.__hash__

    MEM = "mem"
    CPU = "cpu"
    LOOP = "loop"
    """The part of what an iteration needs that it computes, where memory keeps what earlier ones computed; of all
    stages."""


class End(Enum):
    """Definition 2.14 (2): which half of an interval a hole stands for."""

    __hash__ = object.__hash__

    MIN = "min"
    LEN = "len"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hole(ExprNode):
    """A bound to be found (definition 2.14). ``stage`` and ``specialization`` are 0 in mem and loop holes."""

    type: Type
    kind: HoleKind
    func: Callee
    stage: int
    specialization: int
    dim: int
    end: End


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(ExprNode):
    """An element, or lanes of elements, of a flat buffer."""

    type: Type
    buffer: str
    index: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ramp(ExprNode):
    """``base, base + stride, …``: ``type.lanes()`` values."""

    type: Type
    base: ExprNode
    stride: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Broadcast(ExprNode):
    """``type.lanes()`` copies of a scalar."""

    type: Type
    a: ExprNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slice(ExprNode):
    """``type.lanes()`` neighbouring lanes of a vector variable, from lane ``first`` on; of one lane, a scalar."""

    type: Type
    a: ExprNode
    first: int


_CLASSES = [each for each in globals().values() if isinstance(each, type) and issubclass(each, ExprNode)]
BITS: dict[type[ExprNode] | BinaryOp, int] = {kind: 1 << n for n, kind in enumerate((*BinaryOp, *_CLASSES))}
"""The bit of each kind of node, and of each operator of binary ones."""
