"""``python -m tests.campaigns.fuzz --cases N --seed S [--jobs J] [--compiled] [--sliding]``: see the package."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.campaigns.fuzz.campaign import Campaign, run, write_failures
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.workers import Workers
from tests.campaigns.fuzz.write import CORPUS


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.campaigns.fuzz", description="Random programs, judged by all semantics."
    )
    parser.add_argument("--cases", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the campaign (1), whose cases never change")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes (one a core)")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="the first case's number (0)")
    parser.add_argument("--compiled", action="store_true", help="compiled code is a judge too; needs a C compiler")
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--sliding", action="store_true", help="graphs of stencils, and schedules that let them slide")
    drawn.add_argument("--wide", action="store_true", help="rows of whole vectors; by a C compiler alone")
    drawn.add_argument("--plain", action="store_true", help="rows that gcc may make vectors of; by a C compiler alone")
    parser.add_argument("--no-certify", action="store_true", help="without certificates")
    parser.add_argument("--save", action="store_true", help="write failures into tests/campaigns/fuzz/corpus")
    parser.add_argument("--show", action="store_true", help="print the cases instead of judging them")
    return parser.parse_args()


def main() -> int:
    """Runs a campaign; 0 where every judge agrees, everything was exercised and enough cases ran."""
    given = _arguments()
    asked = ((given.sliding, Mode.SLIDING), (given.wide, Mode.WIDE), (given.plain, Mode.PLAIN))
    mode = next((mode for yes, mode in asked if yes), Mode.LANGUAGE)
    campaign = Campaign(given.cases, given.seed, given.jobs, given.compiled, not given.no_certify, given.first, mode)
    if given.show:
        for number in range(given.first, given.first + given.cases):
            sys.stdout.write(campaign.case(number).source() + "\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="fuzz_cache_") as cache:
        os.environ["HL_CACHE_DIR"] = cache  # cases are compiled once and never again
        with Workers(given.jobs) as workers:
            report = run(campaign, workers, progress=True)
            folder = CORPUS if given.save else Path(tempfile.gettempdir()) / "halide_core_fuzz"
            sys.stderr.write("making the failures small …\n" if report.failures() else "")
            paths = write_failures(campaign, report, workers, folder)
    sys.stdout.write(report.text() + "\n")
    for path in paths:
        sys.stdout.write(f"failure, made small: {path}\n")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
