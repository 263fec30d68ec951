"""Names and callees of a program in place of others: for copies of it.

In: callees and domains, each with another; names that are taken. Out: expressions and definitions that read from the
others, and names that nobody has.

    Renamed({f: g}).expr(f[x])   ->   g[x]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Definition, ExternCall, Partial, ReductionDomain, Tag
from halide_core.ir.expr_nodes import component_names
from halide_core.ir.visitor import Rewriter


class Renamed(Rewriter):
    """Rewrites expressions to read from other callees and other domains."""

    def __init__(
        self,
        to: dict[ir.Callee, ir.Callee],
        domains: dict[ir.Domain, ir.Domain] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._to = to
        self._domains = domains or {}
        self._variables = variables or {}

    @property
    def to(self) -> dict[ir.Callee, ir.Callee]:
        """The replacement of each callee."""
        return self._to

    def within(self, domains: dict[ir.Domain, ir.Domain]) -> Renamed:
        """The same rewriter, with all that a subclass has, for what stands in a definition over another domain."""
        inner = copy(self)
        inner._domains, inner._memo = domains, {}
        return inner

    def rewrite_Variable(self, e: ir.Variable) -> ir.ExprNode:
        """The variable under its new name."""
        return ir.Variable(e.type, self._variables.get(e.name, e.name))

    def rewrite_Access(self, e: ir.Access) -> ir.ExprNode:
        """An access to the replacement."""
        args = tuple([self.expr(a) for a in e.args])
        return ir.Access(e.type, self._to.get(e.callee, e.callee), args, e.component, e.stage)

    def rewrite_RVarRef(self, e: ir.RVarRef) -> ir.ExprNode:
        """A variable of the replacement."""
        return ir.RVarRef(e.type, self._domains.get(e.domain, e.domain), e.index)

    def rewrite_BufferField(self, e: ir.BufferField) -> ir.ExprNode:
        """A field of the replacement."""
        return ir.BufferField(e.type, self._to.get(e.buffer, e.buffer), e.field, e.dim)

    def call(self, call: ExternCall | None) -> ExternCall | None:
        """A call of a C function that is passed the replacements."""
        if call is None:
            return None
        passed = [self.expr(p) if isinstance(p, ir.ExprNode) else self._to.get(p, p) for p in call.params]
        return replace(call, params=tuple(passed))

    def definition(self, d: Definition) -> Definition:
        """A definition with all of its expressions rewritten."""
        domain = d.domain
        if domain is not None:
            own = ReductionDomain(
                domain.names,
                tuple(self.interval(i) for i in domain.bounds),
                domain.predicate,
                domain.location,
                at_once=domain.at_once,
            )
            inner = self.within({domain: own})
            own.predicate = inner.expr(domain.predicate)
            return replace(inner._stage(d), domain=own)
        return self._stage(d)

    def _stage(self, d: Definition) -> Definition:
        return replace(
            d,
            args=tuple(map(self.expr, d.args)),
            values=tuple(map(self.expr, d.values)),
            predicate=self.expr(d.predicate),
            partial=tuple([Partial(self.expr(p.value), self.expr(p.where)) for p in d.partial]),
            tags=tuple([Tag(self.expr(t.value), tuple(map(self.expr, t.words))) for t in d.tags]),
        )


class UniqueNames:
    """Gives each name once: the name itself, then ``name$1``, ``name$2`` …"""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._next: dict[str, int] = dict.fromkeys(taken, 1)

    def fresh(self, name: str) -> str:
        """A name that was not given yet."""
        number = self._next.get(name)
        if number is None:
            self._next[name] = 1
            return name
        while f"{name}${number}" in self._next:
            number += 1
        self._next[name] = number + 1
        self._next[f"{name}${number}"] = 1
        return f"{name}${number}"

    def fresh_of(self, name: str, components: int) -> str:
        """A name for a Func of so many values at a point, whose memory is ``name.0``, ``name.1`` … where these are
        several: names that nobody has either, and nobody gets."""
        while True:
            found = self.fresh(name)
            parts = component_names(found, components) if components > 1 else ()
            if self._next.keys().isdisjoint(parts):
                self._next.update(dict.fromkeys(parts, 1))
                return found
