"""Loop-invariant lets and guards leave their loops.

In: a tree in which a stage's lets and guards stand innermost, where splitting puts them. Out: each as far out as the
variables that it mentions allow, so that a row is tested once, not once a pixel.

    for y: for x: let v = y + 1; if v < n: s     ->     for y: let v = y + 1; if v < n: for x: s
"""

from __future__ import annotations

from halide_core.ir import Access, Block, ExprNode, For, If, Let, Stmt, Variable
from halide_core.ir.visitor import Rewriter, free_variables, has


def hoist_invariants(stmt: Stmt) -> Stmt:
    """Moves lets and guards outwards, inner loops first."""
    return _LetHoist().stmt(stmt)


class _LetHoist(Rewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """Splits what leads the body into what moves out and what stays."""
        body = self.stmt(loop.body)
        leading, rest = _chain(body)
        stuck: set[Variable] = {loop.var}
        moved: list[Let | ExprNode] = []
        kept: list[Let | ExprNode] = []
        for step in leading:
            value = step.value if isinstance(step, Let) else step
            if free_variables(value).isdisjoint(stuck) and not _reads_memory(value):
                moved.append(step)
            else:
                kept.append(step)
                if isinstance(step, Let):
                    stuck.add(step.var)
        if not moved:
            return loop if body is loop.body else _with_body(loop, body)
        return _wrapped(moved, _with_body(loop, _wrapped(kept, rest)))


def _reads_memory(e: ExprNode) -> bool:
    """True where a value comes from memory. The loop may write it; and where the loop runs not once, nothing says that
    it may be read."""
    return has(e, Access)


def _with_body(loop: For, body: Stmt) -> For:
    return For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)


def _chain(body: Stmt) -> tuple[list[Let | ExprNode], Stmt]:
    """The lets and guards at the head of a body, and what they lead to."""
    leading: list[Let | ExprNode] = []
    while True:
        if isinstance(body, If) and body.otherwise is None:
            leading.append(body.condition)
            body = body.then
            continue
        if isinstance(body, Block) and body.stmts and isinstance(body.stmts[0], Let):
            stmts = body.stmts
            count = 0
            while count < len(stmts) and isinstance(stmts[count], Let):
                leading.append(stmts[count])  # type: ignore[arg-type]  # the loop's test says it is a Let
                count += 1
            rest = stmts[count:]
            body = rest[0] if len(rest) == 1 else Block(rest)
            continue
        return leading, body


def _wrapped(steps: list[Let | ExprNode], body: Stmt) -> Stmt:
    """The steps in order around a body."""
    pending: list[Stmt] = []
    for step in reversed(steps):
        if isinstance(step, Let):
            pending.insert(0, step)
        else:
            body = If(step, Block((*pending, body)) if pending else body, None)
            pending = []
    return Block((*pending, body)) if pending else body
