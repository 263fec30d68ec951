"""Every claim about one compile.

In: the query, the answers, and the tree that they were filled into. Out: Claims, from two sources that share no
walk: the query with the answers, and the tree by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.value_ends import between
from halide_core.bounds.infer.substitute import hole_values
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.bounds.verify.from_query import query_claims
from halide_core.bounds.verify.from_tree import TreeClaims
from halide_core.bounds.verify.memory import MemoryReads
from halide_core.bounds.verify.promises import promise_claims
from halide_core.bounds.verify.races import race_claims
from halide_core.bounds.verify.sites import Boxes
from halide_core.bounds.verify.sliding import Window, Windows
from halide_core.bounds.verify.stages import stage_claims
from halide_core.bounds.verify.vc import Claim, ClaimKind, Text, nothing
from halide_core.ir import Assert, ExprNode, Failure, HoleKind, Stmt
from halide_core.ir.logic import any_of, negation
from halide_core.ir.visitor import Substitution, subexpressions, walk
from halide_core.loop_nest import cpu_box, hole, loop_box


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """All claims about one compile."""

    query: list[Claim]
    """Those about the query and its answers."""
    tree: list[Claim]
    """Those about the tree; a variable means one thing in each of the two lists."""
    start: Claim
    """That some window passes the start-up checks: it holds if its context is possible."""
    memory: MemoryReads
    """The meanings of the unknowns in them."""


def program_claims(query: Query, answers: Answers, tree: Stmt) -> Claims:
    """See the module's docstring."""
    memory = MemoryReads()
    program = query.program
    holes = hole_values(program, answers)
    promises = [s for s in walk(tree) if isinstance(s, Assert) and s.failure is Failure.PARAMETER_RANGE]
    about_query = query_claims(query, answers, promises, memory)
    walked = TreeClaims(program, _boxes(query, holes), _windows(query, answers, holes), answers.ahead, memory)
    walked.run(tree)
    claims = walked.claims
    for number, site in enumerate(walked.stages):
        claims += stage_claims(site, program.nests[site.key], holes, number)
    claims += race_claims(program, walked.touches, memory)
    claims += _value_claims(walked, memory)
    started = walked.started or nothing()
    claims += promise_claims(program, started)
    start = Claim(ClaimKind.STARTUP, "", ("some window passes the start-up checks",), started, ir.TRUE)
    return Claims(about_query, claims, start, memory)


def step_claims(query: Query, answers: Answers, tree: Stmt) -> list[Claim]:
    """The claims that the slides and the folds of a program rest on; none where it has none."""
    taken = {slide.func for slide in answers.slides if slide.loop is not None} | set(answers.folds)
    if not taken:
        return []
    holes = hole_values(query.program, answers)
    boxes, windows = _boxes(query, holes), _windows(query, answers, holes)
    walked = TreeClaims(query.program, boxes, windows, answers.ahead, MemoryReads())
    walked.run(tree)
    return [claim for claim in walked.claims if claim.step in taken]


def _boxes(query: Query, holes: Substitution) -> Boxes:
    """The box that the loops of each stage cover, in variables of the filled tree: compute bounds, or what is new of
    them."""
    program = query.program
    return {
        (f, stage): tuple([holes.interval(i) for i in loop_box(program, f, stage)])
        for f in program.algorithm.functions
        for stage in program.stages(f)
    }


def _windows(query: Query, answers: Answers, holes: Substitution) -> Windows:
    """The windows of the Funcs that slide: their compute bounds."""
    return {
        f: Window(
            tuple([holes.interval(i) for i in cpu_box(f, len(f.definitions) - 1)]),
            tuple(dict.fromkeys(slide.loop for slide in answers.slides if slide.func is f and slide.loop is not None)),
            any(clause.reader.func is not f for clause in query.needs_memory.get(f, ())),
            tuple([holes.expr(condition) for condition in _lengths(query, f)]),
        )
        for f in query.program.sliding
    }


def _lengths(query: Query, f: Function) -> Iterator[ExprNode]:
    """The conditions of shifted splits on the lengths of loops over what is new of a Func, where they are taken."""
    covered = {hole(HoleKind.LOOP, f, 0, d).len for d in query.program.sliding[f]}
    for o in query.obligations:
        if o.func is f and not covered.isdisjoint(subexpressions([o.condition])):
            taken = ir.TRUE if o.key is None else query.program.taken(o.key)
            yield any_of((negation(taken), o.condition))


def _value_claims(walked: TreeClaims, memory: MemoryReads) -> Iterator[Claim]:
    """Each range that was taken for a fact, as a claim about every value that is assigned. Values read for one are in
    their ranges by the same claims: they were assigned before."""
    done: set[object] = set()
    while len(done) < len(memory.trusted):
        for key in [k for k in memory.trusted if k not in done]:
            done.add(key)
            f, component = key
            known, ends = memory.range_of(f, component), memory.ends_of(f, component)
            told = "" if known is None else f" from {known[0]} to {known[1]}"
            for site in walked.values:
                if site.func is f:
                    value = site.values[component]
                    parts = between(value, ends)
                    if known is not None:
                        low, high = (ir.const(end, f.types[component]) for end in known)
                        parts = [ir.less_equal(low, value), ir.less_equal(value, high), *parts]
                    text: Text = (f"stage {site.stage} gives values{told or ' between its ends'}",)
                    where = f.definitions[site.stage].location
                    context = site.context.holds(*site.reads.facts(site.read))
                    yield Claim(ClaimKind.VALUES, f.name, text, context, reduce(ir.conjunction, parts), where)
