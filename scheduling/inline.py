"""Phase 0: rewrites of the algorithm itself, Alg -> Alg.

In: a snapshot of the user's program. Out: one in which every Func that is left has loops of its own.

    fun g(x) = x*2; fun f(x) = g(x + 1)     ->   fun f(x) = (x + 1)*2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm import (
    Algorithm,
    Definition,
    Function,
    ReductionDomain,
    Renamed,
    UniqueNames,
    leaves,
    realization_order,
)
from halide_core.ir import Access, Expr
from halide_core.schedule import AtLevel, ComputeAt, ComputeInline, ComputeRoot, Estimate
from halide_core.visit import Rewriter, Substitution, accesses_to
from scheduling.legality import refuse
from scheduling.tracing import show_traces

_PLACED = (ComputeAt, ComputeRoot)


def has_place(func: Function) -> bool:
    """Whether the user said where the Func is computed; the last such directive counts."""
    places = [d for d in func.directives if isinstance(d, (*_PLACED, ComputeInline))]
    return bool(places) and isinstance(places[-1], _PLACED)


def inline_functions(algorithm: Algorithm) -> Algorithm:
    """Substitutes every pure Func without a place of its own into its uses ([FUNC-EVAL] of figure 2.6), and gives
    each use of a Func with updates and without a place a copy of its own.

    Raises: ScheduleError for a directive about the loops or storage of a Func that is inlined: it would be lost.
    """
    outputs = set(algorithm.outputs)
    inlined = {f for f in algorithm.functions if f.is_pure and f not in outputs and not has_place(f)}
    for f in algorithm.functions:
        if f in inlined:
            _refuse_lost_directives(f)
    if inlined:
        rewriter = _Inliner(inlined)
        for f in algorithm.functions:
            f.definitions = [rewriter.definition(d) for d in f.definitions]
    kept = [f for f in algorithm.functions if f not in inlined]
    algorithm = _with_functions(algorithm, kept)
    return show_traces(_with_functions(algorithm, _copies_where_used(algorithm)))


def _with_functions(algorithm: Algorithm, functions: list[Function]) -> Algorithm:
    images, params = leaves(functions)
    directives = tuple(d for f in functions for d in f.directives)
    # Arguments that only an inlined-away expression mentioned are still arguments: the caller passes them.
    images = list(dict.fromkeys([*algorithm.images, *images]))
    params = list(dict.fromkeys([*algorithm.params, *params]))
    return replace(
        algorithm, functions=tuple(functions), images=tuple(images), params=tuple(params), directives=directives
    )


def _refuse_lost_directives(f: Function) -> None:
    for d in f.directives:
        of_itself = isinstance(d, AtLevel) and d.consumer is f  # hl.LoopLevel.inlined()
        if not of_itself and not isinstance(d, ComputeInline | ComputeRoot | ComputeAt | Estimate):
            refuse(
                d,
                f'"{f.name}" has no loops of its own, since it is computed inline where it is used, so this would '
                f"have no effect. Say where it is computed, for example {f.name}.compute_root().",
            )


class _Inliner(Rewriter):
    """Replaces calls of inlined Funcs; those Funcs' own definitions are rewritten first, producers first."""

    def __init__(self, inlined: set[Function]) -> None:
        super().__init__()
        self._inlined = inlined

    def rewrite_Access(self, e: Access) -> Expr:
        args = tuple([self.expr(a) for a in e.args])
        callee = e.callee
        if not isinstance(callee, Function) or callee not in self._inlined:
            return Access(e.type, callee, args, e.component, e.stage)
        variables: dict[Expr, Expr] = {ir.pure_variable(n): a for n, a in zip(callee.args, args, strict=True)}
        return Substitution(variables).expr(callee.definitions[0].values[e.component])

    def definition(self, d: Definition) -> Definition:
        """A definition with its calls inlined."""
        domain = d.domain
        if domain is not None:
            predicate = self.expr(domain.predicate)
            if predicate is not domain.predicate:
                changed = ReductionDomain(domain.names, domain.bounds, predicate, domain.location)
                again = Renamed({}, {domain: changed})
                changed.predicate = again.expr(predicate)
                d = again.definition(replace(d, domain=None))
                d = replace(d, domain=changed)
        return replace(
            d,
            args=tuple(map(self.expr, d.args)),
            values=tuple(map(self.expr, d.values)),
            predicate=self.expr(d.predicate),
        )


def _copies_where_used(algorithm: Algorithm) -> list[Function]:
    """Copies each unplaced Func that is left so that every copy is read by one stage only.

    Consumers are settled before their producers, so that a copy of a consumer gets copies of its own.
    """
    names = UniqueNames(
        [f.name for f in algorithm.functions]
        + [i.name for i in algorithm.images]
        + [p.name for p in algorithm.params]
    )
    outputs = set(algorithm.outputs)
    functions = list(algorithm.functions)
    for f in reversed(algorithm.functions):
        if f in outputs or has_place(f):
            continue
        readers = [
            (g, stage)
            for g in functions
            if g is not f
            for stage, d in enumerate(g.definitions)
            if _reads(d, f)
        ]
        for g, stage in readers[1:]:
            copy = copied(f, names.fresh(f.name), {})
            g.definitions[stage] = Renamed({f: copy}).definition(g.definitions[stage])
            functions.insert(functions.index(f) + 1, copy)
    return [f for f in realization_order(algorithm.outputs) if f in set(functions)]


def _reads(d: Definition, f: Function) -> bool:
    roots = d.exprs() + ((d.domain.predicate,) if d.domain else ())
    return bool(accesses_to(f, roots))


def copied(f: Function, name: str, copies: Mapping[Function, ir.Callee]) -> Function:
    """A copy of a Func, with its directives; it reads the given copies of others in place of those, and its directives
    are about them, and know the user's."""
    copy = Function(name, f.args, f.types, location=f.location, original=f.own)
    to: dict[ir.Callee, ir.Callee] = {old: other for old, other in copies.items()}  # noqa: C416  # of other types
    to[f] = copy
    renamed = Renamed(to)
    copy.definitions = [renamed.definition(d) for d in f.definitions]
    copy.directives = [replace(d.renamed(to), user=d.own) for d in f.directives]
    return copy
