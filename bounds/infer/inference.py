"""From ranges to answers: the order of answering, obligations, memory, regions and start-up checks.

In: a Query, and an engine's Ranges. Out: Answers, one Func at a time, consumers before producers, so that a producer's
bounds are in terms of its consumers' holes, which are bound by then.

    bx[x, y - 1 | y + 1] for y in ?cpu by.y   ->   ?cpu bx.y = (?by.y.min - 1, ?by.y.len + 2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image
from halide_core.analysis.index import TargetExprs, stage_variables
from halide_core.analysis.length import raised
from halide_core.analysis.linear import Linear, difference, to_expr
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.bounds.engines.elimination import mentions
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.infer.ahead import iterations_ahead
from halide_core.bounds.infer.alignment import Alignments
from halide_core.bounds.infer.boxes import Box, Side, last_engine, union, window_box
from halide_core.bounds.infer.cases import Need, by_case, chosen_ends, either, gather
from halide_core.bounds.infer.computed_spans import ComputedSpans
from halide_core.bounds.infer.folding import Folding
from halide_core.bounds.infer.fused_lengths import limits
from halide_core.bounds.infer.overflow import index_overflows, raised_by
from halide_core.bounds.infer.positions import without_guards
from halide_core.bounds.infer.sliding import slides_of
from halide_core.bounds.query.answers import Answer, Answers, Evidence, Slide
from halide_core.bounds.query.describe import describe, limited, tell, unbounded
from halide_core.bounds.query.path_facts import PathFacts
from halide_core.bounds.query.query import Choice, Clause, Define, ForAll, Path, Query
from halide_core.errors import BoundsError
from halide_core.ir import (
    Assert,
    Binary,
    BinaryOp,
    BufferField,
    Cast,
    ExprNode,
    Failure,
    Field,
    Hole,
    HoleKind,
    Interval,
    IntImm,
    Select,
    Variable,
)
from halide_core.ir.boxes import WINDOW_LIMIT
from halide_core.ir.printer import dim_name
from halide_core.ir.types import BOOL, INT32, INT64
from halide_core.ir.visitor import factors, free_variables, has, nodes_of, subexpressions
from halide_core.loop_nest import Obligation, Program, StageKey, cpu_box, hole, is_async
from halide_core.schedule.directives import Directive


def answer_query(query: Query, ranges: Ranges) -> Answers:
    """Answers every hole by an engine's ranges. Raises: BoundsError where an access has no bound."""
    return _Answering(query, ranges).run()


def _in_order(answers: Sequence[Answer]) -> Iterator[Answer]:
    """Answers after those whose holes they mention: what a stage computes of one dimension may follow from how another
    one slides, which is answered once all stages are."""
    pairs = [(hole(a.kind, a.func, a.stage, a.dim), a) for a in answers]
    owner = {h: a for holes, a in pairs for h in (holes.min, holes.len)}
    done: set[Answer] = set()

    def visit(answer: Answer) -> Iterator[Answer]:
        if answer not in done:
            done.add(answer)
            for e in nodes_of([answer.interval.min, answer.interval.len], Hole):
                if e in owner:
                    yield from visit(owner[e])
            yield answer

    for answer in answers:
        yield from visit(answer)


_FEW = 24
"""So many nodes are not worth another form."""


class _Answering:
    def __init__(self, query: Query, ranges: Ranges) -> None:
        self._query = query
        self._program: Program = query.program
        self._answers = Answers(facts=ranges.facts)
        self._ranges = ranges
        self._facts: PathFacts = ranges.facts
        self._fixed: dict[ExprNode, ExprNode] = {}  # hole -> the value a bound directive gives it
        self._least: dict[ExprNode, list[Need]] = {}  # len hole -> what it is at least
        self._alignments = Alignments()
        self._told: dict[ExprNode, Directive] = {}
        self._lengths: list[tuple[Obligation, ExprNode, int]] = []  # products of lengths, with what each is at most

    def run(self) -> Answers:
        algorithm = self._program.algorithm
        self._startup_facts(algorithm)
        for o in self._query.obligations:
            self._obligation(o)
        for f in reversed(algorithm.functions):
            beside = self._program.beside(f)
            if f is beside[-1]:
                self._functions(beside[::-1])
        for o, product, most in self._lengths:
            self._length_check(o, product, most)
        self._overflow_checks(algorithm)
        for image in algorithm.images:
            self._image(image)
        self._answers.holes = list(_in_order(self._answers.holes))
        return self._answers

    def _overflow_checks(self, algorithm: Algorithm) -> None:
        """int32 coordinates must not wrap: indices are computed in int64, where they would not."""
        limit = ir.i64(WINDOW_LIMIT)
        for f in algorithm.outputs:
            for d, side in enumerate(window_box(f).whole()):
                least, most = ir.less_equal(ir.i64(-WINDOW_LIMIT), side.low), ir.less_equal(side.high, limit)
                where = f'the window of output "{f.name}" leaves ±2^30 in dimension {d}: from '
                told = (where, side.low, " to ", side.high)
                inside = ir.conjunction(least, most)
                self._check(inside, Failure.INDEX_OVERFLOW, told)
        computed = ComputedSpans(self._query, self._ranges, self._answers.holes)
        for risk in index_overflows(algorithm, raised_by(self._least), within=computed.are_within):
            for key in self._program.keys(risk.func):
                if key.stage == risk.stage:
                    self._overflow_check(key, risk.expr)

    def _overflow_check(self, key: StageKey, e: ExprNode) -> None:
        least, most = (ir.i64(end) for end in INT32.range)
        index, path = TargetExprs(stage_variables(*key)).index(e), self._query.where_int32(key, e)
        rough = self._ranges.rough_ends(index, path, self._query.top)
        if rough.low is not None and rough.high is not None:
            inside = ir.conjunction(ir.less_equal(least, rough.low), ir.less_equal(rough.high, most))
            if self._is_certain(inside):
                return
        ends = self._ranges.ends(index, path, self._query.top)
        if ends.low is None or ends.high is None:
            if isinstance(index, Cast | Variable):
                return  # made of values from memory: it keeps its type, and wraps as the definition says
            raise BoundsError(
                f'{tell(e)} in "{key.func.own.name}" may leave int32: its region can\'t be bounded before the pipeline '
                "runs. A hl.clamp of the coordinates that it is made of would do.",
                key.func.definitions[key.stage].location,
            )
        inside = ir.conjunction(ir.less_equal(least, ends.low), ir.less_equal(ends.high, most))
        where = f'{tell(e)} in "{key.func.own.name}" leaves int32: from '
        self._check(self._where_taken(key, inside), Failure.INDEX_OVERFLOW, (where, ends.low, " to ", ends.high))

    def _length_check(self, o: Obligation, product: ExprNode, most: int) -> None:
        """A product of lengths is at most some number. Each length counts with what it is at most: of single lengths
        that is one expression, where the ends of their products would have four corners."""
        assert o.key is not None, "a fused loop is one of a nest"
        path, top = self._query.writes[o.key].path, self._query.top
        ends = [self._ranges.ends(e, path, top).high for e in factors(product)]
        lengths = [e for e in ends if e is not None]  # of what is made of values from memory the claim is left open
        found = limits(lengths, most) if len(lengths) == len(ends) else ()
        told = f"{o.directive.spelled()}: the loop would have more iterations than int64 can count: "
        for limit in found:  # whichever case runs, for conditions on regions compute it
            message = (told, limit.length, " times ", limit.before)
            self._check(limit.condition, Failure.INDEX_OVERFLOW, message, simplified=False)

    def _where_taken(self, key: StageKey | None, condition: ExprNode) -> ExprNode:
        """A condition on the runs that take a case."""
        when = ir.TRUE if key is None else self._program.taken(key)
        return condition if when is ir.TRUE else ir.binary(BinaryOp.OR, ir.Not(BOOL, when), condition)

    def _is_certain(self, condition: ExprNode) -> bool:
        return simplify(condition, self._facts.at(self._query.top)) is ir.TRUE

    # -- what is known before any hole is answered

    def _startup_facts(self, algorithm: Algorithm) -> None:
        facts = self._facts.at(self._query.top)
        if len(algorithm.outputs) == 1:
            # The body runs only where the one output is not empty; see ``fill``.
            f = algorithm.outputs[0]
            for d in range(f.dimensions):
                facts.assume_at_least(BufferField(INT64, f, Field.EXTENT, d), ir.ONE)
        for p in algorithm.params:
            if not p.type.is_integer():
                continue
            if (p.type.range[1] if p.high is None else p.high) <= INT64.range[1]:  # a larger one is a negative int64
                value = ir.Cast(INT64, ir.ParamRef(p.type, p))
                if p.low is not None:
                    facts.assume_at_least(value, ir.i64(int(p.low)))
                if p.high is not None:
                    facts.assume_at_most(value, ir.i64(int(p.high)))

    def _obligation(self, o: Obligation) -> None:
        """Takes in a condition on holes (invariant 3): an answer will meet it, or a start-up check stands for it."""
        match o.condition:
            case Binary(op=BinaryOp.EQ, a=Hole() as h, b=value):
                self._fixed[h] = value
                self._told[h] = o.directive
            case condition if (wanted := raised(condition)) is not None:
                length, least = wanted
                self._least.setdefault(length, []).append((o.key, least))
            case Binary(op=BinaryOp.EQ, a=Binary(op=BinaryOp.MOD, a=Hole() as h, b=modulus), b=rest):
                self._alignments.ask(h, modulus, rest, o.directive)
            case Binary(op=BinaryOp.LE, a=Binary(op=BinaryOp.MUL) as product, b=IntImm(value=most)):
                self._lengths.append((o, product, most))
            case condition:
                told = o.message or f"{o.directive.spelled()}: it must hold that {tell(condition)}"
                if has(condition, Hole):
                    raise BoundsError(f"{told}, which bounds inference can't see to", o.directive.location)
                self._check(self._where_taken(o.key, condition), o.failure, (told,))

    def _check(
        self, condition: ExprNode, failure: Failure, message: tuple[str | ExprNode, ...], *, simplified: bool = True
    ) -> None:
        simple = simplify(condition, self._facts.at(self._query.top))
        said = simple if simplified else condition
        if simple is not ir.TRUE and all(said is not check.condition for check in self._answers.checks):
            self._answers.checks.append(Assert(said, failure, message))

    # -- one Func

    def _functions(self, beside: Sequence[Function]) -> None:
        """Funcs whose stages share loops: what is written in those depends on what each of them computes."""
        for f in beside:
            self._computed(f)
        slides = [self._slides(f) for f in beside]
        for f, found in zip(beside, slides, strict=True):
            self._kept(f, found)

    def _computed(self, f: Function) -> None:
        scope = self._query.scope(self._program.computed[f])
        is_output = f in self._program.algorithm.outputs
        box = window_box(f) if is_output else None
        origin: list[str] = ["the requested window"] if is_output else []
        reads = self._query.reads.get(f, [])
        box = self._gathered(box, reads, scope)
        origin += map(describe, reads)
        if box is None:
            box = Box((Side(ir.ZERO, ir.i64(-1)),) * f.dimensions)
        last = len(f.definitions) - 1
        for stage in range(last, -1, -1):
            own = self._query.self_reads_of(f, stage)
            # Pure dimensions first: what a stage reads of itself elsewhere may depend on its pure loops.
            apart = [any(c.points[d] for c in own) for d in range(f.dimensions)]
            told = "; ".join(dict.fromkeys(origin)) if stage == last else f"?cpu {f.name}.s{stage + 1}"
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if not a], scope, told)
            box = self._gathered(box, own, scope)
            assert box is not None
            told += "".join(f"; {describe(clause)}" for clause in own)
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if a], scope, told)
            box = Box(tuple(self._answered(i, scope) for i in cpu_box(f, stage)))

    def _slides(self, f: Function) -> list[Slide]:
        slides = list(slides_of(self._query, self._ranges, self._answers.holes, f))
        for slide in slides:
            self._slide(slide, self._query.scope(self._program.computed[f]))
        return slides

    def _kept(self, f: Function, slides: list[Slide]) -> None:
        self._memory(f, [slide.dim for slide in slides if slide.loop is not None])
        self._fold(f, Folding(self._query, self._ranges, self._answers.holes, f, slides))
        if is_async(f) and f not in self._program.algorithm.outputs:
            folds = self._answers.folds.get(f, {})
            lead = iterations_ahead(self._query, self._ranges, self._answers.holes, f, slides, folds)
            self._answers.ahead[f] = lead

    def _answered(self, holes: Interval, scope: Path) -> Side:
        """The least and greatest coordinate of holes that were just answered."""
        low, length = self._ranges.use(holes.min), self._ranges.use(holes.len)
        return Side(low, self._simplify(ir.sub(ir.add(low, length), ir.ONE), scope))

    def _simplify(self, e: ExprNode, scope: Path) -> ExprNode:
        return Simplifier(self._facts.at(scope)).expr(e)

    def _answer_stage(self, f: Function, stage: int, box: Box, dims: list[int], scope: Path, origin: str) -> None:
        level = self._program.computed[f]
        sides = box.whole()
        for d in dims:
            side = sides[d]
            holes = hole(HoleKind.CPU, f, stage, d)
            interval = Interval(side.low, own := self._length(side, scope))
            why = origin
            if holes.len in self._fixed:
                interval, why = self._bounded(f, d, holes, side, scope)
                for wanted, unmet in self._alignments.checks(holes, interval):
                    self._check(wanted, Failure.ASSERTION, (unmet,))
            aligned = None if holes.len in self._fixed else self._alignments.of(holes, interval, self._facts.at(scope))
            needs = by_case(self._program, self._least.get(holes.len, []), interval.len, self._facts.at(scope))
            for least in needs:
                if aligned is not None:
                    aligned = aligned.at_least(least)
                else:
                    interval = Interval(interval.min, Simplifier(self._facts.at(scope)).maximum(interval.len, least))
                why += f"; at least {tell(least)} for a shifted split"
            multiple = 1
            if aligned is not None:
                interval, multiple = aligned.interval(), aligned.multiple
                why += f"; {aligned.directive}"
            told = (why, last_engine(side.evidence), side.evidence, multiple)
            self._bind(Answer(HoleKind.CPU, f, stage, d, interval, level, *told), holes, scope)
            if interval.len is own:
                self._end(holes, interval, side.high, scope)
            for least in needs:
                self._facts.at(scope).assume_at_least(self._ranges.use(holes.len), least)

    def _length(self, side: Side, scope: Path) -> ExprNode:
        """The number of points between two ends: case by case where that is short; else their difference, in which the
        first point can be told from the last one still."""
        facts = self._facts.at(scope)
        apart = self._between(side.low, side.high, facts)
        if _new_nodes(apart, side.low, side.high) <= _FEW:
            return apart
        whole = to_expr(difference(side.high, side.low).plus(Linear({}, 1)))
        return Simplifier(facts).maximum(whole, ir.ZERO)

    def _end(self, holes: Interval, found: Interval, last: ExprNode, scope: Path) -> None:
        """Records where an interval ends, if its start and its length don't give that in few words."""
        past = Simplifier(self._facts.at(scope)).maximum(ir.add(last, ir.ONE), found.min)
        summed = simplify(ir.add(found.min, found.len))
        if _new_nodes(summed, found.min) > _new_nodes(past, found.min) + _FEW:
            self._ranges.record_end(holes, past)

    def _between(self, low: ExprNode, high: ExprNode, facts: Facts) -> ExprNode:
        chosen = low if isinstance(low, Select) else high
        if isinstance(chosen, Select) and not free_variables(chosen.condition):
            # The ends depend on the case that a run takes, and so does what lies between. Where they depend on an
            # iteration, the length is written so that the least coordinate cancels, and the greatest shows.
            (a, b), (c, d) = chosen_ends(low, chosen.condition), chosen_ends(high, chosen.condition)
            return either(chosen.condition, self._between(a, c, facts), self._between(b, d, facts), facts)
        simplifier = Simplifier(facts)
        return simplifier.maximum(simplifier.expr(ir.add(ir.sub(high, low), ir.ONE)), ir.ZERO)

    def _bind(self, answer: Answer, holes: Interval, scope: Path) -> None:
        self._answers.holes.append(answer)
        for h, value in ((holes.min, answer.interval.min), (holes.len, answer.interval.len)):
            self._ranges.record(h, value)
        nonempty = self._facts.at(scope).proves_le(ir.ONE, answer.interval.len)
        self._facts.at(scope).assume_at_least(holes.len, ir.ONE if nonempty else ir.ZERO)

    def _bounded(self, f: Function, d: int, holes: Interval, side: Side, scope: Path) -> tuple[Interval, str]:
        """The answer that a bound directive gives, and the check that what is needed lies inside it."""
        length = self._fixed[holes.len]
        start = self._fixed.get(holes.min, side.low)
        directive, name = self._told[holes.len], f.own.name
        top = self._query.top
        least, most = self._ranges.ends(side.low, scope, top).low, self._ranges.ends(side.high, scope, top).high
        first, last = start, ir.sub(ir.add(start, length), ir.ONE)
        if start is side.low:
            first, last = ir.ZERO, ir.sub(length, ir.ONE)
            least, most = ir.ZERO, self._ranges.ends(ir.sub(side.high, side.low), scope, top).high
        if least is None or most is None:
            raise BoundsError(
                f'{directive.spelled()}: the region of "{name}" that is needed can\'t be bounded in '
                f'"{dim_name(f, d)}" before the pipeline runs.',
                directive.location,
            )
        inside = ir.conjunction(ir.less_equal(first, least), ir.less_equal(most, last))
        message = (
            f"{directive.spelled()}: Bounds given for {name} in {dim_name(f, d)} (from ",
            first,
            " to ",
            last,
            ") do not cover required region (from ",
            least,
            " to ",
            most,
            ")",
        )
        self._check(inside, Failure.ASSERTION, message)
        return Interval(start, length), str(directive)

    def _slide(self, slide: Slide, scope: Path) -> None:
        """Binds the loop holes of a sliding dimension to the interval that its loops cover."""
        self._answers.slides.append(slide)
        holes, level = hole(HoleKind.LOOP, slide.func, 0, slide.dim), self._program.computed[slide.func]
        answer = Answer(HoleKind.LOOP, slide.func, 0, slide.dim, slide.covered, level, slide.told)
        self._bind(answer, holes, scope)
        if slide.least is not None:
            self._facts.at(scope).assume_at_least(self._ranges.use(holes.len), slide.least)

    # -- memory

    def _memory(self, f: Function, slid: Sequence[int]) -> None:
        level = self._program.stored[f]
        is_output = f in self._program.algorithm.outputs
        scope = self._query.top if is_output else self._query.scope(level)
        clauses = [self._written(self._query.writes[key], slid) for key in self._program.keys(f)]
        if slid and any(self._program.nests[key].overcomputes for key in self._program.keys(f)):
            clauses += [self._query.writes[key] for key in self._program.keys(f)]
        clauses += self._query.needs_memory.get(f, [])
        box = self._gathered(None, clauses, scope)
        assert box is not None
        if is_output:
            self._region(f, box, "written")
            return
        for d, side in enumerate(box.whole()):
            holes = hole(HoleKind.MEM, f, 0, d)
            interval = Interval(side.low, self._length(side, scope))
            told = ("all that is read and written", last_engine(side.evidence), side.evidence)
            self._bind(Answer(HoleKind.MEM, f, 0, d, interval, level, *told), holes, scope)

    def _written(self, clause: Clause, slid: Sequence[int]) -> Clause:
        """A write; in dimensions that slide, what all iterations write together is what they need together."""
        points = list(clause.points)
        for d in slid:
            needed = cpu_box(clause.reader.func, clause.stage)[d]
            points[d] = (needed.min, ir.sub(ir.add(needed.min, needed.len), ir.ONE))
        return replace(clause, points=tuple(points)) if slid else clause

    def _fold(self, f: Function, folding: Folding) -> None:
        folds, checks = folding.run()
        if folds:
            self._answers.folds[f] = folds
        for enough, told in checks:
            self._check(enough, Failure.ASSERTION, told)

    def _image(self, image: Image) -> None:
        clauses = (*self._query.reads.get(image, ()), *self._query.needs_memory.get(image, ()))
        box = self._gathered(None, clauses, self._query.top)
        if box is None:
            self._answers.regions[image] = (Interval(ir.ZERO, ir.ZERO),) * image.dimensions
            return
        self._region(image, box, "read")

    def _region(self, buffer: Image | Function, box: Box, verb: str) -> None:
        """The region of an argument, and the checks that the buffer that the caller gives holds it."""
        facts, sides = self._facts.at(self._query.top), box.whole()
        region = tuple(Interval(side.low, self._length(side, self._query.top)) for side in sides)
        self._answers.regions[buffer] = region
        self._answers.evidence[buffer] = tuple(side.evidence for side in sides)
        role = "input" if isinstance(buffer, Image) else "output"
        for d, side in enumerate(sides):
            start = BufferField(INT64, buffer, Field.MIN, d)
            extent = BufferField(INT64, buffer, Field.EXTENT, d)
            end = ir.sub(ir.add(start, extent), ir.ONE)
            # Where a length is no plain difference of its ends, the check is about the length, as claims are: that two
            # forms of a large term are equal is seldom seen.
            last = ir.add(region[d].min, region[d].len)
            plain = simplify(ir.sub(last, ir.ONE), facts) is simplify(side.high, facts)
            ends = ir.less_equal(side.high, end) if plain else ir.less_equal(last, ir.add(start, extent))
            starts = ir.less_equal(start, side.low)
            inside = ends if simplify(starts, facts) is ir.TRUE else ir.conjunction(starts, ends)
            note = self._alignments.note(buffer, d)
            message = (
                f'{role} buffer "{buffer.name}" is {verb} from ',
                side.low,
                " to ",
                side.high,
                f" in dimension {d}{note}, but it has only ",
                start,
                " to ",
                simplify(end),
            )
            self._check(self._or_empty(inside, region, box.when), Failure.ARGUMENT_BOUNDS, message, simplified=plain)

    def _or_empty(self, inside: ExprNode, region: tuple[Interval, ...], when: ExprNode) -> ExprNode:
        facts = self._facts.at(self._query.top)
        empty: list[ExprNode] = []
        if when is not ir.TRUE and not _lengths_tell(region, when, facts):
            empty.append(simplify(ir.Not(BOOL, when), facts))
        if not all(facts.proves_le(ir.ONE, i.len) for i in region):
            empty += [ir.less(i.len, ir.ONE) for i in region]
        return reduce(partial(ir.binary, BinaryOp.OR), [*empty, inside])

    # -- one clause

    def _gathered(self, box: Box | None, clauses: Sequence[Clause], scope: Path) -> Box | None:
        """A box and what clauses need, by the case that a run takes where they stand in different ones."""

        facts = self._facts.at(scope)

        def join(one: Box | None, clause: Clause) -> Box:
            return union(one, self._box(clause, scope), facts)

        return gather(self._program, box, clauses, scope, facts, join)

    def _box(self, clause: Clause, stop: Path) -> Box:
        sides: list[Side | None] = []
        simplifier = Simplifier(self._facts.at(stop))
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
            sides.append(None if side is None else self._without_guards(clause, d, side, stop))
        return Box(tuple(sides), self._nonempty(clause.path, stop))

    def _without_guards(self, clause: Clause, d: int, side: Side, stop: Path) -> Side:
        """A side whose ends a start-up check keeps from being those of all int32s."""
        facts, top = self._facts.at(stop), self._query.top
        side, conditions = without_guards(side, facts, lambda e: self._ranges.ends(e, stop, top).high)
        for condition in conditions:
            told = limited(clause, d, condition)
            self._check(self._where_taken(clause.reader, condition), Failure.PARAMETER_RANGE, told)
        return side

    def _nonempty(self, path: Path, stop: Path) -> ExprNode:
        """The condition under which the path has points, as far as it is known at the stop: loops that run at all."""
        binders = list(path.up_to(stop))
        bound = frozenset(b.var for b in binders if isinstance(b, ForAll | Define))
        chosen = {b.func for b in binders if isinstance(b, Choice)}
        when: ExprNode = ir.TRUE
        facts = self._facts.at(stop)
        for b in reversed(binders):
            if isinstance(b, ForAll):
                length = self._ranges.unholed(b.bounds.len)
                parts = mentions(length)
                known = parts.isdisjoint(bound) and not any(isinstance(h, Hole) and h.func in chosen for h in parts)
                runs = any(facts.proves_le(ir.ONE, n) for n in (length, b.bounds.len))  # a hole is known better
                if known and not runs:
                    some = simplify(ir.less(ir.ZERO, length), facts)
                    when = some if when is ir.TRUE else when if some is ir.TRUE else ir.conjunction(when, some)
        return when


def _lengths_tell(region: tuple[Interval, ...], when: ExprNode, facts: Facts) -> bool:
    """True where some length is zero wherever a loop does not run, so that the condition says nothing more."""
    match when:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return _lengths_tell(region, a, facts) and _lengths_tell(region, b, facts)
        case Binary(op=BinaryOp.LT, b=length):
            known = Facts(facts)
            known.assume_at_most(length, ir.ZERO)
            return any(known.proves_le(i.len, ir.ZERO) for i in region)
    return False


def _new_nodes(e: ExprNode, *known: ExprNode) -> int:
    """The number of an expression's nodes that others don't have."""
    there = set(subexpressions(known))
    return sum(1 for node in subexpressions([e]) if node not in there)
