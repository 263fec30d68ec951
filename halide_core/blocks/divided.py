"""A pipeline divided: reductions over whole arrays that are taken in part by part, then the blocks of the outputs.

In: a Given. Out: a Divided: recipes, the regions that matter, and checks of what a block may read.

    hist over an image, then a map of it   ->   parts of hist, a merge, and blocks that read 256 merged values
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product

from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.blocks import reductions
from halide_core.blocks.given import Given, told
from halide_core.blocks.interior import boundaries
from halide_core.blocks.kernel import Needed, Recipe
from halide_core.blocks.local import localized, number
from halide_core.blocks.reductions import Reduction
from halide_core.blocks.regions import volume
from halide_core.blocks.sizes import Bytes, chosen, cut, size
from halide_core.errors import PipelineError
from halide_core.run.backend import Box
from halide_core.schedule.directives import Bound

Lengths = tuple[tuple[int, ...], ...]
"""The lengths of the blocks along each dimension, x first."""
FAN = 16
"""Parts that one merge takes."""


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


@dataclass(frozen=True, eq=False)
class Parts:
    """A reduction in parts: what takes in one, what merges them, and the region that others need of the result."""

    reduction: Reduction
    part: Fed
    merge: Recipe
    merged: tuple[int, ...]
    """The index of the value that each input of the merge holds."""
    window: Box
    boxes: tuple[tuple[int, ...], ...]
    """For each part the min and the extent along each dimension of the domain that is split."""


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """The plan for a block of the outputs: by which pipeline, from which regions."""

    by: Fed
    needed: Needed
    late: tuple[int, ...] = ()
    """The values that the block has of its own."""


class Divided:
    """The steps of a pipeline of blocks: ``parts``, each after those before it, then the blocks of ``main``."""

    def __init__(self, given: Given, grains: Sequence[Sequence[int]]) -> None:
        self.given = given
        self._grains = grains
        found, self._refused = reductions.found(given.outputs, list(given.arrays))
        while True:
            outputs = reductions.without(given.outputs, found) if found else given.outputs
            self.main = self._recipe(outputs, found)
            windows = self._windows(found)
            worth = [r for r in found if volume(self._domain(r)) >= volume(windows[r])]
            if len(worth) == len(found):
                break
            found = worth
        self._edges = boundaries(outputs, given.shapes, given.target)
        if self._edges is not None:
            late = [p for each in self._edges.part.values() for p in each]
            self._far = self._recipe(self._edges.far, found)
            self._near = self._recipe(self._edges.near, found, late)
        self.parts = [self._in_parts(r, found[:k], windows[r]) for k, r in enumerate(found)]

    def _recipe(self, outputs: Sequence[Function], found: Sequence[Reduction], late: Sequence[ScalarParam] = ()) -> Fed:
        given = self.given
        made = [i for r in found for i in r.merged]
        inputs = [*given.arrays, *made]
        local = localized(
            outputs, inputs, given.name, given.requirements, given.target, made=made, late=late
        )
        own = tuple(next(i for i in inputs if i.name == part.name) for part in local.images)
        shapes = tuple(given.shapes.get(i) for i in own)
        return Fed(Recipe(local, shapes, tuple(given.values[p] for p in local.params)), own)

    def _domain(self, r: Reduction) -> Box:
        """The domain's dimensions that are split."""
        bounds = [r.domain.bounds[d] for d in r.split]
        given = self.given
        numbers = [tuple(number(e, given.values, given.shapes) for e in (over.min, over.len)) for over in bounds]
        return tuple((low, max(0, extent)) for low, extent in numbers)

    def _windows(self, found: Sequence[Reduction]) -> dict[Reduction, Box]:
        """The region of each reduction that the outputs, and the reductions after it, need."""
        windows: dict[Reduction, Box] = {}

        def need(fed: Fed, needed: Needed) -> None:
            for image, box in zip(fed.own, needed.inputs, strict=True):
                for r in found:
                    if image in r.merged:
                        windows[r] = hull(windows[r], box) if r in windows else box

        if not found:
            return windows
        need(self.main, self.main.recipe.kernel().regions(self.given.window))
        for k, r in reversed(list(enumerate(found))):
            window = windows.setdefault(r, ((0, 0),) * r.function.dimensions)
            late = [n for each in self._domain(r) for n in each]
            part = self._part(r, found[:k])
            need(part, part.recipe.kernel().regions(window, _late(part, r, late)))
        return windows

    def _part(self, r: Reduction, before: Sequence[Reduction]) -> Fed:
        return self._recipe([reductions.part(r, before)], before, r.box)

    def _in_parts(self, r: Reduction, before: Sequence[Reduction], window: Box) -> Parts:
        part = self._part(r, before)
        kernel, domain = part.recipe.kernel(), self._domain(r)

        def regions(box: Box) -> Needed:
            return kernel.regions(window, _late(part, r, [n for each in box for n in each]))

        extents = chosen(
            regions, part.bytes, domain, memory=self.given.memory, blocks=_wanted(), grains=self._grain(part, domain)
        )
        into, inputs = reductions.merge(r)
        local = localized([into], inputs, f"{r.function.name}_merge", target=self.given.target, made=inputs)
        merge = Recipe(local, (None,) * len(local.images), ())
        names = [i.name for i in inputs]
        merged = tuple(names.index(i.name) for i in local.images)
        boxes = tuple(tuple(n for each in box for n in each) for _, box in blocks(domain, cut(domain, extents)))
        return Parts(r, part, merge, merged, window, tuple(_late(part, r, box) for box in boxes))

    def _grain(self, fed: Fed, window: Box) -> list[int]:
        """Lengths of chunks of inputs that are as long as a window: blocks of so many points cut fewer chunks."""
        grains = [1] * len(window)
        by_image = dict(zip(self.given.arrays, self._grains, strict=True))
        for image in fed.own:
            given, shape = by_image.get(image, ()), self.given.shapes.get(image, ())
            if len(given) == len(grains):
                for d, (grain, extent) in enumerate(zip(given, shape, strict=True)):
                    if extent == window[d][1]:
                        grains[d] = max(grains[d], grain)
        return grains

    def automatic(self, grains: Sequence[int] = ()) -> Lengths:
        """Blocks chosen by what they read; ``grains`` are lengths of chunks that the result goes to, x first."""
        window, outputs = self.given.window, self.given.outputs
        bounds = {d.var for f in outputs for d in f.directives if isinstance(d, Bound)}
        kernel = (self.main if self._edges is None else self._far).recipe.kernel()
        extents = chosen(
            kernel.wanted,
            self.main.bytes,
            window,
            memory=self.given.memory,
            blocks=_wanted(),
            fixed=[v in bounds for v in outputs[0].args],
            grains=grains or self._grain(self.main, window),
        )
        return cut(window, extents)

    def blocks(self, lengths: Lengths) -> Iterator[tuple[tuple[int, ...], Box, BlockPlan]]:
        """The place, x first, and the window of each block of the outputs, and how it is computed.

        Raises: PipelineError for a small block that reads most of a large input, unless it may.
        """
        kernel = self.main.recipe.kernel() if self._edges is None else None  # compiled only where it computes blocks
        for place, window in blocks(self.given.window, lengths):
            block = self._at_edges(window) if kernel is None else BlockPlan(self.main, kernel.regions(window))
            self._check(window, block)
            yield place, window, block

    def _at_edges(self, window: Box) -> BlockPlan:
        """A block where boundary conditions are: by the pipeline for what is far from the edges, or near."""
        assert self._edges is not None
        kernel = self._far.recipe.kernel()
        needed = kernel.within(window)
        if needed is not None:
            return BlockPlan(self._far, needed)
        wanted = dict(zip(self._far.own, kernel.wanted(window).inputs, strict=True))
        late: dict[str, int] = {}
        for image, part in self._edges.part.items():
            box = self._edges.indices[image].region(wanted[image])
            late.update(zip((p.name for p in part), (n for each in box for n in each), strict=True))
        values = tuple(late[p.name] for p in self._near.recipe.local.late)
        return BlockPlan(self._near, self._near.recipe.kernel().regions(window, values), values)

    def pipelines(self) -> list[Fed]:
        """The pipelines that compute the blocks."""
        return [self.main] if self._edges is None else [self._far, self._near]

    def _check(self, window: Box, block: BlockPlan) -> None:
        given = self.given
        for image, each, box in zip(block.by.own, block.by.bytes.inputs, block.needed.inputs, strict=True):
            bytes = volume(box) * each
            if bytes <= given.memory or image.name in given.whole or image not in given.arrays:
                continue
            array = volume(tuple((0, n) for n in given.shapes[image]))
            if 2 * volume(box) > array and 2 * volume(window) <= volume(given.window):
                why = " ".join([*self._refused, ""])
                raise PipelineError(
                    f'"{given.name}" can\'t be computed in blocks: the window {told(window)} reads '
                    f'{size(bytes)} of "{image.name}", which has {size(array * each)}: more than '
                    f"memory={size(given.memory)}. {why}"
                    f'explain(input="{image.name}") shows which access needs it. The legal choices: an access whose '
                    f"distance from the point is bounded, such as {image.name}[clamp(at, x - 8, x + 8), y]; "
                    f'whole=["{image.name}"], which gives each block all of it; or more memory.'
                )


def _wanted() -> int:
    """Blocks that keep all cores busy, and leave some to even out."""
    return 4 * (os.cpu_count() or 1)


def _late(part: Fed, r: Reduction, box: Sequence[int]) -> tuple[int, ...]:
    """The values of a part's own parameters, in the order of its arguments."""
    by_name = {p.name: n for p, n in zip(r.box, box, strict=True)}
    return tuple(by_name[p.name] for p in part.recipe.local.late)


def hull(a: Box, b: Box) -> Box:
    """The smallest region around two; one without points adds none."""
    if volume(a) == 0 or volume(b) == 0:
        return b if volume(a) == 0 else a
    ends = [(min(x, y), max(x + m, y + n)) for (x, m), (y, n) in zip(a, b, strict=True)]
    return tuple((low, high - low) for low, high in ends)


def blocks(window: Box, lengths: Lengths) -> Iterator[tuple[tuple[int, ...], Box]]:
    """The place and the window of each block, x first."""
    starts = [[low, *(low + n for n in accumulate(each))] for each, (low, _) in zip(lengths, window, strict=True)]
    for place in product(*(range(len(each)) for each in lengths)):
        yield place, tuple((s[k], each[k]) for s, each, k in zip(starts, lengths, place, strict=True))
