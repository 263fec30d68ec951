"""Functions that answer no bounds queries, where the target has ``no_bounds_query``.

In: a lowered pipeline. Out: the same without its reply, so that its function refuses a buffer without memory.

    answer in = [x - 1, 3];  for x: …   ->   for x: …
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.ir import AnswerQuery, Block, Stmt
from halide_core.ir.visitor import Rewriter
from halide_core.lowering.module import Lowered


def without_query(lowered: Lowered) -> Lowered:
    """The pipeline without the reply to a query."""
    return replace(lowered, body=_WithoutReply().stmt(lowered.body))


class _WithoutReply(Rewriter):
    """Makes the reply an empty block."""

    def rewrite_AnswerQuery(self, _: AnswerQuery) -> Stmt:
        """Nothing: what it told of regions is not computed either."""
        return Block(())
