"""The whole conjunction of 𝓑, conjunct by conjunct: what is printed, exported and checked.

In: a Query. Out: Conjuncts, consumers first; each is ``∀ path: conclusion``, with the conclusion an expression over
holes. Besides the query's clauses these are the conjuncts that the shape of the program alone implies.

    ∀ by.s0.y ∈ …, by.s0.x ∈ …:  bx[by.s0.x, by.s0.y - 1 | by.s0.y + 1] ∈ ?cpu bx.s0        [value]
    ?cpu bx.s0 ∈ ?mem bx                                                                      [memory]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import stage_variables, startup_index
from halide_core.analysis.simplify import simplify
from halide_core.bounds.query.describe import special
from halide_core.bounds.query.query import Binder, Choice, Clause, Define, ForAll, Path, Query, Rule, Taken, Where
from halide_core.ir import Callee, ExprNode, HoleKind, Interval, RVarRef, Variable
from halide_core.ir.boxes import contains, window_of
from halide_core.ir.brief import brief, brief_interval
from halide_core.ir.logic import all_of
from halide_core.ir.types import INT32
from halide_core.loop_nest import Guard, Level, Program, StageKey, cpu_box, hole, loop_box, stage_loops

Box = tuple[Interval, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Conjunct:
    """``∀ path: conclusion``. ``stop`` is the place where the holes that it constrains are bound; ``claim`` is the
    conclusion as people read it; ``by`` the directive that asks for it, if one does."""

    rule: Rule
    about: Callee
    path: Path
    stop: Path
    conclusion: ExprNode
    claim: str
    by: str = ""


def list_conjuncts(query: Query) -> list[Conjunct]:
    """The whole conjunction, sorted by what it constrains: consumers first, and inputs last."""
    found: list[Conjunct] = []
    for f in reversed(query.program.algorithm.functions):
        found += _of_function(query, f)
    for image in query.program.algorithm.images:
        for clause in [*query.reads.get(image, []), *query.needs_memory.get(image, [])]:
            found += _of_clause(clause, query.top, box_of(image))
    # An index of the left-hand side often stands in the value too.
    return list({(c.rule, c.path, c.conclusion): c for c in reversed(found)}.values())[::-1]


def box_of(callee: Callee) -> Box:
    """The memory holes of a Func or an input."""
    return tuple(hole(HoleKind.MEM, callee, 0, d) for d in range(callee.dimensions))


def _of_function(query: Query, f: Function) -> Iterator[Conjunct]:
    program = query.program
    scope = query.scope(program.computed[f])
    # An output's memory is the caller's, whatever loop its label is in.
    store = query.top if f in program.algorithm.outputs else query.scope(program.stored[f])
    last = len(f.definitions) - 1

    def holds(rule: Rule, conclusion: ExprNode, claim: str, by: str = "") -> Conjunct:
        return Conjunct(rule, f, scope, scope, conclusion, claim, by)

    if f in program.algorithm.outputs:
        inside = contains(cpu_box(f, last), window_of(f))
        yield holds(Rule.WINDOW, inside, f"window of {f.name} in {cpu_name(f, last)}")
    for o in query.obligations:
        if o.func is f:
            given = scope if o.key is None else _given(query, o.key, scope)
            told = brief(o.condition)
            yield Conjunct(Rule.ASSERT, f, given, scope, o.condition, told, str(o.directive))
    for clause in query.reads.get(f, []):
        yield from _of_clause(clause, scope, cpu_box(f, last))
    for stage in range(last, -1, -1):
        for clause in query.self_reads_of(f, stage):
            yield from _of_clause(clause, scope, cpu_box(f, stage))
        if stage:
            inside = contains(cpu_box(f, stage - 1), cpu_box(f, stage))
            yield holds(Rule.STAGES, inside, f"{cpu_name(f, stage)} in {cpu_name(f, stage - 1)}")
    for length in query.lengths:
        if length.key.func is f:
            n = length.loop.bounds.len
            least = ir.less_equal(ir.ZERO, n)
            yield Conjunct(Rule.LENGTH, f, length.path, scope, least, f"0 <= {brief(n)}")
    for key in program.keys(f):
        yield _coverage(query, key, scope)
    for clause in query.needs_memory.get(f, []):
        yield from _of_clause(clause, store, box_of(f))
    for key in program.keys(f):
        yield from _of_clause(query.writes[key], store, box_of(f))
    yield holds(Rule.MEMORY, contains(box_of(f), cpu_box(f, 0)), f"{cpu_name(f, 0)} in ?mem {f.name}")


def _given(query: Query, key: StageKey, scope: Path) -> Path:
    """The runs that take a case of a stage."""
    when = query.program.taken(key)
    return scope if when is ir.TRUE else scope.then(Taken(when, key))


def cpu_name(f: Function, stage: int) -> str:
    """``?cpu f.s0``."""
    return f"?cpu {f.name}.s{stage}"


def _of_clause(clause: Clause, stop: Path, box: Box) -> Iterator[Conjunct]:
    """A clause; nothing where none of its coordinates says anything new."""
    if any(clause.points) or not clause.points:
        inside = all_of(within(e, over) for points, over in zip(clause.points, box, strict=True) for e in points)
        yield Conjunct(clause.rule, clause.callee, clause.path, stop, inside, claim_of(clause))


def claim_of(clause: Clause) -> str:
    """``bx[x, y - 1 | y + 1] in ?cpu bx.s0``. A coordinate that its stage covers anyway is ``_``."""
    where = ", ".join(" | ".join(map(brief, c)) or "_" for c in clause.points)
    if isinstance(clause.callee, Function):
        name = cpu_name(clause.callee, clause.stage) if clause.kind is HoleKind.CPU else f"?mem {clause.callee.name}"
    else:
        name = f"?input {clause.callee.name}"
    return f"{clause.callee.name}[{where}] in {name}"


# ---------------------------------------------------------------------------------------------------------
# Loops cover.


def _coverage(query: Query, key: StageKey, scope: Path) -> Conjunct:
    """Every point of the compute bounds, with every point of the domain, is an iteration: the one that the witnesses
    name, which runs the steps of the nest and gives the point back."""
    nest, loops = query.program.nests[key], stage_loops(query.program, key)
    path = _given(query, key, scope.then(Choice(key.func)))
    given: dict[Variable, Interval | None] = {}
    for var, over in _points(query.program, key):
        path = path.then(ForAll(var, over))
        given[var] = over
    for w in nest.witnesses:
        path = path.then(Define(w.var, simplify(w.value), None))
        given[w.var] = None
    goals = [within(loop.var, loop.bounds) for loop in loops if given.get(loop.var) != loop.bounds]
    for step in nest.steps:
        if isinstance(step, Guard):
            goals.append(step.condition)
        elif step.var in given:
            goals.append(ir.equal(step.var, step.value))
        else:
            path = path.then(Define(step.var, step.value, step.within))
    where = ", ".join(loop.var.name for loop in loops)
    claim = f"({where}) is an iteration of {key.func.name}.s{key.stage}{special(key)}"
    return Conjunct(Rule.LOOPS, key.func, path, scope, all_of(goals), claim)


def _points(program: Program, key: StageKey) -> Iterator[tuple[Variable, Interval]]:
    """The variables of a definition, and what each must take: its loop bounds, or its reduction domain."""
    f, stage = key.func, key.stage
    variables = stage_variables(*key)
    for name, over, pure in zip(f.args, loop_box(program, f, stage), f.pure_dims(stage), strict=True):
        if pure:
            yield _variable(variables[ir.pure_variable(name)]), over
    domain = f.definitions[stage].domain
    if domain is not None:
        for i, bounds in enumerate(domain.bounds):
            over = Interval(startup_index(bounds.min), startup_index(bounds.len))
            yield _variable(variables[RVarRef(INT32, domain, i)]), over


def _variable(e: ExprNode) -> Variable:
    assert isinstance(e, Variable)
    return e


def within(e: ExprNode, over: Interval) -> ExprNode:
    """``e`` lies in an interval."""
    return ir.conjunction(ir.less_equal(over.min, e), ir.less(e, simplify(ir.add(over.min, over.len))))


# ---------------------------------------------------------------------------------------------------------
# The query as text.


def _binder_text(binder: Binder) -> str:
    match binder:
        case ForAll(var=var, bounds=bounds):
            return f"forall {var.name} in {brief_interval(bounds)}: "
        case Define(var=var, value=value):
            return f"let {var.name} = {brief(value)}: "
        case Where(condition=condition):
            return f"{brief(condition)} => "
        case Choice():
            return ""  # its own line says where its holes are bound


def binders_text(path: Path, stop: Path) -> str:
    """The binders below ``stop``, outermost first."""
    return "".join(reversed([_binder_text(b) for b in path.up_to(stop)]))


def format_conjunct(c: Conjunct) -> str:
    """One conjunct on one line."""
    by = f": {c.by}" if c.by else ""
    return f"{binders_text(c.path, c.stop)}{c.claim}   [{c.rule.value}{by}]"


def format_query(query: Query) -> str:
    """The whole conjunction, one conjunct a line, below the place where the holes that it constrains are bound."""
    conjuncts = list_conjuncts(query)
    algorithm = query.program.algorithm
    inputs = [p.name for p in algorithm.params] + [f"the window of {f.name}" for f in algorithm.outputs]
    lines = [f"forall {', '.join(inputs)}:"]
    for f in reversed(algorithm.functions):
        lines += [f"exists {_holes_text(query, f)}:", *_indented(c for c in conjuncts if c.about is f)]
        lines += _slide_lines(query, f)
    for image in algorithm.images:
        lines += [f"exists ?input {image.name}:", *_indented(c for c in conjuncts if c.about is image)]
    return "\n".join(lines)


def _indented(conjuncts: Iterable[Conjunct]) -> list[str]:
    return [f"    {format_conjunct(c)}" for c in conjuncts]


def _slide_lines(query: Query, f: Function) -> list[str]:
    """The lines about what the loops of a Func that may slide must cover. It is no conjunct: it speaks of several
    iterations, and the certificate claims it of the program that runs."""
    dims = ", ".join(f"?loop {f.name}.{f.args[d]}" for d in query.program.sliding.get(f, ()))
    last = len(f.definitions) - 1
    return [f"    {cpu_name(f, last)} in {dims} of this iteration and those before   [loops]"] if dims else []


def _holes_text(query: Query, f: Function) -> str:
    program = query.program
    computed, stored = program.computed[f], program.stored[f]
    if f in program.algorithm.outputs:
        return f"?cpu {f.name} {_where(computed)}"
    if computed == stored:
        return f"?mem {f.name}, ?cpu {f.name} {_where(computed)}"
    return f"?mem {f.name} {_where(stored)}, ?cpu {f.name} {_where(computed)}"


def _where(level: Level) -> str:
    return "at the root" if level is None else f"inside {level}"
