"""Values of memory in claims: each read becomes an unknown, with what is proven of it.

In: expressions with accesses. Out: the same with a Variable in place of each read; equal reads of one moment are one
Variable.

    g[in[x]]   ->   the point in[x] of g is the unknown ``in[x]``, of in's type

What a Func's values are known to lie in is a guess of the range analysis, and a claim about each definition:
``_value_claims`` in ``bounds.verify.program``.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import LARGEST
from halide_core.analysis.value_ends import NOTHING, Ends, ValueEnds, between
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.verify.vc import Context, brief_point
from halide_core.ir import Access, ExprNode, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Rewriter, subexpressions


class MemoryReads:
    """Variables for the reads of one program's claims."""

    def __init__(self) -> None:
        self._ranges = ValueRanges()
        self._ends = ValueEnds(self._ranges)
        self._count = 0
        self.invented: dict[ExprNode, None] = {}
        """Unknowns that stand for values of Funcs."""
        self.ranges: dict[ExprNode, tuple[float, float]] = {}
        """Finite ranges of unknowns, for what is made of floats; of integers, contexts say the same."""
        self.words: dict[ExprNode, None] = {}
        """Unknowns that are int64 words of memory; index arithmetic is that of all integers."""
        self.trusted: dict[tuple[Function, int], None] = {}
        """Funcs whose guessed ranges were taken as facts."""

    def fresh(self, e: Access, args: tuple[ExprNode, ...]) -> Variable:
        """A new unknown for a read."""
        self._count += 1
        var = Variable(e.type, f"{e.callee.name}[{brief_point(args)}] #{self._count}")
        if isinstance(e.callee, Function):
            self.invented[var] = None
        if e.type is INT64:
            self.words[var] = None
        return var

    def range_of(self, f: Function, component: int) -> tuple[float, float] | None:
        """The guessed range of a Func's values; None where it is only that of their type."""
        type = f.types[component]
        low, high = self._ranges.of_function(f, component)
        if type.is_float():
            return (low, high) if -LARGEST < low <= high < LARGEST else None
        if (low, high) == type.range or not (type.range[0] <= low <= high <= type.range[1]):
            return None
        return int(low), int(high)

    def ends_of(self, f: Function, component: int) -> Ends:
        """The guessed ends of a Func's values that Params are in."""
        return self._ends.of_function(f, component)


class Reads(Rewriter):
    """The reads of one moment. ``certain``: reads of Funcs are of points that were computed, so that the proven range
    of their values holds."""

    def __init__(self, memory: MemoryReads) -> None:
        super().__init__()
        self._memory = memory
        self._found: dict[ExprNode, tuple[Access, Variable]] = {}

    def rewrite_Access(self, e: Access) -> ExprNode:
        """The unknown of a read."""
        args = tuple([self.expr(a) for a in e.args])
        var = self._memory.fresh(e, args)
        self._found[e] = (e, var)
        return var

    def facts(self, accesses: Iterable[Access]) -> list[ExprNode]:
        """Range facts about the values of some reads, which must be of points that hold values."""
        facts: list[ExprNode] = []
        for e in accesses:
            if e not in self._found:
                continue
            var = self._found[e][1]
            if e.type is INT64:  # index arithmetic is that of all integers; what memory holds is not
                facts += [ir.less_equal(ir.i64(e.type.range[0]), var), ir.less_equal(var, ir.i64(e.type.range[1]))]
            if isinstance(e.callee, Function):
                known = self._memory.range_of(e.callee, e.component)
                if known is not None:
                    self._memory.trusted.setdefault((e.callee, e.component))
                    self._memory.ranges[var] = known
                    if e.type.is_float():
                        continue
                    low, high = (ir.const(end, e.type) for end in known)
                    facts += [ir.less_equal(low, var), ir.less_equal(var, high)]
                ends = self._memory.ends_of(e.callee, e.component)
                if ends != NOTHING:
                    self._memory.trusted.setdefault((e.callee, e.component))
                    facts += between(var, ends)
        return facts


def accesses_in(roots: Iterable[ExprNode]) -> list[Access]:
    """Every distinct access, inner ones first."""
    return [e for e in subexpressions(roots) if isinstance(e, Access)]


def certain_accesses(always: Iterable[ExprNode], values: Iterable[ExprNode]) -> list[Access]:
    """The accesses on which an address or the program's course depends: all below ``always``, and those in the
    coordinates of others."""
    found = dict.fromkeys(accesses_in(always))
    for e in accesses_in(values):
        found.update(dict.fromkeys(accesses_in(e.args)))
    return list(found)


def bounded(reads: Reads, context: Context, accesses: Iterable[Access]) -> Context:
    """The context with what is known of some reads."""
    return context.holds(*reads.facts(accesses))
