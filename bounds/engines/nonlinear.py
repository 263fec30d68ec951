"""The nonlinear engine, asked only on request: extremes of polynomials over boxes of integers.

In: an expression, a path and a stop, and the range that interval arithmetic has found. Out: a range that is at least
as tight. A polynomial's variables are what it is a polynomial in: loops, lets, and whatever is not made of sums and
products, each within its own range and independent of the others. One after the other leaves:

- where the polynomial only grows, or only falls, with it (by its difference ``p(v + 1) - p(v)``), at one end;
- where it is convex and the greatest value is asked for, or concave and the least, at the better of both ends;
- where it is the last one, and the coefficients are numbers, at the best of both ends and of the integers around the
  real roots of the difference, which sympy isolates.

    x*x - 3*x  for x in [a, b]   ->   [min(max(min(1, b), a)², …), max(a*a - 3*a, b*b - 3*b)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.engines.elimination import Elimination, mentions
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.answers import Ends, Engine
from halide_core.bounds.query.query import Choice, Define, ForAll, Path
from halide_core.ir import Binary, BinaryOp, ExprNode, Hole, IntImm, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import subexpressions

MOST_CANDIDATES = 16
"""So many values are compared at most for one extreme."""

MOST_DEGREE = 8
MOST_NODES = 120
"""Longer ranges are not written."""


class Polynomials:
    """Ranges of polynomials along the paths of one query, by sympy, given the holes answered so far."""

    def __init__(self, extents: Extents) -> None:
        self._extents = extents

    def greatest(self, e: ExprNode) -> int | None:
        """None: of atoms of which nothing is known this knows nothing."""
        return None

    def ends(self, e: ExprNode, path: Path, stop: Path, known: Ends) -> Ends:
        """The range of ``e``, given one that is sound: the better of both, end by end."""
        box = _Box(self._extents, path, stop)
        e = box.closed(e)
        if not any(isinstance(p, Binary) and p.op is BinaryOp.MUL and box.varies(p) for p in subexpressions([e])):
            return known
        simplifier = Simplifier(self._extents.facts.at(path))
        low, high = box.extreme(e, most=False), box.extreme(e, most=True)
        if low is not None and known.low is not None:
            low = simplifier.maximum(low, known.low)
        if high is not None and known.high is not None:
            high = simplifier.minimum(high, known.high)
        low, high = _short(low, known.low), _short(high, known.high)
        if low is known.low and high is known.high:
            return known
        return Ends(low, high, Engine.NONLINEAR)


def _short(found: ExprNode | None, known: ExprNode | None) -> ExprNode | None:
    if found is None or sum(1 for _ in subexpressions([found])) > MOST_NODES:
        return known
    return found


class _Box:
    """The ranges of what varies along one path, each by itself."""

    def __init__(self, extents: Extents, path: Path, stop: Path) -> None:
        self._extents = extents
        self._path = path
        self._stop = stop
        binders = list(path.up_to(stop))
        self._bound = frozenset(b.var for b in binders if isinstance(b, ForAll | Define))
        self._chosen = frozenset(b.func for b in binders if isinstance(b, Choice))
        self._facts = extents.facts.at(path)
        self._simplifier = Simplifier(self._facts)

    def closed(self, e: ExprNode) -> ExprNode:
        """An expression without holes that are bound inside."""
        return self._extents.closed(e, self._chosen)

    def varies(self, e: ExprNode) -> bool:
        """True where an expression has no one value at the stop."""
        parts = mentions(e)
        return any(p in self._bound or (isinstance(p, Hole) and p.func in self._chosen) for p in parts)

    def extreme(self, e: ExprNode, *, most: bool) -> ExprNode | None:
        """The greatest or the least value of an expression; None where nothing is known."""
        match e:
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b) if self.varies(e):
                x, y = self.extreme(a, most=most), self.extreme(b, most=most)
                return None if x is None or y is None else self._pick([x, y], most=op is BinaryOp.MAX)
            case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0 and self.varies(e):
                end = self.extreme(a, most=most)
                return None if end is None else self._simplifier.expr(ir.div(end, ir.i64(k)))
        inner = [v for v in _atoms(e) if self.varies(v)]
        if e in inner:
            return self._extents.of(e, self._path, self._stop)[most]
        box = self._independent(inner)
        if box is None:
            return None
        renamed = _at(e, dict(zip(inner, box, strict=True)))
        values = _ExtremeSearch(box, self._facts, self._extents).values(renamed, list(box), most=most)
        return None if values is None else self._pick(values, most=most)

    def _independent(self, inner: list[ExprNode]) -> dict[Variable, tuple[ExprNode, ExprNode]] | None:
        """New variables of the same ranges, of which nothing else is known: no fact relates one to another."""
        box: dict[Variable, tuple[ExprNode, ExprNode]] = {}
        for i, v in enumerate(inner):
            low, high = self._extents.of(v, self._path, self._stop)
            if low is None or high is None:
                return None
            box[ir.index_variable(f"<{i}>")] = (low, high)
        return box

    def _pick(self, values: Sequence[ExprNode], *, most: bool) -> ExprNode:
        result = values[0]
        for v in values[1:]:
            result = self._simplifier.maximum(result, v) if most else self._simplifier.minimum(result, v)
        return result


class _ExtremeSearch:
    """The extremes of polynomials over one box of independent variables."""

    def __init__(self, box: Mapping[Variable, tuple[ExprNode, ExprNode]], facts: Facts, extents: Extents) -> None:
        self._box = box
        self._facts = facts
        self._simplifier = Simplifier(facts)
        self._arithmetic = Elimination(box, facts, extents.values, extents.symbols, extents.value_ends)

    def values(self, e: ExprNode, variables: list[Variable], *, most: bool) -> list[ExprNode] | None:
        """Values that the expression takes in the box; the extreme is among them. None where no rule applies."""
        if not variables:
            return [self._simplifier.expr(e)]
        polynomial = _Polynomial(e)
        if polynomial.degree > MOST_DEGREE:
            return None
        for v in variables:
            places = self._places(polynomial, v, last=len(variables) == 1, most=most)
            if places is None:
                continue
            rest = [w for w in variables if w is not v]
            found: list[ExprNode] = []
            for place in places:
                values = self.values(_at(e, {v: place}), rest, most=most)
                if values is None or len(found) + len(values) > MOST_CANDIDATES:
                    return None
                found += values
            return found
        return None

    def _places(self, p: _Polynomial, v: Variable, *, last: bool, most: bool) -> list[ExprNode] | None:
        """Where the extreme over one variable lies, whatever the others are; None where no rule applies."""
        first, final = self._box[v]
        slope = p.difference(v)
        sign = self._sign(slope)
        if sign is not None:
            return [final if (sign > 0) == most else first]
        bend = self._sign(slope.difference(v))
        if bend is not None and (bend > 0) == most:
            return [first, final]
        roots = slope.integers_around_roots(v) if last else None
        if roots is None:
            return None
        return [first, final, *(self._simplifier.maximum(self._simplifier.minimum(r, final), first) for r in roots)]

    def _sign(self, p: _Polynomial) -> int | None:
        """1 where a polynomial is nowhere negative, -1 where it is nowhere positive; None where it is not known."""
        e = p.expr()
        low, high = self._arithmetic.bound(e, False), self._arithmetic.bound(e, True)
        if low is not None and self._facts.proves_le(ir.ZERO, low):
            return 1
        if high is not None and self._facts.proves_le(high, ir.ZERO):
            return -1
        return None


class _Polynomial:
    """An expression as a polynomial in its atoms, with integer coefficients."""

    def __init__(self, e: ExprNode, known: tuple[dict[ExprNode, sympy.Symbol], sympy.Expr] | None = None) -> None:
        self._symbols: dict[ExprNode, sympy.Symbol]
        if known is None:
            self._symbols = {a: sympy.Symbol(f"v{i}", integer=True) for i, a in enumerate(_atoms(e))}
            self._form = sympy.expand(self._translated(e))
        else:
            self._symbols, self._form = known

    def _translated(self, e: ExprNode) -> sympy.Expr:
        values: dict[ExprNode, sympy.Expr] = {}
        for part in subexpressions([e]):
            if part in self._symbols:
                values[part] = self._symbols[part]
            elif isinstance(part, IntImm):
                values[part] = sympy.Integer(part.value)
            elif isinstance(part, Binary) and part.op in _RING and part.a in values and part.b in values:
                a, b = values[part.a], values[part.b]
                values[part] = a + b if part.op is BinaryOp.ADD else a - b if part.op is BinaryOp.SUB else a * b
        return values[e]

    @property
    def _generators(self) -> list[sympy.Symbol]:
        return list(self._symbols.values())

    @property
    def degree(self) -> int:
        """The greatest total degree of a term."""
        if not self._generators or self._form.is_number:
            return 0
        return int(sympy.Poly(self._form, *self._generators).total_degree())

    def difference(self, v: ExprNode) -> _Polynomial:
        """``p(v + 1) - p(v)``: its sign says whether p grows from one integer to the next."""
        s = self._symbols[v]
        return _Polynomial(v, (self._symbols, sympy.expand(self._form.subs(s, s + 1) - self._form)))

    def integers_around_roots(self, v: ExprNode) -> list[ExprNode] | None:
        """The integers next to each real root; None where a coefficient is no number."""
        s = self._symbols[v]
        if self._form.free_symbols - {s}:
            return None
        if not self._form.has(s):
            return []
        found: dict[int, None] = {}
        # Each interval, of rational ends, holds one root; it is made shorter than the distance of two integers.
        for (low, high), _multiplicity in sympy.Poly(self._form, s).intervals(eps=sympy.Rational(1, 2)):
            for k in range(int(sympy.floor(low)), int(sympy.ceiling(high)) + 2):
                found.setdefault(k)
        return [ir.i64(k) for k in found] if len(found) <= MOST_CANDIDATES else None

    def expr(self) -> ExprNode:
        """The polynomial as an expression: a sum of products."""
        if self._form.is_number or not self._generators:
            return ir.i64(int(self._form))
        atoms = list(self._symbols)
        result: ExprNode = ir.ZERO
        for powers, coefficient in sympy.Poly(self._form, *self._generators).terms():
            term: ExprNode = ir.i64(int(coefficient))
            for atom, power in zip(atoms, powers, strict=True):
                for _ in range(power):
                    term = ir.mul(atom, term)
            result = ir.add(result, term)
        return Simplifier().expr(result)


_RING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)


def _atoms(e: ExprNode) -> list[ExprNode]:
    """The indeterminates of an expression as a polynomial, in a deterministic order."""
    found: dict[ExprNode, None] = {}
    waiting = [e]
    seen: set[ExprNode] = set()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(at, Binary) and at.type is INT64 and at.op in _RING:
            waiting += [at.b, at.a]
        elif not isinstance(at, IntImm):
            found.setdefault(at)
    return list(found)


def _at(e: ExprNode, places: Mapping[ExprNode, ExprNode]) -> ExprNode:
    """A polynomial with other atoms; they stay whole where they are parts of other atoms."""
    known: dict[ExprNode, ExprNode] = {}
    for part in subexpressions([e]):
        if part in places:
            known[part] = places[part]
        elif isinstance(part, Binary) and part.type is INT64 and part.op in _RING:
            known[part] = ir.binary(part.op, known[part.a], known[part.b])
        else:
            known[part] = part
    return known[e]
