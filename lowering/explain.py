"""What the compiler did, for people: T₀, each directive's effect, the query, the answers, the loops.

In: a Request. Out: text, the same in every process.
"""

from __future__ import annotations

import difflib

from bounds.oracle import Answer, Answers
from bounds.query import format_query
from halide_core.algorithm import Function
from halide_core.backend import Request
from halide_core.ir import Block, For, Hole, If, Interval, IntImm, Label, LoopKind, Provide, Stmt
from halide_core.printer import format_expr, format_interval, format_stmt, hole_name
from halide_core.program import Program, assemble, hole
from lowering.driver import Trace, lower, schedule


def explain(request: Request) -> str:
    """The whole story of one compile.

    Raises: ScheduleError, BoundsError.
    """
    trace = Trace()
    lowered = lower(request, trace=trace)
    assert trace.initial is not None and trace.query is not None and trace.answers is not None
    sections = [("T0: the algorithm, lowered with holes", format_stmt(assemble(trace.initial)))]
    before = assemble(trace.initial)
    for i, step in enumerate(trace.steps, 1):
        after = assemble(step.program)
        sections.append((f"T{i}: {step.told}", _changes(before, after)))
        before = after
    sections.append(("The bounds query", format_query(trace.query)))
    sections.append(("The answers", _answers(trace.answers)))
    sections.append(("The program", format_stmt(lowered.body)))
    return "\n\n".join(f"== {title}\n{text}" for title, text in sections) + "\n"


def _changes(before: Stmt, after: Stmt) -> str:
    """The lines that a directive changed, with one line around each."""
    old, new = format_stmt(before).splitlines(), format_stmt(after).splitlines()
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    kept = [line for line in lines if not line.startswith("@@")]
    return "\n".join(kept) if kept else "(the tree is the same)"


def _answers(answers: Answers) -> str:
    lines = [_answer(a) for a in answers.holes]
    for callee, box in answers.regions.items():
        role = "output" if isinstance(callee, Function) else "input"
        region = ", ".join(map(format_interval, box))
        lines.append(f"{role} {callee.name} needs ({region})")
    return "\n".join(lines)


def _answer(a: Answer) -> str:
    holes = hole(a.kind, a.func, a.stage, a.dim)
    where = "at the root" if a.level is None else f"inside {a.level}"
    assert isinstance(holes.min, Hole)
    return f"{hole_name(holes.min)} = {format_interval(a.interval)}  {where}; from {a.origin}"


def loop_nest(request: Request) -> str:
    """The loops in the order in which they run, with what is stored, produced and consumed where.

    Raises: ScheduleError.
    """
    trace = Trace()
    program = schedule(request, trace)
    return "\n".join(_nest_lines(program, assemble(program), 0)) + "\n"


_VERBS = {
    LoopKind.SERIAL: "for",
    LoopKind.PARALLEL: "parallel",
    LoopKind.VECTORIZED: "vectorized",
    LoopKind.UNROLLED: "unrolled",
}


def _nest_lines(program: Program, stmt: Stmt, depth: int) -> list[str]:
    pad = "  " * depth
    match stmt:
        case Block(stmts=stmts):
            return [line for s in stmts for line in _nest_lines(program, s, depth)]
        case Label(func=func, stage=None, body=body):
            stored = program.stored[func] if isinstance(func, Function) else None
            computed = program.computed[func] if isinstance(func, Function) else None
            apart = "" if stored == computed else f" (stored {'at the root' if stored is None else f'inside {stored}'})"
            return [f"{pad}produce {func.name}{apart}:", *_nest_lines(program, body, depth + 1)]
        case Label(body=body):
            return _nest_lines(program, body, depth)
        case For(loop=loop, bounds=bounds, kind=kind, body=body):
            return [f"{pad}{_VERBS[kind]} {loop.var}{_extent(bounds)}:", *_nest_lines(program, body, depth + 1)]
        case If(then=then, otherwise=None):
            return _nest_lines(program, then, depth)
        case If(condition=condition, then=then, otherwise=otherwise):
            assert otherwise is not None
            lines = [f"{pad}if {format_expr(condition)}:", *_nest_lines(program, then, depth + 1)]
            return [*lines, f"{pad}else:", *_nest_lines(program, otherwise, depth + 1)]
        case Provide(func=func, args=args):
            return [f"{pad}{func.name}({', '.join('...' for _ in args)}) = ..."]
    return []


def _extent(bounds: Interval) -> str:
    if isinstance(bounds.min, IntImm) and isinstance(bounds.len, IntImm):
        return f" in [{bounds.min.value}, {bounds.min.value + bounds.len.value - 1}]"
    return ""


