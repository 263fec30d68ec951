"""𝓢 in phases (figure 2.11): the order in which directives are applied, and nothing else.

In: T₀ and the directives that the user recorded. Out: every Tᵢ with the directive that made it.

Why this order: a specialization is a copy of a stage as lowering made it, which the directives about its loops then
rewrite, so copies come first; a label is moved into a loop, so loops come before labels; memory lives around a label,
so labels come before allocations; a prefetch is of memory, and stands in a loop; bounds directives speak of the holes
that all of these leave; last, loops over dimensions that no directive rests on may leave out what memory keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from halide_core.algorithm.model import Function
from halide_core.errors import InternalError
from halide_core.loop_nest import Program
from halide_core.schedule.access_directives import Atomic, PartitionLoop, Prefetch
from halide_core.schedule.directives import (
    AlignBounds,
    AllowRaceConditions,
    Async,
    Bound,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    ComputeWith,
    DebugToFile,
    Directive,
    Estimate,
    Fuse,
    Rename,
    Reorder,
    Specialize,
    SpecializeFail,
    Split,
    StoreAt,
    StoreRoot,
    Trace,
    Traverse,
)
from halide_core.schedule.func_directives import CloneIn, In, InInput, RFactor
from halide_core.schedule.storage_directives import (
    AlignStorage,
    BoundStorage,
    FoldStorage,
    HoistStorage,
    HoistStorageRoot,
    Memoize,
    ReorderStorage,
    RingBuffer,
    StorageDirective,
    StoreIn,
)
from halide_core.scheduling import loops, placement
from halide_core.scheduling.bounds_hints import align, bound
from halide_core.scheduling.compute_with import join_all, keep_together
from halide_core.scheduling.layout import lay_out
from halide_core.scheduling.memoize import memoize
from halide_core.scheduling.partition import partition
from halide_core.scheduling.phase0.copies import place
from halide_core.scheduling.prefetch import prefetch
from halide_core.scheduling.reductions import atomic
from halide_core.scheduling.sliding import give_loop_holes
from halide_core.scheduling.specialize import for_every_case, specialize_stages
from halide_core.scheduling.verify import check_dominance

LOOP_RULES: Mapping[type[Directive], Callable[[Program, Any], Program]] = {
    Split: loops.split,
    Fuse: loops.fuse,
    Reorder: loops.reorder,
    Traverse: loops.traverse,
    Rename: loops.rename,
    AllowRaceConditions: loops.allow_races,
    Atomic: atomic,
    PartitionLoop: partition,
}
"""The rewrite of each directive about loops."""

OF_OTHER_PHASES: frozenset[type[Directive]] = frozenset({
    Specialize, SpecializeFail,
    ComputeAt, ComputeRoot, ComputeInline, ComputeWith,
    StoreAt, StoreRoot, FoldStorage, HoistStorage, HoistStorageRoot,
    ReorderStorage, AlignStorage, BoundStorage, StoreIn,
    Prefetch,
    Bound, AlignBounds,
    Estimate, Trace, DebugToFile, Async, RingBuffer, Memoize,
})  # fmt: skip
"""The directives that the loops' phase passes over; of the last six three change nothing, and are for tools and
people; threads, their memory and what is remembered are made after bounds inference
(``lowering.passes.asynchronous.fork``, ``ring``, ``lowering.passes.memory.remember``)."""

OF_PHASE_0: frozenset[type[Directive]] = frozenset({RFactor, In, InInput, CloneIn})
"""The directives that are gone before there are loops."""


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleStep:
    """A directive, or a default where the user gave none, and the program that it left."""

    told: str
    program: Program


def apply_schedule(program: Program) -> list[ScheduleStep]:
    """Applies every directive of the program's algorithm. The last step holds the fully scheduled program.

    Raises: ScheduleError at the line of the directive that is illegal.
    """
    steps: list[ScheduleStep] = []
    checked: Program | None = None
    for phase in (
        _specialization_phase, _loops_phase, _compute_phase, _storage_phase, _prefetch_phase, _bounds_phase,
        _sliding_phase,
    ):  # fmt: skip
        for step in phase(program):
            steps.append(step)
            program = step.program
        if program is not checked:
            check_dominance(program)
            checked = program
    return steps


def _specialization_phase(program: Program) -> Iterator[ScheduleStep]:
    for d, specialized in specialize_stages(program):
        yield ScheduleStep(str(d), specialized)


def _loops_phase(program: Program) -> Iterator[ScheduleStep]:
    for d in for_every_case(program):
        rule = LOOP_RULES.get(type(d))
        if rule is None:
            if type(d) not in OF_OTHER_PHASES:
                raise InternalError(f"No phase applies {d}.", d.location)
            continue
        program = rule(program, d)
        yield ScheduleStep(str(d), program)


def _compute_phase(program: Program) -> Iterator[ScheduleStep]:
    asked = [d for d in for_every_case(program) if isinstance(d, ComputeWith)]
    program = keep_together(program, asked)
    readers = placement.uses(program)
    outputs = set(program.algorithm.outputs)
    placed: set[Function] = set()
    for func in _consumers_first(program, readers):  # a legal level must be where it will stay
        match place(func):
            case ComputeAt() as d:
                program = placement.compute_at(program, d, readers[func])
                yield ScheduleStep(str(d), program)
            case ComputeRoot() as d:
                program = placement.compute_root(program, d)
                yield ScheduleStep(str(d), program)
            case None if func not in outputs:
                program = placement.compute_where_used(program, func, readers[func])
                yield ScheduleStep(f"{func.name} is computed where it is used", program)
        placed.add(func)
        if func in program.together and placed.issuperset(program.beside(func)):
            joining = [d for d in asked if program.named[d.func.name] in program.beside(func)]
            program = join_all(program, joining)
            yield ScheduleStep("; ".join(map(str, joining)), program)


def _consumers_first(program: Program, readers: placement.Uses) -> list[Function]:
    """The Funcs, with those that are the user's one Func together: what is said of one copy may be said of all. Those
    that share loops are together, too: what is computed in these has its place after all of them."""
    functions = list(reversed(program.algorithm.functions))
    copies: dict[Function, list[Function]] = {}
    for func in functions:
        copies.setdefault(func.own, []).append(func)
    found: dict[Function, None] = {}

    def find(func: Function) -> None:
        if func not in found:
            alike = copies[func.own] if func not in program.together else list(reversed(program.beside(func)))
            for consumer in [key.func for each in alike for key in readers[each]]:
                if consumer.own is not func.own:
                    find(consumer)
            found.update(dict.fromkeys(alike))

    for func in functions:
        find(func)
    return list(found)


def _storage_phase(program: Program) -> Iterator[ScheduleStep]:
    outputs = set(program.algorithm.outputs)
    for func in program.algorithm.functions:
        asked = [d for d in func.directives if isinstance(d, StoreAt | StoreRoot)]
        if not asked:
            if func not in outputs and program.computed[func] != program.stored[func]:
                program = placement.store_where_computed(program, func)
                yield ScheduleStep(f"{func.name} is stored where it is computed", program)
            continue
        match asked[-1]:
            case StoreAt() as d:
                program = placement.store_at(program, d)
            case StoreRoot() as d:
                program = placement.store_root(program, d)
        yield ScheduleStep(str(d), program)
    for func in program.algorithm.functions:
        for fold in [d for d in func.directives if isinstance(d, FoldStorage)]:
            program = placement.fold_storage(program, func, fold)
            yield ScheduleStep(str(fold), program)
        hoists = [d for d in func.directives if isinstance(d, HoistStorage | HoistStorageRoot)]
        if hoists:
            program = placement.hoist_storage(program, func, hoists[-1])
            yield ScheduleStep(str(hoists[-1]), program)
        for layout in [d for d in func.directives if isinstance(d, StorageDirective)]:
            program = lay_out(program, func, layout)
            yield ScheduleStep(str(layout), program)
        for kept in [d for d in func.directives if isinstance(d, Memoize)][-1:]:
            program = memoize(program, kept)
            yield ScheduleStep(str(kept), program)


def _prefetch_phase(program: Program) -> Iterator[ScheduleStep]:
    for d in for_every_case(program):
        if isinstance(d, Prefetch):
            program = prefetch(program, d)
            yield ScheduleStep(str(d), program)


def _bounds_phase(program: Program) -> Iterator[ScheduleStep]:
    for d in program.algorithm.directives:
        match d:
            case Bound():
                program = bound(program, d)
            case AlignBounds():
                program = align(program, d)
            case _:
                continue
        yield ScheduleStep(str(d), program)


def _sliding_phase(program: Program) -> Iterator[ScheduleStep]:
    for func in program.algorithm.functions:
        changed = give_loop_holes(program, func)
        if changed is not program:
            program = changed
            yield ScheduleStep(
                f"{func.name} may leave out what earlier iterations computed: its memory outlives them", program
            )
