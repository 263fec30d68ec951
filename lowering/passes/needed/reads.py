"""Reads of a Func by the statements after its computation, each under the conditions that it counts under.

In: statements, and the place where they begin. Out: each access to a Func, with the path to it; an access in an arm of
a select has the select's condition on its path.

    for x: o[x] = select(x < 100, f[x], g[f[x - 1]])   ->   f[x]: x < 100;  f[x - 1]: always

What a select does not choose is garbage that nobody sees, but where it stands in an index, which must be right to be
read with, or is printed. Conditions count as far as bounds can use them: comparisons of coordinates that do not wrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import exact_index
from halide_core.analysis.linear import difference, linear_of
from halide_core.analysis.near import is_near
from halide_core.bounds.query.path_conditions import guards
from halide_core.bounds.query.query import Define, ForAll, Path, Where
from halide_core.ir import (
    Access,
    Allocate,
    Assert,
    Binary,
    BinaryOp,
    Block,
    Callee,
    ExprNode,
    For,
    If,
    IntImm,
    Label,
    Let,
    Not,
    PrefetchRegion,
    Print,
    Provide,
    Select,
    Stmt,
    Variable,
)
from halide_core.ir.logic import all_of, conjuncts, negation
from halide_core.ir.visitor import any_has, free_variables, has, nodes_of, parts, stmt_exprs, walk
from halide_core.lowering.passes.needed.statement_reads import StatementReads
from halide_core.lowering.passes.variable_ranges import CoordinateRanges


@dataclass(frozen=True, slots=True)
class PathPlace:
    """The way down to a statement: its path, and constant ranges of the coordinates there."""

    path: Path
    ranges: CoordinateRanges

    def inside(self) -> PathPlace:
        """The same place, to go on from."""
        return PathPlace(self.path, self.ranges.inside())

    def enter(self, loop: For) -> PathPlace:
        """Inside a loop."""
        ranges = self.ranges.inside()
        ranges.enter(loop)
        return PathPlace(self.path.then(ForAll(loop.var, loop.bounds)), ranges)

    def after(self, s: Stmt) -> PathPlace:
        """Behind a statement of a block."""
        match s:
            case Let(var=var, value=value, within=within):
                self.ranges.define(s)
                return PathPlace(self.path.then(Define(var, value, within)), self.ranges)
            case Assert(condition=condition):
                return self.where(condition)
        return self

    def where(self, condition: ExprNode) -> PathPlace:
        """Where a condition holds."""
        known, ranges = understood(condition, self.ranges), self.ranges.inside()
        if known is ir.TRUE:
            return PathPlace(self.path, ranges)
        ranges.learn(known)
        return PathPlace(self.path.then(Where(known)), ranges)


def understood(condition: ExprNode, ranges: CoordinateRanges) -> ExprNode:
    """The part of a condition that is about coordinates, in index arithmetic; TRUE where there is none."""
    match condition:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return all_of((understood(a, ranges), understood(b, ranges)))
        case Not(a=Not(a=a)):
            return understood(a, ranges)
        case Not(a=Binary(op=BinaryOp.OR, a=a, b=b)):
            return all_of((understood(negation(a), ranges), understood(negation(b), ranges)))
        case Not(a=Binary(op=BinaryOp.LT, a=a, b=b)) if a.type.is_integer():
            return understood(ir.less_equal(b, a), ranges)
        case Not(a=Binary(op=BinaryOp.LE, a=a, b=b)) if a.type.is_integer():
            return understood(ir.less(b, a), ranges)
        case Not(a=Binary(op=BinaryOp.NE, a=a, b=b)):
            return understood(ir.binary(BinaryOp.EQ, a, b), ranges)
        case Binary(op=BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ as op, a=a, b=b) if a.type.is_integer():
            if not has(condition, Access):
                x, y = (exact_index(e, ranges.is_int32) for e in (a, b))
                if x is not None and y is not None and all(_is_near(e, ranges) for e in (x, y)):
                    return _of_quotient(op, x, y)
    return ir.TRUE


def _may_bound(condition: ExprNode) -> bool:
    """True where a condition might bound a coordinate: nothing is proven here."""
    match condition:
        case Binary(op=BinaryOp.AND | BinaryOp.OR, a=a, b=b):
            return _may_bound(a) or _may_bound(b)
        case Not(a=a):
            return _may_bound(a)
        case Binary(op=BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ | BinaryOp.NE, a=a, b=b) if a.type.is_integer():
            x, y = (exact_index(e, lambda _: True) for e in (a, b))
            return x is not None and y is not None and any(map(_is_coordinate, difference(x, y).terms))
    return False


def _is_coordinate(atom: ExprNode) -> bool:
    return isinstance(atom, Variable) or (isinstance(atom, Binary) and atom.op is BinaryOp.DIV)


def _is_near(e: ExprNode, ranges: CoordinateRanges) -> bool:
    """True of a number that can be computed with: of the user's own int64s there may be any."""
    return is_near(linear_of(e)) or ranges.is_int32(e)


def _of_quotient(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """A comparison; of a quotient, in terms of what is divided: bounds look at that alone."""
    match a, b:
        case Binary(op=BinaryOp.DIV, a=x, b=IntImm(value=k)), _ if k > 0:
            least, past = ir.mul(b, ir.i64(k)), ir.mul(ir.add(b, ir.ONE), ir.i64(k))
            if op is BinaryOp.EQ:
                return ir.conjunction(_of_quotient(BinaryOp.LE, least, x), _of_quotient(BinaryOp.LT, x, past))
            return _of_quotient(BinaryOp.LT, x, least if op is BinaryOp.LT else past)
        case _, Binary(op=BinaryOp.DIV, a=x, b=IntImm(value=k)) if k > 0:
            if op is BinaryOp.EQ:
                return _of_quotient(op, b, a)
            least = ir.mul(ir.add(a, ir.ONE) if op is BinaryOp.LT else a, ir.i64(k))
            return _of_quotient(BinaryOp.LE, least, x)
    return ir.binary(op, a, b)


def chosen_somewhere(stmt: Stmt) -> frozenset[Callee]:
    """The Funcs of which a select reads, in one of its cases, what its condition might bound: a quick look, before
    anything is proven."""
    found: set[Callee] = set()
    for s in walk(stmt):
        if not isinstance(s, Provide):
            continue
        if any(_may_bound(e.condition) for e in nodes_of(s.values, Select)):
            for e, conditions in guards(s.values, connectives=False).items():
                if isinstance(e, Access) and isinstance(e.callee, Function) and e.callee not in found:
                    point = frozenset[Variable]().union(*map(free_variables, e.args))
                    if any(not point.isdisjoint(free_variables(c)) and _may_bound(c) for c in conditions):
                        found.add(e.callee)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class CountedRead:
    """An access, and the path to it. ``narrowed``: less of it may count than bounds inference knows of."""

    access: Access
    path: Path
    narrowed: bool


class ReadSearch:
    """Finds reads. ``trimmed``: the statements that run less often than bounds inference knows of."""

    def __init__(self) -> None:
        self.trimmed: set[Stmt] = set()
        self._reads = StatementReads()

    def of(self, callee: Callee, stmts: Sequence[Stmt], place: PathPlace) -> list[CountedRead] | None:
        """The reads of a callee in what follows a place; None where one stands in a statement of which nothing is
        known here."""
        found: list[CountedRead] = []
        place = place.inside()
        for s in stmts:
            if callee in self._reads.of(s) and not self._gather(callee, s, place, False, found):
                return None
            place = place.after(s)
        return found

    def _gather(self, callee: Callee, s: Stmt, place: PathPlace, narrowed: bool, found: list[CountedRead]) -> bool:
        if callee not in self._reads.of(s):
            return True
        narrowed |= s in self.trimmed
        match s:
            case Block(stmts=stmts):
                place = place.inside()
                for each in stmts:
                    if not self._gather(callee, each, place, narrowed, found):
                        return False
                    place = place.after(each)
            case Label(body=body):
                return self._gather(callee, body, place, narrowed, found)
            case For(body=body):
                found += self._always(callee, stmt_exprs(s), place, narrowed)
                return self._gather(callee, body, place.enter(s), narrowed, found)
            case If(condition=condition, then=then, otherwise=otherwise):
                found += self._always(callee, [condition], place, narrowed)
                if not self._gather(callee, then, place.where(condition), narrowed, found):
                    return False
                if otherwise is not None:
                    return self._gather(callee, otherwise, place.where(negation(condition)), narrowed, found)
            case Provide(args=args, values=values):
                found += self._always(callee, args, place, narrowed)
                found += self._valued(callee, values, place, narrowed)
            case Let() | Assert() | Allocate() | PrefetchRegion():
                found += self._always(callee, stmt_exprs(s), place, narrowed)
            case _:
                return False
        return True

    def _always(self, callee: Callee, exprs: Iterable[ExprNode], place: PathPlace, narrowed: bool) -> list[CountedRead]:
        accesses = [e for e in nodes_of(exprs, Access) if e.callee is callee]
        return [CountedRead(e, place.path, narrowed) for e in accesses]

    def _valued(
        self, callee: Callee, values: Sequence[ExprNode], place: PathPlace, narrowed: bool
    ) -> list[CountedRead]:
        """The reads of values: those in arms of selects under their conditions, but for those in indices. What is
        printed is shown whatever a select around it gives."""
        found = self._always(callee, values, place, narrowed)
        if not any_has(values, Select):
            return found
        indices = [a for e in nodes_of(values, Access) for a in e.args]
        places = set(nodes_of(indices, Access))
        shown = [part for e in nodes_of(values, Print) for part in parts(e)]
        conditions = guards([*values, *shown], connectives=False)
        return [read if read.access in places else _under(read, conditions[read.access], place) for read in found]


def _under(read: CountedRead, conditions: Sequence[ExprNode], place: PathPlace) -> CountedRead:
    usable = all_of(c for c in conditions if _may_bound(c))
    known = [c for c in conjuncts(understood(usable, place.ranges)) if _narrows(c, read.access)]
    return CountedRead(read.access, read.path.then(Where(all_of(known))), True) if known else read


def _narrows(condition: ExprNode, access: Access) -> bool:
    """True where a condition bounds a variable that a point is made of."""
    if not isinstance(condition, Binary):
        return False
    bounded = difference(condition.b, condition.a).terms
    return any(v in bounded for e in access.args for v in free_variables(e))
