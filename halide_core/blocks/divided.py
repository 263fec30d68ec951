"""A pipeline divided: reductions over whole arrays that are taken in part by part, then the blocks of the outputs.

In: a Given. Out: a Divided: recipes, the regions that matter, and checks of what a block may read.

    hist over an image, then a map of it   ->   parts of hist, a merge, and blocks that read 256 merged values
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.blocks import reductions
from halide_core.blocks.given import Given
from halide_core.blocks.kernel import Needed, Recipe
from halide_core.blocks.local import localized, number
from halide_core.blocks.recomputed import Intermediates
from halide_core.blocks.reductions import Reduction
from halide_core.blocks.regions import told, volume
from halide_core.blocks.sizes import chosen, cut, size
from halide_core.blocks.variants import BlockPlan, Fed, Variants
from halide_core.errors import PipelineError
from halide_core.run.backend import Box
from halide_core.schedule.directives import Bound

Lengths = tuple[tuple[int, ...], ...]
"""The lengths of the blocks along each dimension, x first."""
FAN = 16
"""Parts that one merge takes."""
_HARDLY = 1.1
"""The most that a block of one chunk may read for a point: so many times what a larger block reads."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A reduction in parts: what takes in one, what merges them, and the region that others need of the result."""

    reduction: Reduction
    part: Variants
    merge: Recipe
    merged: tuple[int, ...]
    """The index of the value that each input of the merge holds."""
    window: Box
    blocks: tuple[BlockPlan, ...]
    """The way to take in each part, in the order of the domain."""


class Divided:
    """The steps of a pipeline of blocks: ``parts``, each after those before it, then the blocks of ``main``."""

    def __init__(self, given: Given, grains: Sequence[Sequence[int]]) -> None:
        self.given = given
        self._grains = grains
        found, self._refused = reductions.found(given.outputs, given.shapes, given.values)
        while True:
            outputs = reductions.without(given.outputs, found) if found else given.outputs
            self._outputs, self._found = outputs, found
            self.main = self._variants(outputs, found, whole=given.window)
            parts = [self._variants([reductions.part(r, found[:k])], found[:k], r.box) for k, r in enumerate(found)]
            windows = self._windows(dict(zip(found, parts, strict=True)))
            worth = [r for r in found if volume(self._domain(r)) >= volume(windows[r])]
            if len(worth) == len(found):
                break
            found = worth
        self.parts = [self._in_parts(r, part, windows[r]) for r, part in zip(found, parts, strict=True)]

    def _variants(
        self,
        outputs: Sequence[Function],
        found: Sequence[Reduction],
        late: Sequence[ScalarParam] = (),
        whole: Box | None = None,
    ) -> Variants:
        given = self.given
        return Variants(
            outputs,
            lambda some, params: self._recipe(some, found, params),
            given.shapes,
            late=late,
            whole=whole,
            target=given.target,
        )

    def intermediates(self) -> Intermediates:
        """The Funcs that blocks compute on the way to the outputs."""
        return Intermediates(self._outputs, lambda some, images: self._recipe(some, self._found, (), images))

    def _recipe(
        self,
        outputs: Sequence[Function],
        found: Sequence[Reduction],
        late: Sequence[ScalarParam] = (),
        more: Sequence[Image] = (),
    ) -> Fed:
        given = self.given
        made = [*(i for r in found for i in r.merged), *more]
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

    def _windows(self, parts: dict[Reduction, Variants]) -> dict[Reduction, Box]:
        """The region of each reduction that the outputs, and the reductions after it, need."""
        windows: dict[Reduction, Box] = {}

        def need(fed: Fed, needed: Needed) -> None:
            for image, box in zip(fed.own, needed.inputs, strict=True):
                for r in parts:
                    if image in r.merged:
                        windows[r] = hull(windows[r], box) if r in windows else box

        if not parts:
            return windows
        need(self.main.main, self.main.main.recipe.kernel().wanted(self.given.window))
        for r, variants in reversed(parts.items()):
            window, part = windows.setdefault(r, ((0, 0),) * r.function.dimensions), variants.main
            need(part, part.recipe.kernel().wanted(window, part.late(_numbers(r, self._domain(r)))))
        return windows

    def _in_parts(self, r: Reduction, part: Variants, window: Box) -> Parts:
        domain = self._domain(r)
        extents = chosen(
            lambda box: part.middle(window, _numbers(r, box)),
            part.main.bytes,
            domain,
            memory=self.given.memory,
            blocks=_wanted(),
            grains=self._grain(part.main, domain),
        )
        into, inputs = reductions.merge(r)
        local = localized([into], inputs, f"{r.function.name}_merge", target=self.given.target, made=inputs)
        merge = Recipe(local, (None,) * len(local.images), ())
        names = [i.name for i in inputs]
        merged = tuple(names.index(i.name) for i in local.images)
        plans = []
        for _, box in blocks(domain, cut(domain, extents)):
            plans.append(part.plan(window, _numbers(r, box)))
            self._check(f'the part {told(box)} of "{r.function.name}"', plans[-1], 2 * volume(box) <= volume(domain))
        return Parts(r, part, merge, merged, window, tuple(plans))

    def _grain(self, fed: Fed, window: Box) -> list[int]:
        """Lengths of chunks of inputs that are as long as a window: blocks of so many points cut fewer chunks."""
        grains = [1] * len(window)
        by_image = dict(zip(self.given.arrays, self._grains, strict=True))
        for image in fed.own:
            given, shape = by_image.get(image, ()), self.given.shapes.get(image, ())
            if len(given) == len(shape) == len(grains):
                for d, (grain, extent) in enumerate(zip(given, shape, strict=True)):
                    if extent == window[d][1]:
                        grains[d] = max(grains[d], grain)
        return grains

    def automatic(self, grains: Sequence[int] = (), *, in_chunks: bool = False) -> Lengths:
        """Blocks chosen by what they read.

        Args:
            grains: lengths of chunks that the result goes to, x first.
            in_chunks: a block has just one of these, where it reads hardly more for a point than a larger block.
        """
        window, outputs = self.given.window, self.given.outputs
        bounds = {d.var for f in outputs for d in f.directives if isinstance(d, Bound)}
        fixed = [v in bounds for v in outputs[0].args]
        extents = chosen(
            self.main.middle,
            self.main.main.bytes,
            window,
            memory=self.given.memory,
            blocks=_wanted(),
            fixed=fixed,
            grains=grains or self._grain(self.main.main, window),
        )
        fits = in_chunks and not any(fixed) and all(n >= grain for n, grain in zip(extents, grains, strict=True))
        if fits and self._read_a_point(grains) <= _HARDLY * self._read_a_point(extents):
            extents = tuple(grains)
        return cut(window, extents)

    def _read_a_point(self, extents: Sequence[int]) -> float:
        """Bytes that a block far from all edges reads for each of its points."""
        box: Box = tuple((low + (n - m) // 2, m) for (low, n), m in zip(self.given.window, extents, strict=True))
        return self.main.main.bytes.read(self.main.middle(box)) / max(1, volume(box))

    def blocks(self, lengths: Lengths) -> Iterator[tuple[tuple[int, ...], Box, BlockPlan]]:
        """The place, x first, and the window of each block of the outputs, and how it is computed.

        Raises: PipelineError for a small block that reads most of a large input, unless it may.
        """
        whole = volume(self.given.window)
        for place, window in blocks(self.given.window, lengths):
            block = self.main.plan(window)
            self._check(f"the window {told(window)}", block, 2 * volume(window) <= whole)
            yield place, window, block

    def _check(self, window: str, block: BlockPlan, is_small: bool) -> None:
        """Raises PipelineError where a small block reads most of a large input."""
        given = self.given
        for image, each, box in zip(block.by.own, block.by.bytes.inputs, block.needed.inputs, strict=True):
            bytes = volume(box) * each
            if bytes <= given.memory or image.name in given.whole or image not in given.arrays:
                continue
            array = volume(tuple((0, n) for n in given.shapes[image]))
            if 2 * volume(box) > array and is_small:
                raise PipelineError(
                    f'"{given.name}" can\'t be computed in blocks: {window} reads {size(bytes)} of "{image.name}", '
                    f"which has {size(array * each)}: more than memory={size(given.memory)}. "
                    f"{' '.join([*self._refused, ''])}The legal choices: an access whose distance from the point is "
                    f"bounded, such as {image.name}[clamp(at, x - 8, x + 8), y]; "
                    f'whole=["{image.name}"], which gives each block all of it; or more memory. '
                    f"What is read, and why:\n{given.why(image)}"
                )


def _wanted() -> int:
    """Blocks that keep all cores busy, and leave some to even out."""
    return 4 * (os.cpu_count() or 1)


def _numbers(r: Reduction, box: Box) -> dict[str, int]:
    """The values of a part's own parameters, by name."""
    return dict(zip((p.name for p in r.box), (n for each in box for n in each), strict=True))


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
