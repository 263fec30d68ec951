"""Expressions as terms of integer arithmetic for z3: exactly the semantics of ``halide_core.reference.scalar_ops``.

In: an expression. Out: a Term: a z3 integer or truth value, the constant range that its shape alone implies, and the
axioms that hold of the unknowns in it.

int64 index arithmetic is that of all integers: that it stays in int64 is a claim of its own. All other arithmetic
wraps, exactly. What has no place in integer arithmetic (floats, bit tricks, functions) is an unknown of its
type's range: one unknown an expression, so that equal expressions have equal values. A product of two unknowns is a
third, with lemmas about its sign and its growth; ``products.exact`` says what it really is.

    uint8(x) + 200   ->   ite(x + 200 > 255, x + 200 - 256, x + 200)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import z3

from halide_core import ir
from halide_core.analysis.bit_counts import counted
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.interval import EVERYTHING, TRUTH, Range, fits, meet, of_integers, truncated, union
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import mentions
from halide_core.bounds.engines.float_choices import taken_apart
from halide_core.bounds.engines.float_ends import with_natural_root
from halide_core.bounds.engines.widening import is_mask, small_amounts
from halide_core.bounds.smt.axioms import Axioms
from halide_core.bounds.smt.constants import all_ones, constant_of, euclid, with_numbers
from halide_core.bounds.smt.floats import (
    by_integers,
    converted_range,
    declared_ranges,
    float_range,
    infinite,
    order,
    where_declared,
)
from halide_core.bounds.smt.formulas import (
    as_number,
    boolean,
    both,
    choice,
    either,
    implies,
    integer,
    literal,
    literal_truth,
    logical,
    opposite,
)
from halide_core.bounds.smt.position_products import PositionProducts
from halide_core.bounds.smt.position_values import PositionValues
from halide_core.bounds.smt.positions import Shape, extreme, no_greater, shapes_of
from halide_core.bounds.smt.products import FEW_VALUES, Products
from halide_core.bounds.smt.z3_api import unknowns_in
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, Field, IntImm, Intrinsic, Variable
from halide_core.ir.types import INT32, INT64, Type, UInt
from halide_core.ir.visitor import parts

_UINT64 = UInt(64)
_LONG = 32
"""Types of so many bits are long."""


class Term(NamedTuple):
    """See the module's docstring. ``z`` is a z3 Bool for an expression of bool, an Int for any other."""

    z: Any
    range: Range
    axioms: frozenset[int]


class Z3Terms:
    """The terms of one set of variables: each expression once."""

    def __init__(
        self, ranges: Mapping[ExprNode, Range] | None = None, words: Collection[ExprNode] = (), context: Any = None
    ) -> None:
        """``ranges``: finite ranges of unknowns, for what is made of floats; ``words``: unknowns that memory holds;
        ``context``: where z3's objects live, z3's own if none is given."""
        self._context = z3.main_ctx() if context is None else context
        self._given = ranges or {}
        self._words = words
        self._integers = ConstantRanges(ranges)
        self._memo: dict[ExprNode, Term] = {}
        self.axioms = Axioms()
        self._fresh = 0
        self.products = Products(self.axioms)
        self._quotients: dict[Hashable, tuple[Any, Any, frozenset[int]]] = {}
        self._alike: dict[Hashable, Term] = {}
        """By operator and operands: what stands for the results of operators that z3 is not told of."""
        self._kept: list[Any] = []
        """Terms whose numbers are keys: others get the numbers of those that are gone."""
        self._positions: dict[tuple[Type, ExprNode], list[tuple[Shape, Any]]] = {}
        """By what function of integers they are: the floats that are taken for integers, each with its unknown."""
        self.placed = PositionValues(self.axioms)
        self._products_of_positions: defaultdict[tuple[Type, ExprNode], PositionProducts]
        self._products_of_positions = defaultdict(PositionProducts)
        self._defined: dict[ExprNode, ExprNode] = {}
        self._depends: dict[ExprNode, frozenset[ExprNode]] = {}
        self.promises: dict[ir.Promise, Any] = {}
        """The switch of each promise so far."""
        self.leaves: dict[ExprNode, Any] = {}
        """The z3 unknown of each variable, parameter and field that is not defined."""

    def define(self, variable: Variable | ir.Hole, value: ExprNode) -> None:
        """From here on a variable stands for a value."""
        term = self.of(value)
        known = self._memo.setdefault(variable, term)
        if known.z is not term.z:
            raise InternalError(f'"{variable}" means two things in the claims of one program.')

        self._defined[variable] = value

    def depends(self, e: ExprNode) -> frozenset[ExprNode]:
        """The unknowns that an expression depends on, through definitions."""
        known = self._depends.get(e)
        if known is None:
            if e in self._defined:
                known = self.depends(self._defined[e])
            elif isinstance(e, Variable | ir.Hole | ir.ParamRef | ir.BufferField):
                known = frozenset((e,))
            else:
                known = frozenset().union(*map(self.depends, parts(e)))
            self._depends[e] = known
        return known

    def inside_products(self) -> list[tuple[Any, bool]]:
        """The numbers that factors of products are made of, each with whether it is where a dimension begins."""
        at = {z.get_id(): e for e, z in self.leaves.items()}
        found = {z.get_id(): z for factor in self.products.factors() for z in unknowns_in(factor)}
        return [(z, _begins(at[n])) for n, z in found.items() if n in at and z3.is_int(z)]

    def of(self, e: ExprNode) -> Term:
        """The term of an expression."""
        known = self._memo.get(e)
        if known is None:
            known = self._memo[e] = self._translate(e)
        return known

    # -- unknowns

    def _unknown(self, name: str, over: Range, axioms: frozenset[int] = frozenset()) -> Term:
        self._fresh += 1
        z = integer(f"{name}!{self._fresh}", self._context)
        said = []
        if over[0] != -math.inf:
            said.append(z >= int(over[0]))
        if over[1] != math.inf:
            said.append(z <= int(over[1]))
        return Term(z, over, self.axioms.say(*said) | axioms)

    def _leaf(self, e: ExprNode, over: Range) -> Term:
        if e.type.is_bool():
            self._fresh += 1
            term = Term(boolean(f"b!{self._fresh}", self._context), TRUTH, frozenset())
        else:
            term = self._unknown("v", over)
        self.leaves[e] = term.z
        return term

    def _param(self, e: ir.ParamRef) -> Term:
        term = self._leaf(e, e.type.range)
        low, high = declared_ranges((e,)).get(e, EVERYTHING)
        if high - low < FEW_VALUES:
            self.products.cases_of(term.z, range(int(low), int(high) + 1))
        return term

    def _opaque(self, e: ExprNode) -> Term:
        """The unknown that stands for a value of no integer arithmetic; the number, where it is made of numbers."""
        number = constant_of(e)
        if number is not None:
            return self.of(ir.const(number, e.type))
        if e.type.is_bool():
            self._fresh += 1
            return Term(boolean(f"o!{self._fresh}", self._context), TRUTH, frozenset())
        return self._unknown("o", meet(self._integers.of(e), e.type.range) if e.type.is_integer() else EVERYTHING)

    def _key(self, operator: Hashable, *operands: Any) -> Hashable:
        """A key that is equal for one operator at the same values, written in two ways."""
        plain = [z3.simplify(z) for z in operands]
        self._kept += plain
        return (operator, *(z.get_id() for z in plain))

    # -- translation

    def _translate(self, e: ExprNode) -> Term:
        match e:
            case IntImm(type=type, value=value):
                if type.is_bool():
                    return Term(literal_truth(bool(value), self._context), (value, value), frozenset())
                return Term(literal(value, self._context), (value, value), frozenset())
            case Variable() | ir.Hole():
                word = e in self._words or (e.type.is_integer() and e.type is not INT64)
                return self._leaf(e, e.type.range if word else EVERYTHING)
            case ir.ParamRef() if e.type.is_integer():
                return self._param(e)
            case ir.BufferField(field=field):
                return self._leaf(e, (0, INT32.range[1]) if field is Field.EXTENT else INT32.range)
            case ir.Print(a=a):
                return self.of(a)
            case ir.Not(a=a):
                x = self.of(a)
                return Term(opposite(x.z), TRUTH, x.axioms)
            case ir.Select(condition=condition, a=a, b=b) if not e.type.is_float():
                c, x, y = self.of(condition), self.of(a), self.of(b)
                over = union(x.range, y.range)
                return Term(choice(c.z, x.z, y.z), over, c.axioms | x.axioms | y.axioms)
            case ir.Cast(type=type, a=a) if type.is_integer() and a.type.is_integer():
                return self._cast(type, a)
            case ir.Cast(type=type, a=a) if type.is_integer() and not type.is_bool() and a.type.is_float():
                return self._truncated(e)
            case ir.Call(function=Intrinsic.ABS, args=(a,)) if a.type.is_integer():
                x = self.of(a)
                most = max(abs(x.range[0]), abs(x.range[1]))
                return self._fitted(e.type, Term(choice(x.z < 0, -x.z, x.z), (0, most), x.axioms))
            case ir.Promise():
                return self._promised(e)
            case ir.Binary(op=BinaryOp.ADD) if counted(e) is not None:
                return self._unknown("o", ValueRanges().of(e))
            case ir.Binary(op=op, a=a, b=b):
                return self._binary(e) if a.type.is_integer() else self._compared(e, op, a, b)
            case ir.Access() | ir.Load() | ir.RVarRef():
                raise InternalError(f"A claim can't name memory: {e!r}")
        return self._opaque(e)

    def _promised(self, e: ir.Promise) -> Term:
        """The value; under a switch, which says whether the user's word is taken, that the promise is kept."""
        x, low, high = self.of(e.value), self.of(e.low), self.of(e.high)
        switch = self.promises.setdefault(e, boolean(f"promise!{len(self.promises)}", self._context))
        said = self.axioms.say(implies(switch, both(low.z <= x.z, x.z <= high.z)))
        return Term(x.z, x.range, x.axioms | low.axioms | high.axioms | said)

    def _cast(self, type: Type, a: ExprNode) -> Term:
        x = self.of(a)
        if a.type.is_bool():
            return x if type.is_bool() else Term(as_number(x.z), x.range, x.axioms)
        if type.is_bool():
            return Term(x.z != 0, TRUTH, x.axioms)
        return self._wrapped(type, self._congruent(a) if type is INT64 and a.type is _UINT64 else x)

    def _congruent(self, e: ExprNode) -> Term:
        """A number that differs from a uint64 one by a multiple of 2^64: the user's int64 arithmetic is done in uint64,
        and is mostly that of integers."""
        match e:
            case IntImm(value=value) if value > INT64.range[1]:
                value -= 1 << 64
                return Term(literal(value, self._context), (value, value), frozenset())
            case ir.Cast(a=a) if a.type is INT64:
                return self.of(a)
            case ir.Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL as op, a=a, b=b):
                x, y = self._congruent(a), self._congruent(b)
                axioms = x.axioms | y.axioms
                if op is BinaryOp.MUL:
                    return self._product(x, y, axioms)
                z = x.z + y.z if op is BinaryOp.ADD else x.z - y.z
                return Term(z, of_integers(op, x.range, y.range), axioms)
        return self.of(e)

    def _truncated(self, e: ir.Cast) -> Term:
        """A float as an integer; within less, where Params are in the ranges that they are declared to have."""
        cases = taken_apart(e, lambda condition: bool(mentions(condition)))
        if cases is not None:
            return self.of(ir.Select(e.type, *cases))
        plain = with_numbers(e)
        if plain is not e:
            return self.of(plain)
        type, a = e.type, with_natural_root(e.a)
        term = self._unknown("o", converted_range(a, type, self._integer_range, self._given))
        term = term._replace(axioms=term.axioms | self._placed(type, a, term.z))
        term = self._apart(type, a, term)
        declared = where_declared((a,), self._given, self._integer_range)
        if declared is None:
            return term
        range_of, inside = declared
        low, high = truncated(range_of(a), type)
        return self._where(inside, term, both(term.z >= low, term.z <= high))

    def _apart(self, type: Type, a: ExprNode, unknown: Term) -> Term:
        """A float as an integer, if it is the lesser or greater of two, is that of these as integers."""
        found = extreme(a)
        conditions = None if found is None else self._finite_where(found[1:])
        if found is None or conditions is None:
            return unknown
        op, x, y = found
        same = self.of(ir.binary(op, ir.cast(type, x), ir.cast(type, y)))
        term = self._where(conditions, unknown, unknown.z == same.z)
        return term._replace(axioms=term.axioms | same.axioms)

    def _finite_where(self, floats: Iterable[ExprNode]) -> list[ExprNode] | None:
        """Conditions under which floats are neither infinite nor no numbers; None where none are known."""
        conditions: list[ExprNode] = []
        for e in floats:
            if self._float_range(e) is not None:
                continue
            found = extreme(e)
            shape = next(shapes_of(e, self._integer_range), None)
            inner = shape.given if shape is not None else None if found is None else self._finite_where(found[1:])
            if inner is None:
                return None
            conditions += inner
        return conditions

    def _placed(self, type: Type, a: ExprNode, z: Any) -> frozenset[int]:
        """Axioms that compare a float as an integer with others of the same function of integers."""
        said: frozenset[int] = frozenset()
        for shape in shapes_of(a, self._integer_range):
            among = self._among_products if shape.is_product else self._among_positions
            said |= among(type, shape, z)
        return said

    def _among_positions(self, type: Type, shape: Shape, z: Any) -> frozenset[int]:
        """Axioms that put a position in order with others."""
        alike = self._positions.setdefault((type, shape.function), [])
        said: frozenset[int] = frozenset()
        for other, at in alike:
            for one, least, two, most in ((shape, z, other, at), (other, at, shape, z)):
                given = [self.of(e) for e in (no_greater(one, two), *shape.given, *other.given)]
                ordered = self.axioms.tell_apart(implies(both(*(t.z for t in given)), least <= most))
                said = said.union(ordered, *(t.axioms for t in given))
        alike.append((shape, z))
        arguments, given = ([self.of(e) for e in exprs] for exprs in (shape.arguments, shape.given))
        placed = self.placed.place(type, shape, z, [t.z for t in arguments], [t.z for t in given])
        return said.union(placed, *(t.axioms for t in (*arguments, *given) if placed))

    def _among_products(self, type: Type, shape: Shape, z: Any) -> frozenset[int]:
        """Axioms that put a product of positions between others."""
        said: frozenset[int] = frozenset()
        for condition, fact in self._products_of_positions[type, shape.function].with_value(shape, z):
            given = self.of(condition)
            said = said.union(self.axioms.tell_apart(implies(given.z, fact)), given.axioms)
        return said

    def _float_range(self, a: ExprNode) -> Range | None:
        return float_range(a, self._integer_range, self._given)

    def _integer_range(self, e: ExprNode) -> Range:
        return meet(self._integers.of(e), self.of(e).range)

    def _compared(self, e: ExprNode, op: BinaryOp, a: ExprNode, b: ExprNode) -> Term:
        """A comparison of floats: decided where ranges, which hold no NaN, decide it; or by comparisons of the integers
        that the floats are made of; else unknown."""
        if op in (BinaryOp.LE, BinaryOp.LT):
            x, y = (infinite(p) or self._float_range(p) for p in (a, b))
            known = order(op is BinaryOp.LT, x, y)
            if known is not None:
                return Term(literal_truth(known, self._context), (known, known), frozenset())
            if x is not None and y is not None:
                deeper = by_integers(op, a, b)
                if deeper is not None:
                    return self.of(deeper)
            return self._as_declared(e, op, a, b)
        return self._opaque(e)

    def _as_declared(self, e: ExprNode, op: BinaryOp, a: ExprNode, b: ExprNode) -> Term:
        """An unknown, but where Params are in the ranges that they are declared to have."""
        unknown = self._opaque(e)
        range_of, inside = where_declared((a, b), self._given, self._integer_range) or (self._float_range, ())
        decided = order(op is BinaryOp.LT, *(infinite(p) or range_of(p) for p in (a, b)))
        if decided is None or any(e is condition for condition in inside):
            return unknown
        return self._where(inside, unknown, unknown.z == literal_truth(decided, self._context))

    def _where(self, conditions: Iterable[ExprNode], unknown: Term, fact: Any) -> Term:
        """An unknown of which a fact holds where some conditions do."""
        terms = [self.of(c) for c in conditions]
        said = self.axioms.say(implies(both(*(t.z for t in terms)), fact) if terms else fact)
        return unknown._replace(axioms=unknown.axioms.union(said, *(t.axioms for t in terms)))

    def _wrapped(self, type: Type, x: Term) -> Term:
        """Any integer modulo the size of a type; what fits no long one is mostly a hash, and few proofs need it."""
        low, high = type.range
        if fits(x.range, type):
            return x
        inside = both(x.z >= low, x.z <= high)
        if type.bits() >= _LONG:
            key = self._key(type, x.z)
            if key not in self._alike:
                other = self._unknown("w", (low, high))
                said = self.axioms.compare(x.z == other.z + (high - low + 1) * self._unknown("t", EVERYTHING).z)
                self._alike[key] = other._replace(axioms=other.axioms | said)
            other = self._alike[key]
            return Term(choice(inside, x.z, other.z), (low, high), x.axioms | other.axioms)
        return Term(choice(inside, x.z, (x.z - low) % (high - low + 1) + low), (low, high), x.axioms)

    def _fitted(self, type: Type, x: Term) -> Term:
        """The result of an operator: exact in int64, wrapped in any other type; one turn is enough for a sum."""
        low, high = type.range
        if type is INT64 or fits(x.range, type):
            return x
        size = high - low + 1
        if x.range[0] >= low - size and x.range[1] <= high + size:
            z = x.z
            if x.range[1] > high:
                z = choice(x.z > high, x.z - size, z)
            if x.range[0] < low:
                z = choice(x.z < low, x.z + size, z)
            return Term(z, (low, high), x.axioms)
        return self._wrapped(type, x)

    def _binary(self, e: ir.Binary) -> Term:
        x, y = self.of(e.a), self.of(e.b)
        axioms = x.axioms | y.axioms
        if e.a.type.is_bool():
            z = logical(e.op, x.z, y.z)
            return self._opaque(e) if z is None else Term(z, TRUTH, axioms)
        over = of_integers(e.op, x.range, y.range)
        match e.op:
            case BinaryOp.LT:
                return Term(x.z < y.z, TRUTH, axioms)
            case BinaryOp.LE:
                return Term(x.z <= y.z, TRUTH, axioms)
            case BinaryOp.EQ:
                return Term(x.z == y.z, TRUTH, axioms)
            case BinaryOp.NE:
                return Term(x.z != y.z, TRUTH, axioms)
            case BinaryOp.MIN:
                return self._extreme(x, y, over, axioms, least=True)
            case BinaryOp.MAX:
                return self._extreme(x, y, over, axioms, least=False)
            case BinaryOp.ADD:
                return self._fitted(e.type, Term(x.z + y.z, over, axioms))
            case BinaryOp.SUB:
                return self._fitted(e.type, Term(x.z - y.z, over, axioms))
            case BinaryOp.MUL:
                if e.type is INT64:
                    return self._distributed(e, axioms) or self._product(x, y, axioms)
                return self._fitted(e.type, self._product(x, y, axioms))
            case BinaryOp.DIV:
                quotient = self._divided(x, y, axioms)[0]
                if e.type is INT64 and x.range[0] <= INT64.range[0] and y.range[0] <= -1 <= y.range[1]:
                    return _negated_least(x, y, quotient)
                return self._fitted(e.type, quotient)
            case BinaryOp.MOD:
                return self._fitted(e.type, self._divided(x, y, axioms)[1])
        return self._bits(e, x, y, axioms)

    def _extreme(self, x: Term, y: Term, over: Range, axioms: frozenset[int], *, least: bool) -> Term:
        """The lesser or greater of two, as an unknown between bounds: most proofs need the bounds, and no cases."""
        if x.z.eq(y.z):
            return Term(x.z, over, axioms)
        self._fresh += 1
        m = integer(f"e!{self._fresh}", self._context)
        said = (m <= x.z, m <= y.z) if least else (m >= x.z, m >= y.z)
        chosen = self.axioms.tell_apart(either(m == x.z, m == y.z))
        return Term(m, over, axioms | self.axioms.say(*said) | chosen)

    def _bits(self, e: ir.Binary, x: Term, y: Term, axioms: frozenset[int]) -> Term:
        if x.range[0] == x.range[1] and y.range[0] < y.range[1] and e.op not in (BinaryOp.SHL, BinaryOp.SHR):
            x, y = y, x
        if y.range[0] == y.range[1]:
            known = self._by_number(e, x, int(y.range[0]), axioms)
            if known is not None:
                return known
        if e.op in (BinaryOp.SHL, BinaryOp.SHR) and (amounts := small_amounts(e.b, y.range)) is not None:
            ways = [self._by_number(e, x, k, axioms) for k in amounts]
            return self._one_of(y, amounts, [way for way in ways if way is not None])
        key = self._key((e.op, e.type), x.z, y.z)
        if key not in self._alike:
            self._alike[key] = self._some_bits(e, x, y)
        found = self._alike[key]
        return found._replace(axioms=found.axioms | axioms)

    def _by_number(self, e: ir.Binary, x: Term, k: int, axioms: frozenset[int]) -> Term | None:
        """An operation on bits with a number, as arithmetic; None where it is none."""
        if e.op in (BinaryOp.SHL, BinaryOp.SHR):
            if not 0 <= k < e.type.bits():
                return None
            if e.op is BinaryOp.SHL:
                return self._wrapped(e.type, self._scaled(x, 1 << k, axioms))
            return self._quotient_by(x, 1 << k, axioms)[0]
        if e.op is BinaryOp.BIT_XOR and k == (e.type.range[1] if e.type.is_uint() else -1):
            return Term(k - x.z, of_integers(BinaryOp.SUB, (k, k), x.range), axioms)
        clears = e.op is BinaryOp.BIT_AND and not is_mask(k)
        if clears:
            k = e.type.range[1] - k if e.type.is_uint() else -1 - k
        if not is_mask(k):
            return None
        quotient, rest = self._quotient_by(x, k + 1, axioms)
        if e.op is BinaryOp.BIT_AND and not clears:
            return rest
        down = self._scaled(quotient, k + 1, axioms)
        if clears:
            return down
        if e.op is BinaryOp.BIT_OR:
            return down._replace(z=down.z + k, range=of_integers(BinaryOp.ADD, down.range, (k, k)))
        turned = of_integers(BinaryOp.SUB, (k, k), rest.range)
        return down._replace(z=down.z + k - rest.z, range=of_integers(BinaryOp.ADD, down.range, turned))

    def _one_of(self, chosen: Term, numbers: Sequence[int], ways: Sequence[Term]) -> Term:
        """A choice by what a term is, of some numbers in turn."""
        found = ways[-1]
        for k, way in zip(reversed(numbers[:-1]), reversed(ways[:-1]), strict=True):
            z = choice(chosen.z <= k, way.z, found.z)
            found = Term(z, union(way.range, found.range), way.axioms | found.axioms)
        return found

    def _some_bits(self, e: ir.Binary, x: Term, y: Term) -> Term:
        """An unknown, as far from its operands as the operator can take it."""
        natural = [v for v in (x, y) if v.range[0] >= 0]
        if e.op is BinaryOp.BIT_AND and natural:
            masked = self._unknown("o", (0, min(v.range[1] for v in natural)))
            return masked._replace(axioms=masked.axioms | self.axioms.say(*(masked.z <= v.z for v in natural)))
        if e.op in (BinaryOp.BIT_OR, BinaryOp.BIT_XOR) and len(natural) == 2:
            most = max(x.range[1], y.range[1])
            some = self._unknown("o", (0, most if math.isinf(most) else all_ones(int(most))))
            said = [some.z <= x.z + y.z]
            if e.op is BinaryOp.BIT_OR:
                said += [some.z >= x.z, some.z >= y.z]
            return some._replace(axioms=some.axioms | self.axioms.say(*said))
        return self._opaque(e)

    # -- products and quotients

    def _distributed(self, e: ir.Binary, axioms: frozenset[int]) -> Term | None:
        """``(a + 3)*b`` as ``a*b + 3*b``: products of the same two unknowns are one, however they are shifted."""
        for shifted, factor in ((e.a, e.b), (e.b, e.a)):
            match shifted:
                case ir.Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, a=a, b=IntImm(value=k)) if shifted.type is INT64:
                    y = self.of(factor)
                    k = k if op is BinaryOp.ADD else -k
                    rest, more = self._product(self.of(a), y, axioms), self._scaled(y, k, axioms)
                    over = of_integers(BinaryOp.ADD, rest.range, more.range)
                    return Term(rest.z + more.z, over, rest.axioms | more.axioms)
        return None

    def _scaled(self, x: Term, k: int, axioms: frozenset[int]) -> Term:
        if k == 0:
            return Term(literal(0, self._context), (0, 0), axioms)
        if abs(k) > 1:
            axioms |= self.products.multiple(x.z, k)
        return Term(x.z * k, of_integers(BinaryOp.MUL, x.range, (k, k)), axioms)

    def _product(self, x: Term, y: Term, axioms: frozenset[int]) -> Term:
        for one, other in ((x, y), (y, x)):
            if one.range[0] == one.range[1]:
                return self._scaled(other, int(one.range[0]), axioms)
        m, said = self.products.of(x.z, y.z)
        return Term(m, of_integers(BinaryOp.MUL, x.range, y.range), axioms | said)

    def _quotient_by(self, x: Term, k: int, axioms: frozenset[int]) -> tuple[Term, Term]:
        """Quotient and remainder by a constant; z3's own are Euclidean, as ours."""
        if k == 0:
            zero = Term(literal(0, self._context), (0, 0), axioms)
            return zero, zero
        low, high = x.range
        if low == high:
            q, r = euclid(int(low), k)
            return Term(literal(q, self._context), (q, q), axioms), Term(literal(r, self._context), (r, r), axioms)
        quotient = Term(x.z / k, of_integers(BinaryOp.DIV, x.range, (k, k)), axioms)
        return quotient, Term(x.z % k, (0, abs(k) - 1), axioms)

    def _divided(self, x: Term, y: Term, axioms: frozenset[int]) -> tuple[Term, Term]:
        if y.range[0] == y.range[1]:
            return self._quotient_by(x, int(y.range[0]), axioms)
        key = self._key(BinaryOp.DIV, x.z, y.z)
        if key not in self._quotients:
            q, r = self._unknown("q", EVERYTHING), self._unknown("r", EVERYTHING)
            p = self._product(Term(q.z, EVERYTHING, frozenset()), Term(y.z, EVERYTHING, frozenset()), frozenset())
            said = self.axioms.say(
                implies(y.z == 0, both(q.z == 0, r.z == 0)),
                implies(y.z != 0, both(x.z == p.z + r.z, r.z >= 0, r.z < choice(y.z < 0, -y.z, y.z))),
            )
            self._quotients[key] = (q.z, r.z, said | p.axioms)
        zq, zr, said = self._quotients[key]
        quotient, rest = (of_integers(op, x.range, y.range) for op in (BinaryOp.DIV, BinaryOp.MOD))
        return Term(zq, quotient, axioms | said), Term(zr, rest, axioms | said)


def _begins(e: ExprNode) -> bool:
    """True of the first index of a dimension of a buffer."""
    return isinstance(e, ir.BufferField) and e.field is Field.MIN


def _negated_least(x: Term, y: Term, quotient: Term) -> Term:
    """A quotient of int64: of the least number by -1 it is that number again."""
    least = INT64.range[0]
    z, (low, high), axioms = quotient
    wrapped = choice(both(x.z == least, y.z == -1), literal(least, z.ctx), z)
    return Term(wrapped, (min(low, least), high), axioms)
