"""𝓑: what the holes of a program must satisfy (figure 2.10a, with the design's corrections).

In: a scheduled program. Out: a Query: a conjunction of clauses, each ``∀ path: points ∈ ?hole``. A clause's path
holds the loops, lets and conditions above an access (the ∀, let and ⇒ of the figure), and a ``Choice`` where the
figure has ∃ over a Func's compute bounds.

    ∀ by.s0.y ∈ …, by.s0.x ∈ …:  bx[by.s0.x, {by.s0.y - 1 … by.s0.y + 1}] ∈ ?cpu bx

The accesses of one stage to one callee make one clause: boxes are unions per dimension, so of two coordinates that
differ by a constant only the extremes matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from halide_core import ir
from halide_core.algorithm import Function, Image
from halide_core.facts import Facts
from halide_core.ir import Access, Callee, Expr, HoleKind, If, Interval, Provide, Stmt, Variable
from halide_core.linear import linear_of
from halide_core.printer import format_expr, format_interval
from halide_core.program import Guard, Level, Obligation, Program, StageKey, cpu_box, level_site
from halide_core.visit import subexpressions


@dataclass(frozen=True, slots=True, eq=False)
class ForAll:
    """∀ var ∈ bounds."""

    var: Variable
    bounds: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Define:
    """let var = value, which the path keeps ``within`` an interval."""

    var: Variable
    value: Expr
    within: Interval | None


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """condition ⇒ …"""

    condition: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Taken(Where):
    """The runs that take one case of a specialized stage: ``condition`` is a start-up expression."""

    key: StageKey


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """∃ ?cpu func: the place where a Func's compute bounds are bound."""

    func: Function


Binder = ForAll | Define | Where | Choice


class Path:
    """Binders from the top of the pipeline down to a place. Shared: a child points to its parent."""

    __slots__ = ("binder", "facts", "parent", "told")

    def __init__(self, parent: Path | None, binder: Binder | None) -> None:
        self.parent: Path | None = parent
        self.binder: Binder | None = binder
        self.facts: Facts = Facts(parent.facts if parent else None)
        self.told = False  # whether an engine has recorded what the binder says in ``facts``

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


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """∀ path: every point of the product of ``points`` lies in the holes of ``callee``.

    ``stage`` is the callee's stage; ``reader`` is the nest whose accesses these are.
    """

    kind: HoleKind
    callee: Callee
    stage: int
    points: tuple[tuple[Expr, ...], ...]
    path: Path
    reader: StageKey


@dataclass(slots=True, eq=False)
class Query:
    """The conjunction, sorted by what it constrains. ``needs_memory``: reads that may leave the compute bounds."""

    program: Program
    top: Path
    scopes: dict[Level, Path]
    reads: dict[Callee, list[Clause]] = field(default_factory=dict)
    needs_memory: dict[Callee, list[Clause]] = field(default_factory=dict)
    self_reads: dict[StageKey, list[Clause]] = field(default_factory=dict)
    writes: dict[StageKey, Clause] = field(default_factory=dict)
    obligations: list[Obligation] = field(default_factory=list)

    def self_reads_of(self, func: Function, stage: int) -> list[Clause]:
        """What a stage reads of its own Func elsewhere than where it writes, in every case."""
        keys = [key for key in self.program.keys(func) if key.stage == stage]
        return [clause for key in keys for clause in self.self_reads.get(key, [])]

    def scope(self, level: Level) -> Path:
        """The path of what stands just inside a level."""
        return self.scopes[level]


def extract_query(program: Program) -> Query:
    """𝓑 of a whole program."""
    return _Extraction(program).run()


class _Extraction:
    def __init__(self, program: Program) -> None:
        self._program = program
        top = Path(None, None)
        self._query = Query(program, top, {None: top}, obligations=list(program.obligations))

    def run(self) -> Query:
        for f in reversed(self._program.algorithm.functions):  # consumers first: their paths hold their producers'
            for key in self._program.keys(f):
                self._stage(key)
        return self._query

    def _scope(self, level: Level) -> Path:
        known = self._query.scopes.get(level)
        if known is None:
            assert level is not None
            site = level_site(self._program, level)
            self._loops(site.key)
            known = self._query.scopes[level]
        return known

    def _loops(self, key: StageKey) -> Path:
        """The path down to inside a nest's innermost loop; every loop's scope is remembered."""
        nest = self._program.nests[key]
        steps = nest.steps_by_depth()
        path = self._scope(self._program.computed[key.func]).then(Choice(key.func))
        when = self._program.taken(key)
        if when is not ir.TRUE:
            path = path.then(Taken(when, key))
        path = _through(path, steps[0])
        for loop, inside in zip(nest.loops, steps[1:], strict=True):
            known = self._query.scopes.get(loop.name)
            path = known if known is not None else _through(path.then(ForAll(loop.var, loop.bounds)), inside)
            self._query.scopes[loop.name] = path
        return path

    def _stage(self, key: StageKey) -> None:
        path = self._loops(key)
        core: Stmt = self._program.nests[key].core
        provide = _provided(core)
        while isinstance(core, If):
            self._accesses(key, [core.condition], path, provide, certain=True)
            path = path.then(Where(core.condition))
            core = core.then
        assert isinstance(core, Provide)
        self._accesses(key, list(core.args), path, provide, certain=True)
        self._accesses(key, list(core.values), path, provide, certain=False)
        points = tuple((a,) for a in core.args)
        self._query.writes[key] = Clause(HoleKind.MEM, key.func, key.stage, points, path, key)

    def _accesses(
        self, reader: StageKey, roots: list[Expr], path: Path, provide: Provide, *, certain: bool
    ) -> None:
        """Clauses for the accesses below ``roots``. Those in indices and conditions are ``certain``: they must be
        right always. The values stored need to be right only inside the compute bounds (the assignment rule)."""
        inner: set[Expr] = set()
        accesses = [e for e in subexpressions(roots) if isinstance(e, Access)]
        for e in accesses:
            inner.update(a for a in subexpressions(e.args) if isinstance(a, Access))
        always = [e for e in accesses if certain or e in inner]
        valued = [e for e in accesses if not certain and e not in inner]
        if always:
            dims = zip(provide.args, reader.func.pure_dims(reader.stage), strict=True)
            pure = tuple(a if p else None for a, p in dims)
            self._group(reader, always, path, pure)
        if valued:
            if self._program.nests[reader].overcomputes:
                self._group(reader, valued, path, provide.args, HoleKind.MEM)
                path = self._in_compute_bounds(reader, provide, path)
            self._group(reader, valued, path, provide.args)

    def _in_compute_bounds(self, reader: StageKey, provide: Provide, path: Path) -> Path:
        f, stage = reader.func, reader.stage
        for arg, bounds, pure in zip(provide.args, cpu_box(f, stage), f.pure_dims(stage), strict=True):
            if pure:
                path = path.then(Where(ir.less_equal(bounds.min, arg)))
                path = path.then(Where(ir.less(arg, ir.add(bounds.min, bounds.len))))
        return path

    def _group(
        self,
        reader: StageKey,
        accesses: list[Access],
        path: Path,
        covered: tuple[Expr | None, ...],
        kind: HoleKind = HoleKind.CPU,
    ) -> None:
        """One clause a callee. ``covered``: coordinates of the reader itself that its compute bounds hold anyway."""
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
                points.append(_extremes(coordinates))
            stage = reader.stage if own else len(callee.definitions) - 1 if isinstance(callee, Function) else 0
            clause = Clause(kind, callee, stage, tuple(points), path, reader)
            if kind is HoleKind.MEM:
                self._query.needs_memory.setdefault(callee, []).append(clause)
            elif own:
                self._query.self_reads.setdefault(reader, []).append(clause)
            else:
                self._query.reads.setdefault(callee, []).append(clause)


def _through(path: Path, steps: list[ir.Let | Guard]) -> Path:
    for step in steps:
        if isinstance(step, ir.Let):
            path = path.then(Define(step.var, step.value, step.within))
        else:
            path = path.then(Where(step.condition))
    return path


def _provided(core: Stmt) -> Provide:
    while isinstance(core, If):
        core = core.then
    assert isinstance(core, Provide)
    return core


def _extremes(coordinates: list[Expr]) -> tuple[Expr, ...]:
    """Distinct coordinates, without those that lie between two others that differ from them by constants."""
    least: dict[frozenset[tuple[Expr, int]], tuple[int, Expr]] = {}
    most: dict[frozenset[tuple[Expr, int]], tuple[int, Expr]] = {}
    for e in dict.fromkeys(coordinates):
        form = linear_of(e)
        key = frozenset(form.terms.items())
        if key not in least or form.const < least[key][0]:
            least[key] = (form.const, e)
        if key not in most or form.const > most[key][0]:
            most[key] = (form.const, e)
    return tuple(dict.fromkeys(e for key in least for e in (least[key][1], most[key][1])))


# ---------------------------------------------------------------------------------------------------------
# The query as text.


def _binder_text(binder: Binder) -> str:
    match binder:
        case ForAll(var=var, bounds=bounds):
            return f"forall {var.name} in {format_interval(bounds)}"
        case Define(var=var, value=value):
            return f"let {var.name} = {format_expr(value)}"
        case Where(condition=condition):
            return f"{format_expr(condition)} =>"
        case Choice(func=func):
            return f"exists ?cpu {func.name}"


def format_clause(clause: Clause, stop: Path) -> str:
    """One clause, with the binders below ``stop``."""
    binders = [_binder_text(b) for b in clause.path.up_to(stop)]
    where = ", ".join(" | ".join(map(format_expr, c)) or "_" for c in clause.points)
    kind = clause.kind.value if isinstance(clause.callee, Function) else "input"
    stage = f".s{clause.stage}" if isinstance(clause.callee, Function) and clause.kind is HoleKind.CPU else ""
    quantifiers = "; ".join(reversed(binders))
    return f"{quantifiers}: {clause.callee.name}[{where}] in ?{kind} {clause.callee.name}{stage}"


def format_query(query: Query) -> str:
    """The whole conjunction, one conjunct a line."""
    lines: list[str] = []
    for f in reversed(query.program.algorithm.functions):
        stop = query.scope(query.program.computed[f])
        last = len(f.definitions) - 1
        if f in query.program.algorithm.outputs:
            lines.append(f"window of {f.name} in ?cpu {f.name}.s{last}")
        lines += [format_clause(c, stop) for c in query.reads.get(f, [])]
        for stage in range(last, -1, -1):
            lines += [format_clause(c, stop) for c in query.self_reads_of(f, stage)]
            if stage:
                lines.append(f"?cpu {f.name}.s{stage} in ?cpu {f.name}.s{stage - 1}")
        store = query.scope(query.program.stored[f])
        lines += [format_clause(c, store) for c in query.needs_memory.get(f, [])]
        lines += [format_clause(query.writes[key], store) for key in query.program.keys(f)]
        lines.append(f"?cpu {f.name} in ?mem {f.name}")
    for image in query.program.algorithm.images:
        lines += [format_clause(c, query.top) for c in _image_clauses(query, image)]
    lines += [f"{_given(query, o)}{format_expr(o.condition)}   ({o.directive})" for o in query.obligations]
    return "\n".join(lines)


def _given(query: Query, o: Obligation) -> str:
    when = ir.TRUE if o.key is None else query.program.taken(o.key)
    return "" if when is ir.TRUE else f"{format_expr(when)} =>: "


def _image_clauses(query: Query, image: Image) -> list[Clause]:
    return query.reads.get(image, []) + query.needs_memory.get(image, [])
