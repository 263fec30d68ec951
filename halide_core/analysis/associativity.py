"""Matches the operator by which a reduction accumulates values, and the law that it obeys.

In: an update definition. Out: a Law, ``combine`` of a state ``x`` and a value ``y``, and its neutral element; or None.

    f[x] += g[r.x]                                    ->   x + y,  neutral 0
    f[x] = (f[x][0]*a - f[x][1]*b, f[x][0]*b + f[x][1]*a)
                                                      ->   (x0*y0 - x1*y1, x0*y1 + x1*y0),  neutral (1, 0)

The operator is what is left of the values when all that doesn't read the Func is taken for unknown; of several readings
the first counts that obeys the law on sample values. Samples find, they prove nothing: ``Law.known`` says whether the
operators are ones that are known to obey it; others are for a prover. Nothing here is proven of floats.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halide_core import ir
from halide_core.algorithm.law import KNOWN_OPERATORS, Law
from halide_core.algorithm.model import Definition, Function
from halide_core.errors import InternalError
from halide_core.ir import Access, Binary, BinaryOp, Call, Cast, ExprNode, FloatImm, IntImm, Intrinsic, Select, Variable
from halide_core.ir.types import Type
from halide_core.ir.visitor import Rewriter, accesses_to, parts, subexpressions, with_parts
from halide_core.reference.scalar_ops import Value, binary_function, cast_function, logical_not

_MOST_COMPONENTS = 4
_SAMPLES = 60


def law_of(function: Function, definition: Definition) -> Law | None:
    """The law that an update definition obeys on samples; None where there is none, or it reads its Func elsewhere.
    A trace changes no value: the law is that of what it shows."""
    definition = replace(definition, values=tuple(map(_Untraced().expr, definition.values)))
    own = [Access(t, function, definition.args, k, _label(function, definition)) for k, t in enumerate(function.types)]
    if len(own) > _MOST_COMPONENTS or not updates_points(function, definition):
        return None
    x = tuple([Variable(t, f"x{k}" if len(own) > 1 else "x") for k, t in enumerate(function.types)])
    y = tuple([Variable(t, f"y{k}" if len(own) > 1 else "y") for k, t in enumerate(function.types)])
    states = dict(zip(own, x, strict=True))
    values = [_gathered(_narrowed(e), _Reads(function)) for e in definition.values]
    for combine in _readings(values, states, y, _Reads(function)):
        law = _on_samples(x, y, combine)
        if law is not None:
            return law
    return None


class _Untraced(Rewriter):
    """Values without the events of traces."""

    def rewrite_Event(self, e: ir.Event) -> ExprNode:
        """The value that is shown."""
        return self.expr(e.a)


def _label(function: Function, definition: Definition) -> int:
    """The stage whose values an update reads of its own Func."""
    read = accesses_to(function, definition.values)
    return read[0].stage if read else ir.LAST_STAGE


def updates_points(function: Function, definition: Definition) -> bool:
    """True where an update reads its own Func, and nothing of it but the point that it writes, for the value alone."""
    roots = [*definition.args, definition.predicate]
    if definition.domain is not None and definition.domain.at_once:
        return False  # of two that write one point at once, one does not see what the other wrote
    if definition.domain is not None:
        roots.append(definition.domain.predicate)
    read = accesses_to(function, definition.values)
    return not accesses_to(function, roots) and bool(read) and all(e.args == definition.args for e in read)


def _narrowed(e: ExprNode) -> ExprNode:
    """A float of 16 bits, with a constant operand as one of 16 bits too, which is widened as any operand is."""
    if not (isinstance(e, Cast) and e.type.is_narrow_float() and isinstance(e.a, Binary)):
        return e
    near = [ir.cast(e.type, each) if isinstance(each, FloatImm) else None for each in (e.a.a, e.a.b)]
    operands = [
        each if n is None or ir.cast(each.type, n) is not each else Cast(each.type, n)
        for each, n in zip((e.a.a, e.a.b), near, strict=True)
    ]
    return Cast(e.type, Binary(e.a.type, e.a.op, *operands))


class _Reads:
    """Finds reads of a Func in expressions."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._memo: dict[ExprNode, bool] = {}

    def __call__(self, e: ExprNode) -> bool:
        known = self._memo.get(e)
        if known is None:
            mine = isinstance(e, Access) and e.callee is self._function
            known = self._memo[e] = mine or any(map(self, parts(e)))
        return known


def _gathered(e: ExprNode, reads: _Reads) -> ExprNode:
    """A chain such as ``(f[x] + a) - b`` with one operand besides what reads the Func: ``f[x] + (a + (0 - b))``. Of
    integers it has the same value: another component may be made of the same operands, or of their negatives."""
    if isinstance(e, Call) and e.function is Intrinsic.FMA:
        a, b, c = e.args
        e = ir.add(c, ir.mul(a, b))  # rounded once or twice, no law of floats holds to the last bit
    if isinstance(e, Select) and not reads(e.condition):
        e = _where_taken(e, reads)
    if not isinstance(e, Binary) or not reads(e):
        return e
    op, a, b = e.op, e.a, e.b
    if op is BinaryOp.SUB and reads(a) and not reads(b):
        op, b = BinaryOp.ADD, ir.sub(ir.const(0, b.type), b)
    if op not in KNOWN_OPERATORS or reads(a) == reads(b):
        return e
    state, new = (a, b) if reads(a) else (b, a)
    inner = _gathered(state, reads)
    if isinstance(inner, Binary) and inner.op is op and reads(inner.a) and not reads(inner.b):
        return ir.binary(op, inner.a, ir.binary(op, inner.b, new))
    return ir.binary(op, inner, new)


def _where_taken(e: Select, reads: _Reads) -> ExprNode:
    """``select(c, f[x] + a, f[x])`` takes in a, or the neutral element: one value that need not be known here."""
    for taken, left in ((e.a, e.b), (e.b, e.a)):
        inner = _gathered(taken, reads)
        if isinstance(left, Access) and reads(left) and isinstance(inner, Binary) and inner.op in KNOWN_OPERATORS:
            state, new = (inner.a, inner.b) if reads(inner.a) else (inner.b, inner.a)
            if state is left and not reads(new):
                nothing = _neutral(inner.op, new.type)
                a, b = (new, nothing) if taken is e.a else (nothing, new)
                return ir.binary(inner.op, state, Select(new.type, e.condition, a, b))
    return e


def _neutral(op: BinaryOp, type: Type) -> ExprNode:
    """The operand of a known operator that changes nothing."""
    match op:
        case BinaryOp.MUL | BinaryOp.AND:
            return ir.const(1, type)
        case BinaryOp.MIN | BinaryOp.MAX if type.is_float():
            return ir.const(math.inf if op is BinaryOp.MIN else -math.inf, type)
        case BinaryOp.MIN:
            return ir.const(type.range[1], type)
        case BinaryOp.MAX:
            return ir.const(type.range[0], type)
        case BinaryOp.BIT_AND:
            return ir.const(type.range[1] if type.is_uint() else -1, type)
    return ir.const(-0.0 if type.is_float() else 0, type)


def _readings(
    values: Sequence[ExprNode], states: Mapping[Access, Variable], y: Sequence[Variable], reads: _Reads
) -> Iterator[tuple[ExprNode, ...]]:
    """Ways to see the values as a function of the state and of one unknown a component."""
    for constants in (True, False):  # whether constants are unknowns too: that of ``f[x] += 1`` is
        free = [_unknowns([v], reads, constants=constants) for v in values]
        if all(len(f) <= 1 for f in free):
            each = [dict.fromkeys(f, y[k]) for k, f in enumerate(free)]
            if all(e.type is v.type for one in each for e, v in one.items()):
                yield tuple(_read(v, states, one) for v, one in zip(values, each, strict=True))
        every = _unknowns(values, reads, constants=constants)
        for chosen in itertools.permutations(y, len(every)):
            if all(e.type is v.type for e, v in zip(every, chosen, strict=True)):
                one = dict(zip(every, chosen, strict=True))
                yield tuple(_read(v, states, one) for v in values)


def _unknowns(values: Sequence[ExprNode], reads: _Reads, *, constants: bool) -> list[ExprNode]:
    """The largest parts that don't read the Func; of one that is widened for an operation alone, what is widened."""
    types = {e.type for e in values}
    found: dict[ExprNode, None] = {}
    seen: set[ExprNode] = set()
    stack = list(reversed(values))
    while stack:
        e = stack.pop()
        if e in seen or (isinstance(e, Access) and reads(e)):
            continue
        seen.add(e)
        if reads(e) or (isinstance(e, Cast) and e.type not in types and e.a.type in types):
            stack.extend(reversed(parts(e)))
        elif constants or not isinstance(e, IntImm | FloatImm):
            found.setdefault(e)
    return list(found)


def _read(e: ExprNode, states: Mapping[Access, Variable], unknowns: Mapping[ExprNode, Variable]) -> ExprNode:
    if isinstance(e, Access) and e in states:
        return states[e]
    if e in unknowns:
        return unknowns[e]
    return with_parts(e, tuple([_read(p, states, unknowns) for p in parts(e)]))


# ---------------------------------------------------------------------------------------------------------
# Samples.

_Point = tuple[Value, ...]


def _on_samples(x: tuple[Variable, ...], y: tuple[Variable, ...], combine: tuple[ExprNode, ...]) -> Law | None:
    if not all(e in x or e in y or _computes(e) for e in subexpressions(combine)):
        return None
    rng = random.Random(1)
    points = [tuple(rng.choice(_samples(v.type)) for v in x) for _ in range(_SAMPLES)]

    def join(a: _Point, b: _Point) -> _Point:
        known: dict[ExprNode, Value] = {**dict(zip(x, a, strict=True)), **dict(zip(y, b, strict=True))}
        return tuple([_value(e, known) for e in combine])

    triples = list(zip(points, points[1:], points[2:], strict=False))
    # Floats may round otherwise in another order, and so may the sign of a zero be another: it is assumed all the same.
    if any(join(join(a, b), c) != join(a, join(b, c)) for a, b, c in triples):
        return None
    commutes = all(join(join(a, b), c) == join(join(a, c), b) for a, b, c in triples)
    for alike in (_same, operator.eq):  # a complex product has no neutral element that keeps the sign of every zero
        for neutral in itertools.product(*(_candidates(v.type) for v in x)):
            given = tuple(_value(e, {}) for e in neutral)
            if all(alike(join(a, given), a) for a in points):
                return Law(x, y, combine, neutral, commutes)
    return None


def _same(a: _Point, b: _Point) -> bool:
    """True where two points are alike, bit by bit: of floats, the zeros differ."""
    return all(p == q and math.copysign(1, p) == math.copysign(1, q) for p, q in zip(a, b, strict=True))


def _samples(type: Type) -> list[Value]:
    """Numbers to try: whole floats, with which sums and products are exact."""
    if type.is_bool():
        return [False, True]
    if type.is_float():
        return [-3.0, -1.0, -0.0, 0.0, 1.0, 2.0, 5.0]
    low, high = type.range
    return [n for n in (low, low + 1, -7, -1, 0, 1, 2, 3, 6, 100, high - 1, high) if low <= n <= high]


def _candidates(type: Type) -> list[ExprNode]:
    """Neutral elements to try."""
    if type.is_float():
        return [ir.const(v, type) for v in (-0.0, 0.0, 1.0, math.inf, -math.inf)]
    low, high = type.range
    return [ir.const(v, type) for v in dict.fromkeys((0, 1, high, low, -1 if low < 0 else high))]


def _computes(e: ExprNode) -> bool:
    """True where ``_value`` knows the node."""
    return isinstance(e, Binary | Select | Cast | ir.Not | IntImm | FloatImm)


def _value(e: ExprNode, known: Mapping[ExprNode, Value]) -> Value:
    """The value of an expression by the reference semantics."""
    if e in known:
        return known[e]
    given: list[Any] = [_value(p, known) for p in parts(e)]
    match e:
        case IntImm(value=value):
            return bool(value) if e.type.is_bool() else value
        case FloatImm():
            return e.value
        case Binary(op=op, a=a):
            return binary_function(op, a.type)(*given)  # type: ignore[no-any-return]  # of any type
        case Select():
            return given[1] if given[0] else given[2]  # type: ignore[no-any-return]
        case Cast(type=type, a=a):
            return cast_function(a.type, type)(given[0])  # type: ignore[no-any-return]
        case ir.Not():
            return logical_not(given[0])
    raise InternalError(f"{e!r} has no value on samples.")
