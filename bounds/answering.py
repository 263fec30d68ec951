"""From ranges to answers: the order of answering, obligations, memory, regions and start-up checks.

In: a Query, and an engine's Ranges. Out: Answers, one Func at a time, consumers before producers, so that a producer's
bounds are in terms of its consumers' holes, which are bound by then.

    bx[x, y - 1 | y + 1] for y in ?cpu by.y   ->   ?cpu bx.y = (?by.y.min - 1, ?by.y.len + 2)
"""

from __future__ import annotations

from dataclasses import dataclass

from bounds.elimination import mentions
from bounds.oracle import Answer, Answers, Engine, Evidence, Ranges
from bounds.overflow import WINDOW_LIMIT, index_overflows
from bounds.query import Choice, Clause, Define, ForAll, Path, Query
from bounds.telling import describe, tell, unbounded
from halide_core import ir
from halide_core.algorithm import Algorithm, Function, Image
from halide_core.errors import BoundsError
from halide_core.facts import Facts
from halide_core.growth import growth
from halide_core.index import TargetExprs, stage_variables, startup_index
from halide_core.ir import (
    Assert,
    Binary,
    BinaryOp,
    BufferField,
    Expr,
    Failure,
    Field,
    Hole,
    HoleKind,
    Interval,
    IntImm,
    Select,
)
from halide_core.printer import dim_name
from halide_core.program import Obligation, Program, cpu_box, hole
from halide_core.schedule import Directive
from halide_core.simplify import Simplifier, simplify
from halide_core.types import BOOL, INT32, INT64
from halide_core.visit import subexpressions

_ORDER = tuple(Engine)
"""Of several engines that an answer comes from, it is named after the last here."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One dimension of a box: its least and greatest coordinate, and what asks for them."""

    low: Expr
    high: Expr
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A region. None for a side asks for nothing in that dimension; where ``when`` is false it has no points."""

    sides: tuple[Side | None, ...]
    when: Expr = ir.TRUE

    def whole(self) -> list[Side]:
        """The sides of a region that says something of every dimension."""
        sides = [s for s in self.sides if s is not None]
        assert len(sides) == len(self.sides), "the first clause of a box must say something of every dimension"
        return sides


def answer_query(query: Query, ranges: Ranges) -> Answers:
    """Answers every hole by an engine's ranges. Raises: BoundsError where an access has no bound."""
    return _Answering(query, ranges).run()


class _Answering:
    def __init__(self, query: Query, ranges: Ranges) -> None:
        self._query = query
        self._program: Program = query.program
        self._answers = Answers()
        self._ranges = ranges
        self._fixed: dict[Expr, Expr] = {}  # hole -> the value a bound directive gives it
        self._least: dict[Expr, list[Expr]] = {}  # len hole -> what it is at least
        self._told: dict[Expr, Directive] = {}

    def run(self) -> Answers:
        algorithm = self._program.algorithm
        self._startup_facts(algorithm)
        for o in self._query.obligations:
            self._obligation(o)
        for f in reversed(algorithm.functions):
            self._function(f)
        self._overflow_checks(algorithm)
        for image in algorithm.images:
            self._image(image)
        return self._answers

    def _overflow_checks(self, algorithm: Algorithm) -> None:
        """int32 coordinates must not wrap: indices are computed in int64, where they would not."""
        limit = ir.i64(WINDOW_LIMIT)
        for f in algorithm.outputs:
            for d, side in enumerate(_window(f).whole()):
                least, most = ir.less_equal(ir.i64(-WINDOW_LIMIT), side.low), ir.less_equal(side.high, limit)
                where = f'the window of output "{f.name}" leaves ±2^30 in dimension {d}: from '
                told = (where, side.low, " to ", side.high)
                inside = ir.conjunction(least, most)
                self._check(inside, Failure.INDEX_OVERFLOW, told)
        least_int, most_int = (ir.i64(end) for end in INT32.range)
        for risk in index_overflows(algorithm):
            clause = self._query.writes[risk.func, risk.stage]
            index = TargetExprs(stage_variables(risk.func, risk.stage)).index(risk.expr)
            ends = self._ranges.ends(index, clause.path, self._query.top)
            if ends.low is None or ends.high is None:
                continue  # made of values from memory: it keeps its type, and wraps as the definition says
            inside = ir.conjunction(ir.less_equal(least_int, ends.low), ir.less_equal(ends.high, most_int))
            where = f'{tell(risk.expr)} in "{risk.func.name}" leaves int32: from '
            self._check(inside, Failure.INDEX_OVERFLOW, (where, ends.low, " to ", ends.high))

    # -- what is known before any hole is answered

    def _startup_facts(self, algorithm: Algorithm) -> None:
        facts = self._query.top.facts
        if len(algorithm.outputs) == 1:
            # The body runs only where the one output is not empty; see ``fill``.
            f = algorithm.outputs[0]
            for d in range(f.dimensions):
                facts.assume_at_least(BufferField(INT64, f, Field.EXTENT, d), ir.ONE)
        for p in algorithm.params:
            if p.type.is_integer():
                value = ir.Cast(INT64, ir.ParamRef(p.type, p))
                if p.low is not None:
                    facts.assume_at_least(value, ir.i64(int(p.low)))
                if p.high is not None:
                    facts.assume_at_most(value, ir.i64(int(p.high)))
        seen: set[Expr] = set()
        for f in algorithm.functions:
            for definition in f.definitions:
                if definition.domain is not None:
                    for name, bounds in zip(definition.domain.names, definition.domain.bounds, strict=True):
                        self._domain_extent(f, name, bounds.len, seen)

    def _domain_extent(self, f: Function, name: str, extent: Expr, seen: set[Expr]) -> None:
        from_index = simplify(startup_index(extent))
        if from_index in seen or isinstance(from_index, IntImm):
            return
        seen.add(from_index)
        self._check(
            ir.less_equal(ir.ZERO, from_index),
            Failure.REDUCTION_EXTENT,
            (f'the extent of reduction variable "{name}" of "{f.name}" is negative: ', from_index),
        )
        self._query.top.facts.assume_at_least(from_index, ir.ZERO)

    def _obligation(self, o: Obligation) -> None:
        """Takes in a condition on holes (invariant 3): an answer will meet it, or a start-up check stands for it."""
        match o.condition:
            case Binary(op=BinaryOp.EQ, a=Hole() as h, b=value):
                self._fixed[h] = value
                self._told[h] = o.directive
            case Binary(op=BinaryOp.LE, a=factor, b=length) if (grown := growth(length)) is not None:
                self._least.setdefault(grown.hole, []).append(grown.needed(factor))
            case condition:
                told = f"{o.directive.spelled()}: it must hold that {tell(condition)}"
                if any(isinstance(e, Hole) for e in subexpressions([condition])):
                    raise BoundsError(f"{told}, which bounds inference can't see to", o.directive.location)
                self._check(condition, Failure.ASSERTION, (told,))

    def _check(self, condition: Expr, failure: Failure, message: tuple[str | Expr, ...]) -> None:
        condition = simplify(condition, self._query.top.facts)
        if condition is not ir.TRUE:
            self._answers.checks.append(Assert(condition, failure, message))

    # -- one Func

    def _function(self, f: Function) -> None:
        scope = self._query.scope(self._program.computed[f])
        is_output = f in self._program.algorithm.outputs
        box = _window(f) if is_output else None
        origin: list[str] = ["the requested window"] if is_output else []
        for clause in self._query.reads.get(f, []):
            box = self._union(box, self._box(clause, scope), scope.facts)
            origin.append(describe(clause))
        if box is None:
            box = Box((Side(ir.ZERO, ir.i64(-1)),) * f.dimensions)
        last = len(f.definitions) - 1
        for stage in range(last, -1, -1):
            own = self._query.self_reads.get((f, stage), [])
            # Pure dimensions first: what a stage reads of itself elsewhere may depend on its pure loops.
            apart = [any(c.points[d] for c in own) for d in range(f.dimensions)]
            told = "; ".join(dict.fromkeys(origin)) if stage == last else f"?cpu {f.name}.s{stage + 1}"
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if not a], scope, told)
            for clause in own:
                box = self._union(box, self._box(clause, scope), scope.facts)
                told += f"; {describe(clause)}"
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if a], scope, told)
            box = Box(tuple(self._answered(i, scope) for i in cpu_box(f, stage)))
        self._memory(f)

    def _answered(self, holes: Interval, scope: Path) -> Side:
        """The least and greatest coordinate of holes that were just answered."""
        low, length = self._ranges.use(holes.min), self._ranges.use(holes.len)
        return Side(low, self._simplify(ir.sub(ir.add(low, length), ir.ONE), scope))

    def _simplify(self, e: Expr, scope: Path) -> Expr:
        return Simplifier(scope.facts).expr(e)

    def _answer_stage(self, f: Function, stage: int, box: Box, dims: list[int], scope: Path, origin: str) -> None:
        level = self._program.computed[f]
        sides = box.whole()
        for d in dims:
            side = sides[d]
            holes = hole(HoleKind.CPU, f, stage, d)
            interval = Interval(side.low, self._length(side, scope))
            why = origin
            if holes.len in self._fixed:
                interval, why = self._bounded(f, d, holes, side, scope)
            for least in self._least.get(holes.len, []):
                interval = Interval(interval.min, Simplifier(scope.facts).maximum(interval.len, least))
                why += f"; at least {tell(least)} for a shifted split"
            told = (why, _engine(side.evidence), side.evidence)
            self._bind(Answer(HoleKind.CPU, f, stage, d, interval, level, *told), holes, scope)
            for least in self._least.get(holes.len, []):
                scope.facts.assume_at_least(self._ranges.use(holes.len), least)

    def _length(self, side: Side, scope: Path) -> Expr:
        simplifier = Simplifier(scope.facts)
        return simplifier.maximum(simplifier.expr(ir.add(ir.sub(side.high, side.low), ir.ONE)), ir.ZERO)

    def _bind(self, answer: Answer, holes: Interval, scope: Path) -> None:
        self._answers.holes.append(answer)
        for h, value in ((holes.min, answer.interval.min), (holes.len, answer.interval.len)):
            self._ranges.record(h, value)
        nonempty = scope.facts.proves_le(ir.ONE, answer.interval.len)
        scope.facts.assume_at_least(holes.len, ir.ONE if nonempty else ir.ZERO)

    def _bounded(self, f: Function, d: int, holes: Interval, side: Side, scope: Path) -> tuple[Interval, str]:
        """The answer that a bound directive gives, and the check that what is needed lies inside it."""
        length = self._fixed[holes.len]
        start = self._fixed.get(holes.min, side.low)
        directive = self._told[holes.len]
        top = self._query.top
        least, most = self._ranges.ends(side.low, scope, top).low, self._ranges.ends(side.high, scope, top).high
        first, last = start, ir.sub(ir.add(start, length), ir.ONE)
        if start is side.low:
            first, last = ir.ZERO, ir.sub(length, ir.ONE)
            least, most = ir.ZERO, self._ranges.ends(ir.sub(side.high, side.low), scope, top).high
        if least is None or most is None:
            raise BoundsError(
                f'{directive.spelled()}: the region of "{f.name}" that is needed can\'t be bounded in '
                f'"{dim_name(f, d)}" before the pipeline runs.',
                directive.location,
            )
        inside = ir.conjunction(ir.less_equal(first, least), ir.less_equal(most, last))
        message = (
            f'{directive.spelled()} does not cover what is needed of "{f.name}" in "{dim_name(f, d)}": from ',
            least,
            " to ",
            most,
        )
        self._check(inside, Failure.ASSERTION, message)
        return Interval(start, length), str(directive)

    # -- memory

    def _memory(self, f: Function) -> None:
        level = self._program.stored[f]
        is_output = f in self._program.algorithm.outputs
        scope = self._query.top if is_output else self._query.scope(level)
        box: Box | None = None
        clauses = [self._query.writes[f, s] for s in self._program.stages(f)]
        clauses += self._query.needs_memory.get(f, [])
        for clause in clauses:
            box = self._union(box, self._box(clause, scope), scope.facts)
        assert box is not None
        if is_output:
            self._region(f, box, "written")
            return
        for d, side in enumerate(box.whole()):
            holes = hole(HoleKind.MEM, f, 0, d)
            interval = Interval(side.low, self._length(side, scope))
            told = ("all that is read and written", _engine(side.evidence), side.evidence)
            self._bind(Answer(HoleKind.MEM, f, 0, d, interval, level, *told), holes, scope)

    def _image(self, image: Image) -> None:
        box: Box | None = None
        clauses = self._query.reads.get(image, []) + self._query.needs_memory.get(image, [])
        for clause in clauses:
            box = self._union(box, self._box(clause, self._query.top), self._query.top.facts)
        if box is None:
            self._answers.regions[image] = (Interval(ir.ZERO, ir.ZERO),) * image.dimensions
            return
        self._region(image, box, "read")

    def _region(self, buffer: Image | Function, box: Box, verb: str) -> None:
        """The region of an argument, and the checks that the buffer that the caller gives holds it."""
        sides = box.whole()
        region = tuple(Interval(side.low, self._length(side, self._query.top)) for side in sides)
        self._answers.regions[buffer] = region
        self._answers.evidence[buffer] = tuple(side.evidence for side in sides)
        role = "input" if isinstance(buffer, Image) else "output"
        for d, side in enumerate(sides):
            start = BufferField(INT64, buffer, Field.MIN, d)
            extent = BufferField(INT64, buffer, Field.EXTENT, d)
            end = ir.sub(ir.add(start, extent), ir.ONE)
            inside = ir.conjunction(ir.less_equal(start, side.low), ir.less_equal(side.high, end))
            message = (
                f'{role} buffer "{buffer.name}" is {verb} from ',
                side.low,
                " to ",
                side.high,
                f" in dimension {d}, but it has only ",
                start,
                " to ",
                simplify(end),
            )
            self._check(self._or_empty(inside, region, box.when), Failure.ARGUMENT_BOUNDS, message)

    def _or_empty(self, inside: Expr, region: tuple[Interval, ...], when: Expr) -> Expr:
        facts = self._query.top.facts
        empty: list[Expr] = []
        if when is not ir.TRUE and not _lengths_tell(region, when, facts):
            empty.append(simplify(ir.Not(BOOL, when), facts))
        if not all(facts.proves_le(ir.ONE, i.len) for i in region):
            empty += [ir.less(i.len, ir.ONE) for i in region]
        return _any_of([*empty, inside])

    # -- one clause

    def _union(self, box: Box | None, other: Box, facts: Facts) -> Box:
        """The smallest box around two; one without points does not widen it."""
        if box is None:
            return Box(tuple(other.whole()), other.when)
        simplifier = Simplifier(facts)
        sides: list[Side | None] = []
        for mine, more in zip(box.whole(), other.sides, strict=True):
            if more is None:
                sides.append(mine)
                continue
            low, high = simplifier.minimum(mine.low, more.low), simplifier.maximum(mine.high, more.high)
            low = _where_any(simplifier, (box.when, mine.low), (other.when, more.low), low)
            high = _where_any(simplifier, (box.when, mine.high), (other.when, more.high), high)
            sides.append(Side(low, high, mine.evidence + more.evidence))
        return Box(tuple(sides), simplifier.expr(ir.binary(BinaryOp.OR, box.when, other.when)))

    def _box(self, clause: Clause, stop: Path) -> Box:
        sides: list[Side | None] = []
        simplifier = Simplifier(stop.facts)
        for d, coordinates in enumerate(clause.points):
            side: Side | None = None
            for e in coordinates:
                ends = self._ranges.ends(e, clause.path, stop)
                if ends.low is None or ends.high is None:
                    raise unbounded(clause, d, e)
                evidence = (Evidence(clause, d, e, ends),)
                if side is None:
                    side = Side(ends.low, ends.high, evidence)
                else:
                    low, high = simplifier.minimum(side.low, ends.low), simplifier.maximum(side.high, ends.high)
                    side = Side(low, high, side.evidence + evidence)
            sides.append(side)
        return Box(tuple(sides), self._nonempty(clause.path, stop))

    def _nonempty(self, path: Path, stop: Path) -> Expr:
        """What must hold for the path to have points, as far as it is known at the stop: loops that run at all."""
        binders = list(path.up_to(stop))
        bound = frozenset(b.var for b in binders if isinstance(b, ForAll | Define))
        chosen = {b.func for b in binders if isinstance(b, Choice)}
        when: Expr = ir.TRUE
        for b in reversed(binders):
            if isinstance(b, ForAll):
                length = self._ranges.unholed(b.bounds.len)
                parts = mentions(length)
                known = parts.isdisjoint(bound) and not any(isinstance(h, Hole) and h.func in chosen for h in parts)
                if known and not stop.facts.proves_le(ir.ONE, length):
                    some = simplify(ir.less(ir.ZERO, length), stop.facts)
                    when = some if when is ir.TRUE else when if some is ir.TRUE else ir.conjunction(when, some)
        return when


def _where_any(simplifier: Simplifier, a: tuple[Expr, Expr], b: tuple[Expr, Expr], both: Expr) -> Expr:
    """The end of a union of two regions that each have points only under a condition."""
    (some_a, end_a), (some_b, end_b) = a, b
    if both is not end_a and some_b is not ir.TRUE:
        both = simplifier.expr(Select(INT64, some_b, both, end_a))
    if both is not end_b and some_a is not ir.TRUE:
        both = simplifier.expr(Select(INT64, some_a, both, end_b))
    return both


def _any_of(conditions: list[Expr]) -> Expr:
    result = conditions[0]
    for c in conditions[1:]:
        result = ir.binary(BinaryOp.OR, result, c)
    return result


def _lengths_tell(region: tuple[Interval, ...], when: Expr, facts: Facts) -> bool:
    """Whether some length is zero wherever a loop does not run, so that the condition says nothing more."""
    match when:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return _lengths_tell(region, a, facts) and _lengths_tell(region, b, facts)
        case Binary(op=BinaryOp.LT, b=length):
            known = Facts(facts)
            known.assume_at_most(length, ir.ZERO)
            return any(known.proves_le(i.len, ir.ZERO) for i in region)
    return False


def _window(f: Function) -> Box:
    """The region that the caller asks of an output: what its buffer spans."""
    sides: list[Side] = []
    for d in range(f.dimensions):
        start, extent = BufferField(INT64, f, Field.MIN, d), BufferField(INT64, f, Field.EXTENT, d)
        sides.append(Side(start, simplify(ir.sub(ir.add(start, extent), ir.ONE))))
    return Box(tuple(sides))


def _engine(evidence: tuple[Evidence, ...]) -> Engine:
    """The last engine of the chain that had a part in it."""
    return max((e.ends.engine for e in evidence), key=_ORDER.index, default=Engine.INTERVAL)
