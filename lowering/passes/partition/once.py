"""Innermost loops that run once or not at all become a condition: what is left behind the whole vectors of a row.

In: a flat tree. Out: one of the same values. A C compiler steps every address of a loop along with it, and has few
registers for that where one loop follows another.

    for x in (n/16, (n + 15)/16 - n/16): s   ->   if 0 < (n + 15)/16 - n/16: let x = n/16; s
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.ir import Block, ExprNode, For, If, IntImm, Let, Stmt, Variable
from halide_core.ir.visitor import free_variables, stmt_exprs, substitute, walk
from halide_core.lowering.passes.around import Around, AroundRewriter
from halide_core.lowering.passes.loop_shapes import is_innermost


def run_once(stmt: Stmt) -> Stmt:
    """See the module's docstring."""
    return _Once().stmt(stmt)


class _Once(AroundRewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """A condition, where the loop is proven to run at most once."""
        if not is_innermost(loop):
            with self._in(loop):
                return self.inside(loop)
        start, length = loop.bounds.min, loop.bounds.len  # where a steady part ends is the variable of a let
        if isinstance(length, IntImm):
            return loop
        known = _written_out(length, start, self._around)
        if not Facts().proves_le(known, ir.ONE):
            return loop
        used = any(loop.var in free_variables(e) for s in walk(loop.body) for e in stmt_exprs(s))
        body = Block((Let(loop.var, start, None), loop.body)) if used else loop.body
        return If(ir.less(ir.ZERO, length), body, None)


def _written_out(e: ExprNode, start: ExprNode, around: Around) -> ExprNode:
    """An expression with the value of a let in place of its variable, if all that this is made of means the same here
    as there."""
    let = around.definition(start) if isinstance(start, Variable) else None
    if let is None or any(let[0].definition(var) != around.definition(var) for var in free_variables(let[1])):
        return e
    return substitute(e, {start: let[1]})
