"""Constants between which the lanes of an integer vector are, as its own operators say.

In: a vector expression of the emitted tree. Out: a range; that of its type where no more is known. The choice between
instructions rests on it: places of lanes computed in 32 bits, and taken out of registers eight at once.

    max(min(v, x8(999)), x8(0))         ->   (0, 999)
    a of 0 to 999, b*s of b up to 344   ->   a + b*s stays in int32 for every s up to 6,242,683
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.analysis.interval import Range, fits, of_integers, type_range, union
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import INT32

_DEPTH = 6
"""Operators that are looked through: a tree of shared operands has no end to speak of."""
_KNOWN = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX, BinaryOp.BIT_AND})


def range_of_lanes(e: ExprNode, depth: int = _DEPTH) -> Range:
    """The range of an integer expression's lanes."""
    whole = type_range(e.type)
    match e:
        case ir.IntImm(value=value):
            return (value, value)
        case ir.Broadcast(a=a):
            return range_of_lanes(a, depth)
        case ir.Cast(a=a) if depth and a.type.is_integer():
            found = range_of_lanes(a, depth - 1)
        case ir.Binary(op=op, a=a, b=b) if depth and op in _KNOWN:
            found = of_integers(op, range_of_lanes(a, depth - 1), range_of_lanes(b, depth - 1))
        case ir.Select(a=a, b=b) if depth:
            found = union(range_of_lanes(a, depth - 1), range_of_lanes(b, depth - 1))
        case _:
            return whole
    return found if fits(found, e.type) else whole


def greatest_factor(terms: Sequence[ExprNode]) -> int:
    """Of ``lane_terms`` with one factor s: the greatest s up to which, from 0 on, the sum of all stays in
    int32; 0 where there are more factors, or where none is known."""
    least, most = INT32.range
    low = high = 0
    rows: list[Range] = []
    for term, after in zip(terms, [*terms[1:], None], strict=True):
        if term.type.is_scalar():
            continue
        found = range_of_lanes(term)
        if after is not None and after.type.is_scalar():
            rows.append(found)
        else:
            low, high = low + int(found[0]), high + int(found[1])
    if len(rows) != 1 or low < least or high > most:
        return 0
    below, above = (int(end) for end in rows[0])
    # Products stay within what the sum leaves on either side; so do they by themselves, as 0 is a sum or none is.
    room = [(most - max(high, 0)) // above] if above > 0 else []
    room += [(min(low, 0) - least) // -below] if below < 0 else []
    return min([most, *room])
