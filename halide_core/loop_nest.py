"""Tgt?: a program with holes, in the normal form that scheduling rewrites.

Each stage is one loop nest; each Func says inside which loop it is computed and stored. The tree of figure 2.7 is
``assemble(program)``; it exists at every step of scheduling, and is what people and the passes see.

    Nest(loops=[y, xo, xi], steps=[let x = …, guard x < …], core=f[x, y] = …)

A stage that is specialized has a nest for each of its cases, of which every run takes one (lemma 2.9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.analysis.simplify import simplify
from halide_core.ir import (
    Allocate,
    Block,
    Callee,
    ExprNode,
    For,
    Hole,
    If,
    Interval,
    Label,
    Let,
    LoopKind,
    LoopName,
    Stmt,
    Variable,
)
from halide_core.ir.memory import Layout
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import free_variables, nodes_of, stmt_exprs, walk
from halide_core.schedule.access_directives import Atomic, PartitionLoop
from halide_core.schedule.directives import Async, Directive
from halide_core.schedule.storage_directives import FoldStorage

Level = LoopName | None
"""A loop, or None for the top of the pipeline."""


class StageKey(NamedTuple):
    """A stage of a Func, in one of its specializations; 0 is the general case."""

    func: Function
    stage: int
    specialization: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """The head of a loop."""

    name: LoopName
    var: Variable
    bounds: Interval
    kind: LoopKind
    reduces: tuple[str, ...] = ()
    """The variables of the reduction domain that it runs over."""
    fused: bool = False
    """True where it came of fusing: more steps than it has would run into the next row, even where its length looks
    like that of one dimension because the other has length 1."""
    partition: PartitionLoop | None = None
    """Who says whether it is divided."""

    @property
    def pure(self) -> bool:
        """True where it runs over dimensions alone (definition 2.16)."""
        return not self.reduces


class Order(Enum):
    """The order in which the loops of an update take the iterations that touch one point."""

    IN_ORDER = "in the order of its domain"
    INDEPENDENT = "in that order; only loops that keep iterations apart have other places"
    COMMUTATIVE = "in any order, which its operator allows"


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A step of a nest: what follows runs only where ``condition`` holds."""

    condition: ExprNode


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """The loops of a stage, outermost first; lets and guards in order; the assignment, innermost.

    The lets and guards stand as far out as the loops that they mention allow: see ``steps_by_depth``.

    ``overcomputes``: a loop was rounded up, so that points outside the compute bounds are written.

    ``witnesses`` names, for each loop variable that a split or a fuse made, the iteration that covers given values of
    the variables that it replaced: lets, in order, under which the steps hold and give the old values back.

    ``waiver`` is the directive by which the user allows reduction loops whose iterations may meet.

    ``atomic`` is the one by which those that do take turns; the assignment is marked once a loop needs that.

    ``shared``: so many of its loops, the outermost, are those of other stages too; none of its steps stands outside
    them. ``ranges``: of each loop that it has in common with others, the iterations that are its own.
    """

    loops: tuple[Loop, ...]
    steps: tuple[Let | Guard, ...]
    core: Stmt
    overcomputes: bool = False
    witnesses: tuple[Let, ...] = ()
    waiver: Directive | None = None
    order: Order = Order.IN_ORDER
    shared: int = 0
    ranges: tuple[Interval, ...] = ()
    atomic: Atomic | None = None

    def steps_by_depth(self) -> list[list[Let | Guard]]:
        """The steps just inside each number of loops: first those outside all of them, last those inside all.

        What is computed inside a loop stands after the steps of that depth, so a guard covers producers too. Steps of
        shared loops stand inside all of these; a let that mentions no variable stands outside, as loops' ends are made
        of it.
        """
        depths: dict[ExprNode, int] = {loop.var: i for i, loop in enumerate(self.loops, 1)}
        placed: list[list[Let | Guard]] = [[] for _ in range(len(self.loops) + 1)]
        for step in self.steps:
            exprs = (step.value,) if isinstance(step, Let) else (step.condition,)
            depth = max((depths.get(v, 0) for e in exprs for v in free_variables(e)), default=0)
            if isinstance(step, Let):
                depths[step.var] = depth
            outside = isinstance(step, Let) and not free_variables(step.value)
            placed[0 if outside else max(depth, self.shared)].append(step)
        return placed


LENGTH_LIMIT = (1 << 63) - (1 << 40)
"""A fused loop has at most so many iterations: so that rounding its length up to an int32 factor stays in int64."""


@dataclass(frozen=True, slots=True, eq=False)
class Obligation:
    """A condition over holes that a directive needs; bounds inference answers so that it holds, or asserts it.

    ``key``: the nest that needs it, where only the runs that take its specialization do. ``failure`` and ``message``
    are those of the check that may stand for it; without a message it says what must hold.
    """

    func: Function
    condition: ExprNode
    directive: Directive
    key: StageKey | None = None
    failure: ir.Failure = ir.Failure.ASSERTION
    message: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A specialization of a stage. Of a stage's cases, in order, the first whose ``condition`` holds is taken; that of
    the general case, the last, is true. ``fails``: the case has no nest, since a start-up check ends the run."""

    number: int
    condition: ExprNode
    fails: bool = False


_ONLY = (Case(0, ir.TRUE),)


@dataclass(frozen=True, slots=True, eq=False)
class Hoisting:
    """Inside which loop a Func's memory is allocated, where that is not where it lives; and who says so."""

    around: tuple[LoopName, ...]
    """That loop and those around it, outermost first: where it is gone, since it had one iteration, the next one out
    takes its place. Empty where it is no loop."""
    directive: Directive


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Where a stage runs whose outermost loops are those of another one: in each iteration of the innermost of these
    loops, after that one. ``names``: what it calls them itself, the outermost first."""

    level: LoopName
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Funcs some of whose stages share loops: ``funcs``, producers of nothing among them; and the order of their
    ``stages``, without those that run in the loops of another one."""

    funcs: tuple[Function, ...]
    stages: tuple[StageKey, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """By what a Func's values are remembered: start-up expressions that they depend on; the number of what is evicted
    together; whether some of the words are tags, on the user's word; who asks for it."""

    words: tuple[ExprNode, ...]
    evicted: ExprNode | None
    tagged: bool
    directive: Directive


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A pipeline with holes. Rewrites return changed copies."""

    algorithm: Algorithm
    named: Mapping[str, Function]
    nests: Mapping[StageKey, Nest]
    computed: Mapping[Function, Level]
    stored: Mapping[Function, Level]
    obligations: tuple[Obligation, ...] = ()
    specialized: Mapping[tuple[Function, int], tuple[Case, ...]] = field(default_factory=dict)
    folded: tuple[tuple[Function, FoldStorage], ...] = ()
    """Folds that are asked for: later ones of one dimension are the ones that count."""
    layouts: Mapping[Function, Layout] = field(default_factory=dict)
    """Of the Funcs whose memory is not laid out plainly."""
    hoisted: Mapping[Function, Hoisting] = field(default_factory=dict)
    """The Funcs whose memory is allocated further out than it lives."""
    prefetches: Mapping[LoopName, tuple[ir.PrefetchRegion, ...]] = field(default_factory=dict)
    """The prefetches that each iteration of a loop begins with."""
    sliding: Mapping[Function, tuple[int, ...]] = field(default_factory=dict)
    """The dimensions of a Func whose loops have holes of their own: see ``loop_box``."""
    joined: Mapping[StageKey, Joined] = field(default_factory=dict)
    """The stages that run in loops of another one, each after the one that it joined."""
    together: Mapping[Function, Together] = field(default_factory=dict)
    """The Funcs that these are of, and those that they joined."""
    remembered: Mapping[Function, Remembered] = field(default_factory=dict)
    """The Funcs that are memoized."""

    def place(self, key: StageKey) -> Level:
        """The loop that a nest stands in."""
        joined = self.joined.get(key)
        return self.computed[key.func] if joined is None else joined.level

    def beside(self, func: Function) -> tuple[Function, ...]:
        """The Funcs that are computed in one with a Func, itself among them."""
        known = self.together.get(func)
        return (func,) if known is None else known.funcs

    def cases(self, func: Function, stage: int) -> tuple[Case, ...]:
        """The cases of a stage in the order in which they are tried."""
        return self.specialized.get((func, stage), _ONLY)

    def keys(self, func: Function) -> list[StageKey]:
        """The nests of a Func: stages in order, the general case of each last."""
        return [StageKey(func, s, c.number) for s in self.stages(func) for c in self.cases(func, s) if not c.fails]

    def taken(self, key: StageKey) -> ExprNode:
        """The condition under which a run takes a case: its own, and that none before it holds."""
        when: ExprNode = ir.TRUE
        for case in self.cases(key.func, key.stage):
            if case.number == key.specialization:
                return simplify(ir.conjunction(when, case.condition))
            when = simplify(ir.conjunction(when, ir.Not(BOOL, case.condition)))
        raise KeyError(key)

    def with_nest(self, key: StageKey, nest: Nest) -> Program:
        """The program with one nest changed."""
        return replace(self, nests={**self.nests, key: nest})

    def partitions(self) -> dict[LoopName, PartitionLoop]:
        """Who says of which loop whether it is divided."""
        loops = [loop for nest in self.nests.values() for loop in nest.loops]
        return {loop.name: loop.partition for loop in loops if loop.partition is not None}

    def told(self, loop: LoopName) -> str:
        """A loop as messages name it, after the user's Func."""
        return str(replace(loop, func=self.named[loop.func].own.name))

    def stages(self, func: Function) -> range:
        """The stage numbers of a Func."""
        return range(len(func.definitions))


def hole(kind: ir.HoleKind, func: Callee, stage: int, dim: int) -> Interval:
    """Both ends of one dimension's hole."""
    return Interval(
        Hole(INT64, kind, func, stage, 0, dim, ir.End.MIN), Hole(INT64, kind, func, stage, 0, dim, ir.End.LEN)
    )


def mem_box(func: Function) -> tuple[Interval, ...]:
    """The holes of a Func's allocation."""
    return tuple(hole(ir.HoleKind.MEM, func, 0, d) for d in range(func.dimensions))


def cpu_box(func: Function, stage: int) -> tuple[Interval, ...]:
    """The holes of a stage's compute bounds."""
    return tuple(hole(ir.HoleKind.CPU, func, stage, d) for d in range(func.dimensions))


def loop_box(program: Program, func: Function, stage: int) -> tuple[Interval, ...]:
    """The box that the loops of a stage cover: its compute bounds; in a sliding dimension the part of them that no
    earlier iteration has computed."""
    own = program.sliding.get(func, ())
    kinds = [ir.HoleKind.LOOP if d in own else ir.HoleKind.CPU for d in range(func.dimensions)]
    return tuple(hole(kind, func, stage if kind is ir.HoleKind.CPU else 0, d) for d, kind in enumerate(kinds))


def consumers(program: Program) -> dict[Function, list[StageKey]]:
    """The stages of other Funcs that read each Func, in realization order."""
    found: dict[Function, list[StageKey]] = {f: [] for f in program.algorithm.functions}
    for g in program.algorithm.functions:
        for key in program.keys(g):
            for f in readings(program.nests[key].core):
                if f is not g and f in found:
                    found[f].append(key)
    return found


def is_async(f: Function) -> bool:
    """True where a thread of its own is asked for."""
    return any(isinstance(d, Async) for d in f.directives)


def readings(core: Stmt) -> list[Function]:
    """The Funcs that a nest's assignment and its conditions read, each once."""
    seen: dict[Function, None] = {}
    for e in nodes_of([e for s in walk(core) for e in stmt_exprs(s)], ir.Access):
        if isinstance(e.callee, Function):
            seen.setdefault(e.callee)
    return list(seen)


def provided(core: Stmt) -> ir.Provide:
    """The assignment under the conditions of a stage."""
    while isinstance(core, If):
        core = core.then
    assert isinstance(core, ir.Provide)
    return core


@dataclass(frozen=True, slots=True)
class Site:
    """A loop that something stands in: the nest that holds it, and its position there."""

    key: StageKey
    position: int


def level_site(program: Program, level: LoopName) -> Site:
    """Where a loop is."""
    key = StageKey(program.named[level.func], level.stage, level.specialization)
    return Site(key, next(i for i, loop in enumerate(program.nests[key].loops) if loop.name == level))


def path_to(program: Program, level: Level) -> tuple[Loop, ...]:
    """Every loop around what stands just inside ``level``, outermost first."""
    inner: tuple[Loop, ...] = ()
    while level is not None:
        site = level_site(program, level)
        inner = program.nests[site.key].loops[: site.position + 1] + inner
        level = program.place(site.key)
    return inner


def stage_path(program: Program, key: StageKey) -> tuple[Loop, ...]:
    """Every loop around a nest's assignment, outermost first."""
    return path_to(program, program.place(key)) + program.nests[key].loops


def stage_loops(program: Program, key: StageKey) -> tuple[Loop, ...]:
    """The loops of a stage, outermost first, with those that are another one's too."""
    nest = program.nests[key]
    if key not in program.joined:
        return nest.loops
    return stage_path(program, key)[len(path_to(program, program.computed[key.func])) :]


Prologue = Callable[[Level], list[Stmt]]


def no_prologue(_level: Level) -> list[Stmt]:
    """Nothing at the head of any level: the program keeps its holes."""
    return []


def assemble(program: Program, prologue: Prologue = no_prologue) -> Stmt:
    """The program as a tree. ``prologue`` gives the statements at the head of a level: the lets of filled holes."""
    return _Assembly(program, prologue).at(None, ir.NOTHING)


class _Assembly:
    """Builds the tree from the outside in; depth is the depth of loops, never the number of Funcs."""

    def __init__(self, program: Program, prologue: Prologue) -> None:
        self._program = program
        self._prologue = prologue
        self._computed: dict[Level, list[Function]] = {}
        self._stored: dict[Level, list[Function]] = {}
        outputs = set(program.algorithm.outputs)
        for f in program.algorithm.functions:  # producers first, so dominance holds inside each level
            self._computed.setdefault(program.computed[f], []).append(f)
            if f not in outputs:
                self._stored.setdefault(program.stored[f], []).append(f)
        self._joined: dict[Level, list[StageKey]] = {}
        for key, joined in program.joined.items():
            self._joined.setdefault(joined.level, []).append(key)
        self._obligations: dict[Function, list[Stmt]] = {}
        for o in program.obligations:
            condition, given = o.condition, ir.TRUE if o.key is None else program.taken(o.key)
            if given is not ir.TRUE:
                condition = ir.binary(ir.BinaryOp.OR, ir.Not(BOOL, given), condition)
            told = ir.Assert(condition, o.failure, (str(o.directive),))
            self._obligations.setdefault(o.func, []).append(told)

    def at(self, level: Level, body: Stmt) -> Stmt:
        """The statement inside a level: its prologue, its allocations, its labels, then the body."""
        stmts: list[Stmt] = [] if level is None else list(self._program.prefetches.get(level, ()))
        stmts += self._prologue(level)
        computed = self._computed.get(level, [])
        here = set(computed)
        stmts += [self._allocate(f) for f in self._stored.get(level, []) if f not in here]
        stored_here = set(self._stored.get(level, []))
        done: set[Function] = set()
        for f in computed:
            if f not in done:
                beside = self._program.beside(f)
                stmts += [self._allocate(g) for g in beside if g in stored_here]
                stmts.append(self._label(f))
                done.update(beside)
        if not stmts:
            return body
        return Block(tuple(stmts + ([] if body is ir.NOTHING else [body])))

    def _allocate(self, f: Function) -> Allocate:
        computed = cpu_box(f, len(f.definitions) - 1) if f in self._program.remembered else ()
        return Allocate(f, mem_box(f), layout=self._program.layouts.get(f), computed=computed)

    def _label(self, f: Function) -> Stmt:
        """A Func, with those that share loops with it inside its label."""
        together = self._program.together.get(f)
        if together is None:
            together = Together((f,), tuple([StageKey(f, i) for i in self._program.stages(f)]))
        stages: list[Stmt] = [o for g in together.funcs for o in self._obligations.get(g, [])]
        stages += [Label(key.func, key.stage, self._cases(key.func, key.stage)) for key in together.stages]
        body: Stmt = Block(tuple(stages))
        for g in reversed(together.funcs):
            body = Label(g, None, body)
        return body

    def _cases(self, f: Function, stage: int) -> Stmt:
        """The nests of a stage: the first whose condition holds runs."""
        chain: Stmt | None = None
        for case in reversed(self._program.cases(f, stage)):
            if case.fails:  # a start-up check has ended the run
                chain = None if chain is None else If(case.condition, ir.NOTHING, chain)
                continue
            nest = self._nest(StageKey(f, stage, case.number))
            chain = nest if case.number == 0 else If(case.condition, nest, chain)
        assert chain is not None, "every case of a stage fails"
        return chain

    def _nest(self, key: StageKey) -> Stmt:
        nest = self._program.nests[key]
        steps = nest.steps_by_depth()
        body = nest.core
        for depth in range(len(nest.loops), 0, -1):
            loop, inside = nest.loops[depth - 1], steps[depth]
            if depth > nest.shared:
                body = _under(inside, self.at(loop.name, body))
            else:
                others = [Label(k.func, k.stage, self._nest(k)) for k in self._joined.get(loop.name, [])]
                own = _under(inside, body)
                body = self.at(loop.name, Block((own, *others)) if others else own)
            body = For(loop.name, loop.var, loop.bounds, loop.kind, loop.pure, body)
        return _under(steps[0], body)


def _under(steps: list[Let | Guard], body: Stmt) -> Stmt:
    """The steps in order around a body."""
    pending: list[Stmt] = []
    for step in reversed(steps):
        if isinstance(step, Let):
            pending.insert(0, step)
        else:
            body = If(step.condition, _sequence(pending, body), None)
            pending = []
    return _sequence(pending, body)


def _sequence(lets: list[Stmt], body: Stmt) -> Stmt:
    return Block((*lets, body)) if lets else body
