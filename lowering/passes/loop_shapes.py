"""Shapes of loops: what they have inside, by which they are divided or not.

In: a loop before vectors. Out: of rows, taps, lanes and tiles which one it is, and what is computed how often in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.ir import ExprNode, For, If, IntImm, Let, LoopKind
from halide_core.ir.visitor import free_variables, walk

_SHORT = 4
"""A loop of a constant length up to this is left whole: finding its steady part would cost more than it saves."""
_TAPS = 16
"""A loop of a constant length up to this, such as the taps of a filter, is divided only where none around it can be."""
_MUCH = 60
"""A loop around others is left whole if it has more statements than this."""


def is_innermost(loop: For) -> bool:
    """True of a serial loop with nothing but lanes inside."""
    inside = all(s.kind is LoopKind.VECTORIZED for s in walk(loop.body) if isinstance(s, For))
    return loop.kind is LoopKind.SERIAL and inside


def is_around_constants(loop: For) -> bool:
    """True where all loops inside are lanes or have constant lengths, and there is not so much that three of it are too
    many."""
    inside = list(walk(loop.body))
    loops = [s for s in inside if isinstance(s, For)]
    fixed = all(s.kind is LoopKind.VECTORIZED or isinstance(s.bounds.len, IntImm) for s in loops)
    return fixed and len(inside) <= _MUCH


def varying_innermost(exprs: Iterable[ExprNode], loop: For) -> set[ExprNode]:
    """Those that differ between iterations of a loop without others inside: all else is computed less often."""
    inside = list(walk(loop.body))
    moving = {s.var for s in inside if isinstance(s, For) and not any(isinstance(e, For) for e in walk(s.body))}
    for s in inside:
        if isinstance(s, Let) and not free_variables(s.value).isdisjoint(moving):
            moving.add(s.var)
    return {e for e in exprs if not free_variables(e).isdisjoint(moving)}


def varying_in_lanes(exprs: Iterable[ExprNode], loop: For) -> set[ExprNode]:
    """Those that differ between lanes, but for guards, which vectors ask of all lanes anyway."""
    lanes = {s.var for s in walk(loop) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED}
    for s in walk(loop):
        if isinstance(s, Let) and not free_variables(s.value).isdisjoint(lanes):
            lanes.add(s.var)
    guards = {s.condition for s in walk(loop) if isinstance(s, If)}
    return {e for e in exprs if e not in guards and not free_variables(e).isdisjoint(lanes)}


def has_lanes(loop: For) -> bool:
    """True where lanes are inside."""
    return any(isinstance(s, For) and s.kind is LoopKind.VECTORIZED for s in walk(loop))


def is_in_lanes(loop: For, around: For) -> bool:
    """True of a loop inside of the lanes of another one."""
    lanes = [s for s in walk(around.body) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
    return any(s is loop for each in lanes for s in walk(each.body))


def is_short(loop: For) -> bool:
    """True of a loop whose steady part would cost more than it saves."""
    return isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= _SHORT


def is_taps(loop: For) -> bool:
    """True of a loop of as few iterations as a filter has taps."""
    return isinstance(loop.bounds.len, IntImm) and loop.bounds.len.value <= _TAPS
