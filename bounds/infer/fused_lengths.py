"""Products of lengths, limited at start-up without being computed.

In: lengths of fused loops. Out: the conditions of start-up checks.

    x*y*z is limited   ->   y <= limit/max(x, 1), z <= limit/(max(x, 1)*max(y, 1))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.ir import ExprNode
from halide_core.ir.types import INT64


@dataclass(frozen=True, slots=True)
class Limit:
    """A length is at most what those before it, multiplied, leave of the limit. Nobody may simplify the condition:
    ``checked_lengths`` knows it by its form."""

    condition: ExprNode
    length: ExprNode
    before: ExprNode


def limits(lengths: Sequence[ExprNode], most: int) -> Iterator[Limit]:
    """The conditions that make a product of lengths, each given by what it is at most, no greater than some number:
    those that constants leave open, each after what its own arithmetic rests on."""
    constant, so_far = ConstantRanges(), 1
    before: ExprNode | None = None
    for length in lengths:
        so_far *= max(int(min(constant.of(length)[1], INT64.range[1])), 1)
        if before is not None and so_far > most:
            yield Limit(ir.less_equal(length, ir.div(ir.i64(most), before)), length, before)
        counted = ir.maximum(length, ir.ONE)
        before = counted if before is None else ir.mul(before, counted)
