"""Automatic schedules: what ``apply_autoscheduler`` and ``schedule="auto"`` ask for.

In: the outputs, and the window of each, or the estimates that were set of them. Out: a schedule as directives of the
Funcs, as if it had been written by hand: ``hl.Schedule(f)`` holds it, and prints it.

    f.realize([2560, 1920], schedule="auto");  print(hl.Schedule(f))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from halide_core.algorithm.model import Automatic, Function, Image, realization_order, with_made_funcs
from halide_core.algorithm.snapshot import leaves
from halide_core.analysis.interval import Range
from halide_core.autoschedule.choices import ChoiceError, decoded
from halide_core.autoschedule.constants import Constants
from halide_core.autoschedule.cost import CostModel
from halide_core.autoschedule.machine import MachineModel, machine, number
from halide_core.autoschedule.measured import constants_of_this_machine
from halide_core.autoschedule.plan import placed, planned
from halide_core.autoschedule.ranges import Region, extent
from halide_core.autoschedule.search import WIDTH, search
from halide_core.autoschedule.shapes import Level, Placed
from halide_core.autoschedule.stages import PipelineStages, promised
from halide_core.autoschedule.store import generation, store_key, stored
from halide_core.autoschedule.write import write
from halide_core.errors import NotAvailableError, ScheduleError
from halide_core.ir import IntImm
from halide_core.lang.buffer import Buffer
from halide_core.run.target import Target, is_this_machine
from halide_core.schedule.directives import (
    AlignBounds,
    Bound,
    DebugToFile,
    Directive,
    Estimate,
    Trace,
)

TUNED, MEASURED = "Tuned", "Measured"
_STORED = (TUNED, MEASURED)
_SEARCHING = ("Model", *_STORED, "Adams2019", "Li2018")
NAMES = ("", "Heuristic", "Mullapudi2016", *_SEARCHING)
"""The autoschedulers that can be asked for: ours by rules, by a search, and what the store has. Halide's stand for
ours of their kind, which read the parameters that they have too."""

_NO_SCHEDULE = (AlignBounds, Bound, DebugToFile, Estimate, Trace)
"""Promises, and what shows values: a schedule is chosen beside them."""


@dataclass(frozen=True, slots=True)
class AutomaticRequest:
    """A request for a schedule: equal ones get the same. ``windows`` is None where estimates say it."""

    windows: tuple[Region, ...] | None
    target: str
    name: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(
        cls,
        outputs: Sequence[Function],
        regions: Mapping[Function, Region] | None,
        target: Target,
        name: str,
        parameters: Mapping[str, str],
    ) -> AutomaticRequest:
        """A request for some outputs.

        Raises:
            ScheduleError: an unknown name.
        """
        if name not in NAMES:
            raise ScheduleError(f'There is no autoscheduler "{name}": there is {", ".join(n for n in NAMES if n)}.')
        windows = None if regions is None else tuple(regions[f] for f in outputs)
        return cls(windows, str(target), name, tuple(sorted((k, str(v)) for k, v in parameters.items())))


def schedule_automatically(outputs: Sequence[Function], request: AutomaticRequest, *, by_default: bool = False) -> None:
    """Gives all Funcs of a pipeline a schedule. One that was chosen before is kept where it was chosen for the same,
    and is replaced otherwise.

    Args:
        by_default: nobody asked for it: nothing happens where there is a schedule, or where the sizes are not known.

    Raises:
        ScheduleError: a Func that has a schedule already; an output without a window.
    """
    order = realization_order(outputs)
    key = _key(outputs, order, request)
    if _holds(order, key):
        return
    given = scheduled(order)
    if given is not None:
        if by_default:
            return
        raise ScheduleError(f"A pipeline that is scheduled already has no automatic schedule: {given.spelled()}.")
    if by_default and request.windows is None and any(_unknown(f) is not None for f in outputs):
        return
    whole = expected_windows(outputs, request)
    unschedule(order)
    before = {f: len(f.directives) for f in order}
    hardware = machine(Target(request.target), dict(request.parameters))
    stages = PipelineStages(order, whole)
    chosen, why = _choice(stages, hardware, request)
    write(chosen, stages, hardware)
    for f in order:
        f.automatic = Automatic(key, tuple(f.directives[before[f] :]), why)


def chosen_before(outputs: Sequence[Function], request: AutomaticRequest) -> bool:
    """True where the Funcs have what was chosen for the very same."""
    order = realization_order(outputs)
    return _holds(order, _key(outputs, order, request))


def _key(outputs: Sequence[Function], order: Sequence[Function], request: AutomaticRequest) -> object:
    outputs_at = tuple(map(order.index, outputs))
    return request, len(order), outputs_at, _sizes(outputs, order), generation() if request.name in _STORED else 0


def _holds(order: Sequence[Function], key: object) -> bool:
    """True where these Funcs, and no others, got theirs in one choice, of which there is one key: that of another
    pipeline with some of them may look the same."""
    first = order[0].automatic
    if first is None or first.key != key:
        return False
    return all(f.automatic is not None and f.automatic.key is first.key and f.automatic.intact(f) for f in order)


def scheduled(order: Sequence[Function]) -> Directive | None:
    """A directive of the user's that is a part of a schedule; None where no schedule stands in the way of another."""
    others = [d for f in with_made_funcs(order) for d in f.directives if not _is_chosen(f, d)]
    return next((d for d in others if not isinstance(d, _NO_SCHEDULE)), None)


def unschedule(order: Sequence[Function]) -> None:
    """Takes away what was chosen automatically."""
    for f in order:
        f.directives[:] = [d for d in f.directives if not _is_chosen(f, d)]


def expected_windows(outputs: Sequence[Function], request: AutomaticRequest) -> dict[Function, Region]:
    """The window of each output.

    Raises:
        ScheduleError: nobody said it.
    """
    if request.windows is None:
        return {f: _estimated(f) for f in outputs}
    return dict(zip(outputs, request.windows, strict=True))


def cost_model(stages: PipelineStages, hardware: MachineModel) -> CostModel:
    """Costs on a machine: with constants that were measured, if it is this one."""
    here = is_this_machine(hardware.target)
    return CostModel(stages, hardware, constants_of_this_machine() if here else Constants())


def _choice(stages: PipelineStages, hardware: MachineModel, request: AutomaticRequest) -> tuple[list[Placed], str]:
    """Loops and places, and why, where costs decided."""
    if request.name not in _SEARCHING:
        return placed(planned(stages, hardware), stages, hardware), ""
    if request.name in _STORED:
        found = _from_store(stages, hardware)
        if found is not None:
            return found
    width = number(dict(request.parameters), "beam_size", str(WIDTH))
    best = search(cost_model(stages, hardware), width=width)[0]
    return best.placed(), best.explanation()


def _from_store(stages: PipelineStages, hardware: MachineModel) -> tuple[list[Placed], str] | None:
    """The choices that the store has, where they fit; extern stages are in no store."""
    with suppress(NotAvailableError, ChoiceError):
        known = stored(store_key(list(stages.outputs), stages.outputs, hardware))
        if known is not None:
            why = f"measured: {known.seconds:.3g} s, the best of {known.trials} trials; the plain program took "
            chosen = decoded(known.choice, stages.order)
            return (chosen, f"{why}{known.plain_seconds:.3g} s") if _fits(chosen, stages) else None
    return None


def _fits(chosen: Sequence[Placed], stages: PipelineStages) -> bool:
    """True where choices are for what no key of the store says, too: promises, what is shown, and the regions of Funcs
    that Params and inputs decide. Register tiles need a whole tile, and a reduction of nobody's promises; what is shown
    needs loops."""
    with_loops = {p.function for p in chosen}
    shown = {f for f in stages.order if any(isinstance(d, DebugToFile | Trace) for d in f.directives)}
    tiled = [(p.function, p.shape.micro) for p in chosen if p.level is None and p.shape.micro is not None]
    return (
        shown <= with_loops
        and not any(p.level is Level.REGISTERS and promised(p.function) for p in chosen)
        and all(stages.known(f) for f, _ in tiled)
        and all(extent(r) >= k for f, micro in tiled for r, k in zip(stages.regions[f], micro, strict=False))
    )


def _is_chosen(f: Function, d: Directive) -> bool:
    return f.automatic is not None and any(d is each for each in f.automatic.directives)


def _sizes(outputs: Sequence[Function], order: Sequence[Function]) -> tuple[object, ...]:
    """All else that a choice depends on: estimates and promises, and the shapes and values of inputs."""
    images, params = leaves(order, outputs)
    promised = [d for f in order for d in f.directives if isinstance(d, _NO_SCHEDULE) and not _is_chosen(f, d)]
    shapes = [_shape(i) for i in images]
    return (*promised, *shapes, *((p.value, p.estimate, p.low, p.high) for p in params))


def _shape(image: Image) -> tuple[object, ...]:
    if isinstance(image.bound, Buffer):
        dims = [image.bound.dim(d) for d in range(image.dimensions)]
        return tuple((d.min(), d.extent()) for d in dims)
    return tuple(image.estimates.items())


def _estimated(f: Function) -> Region:
    """The window of an output that was said to be expected, or was promised."""
    missing = _unknown(f)
    if missing is not None:
        raise ScheduleError(
            f'The size of "{f.name}" in dimension "{missing}" is not known: set_estimate({missing}, min, extent) says '
            f'it, or realize(sizes, schedule="auto").'
        )
    ends = _ends(f)
    return tuple(ends[a] for a in f.args)


def _unknown(f: Function) -> str | None:
    """A dimension of which nothing was said."""
    ends = _ends(f)
    return next((a for a in f.args if a not in ends), None)


def _ends(f: Function) -> dict[str, Range]:
    ends: dict[str, Range] = {}
    for d in f.directives:
        if isinstance(d, Estimate | Bound) and isinstance(d.extent, IntImm):
            low = d.min.value if isinstance(d.min, IntImm) else 0
            ends[d.var] = (low, low + d.extent.value - 1)
    return ends
