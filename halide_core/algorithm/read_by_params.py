"""The extern stages that a run reads: what its Params rule out is not computed.

In: the Funcs of a segment. Out: by the Params of a run, the images of extern stages that it reads.

    o[x] = select(p, e[x], 3)   ->   e where p is true, else nothing

A segment is compiled once, for all Params, so that it gets memory for what it does not read. It may compute with what
is there, and drops that. So only what a select gives counts as read under its condition: never an index, which must be
right to be read with, wherever it stands. Where anything is shown to people, all is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, ScalarParam, realization_order
from halide_core.ir.visitor import parts, subexpressions
from halide_core.schedule.directives import DebugToFile, Trace

Condition = tuple[ir.ExprNode, bool]
"""A truth value of Params, and what it must be."""
Holds = Callable[[ir.ExprNode], bool]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentReads:
    """The callees that are read, by Func, and the conditions for that."""

    roots: frozenset[ir.Callee]
    edges: Mapping[ir.Callee, Sequence[tuple[ir.Callee, tuple[Condition, ...]]]]

    def needed(self, holds: Holds) -> set[ir.Callee]:
        """All that is read where Params have the values that ``holds`` knows."""
        found, left = set(self.roots), list(self.roots)
        while left:
            for callee, under in self.edges.get(left.pop(), ()):
                if callee not in found and all(holds(test) == wanted for test, wanted in under):
                    found.add(callee)
                    left.append(callee)
        return found


def segment_reads(outputs: Sequence[Function]) -> SegmentReads | None:
    """The reads of a segment; None where it reads the same in every run, or that is not known."""
    order = realization_order(outputs)
    if any(f.extern is not None or is_shown(f) or any(d.partial for d in f.definitions) for f in order):
        return None
    edges: dict[ir.Callee, list[tuple[ir.Callee, tuple[Condition, ...]]]] = {
        f: [each for d in f.definitions for each in _reads(d)] for f in order
    }
    if not any(under for found in edges.values() for _, under in found):
        return None
    return SegmentReads(frozenset([*outputs, *_placing(d for f in order for d in f.definitions)]), edges)


def is_shown(f: Function) -> bool:
    """True where people see a Func's values, those that nobody reads, too."""
    return any(isinstance(d, DebugToFile | Trace) for d in f.directives)


def _placing(definitions: Iterable[Definition]) -> Iterable[ir.Callee]:
    """The callees that decide where there is reading or writing, or are shown."""
    for d in definitions:
        values = [*subexpressions(d.values)]
        shown = [e for e in values if isinstance(e, ir.Print)]
        yield from _accessed([*_beside(d), *(i for e in values if isinstance(e, ir.Access) for i in e.args), *shown])


def _accessed(roots: Iterable[ir.ExprNode]) -> list[ir.Callee]:
    return [e.callee for e in subexpressions([*roots]) if isinstance(e, ir.Access)]


def _beside(d: Definition) -> list[ir.ExprNode]:
    """The expressions of a stage that are no values; bounds of its domain read no Func."""
    return [*d.args, *d.conditions()]


def _reads(d: Definition) -> list[tuple[ir.Callee, tuple[Condition, ...]]]:
    found: list[tuple[ir.Callee, tuple[Condition, ...]]] = [(c, ()) for c in _accessed(_beside(d))]
    left: list[tuple[ir.ExprNode, tuple[Condition, ...]]] = [(v, ()) for v in d.values]
    while left:
        e, under = left.pop()
        if isinstance(e, ir.Access):
            found.append((e.callee, under))
        if isinstance(e, ir.Select) and _is_of_params(e.condition):
            left += [(e.a, (*under, (e.condition, True))), (e.b, (*under, (e.condition, False)))]
        else:
            left += [(each, under) for each in parts(e)]
    return found


def _is_of_params(test: ir.ExprNode) -> bool:
    """True where Params alone decide."""
    leaf = [e for e in subexpressions((test,)) if not parts(e)]
    return all(isinstance(e, ir.IntImm | ir.FloatImm) or _is_param(e) for e in leaf)


def _is_param(e: ir.ExprNode) -> bool:
    return isinstance(e, ir.ParamRef) and isinstance(e.param, ScalarParam)
