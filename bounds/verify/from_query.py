"""Claims that the answers satisfy the query: every conjunct of 𝓑, with the answers in place of the holes.

In: a Query and an engine's Answers. Out: Claims over the query's own paths; the filled tree has no part in them.

    ∀ by.s0.y ∈ ?cpu by.y:  bx[…, {y - 1, y + 1}] ∈ ?cpu bx      with   ?cpu bx.y = (?cpu by.y.min - 1, …)
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.query.answers import Answer, Answers
from halide_core.bounds.query.query import Choice, Clause, Define, ForAll, Path, Query, Where
from halide_core.bounds.verify.arithmetic import has_length
from halide_core.bounds.verify.memory import MemoryReads, Reads, accesses_in
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text, listed, nothing
from halide_core.errors import InternalError
from halide_core.ir import Assert, Hole, HoleKind, Interval
from halide_core.ir.boxes import contains, window_of, within_limit
from halide_core.ir.logic import all_of, within
from halide_core.ir.printer import dim_name
from halide_core.loop_nest import Level, cpu_box, hole, mem_box


def query_claims(query: Query, answers: Answers, promises: Sequence[Assert], memory: MemoryReads) -> list[Claim]:
    """See the module's docstring. ``promises``: start-up checks besides the answers' own, those of Params' ranges."""
    return _QueryClaims(query, answers, promises, memory).run()


class _QueryClaims:
    def __init__(self, query: Query, answers: Answers, promises: Sequence[Assert], memory: MemoryReads) -> None:
        self._query = query
        self._program = query.program
        self._answers = answers
        self._promises = promises
        self._reads = Reads(memory)
        self._contexts: dict[Path, Context] = {}
        self._claims: list[Claim] = []
        self._levels: dict[Level, list[Answer]] = {}
        for a in answers.holes:
            self._levels.setdefault(a.level, []).append(a)
        self._heads = {path: level for level, path in query.scopes.items()}

    def run(self) -> list[Claim]:
        """All conjuncts, consumers first."""
        algorithm = self._program.algorithm
        for f in reversed(algorithm.functions):
            self._function(f)
        for image in algorithm.images:
            for clause in [*self._query.reads.get(image, []), *self._query.needs_memory.get(image, [])]:
                self._clause(clause, self._answers.regions.get(image))
        for o in self._query.obligations:
            context = self._context(self._query.scope(self._program.computed[o.func]))
            if o.key is not None:
                context = context.holds(self._program.taken(o.key))
            told: Text = (f"{o.directive.spelled()}: ", o.condition)
            name, location = o.func.name, o.directive.location
            holds = has_length(o.condition, context)
            self._claims.append(Claim(ClaimKind.OBLIGATION, name, told, context, holds, location))
        return self._claims

    def _function(self, f: Function) -> None:
        last = len(f.definitions) - 1
        output = f in self._program.algorithm.outputs
        memory = self._answers.regions.get(f) if output else mem_box(f)
        for clause in self._query.reads.get(f, []):
            self._clause(clause, cpu_box(f, last))
        for stage in range(last, -1, -1):
            for clause in self._query.self_reads_of(f, stage):
                self._clause(clause, cpu_box(f, stage))
        written = [self._query.writes[key] for key in self._program.keys(f)]
        for clause in [*self._query.needs_memory.get(f, []), *written]:
            self._clause(clause, memory)
        context = self._context(self._query.scope(self._program.computed[f]))
        for stage in range(1, last + 1):
            told = f"?cpu {f.name}.s{stage} in ?cpu {f.name}.s{stage - 1}"
            self._contained(f, told, context, cpu_box(f, stage - 1), cpu_box(f, stage))
        if output:
            self._contained(f, f"window of {f.name} in ?cpu {f.name}.s{last}", context, cpu_box(f, last), window_of(f))
        if memory is not None:
            self._contained(f, f"?cpu {f.name}.s0 in ?mem {f.name}", context, memory, cpu_box(f, 0))

    def _contained(
        self, f: Function, told: str, context: Context, box: tuple[Interval, ...], part: tuple[Interval, ...]
    ) -> None:
        location = f.definitions[0].location
        self._claims.append(Claim(ClaimKind.QUERY, f.name, (told,), context, contains(box, part), location))

    def _clause(self, clause: Clause, box: tuple[Interval, ...] | None) -> None:
        """Every point of the clause lies in a box."""
        f, stage = clause.reader.func, clause.reader.stage
        context = self._context(clause.path)
        for e in (e for points in clause.points for e in points):
            self._reads.expr(e)
        context = context.holds(*self._reads.facts(accesses_in([e for points in clause.points for e in points])))
        conditions = [b.condition for b in clause.path.up_to(self._query.top) if isinstance(b, Where)]
        context = context.holds(*self._reads.facts(accesses_in(conditions)))
        kind = "cpu" if clause.kind is HoleKind.CPU and isinstance(clause.callee, Function) else "mem"
        advice = "hl.clamp(…) around the coordinate, or f.bound(…)."
        location = f.definitions[stage].location
        for d, points in enumerate(clause.points):
            told = [self._reads.expr(e) for e in points]
            holds = ir.FALSE if box is None else all_of(within(e, box[d]) for e in told)
            where = f"?{kind} {clause.callee.name}.{dim_name(clause.callee, d)}"
            text: Text = (f"stage {stage} at ", *listed(told), f" in {where}")
            if points:
                self._claims.append(Claim(ClaimKind.QUERY, f.name, text, context, holds, location, advice))

    # -- paths

    def _context(self, path: Path) -> Context:
        """The context of a path, with the answers at the places where they are bound."""
        known = self._contexts.get(path)
        if known is None:
            known = self._contexts[path] = self._bound(path, self._below(path))
        return known

    def _below(self, path: Path) -> Context:
        if path.parent is None:
            return nothing()
        context = self._context(path.parent)
        match path.binder:
            case ForAll(var=var, bounds=bounds):
                return context.ranges(var, bounds)
            case Define(var=var, value=value):
                return context.defines(var, value)
            case Where(condition=condition):
                return context.holds(self._reads.expr(condition))
            case Choice():
                return context
        raise InternalError(f"A path holds {path.binder!r}.")

    def _bound(self, path: Path, context: Context) -> Context:
        if path not in self._heads:
            return context
        level = self._heads[path]
        for a in self._levels.get(level, []):
            holes = hole(a.kind, a.func, a.stage, a.dim)
            for end, value in ((holes.min, a.interval.min), (holes.len, a.interval.len)):
                assert isinstance(end, Hole)
                context = context.defines(end, value)
        return self._started(context) if level is None else context

    def _started(self, context: Context) -> Context:
        """After the start-up checks: what they say, and that the only output is not empty."""
        outputs = self._program.algorithm.outputs
        if len(outputs) == 1:
            context = context.holds(*(ir.less(ir.ZERO, i.len) for i in window_of(outputs[0])))
        for check in (*self._promises, *self._answers.checks):
            context = context.checked(check)
        return context.holds(*(within_limit(f) for f in outputs))
