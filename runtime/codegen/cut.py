"""Division of functions into units, where several C compilers work side by side.

In: the lengths of functions, the pipeline's own first, and how many units there may be. Out: a list of positions for
each unit, the first of them with the pipeline's own; one where a second compiler would not pay.

    cut([60_000, 20_000, 50_000], 2)  ->  [[0], [2, 1]]
"""

from __future__ import annotations

from collections.abc import Sequence

_LEAST = 16_000
"""Characters of C a unit for which its compiler takes several times as long (0.1 s) as it takes to start."""


def cut(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The units, about as long as each other: the longest function first, each to the unit that is shortest so far."""
    count = max(1, min(most, len(lengths), sum(lengths) // _LEAST))
    if count == 1:
        return [list(range(len(lengths)))]
    units: list[list[int]] = [[0], *([] for _ in range(count - 1))]
    taken = [lengths[0], *(0 for _ in range(count - 1))]
    for position in sorted(range(1, len(lengths)), key=lambda i: (-lengths[i], i)):
        shortest = taken.index(min(taken))
        units[shortest].append(position)
        taken[shortest] += lengths[position]
    return [unit for unit in units if unit]
