"""Producers whose loops go no further than somebody reads what they make.

In: a program with bounds, before it is flattened. Out: the same, with fewer iterations in the loops of Funcs of which
less is read than is in their bounds: where a select reads them in one case, or what reads them was trimmed itself.

    label f: for x in (0, n): f[x] = …                                ->   label f: for x in (0, min(n, 100)): f[x] = …
    label o: for x in (0, n): o[x] = select(x < 100, f[x], g[x])      ->   label o: …

Bounds and memory stay as they are, as lanes read both cases of a select, and drop what nobody computed. So no input
is asked for more, and no length that is a constant stops being one: a loop of a constant length is left whole, and
where nobody reads any point of what it makes, the Func is not computed. Lanes are not trimmed.

That nothing is missing is proven by other means than those that found it (``needed.proofs``): each read that counts is
of a point between the limits, and each iteration that is left out makes points beyond them only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.analysis.conditions import assume_condition
from halide_core.analysis.linear import difference
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.engines.elimination import ACCESS, mentions
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.query import ForAll, Path, Where
from halide_core.ir import (
    Access,
    Allocate,
    Block,
    Callee,
    ExprNode,
    For,
    If,
    Interval,
    IntImm,
    Label,
    Let,
    LoopKind,
    Provide,
    Stmt,
)
from halide_core.ir.logic import all_of, negation
from halide_core.ir.visitor import stmt_exprs, sub_stmts, subexpressions, walk
from halide_core.lowering.passes.needed.limits import LoopEnds, LoopLimit, limits
from halide_core.lowering.passes.needed.proofs import PathProver
from halide_core.lowering.passes.needed.reads import CountedRead, PathPlace, ReadSearch, chosen_somewhere
from halide_core.lowering.passes.variable_ranges import CoordinateRanges
from halide_core.schedule.directives import Async, DebugToFile
from halide_core.schedule.storage_directives import Memoize

_LONG = 60
"""Limits of more nodes than this cost more than they save."""
_SEVERAL = 2
"""An end that is the furthest of more than this is seldom nearer than that of all there is."""
_PLAIN = (Block, For, If, Label, Let, Allocate, Provide, ir.PrefetchRegion)
"""Statements of which all that they do is known here."""
_MOST = 24
"""Of a Func that is read in more places nothing is trimmed."""


def trim_producers(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """See the module's docstring. Threads count iterations that they wait for: with them all stay."""
    directives = [d for f in algorithm.functions for d in f.directives]
    chosen = frozenset[Callee]() if any(isinstance(d, Async) for d in directives) else chosen_somewhere(stmt)
    if not chosen:
        return stmt
    kept = [f for f in algorithm.functions if any(isinstance(d, DebugToFile | Memoize) for d in f.directives)]
    trimming = _Trimming(chosen, frozenset([*algorithm.outputs, *kept]))
    return trimming.stmt(stmt, PathPlace(Path(None, None), CoordinateRanges()))


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One end of what is needed in a dimension."""

    dim: int
    at: ExprNode
    up: bool
    ends: tuple[tuple[CountedRead, ExprNode], ...]
    """The reads, each with an end of its own, of which this is the furthest."""
    place: Path
    """Where the Func is computed."""

    def holds(self, e: ExprNode) -> ExprNode:
        """A coordinate is not beyond it."""
        return _not_beyond(e, self.at, up=self.up)


def _not_beyond(e: ExprNode, end: ExprNode, *, up: bool) -> ExprNode:
    return ir.less_equal(e, end) if up else ir.less_equal(end, e)


class _Trimming:
    """Goes through statements from the last one to the first, so that who reads is known before who writes."""

    def __init__(self, chosen: frozenset[Callee], whole: frozenset[Callee]) -> None:
        self._chosen = chosen
        self._whole = whole
        self._search = ReadSearch()
        self._extents = Extents()
        self._prover = PathProver()
        self._known: set[Path] = set()
        self._proven: dict[_Side, bool] = {}

    def stmt(self, s: Stmt, place: PathPlace) -> Stmt:
        """The statement, with what is computed in it trimmed."""
        match s:
            case Block():
                return self._block(s, place)
            case For(kind=kind, body=body):
                if kind is LoopKind.VECTORIZED:
                    return s
                inner = self.stmt(body, place.enter(s))
                return self._made(s, s if inner is body else replace(s, body=inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                yes = self.stmt(then, place.where(condition))
                no = None if otherwise is None else self.stmt(otherwise, place.where(negation(condition)))
                return s if yes is then and no is otherwise else self._made(s, If(condition, yes, no))
            case Label(body=body):
                inner = self.stmt(body, place)
                return s if inner is body else Label(s.func, s.stage, inner)
        return s

    def _made(self, old: Stmt, new: Stmt) -> Stmt:
        """A statement in place of another, which is trimmed if that was."""
        if old in self._search.trimmed:
            self._search.trimmed.add(new)
        return new

    def _block(self, s: Block, place: PathPlace) -> Stmt:
        places: list[PathPlace] = []
        place = place.inside()
        for each in s.stmts:
            places.append(place)
            place = place.after(each)
        allocated = {each.func: i for i, each in enumerate(s.stmts) if isinstance(each, Allocate)}
        later: list[Stmt] = []
        for i in reversed(range(len(s.stmts))):
            each = s.stmts[i]
            if isinstance(each, Label) and each.stage is None and allocated.get(each.func, i) < i:
                each = self._label(each, later, places[i])
            later.insert(0, self.stmt(each, places[i]))
        return s if all(a is b for a, b in zip(later, s.stmts, strict=True)) else Block(tuple(later))

    # -- one Func

    def _label(self, s: Label, later: Sequence[Stmt], place: PathPlace) -> Stmt:
        """The computation of a Func whose memory begins in the same block, so that all who read it come later."""
        f = s.func
        if f in self._whole or not isinstance(f, Function):
            return s
        if not (f in self._chosen or self._search.trimmed) or not _is_alone(s, f):
            return s
        reads = self._search.of(f, later, place)
        if not reads or not all(read.narrowed for read in reads) or len(reads) > _MOST:
            return s  # where one reads always, others reach little further, by the width of a stencil
        self._know(place.path)
        sides = self._needed(reads, [d for d in range(f.dimensions) if _is_pointwise(s, f, d)], place)
        if not sides:
            return s
        nests = _TrimmedNests(f, sides, self)
        made = s if _steers_itself(s, f) else nests.trimmed(s, place)
        return self._where_needed(made, [side for side in sides if side.dim not in nests.narrowed], place)

    def _know(self, path: Path) -> None:
        """Records the conditions of a path as facts."""
        at: Path | None = path
        while at is not None and at not in self._known:
            self._known.add(at)
            if isinstance(at.binder, Where):
                assume_condition(self._extents.facts.at(at), at.binder.condition)
            at = at.parent

    def _needed(self, reads: Sequence[CountedRead], dims: Sequence[int], place: PathPlace) -> list[_Side]:
        """The ends of what is read, as far as they are found."""
        found: list[_Side] = []
        simplifier = Simplifier(self._extents.facts.at(place.path))
        for d in dims:
            ends = [self._extents.ends(read.access.args[d], read.path, place.path) for read in reads]
            for up in (False, True):
                points = [end for each in ends if (end := each.high if up else each.low) is not None]
                if len(points) < len(reads) or any(ACCESS in mentions(end) for end in points):
                    continue
                furthest = _furthest(points, simplifier.facts, up=up)
                at = reduce(simplifier.maximum if up else simplifier.minimum, furthest)
                if len(furthest) <= _SEVERAL and sum(1 for _ in subexpressions([at])) <= _LONG:
                    ends_of = tuple(zip(reads, points, strict=True))
                    found.append(_Side(d, at, up, ends_of, place.path))
        return found

    def _where_needed(self, s: Stmt, sides: Sequence[_Side], place: PathPlace) -> Stmt:
        """The computation, where there is something between two ends."""
        simplifier = Simplifier(self._extents.facts.at(place.path))
        some: list[ExprNode] = []
        for low in sides:
            for high in sides:
                if low.dim == high.dim and high.up and not low.up:
                    condition = simplifier.expr(ir.less_equal(low.at, high.at))
                    if condition is not ir.TRUE and self.is_proven(low) and self.is_proven(high):
                        some.append(condition)
        condition = all_of(some)
        if condition is ir.TRUE:
            return s
        made = If(condition, s, None)
        self._search.trimmed.add(made)
        return made

    # -- what its nests ask

    def proves(self, path: Path, conclusion: ExprNode, *, searches: bool = False) -> bool:
        """True where a conclusion was proven at a path."""
        return self._prover.proves(path, conclusion, searches=searches)

    def is_proven(self, side: _Side) -> bool:
        """True where it was proven that no read that counts is beyond an end."""
        known = self._proven.get(side)
        if known is None:
            known = self._proven[side] = all(
                self.proves(read.path, _not_beyond(read.access.args[side.dim], end, up=side.up))
                and self.proves(side.place, side.holds(end))
                for read, end in side.ends
            )
        return known

    def ends(self, e: ExprNode, path: Path, stop: Path) -> tuple[ExprNode | None, ExprNode | None]:
        """The least and the greatest value of an expression."""
        return self._extents.of(e, path, stop)

    def simplifier(self, path: Path) -> Simplifier:
        """The simplifier of a place."""
        self._extents.ends(ir.ZERO, path, path)  # records the facts of its loops
        return Simplifier(self._extents.facts.at(path))

    def is_trimmed(self, s: Stmt) -> None:
        """Remembers a statement that runs less often than bounds inference knows of."""
        self._search.trimmed.add(s)


class _TrimmedNests:
    """The nests of one Func."""

    def __init__(self, f: Function, sides: Sequence[_Side], asked: _Trimming) -> None:
        self._f = f
        self._sides = sides
        self._asked = asked
        self.narrowed: set[int] = set()
        """The dimensions along which loops were trimmed."""

    def trimmed(self, s: Stmt, place: PathPlace) -> Stmt:
        """The statement, with the loops of the Func itself trimmed, outermost first."""
        match s:
            case Block(stmts=stmts):
                made: list[Stmt] = []
                place = place.inside()
                for each in stmts:
                    made.append(self.trimmed(each, place))
                    place = place.after(each)
                return s if all(a is b for a, b in zip(made, stmts, strict=True)) else Block(tuple(made))
            case Label(func=f, body=body) if f is self._f:
                inner = self.trimmed(body, place)
                return s if inner is body else Label(f, s.stage, inner)
            case If(condition=condition, then=then, otherwise=otherwise):
                yes = self.trimmed(then, place.where(condition))
                no = None if otherwise is None else self.trimmed(otherwise, place.where(negation(condition)))
                return s if yes is then and no is otherwise else If(condition, yes, no)
            case For(kind=kind) if kind in (LoopKind.SERIAL, LoopKind.PARALLEL) and s.loop.func == self._f.name:
                loop = self._loop(s, place) if _is_alone(s.body, self._f) else s
                inner = self.trimmed(loop.body, place.enter(loop))
                if inner is not loop.body:
                    was = loop is not s
                    loop = replace(loop, body=inner)
                    if was:
                        self._asked.is_trimmed(loop)
                return loop
        return s

    def _loop(self, s: For, place: PathPlace) -> For:
        inside = place.enter(s)
        points = list(_points(s.body, self._f, inside))
        if len(points) != 1:
            return s
        (point,) = points
        simplifier = self._asked.simplifier(place.path)
        end = ir.add(s.bounds.min, s.bounds.len)
        ends = LoopEnds(s.var, s.bounds.min, ir.sub(end, ir.ONE))
        first, past = s.bounds.min, simplifier.expr(end)
        dims: set[int] = set()
        for side in self._sides:
            low, high = self._asked.ends(point.at.args[side.dim], point.path, inside.path)
            reached = low if side.up else high
            if reached is None or ACCESS in mentions(reached):
                continue
            gap = difference(side.at, reached) if side.up else difference(reached, side.at)
            for limit in limits(gap, ends, simplifier):
                if limit.up:
                    closer = simplifier.minimum(past, simplifier.expr(ir.add(limit.at, ir.ONE)))
                else:
                    closer = simplifier.maximum(first, limit.at)
                if closer is (past if limit.up else first) or not self._asked.is_proven(side):
                    continue
                if self._is_idle_beyond(limit, inside.path, side, reached, point):
                    first, past = (first, closer) if limit.up else (closer, past)
                    dims.add(side.dim)
        length = simplifier.maximum(simplifier.expr(ir.sub(past, first)), ir.ZERO)
        whole = simplifier.expr(s.bounds.len)
        same = first is s.bounds.min and length is whole
        fixed = isinstance(whole, IntImm) and not isinstance(length, IntImm)
        if same or fixed or sum(1 for _ in subexpressions([first, length])) > 2 * _LONG:
            return s
        made = replace(s, bounds=Interval(first, length))
        self._asked.is_trimmed(made)
        self.narrowed |= dims
        return made

    def _is_idle_beyond(self, limit: LoopLimit, loop: Path, side: _Side, reached: ExprNode, point: _Point) -> bool:
        """True where it is proven that all iterations beyond a limit make points beyond what is needed: these reach no
        further than to an end of their own, which is beyond it."""
        var = loop.binder.var if isinstance(loop.binder, ForAll) else None
        assert var is not None, "a loop's path ends with its variable"
        beyond = ir.less(limit.at, var) if limit.up else ir.less(var, limit.at)
        return self._asked.proves(
            point.path, _not_beyond(point.at.args[side.dim], reached, up=not side.up)
        ) and self._asked.proves(loop.then(Where(beyond)), negation(side.holds(reached)), searches=True)


@dataclass(frozen=True, slots=True)
class _Point:
    """An assignment, and the path to it."""

    at: Provide
    path: Path


def _furthest(ends: Sequence[ExprNode], facts: Facts, *, up: bool) -> list[ExprNode]:
    """The ends without those that another one is known to be as far as."""
    left: list[ExprNode] = []
    for end in ends:
        if not any(_is_as_far(other, end, facts, up=up) for other in left):
            left = [other for other in left if not _is_as_far(end, other, facts, up=up)] + [end]
    return left


def _is_as_far(one: ExprNode, other: ExprNode, facts: Facts, *, up: bool) -> bool:
    return one is other or (facts.proves_le(other, one) if up else facts.proves_le(one, other))


def _points(s: Stmt, f: Function, place: PathPlace) -> list[_Point]:
    """The assignments of a Func in a statement, with the paths to them."""
    match s:
        case Provide(func=func):
            return [_Point(s, place.path)] if func is f else []
        case Block(stmts=stmts):
            found: list[_Point] = []
            place = place.inside()
            for each in stmts:
                found += _points(each, f, place)
                place = place.after(each)
            return found
        case For(body=body):
            return _points(body, f, place.enter(s))
        case If(condition=condition, then=then, otherwise=otherwise):
            found = _points(then, f, place.where(condition))
            return found if otherwise is None else found + _points(otherwise, f, place.where(negation(condition)))
    return [point for each in sub_stmts(s) for point in _points(each, f, place)]


def _is_alone(s: Stmt, f: Function) -> bool:
    """True where nothing is written in a statement but a Func, and what has its memory in there."""
    inside = list(walk(s))
    if not all(isinstance(each, _PLAIN) for each in inside):
        return False
    own = {each.func for each in inside if isinstance(each, Allocate)}
    return all(each.func is f or each.func in own for each in inside if isinstance(each, Provide))


def _steers_itself(s: Label, f: Function) -> bool:
    """True where a place or a condition of a Func's stages reads it: then every iteration of theirs must find a value,
    whoever reads what it makes."""
    inside = list(walk(s))
    values = [e for each in inside if isinstance(each, Provide) for e in each.values]
    places = [a for e in subexpressions(values) if isinstance(e, Access) for a in e.args]
    others = [e for each in inside for e in (each.args if isinstance(each, Provide) else stmt_exprs(each))]
    return any(isinstance(e, Access) and e.callee is f for e in subexpressions([*places, *others]))


def _is_pointwise(s: Label, f: Function, d: int) -> bool:
    """True where no point of a Func depends on another one along a dimension."""
    inside = list(walk(s))
    coordinates: dict[int, set[ExprNode]] = {}
    for each in inside:
        if isinstance(each, Provide) and each.func is f:
            coordinates.setdefault(each.stage, set()).add(each.args[d])
    for stage in inside:
        if isinstance(stage, Label) and stage.func is f and stage.stage is not None:
            exprs = [e for each in walk(stage) for e in stmt_exprs(each)]
            own = [e for e in subexpressions(exprs) if isinstance(e, Access) and e.callee is f]
            if any({e.args[d]} != coordinates.get(stage.stage, set()) for e in own):
                return False
    return True
