"""Numbers by which what memoized Funcs keep is given up.

In: ``EvictionKey(n)``, a number or an expression of Params. Out: the number as a uint64 start-up expression.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.errors import DefinitionError
from halide_core.ir.types import UInt
from halide_core.lang.coordinates import startup_value
from halide_core.lang.expr import ExprLike


class EvictionKey:
    """``f.memoize(EvictionKey(n))``: what is kept of ``f`` goes with ``hl.memoization_cache_evict(n)``.

    Raises:
        DefinitionError: no integer, or one that depends on a point.
    """

    def __init__(self, expr: ExprLike) -> None:
        node = startup_value(expr, "An EvictionKey")
        if not node.type.is_integer():
            raise DefinitionError(f"An EvictionKey must be an integer, not {node!r} of {node.type}.")
        self.expr: ir.ExprNode = ir.cast(UInt(64), node)
        """The number, as a uint64."""
