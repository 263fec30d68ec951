"""What Funcs show of their memory and of their computation: lines where each begins and ends, and files.

In: a program with bounds, before it is flattened. Out: the same, with a line at each event of a traced Func, and where
the memory of a Func with ``debug_to_file`` ends a statement that writes it.

    allocate f(x in (0, 9)); label f: …   ->   Begin realization f.0(0, 9)
                                               Produce f.0(0, 9) … End produce f.0(0, 9)
                                               write f((0, 9)) to 'f.npy'
                                               End realization f.0(0, 9)

A line is a check that always holds, and prints: no pass moves or drops one. Nor does one a file's statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.errors import ScheduleError
from halide_core.ir import Allocate, Block, ExprNode, Field, For, Interval, Label, LoopKind, Stmt, WriteFile
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Rewriter
from halide_core.schedule.directives import DebugToFile, Trace, Traced

Shown: TypeAlias = "Trace | DebugToFile"
"""A directive about what people see of memory."""


def traces_of(algorithm: Algorithm) -> dict[Function, list[Shown]]:
    """The Funcs whose realizations are traced, have a tag or go to a file, each with the directives that say so."""
    found: dict[Function, list[Shown]] = {}
    for f in algorithm.functions:
        for d in f.directives:
            if isinstance(d, DebugToFile) or (isinstance(d, Trace) and d.what in (Traced.REALIZATIONS, Traced.TAG)):
                found.setdefault(f, []).append(d)
    return found


def show_realizations(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """See the module's docstring.

    Raises: ScheduleError for a Func that is computed inside a vectorized loop: its lanes have no order.
    """
    return _Shown(traces_of(algorithm), algorithm.outputs).stmt(stmt)


class _Shown(Rewriter):
    def __init__(self, traced: dict[Function, list[Shown]], outputs: Sequence[Function]) -> None:
        super().__init__()
        self._traced = traced
        self._boxes: dict[Function, tuple[Interval, ...]] = {f: _buffer(f) for f in outputs}
        self._outputs = frozenset(outputs)
        self._lanes = 0

    def rewrite_For(self, s: For) -> Stmt:
        """The loop; what is inside a vectorized one can't be traced."""
        vectorized = s.kind is LoopKind.VECTORIZED
        self._lanes += vectorized
        result = self.inside(s)
        self._lanes -= vectorized
        return result

    def rewrite_Block(self, s: Block) -> Stmt:
        """The statements, with lines where the memory of a traced Func comes and goes."""
        stmts: list[Stmt] = []
        closing: list[Stmt] = []
        for each in s.stmts:
            stmts.append(self.stmt(each))
            if isinstance(each, Allocate) and each.func in self._traced:
                self._boxes[each.func] = each.bounds
                stmts += self._begin(each.func)
                closing[:0] = self._end(each.func)
        same = not closing and all(a is b for a, b in zip(stmts, s.stmts, strict=True))
        return s if same else Block((*stmts, *closing))

    def rewrite_Label(self, s: Label) -> Stmt:
        """The computation of a traced Func between two lines; that of an output between four."""
        inner = self.inside(s)
        if s.stage is not None or s.func not in self._traced:
            return inner
        f = s.func
        stmts = [*self._lines("Produce", f), inner, *self._lines("End produce", f)]
        if f in self._outputs:
            stmts = [*self._begin(f), *stmts, *self._end(f)]
        return Block(tuple(stmts))

    def _begin(self, f: Function) -> list[Stmt]:
        name = f.own.name
        tags = [d.tag for d in self._traced[f] if isinstance(d, Trace) and d.what is Traced.TAG]
        return [*(_shown((f'Tag {name}.0() tag = "{tag}"',)) for tag in tags), *self._lines("Begin realization", f)]

    def _end(self, f: Function) -> list[Stmt]:
        files = [d.file for d in self._traced[f] if isinstance(d, DebugToFile)]
        written: list[Stmt] = [WriteFile(f, file, self._boxes[f]) for file in files[-1:]]
        return [*written, *self._lines("End realization", f)]

    def _lines(self, event: str, f: Function) -> list[Stmt]:
        """The line of an event, where realizations are traced."""
        directive = self._traced[f][-1]
        if self._lanes:
            other = "" if isinstance(directive, DebugToFile) else ", or trace its stores"
            raise ScheduleError(
                f'{directive.spelled()}: "{f.name}" is computed inside a vectorized loop, whose lanes have no order. '
                f"Compute it outside of that loop{other}.",
                directive.location,
            )
        message: list[str | ExprNode] = [f"{event} {f.own.name}.0("]
        for i, interval in enumerate(self._boxes[f]):
            message += [", "] if i else []
            message += [interval.min, ", ", interval.len]
        wanted = any(isinstance(d, Trace) and d.what is Traced.REALIZATIONS for d in self._traced[f])
        return [_shown((*message, ")"))] if wanted else []


def _shown(message: tuple[str | ExprNode, ...]) -> Stmt:
    """A line: a check that always holds."""
    return ir.Assert(ir.Print(BOOL, ir.TRUE, ir.TRUE, message), ir.Failure.ASSERTION, ("a line can't be shown",))


def _buffer(f: Function) -> tuple[Interval, ...]:
    """The shape of an output's buffer."""
    fields = [[ir.BufferField(INT64, f, field, d) for field in (Field.MIN, Field.EXTENT)] for d in range(f.dimensions)]
    return tuple(Interval(*each) for each in fields)
