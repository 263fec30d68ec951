"""Claims about the loops of a stage: that they write every point that counts, and an update each just once, in order.

In: the stages of a tree, and the witness that each split and fuse left. Out: Claims.

    for xo in (0, ceil(n/8)): for xi in (0, 8): let x = m + xo*8 + xi; if x < m + n: f[x] = …
    ->  m <= x < m + n, xo = (x - m)/8, xi = x - m - xo*8  ⇒  0 <= xo < ceil(n/8) && 0 <= xi < 8
                                                              && x == m + xo*8 + xi && x < m + n

Coverage says which iteration covers a point; order says that of two iterations of an update at the same pure
coordinates the later one is later in the reduction domain too, so that none is repeated and none overtakes.
"""

from __future__ import annotations

from collections.abc import Iterator

from halide_core import ir
from halide_core.algorithm.model import Definition, Function
from halide_core.analysis.index import TargetExprs, stage_variables, startup_index
from halide_core.bounds.verify.cases import StageSite
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text
from halide_core.ir import Access, ExprNode, If, Interval, Let, Provide, RVarRef, Stmt, Variable
from halide_core.ir.boxes import differs
from halide_core.ir.logic import any_of, negation, within
from halide_core.ir.types import INT32
from halide_core.ir.visitor import Substitution, accesses_to, sub_stmts, subexpressions
from halide_core.loop_nest import Nest, Order


def stage_claims(site: StageSite, nest: Nest, holes: Substitution, number: int) -> list[Claim]:
    """Coverage and order of one nest. ``holes`` fills the witnesses; ``number`` keeps the names apart."""
    chain = _chain(site)
    if chain is None:
        text = (f"stage {site.stage} has one assignment",)
        where = site.func.definitions[site.stage].location
        return [Claim(ClaimKind.COVERAGE, site.func.name, text, site.context, ir.FALSE, where)]
    nests = _Nests(site, nest, chain, holes, number)
    claims = nests.coverage()
    if site.stage:
        claims += [nests.order(), *nests.domain()]
    return claims


def _chain(site: StageSite) -> list[Stmt] | None:
    """The statements around the one assignment of a stage, outermost first, without the definition's own conditions;
    lets are among it. None where there is no such assignment, or several."""
    paths = list(_paths(site.body, site.func, site.stage))
    if len(paths) != 1:
        return None
    (path,) = paths
    return path[: len(path) - site.tests]  # what is left out is compared with the definition elsewhere


def _paths(stmt: Stmt, func: Function, stage: int) -> Iterator[list[Stmt]]:
    """The way down to each assignment of the stage itself: its label may stand in loops of another stage, but not in
    what is computed there."""
    match stmt:
        case Provide():
            if stmt.func is func and stmt.stage == stage:
                yield []
        case ir.Block(stmts=stmts):
            lets: list[Stmt] = []
            for s in stmts:
                for path in _paths(s, func, stage):
                    yield [*lets, *path]
                if isinstance(s, Let):
                    lets.append(s)
        case ir.Label():
            if stmt.stage is not None:
                yield from _paths(stmt.body, func, stage)
        case _:
            for s in sub_stmts(stmt):
                for path in _paths(s, func, stage):
                    yield [stmt, *path]


class _Nests:
    """The nest of one stage, under names of its own."""

    def __init__(self, site: StageSite, nest: Nest, chain: list[Stmt], holes: Substitution, number: int) -> None:
        self._site = site
        self._chain = chain
        self._order = nest.order
        self._number = number
        self._witnesses = [Let(w.var, holes.expr(w.value), None) for w in nest.witnesses]
        self._definition: Definition = site.func.definitions[site.stage]
        self._variables = stage_variables(*site.key)

    def _claim(self, kind: ClaimKind, text: Text, context: Context, holds: ExprNode) -> Claim:
        return Claim(kind, self._site.func.name, text, context, holds, self._definition.location)

    def _domain(self) -> list[tuple[ExprNode, Interval]]:
        """The reduction variables, innermost first, and what they range over."""
        domain = self._definition.domain
        if domain is None:
            return []
        return [
            (self._variables[RVarRef(INT32, domain, i)], Interval(startup_index(b.min), startup_index(b.len)))
            for i, b in enumerate(domain.bounds)
        ]

    def _pure(self) -> list[tuple[ExprNode, Interval]]:
        """The pure variables, and the compute bounds."""
        f, stage = self._site.func, self._site.stage
        return [
            (self._variables[ir.pure_variable(name)], over)
            for name, over, pure in zip(f.args, self._site.box, f.pure_dims(stage), strict=True)
            if pure
        ]

    def _names(self, old: list[ExprNode], mark: str) -> Substitution:
        """New names for every variable of the nest."""
        bound: dict[ExprNode, ExprNode] = {}
        for v in old:
            assert isinstance(v, Variable)
            bound[v] = self._renamed(v, mark)
        for s in self._chain:
            if isinstance(s, ir.For | Let):
                bound[s.var] = self._renamed(s.var, mark)
        for w in self._witnesses:
            bound[w.var] = self._renamed(w.var, mark)
        return Substitution(bound)

    def _renamed(self, v: Variable, mark: str) -> Variable:
        return Variable(v.type, f"{v.name}{mark}{self._number}")

    def coverage(self) -> list[Claim]:
        """Every point of the compute bounds, and every point of the domain, has the iteration that the witnesses
        name: it is one of each loop, every guard lets it pass, and its lets give the point back."""
        site = self._site
        every = f"stage {site.stage}, every point that counts:"
        old = self._pure() + self._domain()
        names = self._names([v for v, _ in old], " @")
        context = site.context
        for v, over in old:
            context = context.holds(within(names.expr(v), over))
        given = {v for v, _ in old}
        for w in self._witnesses:
            assert w.var not in given
            given.add(w.var)
            context = context.defines(_variable(names, w.var), names.expr(w.value))
        goals: list[tuple[Text, ExprNode]] = []
        for s in self._chain:
            match s:
                case ir.For(loop=loop, var=var, bounds=bounds):
                    holds = within(names.expr(var), names.interval(bounds)) if var in given else ir.FALSE
                    goals.append(((f'{every} loop "{loop}" has its iteration',), holds))
                case Let(var=var, value=value) if var in given:
                    goals.append(((f"{every} {var.name} is given back",), ir.equal(names.expr(var), names.expr(value))))
                case Let(var=var, value=value):
                    context = context.defines(_variable(names, var), names.expr(value))
                case If(condition=condition, otherwise=other):
                    holds = names.expr(condition) if other is None else ir.FALSE
                    goals.append(((f"{every} ", condition, " lets it pass"), holds))
        return [self._claim(ClaimKind.COVERAGE, text, context, holds) for text, holds in goals]

    def order(self) -> Claim:
        """Iterations of an update at the same pure coordinates keep the order of its domain, strictly; or those do that
        touch one point; or, where the operator allows any order, none is repeated."""
        site = self._site
        pure, domain = self._pure(), self._domain()
        one, other = (self._names([v for v, _ in pure + domain], mark) for mark in (" @1.", " @2."))
        context = site.context
        for names in (one, other):
            context = self._instance(context, names)
        loops: list[ExprNode] = [s.var for s in self._chain if isinstance(s, ir.For)]
        earlier = _before([(one.expr(v), other.expr(v)) for v in loops])
        here = differs([one.expr(v) for v, _ in pure], [other.expr(v) for v, _ in pure])
        once: Text = (f"the loops of stage {site.stage} run each of its updates once, ",)
        if self._order is Order.COMMUTATIVE:
            kept = differs([one.expr(v) for v, _ in domain], [other.expr(v) for v, _ in domain])
            return self._claim(
                ClaimKind.ORDER, (*once, "in any order"), context, any_of((here, kept, negation(earlier)))
            )
        later = _before([(one.expr(v), other.expr(v)) for v, _ in reversed(domain)])
        if self._order is Order.IN_ORDER:
            told: Text = (*once, "and in the order of its domain")
            return self._claim(ClaimKind.ORDER, told, context, any_of((here, later, negation(earlier))))
        told = (*once, "and in the order of its domain where they touch one point")
        return self._claim(
            ClaimKind.ORDER, told, context, any_of((here, later, negation(earlier), self._apart(one, other)))
        )

    def _apart(self, one: Substitution, other: Substitution) -> ExprNode:
        """Two iterations meet in no point of the Func, by coordinates that no memory decides."""
        func, definition = self._site.func, self._definition
        indices = TargetExprs(self._variables)
        touched = dict.fromkeys([definition.args, *(e.args for e in accesses_to(func, definition.exprs()))])
        written = tuple(map(indices.index, definition.args))
        result: ExprNode = ir.TRUE
        for args in touched:
            pairs = list(zip(written, map(indices.index, args), strict=True))
            known = [pair for pair in pairs if not any(isinstance(e, Access) for e in subexpressions(pair))]
            for a, b in ((one, other), (other, one)):
                result = ir.conjunction(result, differs([a.expr(w) for w, _ in known], [b.expr(p) for _, p in known]))
        return result

    def domain(self) -> list[Claim]:
        """Every iteration of an update is a point of its domain: none runs beyond it."""
        pure, domain = self._pure(), self._domain()
        names = self._names([v for v, _ in pure + domain], " @3.")
        context = self._instance(self._site.context, names)
        text: Text = (f"every iteration of stage {self._site.stage} is one of its domain",)
        return [self._claim(ClaimKind.ORDER, text, context, within(names.expr(v), over)) for v, over in domain]

    def _instance(self, context: Context, names: Substitution) -> Context:
        """One iteration of the nest."""
        for s in self._chain:
            match s:
                case ir.For(var=var, bounds=bounds):
                    context = context.ranges(_variable(names, var), names.interval(bounds))
                case Let(var=var, value=value):
                    context = context.defines(_variable(names, var), names.expr(value))
                case If(condition=condition):
                    context = context.holds(names.expr(condition))
        return context


def _variable(names: Substitution, v: Variable) -> Variable:
    renamed = names.expr(v)
    assert isinstance(renamed, Variable)
    return renamed


def _before(pairs: list[tuple[ExprNode, ExprNode]]) -> ExprNode:
    """The first of two tuples is lexicographically before the second, the outermost coordinate first."""
    result: ExprNode = ir.FALSE
    for a, b in reversed(pairs):
        nested = result if result is ir.FALSE else ir.conjunction(ir.equal(a, b), result)
        result = any_of((ir.less(a, b), nested))
    return result
