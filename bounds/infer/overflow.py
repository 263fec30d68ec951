"""Start-up checks that int32 coordinates never wrap, so that computing them in int64 is the same (invariant 7).

In: a Query. Out: the index expressions whose int32 arithmetic could leave int32 for some windows within ±2³⁰, each
with its stage; bounds inference turns them into start-up checks. Most programs have none: constants decide it.

    g[x + 1]       x within ±2^30: x + 1 is fine, always
    g[x*4]         may leave int32: a check is needed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import silent
from halide_core.analysis.interval import of_integers
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    BufferField,
    Cast,
    ExprNode,
    Field,
    Hole,
    IntImm,
    ParamRef,
    Promise,
    RVarRef,
    Select,
    Variable,
)
from halide_core.ir.boxes import WINDOW_LIMIT
from halide_core.ir.types import INT32
from halide_core.ir.visitor import subexpressions

_Span = tuple[int, int]
_AROUND = 1 << 29
"""So far beyond what is needed may loops go before each coordinate is checked."""
_NOTHING: Mapping[tuple[Function, int], int] = {}
_CHOICES = frozenset({BinaryOp.MIN, BinaryOp.MAX})
_EXACT = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV})


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """An int32 expression of a stage that may leave int32."""

    func: Function
    stage: int
    expr: ExprNode


Within = Callable[[Function, int, str, tuple[int, int]], bool]
"""True where all that loops of a stage make of a pure variable is proven to lie in a span."""


def index_overflows(
    algorithm: Algorithm,
    raised: Mapping[tuple[Function, int], int] = _NOTHING,
    *,
    within: Within,
) -> list[Risk]:
    """Every risk, operands before what is made of them. ``raised``: how many points more than are needed directives
    make a Func compute in a dimension. ``within``: loops are over regions, which may be larger than what is needed."""
    return _Spans(algorithm, raised, within).risks()


def raised_by(needs: Mapping[ExprNode, Sequence[tuple[object, ExprNode]]]) -> dict[tuple[Function, int], int]:
    """The number of extra points that shifted splits can make a Func compute in a dimension, given what each
    length hole is at least."""
    constant = ConstantRanges()
    found: dict[tuple[Function, int], int] = {}
    for h, wanted in needs.items():
        assert isinstance(h, Hole) and isinstance(h.func, Function), "the length of a dimension of some Func"
        most = max(min(constant.of(least)[1], INT32.range[1]) for _, least in wanted)
        found[h.func, h.dim] = max(found.get((h.func, h.dim), 0), int(most))
    return found


class _Spans:
    """Constant spans of every Func's coordinates, consumers before producers."""

    def __init__(self, algorithm: Algorithm, raised: Mapping[tuple[Function, int], int], within: Within) -> None:
        self._algorithm = algorithm
        self._raised = raised
        self._within = within
        self._values = ValueRanges()
        self._boxes: dict[Function, list[_Span | None]] = {}
        self._copies: dict[Function, list[Function]] = {}
        for f in algorithm.functions:
            self._copies.setdefault(f.own, []).append(f)
        for f in algorithm.functions:
            self._boxes[f] = [None] * f.dimensions
        for f in algorithm.outputs:
            self._boxes[f] = [(-WINDOW_LIMIT, WINDOW_LIMIT)] * f.dimensions

    def risks(self) -> list[Risk]:
        found: list[Risk] = []
        for f in reversed(self._algorithm.functions):
            for stage in range(len(f.definitions) - 1, -1, -1):
                found.extend(self._stage(f, stage))
        return found

    def _stage(self, f: Function, stage: int) -> Iterator[Risk]:
        definition = f.definitions[stage]
        spans: dict[ExprNode, _Span] = {}
        risks: dict[ExprNode, None] = {}
        for d, (name, pure, span) in enumerate(zip(f.args, f.pure_dims(stage), self._boxes[f], strict=True)):
            if pure:
                low, high = span if span is not None else (0, 0)
                last = high + self._raised.get((f, d), 0)
                inside = f in self._algorithm.outputs and not definition.conditions()
                if not inside:  # what an output writes at always lies within its window
                    low, last = self._computed(f, stage, name, (low, last))
                    if last > INT32.range[1]:
                        risks.setdefault(ir.pure_variable(name))
                spans[ir.pure_variable(name)] = (low, min(last, INT32.range[1]))
        roots = [*definition.exprs()]
        domain = definition.domain
        if domain is not None:
            roots.append(domain.predicate)
            for i, bounds in enumerate(domain.bounds):
                low, high = self._span(bounds.min, spans, risks)
                _, most = self._span(bounds.len, spans, risks)
                variable = RVarRef(INT32, domain, i)
                last = high + max(most, 1) - 1
                if last > INT32.range[1]:  # a coordinate like any other: its last value must be one of int32
                    risks.setdefault(variable)
                spans[variable] = (low, min(last, INT32.range[1]))
        coordinates: list[tuple[ir.Callee | None, int, ExprNode]] = [
            (f, d, arg) for d, arg in enumerate(definition.args) if not isinstance(arg, Variable)
        ]
        for e in subexpressions(roots):
            if isinstance(e, Access):
                coordinates.extend((e.callee, d, arg) for d, arg in enumerate(e.args))
        for callee, d, arg in coordinates:
            low, high = self._span(silent(arg), spans, risks)
            if isinstance(callee, Function):
                self._widen(callee, d, (low, high))
        for e in risks:
            yield Risk(f, stage, e)

    def _computed(self, f: Function, stage: int, name: str, needed: _Span) -> _Span:
        """A span in which all that loops make of a variable lies: where that is not proven of what is needed, nor of a
        little more, as rounding up takes, it is any int32, and a check that it is one."""
        around = (needed[0] - _AROUND, needed[1] + _AROUND)
        for span in (needed, around):
            if self._within(f, stage, name, span):
                return span
        return (int(INT32.range[0]), int(INT32.range[1]) + 1)

    def _widen(self, callee: Function, d: int, span: _Span) -> None:
        """A definition names one Func where the cases of its stage read copies of it."""
        for copy in self._copies.get(callee.own, []):
            box = self._boxes[copy]
            known = box[d]
            box[d] = span if known is None else (min(known[0], span[0]), max(known[1], span[1]))

    def _span(self, e: ExprNode, spans: dict[ExprNode, _Span], risks: dict[ExprNode, None]) -> _Span:
        """The values of an int32 expression; where they may leave int32 that is a risk, and the span stops there."""
        known = spans.get(e)
        if known is None:
            low, high = self._compute(e, spans, risks)
            least, most = INT32.range
            if e.type is INT32 and (low < least or high > most):
                if isinstance(e, Binary):
                    risks.setdefault(e)
                low, high = max(low, least), min(high, most)
            known = spans[e] = (low, high)
        return known

    def _compute(self, e: ExprNode, spans: dict[ExprNode, _Span], risks: dict[ExprNode, None]) -> _Span:
        match e:
            case IntImm(value=value):
                return (value, value)
            case Binary(op=op, a=a, b=b) if op in _CHOICES or (op in _EXACT and e.type is INT32):
                return _span_of(op, self._span(a, spans, risks), self._span(b, spans, risks))
            case Binary(op=BinaryOp.SHL, a=a, b=IntImm(value=k)) if e.type is INT32 and 0 <= k < 31:
                low, high = self._span(a, spans, risks)
                return (low << k, high << k)
            case Binary(op=BinaryOp.MOD | BinaryOp.SHR | BinaryOp.BIT_AND, a=a, b=b):
                self._span(a, spans, risks)
                self._span(b, spans, risks)
            case Promise(value=inner, low=first, high=last):
                x, (low, _), (_, high) = (self._span(part, spans, risks) for part in (inner, first, last))
                kept = (max(x[0], low), min(x[1], high))
                return kept if kept[0] <= kept[1] else x
            case Select(a=a, b=b):
                x, y = self._span(a, spans, risks), self._span(b, spans, risks)
                return (min(x[0], y[0]), max(x[1], y[1]))
            case Cast(a=BufferField(field=Field.EXTENT)):
                return (0, INT32.range[1])
            case Variable() | RVarRef() | ParamRef() | Access():
                pass
        known = self._values.of(e)
        least, most = e.type.range if e.type.is_integer() else INT32.range
        return (int(max(known[0], least)), int(min(known[1], most)))


def _span_of(op: BinaryOp, a: _Span, b: _Span) -> _Span:
    """The span of an operator's exact result: all ends are finite here."""
    low, high = of_integers(op, a, b)
    return (int(low), int(high))
