"""The expressions that C evaluates for a statement or an expression, with those that compute an index.

In: a statement or an expression. Out: *uses*: expressions, each with whether it computes an index, that is a place in
memory or a bound of a loop. Only int64 values can; what memory holds, and what is compared or cast, computes none.

    uses_of(out[y*stride + x] = f[x] + 1)   ->   (f[x] + 1, False), (y*stride + x, True)
    operands((f[x] + 1, False))             ->   (f[x], False), (1, False)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.interval import fits
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT32, INT64, Int, UInt
from halide_core.ir.visitor import nodes_of, parts, stmt_exprs, walk
from halide_core.runtime.codegen.vector.lane_ranges import range_of_lanes

SHIFTS = frozenset({BinaryOp.SHL, BinaryOp.SHR})
_DIVISIONS = frozenset({BinaryOp.DIV, BinaryOp.MOD})

_LIMITS = {BinaryOp.MIN, BinaryOp.MAX}

_SMALL = frozenset({Int(8), UInt(8), Int(16), UInt(16)})
_NARROWER = (UInt(8), UInt(16))
_WORD = 64
"""Lanes leave a vector register in words of so many bits."""

Use = tuple[ExprNode, bool]
"""An expression, and whether it computes an index."""


def as_use(expr: ExprNode, index: bool) -> Use:
    """The use of an expression: only int64 values can be indices."""
    return expr, index and expr.type.element_of() is INT64


def address_parts(index: ExprNode, *, stored: bool = False) -> tuple[ExprNode, ...]:
    """The parts that are evaluated for an index: (base,) of dense lanes, (base, stride) of equal distances, (base,
    first) of lanes that share elements and are loaded, (base, distance) of lanes that are loaded in pairs, the even
    ones from the base on, as the odd ones are so far from there, (base, rest) of lanes anywhere, where the rest is as
    narrow as the index says that it fits, or (base, *terms) of ``lane_terms``, of loads; else the index itself."""
    match index:
        case ir.Ramp(base=base, stride=stride):
            return (base,) if stride is ir.ONE else (base, stride)
        case ir.Broadcast(a=a):
            return (a,)
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(a=base), b=ir.Binary(a=ir.Ramp(base=first))) if (
            not stored and lanes_an_element(index)
        ):
            return (base, first)
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(a=base)) if not stored and (pairs := lanes_in_pairs(index)):
            return (base, pairs.distance)
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(a=base), b=rest):
            terms = () if stored else lane_terms(index)
            return (base, *terms) if terms else (base, _narrow(rest))
    return (index,)


def lane_terms(index: ExprNode) -> tuple[ExprNode, ...]:
    """Vectors of int32, each followed by the number that its lanes are multiplied by, where there is one: (a, b, s) of
    ``x8(base) + (i64(a) + i64(b)*x8(s))``. None of an index without a product."""
    match index:
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(), b=rest):
            found = [_lane_term(term) for term in _summands(rest)]
            if all(found) and any(len(term) == 2 for term in found):
                return tuple([part for term in found for part in term])
    return ()


def _summands(e: ExprNode) -> list[ExprNode]:
    match e:
        case ir.Binary(op=BinaryOp.ADD, a=a, b=b):
            return [*_summands(a), *_summands(b)]
    return [e]


def _lane_term(e: ExprNode) -> tuple[ExprNode, ...]:
    match e:
        case ir.Cast(a=a) if a.type.element_of() is INT32:
            return (a,)
        case ir.Binary(op=BinaryOp.MUL, a=ir.Cast(a=a), b=ir.Broadcast(a=factor)) if a.type.element_of() is INT32:
            return (a, factor)
    return ()


def _narrow(rest: ExprNode) -> ExprNode:
    """The part that differs between lanes, as int32 where it fits, and as less where it is made of that or known to:
    more lanes leave a register at once."""
    match rest:
        case ir.Cast(a=ir.Cast(a=a) as wide) if wide.type.element_of() is INT32 and a.type.element_of() in _SMALL:
            return a
        case ir.Cast(a=a) if a.type.element_of() is INT32:
            found, lanes = range_of_lanes(a), a.type.lanes()
            least = next((t for t in _NARROWER if fits(found, t) and lanes * t.bits() >= _WORD), None)
            return a if least is None else ir.Cast(least.with_lanes(lanes), a)
    return rest


def lanes_an_element(index: ExprNode) -> int:
    """The number of neighbouring lanes that share an element: k of ``x16(base) + ramp(first, 1, 16)/x16(k)``; 0 of all
    others."""
    match index:
        case ir.Binary(
            op=BinaryOp.ADD,
            a=ir.Broadcast(),
            b=ir.Binary(op=BinaryOp.DIV, a=ir.Ramp(stride=stride), b=ir.Broadcast(a=ir.IntImm(value=k))),
        ) if stride is ir.ONE and k > 1 and k & (k - 1) == 0 and index.type.lanes() % k == 0:
            return k
    return 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Lanes of which the even ones are a ramp, so many elements apart, and the odd ones too, so far from there."""

    step: int
    distance: ExprNode


def lanes_in_pairs(index: ExprNode) -> Pairs | None:
    """The s and d of ``x16(base) + (ramp(0, 1, 16)/x16(2)*x16(s) + (ramp(0, 1, 16) % x16(2))*x16(d))``; None of all
    others."""
    match index:
        case ir.Binary(
            op=BinaryOp.ADD,
            a=ir.Broadcast(),
            b=ir.Binary(
                op=BinaryOp.ADD,
                a=ir.Binary(
                    op=BinaryOp.MUL,
                    a=ir.Binary(op=BinaryOp.DIV, a=ir.Ramp(base=ir.IntImm(value=0), stride=stride) as lane, b=halves),
                    b=ir.Broadcast(a=ir.IntImm(value=step)),
                ),
                b=ir.Binary(
                    op=BinaryOp.MUL,
                    a=ir.Binary(op=BinaryOp.MOD, a=same, b=ir.Broadcast(a=ir.IntImm(value=2))),
                    b=ir.Broadcast(a=distance),
                ),
            ),
        ) if same is lane and stride is ir.ONE and small_constant(halves) == 2:
            return Pairs(step, distance)
    return None


def small_constant(e: ExprNode) -> int | None:
    """The value of a literal, or of copies of one."""
    inner = e.a if isinstance(e, ir.Broadcast) else e
    return inner.value if isinstance(inner, ir.IntImm) else None


def divides_by_constant(e: ir.Binary) -> bool:
    """True where integers are divided by one positive number, which the compiler multiplies by something instead."""
    integer = e.op in _DIVISIONS and e.type.is_integer() and not e.type.is_bool()
    signed = e.op is ir.BinaryOp.DIV and e.type.is_int() and e.type.bits() < 64
    return integer and (e.type.is_vector() or signed) and (small_constant(e.b) or 0) > 0


def limited(e: ir.Cast) -> ExprNode | None:
    """The signed lanes that are limited to what a narrower type holds, and then converted to it; None of all else."""
    source, to = e.a.type, e.type
    if not (to.is_vector() and to.is_integer() and source.is_int() and 8 <= to.bits() < source.bits() <= 32):
        return None
    match e.a:
        case ir.Binary(op=outer, a=ir.Binary(op=inner, a=x, b=first), b=last) if {outer, inner} == _LIMITS:
            ends = {inner: small_constant(first), outer: small_constant(last)}
            return x if (ends[BinaryOp.MAX], ends[BinaryOp.MIN]) == to.range else None
    return None


def makes_floats(body: ir.Stmt) -> bool:
    """True of a program in which integers become floats; of lanes, too, which may be copies of a scalar."""
    casts = (e for stmt in walk(body) for e in nodes_of(stmt_exprs(stmt), ir.Cast))
    return any(e.type.is_float() and e.a.type.is_integer() for e in casts)


def has_no_sign(e: ExprNode) -> bool:
    """True where its operations say that a float, if it is a number, is not negative, nor -0.0. Of a NaN and a number
    ``min`` and ``max`` give the second."""
    waiting, seen = [e], {e}
    while waiting:
        match waiting.pop():
            case ir.FloatImm(value=value) if math.copysign(1.0, value) > 0:
                continue
            case ir.Binary(op=BinaryOp.MAX, b=low):
                parts = {low}
            case ir.Binary(op=BinaryOp.MIN | BinaryOp.ADD | BinaryOp.MUL, a=a, b=b):
                parts = {a, b}
            case ir.Broadcast(a=a):
                parts = {a}
            case _:
                return False
        waiting.extend(parts - seen)
        seen |= parts
    return True


def shift_amount(e: ir.Binary) -> int | None:
    """The constant, in-range number of bits of a shift, or of a division by a power of two."""
    value = small_constant(e.b)
    if value is None or e.type.is_bool() or not e.type.is_integer():
        return None
    if e.op in SHIFTS:
        return value if 0 <= value < e.type.bits() else None
    if e.op in _DIVISIONS and value > 0 and value & (value - 1) == 0:
        return value.bit_length() - 1
    return None


def operands(use: Use) -> tuple[Use, ...]:
    """The operands that are evaluated before an expression is."""
    return _operands_in_index(use[0]) if use[1] else _operands_of_value(use[0])


@remembered("_of_index")
def _operands_in_index(e: ExprNode) -> tuple[Use, ...]:
    return _operands(e, True)


@remembered("_of_value")
def _operands_of_value(e: ExprNode) -> tuple[Use, ...]:
    return _operands(e, False)


def _operands(e: ExprNode, index: bool) -> tuple[Use, ...]:
    match e:
        case ir.Binary(op=op, a=a, b=b):
            inside = index and op not in ir.COMPARISONS
            constant = shift_amount(e) is not None or divides_by_constant(e)
            return (as_use(a, inside),) if constant else (as_use(a, inside), as_use(b, inside))
        case ir.Select(condition=condition, a=a, b=b):
            return (as_use(condition, False), as_use(a, index), as_use(b, index))
        case ir.Load(index=at):
            return tuple(as_use(part, True) for part in address_parts(at))
        case ir.Ramp(base=base, stride=stride):
            return (as_use(base, index), as_use(stride, index))
        case ir.Broadcast(a=a):
            return (as_use(a, index),)
        case ir.Cast() if (inside_range := limited(e)) is not None:
            return (as_use(inside_range, False),)
        case ir.Cast(a=a) | ir.Not(a=a) | ir.Slice(a=a):
            return (as_use(a, False),)
        case ir.Call(args=args):
            return tuple(as_use(a, False) for a in args)
        case ir.Promise(value=value):
            return (as_use(value, index),)
        case ir.Print(a=a):
            return (as_use(a, index), *((part, False) for part in parts(e)[1:]))
    return ()


def uses_below(roots: Sequence[Use]) -> tuple[list[Use], dict[Use, int]]:
    """Every distinct use, operands first, and how often each one occurs."""
    order: list[Use] = []
    counts: dict[Use, int] = {}
    stack: list[Use] = list(reversed(roots))
    begun: list[Use] = []  # those whose operands are on the stack above them, the innermost last
    while stack:
        use = stack.pop()
        if begun and begun[-1] is use:
            order.append(begun.pop())
        elif use in counts:
            counts[use] += 1
        else:
            counts[use] = 1
            inside = operands(use)
            if inside:
                begun.append(use)
                stack.append(use)
                stack.extend(inside[::-1])
            else:
                order.append(use)
    return order, counts


def is_leaf(e: ExprNode) -> bool:
    return not operands((e, False)) or (isinstance(e, ir.Broadcast) and isinstance(e.a, ir.IntImm | ir.FloatImm))


def uses_of(stmt: ir.Stmt, index_lets: set[str]) -> list[Use]:
    """The expressions of a statement, each with whether it computes an index."""
    match stmt:
        case ir.Let(var=var, value=value):
            return [as_use(value, var.name in index_lets)]
        case ir.For(bounds=bounds):
            return [as_use(bounds.min, True), as_use(bounds.len, True)]
        case ir.AllocateFlat(size=size):
            return [as_use(size, True)]
        case ir.Store(index=index, value=value):
            return [as_use(value, False), *(as_use(part, True) for part in address_parts(index, stored=True))]
    return [as_use(e, False) for e in stmt_exprs(stmt)]


def find_index_lets(body: ir.Stmt) -> set[str]:
    """The variables that an index depends on: their lets are index arithmetic too. Uses come after their lets."""
    found: set[str] = set()
    for stmt in reversed(list(walk(body))):
        order, _ = uses_below(uses_of(stmt, found))
        found.update(e.name for e, index in order if index and isinstance(e, ir.Variable))
    return found
