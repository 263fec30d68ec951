"""Proofs that an operator obeys a law: by z3, on bits.

In: a Law. Out: how each part of it ended: associative, neutral, and commutative where that is asked for.

    (x0*y0 - x1*y1, x0*y1 + x1*y0), neutral (1, 0)   ->   all PROVEN

Operators that add, subtract and multiply alone are polynomials: what holds of all integers holds modulo 2^n too, and
z3 sees it by multiplying out. All others are proven on bit vectors, exactly as the values wrap. Floats are taken for
numbers that are not rounded, none of them NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import z3

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.bounds.verify.vc import Status
from halide_core.errors import InternalError
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, FloatImm, IntImm, Select, Variable
from halide_core.ir.types import Type
from halide_core.ir.visitor import parts, subexpressions

BUDGET = 20_000_000
"""z3's steps for one question."""
_RING = {BinaryOp.ADD: lambda a, b: a + b, BinaryOp.SUB: lambda a, b: a - b, BinaryOp.MUL: lambda a, b: a * b}


def prove_law(law: Law) -> list[tuple[str, Status]]:
    """The parts of a law, and how each ended: PROVEN, REFUTED or UNDECIDED."""
    ring = _is_ring(law)
    translate: Callable[[ExprNode], Any] = _Integers() if ring else _Bits() if law.exact else _Numbers()
    a, b, c = ([Variable(v.type, f"{v.name}.{n}") for v in law.x] for n in "abc")
    equations = [
        ("it is associative", law.applied(law.applied(a, b), c), law.applied(a, law.applied(b, c))),
        ("its neutral element changes nothing", law.applied(a, law.neutral), tuple(a)),
    ]
    if law.commutes:
        swapped = law.applied(law.applied(a, c), b)
        equations.append(("the order of what it takes in doesn't matter", law.applied(law.applied(a, b), c), swapped))
    decide = _multiplied_out if ring else _decided if law.exact else _decided_of_numbers
    found = []
    for told, x, y in equations:
        if any(map(_reckons_with_no_number, subexpressions([*x, *y]))):
            found.append((told, Status.UNDECIDED))
        else:
            found.append((told, decide([(translate(p), translate(q)) for p, q in zip(x, y, strict=True)])))
    return found


def _is_no_number(e: ExprNode) -> bool:
    return isinstance(e, FloatImm) and not math.isfinite(e.value)


def _reckons_with_no_number(e: ExprNode) -> bool:
    """True where infinity is an operand of what is not a comparison, or a NaN is mentioned: no number stands for it."""
    if isinstance(e, FloatImm):
        return math.isnan(e.value)
    match e:
        case Binary(op=op) if op not in _COMPARING:
            return any(map(_is_no_number, subexpressions(parts(e))))
        case Cast(a=a) if not (e.type.is_float() and a.type.is_float()):
            return any(map(_is_no_number, subexpressions((a,))))
    return False


def _is_ring(law: Law) -> bool:
    nodes = list(subexpressions([*law.combine, *law.neutral]))
    return len({e.type for e in nodes}) == 1 and not nodes[0].type.is_bool() and all(
        isinstance(e, Variable | IntImm)
        or (isinstance(e, FloatImm) and math.isfinite(e.value))
        or (isinstance(e, Binary) and e.op in _RING)
        for e in nodes
    )


def _multiplied_out(pairs: Sequence[tuple[Any, Any]]) -> Status:
    zero = [z3.simplify(x - y, som=True) for x, y in pairs]
    return Status.PROVEN if all(z3.is_true(z3.simplify(z == 0)) for z in zero) else Status.UNDECIDED


def _decided(pairs: Sequence[tuple[Any, Any]]) -> Status:
    solver = z3.SolverFor("QF_BV")
    solver.set("rlimit", BUDGET)
    solver.add(z3.Or([x != y for x, y in pairs]))
    answer = solver.check()
    if answer == z3.unknown:
        return Status.UNDECIDED
    return Status.PROVEN if answer == z3.unsat else Status.REFUTED


def _decided_of_numbers(pairs: Sequence[tuple[Any, Any]]) -> Status:
    solver = z3.Solver()
    solver.set("rlimit", BUDGET)
    differ = z3.Or([x != y for x, y in pairs])
    solver.add(differ, *(z3.And(n >= -_INFINITY, n <= _INFINITY) for n in _numbers(differ)))
    answer = solver.check()
    if answer == z3.unknown:
        return Status.UNDECIDED
    return Status.PROVEN if answer == z3.unsat else Status.REFUTED


def _numbers(formula: Any) -> list[Any]:
    """The unknowns and constants in a formula that stand for floats."""
    found, seen, waiting = [], set(), [formula]
    while waiting:
        e = waiting.pop()
        if e.get_id() not in seen:
            seen.add(e.get_id())
            waiting += e.children()
            if not e.children() and z3.is_real(e):
                found.append(e)
    return found


class _Integers:
    """Expressions of one type as polynomials over all integers, or all numbers."""

    def __call__(self, e: ExprNode) -> Any:
        match e:
            case IntImm(value=value):
                return z3.IntVal(value)
            case FloatImm(value=value):
                return z3.RealVal(Fraction(value))
            case Variable(type=type, name=name):
                return z3.Real(name) if type.is_float() else z3.Int(name)
            case Binary(op=op, a=a, b=b):
                return _RING[op](self(a), self(b))
        raise InternalError(f"{e!r} is no polynomial.")


class _Bits:
    """Expressions as bit vectors, and truth values as Bools."""

    def __init__(self) -> None:
        self._memo: dict[ExprNode, Any] = {}

    def __call__(self, e: ExprNode) -> Any:
        known = self._memo.get(e)
        if known is None:
            known = self._memo[e] = self._translate(e, [self(p) for p in parts(e)])
        return known

    def _translate(self, e: ExprNode, given: list[Any]) -> Any:
        match e:
            case IntImm(type=type, value=value):
                return z3.BoolVal(bool(value)) if type.is_bool() else z3.BitVecVal(value, type.bits())
            case Variable(type=type, name=name):
                return z3.Bool(name) if type.is_bool() else z3.BitVec(name, type.bits())
            case ir.Not():
                return z3.Not(given[0])
            case Select():
                return z3.If(given[0], given[1], given[2])
            case Cast(type=type, a=a):
                return _cast(type, a.type, given[0])
            case Binary(op=op, a=a):
                return _logic(op, *given) if a.type.is_bool() else _arithmetic(op, a.type, *given)
        raise InternalError(f"{e!r} has no bits here.")


class _Numbers(_Bits):
    """Floats as numbers that are not rounded, all else as bits."""

    def _translate(self, e: ExprNode, given: list[Any]) -> Any:
        match e:
            case FloatImm(value=value):
                finite = math.isfinite(value)
                return z3.RealVal(Fraction(value)) if finite else _INFINITY if value > 0 else -_INFINITY
            case Variable(type=type, name=name) if type.is_float():
                return z3.Real(name)
            case Cast(type=type, a=a) if type.is_float() and a.type.is_float():
                return given[0]
            case Cast(type=type, a=a) if type.is_float() or a.type.is_float():
                return z3.FreshConst(_sort(type))
            case Binary(op=op, a=a) if a.type.is_float():
                return _of_numbers(op, *given)
        return super()._translate(e, given)


_INFINITY = z3.Real("infinity")
"""No number is greater: it may be compared alone."""


def _sort(type: Type) -> Any:
    return z3.BoolSort() if type.is_bool() else z3.RealSort() if type.is_float() else z3.BitVecSort(type.bits())


def _cast(type: Type, source: Type, z: Any) -> Any:
    if source.is_bool():
        return z if type.is_bool() else z3.If(z, z3.BitVecVal(1, type.bits()), z3.BitVecVal(0, type.bits()))
    if type.is_bool():
        return z != 0
    more = type.bits() - source.bits()
    if more <= 0:
        return z3.Extract(type.bits() - 1, 0, z)
    return z3.SignExt(more, z) if source.is_int() else z3.ZeroExt(more, z)


def _logic(op: BinaryOp, a: Any, b: Any) -> Any:
    match op:
        case BinaryOp.AND | BinaryOp.BIT_AND | BinaryOp.MIN | BinaryOp.MUL:
            return z3.And(a, b)
        case BinaryOp.OR | BinaryOp.BIT_OR | BinaryOp.MAX:
            return z3.Or(a, b)
        case BinaryOp.BIT_XOR | BinaryOp.NE:
            return z3.Xor(a, b)
        case BinaryOp.EQ:
            return a == b
        case BinaryOp.LT:
            return z3.And(z3.Not(a), b)
        case BinaryOp.LE:
            return z3.Implies(a, b)
    raise InternalError(f"{op} is no operator of truth values.")


_COMPARING = frozenset({BinaryOp.MIN, BinaryOp.MAX, BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE})


def _of_numbers(op: BinaryOp, a: Any, b: Any) -> Any:
    if op in _RING or op in _COMPARING:
        return _ordered(op, a, b, a < b, a <= b)
    return z3.FreshConst(z3.RealSort())  # of a quotient nothing is known


def _arithmetic(op: BinaryOp, type: Type, a: Any, b: Any) -> Any:
    less, less_equal = (a < b, a <= b) if type.is_int() else (z3.ULT(a, b), z3.ULE(a, b))
    match op:
        case BinaryOp.BIT_AND:
            return a & b
        case BinaryOp.BIT_OR:
            return a | b
        case BinaryOp.BIT_XOR:
            return a ^ b
    if op in _RING or op in _COMPARING:
        return _ordered(op, a, b, less, less_equal)
    # Division and shifts: operators with them obey no law that is known; of any value at all none is proven.
    return z3.FreshConst(z3.BitVecSort(type.bits()))


def _ordered(op: BinaryOp, a: Any, b: Any, less: Any, less_equal: Any) -> Any:
    match op:
        case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL:
            return _RING[op](a, b)
        case BinaryOp.MIN:
            return z3.If(less, a, b)
        case BinaryOp.MAX:
            return z3.If(less, b, a)
        case BinaryOp.EQ:
            return a == b
        case BinaryOp.NE:
            return a != b
        case BinaryOp.LT:
            return less
        case BinaryOp.LE:
            return less_equal
    raise InternalError(f"{op} is no operator of ordered numbers.")
