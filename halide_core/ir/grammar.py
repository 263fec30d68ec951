"""The specification of the IR between passes, as tables: where each node may stand, and how its types go together.

In: a node. Out: the forms of a tree that it may be part of (``STANDS``), and the rules that it keeps (``RULES``), each
a sentence and a test of that node alone. ``verify`` walks trees by them, and adds what takes several nodes: scopes.

    STANDS[Access]  ->  (Form.HOLES, Form.UNROLLED)          flattening leaves none
    RULES[Select]   ->  (Rule("the condition is a truth value, …", …), …)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from halide_core.ir import (
    COMPARISONS,
    LAST_STAGE,
    LOGICAL,
    Access,
    Acquire,
    Allocate,
    AllocateFlat,
    AnswerQuery,
    Assert,
    Binary,
    BinaryOp,
    Block,
    Broadcast,
    BufferField,
    Call,
    Cast,
    Event,
    EventCode,
    ExprNode,
    FirstLanes,
    FloatImm,
    For,
    Fork,
    Hole,
    If,
    IntImm,
    Intrinsic,
    Label,
    Let,
    Load,
    LoopKind,
    Not,
    ParamRef,
    PrefetchLine,
    PrefetchRegion,
    Print,
    Promise,
    Provide,
    Ramp,
    Release,
    Remember,
    RVarRef,
    Select,
    Slice,
    Stmt,
    Store,
    Stores,
    Variable,
    WriteFile,
)
from halide_core.ir.signatures import computes, is_truth
from halide_core.ir.types import BOOL, INT32, INT64, Type, computed_type


class Form(IntEnum):
    """The forms that a tree goes through, in this order. Each pass keeps the form or leads to the next one."""

    HOLES = 0
    """Scheduled, with holes for bounds."""
    POINTS = 1
    """Bounds are known; memory holds points of Funcs."""
    UNROLLED = 2
    """Loops that unroll are copies of their bodies."""
    FLAT = 3
    """Memory is flat, and lanes are still loops."""
    VECTORS = 4
    """Lanes are vectors. It is what C is made of."""


# From which form to which one a node may stand. A loop is looked up by its kind.
STANDS: Mapping[type[ExprNode] | type[Stmt] | LoopKind, tuple[Form, Form] | None] = {
    IntImm: (Form.HOLES, Form.VECTORS),
    FloatImm: (Form.HOLES, Form.VECTORS),
    Variable: (Form.HOLES, Form.VECTORS),
    RVarRef: None,  # definitions have them; a tree has the loop's variable
    ParamRef: (Form.HOLES, Form.VECTORS),
    BufferField: (Form.HOLES, Form.VECTORS),
    Binary: (Form.HOLES, Form.VECTORS),
    Not: (Form.HOLES, Form.VECTORS),
    Select: (Form.HOLES, Form.VECTORS),
    Cast: (Form.HOLES, Form.VECTORS),
    Call: (Form.HOLES, Form.VECTORS),
    Promise: (Form.HOLES, Form.VECTORS),
    Print: (Form.HOLES, Form.VECTORS),
    Event: (Form.HOLES, Form.VECTORS),
    Hole: (Form.HOLES, Form.HOLES),
    Access: (Form.HOLES, Form.UNROLLED),
    Load: (Form.FLAT, Form.VECTORS),
    Ramp: (Form.VECTORS, Form.VECTORS),
    Broadcast: (Form.VECTORS, Form.VECTORS),
    Slice: (Form.VECTORS, Form.VECTORS),
    Block: (Form.HOLES, Form.VECTORS),
    Let: (Form.HOLES, Form.VECTORS),
    If: (Form.HOLES, Form.VECTORS),
    Assert: (Form.HOLES, Form.VECTORS),
    Label: (Form.HOLES, Form.UNROLLED),
    Allocate: (Form.HOLES, Form.UNROLLED),
    Provide: (Form.HOLES, Form.UNROLLED),
    PrefetchRegion: (Form.HOLES, Form.UNROLLED),
    AnswerQuery: (Form.POINTS, Form.VECTORS),
    WriteFile: (Form.POINTS, Form.VECTORS),
    AllocateFlat: (Form.FLAT, Form.VECTORS),
    Store: (Form.FLAT, Form.VECTORS),
    Stores: (Form.FLAT, Form.VECTORS),
    FirstLanes: (Form.VECTORS, Form.VECTORS),
    PrefetchLine: (Form.FLAT, Form.VECTORS),
    Fork: (Form.POINTS, Form.VECTORS),
    Acquire: (Form.POINTS, Form.VECTORS),
    Release: (Form.POINTS, Form.VECTORS),
    Remember: (Form.UNROLLED, Form.VECTORS),
    LoopKind.SERIAL: (Form.HOLES, Form.VECTORS),
    LoopKind.PARALLEL: (Form.HOLES, Form.VECTORS),
    LoopKind.UNROLLED: (Form.HOLES, Form.POINTS),
    LoopKind.VECTORIZED: (Form.HOLES, Form.FLAT),
    LoopKind.AT_ONCE: (Form.HOLES, Form.FLAT),
}


@dataclass(frozen=True, slots=True)
class NodeRule:
    """A sentence, and whether it is true of a node."""

    says: str
    holds: Callable[[Any], bool]


# ---------------------------------------------------------------------------------------------------------
# Types of expressions.


def _stores_densely(s: Stmt) -> bool:
    match s:
        case Block(stmts=stmts) | Stores(stores=stmts):
            return all(map(_stores_densely, stmts))
        case If(then=then, otherwise=otherwise):
            return _stores_densely(then) and (otherwise is None or _stores_densely(otherwise))
        case For(body=body, kind=LoopKind.SERIAL):
            return _stores_densely(body)
        case Store(index=Ramp(stride=IntImm(value=1)), atomic=False):
            return True
    return isinstance(s, AllocateFlat | Let)


def _is_index(e: ExprNode) -> bool:
    return e.type is INT64


_SHIFTS = frozenset({BinaryOp.SHL, BinaryOp.SHR})
_BITWISE = frozenset({BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR})


def _operands(e: Binary) -> bool:
    a, b = e.a.type, e.b.type
    if e.op in LOGICAL:
        return a is b and is_truth(a)
    if e.op in _SHIFTS:
        return a.is_integer() and not a.is_bool() and b is a.with_code(b.code()) and b.is_integer()
    if e.op in _BITWISE:
        return a is b and a.is_integer()
    return a is b and computes(a)


def _result(e: Binary) -> bool:
    return e.type is (BOOL.with_lanes(e.a.type.lanes()) if e.op in COMPARISONS else e.a.type)


SIGNATURES: Mapping[Intrinsic, tuple[int, Callable[..., bool]]] = {f: (f.arity, f.fits) for f in Intrinsic}
"""The arity of each function, and the rule by which the type of a result goes with types of arguments."""


def _call(e: Call) -> bool:
    count, fits = SIGNATURES[e.function]
    types = [a.type for a in e.args]
    return len(types) == count and fits(e.type, *types) and all(t.lanes() == e.type.lanes() for t in types)


def _literal(e: IntImm) -> bool:
    low, high = e.type.range
    return e.type.is_integer() and e.type.is_scalar() and low <= e.value <= high


def _number(e: FloatImm) -> bool:
    return e.type.is_float() and e.type.is_scalar() and 0 <= e.pattern < 1 << e.type.bits()


def _lane_counts(type: Type, *of: ExprNode) -> bool:
    return all(e.type.lanes() == type.lanes() for e in of)


def _indexed(buffer_lanes: Type, index: ExprNode) -> bool:
    return index.type is INT64.with_lanes(buffer_lanes.lanes())


def _slice(e: Slice) -> bool:
    whole = e.a.type
    return isinstance(e.a, Variable) and whole.is_vector() and e.type.element_of() is whole.element_of()


# ---------------------------------------------------------------------------------------------------------
# Types of statements.


_PLACELESS = (EventCode.BEGIN_PIPELINE, EventCode.END_PIPELINE, EventCode.TAG)


def _event(e: Event) -> bool:
    """True where an event is well made: one of a whole pipeline has no place, and no element."""
    placed = any(isinstance(m, ExprNode) for m in e.message)
    told = e.condition.type is BOOL and _message(e.message)
    return e.type is e.a.type and told and not (placed and e.code in _PLACELESS)


def _message(parts: tuple[str | ExprNode, ...]) -> bool:
    return all(isinstance(m, str) or m.type.is_scalar() for m in parts)


def _let_within(s: Let) -> bool:
    return s.within is None or (s.value.type is INT64 and _is_index(s.within.min) and _is_index(s.within.len))


def _box(box: tuple[Any, ...], dimensions: int) -> bool:
    return len(box) == dimensions and all(_is_index(i.min) and _is_index(i.len) for i in box)


def _folds(s: Allocate) -> bool:
    return len(s.folds) in (0, len(s.bounds)) and all(k is None or _is_index(k) for k in s.folds)


def _layout(s: Allocate) -> bool:
    return s.layout is None or sorted(s.layout.order) == list(range(s.func.dimensions))


def _provided(s: Provide) -> bool:
    return tuple(v.type for v in s.values) == s.func.types


RULES: Mapping[type[ExprNode] | type[Stmt], tuple[NodeRule, ...]] = {
    IntImm: (NodeRule("a literal is a number of its scalar integer type", _literal),),
    FloatImm: (NodeRule("a float's pattern has as many bits as its scalar type", _number),),
    ParamRef: (
        NodeRule("a parameter has the type that it was made with", lambda e: e.type is computed_type(e.param.type)),
    ),
    BufferField: (
        NodeRule("a buffer's field is an int64, or what users see of it, an int32", lambda e: e.type in (INT64, INT32)),
        NodeRule("a buffer's field is of one of its dimensions", lambda e: 0 <= e.dim < e.buffer.dimensions),
    ),
    Hole: (
        NodeRule("a hole is an index", _is_index),
        NodeRule("a hole is of one of its Func's dimensions", lambda e: 0 <= e.dim < e.func.dimensions),
    ),
    Binary: (
        NodeRule("the operator is defined on its operands' types", _operands),
        NodeRule("an operator's type is that of its operands, and a comparison's is bool", _result),
    ),
    Not: (NodeRule("what is negated is a truth value", lambda e: e.type is e.a.type and is_truth(e.type)),),
    Select: (
        NodeRule(
            "the condition is a truth value, of as many lanes as the choices",
            lambda e: e.condition.type is BOOL.with_lanes(e.type.lanes()),
        ),
        NodeRule("both choices have the type of the select", lambda e: e.type is e.a.type is e.b.type),
    ),
    Cast: (NodeRule("a conversion keeps the lanes", lambda e: _lane_counts(e.type, e.a)),),
    Call: (NodeRule("a function has arguments of its signature", _call),),
    Promise: (
        NodeRule(
            "a promise is of integers of one type",
            lambda e: e.type is e.value.type is e.low.type is e.high.type and e.type.is_integer(),
        ),
    ),
    Print: (
        NodeRule("what is printed beside a value leaves its type", lambda e: e.type is e.a.type),
        NodeRule("what decides whether something is printed is a truth value", lambda e: e.condition.type is BOOL),
        NodeRule("what is printed are scalars", lambda e: _message(e.message)),
    ),
    Event: (NodeRule("an event leaves a value as it is, and tells of scalars, of its place or of none", _event),),
    Access: (
        NodeRule("a point has a coordinate for each dimension", lambda e: len(e.args) == e.callee.dimensions),
        NodeRule("a coordinate is an index", lambda e: all(map(_is_index, e.args))),
        NodeRule(
            "an access has the type of the component that it reads",
            lambda e: 0 <= e.component < len(e.callee.types) and e.type is e.callee.types[e.component],
        ),
        NodeRule("an access reads a stage, or the last one", lambda e: e.stage >= LAST_STAGE),
    ),
    Load: (NodeRule("a load's index is an index for each lane", lambda e: _indexed(e.type, e.index)),),
    Ramp: (
        NodeRule("a ramp has lanes", lambda e: e.type.is_vector()),
        NodeRule(
            "a ramp's start and step are integers of its element's type",
            lambda e: e.base.type is e.stride.type is e.type.element_of() and e.type.is_integer(),
        ),
    ),
    Broadcast: (
        NodeRule(
            "what is spread over lanes is one value of their type",
            lambda e: e.type.is_vector() and e.a.type is e.type.element_of(),
        ),
    ),
    Slice: (
        NodeRule("a slice is of a vector variable, and has its elements' type", _slice),
        NodeRule(
            "a slice lies inside its vector",
            lambda e: e.first >= 0 and e.first + e.type.lanes() <= e.a.type.lanes(),
        ),
    ),
    Let: (
        NodeRule("a variable has the type of its value", lambda s: s.var.type is s.value.type),
        NodeRule("what is known of a let's range are indices", _let_within),
    ),
    Allocate: (
        NodeRule("memory has an interval of indices for each dimension", lambda s: _box(s.bounds, s.func.dimensions)),
        NodeRule("folds are indices, one a dimension where there are any", _folds),
        NodeRule("a layout orders each dimension once", _layout),
        NodeRule(
            "what is computed has an interval of indices for each dimension, where it is kept",
            lambda s: not s.computed or _box(s.computed, s.func.dimensions),
        ),
    ),
    For: (
        NodeRule("a loop's variable is an index", lambda s: _is_index(s.var)),
        NodeRule("a loop's bounds are indices", lambda s: _is_index(s.bounds.min) and _is_index(s.bounds.len)),
    ),
    If: (NodeRule("what decides a branch is one truth value", lambda s: s.condition.type is BOOL),),
    Assert: (
        NodeRule("what is checked is one truth value", lambda s: s.condition.type is BOOL),
        NodeRule("a check's message shows scalars", lambda s: _message(s.message)),
    ),
    Provide: (
        NodeRule(
            "a point that is written has a coordinate for each dimension", lambda s: len(s.args) == s.func.dimensions
        ),
        NodeRule("a coordinate that is written is an index", lambda s: all(map(_is_index, s.args))),
        NodeRule("a point gets a value of each of its Func's types", _provided),
    ),
    AnswerQuery: (
        NodeRule(
            "a region has an interval of indices for each dimension",
            lambda s: all(_box(box, callee.dimensions) for callee, box in s.regions),
        ),
    ),
    WriteFile: (
        NodeRule("what a file shows has an interval for each dimension", lambda s: _box(s.box, s.func.dimensions)),
        NodeRule("the distances between shown points are indices", lambda s: all(map(_is_index, s.strides))),
    ),
    PrefetchRegion: (
        NodeRule("a prefetch's distance is an index", lambda s: _is_index(s.offset)),
        NodeRule(
            "what is prefetched has an interval for each dimension",
            lambda s: s.box is None or _box(s.box, s.func.dimensions),
        ),
    ),
    PrefetchLine: (NodeRule("a prefetched line has an index", lambda s: _is_index(s.index)),),
    AllocateFlat: (
        NodeRule("flat memory holds scalars", lambda s: s.type.is_scalar()),
        NodeRule("the size of flat memory is an index", lambda s: _is_index(s.size)),
    ),
    Store: (NodeRule("a store's index is an index for each lane", lambda s: _indexed(s.value.type, s.index)),),
    Remember: (
        NodeRule("a key is made of scalars", lambda s: all(e.type.is_scalar() for e in s.key)),
        NodeRule(
            "what is remembered goes by a number, and has a size that is an index",
            lambda s: all(e is None or e.type.is_integer() for e in (s.evicted, s.size)),
        ),
    ),
    Fork: (NodeRule("a semaphore's first count is not negative", lambda s: all(n >= 0 for _, n in s.semaphores)),),
    FirstLanes: (
        NodeRule("the number of lanes that do something is an index", lambda s: _is_index(s.count)),
        NodeRule("lanes that do nothing are left out of dense stores", lambda s: _stores_densely(s.body)),
    ),
    Stores: (NodeRule("a point of a Tuple has several values", lambda s: len(s.stores) > 1),),
}
"""The rules of each node by itself."""
