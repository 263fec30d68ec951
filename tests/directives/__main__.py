"""``python -m tests.directives [--cases N] [--seed S]``: see the package."""

from __future__ import annotations

import argparse
import sys

from tests.directives.fuzzed import count
from tests.directives.gather import gather
from tests.directives.table import make_table


def main() -> int:
    """Prints the table; 1 where a cell is empty or a test fails."""
    parser = argparse.ArgumentParser("python -m tests.directives", description="What the tests show of each directive.")
    parser.add_argument("--cases", type=int, default=400, metavar="N", help="random cases to draw and lower (400)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the fuzzer's campaign (1)")
    given = parser.parse_args()
    evidence = gather()
    table = make_table(evidence, *count(given.seed, given.cases))
    sys.stdout.write(f"{table.text()}\n\n")
    sys.stdout.write(
        f"{len(table.cells)} rows; {evidence.passed} tests; fuzz counts: programs that compile, of those drawn among "
        f"{given.cases} cases of seed {given.seed};\nobligations: claims of the certificates of the golden programs.\n"
    )
    problems = [*table.empty(), *(f"{test} fails" for test in evidence.failed)]
    sys.stdout.writelines(f"EMPTY: {problem}\n" for problem in table.empty())
    sys.stdout.writelines(f"FAILED: {test}\n" for test in evidence.failed)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
