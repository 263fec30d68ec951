"""Explanations for people: T₀, each directive's effect, the query, the answers, the loops; and why one loop,
allocation or input has the bounds that it has.

In: a Request, and a Question or none. Out: an Explanation, the same in every process.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from halide_core.algorithm.model import Function
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.registry import chosen_engine
from halide_core.bounds.explain.provenance import Reasons
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answer, Answers, Slide
from halide_core.bounds.query.conjuncts import format_query
from halide_core.bounds.query.query import Define, Query
from halide_core.debug import deep_recursion
from halide_core.errors import BoundsError, PipelineError, ScheduleError
from halide_core.ir import (
    AllocateFlat,
    Block,
    Callee,
    ExprNode,
    For,
    Hole,
    If,
    Interval,
    IntImm,
    Label,
    LoopKind,
    Provide,
    Stmt,
)
from halide_core.ir.brief import brief_interval
from halide_core.ir.printer import dim_name, format_expr, format_stmt, hole_name
from halide_core.ir.visitor import Closing, free_variables, walk
from halide_core.loop_nest import Loop, Program, StageKey, assemble, cpu_box, hole, is_async, path_to
from halide_core.lowering.driver import LoweringTrace, lower, lower_scheduled, schedule
from halide_core.lowering.proven_steps import fill_proven
from halide_core.lowering.report.explanation import Formula, PipelineExplanation, chain_text, where
from halide_core.run.backend import Question, Request, Topic
from halide_core.scheduling.sliding import Obstacle, obstacles


def explain(request: Request, question: Question | None = None) -> PipelineExplanation:
    """The whole story of one compile, or the answer to one question about it.

    Raises: ScheduleError, BoundsError; PipelineError where nothing has the name asked for, with those there are.
    """
    trace = LoweringTrace()
    lowered = lower(request, trace=trace)
    assert trace.query is not None and trace.answers is not None
    reasons = Reasons(trace.query, trace.answers)
    if question is not None:
        return _answered(question, reasons, trace)
    text = _story(trace, lowered.body)
    return PipelineExplanation(f"The bounds of {request.name}", text, reasons, tuple(reasons.all()))


def _story(trace: LoweringTrace, body: Stmt) -> str:
    assert trace.initial is not None and trace.query is not None and trace.answers is not None
    before = assemble(trace.initial)
    sections = [("T0: the algorithm, lowered with holes", format_stmt(before))]
    for i, step in enumerate(trace.steps, 1):
        after = assemble(step.program)
        sections.append((f"T{i}: {step.told}", _changes(before, after)))
        before = after
    sections.append(("The bounds query", format_query(trace.query)))
    sections.append(("The answers", _answers(trace.query, trace.answers)))
    sections.append(("The program", format_stmt(body)))
    return "\n\n".join(f"== {title}\n{text}" for title, text in sections) + "\n"


# ---------------------------------------------------------------------------------------------------------
# One question.


def _answered(question: Question, reasons: Reasons, trace: LoweringTrace) -> PipelineExplanation:
    assert trace.query is not None
    program = trace.query.program
    match question.topic:
        case Topic.LOOP:
            return _of_loop(question, reasons, trace, program)
        case Topic.ALLOCATION:
            outputs = program.algorithm.outputs
            callee = _named(question, [f for f in program.algorithm.functions if f not in outputs])
        case Topic.INPUT:
            callee = _named(question, program.algorithm.images)
    chain = reasons.chain(reasons.memory(callee))
    title = f"The {question.topic.value} {callee.name}"
    return PipelineExplanation(title, chain_text(chain) + "\n", reasons, tuple(r.bound for r in chain))


def _named(question: Question, callees: Sequence[Callee]) -> Callee:
    for callee in callees:
        if callee.name == question.name:
            return callee
    raise _no_such(question, [c.name for c in callees])


def _no_such(question: Question, choices: Iterable[str], found: str = "no") -> PipelineError:
    topic = question.topic.value
    legal = ", ".join(f'{topic}="{c}"' for c in dict.fromkeys(choices))
    there = f"The choices: {legal}." if legal else f"It has no {topic}s."
    return PipelineError(f'The pipeline has {found} {topic} "{question.name}". {there}')


def _of_loop(question: Question, reasons: Reasons, trace: LoweringTrace, program: Program) -> PipelineExplanation:
    loops = [(key, loop) for key, nest in program.nests.items() for loop in nest.loops]
    found = [(key, loop) for key, loop in loops if question.name in _spellings(loop)]
    if len(found) != 1:
        how_many = "more than one" if found else "no"
        raise _no_such(question, [str(loop.name) for _, loop in found or loops], how_many)
    ((key, loop),) = found
    closed = reasons.closed_interval(loop.bounds)
    lines = [f"{_VERBS[loop.kind]} {loop.name} in {brief_interval(loop.bounds)}"]
    if closed != loop.bounds:
        lines.append(f"    that is {brief_interval(closed)}")
    lines += [f"    {told}" for told in _made_by(trace, key, loop)]
    chain = reasons.chain(list(reasons.holes_in([loop.bounds.min, loop.bounds.len])))
    text = "\n".join([*lines, *([chain_text(chain)] if chain else [])]) + "\n"
    formula = Formula(f"loop {loop.name}", closed)
    return PipelineExplanation(f"The loop {loop.name}", text, reasons, tuple(r.bound for r in chain), (formula,))


def _spellings(loop: Loop) -> tuple[str, ...]:
    """The names of a loop: ``by.s0.x``, ``by.x``, ``x``."""
    return (str(loop.name), f"{loop.name.func}.{loop.name.var}", loop.name.var)


def _made_by(trace: LoweringTrace, key: StageKey, loop: Loop) -> list[str]:
    """The directives that made a loop what it is; an earlier loop of the name is part of its story."""
    assert trace.initial is not None
    told: list[str] = []
    before = _loop_of(trace.initial, key, loop)
    if before is not None:
        told.append(f"a {'pure' if before.pure else 'reduction'} loop of the definition")
    for step in trace.steps:
        now = _loop_of(step.program, key, loop)
        if now is not before:
            told.append(f"{'then' if told else 'made by'} {step.told}")
        before = now
    return told


def _loop_of(program: Program, key: StageKey, loop: Loop) -> Loop | None:
    nest = program.nests.get(key)  # none before the stage is specialized
    return None if nest is None else next((each for each in nest.loops if each.name == loop.name), None)


# ---------------------------------------------------------------------------------------------------------
# The whole story.


def _changes(before: Stmt, after: Stmt) -> str:
    """The lines that a directive changed, with one line around each."""
    old, new = format_stmt(before).splitlines(), format_stmt(after).splitlines()
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    kept = [line for line in lines if not line.startswith("@@")]
    return "\n".join(kept) if kept else "(the tree is the same)"


def _answers(query: Query, answers: Answers) -> str:
    lines = [_answer(a) for a in answers.holes]
    for func in query.program.algorithm.functions:
        lines += [f"{func.name}: {o.told}" for o in _of_sliding(query, answers, func) if isinstance(o, Obstacle)]
    for func, folds in answers.folds.items():
        slots = " and ".join(f"{dim_name(func, d)} by {format_expr(k)}" for d, k in folds.items())
        lines.append(f"{func.name} folds {slots}")
    for func, lead in answers.ahead.items():
        far = "any number of" if lead.count is None else lead.count
        lines.append(f"{func.name} may be ahead of what reads it by {far} iterations")
    for callee, box in answers.regions.items():
        role = "output" if isinstance(callee, Function) else "input"
        region = ", ".join(map(brief_interval, box))
        lines.append(f"{role} {callee.name} needs ({region})")
    return "\n".join(lines)


def _answer(a: Answer) -> str:
    holes = hole(a.kind, a.func, a.stage, a.dim)
    assert isinstance(holes.min, Hole)
    return f"{hole_name(holes.min)} = {brief_interval(a.interval)}  {where(a.level)}; from {a.origin}"


def loop_nest(request: Request) -> str:
    """The loops in the order in which they run, with what is stored, produced and consumed where, what slides,
    and what lives in the memory of a Func that is dead.

    Raises: ScheduleError; BoundsError, where a Func might slide.
    """
    program = schedule(request, LoweringTrace())
    slides: dict[Callee, list[str]] = {}
    if program.sliding or any(obstacles(program, f) for f in program.algorithm.functions):
        with deep_recursion():
            query, answers, _ = fill_proven(program, oracle_of(chosen_engine()))
            for f in program.algorithm.functions:
                slides[f] = [each.told for each in _of_sliding(query, answers, f)]
                if f in query.unproven and not slides[f]:
                    slides[f] = [f"it does not fold: {query.unproven[f]}"]
    for f, other in _shared_memory(request, program).items():
        slides[f] = [*slides.get(f, ()), f'in the memory of "{other.name}", which is dead']
    return "\n".join(_nest_lines(program, slides, assemble(program), 0)) + "\n"


def _shared_memory(request: Request, program: Program) -> dict[Function, Function]:
    """The Funcs that live in the memory of another one; none where the pipeline can't be lowered."""
    apart = [f for f in program.algorithm.functions if f not in program.algorithm.outputs]
    if len({program.stored[f] for f in apart}) == len(apart):  # no two in one block
        return {}
    try:
        body = lower_scheduled(request, program, LoweringTrace()).body
    except (ScheduleError, BoundsError):
        return {}
    owners = {f.component_name(k): f for f in apart for k in range(len(f.types))}
    within = {s.buffer: s.within for s in walk(body) if isinstance(s, AllocateFlat) and s.within is not None}
    return {owners[a]: owners[b] for a, b in within.items() if a in owners and b in owners}


def _of_sliding(query: Query, answers: Answers, func: Function) -> list[Slide | Obstacle]:
    """Of each dimension of a Func that moves, the loop that it slides along, or why it does not; of each that is in the
    way, where none moves, so that any one would do."""
    found: list[Slide | Obstacle] = [s for s in answers.slides if s.func is func]
    found += obstacles(query.program, func)
    moving = _moving(query, answers, func) if found else []
    told = [each for each in found if each.dim in moving or (isinstance(each, Slide) and each.loop is not None)]
    return sorted(told or found, key=lambda each: each.dim)


def _moving(query: Query, answers: Answers, func: Function) -> list[int]:
    """The dimensions of which an iteration of the loops between a Func's memory and what computes it may need other
    points than another."""
    program = query.program
    computed, stored = program.computed[func], program.stored[func]
    loops = path_to(program, computed)[len(path_to(program, stored)) :]
    binders = query.scope(computed).up_to(query.scope(stored))
    values: dict[ExprNode, ExprNode] = {b.var: b.value for b in binders if isinstance(b, Define)}
    inside = {loop.name for loop in loops}
    for a in answers.holes:
        if a.level in inside:
            holes = hole(a.kind, a.func, a.stage, a.dim)
            values[holes.min], values[holes.len] = a.interval.min, a.interval.len
    closing, variables = Closing(values), {loop.var for loop in loops}
    needed = [[simplify(closing.expr(end)) for end in (i.min, i.len)] for i in cpu_box(func, len(func.definitions) - 1)]
    return [d for d, ends in enumerate(needed) if any(free_variables(end) & variables for end in ends)]


_VERBS = {
    LoopKind.SERIAL: "for",
    LoopKind.PARALLEL: "parallel",
    LoopKind.VECTORIZED: "vectorized",
    LoopKind.UNROLLED: "unrolled",
    LoopKind.AT_ONCE: "at once",
}


def _nest_lines(program: Program, slides: Mapping[Callee, Sequence[str]], stmt: Stmt, depth: int) -> list[str]:
    pad = "  " * depth
    match stmt:
        case Block(stmts=stmts):
            return [line for s in stmts for line in _nest_lines(program, slides, s, depth)]
        case Label(func=func, stage=None, body=body):
            stored = program.stored[func] if isinstance(func, Function) else None
            computed = program.computed[func] if isinstance(func, Function) else None
            apart = "" if stored == computed else f" (stored {'at the root' if stored is None else f'inside {stored}'})"
            own = " (async)" if isinstance(func, Function) and is_async(func) else ""
            head = [f"{pad}produce {func.name}{apart}{own}:", *(f"{pad}  ({told})" for told in slides.get(func, ()))]
            return [*head, *_nest_lines(program, slides, body, depth + 1)]
        case Label(body=body):
            return _nest_lines(program, slides, body, depth)
        case For(loop=loop, bounds=bounds, kind=kind, body=body):
            head = [f"{pad}{_VERBS[kind]} {loop.var}{_extent(bounds)}:"]
            return [*head, *_nest_lines(program, slides, body, depth + 1)]
        case If(then=then, otherwise=None):
            return _nest_lines(program, slides, then, depth)
        case If(condition=condition, then=then, otherwise=otherwise):
            assert otherwise is not None
            lines = [f"{pad}if {format_expr(condition)}:", *_nest_lines(program, slides, then, depth + 1)]
            return [*lines, f"{pad}else:", *_nest_lines(program, slides, otherwise, depth + 1)]
        case Provide(func=func, args=args):
            return [f"{pad}{func.name}({', '.join('...' for _ in args)}) = ..."]
    return []


def _extent(bounds: Interval) -> str:
    if isinstance(bounds.min, IntImm) and isinstance(bounds.len, IntImm):
        return f" in [{bounds.min.value}, {bounds.min.value + bounds.len.value - 1}]"
    return ""
