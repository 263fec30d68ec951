"""The table of what was drawn: how many cases that ran lie in each cell, which cell is next, and which are holes.

In: the cells of each case that ran. Out: a target to draw towards; the table as text, a shape a row.

A target that one draw after another misses is asked for less often, so that a cell that no legal program lies in does
not use a campaign up; it stays a hole.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from tests.campaigns.fuzz.grammar.axes import ALL_CELLS, Cell, Place, Shape, Way

ENOUGH = 50
"""So many cases that ran make a cell no hole."""
_PATIENCE = 4
"""A draw that missed its target counts as so much of one that met it."""


class Table:
    """Counts of cells, and of attempts at them."""

    def __init__(self) -> None:
        self.counts: Counter[Cell] = Counter()
        self.tried: Counter[Cell] = Counter()

    def add(self, target: Cell | None, cells: Iterable[Cell]) -> None:
        """One more case that ran in some cells, or one that did not, in none."""
        found = set(cells)
        self.counts.update(found)
        if target is not None and target not in found:
            self.tried[target] += 1

    def emptiest(self, rng: random.Random, busy: Iterable[Cell] = ()) -> Cell:
        """One of the cells to draw towards next, of those that no worker is drawing towards."""
        taken = set(busy)
        free = [c for c in ALL_CELLS if c not in taken]
        least = min(map(self._fullness, free))
        return rng.choice([c for c in free if self._fullness(c) == least])

    def _fullness(self, cell: Cell) -> int:
        return self.counts[cell] + self.tried[cell] // _PATIENCE

    def holes(self) -> list[Cell]:
        """The triples that too few cases lie in."""
        return [c for c in ALL_CELLS if self.counts[c] < ENOUGH]

    def text(self) -> str:
        """Pairs and triples: the least count of each row, and the holes."""
        lines = [f"{len(ALL_CELLS)} triples, {len(ALL_CELLS) - len(self.holes())} of them met {ENOUGH} times or more"]
        lines += self._pairs("shape × place", (Shape, Place), (0, 1))
        lines += self._pairs("shape × way", (Shape, Way), (0, 2))
        lines += self._pairs("place × way", (Place, Way), (1, 2))
        lines += [f"HOLE: {' × '.join(part.value for part in c)}: {self.counts[c]}" for c in self.holes()]
        return "\n".join(lines)

    def _pairs(self, title: str, axes: tuple[type, type], at: tuple[int, int]) -> list[str]:
        """For each pair the least count of the triples that it is part of."""
        rows, columns = (list(axis) for axis in axes)  # type: ignore[call-overload]  # enums are iterable
        least: dict[tuple[object, object], int] = {}
        for cell in ALL_CELLS:
            pair = (cell[at[0]], cell[at[1]])
            least[pair] = min(self.counts[cell], least.get(pair, self.counts[cell]))
        lines = [f"{title} (the least of its triples; columns: {', '.join(c.value for c in columns)})"]
        lines += [f"  {r.value:18}" + "".join(f"{least[r, c]:6}" for c in columns) for r in rows]
        return lines


