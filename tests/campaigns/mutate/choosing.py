"""Choice of the mutants to try: drawn by a seed, evenly over operators and over files.

In: all mutants. Out: so many of them. More of the same seed begin with the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count as count_from
from pathlib import Path

from tests.campaigns.mutate.mutant import PACKAGES, Mutant, Operator
from tests.campaigns.mutate.operators import mutants
from tests.campaigns.mutate.regions import TEXT


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
    """Draws mutants without repeating one: the operators take turns, and for each of them the files do.

    A mutant's rank hangs on the seed and its id alone, so that an edit of one function moves few others.
    """
    draws = {operator: _by_file([m for m in candidates if m.operator is operator], seed) for operator in Operator}
    chosen: list[Mutant] = []
    while draws and len(chosen) < count:
        for operator in list(draws):
            drawn = next(draws[operator], None)
            if drawn is None:
                del draws[operator]
            elif len(chosen) < count:
                chosen.append(drawn)
    return chosen


def _by_file(candidates: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
    """The first of every file, then the second of every file, and so on."""
    files: dict[str, list[Mutant]] = {}
    for m in sorted(candidates, key=lambda m: _rank(seed, m.id)):
        files.setdefault(m.path, []).append(m)
    for turn in count_from(0):
        drawn = [group[turn] for group in files.values() if len(group) > turn]
        if not drawn:
            return
        # Another rank than the one that sorted them: by that one, a file with more mutants would come first.
        yield from sorted(drawn, key=lambda m: _rank(seed, f"{m.id} in turn"))


def _rank(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
