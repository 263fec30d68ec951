"""The operations of a stage by kind and by the bytes of their type, and the cycles that they take in vectors.

In: the values of a definition. Out: Work: cycles of a point, if so many points are lanes of one vector.

    u16(a + b)/3   ->   {(SIMPLE, 2): 1, (MULTIPLY, 2): 1, …}
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.ir import Access, BinaryOp, ExprNode
from halide_core.ir.visitor import parts


class Kind(Enum):
    """Operations that cost alike; the values are cycles of one instruction, where two run side by side."""

    SIMPLE = 0.5
    MULTIPLY = 0.75
    CONVERT = 1.0
    DIVIDE_BY_CONSTANT = 2.5
    DIVIDE_INTEGERS = 20.0
    DIVIDE = 8.0
    ELEMENTARY = 24.0


_ELEMENTARY_CHEAP = (ir.Intrinsic.ABS, ir.Intrinsic.FMA, ir.Intrinsic.REINTERPRET)
_ROUNDING = (ir.Intrinsic.FLOOR, ir.Intrinsic.CEIL, ir.Intrinsic.ROUND, ir.Intrinsic.TRUNC)


class Work:
    """The operations of a value."""

    __slots__ = ("_cycles", "counts")

    def __init__(self, counts: Mapping[tuple[Kind, int], int]) -> None:
        self.counts = dict(counts)
        self._cycles: dict[tuple[int, int], float] = {}

    def cycles(self, lanes: int, register: int) -> float:
        """Cycles of one point, where vectors have so many lanes, and registers so many bytes."""
        known = self._cycles.get((lanes, register))
        if known is None:
            known = sum(
                count * kind.value * max(1, math.ceil(lanes * size / register))
                for (kind, size), count in self.counts.items()
            )
            known = self._cycles[lanes, register] = known / lanes
        return known


def work_of(f: Function, stage: int) -> Work:
    """The operations of a stage; what stands in an index of an access is address arithmetic, and none of them."""
    d = f.definitions[stage]
    counts: dict[tuple[Kind, int], int] = {}
    for e in _computed([*d.values, d.predicate]):
        kind = _kind(e)
        if kind is not None:
            key = (kind, max(1, _size(e)))
            counts[key] = counts.get(key, 0) + 1
    return Work(counts)


def _computed(values: Iterable[ExprNode]) -> list[ExprNode]:
    """The expressions below some values, each once, not below an access. What scatters or gathers is computed too."""
    seen: dict[ExprNode, None] = {}
    stack = list(values)
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen[e] = None
        if not isinstance(e, Access):
            stack.extend(parts(e))
    return list(seen)


def _size(e: ExprNode) -> int:
    if isinstance(e, ir.Binary | ir.Cast):
        return max(e.type.bytes(), e.a.type.bytes())
    return e.type.bytes()


def _kind(e: ExprNode) -> Kind | None:
    match e:
        case ir.Binary(op=BinaryOp.DIV | BinaryOp.MOD) if not e.type.is_float():
            if not isinstance(e.b, ir.IntImm):
                return Kind.DIVIDE_INTEGERS
            return Kind.SIMPLE if e.b.value > 0 and e.b.value.bit_count() == 1 else Kind.DIVIDE_BY_CONSTANT
        case ir.Binary(op=BinaryOp.DIV | BinaryOp.MOD):
            return Kind.DIVIDE if not isinstance(e.b, ir.FloatImm) else Kind.MULTIPLY
        case ir.Binary(op=BinaryOp.MUL):
            return Kind.SIMPLE if e.type.is_float() else Kind.MULTIPLY
        case ir.Binary() | ir.Select() | ir.Not():
            return Kind.SIMPLE
        case ir.Cast(a=a):
            return Kind.CONVERT if a.type.bytes() != e.type.bytes() or a.type.is_float() != e.type.is_float() else None
        case ir.Call(function=op):
            if op in _ELEMENTARY_CHEAP:
                return Kind.SIMPLE
            if op in _ROUNDING:
                return Kind.CONVERT
            return Kind.DIVIDE if op is ir.Intrinsic.SQRT else Kind.ELEMENTARY
    return None
