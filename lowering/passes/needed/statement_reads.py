"""All that statements read, each looked through once.

In: a statement. Out: the Funcs and images that are read anywhere in it.

    for x: o[x] = f[x] + im[x]   ->   {f, im}
"""

from __future__ import annotations

from halide_core.ir import Access, Callee, Stmt
from halide_core.ir.visitor import nodes_of, stmt_exprs, sub_stmts


class StatementReads:
    """The reads of the statements of one tree."""

    def __init__(self) -> None:
        self._known: dict[Stmt, frozenset[Callee]] = {}

    def of(self, s: Stmt) -> frozenset[Callee]:
        """All that is read in a statement."""
        known = self._known.get(s)
        if known is None:
            direct = (e.callee for e in nodes_of(stmt_exprs(s), Access))
            known = self._known[s] = frozenset(direct).union(*map(self.of, sub_stmts(s)))
        return known
