"""The query as SMT-LIB 2 scripts, for any solver.

In: a Query, and Answers for the second form. Out: a complete script.

``open_script``: the holes are functions of the loops around the place where they are bound. ``sat`` means that there is
an answer for some inputs; who wants one for all inputs fixes none, and for given ones asserts what they are.

    (declare-fun |?cpu bx.s0.y.min| (Int) Int)                            ; inside one loop, by.s0.y
    (assert (forall ((|by.s0.y| Int)) (=> (and (<= … |by.s0.y|) …) …)))   ; a conjunct

``answered_script``: the holes are defined as their answers, and each conjunct is refuted on its own, for all inputs and
all memory: every ``(check-sat)`` must say ``unsat``.

    (push 1) (declare-const |by.s0.y| Int) (assert …) (assert (not …)) (check-sat) (pop 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function, ScalarParam
from halide_core.analysis.simplify import simplify
from halide_core.analysis.value_ends import NOTHING, between
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.conjuncts import Box, Conjunct, binders_text, box_of, format_conjunct, list_conjuncts
from halide_core.bounds.query.describe import special
from halide_core.bounds.query.query import Define, ForAll, Path, Query, Rule, Where
from halide_core.bounds.query.smtlib_terms import Symbols, Writer
from halide_core.debug import deep_recursion
from halide_core.ir import BufferField, ExprNode, Field, Hole, HoleKind, ParamRef
from halide_core.ir.boxes import contains, window_of
from halide_core.ir.printer import format_expr
from halide_core.ir.types import INT32
from halide_core.ir.visitor import subexpressions
from halide_core.loop_nest import hole, provided


def open_script(name: str, query: Query) -> str:
    """The query with its holes open: is there an answer?"""
    with deep_recursion():
        return _Open(name, query).run()


def answered_script(name: str, query: Query, answers: Answers) -> str:
    """The query with answers in place of its holes: does any conjunct fail?"""
    with deep_recursion():
        return _Answered(name, query, answers).run()


def _comment(text: str) -> list[str]:
    return [f"; {line}" for line in text.splitlines()]


class _Script:
    """The part that both forms share: names, and facts about the inputs."""

    def __init__(self, name: str, query: Query) -> None:
        self._name = name
        self._query = query
        self._symbols = Symbols()
        self._writer = Writer(self._symbols, self._hole)
        self._scopes: dict[Path, tuple[ForAll, ...]] = {}

    # -- holes

    def _place(self, h: Hole) -> Path:
        """Where a hole is bound."""
        program = self._query.program
        if not isinstance(h.func, Function) or (h.kind is HoleKind.MEM and h.func in program.algorithm.outputs):
            return self._query.top
        return self._query.scope((program.stored if h.kind is HoleKind.MEM else program.computed)[h.func])

    def _around(self, place: Path) -> tuple[ForAll, ...]:
        """The loops around a place, outermost first."""
        known = self._scopes.get(place)
        if known is None:
            binders = [b for b in place.up_to(self._query.top) if isinstance(b, ForAll)]
            known = self._scopes[place] = tuple(reversed(binders))
        return known

    def _hole_symbol(self, h: Hole) -> str:
        return self._symbols.of(h, format_expr(h))

    def _hole(self, h: Hole) -> str:
        loops = [self._writer.variable(b.var) for b in self._around(self._place(h))]
        return f"({' '.join((self._hole_symbol(h), *loops))})" if loops else self._hole_symbol(h)

    # -- the head

    def _head(self, told: str, logic: str) -> list[str]:
        w = self._writer
        lines = [*_comment(told), f"(set-logic {logic}UF{'N' if w.nonlinear else 'L'}IA)"]
        lines += [f"(declare-sort {sort} 0)" for sort in w.sorts]
        return [*lines, *w.helpers.values(), *w.functions.values()]

    def _input_facts(self) -> Iterator[ExprNode]:
        """Facts about the inputs that were written so far: the ranges of their types, and those declared."""
        for e in self._writer.inputs:
            match e:
                case BufferField(field=field):
                    least = 0 if field is Field.EXTENT else INT32.range[0]
                    yield _between(e, least, INT32.range[1])
                case ParamRef(type=type, param=ScalarParam() as param) if type.is_integer() and not type.is_bool():
                    low, high = type.range
                    low = low if param.low is None else max(low, int(param.low))
                    high = high if param.high is None else min(high, int(param.high))
                    yield _between(e, low, high)

    def _known(self, *exprs: ExprNode) -> list[str]:
        """Facts about the values in some expressions, as terms."""
        facts: dict[ExprNode, None] = {}
        for e in exprs:
            facts.update(dict.fromkeys(self._writer.facts(e)))
        return [self._writer.term(f) for f in facts]


def _between(e: ExprNode, low: int, high: int) -> ExprNode:
    return ir.conjunction(ir.less_equal(ir.const(low, e.type), e), ir.less_equal(e, ir.const(high, e.type)))


def _and(terms: list[str]) -> str:
    return terms[0] if len(terms) == 1 else f"(and {' '.join(terms)})"


def _implied(premises: list[str], term: str) -> str:
    return f"(=> {_and(premises)} {term})" if premises else term


# ---------------------------------------------------------------------------------------------------------
# With open holes.


class _Open(_Script):
    def run(self) -> str:
        body: list[str] = []
        holes: dict[Hole, None] = {}
        for number, c in enumerate(list_conjuncts(self._query), 1):
            body += ["", *_comment(format_conjunct(c)), f"(assert (! {self._closed(c)} :named c{number}))"]
            for e in _exprs(c, self._query.top):
                holes.update((h, None) for h in subexpressions([e]) if isinstance(h, Hole))
        inputs = [f"(assert {self._writer.term(fact)})" for fact in self._input_facts()]
        told = (
            f"The bounds query of {self._name}, with its holes open. sat: there is an answer for some inputs. The\n"
            "parameters and the windows are free: assert what they are to ask for their answer."
        )
        lines = [*self._head(told, ""), *map(self._declaration, holes), *inputs, *body, "", "(check-sat)"]
        return "\n".join(lines) + "\n"

    def _declaration(self, h: Hole) -> str:
        loops = self._around(self._place(h))
        return f"(declare-fun {self._hole_symbol(h)} ({' '.join('Int' for _ in loops)}) Int)"

    def _closed(self, c: Conjunct) -> str:
        """One conjunct under all of its binders."""
        w = self._writer
        text = _implied(self._known(c.conclusion), w.term(c.conclusion))
        for binder in c.path.up_to(self._query.top):
            match binder:
                case ForAll(var=var, bounds=bounds):
                    inside = [*self._known(bounds.min, bounds.len), *self._range(binder)]
                    text = f"(forall (({w.variable(var)} Int)) {_implied(inside, text)})"
                case Define(var=var, value=value):
                    text = f"(let (({w.variable(var)} {w.term(value)})) {_implied(self._known(value), text)})"
                case Where(condition=condition):
                    text = _implied([*self._known(condition), w.term(condition)], text)
        return text

    def _range(self, loop: ForAll) -> list[str]:
        return [self._writer.term(e) for e in _inside(loop)]


def _inside(loop: ForAll) -> tuple[ExprNode, ExprNode]:
    """A loop's variable lies in its bounds."""
    first, end = loop.bounds.min, simplify(ir.add(loop.bounds.min, loop.bounds.len))
    return ir.less_equal(first, loop.var), ir.less(loop.var, end)


def _exprs(c: Conjunct, top: Path) -> Iterator[ExprNode]:
    """Every expression of a conjunct."""
    yield c.conclusion
    for binder in c.path.up_to(top):
        match binder:
            case ForAll(bounds=bounds):
                yield from (bounds.min, bounds.len)
            case Define(value=value):
                yield value
            case Where(condition=condition):
                yield condition


# ---------------------------------------------------------------------------------------------------------
# With answers.


class _Answered(_Script):
    def __init__(self, name: str, query: Query, answers: Answers) -> None:
        super().__init__(name, query)
        self._answers = answers
        self._ranged: dict[tuple[Function, int], None] = {}

    def run(self) -> str:
        definitions: list[str] = []
        for a in self._answers.holes:
            definitions += self._definitions((hole(a.kind, a.func, a.stage, a.dim),), (a.interval,))
        for callee, region in self._answers.regions.items():
            definitions += self._definitions(box_of(callee), region)
        body: list[str] = []
        for c in [*list_conjuncts(self._query), *self._arguments()]:
            body += ["", *_comment(format_conjunct(c)), *self._refutation(c)]
        body += self._values()
        premises = [self._writer.term(e) for e in self._premises()]
        inputs = [self._writer.term(e) for e in self._input_facts()]
        told = (
            f"The bounds query of {self._name}, with its answers in place of the holes. Every check must say unsat:\n"
            "no inputs and no memory make a conjunct fail. The first assertions are what a run may take for granted:\n"
            "the ranges of its arguments and the start-up checks."
        )
        asserted = [f"(assert {text})" for text in (*inputs, *premises)]
        return "\n".join([*self._head(told, "QF_"), *definitions, *asserted, *body]) + "\n"

    def _premises(self) -> Iterator[ExprNode]:
        """The premises of a run that has passed its start-up checks; they are skipped where the only output is
        empty."""
        outputs = self._query.program.algorithm.outputs
        if len(outputs) == 1:
            yield from (ir.less(ir.ZERO, i.len) for i in window_of(outputs[0]))
        yield from (check.condition for check in self._answers.checks)

    def _definitions(self, holes: Box, values: Box) -> Iterator[str]:
        for h, value in zip(holes, values, strict=True):
            for end, e in ((h.min, value.min), (h.len, value.len)):
                assert isinstance(end, Hole)
                yield self._definition(end, e)

    def _definition(self, h: Hole, value: ExprNode) -> str:
        place = self._place(h)
        text = self._writer.term(value)
        for binder in place.up_to(self._query.top):
            if isinstance(binder, Define):
                text = f"(let (({self._writer.variable(binder.var)} {self._writer.term(binder.value)})) {text})"
        loops = " ".join(f"({self._writer.variable(b.var)} Int)" for b in self._around(place))
        return f"(define-fun {self._hole_symbol(h)} ({loops}) Int {text})"

    def _refutation(self, c: Conjunct) -> list[str]:
        """One conjunct, denied, of unknowns in place of what its binders bind."""
        w = self._writer
        lines = ["(push 1)"]
        for binder in reversed(list(c.path.up_to(self._query.top))):
            match binder:
                case ForAll(var=var):
                    lines.append(f"(declare-const {w.variable(var)} Int)")
                    lines += self._asserted(_inside(binder))
                case Define(var=var, value=value):
                    lines += [f"(assert {text})" for text in self._known(value)]
                    lines.append(f"(define-fun {w.variable(var)} () Int {w.term(value)})")
                case Where(condition=condition):
                    lines += self._asserted((condition,))
        lines += [f"(assert {text})" for text in self._known(c.conclusion)]
        return [*lines, f"(assert (not {w.term(c.conclusion)}))", "(check-sat)", "(pop 1)"]

    def _asserted(self, conditions: Iterable[ExprNode]) -> list[str]:
        return [f"(assert {text})" for c in conditions for text in (*self._known(c), self._writer.term(c))]

    def _arguments(self) -> Iterator[Conjunct]:
        """The conjuncts that the query leaves out, since it knows no buffers: that those of the caller hold what is
        needed."""
        top = self._query.top
        for callee in self._answers.regions:
            inside = contains(window_of(callee), box_of(callee))
            told = f"?mem {callee.name} in the buffer {callee.name}"
            yield Conjunct(Rule.MEMORY, callee, top, top, inside, told)

    def _values(self) -> list[str]:
        """The ranges of values that were taken for known, as conjuncts: each stage gives such values if what it reads
        is such."""
        program = self._query.program
        lines: list[str] = []
        for f in program.algorithm.functions:
            for component in range(len(f.types)):
                known, ends = self._writer.value_range(f, component), self._writer.value_ends(f, component)
                if known is None and ends == NOTHING:
                    continue
                for key in program.keys(f):
                    path = self._query.writes[key].path
                    value = provided(program.nests[key].core).values[component]
                    inside = between(value, ends)
                    if known is not None:
                        low, high = (ir.const(end, f.types[component]) for end in known)
                        inside = [ir.less_equal(low, value), ir.less_equal(value, high), *inside]
                    of = "between its ends" if known is None else f"from {known[0]} to {known[1]}"
                    told = f"{f.name}.s{key.stage}{special(key)} gives values {of}"
                    c = Conjunct(Rule.VALUE, f, path, self._query.top, reduce(ir.conjunction, inside), told)
                    lines += ["", *_comment(binders_text(path, self._query.top) + told), *self._refutation(c)]
        return lines
