"""The values on the way to a result that several blocks compute, because all of them need these.

In: outputs, and what makes a recipe of some. Out: for a window, the bytes of each Func that is computed for it.

    across.compute_root(); sharp[x, y] = f(across[x, y - 1], across[x, y + 1])     and a window of 16 rows
      ->   across: 18 rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halide_core.algorithm.model import Definition, Function, Image, realization_order
from halide_core.algorithm.rename import Renamed
from halide_core.blocks.reductions import Definitions, copied
from halide_core.blocks.regions import volume
from halide_core.blocks.variants import Fed
from halide_core.errors import user_location
from halide_core.ir import LAST_STAGE, Access
from halide_core.run.backend import Box
from halide_core.schedule.directives import ComputeAt, ComputeRoot

Observers = Callable[[Sequence[Function], Sequence[Image]], Fed]
"""A recipe of outputs, some of whose inputs stand for Funcs."""


class Intermediates:
    """The Funcs that a schedule has computed before what reads them, each by the pipeline of what comes after it."""

    def __init__(self, outputs: Sequence[Function], recipe: Observers) -> None:
        self._after: list[tuple[Function, Fed, tuple[Image, ...]]] = []
        for f in realization_order(outputs):
            if f not in outputs and any(isinstance(d, ComputeRoot | ComputeAt) for d in f.directives):
                at, names = user_location(), (f"{f.component_name(k)}$computed" for k in range(len(f.types)))
                images = tuple(Image(n, t, f.dimensions, at) for n, t in zip(names, f.types, strict=True))
                after = copied(outputs, {f: _given(f, images)})
                self._after.append((f, recipe([after[g] for g in outputs], images), images))

    @property
    def names(self) -> list[str]:
        """Their names, as their user gave them."""
        return [f.name for f, _, _ in self._after]

    def bytes(self, window: Box) -> list[int]:
        """The bytes of each that a window needs."""
        result = []
        for _, fed, images in self._after:
            needed = fed.recipe.kernel().wanted(window)
            sizes = zip(fed.own, fed.bytes.inputs, needed.inputs, strict=True)
            result.append(sum(volume(box) * size for own, size, box in sizes if own in images))
        return result


def _given(f: Function, images: Sequence[Image]) -> Definitions:
    """The definition of a Func whose values are at hand."""

    def definitions(renamed: Renamed) -> list[Definition]:
        first = f.definitions[0]
        values = tuple(Access(i.types[0], i, first.args, 0, LAST_STAGE) for i in images)
        return [Definition(first.args, values, None, first.predicate, first.location)]

    return definitions
