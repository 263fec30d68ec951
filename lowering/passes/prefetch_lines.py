"""A prefetch of a box of points as loops over the lines of memory that they lie in.

In: the box, and where points are. Out: a loop for each dimension, the dense one innermost, in steps of a line.

    prefetch g((0, n), (y, 2)), 4 bytes each   ->   for a in (0, 2): for b in (0, (n + 15)/16): prefetch g[…]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.simplify import simplify
from halide_core.ir import ExprNode, For, Interval, IntImm, LoopKind, LoopName, PrefetchLine, PrefetchRegion, Stmt
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.printer import dim_name

_LINE = 64
"""Bytes that a machine brings near at once."""


def lines_of(
    s: PrefetchRegion, component: int, box: Sequence[Interval], strides: Sequence[ExprNode],
    index: Callable[[tuple[ExprNode, ...]], ExprNode], names: UniqueNames,
) -> Stmt:
    """The prefetches of one component; ``index`` gives the position of a point."""
    f = s.func
    dense = next((d for d, k in enumerate(strides) if k is ir.ONE), 0)
    order = sorted(range(len(box)), key=lambda d: d == dense)
    variables = [ir.index_variable(names.fresh(f"{f.name}.{dim_name(f, d)}.near")) for d in range(len(box))]
    point: list[ExprNode] = []
    counts: list[ExprNode] = []
    for d, (i, var) in enumerate(zip(box, variables, strict=True)):
        step = _step(f.types[component].bytes(), strides[d]) if d == dense else 1
        point.append(ir.add(i.min, ir.mul(var, ir.i64(step))))
        counts.append(simplify(ir.div(ir.add(i.len, ir.i64(step - 1)), ir.i64(step))))
    inside = s.strategy is not PrefetchBoundStrategy.NonFaulting
    result: Stmt = PrefetchLine(f.component_name(component), index(tuple(point)), inside)
    for d in reversed(order):
        name = LoopName(f.name, 0, 0, f"near {dim_name(f, d)}")
        result = For(name, variables[d], Interval(ir.ZERO, counts[d]), LoopKind.SERIAL, True, result)
    return result


def _step(size: int, stride: ExprNode) -> int:
    """The number of neighbours that share a line."""
    apart = size * abs(stride.value) if isinstance(stride, IntImm) else _LINE
    return max(1, _LINE // max(apart, 1))
