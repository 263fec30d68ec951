"""Plans of what a blocked pipeline will read, and compute more than once, before it runs.

In: the regions of all blocks. Out: counts of bytes, as numbers and as a text.

    print(plan)   ->   12 blocks of 10000 x 2500 …;  image: 3.6 GB, of which 2.4 MB by two blocks …
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core.blocks.sizes import size


@dataclass(frozen=True)
class Read:
    """The reads of the blocks of an input."""

    name: str
    array: int
    """Bytes of the whole array."""
    needed: int
    """Bytes that all blocks need together, those that several need counted for each."""
    transferred: int
    """Bytes that tasks are given: what is needed, where parts of chunks are cut before they travel."""
    largest: int
    """Bytes that the block needs which needs most."""


@dataclass(frozen=True)
class Computed:
    """The values of a Func that the schedule has computed before what reads them (``compute_root``, ``compute_at``)."""

    name: str
    once: int
    """Bytes of what one piece would compute."""
    computed: int
    """Bytes that all blocks compute together, those that several need counted for each."""
    largest: int
    """Bytes of the block that computes most."""


@dataclass(frozen=True)
class Plan:
    """The blocks of a pipeline and what they read. ``print`` shows it."""

    name: str
    shape: tuple[int, ...]
    """Of the result, as an array's."""
    block: tuple[int, ...]
    """Of the largest block, as an array's."""
    blocks: int
    tasks: int
    written: int
    """Bytes of the result."""
    held: int
    """Bytes of inputs and outputs that the block has in memory which has most."""
    reads: tuple[Read, ...]
    computed: tuple[Computed, ...]

    def explain(self) -> str:
        """The plan as a text."""
        plural = "" if self.blocks == 1 else "s"
        head = (
            f"{self.name}: {_shape(self.shape)}, {size(self.written)}, in {self.blocks} block{plural} of up to "
            f"{_shape(self.block)}; {self.tasks} tasks; a block holds up to {size(self.held)}."
        )
        lines = [head]
        for each in self.reads:
            again = max(0, each.needed - each.array)
            more = each.transferred - each.needed
            lines.append(
                f"  {each.name}: {size(each.array)}; blocks need {size(each.needed)}, {size(each.largest)} at most, "
                f"{size(again)} of it more than once; beyond what they need, {size(more)} travel."
            )
        for func in self.computed:
            again = max(0, func.computed - func.once)
            lines.append(
                f"  {func.name}: {size(func.once)} in one piece; blocks compute {size(func.computed)}, "
                f"{size(func.largest)} at most, {size(again)} of it again."
            )
        return "\n".join(lines)

    __str__ = explain


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "one value"
