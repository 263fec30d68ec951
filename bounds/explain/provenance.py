"""Why a bound is what it is: which accesses ask for it, through which rule, and what those depend on in turn.

In: a Query and its Answers. Out: Reasons, each naming the accesses that gave the two ends, and the bounds that these
depend on: following them leads from an input up to the requested window.

    input in, dimension 0:  (by.min.0 - 1, by.extent.0 + 2)
        least: bx.s0 reads in[bx.s0.x - 1, …]      most: bx.s0 reads in[bx.s0.x + 1, …]
        which depends on ?cpu bx.s0.x
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.elimination import mentions
from halide_core.bounds.infer.cases import same
from halide_core.bounds.query.answers import Answer, Answers, Engine, Evidence
from halide_core.bounds.query.describe import special
from halide_core.bounds.query.query import Define, ForAll, Path, Query, Rule
from halide_core.errors import InternalError, Location
from halide_core.ir import Callee, ExprNode, Hole, HoleKind, Interval, Variable
from halide_core.ir.boxes import window_of
from halide_core.ir.brief import brief, tree_size
from halide_core.ir.printer import hole_name
from halide_core.ir.visitor import Substitution, subexpressions
from halide_core.loop_nest import Level, cpu_box, hole

_CLOSED = 60
"""A hole is replaced by an answer of at most so many nodes; a closed form keeps the holes whose answers are longer."""


class GivenEnd(Enum):
    """The end of an answer that an access gave."""

    NEITHER = "neither"
    LEAST = "least"
    MOST = "most"
    BOTH = "least and most"


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """Something that a bound must cover, or a directive that says what it is."""

    rule: Rule
    told: str
    end: GivenEnd
    low: ExprNode | None
    high: ExprNode | None
    """The interval that it covers by itself, where the bound stands; None where a directive only says how large the
    bound is."""
    engine: Engine | None
    """The engine that found the interval; None where there was nothing to find."""
    location: Location | None
    depends: tuple[AskedBound, ...]
    """The bounds in terms of which this is known."""


@dataclass(frozen=True, slots=True)
class AskedBound:
    """A bound that can be asked about: one dimension of compute bounds, of memory, or of an argument's region."""

    kind: HoleKind
    callee: Callee
    stage: int
    dim: int
    argument: bool

    def __str__(self) -> str:
        if self.argument:
            role = "output" if isinstance(self.callee, Function) else "input"
            return f"{role} {self.callee.name}, dimension {self.dim}"
        h = hole(self.kind, self.callee, self.stage, self.dim).min
        assert isinstance(h, Hole)
        return hole_name(h)


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """A bound, its answer, and why. ``closed`` is the answer in terms of inputs and of the loops around alone."""

    bound: AskedBound
    interval: Interval
    closed: Interval
    level: Level
    needs: tuple[Need, ...]


class Reasons:
    """The reasons of one compile."""

    def __init__(self, query: Query, answers: Answers) -> None:
        self._query = query
        self._program = query.program
        self._answers = answers
        self._by_bound = {AskedBound(a.kind, a.func, a.stage, a.dim, argument=False): a for a in answers.holes}

    @cached_property
    def _closed(self) -> Mapping[ExprNode, ExprNode]:
        """The closed form of each hole. Answers name only holes that were answered before."""
        closed: dict[ExprNode, ExprNode] = {}
        for a in self._answers.holes:
            holes = hole(a.kind, a.func, a.stage, a.dim)
            for h, value in ((holes.min, a.interval.min), (holes.len, a.interval.len)):
                short = simplify(Substitution(closed).expr(value))
                closed[h] = short if tree_size(short, _CLOSED) <= _CLOSED else h
        return closed

    def closed(self, e: ExprNode) -> ExprNode:
        """An expression with the holes in it replaced by their answers, as long as that stays short."""
        return simplify(Substitution(self._closed).expr(e))

    def closed_interval(self, i: Interval) -> Interval:
        """Both halves of an interval so."""
        return Interval(self.closed(i.min), self.closed(i.len))

    # -- what there is

    def memory(self, callee: Callee) -> list[AskedBound]:
        """Of an allocation, or the region of an argument."""
        argument = callee in self._answers.regions
        return [AskedBound(HoleKind.MEM, callee, 0, d, argument=argument) for d in range(callee.dimensions)]

    def all(self) -> list[AskedBound]:
        """Every bound, in the order of answering; arguments last."""
        return [*self._by_bound, *(b for callee in self._answers.regions for b in self.memory(callee))]

    def of(self, bound: AskedBound) -> Reason:
        """Why a bound is what it is."""
        if bound.argument:
            interval, evidence = self._region(bound)
            needs = tuple(self._accesses(evidence, bound, interval, self._query.top))
            return Reason(bound, interval, self.closed_interval(interval), None, needs)
        a = self._by_bound[bound]
        needs = tuple(self._needs(a, bound))
        return Reason(bound, a.interval, self.closed_interval(a.interval), a.level, needs)

    def _region(self, bound: AskedBound) -> tuple[Interval, tuple[Evidence, ...]]:
        """The region of an argument in one dimension, and what asked for it; nothing asks for an input never read."""
        for callee, region in self._answers.regions.items():
            if callee is bound.callee:
                known = self._answers.evidence.get(callee)
                return region[bound.dim], known[bound.dim] if known is not None else ()
        raise InternalError(f"There is no region of {bound.callee.name}.")

    def chain(self, bounds: list[AskedBound]) -> list[Reason]:
        """The reasons of some bounds, and of all that they depend on, each once, in the order of asking."""
        waiting, found = list(bounds), dict[AskedBound, Reason]()
        for bound in waiting:
            if bound not in found:
                found[bound] = self.of(bound)
                waiting += [b for need in found[bound].needs for b in need.depends]
        return list(found.values())

    def holes_in(self, exprs: list[ExprNode]) -> tuple[AskedBound, ...]:
        """The bounds that expressions mention."""
        holes = [e for e in subexpressions(exprs) if isinstance(e, Hole)]
        return tuple(dict.fromkeys(AskedBound(h.kind, h.func, h.stage, h.dim, argument=False) for h in holes))

    # -- what asks for a bound

    def _needs(self, a: Answer, bound: AskedBound) -> Iterator[Need]:
        f, program = a.func, self._program
        if a.kind is HoleKind.MEM:
            yield from self._accesses(a.evidence, bound, a.interval, self._query.scope(program.stored[f]))
            return
        if a.kind is HoleKind.LOOP:
            above = AskedBound(HoleKind.CPU, f, len(f.definitions) - 1, a.dim, argument=False)
            yield Need(Rule.LOOPS, a.origin, GivenEnd.NEITHER, None, None, None, f.location, (above,))
            return
        scope = self._query.scope(program.computed[f])
        if a.stage < len(f.definitions) - 1:
            above = AskedBound(HoleKind.CPU, f, a.stage + 1, a.dim, argument=False)
            told = f"points that stage {a.stage + 1} does not write keep their value: {above} is covered"
            low, high = self._range(cpu_box(f, a.stage + 1)[a.dim])
            end = self._match(low, high, a.interval, scope)
            yield Need(Rule.STAGES, told, end, low, high, None, None, (above,))
        elif f in program.algorithm.outputs:
            low, high = self._range(window_of(f)[a.dim])
            end = self._match(low, high, a.interval, scope)
            yield Need(Rule.WINDOW, "the requested window", end, low, high, None, f.location, ())
        yield from self._accesses(a.evidence, bound, a.interval, scope)
        holes = cpu_box(f, a.stage)[a.dim]
        for o in self._query.obligations:
            if any(h in (holes.min, holes.len) for h in mentions(o.condition)):
                told = f"{o.directive.spelled()}: {brief(o.condition)}"
                yield Need(Rule.ASSERT, told, GivenEnd.NEITHER, None, None, None, o.directive.location, ())

    def _accesses(
        self, evidence: tuple[Evidence, ...], bound: AskedBound, interval: Interval, scope: Path
    ) -> Iterator[Need]:
        for each in evidence:
            clause, reader = each.clause, each.clause.reader
            f, stage = reader.func, reader.stage
            assert each.ends.low is not None and each.ends.high is not None, "what has no bound is an error"
            low, high = self.closed(each.ends.low), self.closed(each.ends.high)
            end = self._match(low, high, interval, scope)
            place = [" | ".join(map(brief, c)) or "_" for c in clause.points]
            place[bound.dim] = brief(each.point)
            verb = "writes" if clause.rule is Rule.WRITE else "reads"
            told = f"{f.name}.s{stage}{special(reader)} {verb} {clause.callee.name}[{', '.join(place)}]"
            depends = self._depends(each.point, clause.path, scope)
            yield Need(clause.rule, told, end, low, high, each.ends.engine, f.definitions[stage].location, depends)

    def _range(self, part: Interval) -> tuple[ExprNode, ExprNode]:
        return self.closed(part.min), self.closed(ir.sub(ir.add(part.min, part.len), ir.ONE))

    def _match(self, low: ExprNode, high: ExprNode, interval: Interval, scope: Path) -> GivenEnd:
        """Finds the ends of an answer that a range gives."""
        first = self.closed(interval.min)
        last = self.closed(ir.sub(ir.add(interval.min, interval.len), ir.ONE))
        facts = self._answers.facts.at(scope)
        return _ENDS[same(self.closed(low), first, facts), same(self.closed(high), last, facts)]

    def _depends(self, e: ExprNode, path: Path, stop: Path) -> tuple[AskedBound, ...]:
        """The bounds of the loops over which a coordinate varies, below the place where its own bound stands."""
        binders: dict[Variable, tuple[ExprNode, ...]] = {}
        for b in path.up_to(stop):
            match b:
                case ForAll(var=var, bounds=bounds):
                    binders[var] = (bounds.min, bounds.len)
                case Define(var=var, value=value):
                    binders[var] = (value,)
        holes: dict[AskedBound, None] = dict.fromkeys(self.holes_in([e]))
        waiting = [v for v in mentions_in_order(e) if v in binders]
        for v in waiting:
            for part in binders[v]:
                holes.update(dict.fromkeys(self.holes_in([part])))
                waiting += [w for w in mentions_in_order(part) if w in binders and w not in waiting]
        return tuple(holes)


_ENDS: Mapping[tuple[bool, bool], GivenEnd] = {
    (False, False): GivenEnd.NEITHER,
    (True, False): GivenEnd.LEAST,
    (False, True): GivenEnd.MOST,
    (True, True): GivenEnd.BOTH,
}


def mentions_in_order(e: ExprNode) -> list[Variable]:
    """The variables of an expression, in a deterministic order."""
    return [v for v in subexpressions([e]) if isinstance(v, Variable)]
