"""Functions for what computes: gcc believes that pointers are restricted of parameters alone.

In: statements, and what they read from outside. Out: where a part begins, and the head of its function; a loop's end,
and whether it asks if the run is to end.

    const uint16_t *restrict in_data   ->   __attribute__((noinline)) int f_part_0(const uint16_t *restrict in_data)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from halide_core import ir
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.passes.loop_shapes import is_over_parts, is_plain

_SHORT = 1024
"""Iterations that are over before anybody waits."""


def part_head(name: str, parameters: Sequence[tuple[str, str]], stmt: ir.Stmt) -> str:
    """The head of a function that stays one, for some statements. Where these wait for another thread, memory is not
    theirs alone: to clang a call changes nothing that a restricted parameter points to."""
    waits = any(isinstance(s, ir.Acquire | ir.Release) for s in walk(stmt))
    types = [(c_type.removesuffix("restrict") if waits else c_type, of) for c_type, of in parameters]
    given = [f"{'' if '*' in c_type else 'const '}{c_type} {of}" for c_type, of in types]
    told = "noinline UNMERGED" if chooses_floats(stmt) else "noinline"
    return f"__attribute__(({told})) int {name}({', '.join(given) or 'void'})"


def chooses_floats(stmt: ir.Stmt) -> bool:
    """True where a loop that a C compiler may make vectors of takes a minimum, a maximum or one of two floats, or makes
    a number of one."""
    loops = (s for s in walk(stmt) if isinstance(s, ir.For) and is_plain(s))
    inside = (e for loop in loops for s in walk(loop.body) for e in subexpressions(stmt_exprs(s)))
    return any(map(_is_choice, inside))


def _is_choice(e: ir.ExprNode) -> bool:
    if e.type.lanes() > 1:
        return False
    match e:
        case ir.Binary(op=ir.BinaryOp.MIN | ir.BinaryOp.MAX) | ir.Select():
            return e.type.is_float()
        case ir.Cast(a=a):
            return a.type.is_float() and not e.type.is_float()
    return False


def checks_first(stmts: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """Statements with what is allocated behind the checks that follow it: they are of arguments, and read no memory."""
    found: list[ir.Stmt] = []
    waiting: list[ir.Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, ir.AllocateFlat):
            waiting.append(stmt)
        elif all(isinstance(s, _CHECKING) for s in walk(stmt)):
            found.append(stmt)
        else:
            found += [*waiting, stmt]
            waiting.clear()
    return (*found, *waiting)


_CHECKING = ir.AnswerQuery | ir.Assert | ir.Block | ir.If | ir.Let


def first_loop(stmts: Sequence[ir.Stmt]) -> int:
    """From where on statements compute; how many there are, if none does."""
    computing = (i for i, stmt in enumerate(stmts) if isinstance(stmt, _COMPUTING))
    return next(computing, len(stmts))


_COMPUTING = ir.For | ir.AllocateFlat | ir.Store | ir.Stores


def end_of(bounds: ir.Interval) -> ir.ExprNode:
    """Where a loop ends."""
    match bounds:
        case ir.Interval(min=ir.IntImm(value=low), len=ir.IntImm(value=length)):
            return ir.i64(low + length)
        case ir.Interval(min=low, len=ir.Binary(op=ir.BinaryOp.SUB, a=end, b=start)) if start is low:
            return end
    return bounds.len if bounds.min is ir.ZERO else ir.add(bounds.min, bounds.len)


def looks_up(loop: ir.For, *, outer: bool) -> bool:
    """True where each iteration of a serial loop asks if the run is to end.

    It does where an iteration is no short time: in loops of reductions, and in the pipeline's outer ones over at least
    two more. Rows of points, and the loops of tasks, between which is asked too, are left alone: with one more exit
    from such a loop gcc's code takes up to 1.6 times as long. A loop over another's parts is none of the program's.
    """
    inside = [s for s in walk(loop.body) if isinstance(s, ir.For) and not is_over_parts(s)]
    reduces = not (loop.pure and all(s.pure for s in inside))
    deep = any(isinstance(s, ir.For) for each in inside for s in walk(each.body))
    if is_over_parts(loop) or not (reduces or (deep and outer)):
        return False
    known = [s.bounds.len.value for s in inside if isinstance(s.bounds.len, ir.IntImm)]
    return bool(inside) and (len(known) < len(inside) or prod(known) >= _SHORT)
