"""Phase 0: rewrites of the algorithm itself, Alg -> Alg.

In: a snapshot of the user's program. Out: one in which every Func that is left has loops of its own.

    fun g(x) = x*2; fun f(x) = g(x + 1)     ->   fun f(x) = (x + 1)*2
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function, ReductionDomain, Renamed, leaves
from halide_core.ir import Access, Expr
from halide_core.ir.visitor import Rewriter, Substitution
from halide_core.schedule.directives import AtLevel, ComputeAt, ComputeInline, ComputeRoot, Estimate
from halide_core.scheduling.legality import refuse
from halide_core.scheduling.phase0.copies import copies_where_used, place
from halide_core.scheduling.phase0.trace import show_traces


def inline_functions(algorithm: Algorithm) -> Algorithm:
    """Substitutes every pure Func without a place of its own into its uses ([FUNC-EVAL] of figure 2.6), and makes
    the copies that the others need.

    Raises: ScheduleError for a directive about the loops or storage of a Func that is inlined: it would be lost.
    """
    outputs = set(algorithm.outputs)
    inlined = {f for f in algorithm.functions if f.is_pure and f not in outputs and place(f) is None}
    for f in algorithm.functions:
        if f in inlined:
            _refuse_lost_directives(f)
    if inlined:
        rewriter = _Inliner(inlined)
        for f in algorithm.functions:
            f.definitions = [rewriter.definition(d) for d in f.definitions]
    kept = [f for f in algorithm.functions if f not in inlined]
    algorithm = _with_functions(algorithm, kept)
    return show_traces(_with_functions(algorithm, copies_where_used(algorithm)))


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
