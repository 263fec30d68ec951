"""Which mutants are tried: drawn by a seed, evenly over operators and over files.

In: all mutants. Out: so many of them. More of the same seed begin with the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutate.mutant import Mutant, Operator
from tests.mutate.operators import mutants
from tests.mutate.regions import TEXT

PACKAGES = ("scheduling", "bounds", "lowering")


def all_mutants(root: Path) -> list[Mutant]:
    """Every mutant of the packages, by file."""
    found: list[Mutant] = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name not in TEXT:
                found += mutants(name, path.read_bytes())
    return found


def choose(candidates: Sequence[Mutant], seed: int, count: int) -> list[Mutant]:
    """Draws mutants without repeating one: the operators take turns, and for each of them the files do."""
    rng = random.Random(seed)
    draws = {operator: _by_file([m for m in candidates if m.operator is operator], rng) for operator in Operator}
    chosen: list[Mutant] = []
    while draws and len(chosen) < count:
        for operator in list(draws):
            drawn = next(draws[operator], None)
            if drawn is None:
                del draws[operator]
            elif len(chosen) < count:
                chosen.append(drawn)
    return chosen


def _by_file(candidates: Sequence[Mutant], rng: random.Random) -> Iterator[Mutant]:
    files: dict[str, list[Mutant]] = {}
    for m in candidates:
        files.setdefault(m.path, []).append(m)
    for group in files.values():
        rng.shuffle(group)
    order = list(files)
    while order:
        rng.shuffle(order)
        for path in order:
            yield files[path].pop()
        order = [path for path in order if files[path]]
