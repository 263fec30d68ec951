"""Records of the compiler as it is: the judges' items, what each finds, how long it takes, which blocks it runs.

In: two processes' findings. Out: for a mutant, which items look at it, in which order, and how long each may take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.campaigns.mutate.mutant import Mutant

SECONDS, UNREACHED_SECONDS = 12.0, 2.0
"""The recorded processor time of all that looks at one mutant; and where no one is known to run its block."""
_LEAST_LIMIT, _TIMES = 3.0, 10.0
"""The limit of an item's processor time for a mutant: so many times the recorded, and no less than the first."""

_STEP, _OWN, _OTHER, _PROVEN = 0.5, 0.35, 0.1, 4.0
"""The guessed probability that an item kills: a step; a test of the same package; another test; what has killed
before."""


@dataclass(slots=True)
class Item:
    """A step or a test."""

    seconds: float
    blocks: frozenset[str]
    is_step: bool


@dataclass(slots=True)
class Record:
    """``imported``: what runs on import. ``found``: what each step finds. ``failing``: tests that aren't asked.
    ``left_out``: tests that take long, or start processes."""

    items: dict[str, Item] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()
    found: dict[str, Any] = field(default_factory=dict)
    failing: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @staticmethod
    def of(parts: Iterable[dict[str, Any]]) -> Record:
        """From what the processes wrote."""
        record = Record()
        for part in parts:
            names = part["blocks"]
            for name, (seconds, blocks) in part["items"].items():
                reached = frozenset(names[i] for i in blocks)
                record.items[name] = Item(seconds, reached, name in part["found"])
            record.imported |= frozenset(part["imported"])
            record.found |= part["found"]
            record.failing += part["failing"]
            record.left_out += part["left_out"]
        return record

    def queue(self, mutant: Mutant, proven: Collection[str] = ()) -> list[tuple[str, float]]:
        """Who looks at a mutant, and the processor time that each may take: those that run its block, or where no one
        does, those that run its file's; the likeliest killers for their time first. ``proven`` have killed like ones.
        """
        own = f"tests/{mutant.path.partition('/')[0]}/"
        shown = [n for n, item in self.items.items() if mutant.reached is None or mutant.reached in item.blocks]
        left = SECONDS if shown else UNREACHED_SECONDS
        if not shown:
            shown = [n for n, item in self.items.items() if any(b.startswith(f"{mutant.path}:") for b in item.blocks)]

        def cost(name: str) -> float:
            item = self.items[name]
            if name in proven:
                likely = _PROVEN
            elif item.is_step:
                likely = _STEP
            else:
                likely = _OWN if name.startswith(own) else _OTHER
            return (item.seconds + 0.005) / likely

        found = []
        for name in sorted(shown, key=cost):
            left -= self.items[name].seconds
            if left < 0:
                break
            found.append((name, max(_LEAST_LIMIT, _TIMES * self.items[name].seconds)))
        return found

    def is_swappable(self, mutant: Mutant) -> bool:
        """True where a process that has imported the compiler can take the mutant in."""
        return mutant.reached is not None and mutant.reached not in self.imported
