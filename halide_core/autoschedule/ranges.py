"""Ranges of index expressions as numbers, at the sizes that are expected.

In: an expression, and the range of each variable. Out: the least and the greatest value, infinite where unknown.

    clamp(x + 1, 0, 9), x in 0..63   ->   (1, 9)

It decides nothing but which schedule is chosen: the bounds of compiled programs are inferred elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ReductionDomain, ScalarParam
from halide_core.analysis.interval import EVERYTHING, Range, of_integers, union
from halide_core.ir import BinaryOp, ExprNode, Field, IntImm
from halide_core.ir.types import Type
from halide_core.lang.buffer import Buffer

Number: TypeAlias = "int | float"
Region: TypeAlias = tuple[Range, ...]
"""The least and the greatest coordinate of each dimension."""

_NARROW = 16
"""Bits of the types whose whole range says something about an index."""


class IndexRanges:
    """The ranges of expressions while each pure variable has one range."""

    def __init__(self, f: Function, region: Region) -> None:
        variables: Mapping[ExprNode, Range] = {ir.pure_variable(n): r for n, r in zip(f.args, region, strict=True)}
        self._known: dict[ExprNode, Range] = dict(variables)

    def of(self, e: ExprNode) -> Range:
        """The range of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._found(e)
        return known

    def _found(self, e: ExprNode) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case ir.ParamRef(param=ScalarParam() as param):
                return _param(param)
            case ir.BufferField(buffer=buffer, field=field, dim=dim):
                return field_range(buffer, field, dim)
            case ir.RVarRef(domain=ReductionDomain() as domain, index=index):
                low, extent = self.of(domain.bounds[index].min), self.of(domain.bounds[index].len)
                return (low[0], max(low[0], low[1] + extent[1] - 1))
            case ir.Binary(op=op, a=a, b=b) if e.type.is_integer():
                return _narrower(_binary(op, self.of(a), self.of(b)), _whole(e.type))
            case ir.Select(a=a, b=b):
                return union(self.of(a), self.of(b))
            case ir.Promise(value=value, low=low_end, high=high_end):
                return _narrower((self.of(low_end)[0], self.of(high_end)[1]), self.of(value))
            case ir.Cast(a=a) if a.type.is_integer() and e.type.is_integer():
                return _narrower(self.of(a), _whole(e.type))
        return _whole(e.type)

    def iterations(self, stage: int, f: Function) -> Number:
        """The number of iterations of a stage's domain at each point of its pure loops."""
        domain = f.definitions[stage].domain
        count: Number = 1
        for bounds in () if domain is None else domain.bounds:
            count *= max(1, self.of(bounds.len)[1])
        return count

    def args(self, access: ir.Access) -> Region:
        """The region that an access reads."""
        return tuple(self.of(a) for a in access.args)


def _param(param: ScalarParam) -> Range:
    value = param.value if param.value is not None else param.estimate
    if isinstance(value, int):
        return (int(value), int(value))
    low, high = _whole(param.computed)
    return (low if param.low is None else param.low, high if param.high is None else param.high)


def field_range(buffer: ir.Callee, field: Field, dim: int) -> Range:
    """The expected value of a field of an input's dimension: by the data that it has, or by its estimate."""
    if not isinstance(buffer, Image) or field is Field.STRIDE:
        return EVERYTHING
    if isinstance(buffer.bound, Buffer):
        d = buffer.bound.dim(dim)
        value = d.min() if field is Field.MIN else d.extent()
        return (value, value)
    noted = buffer.estimates.get(dim, (None, None))[0 if field is Field.MIN else 1]
    return (noted.value, noted.value) if isinstance(noted, IntImm) else EVERYTHING


def _whole(type: Type) -> Range:
    """All values of a narrow type."""
    if not type.is_integer() or type.bits() > _NARROW:
        return EVERYTHING
    return type.range


def _narrower(a: Range, b: Range) -> Range:
    """The intersection of two true ranges."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


def _binary(op: BinaryOp, a: Range, b: Range) -> Range:
    """Exact, and of a remainder what it was where it is all of a number."""
    if op is BinaryOp.MOD and a[0] >= 0 and a[1] < b[0]:
        return a
    return of_integers(op, a, b)


def extent(r: Range) -> Number:
    """The number of values in a range."""
    return max(0, r[1] - r[0] + 1)


def size(region: Region) -> Number:
    """The number of points in a region."""
    return math.prod(extent(r) for r in region)


def joined(a: Region | None, b: Region) -> Region:
    """The smallest region around two."""
    if a is None:
        return b
    return tuple(union(p, q) for p, q in zip(a, b, strict=True))
