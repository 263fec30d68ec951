"""Phase 0: rewrites of the algorithm itself, Alg -> Alg.

In: a snapshot of the user's program. Out: one in which every Func that is left has loops of its own.

    fun g(x) = x*2; fun f(x) = g(x + 1)     ->   fun f(x) = (x + 1)*2
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function, ReductionDomain
from halide_core.algorithm.rename import Renamed
from halide_core.algorithm.snapshot import leaves
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import Access, Callee, ExprNode, LoopKind
from halide_core.ir.visitor import Rewriter, Substitution
from halide_core.loop_nest import is_async
from halide_core.schedule.directives import (
    Async,
    AtLevel,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    ComputeWith,
    Directive,
    Estimate,
    Specialize,
    SpecializeFail,
    StoreAt,
    StoreRoot,
    Traverse,
)
from halide_core.schedule.storage_directives import (
    FoldStorage,
    HoistStorage,
    HoistStorageRoot,
    Memoize,
    RingBuffer,
    StorageDirective,
)
from halide_core.scheduling.legality import refuse
from halide_core.scheduling.phase0.copies import copies_where_used, place
from halide_core.scheduling.phase0.trace import show_traces


def inline_functions(algorithm: Algorithm) -> Algorithm:
    """Substitutes every pure Func without a place of its own into its uses ([FUNC-EVAL] of figure 2.6), and makes
    the copies that the others need.

    Raises: ScheduleError for a directive about how loops run, or where memory is, of a Func that is inlined; for a ring
    of memory that is not hoisted.
    """
    inlined = _inlined(algorithm)
    for f in algorithm.functions:
        if f not in algorithm.outputs and place(f) is not None:
            _refuse_ring_in_place(f)
    for f in inlined:
        _refuse_lost_directives(f)
    warn_of_lost_directives(algorithm)
    for d in [d for f in algorithm.outputs for d in f.directives if isinstance(d, Memoize)]:
        refuse(d, f'"{d.own.func.name}" is an output of the pipeline, which each run writes: it can\'t be memoized.')
    for f in algorithm.outputs:
        f.directives = [d for d in f.directives if not isinstance(d, (*_OF_MEMORY, *_OF_PLACE))]
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


_DEMANDS = (Memoize, Specialize, SpecializeFail, StoreRoot, StoreAt, HoistStorage, HoistStorageRoot, ComputeWith)
"""Directives that ask for something which only loops and memory give: how fast it is, where it lives."""

_OF_PLACES = (ComputeInline, ComputeRoot, ComputeAt, Estimate)
"""Directives of which an inlined Func's may be, or which are told of for themselves."""

_OF_MEMORY = (StorageDirective, FoldStorage, RingBuffer, HoistStorage, HoistStorageRoot)
"""Directives about memory that the compiler allocates. An output's is the caller's."""
_OF_PLACE = (ComputeAt, StoreAt)
"""Directives about loops that a Func and its memory go into. An output is computed at the root, whoever else reads
it."""


def _inlined(algorithm: Algorithm) -> dict[Function, None]:
    """The pure Funcs without a place of their own."""
    outputs = set(algorithm.outputs)
    return {f: None for f in algorithm.functions if f.is_pure and f not in outputs and place(f) is None}


def _lost(f: Function) -> Iterator[Directive]:
    """The directives of an inlined Func that have nothing to be about."""
    for d in f.directives:
        of_itself = isinstance(d, AtLevel) and d.consumer is f  # hl.LoopLevel.inlined()
        if not of_itself and not d.funcs() and not isinstance(d, _OF_PLACES):
            yield d  # one that made a Func is about those that read it


def _refuse_lost_directives(f: Function) -> None:
    for d in _lost(f):
        if _is_demand(d):
            refuse(d, _told(f, "this would have no effect"))


def _is_demand(d: Directive) -> bool:
    return isinstance(d, _DEMANDS) or (isinstance(d, Traverse) and d.kind is not LoopKind.SERIAL)


def warn_of_lost_directives(algorithm: Algorithm) -> None:
    """Warns, once, of each directive that has no effect, and that asks for nothing which is then missed: of an inlined
    Func, since what is not there needs no bound, no layout and no line in a trace; of an output's place and
    memory."""
    for f in algorithm.outputs:
        for d in f.directives:
            if isinstance(d, Async):
                told = f'"{f.name}" is an output of the pipeline: nothing reads it beside, so this has no effect.'
                warn_user(f"{d.spelled()}: {told}", IgnoredDirectiveWarning, d.location)
            if isinstance(d, _OF_PLACE):
                told = f'"{f.name}" is an output of the pipeline and is computed at the root, so this has no effect.'
                warn_user(f"{d.spelled()}: {told}", IgnoredDirectiveWarning, d.location)
            if isinstance(d, _OF_MEMORY):
                told = f'"{f.name}" is an output of the pipeline: its memory is the caller\'s, so this has no effect.'
                warn_user(f"{d.spelled()}: {told}", IgnoredDirectiveWarning, d.location)
    for f in algorithm.functions:
        asked = [d for d in f.directives if isinstance(d, RingBuffer)]
        if asked and f not in algorithm.outputs and place(f) is not None:
            told = _useless_ring(f)
            if told:
                told = f'"{f.own.name}" {told}, so this has no effect.'
                warn_user(f"{asked[-1].own.spelled()}: {told}", IgnoredDirectiveWarning, asked[-1].location)
    for f in _inlined(algorithm):
        for d in _lost(f):
            if not _is_demand(d):
                warn_user(f"{d.spelled()}: {_told(f, 'this has no effect')}", IgnoredDirectiveWarning, d.location)


def _useless_ring(f: Function) -> str:
    """Why copies of a Func's memory would not be used; nothing if they can be."""
    if not is_async(f):
        return "is computed by the thread that reads it, one iteration after another (async_() gives it its own)"
    return ""


def _refuse_ring_in_place(f: Function) -> None:
    """Refuses a ring of memory that is allocated where it lives: no loop is between, whose iterations take turns."""
    asked = [d for d in f.directives if isinstance(d, RingBuffer)]
    hoisted = [d for d in f.directives if isinstance(d, HoistStorage | HoistStorageRoot)]
    stored = [d for d in f.directives if isinstance(d, StoreAt | StoreRoot)]
    computed = [d for d in f.directives if isinstance(d, ComputeAt | ComputeRoot)]
    if asked and (not hoisted or _level(hoisted[-1]) == _level((stored or computed)[-1])):
        refuse(
            asked[-1],
            f'the memory of "{f.own.name}" is not hoisted out of any loop, whose iterations would take turns with the '
            f"copies. Add hoist_storage_root(), or hoist_storage() of a loop further out.",
        )


def _level(d: Directive) -> tuple[Callee, object] | None:
    """The loop that a directive names; None is the root."""
    return (d.consumer, d.var) if isinstance(d, AtLevel) else None


def _told(f: Function, effect: str) -> str:
    return (
        f'"{f.name}" has no loops of its own, since it is computed inline where it is used, so {effect}. '
        f"Say where it is computed, for example {f.name}.compute_root()."
    )


class _Inliner(Rewriter):
    """Replaces calls of inlined Funcs; those Funcs' own definitions are rewritten first, producers first."""

    def __init__(self, inlined: Container[Callee]) -> None:
        super().__init__()
        self._inlined = inlined

    def rewrite_Access(self, e: Access) -> ExprNode:
        args = tuple([self.expr(a) for a in e.args])
        callee = e.callee
        if not isinstance(callee, Function) or callee not in self._inlined:
            return Access(e.type, callee, args, e.component, e.stage)
        variables: dict[ExprNode, ExprNode] = {ir.pure_variable(n): a for n, a in zip(callee.args, args, strict=True)}
        return Substitution(variables).expr(callee.definitions[0].values[e.component])

    def definition(self, d: Definition) -> Definition:
        """A definition with its calls inlined."""
        domain = d.domain
        if domain is not None:
            predicate = self.expr(domain.predicate)
            if predicate is not domain.predicate:
                changed = ReductionDomain(
                    domain.names, domain.bounds, predicate, domain.location, at_once=domain.at_once
                )
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
