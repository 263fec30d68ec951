"""Memoized Funcs are computed where nothing is remembered of an equal key.

In: a program with bounds, whose allocations say what is computed of these Funcs. Out: the same, with a Remember around
each of their computations.

    allocate g(I): label g: s   ->   allocate g(I): remember g by (I, what is computed of it, p): label g: s

All values that are read are in the region that is computed, and depend on their coordinates and on the key's words
alone. So memory of the same shape, in which the same region was computed with the same words, has them all. What else
is in that memory nobody reads. Where a Param says how long dimensions are in memory (``bound_storage``), or how many
slots they have, that is part of the shape:

    allocate g(I, J) of n by m: label g: s   ->   allocate g(I, J) of n by m: remember g by (I, J, …, n, m): label g: s
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core.algorithm.model import Function
from halide_core.ir import Allocate, Callee, ExprNode, IntImm, Label, Remember, Stmt
from halide_core.ir.visitor import Rewriter
from halide_core.loop_nest import Remembered


def remember(stmt: Stmt, remembered: Mapping[Function, Remembered]) -> Stmt:
    """See the module's docstring."""
    return _Remembering(remembered).stmt(stmt)


class _Remembering(Rewriter):
    def __init__(self, remembered: Mapping[Function, Remembered]) -> None:
        super().__init__()
        self._remembered: Mapping[Callee, Remembered] = dict(remembered.items())
        self._memory: dict[Callee, list[ExprNode]] = {}
        """All that decides where points are in memory, and which are computed."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def rewrite_Allocate(self, s: Allocate) -> Stmt:
        """The same; it is seen before what is computed in it."""
        if s.func in self._remembered:
            told = (*s.folds, *(() if s.layout is None else s.layout.extents))
            lengths = [e for e in told if e is not None and not isinstance(e, IntImm)]
            self._memory[s.func] = [*(e for i in (*s.bounds, *s.computed) for e in (i.min, i.len)), *lengths]
        return s

    def rewrite_Label(self, s: Label) -> Stmt:
        """The computation, where it is not remembered."""
        inner = self.inside(s)
        known = self._remembered.get(s.func)
        if s.stage is not None or known is None:
            return inner
        return Remember(s.func, (*self._memory[s.func], *known.words), known.evicted, None, inner)
