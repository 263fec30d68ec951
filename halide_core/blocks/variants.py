"""The pipelines that compute windows of some outputs: one, or one far from boundary conditions and one near them.

In: outputs, and what makes a recipe of some. Out: for a window the pipeline that computes it, and what it needs.

    variants.plan(((0, 64), (0, 32)))   ->   BlockPlan(by=far, needed=Needed(inputs=…, outputs=…))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.blocks.interior import boundaries
from halide_core.blocks.kernel import Needed, Recipe
from halide_core.blocks.sizes import Bytes
from halide_core.run.backend import Box
from halide_core.run.target import Target


@dataclass(frozen=True, eq=False)
class Fed:
    """A recipe, and the input of the user's, or merged result, that each of its images is."""

    recipe: Recipe
    own: tuple[Image, ...]

    @cached_property
    def bytes(self) -> Bytes:
        """Sizes of elements of its inputs and outputs."""
        outputs = self.recipe.local.outputs
        return Bytes(
            tuple(i.types[0].bytes() for i in self.own), tuple(t.bytes() for f in outputs for t in f.types)
        )

    def late(self, numbers: Mapping[str, int]) -> tuple[int, ...]:
        """The values that a block has of its own, in the order of the arguments."""
        return tuple(numbers[p.name] for p in self.recipe.local.late)


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """The plan for a block: by which pipeline, from which regions."""

    by: Fed
    needed: Needed
    late: tuple[int, ...] = ()
    """The values that the block has of its own."""


_NONE: Mapping[str, int] = {}
Recipes = Callable[[Sequence[Function], Sequence[ScalarParam]], Fed]
"""A recipe of outputs, of which blocks have values of their own for some parameters."""


class Variants:
    """The pipelines that compute windows of some outputs."""

    def __init__(
        self,
        outputs: Sequence[Function],
        recipe: Recipes,
        shapes: Mapping[Image, tuple[int, ...]],
        *,
        late: Sequence[ScalarParam] = (),
        whole: Box | None = None,
        target: Target | None = None,
    ) -> None:
        """``whole`` is the window of all blocks: one that grows beyond it is moved inside, if it fits."""
        self.main = recipe(outputs, late)
        self._whole = whole
        self._edges = boundaries(outputs, shapes, target)
        if self._edges is not None:
            part = [p for each in self._edges.part.values() for p in each]
            self._far = recipe(self._edges.far, late)
            self._near = recipe(self._edges.near, [*late, *part])

    def pipelines(self) -> list[Fed]:
        """The pipelines that compute the blocks."""
        return [self.main] if self._edges is None else [self._far, self._near]

    def middle(self, window: Box, numbers: Mapping[str, int] = _NONE) -> Needed:
        """The needs of a window far from every edge."""
        fed = self.main if self._edges is None else self._far
        return fed.recipe.kernel().wanted(window, fed.late(numbers), self._whole)

    def plan(self, window: Box, numbers: Mapping[str, int] = _NONE) -> BlockPlan:
        """The way to compute a window; ``numbers`` are the values that it has of its own, by name.

        Raises: PipelineError where it needs more than there is of an input.
        """
        if self._edges is None:
            late = self.main.late(numbers)
            return BlockPlan(self.main, self.main.recipe.kernel().regions(window, late, self._whole), late)
        late, kernel = self._far.late(numbers), self._far.recipe.kernel()
        needed = kernel.within(window, late, self._whole)
        if needed is not None:
            return BlockPlan(self._far, needed, late)
        wanted = dict(zip(self._far.own, kernel.wanted(window, late, self._whole).inputs, strict=True))
        all_numbers = dict(numbers)
        for image, part in self._edges.part.items():
            box = self._edges.indices[image].region(wanted[image])
            all_numbers.update(zip((p.name for p in part), (n for each in box for n in each), strict=True))
        late = self._near.late(all_numbers)
        return BlockPlan(self._near, self._near.recipe.kernel().regions(window, late, self._whole), late)
