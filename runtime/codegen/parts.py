"""Functions for what computes: gcc believes that pointers are restricted of parameters alone.

In: statements, and what they read from outside. Out: where a part begins, and the head of its function.

    const uint16_t *restrict in_data   ->   __attribute__((noinline)) int f_part_0(const uint16_t *restrict in_data)
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir.visitor import walk


def part_head(name: str, parameters: Sequence[tuple[str, str]]) -> str:
    """The head of a function that stays one."""
    given = [f"{'' if '*' in c_type else 'const '}{c_type} {of}" for c_type, of in parameters]
    return f"__attribute__((noinline)) int {name}({', '.join(given) or 'void'})"


def first_loop(stmts: Sequence[ir.Stmt]) -> int:
    """From where on statements compute; how many there are, if none does."""
    for i, stmt in enumerate(stmts):
        if isinstance(stmt, ir.For | ir.AllocateFlat):
            asks = any(isinstance(s, ir.AnswerQuery) for s in walk(ir.Block(tuple(stmts[i:]))))
            return len(stmts) if asks else i
    return len(stmts)
