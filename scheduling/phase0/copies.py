"""Copies of Funcs, where one label can't dominate every use (lemma 2.5): the last part of phase 0.

In: an algorithm whose Funcs that are left have loops of their own. Out: its Funcs, with the copies.

    g.compute_at(f, y), where stages 0 and 1 of f read g   ->   stage 1 reads g_1, which is computed in its own loop y

A Func with updates and without a place has a copy for each stage that reads it; one that is computed in a loop of a
Func, for each of that Func's stages in which it is used, and for those of its copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from halide_core.algorithm.model import Algorithm, Definition, Function, realization_order
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.ir import Access, Callee
from halide_core.ir.names import OUTERMOST
from halide_core.ir.visitor import nodes_of
from halide_core.schedule.directives import AtLevel, ComputeAt, ComputeInline, ComputeRoot, Directive

_Use = tuple[Function, int]
"""A stage of a Func."""


def place(func: Function) -> ComputeAt | ComputeRoot | None:
    """Where the user said that a Func is computed; the last such directive counts. None: inline or where it is used."""
    places = [d for d in func.directives if isinstance(d, ComputeAt | ComputeRoot | ComputeInline)]
    return places[-1] if places and not isinstance(places[-1], ComputeInline) else None


def taken_names(algorithm: Algorithm) -> UniqueNames:
    """Names for copies, none of which anything has."""
    arguments = [i.name for i in algorithm.images] + [p.name for p in algorithm.params]
    memory = [f.component_name(k) for f in algorithm.functions for k in range(len(f.types))]
    return UniqueNames([f.name for f in algorithm.functions] + memory + arguments)


def copied(
    f: Function, name: str, copies: Mapping[Callee, Callee], directives: Sequence[Directive] | None = None
) -> Function:
    """A copy of a Func, with its directives, or others; it reads the given copies of others in place of those, and its
    directives are about them, and know the user's."""
    copy = Function(name, f.args, f.types, location=f.location, original=f.own)
    to = {**copies, f: copy}
    renamed = Renamed(to)
    copy.definitions = [renamed.definition(d) for d in f.definitions]
    copy.extern = renamed.call(f.extern)
    given = f.directives if directives is None else directives
    copy.directives = [replace(d.renamed(to).with_exprs(renamed.expr), user=d.own) for d in given]
    return copy


def copies_where_used(algorithm: Algorithm) -> list[Function]:
    """The algorithm's Funcs, each used where one label can stand, as far as its place allows."""
    copying = _Copying(algorithm)
    outputs = set(algorithm.outputs)
    for f in reversed(algorithm.functions):  # a copy of a consumer gets copies of its own
        if f not in outputs:
            copying.settle(f)
    return [f for f in realization_order(algorithm.outputs) if f in copying.uses]


class _Copying:
    """The uses of each Func, as they become."""

    def __init__(self, algorithm: Algorithm) -> None:
        self._names = taken_names(algorithm)
        self.uses: dict[Callee, dict[_Use, None]] = {}
        for f in algorithm.functions:
            self._used_by(f)

    def _used_by(self, f: Function) -> None:
        self.uses.setdefault(f, {})
        for stage, d in enumerate(f.definitions):
            for callee in _read(d):
                if callee is not f:
                    self.uses.setdefault(callee, {})[f, stage] = None

    def settle(self, f: Function) -> None:
        """Makes the copies of a Func whose consumers are settled."""
        at = place(f)
        if at is None:
            for use in list(self.uses[f])[1:]:
                self._copy(f, [use])
        elif isinstance(at, ComputeAt):
            groups: dict[_Use | None, list[_Use]] = {}
            for use in self.uses[f]:
                groups.setdefault(self._part(use, at), []).append(use)
            home = next((part for part in groups if part is not None and part[0] is at.consumer), None)
            if home is not None and None not in groups:
                for part, uses in groups.items():
                    if part is not home:
                        self._copy(f, uses)

    def _part(self, use: _Use, at: ComputeAt) -> _Use | None:
        """The part that a label at a level can dominate: one stage of a consumer; or all, where the level is around
        them or is said to be one's. None for a use that is in none."""
        around = self._around(use, at.consumer)
        whole = at.var == OUTERMOST or at.stage >= 0
        return (around[0], at.stage) if around is not None and whole else around

    def _around(self, use: _Use, consumer: Callee, known: dict[Function, _Use | None] | None = None) -> _Use | None:
        """The stage of a consumer, or of a copy of it, in whose loops a stage is computed, if its place is in any."""
        func, _ = use
        known = {} if known is None else known
        if func.own is consumer.own:
            return use
        if func not in known:
            found = {self._around(each, consumer, known) for each in self.uses[func]}
            known[func] = found.pop() if len(found) == 1 and not isinstance(place(func), ComputeRoot) else None
        return known[func]

    def _copy(self, f: Function, uses: Sequence[_Use]) -> None:
        """A copy for some uses, which all are in one place; its levels are in copies of consumers where those are."""
        consumers: dict[Callee, Callee] = {}
        for consumer in dict.fromkeys(d.consumer for d in f.directives if isinstance(d, AtLevel)):
            around = self._around(uses[0], consumer)
            if around is not None:
                consumers[consumer] = around[0]
        copy = copied(f, self._names.fresh_of(f.name, len(f.types)), consumers)
        for g, stage in uses:
            g.definitions[stage] = Renamed({f: copy}).definition(g.definitions[stage])
            del self.uses[f][g, stage]
        self._used_by(copy)
        self.uses[copy] = dict.fromkeys(uses)


def _read(d: Definition) -> list[Callee]:
    """The callees that a definition reads, each once."""
    roots = d.exprs() + ((d.domain.predicate,) if d.domain else ())
    return list(dict.fromkeys(e.callee for e in nodes_of(roots, Access)))
