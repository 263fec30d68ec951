"""𝓑: what the holes of a program must satisfy (figure 2.10a, with the design's corrections).

In: a scheduled program. Out: a Query: a conjunction of clauses, each ``∀ path: points ∈ ?hole``. A clause's path
holds the loops, lets and conditions above an access (the ∀, let and ⇒ of the figure), and a ``Choice`` where the
figure has ∃ over a Func's compute bounds. What holds by the shape of the program alone (``?cpu f ⊆ ?mem f`` and its
like) is not stored: ``bounds.query.conjuncts`` lists the whole conjunction.

    ∀ by.s0.y ∈ …, by.s0.x ∈ …:  bx[by.s0.x, {by.s0.y - 1 … by.s0.y + 1}] ∈ ?cpu bx

The accesses of one stage to one callee make one clause: boxes are unions per dimension, so of two coordinates that
differ by a constant only the extremes matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TypeVar

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.linear import linear_of
from halide_core.ir import Access, Callee, ExprNode, HoleKind, If, Interval, IntImm, Provide, RVarRef, Stmt, Variable
from halide_core.ir.visitor import nodes_of
from halide_core.loop_nest import (
    Guard,
    Level,
    Loop,
    Obligation,
    Program,
    StageKey,
    level_site,
    loop_box,
    provided,
)


@dataclass(frozen=True, slots=True, eq=False)
class ForAll:
    """∀ var ∈ bounds."""

    var: Variable
    bounds: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Define:
    """let var = value, which the path keeps ``within`` an interval."""

    var: Variable
    value: ExprNode
    within: Interval | None


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """condition ⇒ …"""

    condition: ExprNode


@dataclass(frozen=True, slots=True, eq=False)
class Taken(Where):
    """The runs that take one case of a specialized stage: ``condition`` is a start-up expression."""

    key: StageKey


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """∃ ?cpu func: the place where a Func's compute bounds are bound."""

    func: Function


Binder = ForAll | Define | Where | Choice


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Binders from the top of the pipeline down to a place. Shared: a child points to its parent."""

    parent: Path | None
    binder: Binder | None

    def then(self, binder: Binder) -> Path:
        """The path with one more binder."""
        return Path(self, binder)

    def up_to(self, stop: Path) -> Iterator[Binder]:
        """The binders between here and ``stop``, innermost first."""
        at: Path = self
        while at is not stop:
            assert at.binder is not None and at.parent is not None, "stop is not above this path"
            yield at.binder
            at = at.parent


class Rule(Enum):
    """The rule of figure 2.10a, or the correction of it, that a conjunct comes from; the value is its printed name."""

    WINDOW = "window"
    """The requested window is computed (the rule of ``pipeline``)."""
    VALUE = "value"
    """A value that is stored inside the compute bounds reads only what is computed (assignment, 𝓑_cpu)."""
    OUTSIDE = "outside"
    """A value that is stored outside them reads only memory that is there (assignment, 𝓑_mem)."""
    INDEX = "index"
    """An access inside a coordinate is of a computed point, wherever it stands (𝓑_cpu of a coordinate)."""
    CONDITION = "condition"
    """So is an access inside a condition (``if``)."""
    LET = "let"
    """And one inside the value of a let."""
    WRITE = "write"
    """A write lies in memory (assignment)."""
    LENGTH = "length"
    """A loop's length is not negative (``for``)."""
    ASSERT = "assert"
    """An obligation of a directive (``assert``)."""
    STAGES = "stages"
    """Correction: a point that a stage doesn't write keeps the earlier value, so ``cpu fⁱ ⊆ cpu fⁱ⁻¹``."""
    MEMORY = "memory"
    """Correction: ``cpu f ⊆ mem f``."""
    LOOPS = "loops"
    """Correction: the loops of a stage cover its compute bounds, and its reduction domain."""


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """∀ path: 0 <= length of ``loop``, one of the nest ``key``."""

    key: StageKey
    loop: Loop
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """∀ path: every point of the product of ``points`` lies in the holes of ``callee``.

    ``stage`` is the callee's stage; ``reader`` is the nest whose accesses these are.
    """

    kind: HoleKind
    callee: Callee
    stage: int
    points: tuple[tuple[ExprNode, ...], ...]
    path: Path
    reader: StageKey
    rule: Rule = Rule.VALUE


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The conjunction, sorted by what it constrains. ``needs_memory``: reads that may leave the compute bounds."""

    program: Program
    top: Path
    scopes: Mapping[Level, Path]
    reads: Mapping[Callee, Sequence[Clause]]
    needs_memory: Mapping[Callee, Sequence[Clause]]
    self_reads: Mapping[StageKey, Sequence[Clause]]
    writes: Mapping[StageKey, Clause]
    obligations: Sequence[Obligation]
    lengths: Sequence[Length]
    """Of every loop whose length is not a constant."""
    unproven: Mapping[Function, str]
    """Funcs that neither slide nor fold, and why: what that would rest on was not proven."""

    def self_reads_of(self, func: Function, stage: int) -> list[Clause]:
        """The reads of a stage of its own Func elsewhere than where it writes, in every case."""
        keys = [key for key in self.program.keys(func) if key.stage == stage]
        return [clause for key in keys for clause in self.self_reads.get(key, [])]

    def where_int32(self, key: StageKey, e: ExprNode) -> Path:
        """The path on which an int32 expression of a stage must not wrap: that of its points; and of all iterations
        where it is a variable, since conditions on those are understood as if it never did."""
        path, core = self.writes[key].path, self.program.nests[key].core
        conditions: set[ExprNode] = set()
        while isinstance(e, RVarRef | Variable) and isinstance(core, If):
            conditions.add(core.condition)
            core = core.then
        while isinstance(path.binder, Where) and path.binder.condition in conditions and path.parent is not None:
            path = path.parent
        return path

    def scope(self, level: Level) -> Path:
        """The path of what stands just inside a level."""
        return self.scopes[level]


def extract_query(program: Program, unproven: Mapping[Function, str] | None = None) -> Query:
    """𝓑 of a whole program."""
    return _Extraction(program).run(unproven or {})


_Key = TypeVar("_Key", Callee, StageKey)


def _fixed(lists: Mapping[_Key, list[Clause]]) -> Mapping[_Key, Sequence[Clause]]:
    """A mapping that nothing can change."""
    return MappingProxyType({key: tuple(clauses) for key, clauses in lists.items()})


class _Extraction:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._top = Path(None, None)
        self._scopes: dict[Level, Path] = {None: self._top}
        self._reads: dict[Callee, list[Clause]] = {}
        self._needs_memory: dict[Callee, list[Clause]] = {}
        self._self_reads: dict[StageKey, list[Clause]] = {}
        self._writes: dict[StageKey, Clause] = {}
        self._lengths: list[Length] = []
        self._entered: dict[StageKey, Path] = {}

    def run(self, unproven: Mapping[Function, str]) -> Query:
        for f in reversed(self._program.algorithm.functions):  # consumers first: their paths hold their producers'
            for key in self._program.keys(f):
                self._stage(key)
        return Query(
            self._program,
            self._top,
            scopes=MappingProxyType(self._scopes),
            reads=_fixed(self._reads),
            needs_memory=_fixed(self._needs_memory),
            self_reads=_fixed(self._self_reads),
            writes=MappingProxyType(self._writes),
            obligations=tuple(self._program.obligations),
            lengths=tuple(self._lengths),
            unproven=unproven,
        )

    def _scope(self, level: Level) -> Path:
        known = self._scopes.get(level)
        if known is None:
            assert level is not None
            site = level_site(self._program, level)
            self._loops(site.key)
            known = self._scopes[level]
        return known

    def _loops(self, key: StageKey) -> Path:
        """The path down to inside a nest's innermost loop; every loop's scope is remembered."""
        known = self._entered.get(key)
        if known is not None:
            return known
        nest = self._program.nests[key]
        steps = nest.steps_by_depth()
        path = self._scope(self._program.place(key))
        if key not in self._program.joined:
            for f in self._program.beside(key.func):
                path = path.then(Choice(f))
        when = self._program.taken(key)
        if when is not ir.TRUE:
            path = path.then(Taken(when, key))
        path = self._through(key, path, steps[0])
        for depth, (loop, inside) in enumerate(zip(nest.loops, steps[1:], strict=True), 1):
            if not isinstance(loop.bounds.len, IntImm):
                self._lengths.append(Length(key, loop, path))
            path = path.then(ForAll(loop.var, loop.bounds))
            if depth <= nest.shared:  # what is computed here is for all that share the loop
                self._scopes[loop.name] = path
            path = self._through(key, path, inside)
            self._scopes.setdefault(loop.name, path)
        self._entered[key] = path
        return path

    def _through(self, key: StageKey, path: Path, steps: list[ir.Let | Guard]) -> Path:
        """Below lets and guards. What they read must be right always, as what an index or a condition reads."""
        for step in steps:
            if isinstance(step, ir.Let):
                self._certain(key, step.value, path, Rule.LET)
                path = path.then(Define(step.var, step.value, step.within))
            else:
                self._certain(key, step.condition, path, Rule.CONDITION)
                path = path.then(Where(step.condition))
        return path

    def _certain(self, key: StageKey, e: ExprNode, path: Path, rule: Rule) -> None:
        accesses = list(nodes_of([e], Access))
        if accesses:
            self._group(key, accesses, path, (None,) * key.func.dimensions, rule)

    def _stage(self, key: StageKey) -> None:
        path = written = self._loops(key)
        core: Stmt = self._program.nests[key].core
        provide = provided(core)
        while isinstance(core, If):
            self._accesses(key, [core.condition], path, provide, Rule.CONDITION)
            path = path.then(Where(core.condition))
            core = core.then
        assert isinstance(core, Provide)
        self._accesses(key, list(core.args), path, provide, Rule.INDEX)
        self._accesses(key, list(core.values), path, provide, Rule.VALUE)
        points = tuple((a,) for a in core.args)
        if key.stage or not key.func.keeps:  # else what is not written counts, too: the buffer has it
            written = path
        self._writes[key] = Clause(HoleKind.MEM, key.func, key.stage, points, written, key, Rule.WRITE)

    def _accesses(self, reader: StageKey, roots: list[ExprNode], path: Path, provide: Provide, rule: Rule) -> None:
        """Clauses for the accesses below ``roots``. Those in indices and conditions must be right always. The values
        stored (``rule`` is VALUE) need to be right only inside the compute bounds (the assignment rule)."""
        certain = rule is not Rule.VALUE
        inner: set[ExprNode] = set()
        accesses = list(nodes_of(roots, Access))
        for e in accesses:
            inner.update(nodes_of(e.args, Access))
        always = [e for e in accesses if certain or e in inner]
        valued = [e for e in accesses if not certain and e not in inner]
        if always:
            dims = zip(provide.args, reader.func.pure_dims(reader.stage), strict=True)
            pure = tuple(a if p else None for a, p in dims)
            self._group(reader, always, path, pure, rule if certain else Rule.INDEX)
        if valued:
            if self._program.nests[reader].overcomputes:
                self._group(reader, valued, path, provide.args, Rule.OUTSIDE)
                path = self._in_compute_bounds(reader, provide, path)
            self._group(reader, valued, path, provide.args, Rule.VALUE)

    def _in_compute_bounds(self, reader: StageKey, provide: Provide, path: Path) -> Path:
        f, stage = reader.func, reader.stage
        for arg, bounds, pure in zip(provide.args, loop_box(self._program, f, stage), f.pure_dims(stage), strict=True):
            if pure:
                path = path.then(Where(ir.less_equal(bounds.min, arg)))
                path = path.then(Where(ir.less(arg, ir.add(bounds.min, bounds.len))))
        return path

    def _group(
        self,
        reader: StageKey,
        accesses: list[Access],
        path: Path,
        covered: tuple[ExprNode | None, ...],
        rule: Rule,
    ) -> None:
        """One clause a callee. ``covered``: coordinates of the reader itself that its compute bounds hold anyway."""
        kind = HoleKind.MEM if rule is Rule.OUTSIDE else HoleKind.CPU
        by_callee: dict[Callee, list[Access]] = {}
        for e in accesses:
            by_callee.setdefault(e.callee, []).append(e)
        for callee, group in by_callee.items():
            own = callee is reader.func
            points = []
            for d in range(callee.dimensions):
                coordinates = [e.args[d] for e in group]
                if own:
                    coordinates = [c for c in coordinates if c is not covered[d]]
                points.append(extremes(coordinates))
            stage = reader.stage if own else len(callee.definitions) - 1 if isinstance(callee, Function) else 0
            clause = Clause(kind, callee, stage, tuple(points), path, reader, rule)
            if kind is HoleKind.MEM:
                self._needs_memory.setdefault(callee, []).append(clause)
            elif own:
                self._self_reads.setdefault(reader, []).append(clause)
            else:
                self._reads.setdefault(callee, []).append(clause)


def extremes(coordinates: list[ExprNode]) -> tuple[ExprNode, ...]:
    """Distinct coordinates, without those that lie between two others that differ from them by constants."""
    least: dict[frozenset[tuple[ExprNode, int]], tuple[int, ExprNode]] = {}
    most: dict[frozenset[tuple[ExprNode, int]], tuple[int, ExprNode]] = {}
    for e in dict.fromkeys(coordinates):
        form = linear_of(e)
        key = frozenset(form.terms.items())
        if key not in least or form.const < least[key][0]:
            least[key] = (form.const, e)
        if key not in most or form.const > most[key][0]:
            most[key] = (form.const, e)
    return tuple(dict.fromkeys(e for key in least for e in (least[key][1], most[key][1])))
