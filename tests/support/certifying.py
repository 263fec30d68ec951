"""Compiles taken apart, so that tests can break them and see what the certificate says.

In: a Func. Out: its query, answers and filled tree; certificates of these, or of changed ones.

    parts = compiled(blur);  certified(parts, tree=broken).ok   ->   False
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

import halide_core as hl
from halide_core import ir
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Answer, Answers
from halide_core.bounds.query.query import Query
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.ir import ExprNode, Interval, Stmt
from halide_core.ir.visitor import Rewriter, subexpressions, walk
from halide_core.lowering.certify import certify_program
from halide_core.lowering.driver import CERTIFIED, LoweringTrace, lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.passes.layout_checks import check_layouts
from halide_core.run.backend import Argument, Box, Request
from halide_core.run.pipeline import _values, allocated
from tests.support.interpreted import settled


@dataclass(frozen=True)
class Parts:
    """The intermediate results of a compile."""

    request: Request
    arguments: tuple[Argument, ...]
    query: Query
    answers: Answers
    tree: Stmt


def compiled(func: hl.Func) -> Parts:
    """The parts of a compile."""
    request, trace = func._request(), LoweringTrace()
    lowered = lower(request, trace=trace)
    assert trace.query is not None and trace.answers is not None
    return Parts(request, lowered.arguments, trace.query, trace.answers, dict(trace.passes)[CERTIFIED])


def certified(parts: Parts, *, answers: Answers | None = None, tree: Stmt | None = None) -> PipelineCertificate:
    """The certificate of a compile, or of one whose answers or whose tree were changed."""
    found = answers or parts.answers
    if tree is None:
        tree = refilled(parts, answers) if answers else parts.tree
    return certify_program(parts.request.name, parts.query, found, tree)


def refilled(parts: Parts, answers: Answers) -> Stmt:
    """The tree with other answers."""
    program = parts.query.program
    return check_layouts(fill(program, answers), program.algorithm)


def runs_right(func: hl.Func, parts: Parts, tree: Stmt, windows: Sequence[Box]) -> bool:
    """True where a tree computes what the definitions say, in some windows, whatever the order of parallel loops."""
    values = _values(parts.request)
    output = parts.request.outputs[0]
    for window in windows:
        try:
            region = settled(tree, parts.arguments, values, window)
            outcome = interpret(tree, parts.arguments, values, [allocated(output, region)])
            found = outcome.result(0, window)
        except hl.HalideError:
            return False
        if not np.array_equal(found, np.asarray(func.evaluate(list(window)))):
            return False
    return True


# ---------------------------------------------------------------------------------------------------------
# Ways to break a compile.


def wrong_answers(answers: Answers) -> Iterator[tuple[str, Answers]]:
    """Each answer moved by one, and one shorter."""
    for i, a in enumerate(answers.holes):
        low, length = a.interval.min, a.interval.len
        for told, interval in (
            ("min + 1", Interval(ir.add(low, ir.ONE), length)),
            ("len - 1", Interval(low, ir.sub(length, ir.ONE))),
        ):
            changed = replace(a, interval=interval)
            holes: list[Answer] = [*answers.holes[:i], changed, *answers.holes[i + 1 :]]
            name = f"{a.kind.value} {a.func.name}.s{a.stage}.{a.dim}: {told}"
            yield name, Answers(holes, answers.regions, answers.checks)


Change = Callable[[Stmt], Stmt]


class _Replaced(Rewriter):
    """Replaces one statement, found by identity."""

    def __init__(self, old: Stmt, new: Stmt) -> None:
        super().__init__()
        self._old, self._new = old, new

    def stmt(self, stmt: Stmt) -> Stmt:
        """The statement, or what it is replaced by."""
        return self._new if stmt is self._old else super().stmt(stmt)


def replaced(tree: Stmt, old: Stmt, new: Stmt) -> Stmt:
    """A tree with one statement replaced."""
    return _Replaced(old, new).stmt(tree)


def _shifted(e: ExprNode) -> ExprNode:
    return ir.add(e, ir.ONE)


class _Access(Rewriter):
    """Moves one access by one in one dimension."""

    def __init__(self, target: ir.Access, dim: int) -> None:
        super().__init__()
        self._target, self._dim = target, dim

    def rewrite_Access(self, e: ir.Access) -> ExprNode:
        """The access, moved if it is the one."""
        args = [self.expr(a) for a in e.args]
        if e is self._target:
            args[self._dim] = _shifted(args[self._dim])
        return ir.Access(e.type, e.callee, tuple(args), e.component, e.stage)


def broken_trees(tree: Stmt) -> Iterator[tuple[str, Stmt]]:
    """Trees that differ from a given one by a small change that tends to be wrong."""
    for s in walk(tree):
        for told, new in _changes(s):
            yield told, replaced(tree, s, new)


def _changes(s: Stmt) -> Iterator[tuple[str, Stmt]]:
    match s:
        case ir.For(loop=loop, bounds=over):
            yield f"{loop} starts later", replace(s, bounds=Interval(_shifted(over.min), over.len))
            yield f"{loop} ends later", replace(s, bounds=Interval(over.min, _shifted(over.len)))
            yield f"{loop} ends earlier", replace(s, bounds=Interval(over.min, ir.sub(over.len, ir.ONE)))
            if not s.pure:
                yield f"{loop} is parallel", replace(s, kind=ir.LoopKind.PARALLEL)
        case ir.If(otherwise=None, then=then):
            yield f"without the guard {s.condition}", then
        case ir.Let(var=var, value=value, within=None):
            yield f"{var} is one more", replace(s, value=_shifted(value))
        case ir.Allocate(func=func, bounds=(first, *rest)):
            box = (Interval(_shifted(first.min), ir.sub(first.len, ir.ONE)), *rest)
            yield f"{func.name} has less memory", replace(s, bounds=box)
        case ir.Provide(func=func, args=(first, *rest)):
            yield f"{func.name} is written one further", replace(s, args=(_shifted(first), *rest))
            for e in [e for e in subexpressions(s.values) if isinstance(e, ir.Access)][:4]:
                moved = _Access(e, e.callee.dimensions - 1)
                yield f"{func.name} reads {e} one further", replace(s, values=tuple(map(moved.expr, s.values)))
        case ir.Assert():
            yield f"without the check {s.condition}", ir.NOTHING
        case ir.Label(stage=None, func=func):
            yield f"{func.name} is not computed", ir.NOTHING
        case ir.Block(stmts=stmts):
            for i, (a, b) in enumerate(pairwise(stmts)):
                if isinstance(a, ir.Label) and isinstance(b, ir.Label | ir.For | ir.Provide):
                    yield "two labels swapped", replace(s, stmts=(*stmts[:i], b, a, *stmts[i + 2 :]))
