"""``python -m tests.campaigns.directives [--cases N] [--seed S]``: see the package."""

from __future__ import annotations

import argparse
import sys

from tests.campaigns.directives.fuzzed import count, search
from tests.campaigns.directives.gather import gather
from tests.campaigns.directives.table import all_rows, make_table

MOST = 20
"""Rows that the cases asked for don't show are looked for in so many times as many."""


def main() -> int:
    """Prints the table; 1 where a cell is empty or a test fails."""
    parser = argparse.ArgumentParser(
        "python -m tests.campaigns.directives", description="What the tests show of each directive."
    )
    parser.add_argument("--cases", type=int, default=400, metavar="N", help="random cases to draw and lower (400)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the fuzzer's campaign (1)")
    given = parser.parse_args()
    evidence = gather()
    drawn, through = count(given.seed, given.cases)
    search(given.seed, given.cases, MOST * given.cases, all_rows(), drawn, through)
    table = make_table(evidence, drawn, through)
    sys.stdout.write(f"{table.text()}\n\n")
    sys.stdout.write(
        f"{len(table.cells)} rows; {evidence.passed} tests; fuzz counts: programs that compile, of those drawn among "
        f"{given.cases} cases of seed {given.seed},\nand of those with a row that none of these has, among "
        f"{MOST * given.cases};\nobligations: claims of the certificates of the golden programs.\n"
    )
    problems = [*table.empty(), *(f"{test} fails" for test in evidence.failed)]
    sys.stdout.writelines(f"EMPTY: {problem}\n" for problem in table.empty())
    sys.stdout.writelines(f"FAILED: {test}\n" for test in evidence.failed)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
