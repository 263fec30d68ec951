"""The table, and what is missing in it.

In: an Evidence, and the fuzzer's counts. Out: a Table: its rows, its empty cells, its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from halide_core.schedule.directives import TailStrategy
from tests.campaigns.directives.gather import Evidence, Row
from tests.campaigns.directives.watch import METHODS

COLUMNS = ("golden dump", "legality test", "fuzz count", "obligations")


def all_rows() -> list[Row]:
    """Every directive, and every tail strategy of a split."""
    tails = [("split", tail.name) for tail in TailStrategy if tail is not TailStrategy.Auto]
    return [*((method, "") for method in METHODS), *tails]


def label(row: Row) -> str:
    """The name of a row."""
    method, tail = row
    return f"{method}, {tail}" if tail else method


@dataclass(frozen=True, slots=True)
class Table:
    """The rows and their cells; an empty text is an empty cell."""

    cells: dict[Row, tuple[str, str, str, str]]

    def empty(self) -> list[str]:
        """The empty cells, in words."""
        return [
            f"{label(row)} has no {column}"
            for row, cells in self.cells.items()
            for column, cell in zip(COLUMNS, cells, strict=True)
            if not cell
        ]

    def text(self) -> str:
        """The table as lines of columns."""
        lines = [("directive", *COLUMNS)]
        lines += [(label(row), *(cell or "-" for cell in cells)) for row, cells in self.cells.items()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        lines.insert(1, tuple("-" * width for width in widths))
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def make_table(evidence: Evidence, drawn: Counter[Row], lowered: Counter[Row]) -> Table:
    """The table of what was found. A directive that the fuzzer draws, and that never compiles, counts as not drawn."""
    cells: dict[Row, tuple[str, str, str, str]] = {}
    for row in all_rows():
        files = evidence.golden.get(row, {})
        tests = evidence.legality.get(row, {})
        golden, legality = _and_more(files), _and_more(tests)
        fuzz = f"{lowered[row]} of {drawn[row]}" if lowered[row] else ""
        cells[row] = (golden, legality, fuzz, _claims(evidence.claims.get(row, Counter())))
    return Table(cells)


def _and_more(weights: Mapping[str, int]) -> str:
    """The name that says the most, and how many there are besides."""
    names = sorted(weights, key=lambda name: (weights[name], name))
    return "" if not names else names[0].rpartition("/")[2] + (f" +{len(names) - 1}" if len(names) > 1 else "")


def _claims(counts: Counter[str]) -> str:
    if not counts:
        return ""
    most_first = sorted(counts.items(), key=lambda each: -each[1])
    return f"{counts.total()}: " + ", ".join(f"{n} {status}" for status, n in most_first)
