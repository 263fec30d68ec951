"""The range of an expression along a path: what the engine asks for every access.

In: an expression of the program, a path down to where it stands, and a path above that to stop at. Out: its least and
greatest value in terms of what is bound at the stop. Answers given so far are recorded here, and used.

    of(x + 1, path: forall x in (?cpu f.x.min, 8), stop: top)   ->   [?cpu f.x.min + 1, ?cpu f.x.min + 8]
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.conditions import assume_condition
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.analysis.value_ends import ValueEnds
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.conditions import Conditions
from halide_core.bounds.engines.elimination import Elimination, Targets, mentions
from halide_core.bounds.engines.float_ends import SymbolRanges
from halide_core.bounds.query.answers import Bound, Ends, Engine
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Choice, Define, ForAll, Path, Taken, Where
from halide_core.ir import Binary, BinaryOp, ExprNode, Hole, Interval, IntImm, Variable
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import Substitution, subexpressions

_SMALL = 16
"""Answers of at most this many nodes are used in place of the hole, which keeps lengths constant downstream."""


class Extents:
    """Ranges along paths, given the holes answered so far."""

    def __init__(self) -> None:
        self._values = ValueRanges()
        self._symbols = SymbolRanges()
        self.value_ends = ValueEnds(self._values)
        """Ends of Funcs' values that Params are in."""
        self._exact: dict[ExprNode, ExprNode] = {}  # hole -> its whole answer
        self._short: dict[ExprNode, ExprNode] = {}  # hole -> its answer where that is small
        self._past: dict[ExprNode, tuple[Hole, ExprNode]] = {}
        """Length -> the start, and what both add up to."""
        self.facts = PathFacts()
        """The facts along paths."""
        self._entered: set[Path] = set()
        """Those whose binders are among their facts."""
        self._plain = Simplifier()  # by no facts: what it simplified stays simple
        self._recorded = 0
        self._answered: dict[tuple[ExprNode, Path, Path], tuple[int, int, Ends]] = {}
        """Questions that were asked, with how many holes were answered then, and how many facts were known."""

    def record(self, h: ExprNode, value: ExprNode) -> None:
        """A hole is answered."""
        assert isinstance(h, Hole)
        self._exact[h] = value
        self._recorded += 1
        self._symbols.answered(h, value)
        self._short.pop(h, None)
        if sum(1 for _ in subexpressions([value])) <= _SMALL:
            self._short[h] = value

    def record_end(self, bounds: Interval, past: ExprNode) -> None:
        """The point behind an interval of holes, in fewer words than the answers of the two add up to."""
        assert isinstance(bounds.min, Hole)
        self._past[bounds.len] = bounds.min, past

    def use(self, h: ExprNode) -> ExprNode:
        """The expression that stands for a hole from now on."""
        return self._short.get(h, h)

    def of(self, e: ExprNode, path: Path, stop: Path) -> Bound:
        """The least and greatest value of ``e`` over the binders of ``path`` below ``stop``."""
        ends = self.ends(e, path, stop)
        return ends.low, ends.high

    def ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The same, as what an engine says. As long as no more is known, one question has one answer, the same object:
        checks ask again what rough ends have told, and solvers the ranges of the same atoms."""
        self._record_facts(path)
        recorded, facts = self._recorded, self.facts.at(path).count()
        known = self._answered.get((e, path, stop))
        if known is not None and known[0] == recorded and known[1] == facts:
            return known[2]
        found = self._within(_Climb(self, path, stop).ends(self.unholed(e)), e, stop)
        self._answered[e, path, stop] = recorded, facts, found
        return found

    def rough_ends(self, e: ExprNode, path: Path, stop: Path) -> Ends:
        """The same: there is nothing that costs less."""
        return self.ends(e, path, stop)

    def greatest(self, e: ExprNode) -> int | None:
        """None: of atoms of which nothing is known this knows nothing."""
        return None

    def _within(self, found: Ends, e: ExprNode, stop: Path) -> Ends:
        """No looser than what is known of the value itself, where that is less than all coordinates: on its way up a
        choice can lose what its cases share."""
        facts = self.facts.at(stop)
        simplifier = Simplifier(facts)
        (least, most), (lowest, highest) = self._values.of(e), INT32.range
        low, high = found.low, found.high
        if least > lowest:
            floor = ir.i64(int(least))
            if low is None:
                low = floor
            elif not facts.proves_le(floor, low):
                low = simplifier.maximum(low, floor)
        if most < highest:
            ceiling = ir.i64(int(most))
            if high is None:
                high = ceiling
            elif not facts.proves_le(high, ceiling):
                high = simplifier.minimum(high, ceiling)
        return replace(found, low=low, high=high)

    @property
    def values(self) -> ValueRanges:
        """Constant ranges of values."""
        return self._values

    @property
    def symbols(self) -> SymbolRanges:
        """The same where Params are kept within limits."""
        return self._symbols

    def interval(self, bounds: Interval) -> tuple[ExprNode, ExprNode]:
        """The least and greatest value of an interval that has any, without the holes that have small answers."""
        first, length = self.unholed(bounds.min), self.unholed(bounds.len)
        exact = self._exact.get(length)
        past = None if exact is None else _without_empty(self._plain.expr(ir.add(bounds.min, exact)), bounds.min)
        if past is None:
            past = ir.add(first, length)
        return first, self._plain.expr(ir.sub(self.unholed(past), ir.ONE))

    def unholed(self, e: ExprNode) -> ExprNode:
        """Small answers in place of their holes."""
        found = {h: self._short[h] for h in mentions(e) if h in self._short}
        return self._plain.expr(Substitution(found).expr(e)) if found else e

    def closed(self, e: ExprNode, funcs: frozenset[Function]) -> ExprNode:
        """An expression with no small answers' holes, and none of some Funcs' that are answered."""
        e = self.unholed(e)
        while True:
            e = self._ended(e, funcs)
            inner = {h: self._exact[h] for h in self._holes_of(e, funcs) if h in self._exact}
            if not inner:
                return e
            e = self._plain.expr(Substitution(inner).expr(e))

    def _ended(self, e: ExprNode, funcs: frozenset[Function]) -> ExprNode:
        """An expression with the ends of intervals in place of sums of their starts and lengths."""
        for h in self._holes_of(e, funcs):
            if h in self._past:
                first, past = self._past[h]
                end = Variable(INT64, "end")
                found = self._plain.expr(Substitution({h: ir.sub(end, first)}).expr(e))
                if first not in mentions(found):
                    e = self._plain.expr(Substitution({end: past}).expr(found))
        return e

    def _holes_of(self, e: ExprNode, funcs: Collection[Function]) -> list[Hole]:
        return [h for h in mentions(e) if isinstance(h, Hole) and h.func in funcs]

    def _assume_some(self, facts: Facts, length: ExprNode) -> None:
        """Assumes that an interval which a variable is kept within is not empty, by its hole's name and by its
        answer."""
        for e in (self.unholed(length), self.closed(length, _funcs_of(length))):
            if not isinstance(e, IntImm):
                facts.assume_at_least(e, ir.ONE)

    def _record_facts(self, path: Path) -> None:
        """Records the facts that the binders of a path give, once, outermost first."""
        chain: list[Path] = []
        at: Path | None = path
        while at is not None and at.binder is not None and at not in self._entered:
            chain.append(at)
            at = at.parent
        for node in reversed(chain):
            self._entered.add(node)
            facts = self.facts.at(node)
            match node.binder:
                case Taken(condition=condition):
                    assume_condition(facts, condition)
                case ForAll(var=var, bounds=bounds):
                    first, last = self.interval(bounds)
                    facts.assume_range(var, first, last)
                    self._symbols.loop(var, first, last)
                    _assume_nonempty(facts, self.unholed(bounds.len))
                case Define(var=var, value=value, within=within):
                    exact = self.unholed(value)
                    facts.assume_range(var, exact, exact)
                    first, last = (exact, exact) if within is None else self.interval(within)
                    self._symbols.loop(var, first, last)
                    if within is not None:
                        facts.assume_range(var, first, last)
                        self._assume_some(facts, within.len)


class _Climb:
    """One expression on its way up a path: the binders leave one by one, innermost first."""

    def __init__(self, extents: Extents, path: Path, stop: Path) -> None:
        self._extents = extents
        self._facts = extents.facts.at(path)
        self._simplifier = Simplifier(self._facts)
        self._conditions = Conditions(self._facts)
        self._binders = list(path.up_to(stop))
        self._bound = {b.var for b in self._binders if isinstance(b, ForAll | Define)}
        self._defined = {b.var: b.value for b in self._binders if isinstance(b, Define)}
        self._low: ExprNode | None = None
        self._high: ExprNode | None = None
        self._lost = False

    def ends(self, e: ExprNode) -> Ends:
        memory = self._elimination({})
        self._low, self._high = memory.bound(e, False), memory.bound(e, True)
        self._lost = memory.lost
        for binder in self._binders:
            match binder:
                case Taken():
                    pass  # it is about no variable: the facts know it
                case Where(condition=condition):
                    self._conditions.meet(self._extents.unholed(condition))
                case Choice(func=f):
                    self._close(f)
                case ForAll(var=var, bounds=bounds):
                    self._eliminate(var, *self._extents.interval(bounds))
                case Define(var=var, value=value, within=within):
                    self._define(var, self._extents.unholed(value), within)
        low = None if self._low is None else self._simplifier.expr(self._low)
        high = None if self._high is None else self._simplifier.expr(self._high)
        return Ends(low, high, Engine.INTERVAL, lost=self._lost or self._conditions.lost)

    def _elimination(self, targets: Targets) -> Elimination:
        of = self._extents
        return Elimination(targets, self._facts, of.values, of.symbols, of.value_ends)

    def _define(self, var: Variable, value: ExprNode, within: Interval | None) -> None:
        """A let leaves: it ranges over its value, which the path keeps within an interval."""
        if within is None:
            self._eliminate(var, value, value)
            return
        first, last = self._extents.interval(within)
        if not self._needs(var) and any(self._needs(v) for v in self._bound if v in mentions(value)):
            # Someone depends on the loops that it is made of, not on the let itself.
            self._conditions.meet(ir.conjunction(ir.less_equal(first, value), ir.less_equal(value, last)))
        elif _covers_all(value, self._bound, self._defined):
            self._eliminate(var, first, last)
            return
        self._eliminate(var, self._simplifier.maximum(value, first), self._simplifier.minimum(value, last))

    def _needs(self, var: Variable) -> bool:
        return any(e is not None and var in mentions(e) for e in (self._low, self._high))

    def _eliminate(self, var: Variable, first: ExprNode, last: ExprNode) -> None:
        if not self._needs(var):
            self._conditions.without(var, first, last)
            return
        lows, highs = self._conditions.about(var)
        for e in lows:
            first = self._simplifier.maximum(first, self._simplifier.expr(e))
        for e in highs:
            last = self._simplifier.minimum(last, self._simplifier.expr(e))
        ends = self._elimination({var: (first, last)})
        self._low = None if self._low is None else ends.bound(self._low, False)
        self._high = None if self._high is None else ends.bound(self._high, True)
        self._lost |= ends.lost
        if lows or highs:
            # The bounds may cross for some values of the variables further out, which are then not taken at all.
            self._lost |= any(self._needs(v) for v in self._bound)

    def _close(self, f: Function) -> None:
        """Replaces the holes of a Func by their answers: the path leaves the place where they are bound."""
        own = frozenset({f})
        if self._low is not None:
            self._low = self._extents.closed(self._low, own)
        if self._high is not None:
            self._high = self._extents.closed(self._high, own)

        def closing(e: ExprNode) -> ExprNode | None:
            e = self._extents.closed(e, own)
            return None if any(isinstance(h, Hole) and h.func is f for h in mentions(e)) else e

        self._conditions.close(closing)


def _covers_all(value: ExprNode, bound: set[Variable], defined: dict[Variable, ExprNode]) -> bool:
    """True where a let of a fused loop takes every value that it is kept within.

    A remainder does (or is not known better). A quotient does where every loop that it depends on is below the stop.
    """
    for e in subexpressions([value]):
        if isinstance(e, Binary) and e.op in (BinaryOp.DIV, BinaryOp.MOD) and mentions(e.a) & bound:
            return e.op is BinaryOp.MOD or _sources(e.a, defined) <= bound
    return False


def _sources(e: ExprNode, defined: dict[Variable, ExprNode]) -> set[Variable]:
    """The variables that an expression depends on, through lets too."""
    found: set[Variable] = set()
    waiting = [v for v in mentions(e) if isinstance(v, Variable)]
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            if v in defined:
                waiting.extend(w for w in mentions(defined[v]) if isinstance(w, Variable))
    return found


def _funcs_of(e: ExprNode) -> frozenset[Function]:
    """The Funcs whose holes an expression has."""
    return frozenset(h.func for h in mentions(e) if isinstance(h, Hole) and isinstance(h.func, Function))


def _without_empty(past: ExprNode, first: ExprNode) -> ExprNode | None:
    """Where an interval that may be empty ends if it is not: ``max(past, first)`` without its start."""
    match past:
        case Binary(op=BinaryOp.MAX, a=a, b=b) if first in (a, b):
            return b if a is first else a
    return None


def _is_ceiling(length: Binary) -> bool:
    """True where a length is a quotient that grows with its numerator: one by a negative number does not."""
    return length.op is BinaryOp.DIV and isinstance(length.b, IntImm) and length.b.value > 0


def _assume_nonempty(facts: Facts, length: ExprNode) -> None:
    """Inside a loop its length is at least one, and so are the lengths that it is made of."""
    while isinstance(length, Binary) and _is_ceiling(length):
        length = simplify(ir.sub(length.a, ir.sub(length.b, ir.ONE)))
    if not isinstance(length, IntImm | Binary):
        facts.assume_at_least(length, ir.ONE)
