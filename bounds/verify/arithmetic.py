"""Claims about machine integers: what index arithmetic leaves out of account.

In: the expressions that stand in a tree. Out: conditions under which no int64 index leaves int64, so that it may be
taken for an integer; and those under which each coordinate of a definition, computed in int32 as the user wrote it, is
the int64 number that the program uses.

    f[x] = g[x*4]   ->   int64(int32(x)*4) == x*4       (a start-up check sees to it)

Constant ranges of variables decide most of int64; what they leave open is a claim like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import TargetExprs
from halide_core.analysis.interval import Range
from halide_core.bounds.verify.fused_lengths import as_checked, checked_lengths
from halide_core.bounds.verify.vc import Context
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Select
from halide_core.ir.logic import all_of, any_of
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import parts, subexpressions
from halide_core.loop_nest import LENGTH_LIMIT

_LEAST, _MOST = INT64.range


def overflowing(exprs: Iterable[ExprNode], ranges: ConstantRanges) -> list[ExprNode]:
    """The int64 arithmetic in some expressions that the constant ranges don't keep in int64."""
    return [e for e in subexpressions(exprs) if _is_arithmetic(e) and not _fits(ranges.of(e))]


def fits_int64(risky: Iterable[ExprNode], context: Context) -> ExprNode:
    """That some expressions stay in int64: by themselves, or as products of lengths that a check is about."""
    least, most = ir.i64(_LEAST), ir.i64(_MOST)
    checked = checked_lengths(context)
    return all_of(
        any_of((all_of((ir.less_equal(least, e), ir.less_equal(e, most))), *as_checked(_unrounded(e), checked)))
        for e in risky
    )


def has_length(condition: ExprNode, context: Context) -> ExprNode:
    """A condition; or, if it is that of a fused loop's length, what a check makes it follow from."""
    match condition:
        case Binary(op=BinaryOp.LE, a=product, b=IntImm(value=value)) if value == LENGTH_LIMIT:
            return any_of((condition, *as_checked(product, checked_lengths(context))))
    return condition


def _unrounded(e: ExprNode) -> ExprNode:
    """A length without what a split adds to it to round it up, for which the limit leaves room."""
    match e:
        case Binary(op=BinaryOp.ADD, a=length, b=IntImm(value=more)) if 0 <= more <= _MOST - LENGTH_LIMIT:
            return length
    return e


_LEAVING = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})


def _is_arithmetic(e: ExprNode) -> bool:
    """True where an expression is a number of int64 only if nothing overflows. Any other of numbers that are is one
    always: the lesser of two is one of them, the quotient of the least number by -1 wraps, and so does what is
    shifted, for the machine and for the solver."""
    return isinstance(e, Binary) and e.type is INT64 and e.op in _LEAVING


def _fits(over: Range) -> bool:
    return over[0] >= _LEAST and over[1] <= _MOST


def fits_int32(e: ExprNode) -> ExprNode:
    """That an int64 number is one of int32."""
    least, most = (ir.i64(end) for end in INT32.range)
    return ir.conjunction(ir.less_equal(least, e), ir.less_equal(e, most))


def in_int64(coordinates: Iterable[ExprNode], exprs: TargetExprs) -> Iterator[ExprNode]:
    """The int32 expressions that are computed as int64 ones: if each fits int32, the two are the same number. What is
    computed in int32 all the same needs no claim, nor does what is in int32 wherever its operands are."""
    seen: set[ExprNode] = set()
    waiting = list(coordinates)
    while waiting:
        e = waiting.pop()
        if e in seen or e.type is not INT32 or exprs.index(e) is ir.Cast(INT64, exprs.value(e)):
            continue
        seen.add(e)
        if not _stays(e):
            yield e
        waiting += parts(e)


def _stays(e: ExprNode) -> bool:
    """True where an expression is in its type's range because its operands are."""
    match e:
        case IntImm() | Select() | Binary(op=BinaryOp.MIN | BinaryOp.MAX | BinaryOp.MOD | BinaryOp.SHR):
            return True
        case Binary(op=BinaryOp.DIV, b=IntImm(value=value)):
            return value != -1  # only the least number has no negation
    return False
