"""Coverage of a case: directives, tail strategies, node types, operators, as the compiler met them.

In: the Funcs of a case and the trace of its lowering. Out: names by group, to be counted.

    covered(functions, trace)   ->   {(Group.DIRECTIVE, "Split"), (Group.TAIL, "GuardWithIf"), (Group.NODE, "Ramp"), …}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.debug import deep_recursion
from halide_core.ir import ExprNode, Stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.loop_nest import assemble
from halide_core.lowering.driver import LoweringTrace
from halide_core.schedule.directives import Split
from tests.campaigns.fuzz.case import Program


class Group(Enum):
    """The groups of features."""

    DIRECTIVE = "directives"
    METHOD = "methods of the schedule"
    TAIL = "tail strategies"
    NODE = "node types"
    OPERATOR = "binary operators"
    FUNCTION = "intrinsics"
    TRAVERSAL = "loop kinds"
    TYPE = "types"
    SHAPE = "shapes of programs"


Feature = tuple[Group, str]

OUTLIVES, SLIDES = (Group.SHAPE, "memory that outlives a loop"), (Group.SHAPE, "slides")
"""The features that ``--sliding`` counts."""

REUSES = (Group.SHAPE, "memory of a dead Func")
"""The feature of a program two of whose Funcs live in the same memory."""


def covered(case: Program, functions: Sequence[Function], trace: LoweringTrace) -> frozenset[Feature]:
    """Everything that a case exercised."""
    found: dict[Feature, None] = {(Group.SHAPE, tag): None for tag in case.tags}
    found |= {(Group.METHOD, method): None for method in case.methods}
    exprs: list[ExprNode] = []
    defined = [e for f in functions for definition in f.definitions for e in definition.exprs()]
    for f in (*functions, *_input_wrappers(defined)):
        for d in f.directives:
            found[Group.DIRECTIVE, type(d).__name__] = None
            if isinstance(d, Split):
                found[Group.TAIL, d.tail.name] = None
            exprs += d.exprs()
        found |= {(Group.TYPE, str(t)): None for t in f.types}
    exprs += defined
    slides = trace.answers.slides if trace.answers is not None else []
    found |= {OUTLIVES: None} if slides else {}
    found |= {SLIDES: None} if any(slide.loop is not None for slide in slides) else {}
    seen: set[Stmt] = set()
    with deep_recursion():
        for tree in _trees(trace):
            if tree not in seen:
                seen.add(tree)
                exprs += _statements(tree, found)
        _expressions(exprs, found)
    return frozenset(found)


def _input_wrappers(exprs: Iterable[ExprNode]) -> Iterable[Function]:
    """The Funcs of inputs' values, which no definition names: ``in_`` puts them into the program."""
    images = {e.callee: None for e in subexpressions(exprs) if isinstance(e, ir.Access) and isinstance(e.callee, Image)}
    return [wrapper for image in images for wrapper in image.wrappers]


def _trees(trace: LoweringTrace) -> Iterable[Stmt]:
    if trace.steps:
        yield assemble(trace.steps[-1].program)
    elif trace.initial is not None:
        yield assemble(trace.initial)
    for _, stmt in trace.passes:
        yield stmt


def _statements(tree: Stmt, found: dict[Feature, None]) -> list[ExprNode]:
    exprs: list[ExprNode] = []
    for stmt in walk(tree):
        found[Group.NODE, type(stmt).__name__] = None
        if isinstance(stmt, ir.AllocateFlat) and stmt.within is not None:
            found[REUSES] = None
        if isinstance(stmt, ir.For):
            found[Group.TRAVERSAL, stmt.kind.name] = None
        exprs += stmt_exprs(stmt)
    return exprs


def _expressions(exprs: Iterable[ExprNode], found: dict[Feature, None]) -> None:
    for e in subexpressions(exprs):
        found[Group.NODE, type(e).__name__] = None
        if isinstance(e, ir.Binary):
            found[Group.OPERATOR, e.op.name] = None
        elif isinstance(e, ir.Call):
            found[Group.FUNCTION, e.function.name] = None
