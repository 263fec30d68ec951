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

from halide_core.ir.expr_nodes import (
    COMPARISONS,
    LAST_STAGE,
    LOGICAL,
    Access,
    Binary,
    BinaryOp,
    Broadcast,
    BufferField,
    Call,
    Callee,
    Cast,
    Domain,
    End,
    Event,
    EventCode,
    ExprNode,
    Field,
    FloatImm,
    Hole,
    HoleKind,
    IntImm,
    Intrinsic,
    Load,
    Not,
    ParamRef,
    Print,
    Promise,
    Ramp,
    RVarRef,
    Scalar,
    Select,
    Slice,
    Variable,
    print_nodes_with,
)
from halide_core.ir.float16 import pattern_of
from halide_core.ir.stmt_nodes import (
    NOTHING,
    Acquire,
    Allocate,
    AllocateFlat,
    AnswerQuery,
    Assert,
    Block,
    Failure,
    FirstLanes,
    For,
    Fork,
    If,
    Interval,
    Label,
    Let,
    LoopKind,
    LoopName,
    PrefetchLine,
    PrefetchRegion,
    Provide,
    Release,
    Remember,
    Stmt,
    Store,
    Stores,
    WriteFile,
)
from halide_core.ir.types import BOOL, INT32, INT64, Type

# Building expressions. None of these simplifies: that is ``simplify``'s work.


def const(value: int | float | bool, type: Type) -> ExprNode:
    """A literal of ``type``; integers wrap into it."""
    if type.lanes() > 1:
        return Broadcast(type, const(value, type.element_of()))
    if type.is_narrow_float():
        return FloatImm(type, pattern_of(value, type))
    if type.is_float():
        code, unsigned = ("<f", "<I") if type.bits() == 32 else ("<d", "<Q")
        try:
            packed = struct.pack(code, value)
        except OverflowError:
            packed = struct.pack(code, float("inf") if value > 0 else float("-inf"))
        return FloatImm(type, struct.unpack(unsigned, packed)[0])
    low, high = type.range
    return IntImm(type, (int(value) - low) % (high - low + 1) + low)


def i64(value: int) -> ExprNode:
    """An index literal."""
    return IntImm(INT64, value)


TRUE: ExprNode = IntImm(BOOL, 1)
FALSE: ExprNode = IntImm(BOOL, 0)
ZERO = i64(0)
ONE = i64(1)


def binary(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """``a op b``; the caller has matched the operands' types."""
    if op in COMPARISONS:
        return Binary(BOOL.with_lanes(a.type.lanes()), op, a, b)
    return Binary(a.type, op, a, b)


def add(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a + b``."""
    return Binary(a.type, BinaryOp.ADD, a, b)


def sub(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a - b``."""
    return Binary(a.type, BinaryOp.SUB, a, b)


def mul(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a * b``."""
    return Binary(a.type, BinaryOp.MUL, a, b)


def div(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a / b``, Euclidean for integers."""
    return Binary(a.type, BinaryOp.DIV, a, b)


def mod(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a % b``, Euclidean for integers."""
    return Binary(a.type, BinaryOp.MOD, a, b)


def minimum(a: ExprNode, b: ExprNode) -> ExprNode:
    """The lesser of two."""
    return Binary(a.type, BinaryOp.MIN, a, b)


def maximum(a: ExprNode, b: ExprNode) -> ExprNode:
    """The greater of two."""
    return Binary(a.type, BinaryOp.MAX, a, b)


def less(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a < b``."""
    return binary(BinaryOp.LT, a, b)


def less_equal(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a <= b``."""
    return binary(BinaryOp.LE, a, b)


def equal(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a == b``."""
    return binary(BinaryOp.EQ, a, b)


def conjunction(a: ExprNode, b: ExprNode) -> ExprNode:
    """``a && b``."""
    return Binary(a.type, BinaryOp.AND, a, b)


def cast(type: Type, a: ExprNode) -> ExprNode:
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


__all__ = [
    "COMPARISONS",
    "FALSE",
    "LAST_STAGE",
    "LOGICAL",
    "NOTHING",
    "ONE",
    "TRUE",
    "ZERO",
    "Access",
    "Acquire",
    "Allocate",
    "AllocateFlat",
    "AnswerQuery",
    "Assert",
    "Binary",
    "BinaryOp",
    "Block",
    "Broadcast",
    "BufferField",
    "Call",
    "Callee",
    "Cast",
    "Domain",
    "End",
    "Event",
    "EventCode",
    "ExprNode",
    "Failure",
    "Field",
    "FirstLanes",
    "FloatImm",
    "For",
    "Fork",
    "Hole",
    "HoleKind",
    "If",
    "IntImm",
    "Interval",
    "Intrinsic",
    "Label",
    "Let",
    "Load",
    "LoopKind",
    "LoopName",
    "Not",
    "ParamRef",
    "PrefetchLine",
    "PrefetchRegion",
    "Print",
    "Promise",
    "Provide",
    "RVarRef",
    "Ramp",
    "Release",
    "Remember",
    "Scalar",
    "Select",
    "Slice",
    "Stmt",
    "Store",
    "Stores",
    "Variable",
    "WriteFile",
    "add",
    "binary",
    "block",
    "cast",
    "conjunction",
    "const",
    "div",
    "equal",
    "i64",
    "index_variable",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "print_nodes_with",
    "pure_variable",
    "sub",
]
