"""A min and an extent, as the user writes them: a Range or a pair.

    as_range((0, 10))   ->   Range(0, 10)
"""

from __future__ import annotations

from typing import TypeAlias

from halide_core.errors import DefinitionError
from halide_core.lang.expr import Expr, ExprLike


class Range:
    """``min`` and ``extent`` of one dimension. ``Range()`` leaves a dimension unbounded, where that is allowed."""

    def __init__(self, min: ExprLike | tuple[ExprLike, ExprLike] | None = None, extent: ExprLike | None = None) -> None:
        if isinstance(min, tuple):
            if extent is not None or len(min) != 2:
                raise DefinitionError("A Range is made of a min and an extent.")
            min, extent = min
        if (min is None) != (extent is None):
            raise DefinitionError("A Range needs both a min and an extent.")
        self.min = _expr(min)
        self.extent = _expr(extent)

    def __repr__(self) -> str:
        return f"Range({self.min}, {self.extent})"


def _expr(end: ExprLike | None) -> Expr | None:
    """An end as an expression; one that is not known may be an undefined Expr."""
    return end if end is None or isinstance(end, Expr) else Expr(end)


RangeLike: TypeAlias = "Range | tuple[ExprLike, ExprLike]"


def as_range(value: object) -> Range:
    """A Range, or a (min, extent) pair, as a Range."""
    if isinstance(value, Range):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        return Range(value)
    raise DefinitionError(f"A Range or a (min, extent) pair is needed, not {value!r}.")
