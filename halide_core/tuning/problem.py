"""A pipeline that is to be tuned, with windows and inputs, apart from the user's own: it can be sent to a process.

In: outputs as the user has them. Out: a Problem, whose Funcs are copies, and whose inputs have data: the user's where
he set them, and otherwise random values of the region that is read.

    Problem.of(pipeline, request)   ->   problem.schedule(choice); problem.request()
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from halide_core.algorithm.model import Function, Image, ScalarParam, realization_order
from halide_core.autoschedule.automatic import (
    AutomaticRequest,
    cost_model,
    expected_windows,
    scheduled,
    unschedule,
)
from halide_core.autoschedule.choices import decoded
from halide_core.autoschedule.cost import CostModel
from halide_core.autoschedule.machine import MachineModel, machine
from halide_core.autoschedule.ranges import Region, extent
from halide_core.autoschedule.stages import PipelineStages
from halide_core.autoschedule.write import write
from halide_core.errors import PipelineError, ScheduleError
from halide_core.func.func import Func
from halide_core.lang.buffer import Buffer
from halide_core.run.allocation import allocated
from halide_core.run.backend import Box, Compiled, Request
from halide_core.run.pipeline import Pipeline, Realizable, settled
from halide_core.run.target import Target

Array: TypeAlias = "np.ndarray[Any, Any]"
_SEED = 27
_MOST = 255
"""Random integers stay below it: what they index is less likely to be left."""


@dataclass(slots=True)
class Problem:
    """Copies of Funcs without a schedule, the windows that they are computed in, and the machine."""

    pipeline: Pipeline
    automatic: AutomaticRequest
    windows: tuple[Region, ...]
    packed: dict[str, tuple[Array, tuple[int, ...], tuple[int, ...]]]
    """The data of inputs by name, as it lies in memory: how its axes are ordered, and its least coordinates."""

    @classmethod
    def of(cls, given: Realizable, automatic: AutomaticRequest) -> Problem:
        """The problem of a pipeline.

        Raises:
            ScheduleError: it is scheduled already, or nobody said its sizes.
            PipelineError: a Param without a value or an estimate.
        """
        order = realization_order(given._defined())
        own = scheduled(order)
        if own is not None:
            raise ScheduleError(f"A pipeline that is scheduled already can't be tuned: {own.spelled()}.")
        windows = expected_windows(given._defined(), automatic)
        pipeline: Pipeline = pickle.loads(pickle.dumps(_copied(given)))
        unschedule(realization_order(pipeline._functions()))
        problem = cls(pipeline, automatic, tuple(windows[f] for f in given._functions()), {})
        problem._share_inputs(given._request())
        problem._set_params()
        if any(isinstance(s, Image) and s.bound is None for s in pipeline._request().inputs):
            problem._draw_inputs()
        return problem

    @property
    def order(self) -> list[Function]:
        """All Funcs, producers first."""
        return realization_order(self.pipeline._functions())

    def stages(self) -> tuple[PipelineStages, MachineModel]:
        """The stages and the machine by which a choice of loops is written."""
        hardware = machine(Target(self.automatic.target), dict(self.automatic.parameters))
        whole = dict(zip(self.pipeline._functions(), self.windows, strict=True))
        return PipelineStages(self.order, whole), hardware

    def model(self) -> CostModel:
        """The costs of choices."""
        return cost_model(*self.stages())

    def schedule(self, choice: str) -> None:
        """Gives the Funcs a choice of loops, or those of the plain program: every Func at root, and no more.

        Raises:
            ChoiceError: it is none for them.
        """
        stages, hardware = self.stages()
        if choice:
            write(decoded(choice, stages.order), stages, hardware)
            return
        for f in stages.order:
            if f not in stages.outputs:
                Func._of(f).compute_root()

    def request(self) -> Request:
        """The request that ``realize`` would give to the backend."""
        return self.pipeline._request(target=Target(self.automatic.target))

    def values(self, request: Request) -> list[Buffer | int | float]:
        """The inputs' values, in order.

        Raises: PipelineError, of one that has none.
        """
        found: list[Buffer | int | float] = []
        for source in request.inputs:
            value = source.value if isinstance(source, ScalarParam) else source.bound
            if not isinstance(value, Buffer | int | float):
                raise PipelineError(f'"{source.name}" has no value: the tuner needs one.')
            found.append(value)
        return found

    def results(self, request: Request, compiled: Compiled) -> list[Buffer]:
        """Buffers to be written."""
        places = [(f, k) for f in request.outputs for k in range(len(f.types))]
        _, regions = settled(partial(compiled.query, self.values(request)), self._boxes(request))
        return [allocated(f, region, k) for (f, k), region in zip(places, regions, strict=True)]

    def within(self, request: Request, buffers: Sequence[Buffer]) -> list[Array]:
        """The values in the windows that are asked for."""
        found = [b.cropped(list(w)) for b, w in zip(buffers, self._boxes(request), strict=True)]
        return [np.ascontiguousarray(b.array) for b in found]

    def _boxes(self, request: Request) -> list[Box]:
        boxes = [tuple((int(r[0]), int(extent(r))) for r in w) for w in self.windows]
        return [box for f, box in zip(request.outputs, boxes, strict=True) for _ in f.types]

    # Inputs.

    def _share_inputs(self, given: Request) -> None:
        """Has the user's own Buffers in the place of copies, which are laid out otherwise."""
        bound = {s.name: s.bound for s in given.inputs if isinstance(s, Image)}
        for source in self.pipeline._request().inputs:
            if isinstance(source, Image):
                source.bound = bound[source.name]

    def _set_params(self) -> None:
        for source in self.pipeline._request().inputs:
            if isinstance(source, ScalarParam) and source.value is None:
                if source.estimate is None:
                    raise PipelineError(f'Param "{source.name}" has neither a value nor an estimate: set one.')
                source.value = source.estimate

    def _draw_inputs(self) -> None:
        """Random values for inputs without data: of the regions that the plain program reads."""
        boxes = [[(int(r[0]), int(extent(r))) for r in w] for w in self.windows]
        buffers = [
            _query(type, box) for f, box in zip(self.pipeline._functions(), boxes, strict=True) for type in f.types
        ]
        missing = [s for s in self.pipeline._request().inputs if isinstance(s, Image) and s.bound is None]
        before = {f: len(f.directives) for f in self.order}
        self.schedule("")
        self.pipeline.infer_input_bounds(buffers, Target(self.automatic.target))
        for f, count in before.items():
            del f.directives[count:]
        self.pipeline.invalidate_cache()
        random = np.random.default_rng(_SEED)
        for image in missing:
            assert isinstance(image.bound, Buffer)
            values = image.bound.array
            drawn = random.random(values.shape)
            values[...] = drawn if values.dtype.kind == "f" else drawn * min(_MOST, _largest(values))

    # Files.

    def write(self, path: Path) -> None:
        """Writes it, for ``read``. The order of axes in memory is kept, which a pickle would forget."""
        images = [s for s in self.pipeline._request().inputs if isinstance(s, Image) and not s.embedded]
        bound = {i: i.bound for i in images}
        for image in images:
            assert isinstance(image.bound, Buffer)
            self.packed[image.name] = _packed(image.bound)
            image.bound = None
        try:
            path.write_bytes(pickle.dumps(self))
        finally:
            self.packed.clear()
            for image, buffer in bound.items():
                image.bound = buffer

    @classmethod
    def read(cls, path: Path) -> Problem:
        """The problem of a file that this program wrote."""
        found: Problem = pickle.loads(path.read_bytes())
        for source in found.pipeline._request().inputs:
            if isinstance(source, Image) and source.name in found.packed:
                source.bound = _unpacked(*found.packed[source.name])
        return found


def _copied(given: Realizable) -> Pipeline:
    made = Pipeline([Func._of(f) for f in given._functions()])
    made._required.extend(given._requirements())
    return made


def _query(type: Any, box: Sequence[tuple[int, int]]) -> Buffer:
    buffer = Buffer.make_bounds_query(type, [n for _, n in box])
    buffer.set_min([low for low, _ in box])
    return buffer


def _largest(values: Array) -> int:
    return 1 if values.dtype.kind == "b" else int(np.iinfo(values.dtype).max)


def _packed(buffer: Buffer) -> tuple[Array, tuple[int, ...], tuple[int, ...]]:
    array = buffer.array
    order = tuple(sorted(range(array.ndim), key=lambda d: (-abs(array.strides[d]), d)))
    return np.ascontiguousarray(array.transpose(order)), order, tuple(buffer.mins)


def _unpacked(array: Array, order: tuple[int, ...], mins: tuple[int, ...]) -> Buffer:
    buffer = Buffer(array.transpose(np.argsort(order))) if order else Buffer(array)
    if mins:
        buffer.set_min(list(mins))
    return buffer
