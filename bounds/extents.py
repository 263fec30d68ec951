"""The range of an expression along a path: what the engine asks for every access.

In: an expression of the program, a path down to where it stands, and a path above that to stop at. Out: its least and
greatest value in terms of what is bound at the stop. Answers given so far are recorded here, and used.

    of(x + 1, path: forall x in (?cpu f.x.min, 8), stop: top)   ->   [?cpu f.x.min + 1, ?cpu f.x.min + 8]
"""

from __future__ import annotations

from bounds.elimination import Conditions, Elimination, mentions
from bounds.oracle import Bound, Ends, Engine
from bounds.query import Choice, Define, ForAll, Path, Taken, Where
from bounds.value_range import ValueRanges
from halide_core import ir
from halide_core.algorithm import Function
from halide_core.assumptions import assume_condition
from halide_core.facts import Facts
from halide_core.ir import Binary, BinaryOp, Expr, Hole, IntImm, Variable
from halide_core.simplify import Simplifier, simplify
from halide_core.visit import Substitution, subexpressions

_SMALL = 16
"""Answers of at most this many nodes are used in place of the hole, which keeps lengths constant downstream."""


class Extents:
    """Ranges along paths, given the holes answered so far."""

    def __init__(self) -> None:
        self._values = ValueRanges()
        self._exact: dict[Expr, Expr] = {}  # hole -> its whole answer
        self._short: dict[Expr, Expr] = {}  # hole -> its answer where that is small

    def record(self, h: Expr, value: Expr) -> None:
        """A hole is answered."""
        self._exact[h] = value
        if sum(1 for _ in subexpressions([value])) <= _SMALL:
            self._short[h] = value

    def use(self, h: Expr) -> Expr:
        """What stands for a hole from now on."""
        return self._short.get(h, h)

    def ends(self, e: Expr, path: Path, stop: Path) -> Ends:
        """The range of ``e``, as an engine gives it."""
        low, high = self.of(e, path, stop)
        return Ends(low, high, Engine.INTERVAL)

    def of(self, e: Expr, path: Path, stop: Path) -> Bound:
        """The least and greatest value of ``e`` over the binders of ``path`` below ``stop``."""
        facts = path.facts
        start = self.unholed(e)
        conditions = Conditions()
        self._record_facts(path)
        none = Elimination({}, facts, self._values)
        low, high = none.bound(start, False), none.bound(start, True)
        binders = list(path.up_to(stop))
        bound = {b.var for b in binders if isinstance(b, ForAll | Define)}
        defined = {b.var: b.value for b in binders if isinstance(b, Define)}
        for binder in binders:
            match binder:
                case Where(condition=condition):
                    conditions.meet(self.unholed(condition))
                case Choice(func=f):
                    low, high = self._close(low, f), self._close(high, f)
                case ForAll(var=var, bounds=bounds):
                    first = self.unholed(bounds.min)
                    last = simplify(ir.sub(ir.add(first, self.unholed(bounds.len)), ir.ONE))
                    low, high = self._eliminate(var, first, last, conditions, facts, low, high)
                case Define(var=var, value=value, within=within):
                    first = last = self.unholed(value)
                    if within is not None:
                        a = self.unholed(within.min)
                        b = simplify(ir.sub(ir.add(a, self.unholed(within.len)), ir.ONE))
                        if _covers_all(first, bound, defined):
                            first, last = a, b
                        else:
                            simplifier = Simplifier(facts)
                            first, last = simplifier.maximum(first, a), simplifier.minimum(last, b)
                    low, high = self._eliminate(var, first, last, conditions, facts, low, high)
        simplifier = Simplifier(facts)
        return (
            None if low is None else simplifier.expr(low),
            None if high is None else simplifier.expr(high),
        )

    def _eliminate(
        self,
        var: ir.Variable,
        first: Expr,
        last: Expr,
        conditions: Conditions,
        facts: Facts,
        low: Expr | None,
        high: Expr | None,
    ) -> Bound:
        lows, highs = conditions.about(var)
        needed = (low is not None and var in mentions(low)) or (high is not None and var in mentions(high))
        if not needed:
            return low, high
        simplifier = Simplifier(facts)
        for e in lows:
            first = simplifier.maximum(first, simplifier.expr(e))
        for e in highs:
            last = simplifier.minimum(last, simplifier.expr(e))
        ends = Elimination({var: (first, last)}, facts, self._values)
        return (
            None if low is None else ends.bound(low, False),
            None if high is None else ends.bound(high, True),
        )

    def unholed(self, e: Expr) -> Expr:
        """Small answers in place of their holes."""
        if any(h in self._short for h in mentions(e)):
            return simplify(Substitution(self._short).expr(e))
        return e

    def closed(self, e: Expr, funcs: frozenset[Function]) -> Expr:
        """An expression with no small answers' holes, and none of some Funcs' that are answered."""
        e = self.unholed(e)
        while True:
            inner = {h: self._exact[h] for h in mentions(e) if isinstance(h, Hole) and h.func in funcs and h in self._exact}
            if not inner:
                return e
            e = simplify(Substitution(inner).expr(e))

    def _close(self, e: Expr | None, f: Function) -> Expr | None:
        """Replaces the holes of a Func by their answers: the path leaves the place where they are bound."""
        while e is not None and any(isinstance(h, Hole) and h.func is f for h in mentions(e)):
            own = {h: self._exact[h] for h in mentions(e) if isinstance(h, Hole) and h.func is f}
            e = simplify(Substitution(own).expr(e))
        return e

    def _record_facts(self, path: Path) -> None:
        """What the binders of a path say, recorded once, outermost first."""
        chain: list[Path] = []
        at: Path | None = path
        while at is not None and at.binder is not None and not at.told:
            chain.append(at)
            at = at.parent
        for node in reversed(chain):
            node.told = True
            match node.binder:
                case Taken(condition=condition):
                    assume_condition(node.facts, condition)
                case ForAll(var=var, bounds=bounds):
                    first, length = self.unholed(bounds.min), self.unholed(bounds.len)
                    node.facts.assume_range(var, first, simplify(ir.sub(ir.add(first, length), ir.ONE)))
                    _assume_nonempty(node.facts, length)
                case Define(var=var, value=value, within=within):
                    exact = self.unholed(value)
                    node.facts.assume_range(var, exact, exact)
                    if within is not None:
                        a, n = self.unholed(within.min), self.unholed(within.len)
                        node.facts.assume_range(var, a, simplify(ir.sub(ir.add(a, n), ir.ONE)))


def _covers_all(value: Expr, bound: set[Variable], defined: dict[Variable, Expr]) -> bool:
    """Whether a let of a fused loop takes every value that it is kept within.

    A remainder does (or is not known better). A quotient does where every loop that it depends on is below the stop.
    """
    for e in subexpressions([value]):
        if isinstance(e, Binary) and e.op in (BinaryOp.DIV, BinaryOp.MOD) and mentions(e.a) & bound:
            return e.op is BinaryOp.MOD or _sources(e.a, defined) <= bound
    return False


def _sources(e: Expr, defined: dict[Variable, Expr]) -> set[Variable]:
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


def _is_ceiling(length: Binary) -> bool:
    """Whether a length is a quotient that grows with its numerator: one by a negative number does not."""
    return length.op is BinaryOp.DIV and isinstance(length.b, IntImm) and length.b.value > 0


def _assume_nonempty(facts: Facts, length: Expr) -> None:
    """Inside a loop its length is at least one, and so are the lengths that it is made of."""
    while isinstance(length, Binary) and _is_ceiling(length):
        length = simplify(ir.sub(length.a, ir.sub(length.b, ir.ONE)))
    if not isinstance(length, IntImm | Binary):
        facts.assume_at_least(length, ir.ONE)
