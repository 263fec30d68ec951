"""Trace events of pipelines' memory and computation: events where each begins and ends, and files.

In: a program with bounds, before it is flattened. Out: the same, with an event where a pipeline that traces anything
(or whose target has the feature TracePipeline) begins and ends, and where each step of a Func does whose realizations
are traced; and, where the memory of a Func with
``debug_to_file`` ends, a statement that writes it.

    allocate f(x in (0, 9)); label f: …; label g: …   ->   Begin pipeline g.0()
                                                           Begin realization f.0(0, 9)
                                                           Produce f.0(0, 9) … End produce f.0(0, 9)
                                                           Consume f.0(0, 9) … End consume f.0(0, 9)
                                                           write f((0, 9)) to 'f.npy'
                                                           End realization f.0(0, 9)
                                                           End pipeline g.0()

An event is a check that always holds, and prints: no pass moves or drops one. Nor does one a file's statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.errors import ScheduleError
from halide_core.ir import (
    Allocate,
    AnswerQuery,
    Assert,
    Block,
    EventCode,
    ExprNode,
    Field,
    For,
    If,
    Interval,
    Label,
    Let,
    LoopKind,
    Stmt,
    WriteFile,
)
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Rewriter
from halide_core.schedule.directives import DebugToFile, Trace, Traced

Shown: TypeAlias = "Trace | DebugToFile"
"""A directive about what people see of memory."""

_VERBS = {
    EventCode.BEGIN_REALIZATION: "Begin realization",
    EventCode.END_REALIZATION: "End realization",
    EventCode.PRODUCE: "Produce",
    EventCode.END_PRODUCE: "End produce",
    EventCode.CONSUME: "Consume",
    EventCode.END_CONSUME: "End consume",
    EventCode.BEGIN_PIPELINE: "Begin pipeline",
    EventCode.END_PIPELINE: "End pipeline",
}


def is_shown(algorithm: Algorithm) -> bool:
    """True where anything of the algorithm is traced, or goes to a file."""
    return _is_traced(algorithm) or any(isinstance(d, DebugToFile) for f in algorithm.functions for d in f.directives)


def show_realizations(stmt: Stmt, algorithm: Algorithm, name: str, *, whole: bool = False) -> Stmt:
    """See the module's docstring; ``name`` is the pipeline's, whose begin and end are shown where ``whole``, too.

    Raises: ScheduleError for a Func that is computed inside a vectorized loop: its lanes have no order.
    """
    events = _Events(algorithm)
    inner = events.stmt(stmt)
    begin, end = events.of_outputs()
    if whole or _is_traced(algorithm):
        begin = [_pipeline(EventCode.BEGIN_PIPELINE, name), *events.tags(), *begin]
        end = [*end, _pipeline(EventCode.END_PIPELINE, name)]
    return _between(begin, inner, end)


def _is_traced(algorithm: Algorithm) -> bool:
    directives = [d for f in algorithm.functions for d in f.directives]
    return any(isinstance(d, Trace) for d in directives) or any(image.traced for image in algorithm.images)


class _Events(Rewriter):
    def __init__(self, algorithm: Algorithm) -> None:
        super().__init__()
        self._directives: dict[Function, list[Shown]] = {}
        for f in algorithm.functions:
            for d in f.directives:
                if isinstance(d, DebugToFile) or (isinstance(d, Trace) and d.what in (Traced.REALIZATIONS, Traced.TAG)):
                    self._directives.setdefault(f, []).append(d)
        self._boxes: dict[Function, tuple[Interval, ...]] = {f: _buffer(f) for f in algorithm.outputs}
        self._outputs = algorithm.outputs
        self._lanes = 0

    def tags(self) -> list[Stmt]:
        """The tags of all Funcs."""
        given = [(f.own.name, d) for f, ds in self._directives.items() for d in ds if isinstance(d, Trace)]
        tagged = [(name, d.tag) for name, d in given if d.what is Traced.TAG]
        return [_event(EventCode.TAG, name, (f'Tag {name}.0() tag = "{tag}"',), tag) for name, tag in tagged]

    def of_outputs(self) -> tuple[list[Stmt], list[Stmt]]:
        """Where the memory of the outputs, which is the caller's, begins and ends for the pipeline."""
        traced = [f for f in self._outputs if f in self._directives]
        begin = [event for f in traced for event in self._realized(EventCode.BEGIN_REALIZATION, f)]
        return begin, [event for f in reversed(traced) for event in self._end(f)]

    def rewrite_For(self, s: For) -> Stmt:
        """The loop; what is inside a vectorized one can't be traced."""
        vectorized = s.kind is LoopKind.VECTORIZED
        self._lanes += vectorized
        result = self.inside(s)
        self._lanes -= vectorized
        return result

    def rewrite_Block(self, s: Block) -> Stmt:
        """The statements, with events where the memory of a traced Func comes and goes, and where it is read."""
        stmts: list[Stmt] = []
        closing: list[Stmt] = []
        for each in s.stmts:
            stmts.append(self.stmt(each))
            if isinstance(each, Allocate) and each.func in self._directives:
                self._boxes[each.func] = each.bounds
                stmts += self._realized(EventCode.BEGIN_REALIZATION, each.func)
                closing[:0] = self._end(each.func)
            f = _produced(each)
            if f in self._directives and f not in self._outputs and each is not s.stmts[-1]:
                stmts += self._realized(EventCode.CONSUME, f)
                closing[:0] = self._realized(EventCode.END_CONSUME, f)
        same = not closing and all(a is b for a, b in zip(stmts, s.stmts, strict=True))
        return s if same else Block((*stmts, *closing))

    def rewrite_Label(self, s: Label) -> Stmt:
        """The computation of a traced Func between two events."""
        inner = self.inside(s)
        f = _produced(s)
        if f not in self._directives:
            return inner
        return Block((*self._realized(EventCode.PRODUCE, f), inner, *self._realized(EventCode.END_PRODUCE, f)))

    def _end(self, f: Function) -> list[Stmt]:
        files = [d.file for d in self._directives[f] if isinstance(d, DebugToFile)]
        written: list[Stmt] = [WriteFile(f, file, self._boxes[f]) for file in files[-1:]]
        return [*written, *self._realized(EventCode.END_REALIZATION, f)]

    def _realized(self, code: EventCode, f: Function) -> list[Stmt]:
        """The event, where realizations of the Func are traced."""
        directive = self._directives[f][-1]
        if self._lanes:
            other = "" if isinstance(directive, DebugToFile) else ", or trace its stores"
            raise ScheduleError(
                f'{directive.spelled()}: "{f.name}" is computed inside a vectorized loop, whose lanes have no order. '
                f"Compute it outside of that loop{other}.",
                directive.location,
            )
        message: list[str | ExprNode] = [f"{_VERBS[code]} {f.own.name}.0("]
        for i, interval in enumerate(self._boxes[f]):
            message += [", "] if i else []
            message += [interval.min, ", ", interval.len]
        wanted = any(isinstance(d, Trace) and d.what is Traced.REALIZATIONS for d in self._directives[f])
        return [_event(code, f.own.name, (*message, ")"))] if wanted else []


def _produced(s: Stmt) -> Function | None:
    """The Func that a statement computes all stages of."""
    if isinstance(s, If) and s.otherwise is None:
        return _produced(s.then)
    return s.func if isinstance(s, Label) and s.stage is None and isinstance(s.func, Function) else None


def _between(begin: Sequence[Stmt], s: Stmt, end: Sequence[Stmt]) -> Stmt:
    """The program with events around all that is more than a check of its arguments."""
    if not begin and not end:
        return s
    if isinstance(s, Block):
        first = next((i for i, each in enumerate(s.stmts) if not _is_check(each)), 0)
        rest = s.stmts[first:]
        inner = _between(begin, rest[0], end) if len(rest) == 1 else Block((*begin, *rest, *end))
        return Block((*s.stmts[:first], inner))
    if isinstance(s, If) and s.otherwise is None:
        return If(s.condition, _between(begin, s.then, end), None)
    return Block((*begin, s, *end))


def _is_check(s: Stmt) -> bool:
    return isinstance(s, Let | AnswerQuery) or (isinstance(s, Assert) and not isinstance(s.condition, ir.Event))


def _pipeline(code: EventCode, name: str) -> Stmt:
    return _event(code, name, (f"{_VERBS[code]} {name}.0()",))


def _event(code: EventCode, name: str, message: tuple[str | ExprNode, ...], tag: str = "") -> Stmt:
    """An event: a check that always holds."""
    event = ir.Event(BOOL, ir.TRUE, ir.TRUE, message, code, name, False, 0, tag)
    return Assert(event, ir.Failure.ASSERTION, ("an event can't be shown",))


def _buffer(f: Function) -> tuple[Interval, ...]:
    """The shape of an output's buffer."""
    fields = [[ir.BufferField(INT64, f, field, d) for field in (Field.MIN, Field.EXTENT)] for d in range(f.dimensions)]
    return tuple(Interval(*each) for each in fields)
