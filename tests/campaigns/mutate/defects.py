"""Wrong versions of a compiled program: what a wrong compiler could have made of it, one change each.

In: a tree after bounds inference. Out: trees, each with what was done to it. Most must not be certified.

    for x in (0, n): f[x] = g[x + 1]   ->   for x in (0, n + 1): …;  for x in (1, n): …;  f[x + 1] = …;  g[x + 2]; …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from halide_core import ir
from halide_core.ir import Access, Allocate, Assert, Block, ExprNode, For, If, Interval, Label, LoopKind, Provide, Stmt
from halide_core.ir.visitor import Rewriter, walk

Defect = tuple[str, Stmt]


def defects(tree: Stmt) -> Iterator[Defect]:
    """Every wrong version."""
    for target in walk(tree):
        for told, changed in _changes(target):
            yield told, _At(target, lambda _, changed=changed: changed).stmt(tree)  # type: ignore[misc]


class _At(Rewriter):
    """One statement changed; what is inside it is part of the change."""

    def __init__(self, target: Stmt, change: Callable[[Stmt], Stmt]) -> None:
        super().__init__()
        self._target = target
        self._change = change

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def stmt(self, stmt: Stmt) -> Stmt:
        """The statement, changed if it is the one."""
        return self._change(stmt) if stmt is self._target else super().stmt(stmt)


def _changes(stmt: Stmt) -> Iterator[Defect]:
    match stmt:
        case For(loop=loop, bounds=bounds, kind=kind):
            for told, over in _intervals(bounds):
                yield f"loop {loop} {told}", replace(stmt, bounds=over)
            if kind is LoopKind.SERIAL:
                yield f"loop {loop} in parallel", replace(stmt, kind=LoopKind.PARALLEL)
        case Allocate(func=func, bounds=box):
            for d, bounds in enumerate(box):
                for told, over in _intervals(bounds):
                    yield f"memory of {func.name} {told} in {d}", Allocate(func, (*box[:d], over, *box[d + 1 :]))
        case Assert(failure=failure):
            yield f"no check of {failure.value}", ir.NOTHING
        case If(then=then, otherwise=None):
            yield "no guard", then
        case Block(stmts=stmts):
            for i, (first, second) in enumerate(pairwise(stmts)):
                if isinstance(first, Label) and isinstance(second, Label):
                    yield f"{second.func.name} first", Block((*stmts[:i], second, first, *stmts[i + 2 :]))
        case Provide(func=func, args=args, values=values):
            for d, a in enumerate(args):
                moved = (*args[:d], ir.add(a, ir.ONE), *args[d + 1 :])
                yield f"{func.name} written beside, in {d}", replace(stmt, args=moved)
            for by in (ir.ONE, ir.i64(-1)):
                beside = _Beside(by)
                yield f"{func.name} from values beside", replace(stmt, values=tuple(map(beside.expr, values)))


def _intervals(over: Interval) -> Iterator[tuple[str, Interval]]:
    yield "longer", Interval(over.min, ir.add(over.len, ir.ONE))
    yield "shorter", Interval(over.min, ir.sub(over.len, ir.ONE))
    yield "later", Interval(ir.add(over.min, ir.ONE), over.len)


class _Beside(Rewriter):
    """Reads at points that are off by one in the first dimension."""

    def __init__(self, by: ExprNode) -> None:
        super().__init__()
        self._by = by

    def rewrite_Access(self, e: Access) -> ExprNode:
        """The point beside."""
        args = tuple(map(self.expr, e.args))
        moved = (ir.add(args[0], self._by), *args[1:]) if args else args
        return Access(e.type, e.callee, moved, e.component, e.stage)
