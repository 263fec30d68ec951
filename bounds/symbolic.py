"""The symbolic interval engine: exact for stencils, resampling, clamped and tiled accesses.

In: a Query. Out: Answers, one Func at a time, consumers before producers, so that a producer's bounds are in terms
of its consumers' holes, which are bound by then.

    bx[x, y - 1 | y + 1] for y in ?cpu by.y   ->   ?cpu bx.y = (?by.y.min - 1, ?by.y.len + 2)
"""

from __future__ import annotations

from typing import NoReturn

from bounds.alignment import Alignments
from bounds.cases import Box, Need, by_case, chosen_ends, either, gather
from bounds.extents import Extents
from bounds.oracle import Answer, Answers
from bounds.overflow import WINDOW_LIMIT, index_overflows
from bounds.query import Clause, Path, Query
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
from halide_core.printer import dim_name, format_expr
from halide_core.program import Obligation, Program, StageKey, cpu_box, hole
from halide_core.schedule import Directive
from halide_core.simplify import Simplifier, simplify
from halide_core.types import BOOL, INT32, INT64
from halide_core.visit import subexpressions


class SymbolicOracle:
    """See the module's docstring."""

    name = "symbolic"

    def answer(self, query: Query) -> Answers:
        """Answers every hole. Raises: BoundsError where an access has no bound."""
        return _Engine(query).run()


class _Engine:
    def __init__(self, query: Query) -> None:
        self._query = query
        self._program: Program = query.program
        self._answers = Answers()
        self._extents = Extents()
        self._fixed: dict[Expr, Expr] = {}  # hole -> the value a bound directive gives it
        self._least: dict[Expr, list[Need]] = {}  # len hole -> what it is at least
        self._alignments = Alignments()
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
            for d, (low, high) in enumerate(_window(f)):
                inside = ir.conjunction(ir.less_equal(ir.i64(-WINDOW_LIMIT), low), ir.less_equal(high, limit))
                told = (f'the window of output "{f.name}" leaves ±2^30 in dimension {d}: from ', low, " to ", high)
                self._check(inside, Failure.INDEX_OVERFLOW, told)
        least, most = (ir.i64(end) for end in INT32.range)
        for risk in index_overflows(algorithm):
            for key in self._program.keys(risk.func):
                if key.stage == risk.stage:
                    self._overflow_check(key, risk.expr, least, most)

    def _overflow_check(self, key: StageKey, e: Expr, least: Expr, most: Expr) -> None:
        index = TargetExprs(stage_variables(*key)).index(e)
        low_end, high_end = self._extents.of(index, self._query.writes[key].path, self._query.top)
        if low_end is None or high_end is None:
            return  # made of values from memory: it keeps its type, and wraps as the definition says
        inside = ir.conjunction(ir.less_equal(least, low_end), ir.less_equal(high_end, most))
        told = (f'{format_expr(e)} in "{key.func.name}" leaves int32: from ', low_end, " to ", high_end)
        self._check(self._where_taken(key, inside), Failure.INDEX_OVERFLOW, told)

    def _where_taken(self, key: StageKey | None, condition: Expr) -> Expr:
        """A condition on the runs that take a case."""
        when = ir.TRUE if key is None else self._program.taken(key)
        return condition if when is ir.TRUE else ir.binary(BinaryOp.OR, ir.Not(BOOL, when), condition)

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
                self._least.setdefault(grown.hole, []).append((o.key, grown.needed(factor)))
            case Binary(op=BinaryOp.EQ, a=Binary(op=BinaryOp.MOD, a=Hole() as h, b=modulus), b=rest):
                self._alignments.ask(h, modulus, rest, o.directive)
            case condition:
                told = o.message or f"{o.directive.spelled()}: it must hold that {format_expr(condition)}"
                if any(isinstance(e, Hole) for e in subexpressions([condition])):
                    raise BoundsError(f"{told}, which bounds inference can't see to", o.directive.location)
                self._check(self._where_taken(o.key, condition), o.failure, (told,))

    def _check(self, condition: Expr, failure: Failure, message: tuple[str | Expr, ...]) -> None:
        condition = simplify(condition, self._query.top.facts)
        if condition is not ir.TRUE:
            self._answers.checks.append(Assert(condition, failure, message))

    # -- one Func

    def _function(self, f: Function) -> None:
        algorithm = self._program.algorithm
        scope = self._query.scope(self._program.computed[f])
        is_output = f in algorithm.outputs
        box: Box | None = _window(f) if is_output else None
        origin: list[str] = ["the requested window"] if is_output else []
        reads = self._query.reads.get(f, [])
        box = self._gathered(box, reads, scope)
        origin += map(_describe, reads)
        if box is None:
            box = [(ir.ZERO, ir.i64(-1))] * f.dimensions
        last = len(f.definitions) - 1
        for stage in range(last, -1, -1):
            own = self._query.self_reads_of(f, stage)
            # Pure dimensions first: what a stage reads of itself elsewhere may depend on its pure loops.
            apart = [any(c.points[d] for c in own) for d in range(f.dimensions)]
            told = "; ".join(dict.fromkeys(origin)) if stage == last else f"?cpu {f.name}.s{stage + 1}"
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if not a], scope, told)
            box = self._gathered(box, own, scope)
            assert box is not None
            told += "".join(f"; {_describe(clause)}" for clause in own)
            self._answer_stage(f, stage, box, [d for d, a in enumerate(apart) if a], scope, told)
            box = [self._answered(i, scope) for i in cpu_box(f, stage)]
        self._memory(f)

    def _answered(self, holes: Interval, scope: Path) -> tuple[Expr, Expr]:
        """The least and greatest coordinate of holes that were just answered."""
        low, length = self._extents.use(holes.min), self._extents.use(holes.len)
        return low, self._simplify(ir.sub(ir.add(low, length), ir.ONE), scope)

    def _simplify(self, e: Expr, scope: Path) -> Expr:
        return Simplifier(scope.facts).expr(e)

    def _answer_stage(self, f: Function, stage: int, box: Box, dims: list[int], scope: Path, origin: str) -> None:
        level = self._program.computed[f]
        for d in dims:
            low, high = box[d]
            holes = hole(HoleKind.CPU, f, stage, d)
            length = self._length(low, high, scope)
            why = origin
            if holes.len in self._fixed:
                low, length, why = self._bounded(f, d, holes, low, high, scope)
                for wanted, told in self._alignments.checks(holes, low, length):
                    self._check(wanted, Failure.ASSERTION, (told,))
            multiple = 1
            aligned = None if holes.len in self._fixed else self._alignments.of(holes, low, length, scope.facts)
            needs = by_case(self._program, self._least.get(holes.len, []), length, scope.facts)
            for least in needs:
                if aligned is not None:
                    aligned = aligned.at_least(least)
                else:
                    length = Simplifier(scope.facts).maximum(length, least)
                why += f"; at least {format_expr(least)} for a shifted split"
            if aligned is not None:
                low, length, multiple = aligned.min, aligned.length(), aligned.multiple
                why += f"; {aligned.directive}"
            self._bind(Answer(HoleKind.CPU, f, stage, d, Interval(low, length), level, why, multiple), holes, scope)
            for least in needs:
                scope.facts.assume_at_least(self._extents.use(holes.len), least)

    def _length(self, low: Expr, high: Expr, scope: Path) -> Expr:
        chosen = low if isinstance(low, Select) else high
        if isinstance(chosen, Select):  # the ends depend on the case that a run takes, and so does what lies between
            (a, b), (c, d) = chosen_ends(low, chosen.condition), chosen_ends(high, chosen.condition)
            return either(chosen.condition, self._length(a, c, scope), self._length(b, d, scope), scope.facts)
        simplifier = Simplifier(scope.facts)
        return simplifier.maximum(simplifier.expr(ir.add(ir.sub(high, low), ir.ONE)), ir.ZERO)

    def _bind(self, answer: Answer, holes: Interval, scope: Path) -> None:
        self._answers.holes.append(answer)
        for h, value in ((holes.min, answer.interval.min), (holes.len, answer.interval.len)):
            self._extents.record(h, value)
        nonempty = scope.facts.proves_le(ir.ONE, answer.interval.len)
        scope.facts.assume_at_least(holes.len, ir.ONE if nonempty else ir.ZERO)

    def _bounded(
        self, f: Function, d: int, holes: Interval, low: Expr, high: Expr, scope: Path
    ) -> tuple[Expr, Expr, str]:
        """The answer that a bound directive gives, and the check that what is needed lies inside it."""
        length = self._fixed[holes.len]
        start = self._fixed.get(holes.min, low)
        directive = self._told[holes.len]
        top = self._query.top
        least, most = self._extents.of(low, scope, top)[0], self._extents.of(high, scope, top)[1]
        first, last = start, ir.sub(ir.add(start, length), ir.ONE)
        if start is low:
            first, last = ir.ZERO, ir.sub(length, ir.ONE)
            spread = self._extents.of(ir.sub(high, low), scope, self._query.top)[1]
            least, most = ir.ZERO, spread
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
        return start, length, str(directive)

    # -- memory

    def _memory(self, f: Function) -> None:
        level = self._program.stored[f]
        is_output = f in self._program.algorithm.outputs
        scope = self._query.top if is_output else self._query.scope(level)
        box: Box | None = None
        clauses = [self._query.writes[key] for key in self._program.keys(f)]
        clauses += self._query.needs_memory.get(f, [])
        box = self._gathered(box, clauses, scope)
        assert box is not None
        if is_output:
            region = tuple(Interval(low, self._length(low, high, scope)) for low, high in box)
            self._answers.regions[f] = region
            self._require_region(f, region, box, "written")
            return
        for d, (low, high) in enumerate(box):
            holes = hole(HoleKind.MEM, f, 0, d)
            interval = Interval(low, self._length(low, high, scope))
            self._bind(Answer(HoleKind.MEM, f, 0, d, interval, level, "all that is read and written"), holes, scope)

    def _image(self, image: Image) -> None:
        clauses = self._query.reads.get(image, []) + self._query.needs_memory.get(image, [])
        box = self._gathered(None, clauses, self._query.top)
        if box is None:
            self._answers.regions[image] = (Interval(ir.ZERO, ir.ZERO),) * image.dimensions
            return
        region = tuple(Interval(low, self._length(low, high, self._query.top)) for low, high in box)
        self._answers.regions[image] = region
        self._require_region(image, region, box, "read")

    def _require_region(self, buffer: Image | Function, region: tuple[Interval, ...], box: Box, verb: str) -> None:
        role = "input" if isinstance(buffer, Image) else "output"
        for d, (low, high) in enumerate(box):
            start = BufferField(INT64, buffer, Field.MIN, d)
            extent = BufferField(INT64, buffer, Field.EXTENT, d)
            end = ir.sub(ir.add(start, extent), ir.ONE)
            inside = ir.conjunction(ir.less_equal(start, low), ir.less_equal(high, end))
            note = self._alignments.note(buffer, d)
            message = (
                f'{role} buffer "{buffer.name}" is {verb} from ',
                low,
                " to ",
                high,
                f" in dimension {d}{note}, but it has only ",
                start,
                " to ",
                simplify(end),
            )
            facts = self._query.top.facts
            if all(facts.proves_le(ir.ONE, i.len) for i in region):
                self._check(inside, Failure.ARGUMENT_BOUNDS, message)
            else:
                empty = ir.FALSE
                for i in region:
                    empty = ir.binary(BinaryOp.OR, empty, ir.less(i.len, ir.ONE))
                self._check(ir.binary(BinaryOp.OR, empty, inside), Failure.ARGUMENT_BOUNDS, message)

    # -- one clause

    def _gathered(self, box: Box | None, clauses: list[Clause], scope: Path) -> Box | None:
        """A box and what clauses need, by the case that a run takes where they stand in different ones."""

        def join(one: Box | None, clause: Clause) -> Box:
            return self._union(one, self._box(clause, scope), scope.facts)

        return gather(self._program, box, clauses, scope, join)

    def _union(self, box: Box | None, other: list[tuple[Expr, Expr] | None], facts: Facts) -> Box:
        """The smallest box around two; None in ``other`` asks for nothing in that dimension."""
        if box is None:
            assert all(o is not None for o in other), "the first clause of a box must say something of every dimension"
            return [o for o in other if o is not None]
        simplifier = Simplifier(facts)
        return [
            mine if o is None else (simplifier.minimum(mine[0], o[0]), simplifier.maximum(mine[1], o[1]))
            for mine, o in zip(box, other, strict=True)
        ]

    def _box(self, clause: Clause, stop: Path) -> list[tuple[Expr, Expr] | None]:
        result: list[tuple[Expr, Expr] | None] = []
        for d, coordinates in enumerate(clause.points):
            ends: tuple[Expr, Expr] | None = None
            for e in coordinates:
                low, high = self._extents.of(e, clause.path, stop)
                if low is None or high is None:
                    self._unbounded(clause, d, e)
                if ends is None:
                    ends = (low, high)
                else:
                    simplifier = Simplifier(stop.facts)
                    ends = (simplifier.minimum(ends[0], low), simplifier.maximum(ends[1], high))
            result.append(ends)
        return result

    def _unbounded(self, clause: Clause, d: int, e: Expr) -> NoReturn:
        f, stage = clause.reader.func, clause.reader.stage
        name = dim_name(clause.callee, d)
        what = "writes" if clause.callee is f and clause.kind is HoleKind.MEM else "reads"
        raise BoundsError(
            f'Stage {stage} of "{f.name}" {what} "{clause.callee.name}" at {format_expr(e)} in dimension "{name}", '
            f"which has no bound. Give it one, for example hl.clamp(…, 0, n - 1).",
            f.definitions[stage].location,
        )

def _window(f: Function) -> Box:
    """The region that the caller asks of an output: what its buffer spans."""
    box: Box = []
    for d in range(f.dimensions):
        start, extent = BufferField(INT64, f, Field.MIN, d), BufferField(INT64, f, Field.EXTENT, d)
        box.append((start, simplify(ir.sub(ir.add(start, extent), ir.ONE))))
    return box


def _describe(clause: Clause) -> str:
    points = [" | ".join(map(format_expr, c)) for c in clause.points]
    where = ", ".join(p if len(c) == 1 else f"{{{p}}}" for p, c in zip(points, clause.points, strict=True))
    f, stage, number = clause.reader
    special = f"[{number}]" if number else ""
    return f"{f.name}.s{stage}{special} reads {clause.callee.name}[{where}]"
