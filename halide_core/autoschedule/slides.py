"""The slides that are worth a try: those whose claims the compiler proves, as it makes no other.

In: the places at which a loop reads a Func, in the dimension that moves. Out: links of a chain of slides.

    across[x, y - 1] + across[x, y + 1]       ->   one link: rows move evenly
    across[x, y/2] + across[x, (y + 1)/2]     ->   two: the lesser of the rows depends on y

A Func whose slide isn't proven is computed whole in each iteration (``lowering.proven_steps``): that takes many times
as long as a cost model expects of it, and it takes long to find out. The cases of a proof double with each link of the
chain from a Func to the loop that it slides along; chains of up to CHAIN links are proven, but for few.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.ir import ExprNode
from halide_core.ir.visitor import subexpressions

CHAIN = 3


def links(rows: Iterable[ExprNode]) -> int:
    """The links that reading some rows adds to a chain; more than a chain may have where a remainder says which."""
    inner = [e for e in subexpressions(list(rows)) if isinstance(e, ir.Binary)]
    if any(e.op is ir.BinaryOp.MOD for e in inner):
        return CHAIN + 1
    return 2 if len([e for e in inner if e.op is ir.BinaryOp.DIV]) > 1 else 1
