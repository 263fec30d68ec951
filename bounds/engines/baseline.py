"""β₀, the baseline (figure 2.10b, with the design's corrections): plain interval arithmetic.

In: an expression and a path. Out: its range, where each variable ranges over its interval by itself, and conditions say
nothing. No engine may be worse: where the program that β₀ fills runs, so does every other one (definition 2.5).

    x - x/2  for x in (0, 8)   ->   [0 - 7, 7 + 7]

Its rule for a quotient is ``[-M, M]`` with M the greatest magnitude of the numerator: the figure's length ``2M - 1``
misses an end, and its M misses numerators that are negative throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import Range, type_range
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import ACCESS, mentions
from halide_core.bounds.query.answers import Bound, Ends, Engine
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Binder, Choice, Define, ForAll, Path
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, Hole, Interval, IntImm, Select
from halide_core.ir.types import INT64

_NOTHING: Bound = (None, None)


class _TypeRanges(ValueRanges):
    """Ranges of values, where those of a Func or an image may be any of its type."""

    def of_function(self, f: Function, component: int) -> Range:
        """Any value of the type."""
        return type_range(f.types[component])


class BaselineRanges:
    """See the module's docstring."""

    def __init__(self) -> None:
        self._answers: dict[ExprNode, ExprNode] = {}
        self._values = _TypeRanges()
        self.facts = PathFacts()
        """Facts that inference notes about lengths; β₀ itself knows nothing of paths."""

    def record(self, h: ExprNode, value: ExprNode) -> None:
        """A hole is answered."""
        self._answers[h] = value

    def record_end(self, bounds: Interval, past: ExprNode) -> None:
        """β₀ adds up."""

    def use(self, h: ExprNode) -> ExprNode:
        """A hole stays one: it is bound by a let."""
        return h

    def unholed(self, e: ExprNode) -> ExprNode:
        """Holes stay."""
        return e

    def ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The interval of ``e``, with Γ the binders of the path below the stop."""
        low, high = _Arithmetic(self._answers, self._values, self.facts.at(stop), list(path.up_to(stop))).of(e)
        return Ends(low, high, Engine.BASELINE)

    def rough_ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The same: there is nothing that costs less."""
        return self.ends(e, path, stop)

    def greatest(self, e: ExprNode) -> int | None:
        """None: of atoms of which nothing is known this knows nothing."""
        return None


class _Arithmetic:
    """Interval arithmetic under one Γ."""

    def __init__(
        self, answers: dict[ExprNode, ExprNode], values: ValueRanges, facts: Facts, binders: list[Binder]
    ) -> None:
        self._answers = answers
        self._values = values
        self._simplifier = Simplifier(facts)
        self._known: dict[ExprNode, Bound] = {}
        self._inside = frozenset(b.var for b in binders if isinstance(b, ForAll | Define))
        self._chosen = frozenset(b.func for b in binders if isinstance(b, Choice))
        for b in reversed(binders):  # Γ, from the outside in
            match b:
                case ForAll(var=var, bounds=bounds):
                    last = ir.sub(ir.add(bounds.min, bounds.len), ir.ONE)
                    self._known[var] = (self.of(bounds.min)[0], self.of(last)[1])
                case Define(var=var, value=value):
                    self._known[var] = self.of(value)

    def of(self, e: ExprNode) -> Bound:
        """The interval of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._compute(e)
        return known

    def _is_inside(self, e: ExprNode) -> bool:
        return any(
            p in self._inside or p is ACCESS or (isinstance(p, Hole) and p.func in self._chosen) for p in mentions(e)
        )

    def _compute(self, e: ExprNode) -> Bound:
        if not self._is_inside(e):
            return (e, e)
        match e:
            case Hole():
                return self.of(self._answers[e]) if e in self._answers else _NOTHING
            case Binary(op=op, a=a, b=b) if op in self._RULES:
                return self._RULES[op](self, self.of(a), self.of(b))
            case Select(a=a, b=b):
                (x, p), (y, q) = self.of(a), self.of(b)
                return (self._least(x, y), self._most(p, q))
            case Cast(a=inner, type=type) if type is INT64 and inner.type.is_integer():
                return self._constant(inner)
        return _NOTHING

    def _constant(self, e: ExprNode) -> Bound:
        """Of a value that is no coordinate: a range of constants, for types narrow enough that one says something."""
        low, high = self._values.of(e)
        least, most = e.type.range
        wide = e.type.bits() >= 32
        return (
            None if wide and low == least else ir.i64(int(low)),
            None if wide and high == most else ir.i64(int(high)),
        )

    # -- the rules; None is infinite

    def _make(self, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
        return self._simplifier.expr(ir.binary(op, a, b))

    def _least(self, a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
        return None if a is None or b is None else self._make(BinaryOp.MIN, a, b)

    def _most(self, a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
        return None if a is None or b is None else self._make(BinaryOp.MAX, a, b)

    def _add(self, x: Bound, y: Bound) -> Bound:
        return (
            None if x[0] is None or y[0] is None else self._make(BinaryOp.ADD, x[0], y[0]),
            None if x[1] is None or y[1] is None else self._make(BinaryOp.ADD, x[1], y[1]),
        )

    def _subtract(self, x: Bound, y: Bound) -> Bound:
        return (
            None if x[0] is None or y[1] is None else self._make(BinaryOp.SUB, x[0], y[1]),
            None if x[1] is None or y[0] is None else self._make(BinaryOp.SUB, x[1], y[0]),
        )

    def _multiply(self, x: Bound, y: Bound) -> Bound:
        for one, other in ((x, y), (y, x)):
            factor = one[0]
            if isinstance(factor, IntImm) and one[1] is factor:
                ends = [None if end is None else self._make(BinaryOp.MUL, end, factor) for end in other]
                low, high = ends if factor.value >= 0 else reversed(ends)
                return (ir.ZERO, ir.ZERO) if factor.value == 0 else (low, high)
        if None in x or None in y:
            return _NOTHING
        corners = [self._make(BinaryOp.MUL, a, b) for a in x for b in y if a is not None and b is not None]
        return (self._pick(BinaryOp.MIN, corners), self._pick(BinaryOp.MAX, corners))

    def _pick(self, op: BinaryOp, values: list[ExprNode]) -> ExprNode:
        result = values[0]
        for v in values[1:]:
            result = self._make(op, result, v)
        return result

    def _divide(self, x: Bound, y: Bound) -> Bound:
        low, high = x
        if low is None or high is None:
            return _NOTHING
        negated = [self._make(BinaryOp.SUB, ir.ZERO, end) for end in (low, high)]
        magnitude = self._pick(BinaryOp.MAX, [low, high, *negated])
        return (self._make(BinaryOp.SUB, ir.ZERO, magnitude), magnitude)

    def _remainder(self, x: Bound, y: Bound) -> Bound:
        low, high = y
        if low is None or high is None:
            return (ir.ZERO, None)
        sizes = [self._make(BinaryOp.SUB, end, ir.ONE) for end in (low, high)]
        sizes += [self._make(BinaryOp.SUB, ir.i64(-1), end) for end in (low, high)]
        return (ir.ZERO, self._pick(BinaryOp.MAX, [*sizes, ir.ZERO]))

    def _minimum(self, x: Bound, y: Bound) -> Bound:
        # The least of two is at most either of them, even where the other has no end.
        high = self._least(x[1], y[1]) if None not in (x[1], y[1]) else x[1] if x[1] is not None else y[1]
        return (self._least(x[0], y[0]), high)

    def _maximum(self, x: Bound, y: Bound) -> Bound:
        low = self._most(x[0], y[0]) if None not in (x[0], y[0]) else x[0] if x[0] is not None else y[0]
        return (low, self._most(x[1], y[1]))

    _RULES: ClassVar[dict[BinaryOp, Callable[[_Arithmetic, Bound, Bound], Bound]]] = {
        BinaryOp.ADD: _add,
        BinaryOp.SUB: _subtract,
        BinaryOp.MUL: _multiply,
        BinaryOp.DIV: _divide,
        BinaryOp.MOD: _remainder,
        BinaryOp.MIN: _minimum,
        BinaryOp.MAX: _maximum,
    }
