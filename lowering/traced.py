"""What traced Funcs show of their memory and of their computation: lines where each begins and ends.

In: a program with bounds, before it is flattened. Out: the same, with a line at each event of a traced Func.

    allocate f(x in (0, 9)); label f: …   ->   Begin realization f(0, 9)
                                               Produce f(0, 9) … End produce f(0, 9)
                                               End realization f(0, 9)

A line is a check that always holds, and prints: no pass moves or drops one.
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm import Algorithm, Function
from halide_core.errors import ScheduleError
from halide_core.ir import Allocate, Block, Expr, Field, For, Interval, Label, LoopKind, Stmt
from halide_core.schedule import Trace, Traced
from halide_core.types import BOOL, INT64
from halide_core.visit import Rewriter


def traces_of(algorithm: Algorithm) -> dict[Function, list[Trace]]:
    """The Funcs whose realizations are traced or have a tag, each with the directives that say so."""
    found: dict[Function, list[Trace]] = {}
    for f in algorithm.functions:
        for d in f.directives:
            if isinstance(d, Trace) and d.what in (Traced.REALIZATIONS, Traced.TAG):
                found.setdefault(f, []).append(d)
    return found


def show_realizations(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """See the module's docstring.

    Raises: ScheduleError for a Func that is computed inside a vectorized loop: its lanes have no order.
    """
    return _Shown(traces_of(algorithm), algorithm.outputs).stmt(stmt)


class _Shown(Rewriter):
    def __init__(self, traced: dict[Function, list[Trace]], outputs: Sequence[Function]) -> None:
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
                closing[:0] = self._lines("End realization", each.func)
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
            stmts = [*self._begin(f), *stmts, *self._lines("End realization", f)]
        return Block(tuple(stmts))

    def _begin(self, f: Function) -> list[Stmt]:
        name = (f.original or f).name
        tags = [_shown((f'Tag {name}() = "{d.tag}"',)) for d in self._traced[f] if d.what is Traced.TAG]
        return [*tags, *self._lines("Begin realization", f)]

    def _lines(self, event: str, f: Function) -> list[Stmt]:
        """The line of an event, where realizations are traced."""
        directive = self._traced[f][-1]
        if self._lanes:
            raise ScheduleError(
                f'{directive.spelled()}: "{f.name}" is computed inside a vectorized loop, whose lanes have no order. '
                f"Compute it outside of that loop, or trace its stores.",
                directive.location,
            )
        message: list[str | Expr] = [f"{event} {(f.original or f).name}("]
        for i, interval in enumerate(self._boxes[f]):
            message += [", "] if i else []
            message += [interval.min, ", ", interval.len]
        wanted = any(d.what is Traced.REALIZATIONS for d in self._traced[f])
        return [_shown((*message, ")"))] if wanted else []


def _shown(message: tuple[str | Expr, ...]) -> Stmt:
    """A line: a check that always holds."""
    return ir.Assert(ir.Print(BOOL, ir.TRUE, ir.TRUE, message), ir.Failure.ASSERTION, ("a line can't be shown",))


def _buffer(f: Function) -> tuple[Interval, ...]:
    """The shape of an output's buffer."""
    fields = [[ir.BufferField(INT64, f, field, d) for field in (Field.MIN, Field.EXTENT)] for d in range(f.dimensions)]
    return tuple(Interval(*each) for each in fields)
