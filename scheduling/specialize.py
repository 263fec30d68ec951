"""The specialization phase (section 2.8.1): copies of a stage for the runs in which conditions hold.

In: T₀ and the directives. Out: a program whose specialized stages have one nest for each case; every run takes exactly
one of them (lemma 2.9), since the conditions are start-up expressions.

    f.specialize(n >= 8)   ->   label f.s0: if n >= 8: { for f.s0[1].x: … } else: { for f.s0.x: … }

A Func that is computed inside the loops of the stage gets a copy for each case, so that each has a label that dominates
its uses, bounds that fit the case, and a body that is simplified by what the condition says. All cases share the
stage's holes: an answer may tell them apart by their conditions, so nothing is lost by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.conditions import Implied, assume_condition, known_values
from halide_core.analysis.index import startup_condition
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.ir import Access, Callee, ExprNode, Hole, Provide, Stmt, Variable
from halide_core.ir.types import BOOL
from halide_core.ir.visitor import Rewriter, Substitution, stmt_exprs, walk
from halide_core.loop_nest import Case, Guard, Level, Loop, Nest, Obligation, Program, StageKey, consumers, readings
from halide_core.schedule.directives import Branch, ComputeAt, Directive, Specialize, SpecializeFail, StageDirective
from halide_core.scheduling.legality import refuse, stage_key
from halide_core.scheduling.phase0.copies import copied, place, taken_names


def specialize_stages(program: Program) -> Iterator[tuple[Directive, Program]]:
    """Applies the directives of this phase, consumers before producers, so that copies are specialized in turn."""
    done: dict[Function, None] = {}
    while True:
        func = next((f for f in reversed(program.algorithm.functions) if f not in done), None)
        if func is None:
            return
        done[func] = None
        for d in func.directives:
            if isinstance(d, Specialize):
                program = specialize(program, d)
                yield d, program
            elif isinstance(d, SpecializeFail):
                program = specialize_fail(program, d)
                yield d, program


def specialize(program: Program, d: Specialize) -> Program:
    """Adds a case to a stage, before the case that it is made of.

    Args:
        program: the program; no nest of it is scheduled yet.
        d: ``branch`` (the case to copy), ``condition`` (a start-up expression), ``number``.

    Rewrite::

        label f.s0: s   ->   label f.s0: if c: s[1] else: s

    where ``s[1]`` is ``s`` with loops of its own, simplified where ``c`` holds, and reads its own copies of the Funcs
    that are computed inside it; ``s`` is simplified where ``c`` does not hold.

    Source: section 2.8.1, lemma 2.9.
    """
    key = stage_key(program, d)
    made = StageKey(key.func, key.stage, d.number)
    inside = _computed_inside(program, key)
    cases = list(program.cases(key.func, key.stage))
    at = next(i for i, case in enumerate(cases) if case.number == key.specialization)
    condition = startup_condition(d.condition)
    cases.insert(at, Case(d.number, simplify(ir.conjunction(cases[at].condition, condition))))
    holds, fails = _Assumed(condition, True), _Assumed(condition, False)
    body = holds.stmt(program.nests[key].core)
    names = taken_names(program.algorithm)
    copies: dict[Function, Function] = {}
    to: dict[Callee, Callee] = {}
    for g in _reached(program, body, inside):
        to[g] = copies[g] = copied(g, names.fresh_of(g.name, len(g.types)), to)
    for copy in copies.values():  # a place in the loops of another copy, which was made after this one
        copy.directives = [d.renamed(to) for d in copy.directives]
    nests = dict(program.nests)
    nests[made] = _copied_nest(program.nests[key], body, key.func, made, copies)
    for g, copy in copies.items():
        for old in program.keys(g):
            core = holds.stmt(nests[old].core)
            nests[StageKey(copy, old.stage)] = _copied_nest(nests[old], core, copy, StageKey(copy, old.stage), copies)
    for each in (key, *(k for g in inside for k in program.keys(g))):
        nests[each] = replace(nests[each], core=fails.stmt(nests[each].core))
    specialized = {**program.specialized, (key.func, key.stage): tuple(cases)}
    placed: dict[Function, Level] = {**program.computed, **dict.fromkeys(copies.values())}
    stored: dict[Function, Level] = {**program.stored, **dict.fromkeys(copies.values())}
    functions = [each for f in program.algorithm.functions for each in ((f, copies[f]) if f in copies else (f,))]
    grown = replace(program, nests=nests, computed=placed, stored=stored, specialized=specialized)
    return _with_functions(grown, functions)


def specialize_fail(program: Program, d: SpecializeFail) -> Program:
    """Takes the nest of a case away: a start-up check ends every run that would take it.

    Args:
        program: the program.
        d: ``branch`` (the case), ``message``.

    Rewrite::

        label f.s0: if c: s[1] else: s   ->   assert c;  label f.s0: if c: s[1]

    Legal when: another case of the stage is left.

    Raises: ScheduleError. Source: Halide's directive of this name; definition 2.11.
    """
    key = stage_key(program, d)
    cases = program.cases(key.func, key.stage)
    gone = tuple(replace(c, fails=True) if c.number == key.specialization else c for c in cases)
    if all(case.fails for case in gone):
        refuse(
            d,
            "no run would be left. Give the cases that are supported first, for example "
            f"{d.own.subject()}.specialize(condition).",
        )
    needed = Obligation(
        key.func,
        simplify(ir.Not(BOOL, program.taken(key))),
        d,
        failure=ir.Failure.SPECIALIZE_FAIL,
        message=d.message,
    )
    nests = {k: nest for k, nest in program.nests.items() if k != key}
    shrunk = replace(
        program,
        nests=nests,
        specialized={**program.specialized, (key.func, key.stage): gone},
        obligations=(*program.obligations, needed),
    )
    return _with_functions(shrunk, list(program.algorithm.functions))


def for_every_case(program: Program) -> list[Directive]:
    """The directives, those about loops once for each case that has them: its own, and those given before it was made.

    Raises: ScheduleError for one that no case with a nest has.
    """
    found: list[Directive] = []
    heirs: dict[tuple[Function, int, int], list[Branch]] = {}
    directives = program.algorithm.directives
    for d in reversed(directives):  # what is made later than a directive gets it
        here: list[Directive] = [d]
        if isinstance(d, StageDirective):
            func = program.named[d.func.name]
            later = heirs.get((func, d.stage, d.branch.number), [])
            if isinstance(d, Specialize):
                own = heirs.get((func, d.stage, d.number), [])
                heirs[func, d.stage, d.branch.number] = [d.made(), *own, *later]
            elif not isinstance(d, SpecializeFail):
                failing = [c.number for c in program.cases(func, d.stage) if c.fails]
                inherited = [replace(d, branch=b, given_to=d.branch) for b in later]
                here = [each for each in (d, *inherited) if each.branch.number not in failing]
                if not here:
                    refuse(d, "every run of this case ends at specialize_fail(), so this would have no effect.")
        found.extend(reversed(here))
    return list(reversed(found))


# -- what is computed inside a nest


def _computed_inside(program: Program, key: StageKey) -> list[Function]:
    """The Funcs whose labels will stand inside the loops of a nest, consumers first."""
    readers = consumers(program)
    inside: dict[Function, None] = {}
    for g in reversed(program.algorithm.functions):
        if g in program.algorithm.outputs or g is key.func or not readers[g]:
            continue
        if all(r == key or r.func in inside for r in readers[g]) and _placed_inside(g, key.func, inside):
            inside[g] = None
    return list(inside)


def _placed_inside(g: Function, consumer: Function, inside: dict[Function, None]) -> bool:
    """True where the level of a Func, if it has one, is a loop of these; without one it is computed where it is
    used."""
    at = place(g)
    if at is None:
        return True
    return isinstance(at, ComputeAt) and at.consumer.name in {consumer.name, *(f.name for f in inside)}


def _reached(program: Program, body: Stmt, inside: Sequence[Function]) -> list[Function]:
    """Those of ``inside`` that a body still reads, or that they read, producers first."""
    wanted = set(readings(body))
    for g in inside:  # consumers first
        if g in wanted:
            wanted.update(f for key in program.keys(g) for f in readings(program.nests[key].core))
    return [g for g in reversed(inside) if g in wanted]


def _with_functions(program: Program, functions: Iterable[Function]) -> Program:
    """The program with these Funcs, but for those that no nest reads any more, and their directives."""
    functions = list(functions)
    algorithm = replace(program.algorithm, functions=tuple(functions))
    readers = consumers(replace(program, algorithm=algorithm))
    kept: dict[Function, None] = dict.fromkeys(algorithm.outputs)
    for f in reversed(functions):
        if any(r.func in kept for r in readers[f]):
            kept.setdefault(f)
    functions = [f for f in functions if f in kept]
    before = set(program.algorithm.functions)
    names = {f.name for f in functions}
    directives = [d for d in program.algorithm.directives if d.func.name in names]
    directives += [d for f in functions if f not in before for d in f.directives]
    return replace(
        program,
        algorithm=replace(algorithm, functions=tuple(functions), directives=tuple(directives)),
        named={f.name: f for f in functions},
        nests={key: nest for key, nest in program.nests.items() if key.func in kept},
        computed={f: program.computed[f] for f in functions},
        stored={f: program.stored[f] for f in functions},
        specialized={at: cases for at, cases in program.specialized.items() if at[0] in kept},
        obligations=tuple(o for o in program.obligations if o.func in kept),
    )


# -- copies


class _Assumed:
    """Simplifies a nest's assignment by a condition that holds, or does not."""

    def __init__(self, condition: ExprNode, holds: bool) -> None:
        facts = Facts()
        assume_condition(facts, condition, holds)
        self._known = Substitution(known_values(condition, holds))
        self._implied = Implied(facts)
        self._simplifier = Simplifier(facts)

    def stmt(self, core: Stmt) -> Stmt:
        """The assignment with its conditions; one that always holds is left out. Of what the condition says nothing
        about, nothing is changed: that it is the user's definition is then plain to see."""
        simple = self._simplifier.stmt(self._implied.stmt(self._known.stmt(core)))
        return core if _same(simple, Simplifier().stmt(core)) else _unwrapped(simple)


def _same(a: Stmt, b: Stmt) -> bool:
    """True where two assignments under their conditions are built alike."""
    return [stmt_exprs(s) for s in walk(a)] == [stmt_exprs(s) for s in walk(b)]


def _unwrapped(core: Stmt) -> Stmt:
    if isinstance(core, ir.If) and core.condition is ir.TRUE:
        return _unwrapped(core.then)
    return replace(core, then=_unwrapped(core.then)) if isinstance(core, ir.If) else core


class _Copier(Rewriter):
    """Makes a nest another stage's: its loops' variables, the Func that it writes, and the Funcs that it reads."""

    def __init__(self, variables: dict[ExprNode, Variable], to: dict[Function, Function]) -> None:
        super().__init__()
        self._variables = variables
        self._to = to

    def rewrite_Variable(self, e: Variable) -> ExprNode:
        """The variable of the new loop."""
        return self._variables.get(e, e)

    def rewrite_Hole(self, e: Hole) -> ExprNode:
        """The hole of the copy."""
        func = self._to.get(e.func, e.func) if isinstance(e.func, Function) else e.func
        return Hole(e.type, e.kind, func, e.stage, e.specialization, e.dim, e.end)

    def rewrite_Access(self, e: Access) -> ExprNode:
        """An access to the copy."""
        args = tuple([self.expr(a) for a in e.args])
        callee = self._to.get(e.callee, e.callee) if isinstance(e.callee, Function) else e.callee
        return Access(e.type, callee, args, e.component, e.stage)

    def rewrite_Provide(self, s: Provide) -> Stmt:
        """An assignment to the copy."""
        func = self._to.get(s.func, s.func) if isinstance(s.func, Function) else s.func
        at, give = tuple([self.expr(a) for a in s.args]), tuple([self.expr(v) for v in s.values])
        return Provide(func, s.stage, at, give)


def _copied_nest(
    nest: Nest, core: Stmt, func: Function, key: StageKey, copies: dict[Function, Function]
) -> Nest:
    """A nest as lowering made it, as that of ``key``, around a given assignment."""
    guards = [step for step in nest.steps if isinstance(step, Guard)]  # of whole loops, before any is scheduled
    assert len(guards) == len(nest.steps), "specialization comes before the loops are scheduled"
    names = [replace(loop.name, func=func.name, specialization=key.specialization) for loop in nest.loops]
    variables = [ir.index_variable(str(name)) for name in names]
    copier = _Copier({loop.var: v for loop, v in zip(nest.loops, variables, strict=True)}, copies)
    loops = [
        Loop(name, var, copier.interval(loop.bounds), loop.kind, loop.reduces)
        for name, var, loop in zip(names, variables, nest.loops, strict=True)
    ]
    return Nest(tuple(loops), tuple(guards), copier.stmt(core))
