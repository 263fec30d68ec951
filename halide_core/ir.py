"""The whole grammar: expressions, holes and statements (figures 2.5b and 2.7).

Expressions are hash-consed: two that are built alike are one object, so equality is ``is`` and a memo keyed
by a node never walks a shared part twice. Statements have identity. Both are frozen.

Two things differ from the figure, both to keep programs flat: ``let`` and ``allocate`` scope over the rest of
the block that they stand in, and a block is a tuple of statements.

    e ::= 3 | x | r | p | f[e, …] | op(e, …) | ?cpu f.s0.x.min      an expression, or a hole
    s ::= { s … } | let x = e | allocate f(I, …) | label l: s | for x in I: s
        | if e: s else: s | f[e, …] = e | assert e
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from halide_core.types import BOOL, INT32, INT64, Type

# ---------------------------------------------------------------------------------------------------------
# What an expression can name.


class Callee:
    """Something that an expression reads at a point: a Func or an image. Compared by identity."""

    name: str
    dimensions: int
    types: tuple[Type, ...]


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


def print_nodes_with(formatter: Callable[[Any], str]) -> None:
    """Sets how nodes show themselves; the printer, which sits above the grammar, calls this once."""
    global _format
    _format = formatter


_nodes: weakref.WeakValueDictionary[tuple[Any, ...], Any] = weakref.WeakValueDictionary()
_T = TypeVar("_T")


class _HashConsed(type):
    """Makes a class return the node it already has for the same fields."""

    def __call__(cls: type[_T], *fields: Any) -> _T:
        key = (cls, *fields)
        node = _nodes.get(key)
        if node is None:
            node = type.__call__(cls, *fields)
            node = _nodes.setdefault(key, node)
        return node  # type: ignore[no-any-return]  # the table holds nodes of every class


class Expr(metaclass=_HashConsed):
    """A typed expression. Built positionally; equality is identity."""

    __slots__ = ("__weakref__",)
    type: Type

    def __repr__(self) -> str:
        return _format(self)



@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntImm(Expr):
    """An integer or truth value, always inside its type's range."""

    type: Type
    value: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatImm(Expr):
    """A floating-point number, kept as its bit pattern: 0.0 is not -0.0."""

    type: Type
    pattern: int

    @property
    def value(self) -> float:
        """The number as a Python float."""
        code, unsigned = ("<f", "<I") if self.type.bits() == 32 else ("<d", "<Q")
        number: float = struct.unpack(code, struct.pack(unsigned, self.pattern))[0]
        return number


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable(Expr):
    """A pure variable of a definition (int32), or a loop or let variable of the target language (int64)."""

    type: Type
    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RVarRef(Expr):
    """The ``index``-th variable of a reduction domain."""

    type: Type
    domain: Domain
    index: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParamRef(Expr):
    """The value of a scalar parameter."""

    type: Type
    param: Scalar


class Field(Enum):
    """What a buffer says of one of its dimensions."""

    MIN = "min"
    EXTENT = "extent"
    STRIDE = "stride"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BufferField(Expr):
    """``min``, ``extent`` or ``stride`` (in elements) of one dimension of an argument buffer."""

    type: Type
    buffer: Callee
    field: Field
    dim: int


class BinaryOp(Enum):
    """Binary operators; the value is how they print."""

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
class Binary(Expr):
    """``a op b``. Both operands have one type; comparisons and logic give bool."""

    type: Type
    op: BinaryOp
    a: Expr
    b: Expr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Not(Expr):
    """Logical negation of a bool."""

    type: Type
    a: Expr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(Expr):
    """``a`` where ``condition`` holds, else ``b``; both are evaluated."""

    type: Type
    condition: Expr
    a: Expr
    b: Expr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(Expr):
    """Conversion by value: integers wrap; float to integer truncates and saturates, NaN gives 0."""

    type: Type
    a: Expr


class Intrinsic(Enum):
    """Mathematical functions; the value is the user's name of each."""

    ABS = "abs"
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ATAN2 = "atan2"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    POW = "pow"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    IS_NAN = "is_nan"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """A mathematical function of values."""

    type: Type
    function: Intrinsic
    args: tuple[Expr, ...]


LAST_STAGE = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Access(Expr):
    """``f[args]``: component ``component`` of a Func or an image at a point.

    ``stage`` is the label of figure 2.7: the stage whose value is meant, LAST_STAGE from outside the Func.
    """

    type: Type
    callee: Callee
    args: tuple[Expr, ...]
    component: int
    stage: int


class HoleKind(Enum):
    """Definition 2.14 (1), and the bounds of a reduction loop, which are never holes."""

    MEM = "mem"
    CPU = "cpu"


class End(Enum):
    """Definition 2.14 (2): which half of an interval a hole stands for."""

    MIN = "min"
    LEN = "len"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hole(Expr):
    """A bound to be found (definition 2.14). ``stage`` and ``specialization`` are 0 in a mem hole."""

    type: Type
    kind: HoleKind
    func: Callee
    stage: int
    specialization: int
    dim: int
    end: End


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(Expr):
    """An element, or lanes of elements, of a flat buffer."""

    type: Type
    buffer: str
    index: Expr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ramp(Expr):
    """``base, base + stride, …``: ``type.lanes()`` values."""

    type: Type
    base: Expr
    stride: Expr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Broadcast(Expr):
    """``type.lanes()`` copies of a scalar."""

    type: Type
    a: Expr


# ---------------------------------------------------------------------------------------------------------
# Statements.


@dataclass(frozen=True, slots=True)
class Interval:
    """A range as figure 2.7 writes it: a minimum and a length."""

    min: Expr
    len: Expr


@dataclass(frozen=True, slots=True)
class LoopName:
    """What identifies a loop for scheduling (lemma 2.4)."""

    func: str
    stage: int
    specialization: int
    var: str

    def __str__(self) -> str:
        special = f"[{self.specialization}]" if self.specialization else ""
        return f"{self.func}.s{self.stage}{special}.{self.var}"


class LoopKind(Enum):
    """Traversal orders (figure 2.7), and the two of section 2.8.6."""

    SERIAL = "for"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"


class Stmt:
    """A statement. Equality is identity."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        return _format(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(Stmt):
    """Statements in order. A let or an allocate scopes over those that follow it."""

    stmts: tuple[Stmt, ...]

    def __iter__(self) -> Iterator[Stmt]:
        return iter(self.stmts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Let(Stmt):
    """``let var = value``. ``within`` is what the path guarantees of the value, where the rewrite that made
    the let knows more than the value shows: a shifted split never leaves the old loop."""

    var: Variable
    value: Expr
    within: Interval | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Allocate(Stmt):
    """``allocate f(I, …)``: memory for every component of a Func, until the block ends."""

    func: Callee
    bounds: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Label(Stmt):
    """``label f: s`` (``stage`` None) or ``label f.s1: s``: a handle for scheduling."""

    func: Callee
    stage: int | None
    body: Stmt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class For(Stmt):
    """``for var in (min, len): body``. ``pure`` as in definition 2.16."""

    loop: LoopName
    var: Variable
    bounds: Interval
    kind: LoopKind
    pure: bool
    body: Stmt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(Stmt):
    """``if condition: then else: otherwise``."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Provide(Stmt):
    """``f[args] = values``: stage ``stage`` of ``func`` writes one point, all components at once."""

    func: Callee
    stage: int
    args: tuple[Expr, ...]
    values: tuple[Expr, ...]


class Failure(Enum):
    """Why a start-up check can fail; the values are those of ``enum halide_core_error_code``."""

    ARGUMENT_BOUNDS = "argument_bounds"
    ARGUMENT_EXTENT = "argument_extent"
    ARGUMENT_STRIDE = "argument_stride"
    ASSERTION = "assertion_failed"
    INDEX_OVERFLOW = "index_overflow"
    PARAMETER_RANGE = "parameter_range"
    REDUCTION_EXTENT = "reduction_extent"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assert(Stmt):
    """``assert condition``; ``message`` mixes text with the values to print in it."""

    condition: Expr
    failure: Failure
    message: tuple[str | Expr, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerQuery(Stmt):
    """Where an argument's host pointer is null: write the region it needs into it, and end the run."""

    regions: tuple[tuple[Callee, tuple[Interval, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllocateFlat(Stmt):
    """``size`` elements of flat memory until the block ends; ``limit`` is a constant upper bound, if there is one."""

    buffer: str
    type: Type
    size: Expr
    limit: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Store(Stmt):
    """``buffer[index] = value`` on flat memory, for one element or lanes of them."""

    buffer: str
    index: Expr
    value: Expr


NOTHING = Block(())


# ---------------------------------------------------------------------------------------------------------
# Building expressions. None of these simplifies: that is ``simplify``'s work.


def const(value: int | float | bool, type: Type) -> Expr:
    """A literal of ``type``; integers wrap into it."""
    if type.lanes() > 1:
        return Broadcast(type, const(value, type.element_of()))
    if type.is_float():
        code, unsigned = ("<f", "<I") if type.bits() == 32 else ("<d", "<Q")
        try:
            packed = struct.pack(code, value)
        except OverflowError:
            packed = struct.pack(code, float("inf") if value > 0 else float("-inf"))
        return FloatImm(type, struct.unpack(unsigned, packed)[0])
    low, high = type.range
    return IntImm(type, (int(value) - low) % (high - low + 1) + low)


def i64(value: int) -> Expr:
    """An index literal."""
    return IntImm(INT64, value)


TRUE: Expr = IntImm(BOOL, 1)
FALSE: Expr = IntImm(BOOL, 0)
ZERO = i64(0)
ONE = i64(1)


def binary(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    """``a op b``; the caller has matched the operands' types."""
    if op in COMPARISONS:
        return Binary(BOOL.with_lanes(a.type.lanes()), op, a, b)
    return Binary(a.type, op, a, b)


def add(a: Expr, b: Expr) -> Expr:
    """``a + b``."""
    return Binary(a.type, BinaryOp.ADD, a, b)


def sub(a: Expr, b: Expr) -> Expr:
    """``a - b``."""
    return Binary(a.type, BinaryOp.SUB, a, b)


def mul(a: Expr, b: Expr) -> Expr:
    """``a * b``."""
    return Binary(a.type, BinaryOp.MUL, a, b)


def div(a: Expr, b: Expr) -> Expr:
    """``a / b``, Euclidean for integers."""
    return Binary(a.type, BinaryOp.DIV, a, b)


def mod(a: Expr, b: Expr) -> Expr:
    """``a % b``, Euclidean for integers."""
    return Binary(a.type, BinaryOp.MOD, a, b)


def minimum(a: Expr, b: Expr) -> Expr:
    """The lesser of two."""
    return Binary(a.type, BinaryOp.MIN, a, b)


def maximum(a: Expr, b: Expr) -> Expr:
    """The greater of two."""
    return Binary(a.type, BinaryOp.MAX, a, b)


def less(a: Expr, b: Expr) -> Expr:
    """``a < b``."""
    return binary(BinaryOp.LT, a, b)


def less_equal(a: Expr, b: Expr) -> Expr:
    """``a <= b``."""
    return binary(BinaryOp.LE, a, b)


def equal(a: Expr, b: Expr) -> Expr:
    """``a == b``."""
    return binary(BinaryOp.EQ, a, b)


def conjunction(a: Expr, b: Expr) -> Expr:
    """``a && b``."""
    return Binary(a.type, BinaryOp.AND, a, b)


def cast(type: Type, a: Expr) -> Expr:
    """``a`` as ``type``; nothing where it is one already."""
    return a if a.type is type else Cast(type, a)


def index_variable(name: str) -> Variable:
    """A loop or let variable of the target language."""
    return Variable(INT64, name)


def pure_variable(name: str) -> Variable:
    """A pure variable of a definition."""
    return Variable(INT32, name)


def block(stmts: list[Stmt]) -> Stmt:
    """The statements in order, nested blocks without scoping statements spliced in; one alone as it is."""
    flat: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, Block) and not any(isinstance(s, Let | Allocate | AllocateFlat) for s in stmt.stmts):
            flat.extend(stmt.stmts)
        else:
            flat.append(stmt)
    if len(flat) == 1 and not isinstance(flat[0], Let | Allocate | AllocateFlat):
        return flat[0]
    return Block(tuple(flat))
