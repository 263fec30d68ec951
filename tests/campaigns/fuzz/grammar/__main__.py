"""A campaign of the grammar: ``python -m tests.campaigns.fuzz.grammar --cases N --seed S``; see the package."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.campaigns.fuzz.campaign import Failure
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.grammar.campaign import Campaign, kept_in
from tests.campaigns.fuzz.grammar.defects import DEFECTS
from tests.campaigns.fuzz.grammar.journal import Journal
from tests.campaigns.fuzz.grammar.serving import serve
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.shrink import shrink
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.fuzz.workers import Workers
from tests.campaigns.fuzz.write import write_test


def _arguments() -> argparse.Namespace:
    name = "python -m tests.campaigns.fuzz.grammar"
    parser = argparse.ArgumentParser(name, description="Draws whose coverage is measured.")
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="how many more (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the campaign (1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes (1)")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="campaigns are kept there, and go on")
    parser.add_argument("--compiled", action="store_true", help="compiled code judges a part; needs a C compiler")
    parser.add_argument("--defects", nargs="*", metavar="NAME", help="with defects of the past, until each is found")
    return parser.parse_args()


def _workers(jobs: int, defect: str = "") -> Workers:
    return Workers(jobs, serve=partial(serve, defect=defect), preload=serve.__module__)


def _find(names: list[str], seed: int, cases: int, jobs: int) -> bool:
    """Whether a campaign finds each of some defects: a case that the compiler as it is gets right."""
    everywhere = True
    for name in names:
        shown: list[str] = []
        with _workers(1) as sound, _workers(jobs, name) as workers:

            def is_right(case: Case, judges: Judges, sound: Workers = sound, shown: list[str] = shown) -> bool:
                if sound.one(case, judges).outcome is Outcome.MISMATCH:
                    sys.stdout.write(f"also without the defect: {case.seed}\n")
                    return False
                shown.append(str(case.seed))
                return True

            campaign = Campaign(cases, seed, Journal(), until=is_right)
            campaign.run(workers)
        told = f"found by case {campaign.journal.cases}: {list(campaign.failed)[-1]}" if shown else "NOT FOUND"
        sys.stdout.write(f"{name:58} {told} ({campaign.journal.cases} cases, {campaign.took:.0f} s)\n")
        sys.stdout.flush()
        everywhere = everywhere and bool(shown)
    return everywhere


def main() -> int:
    """Runs a campaign; 0 where every judge agrees and no hole remains, or where every defect was found."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="fuzz_cache_") as cache:
        os.environ["HL_CACHE_DIR"] = cache  # cases are compiled once and never again
        if given.defects is not None:
            return 0 if _find(given.defects or list(DEFECTS), given.seed, given.cases, given.jobs) else 1
        journal = Journal(kept_in(given.kept, given.seed) if given.kept else None)
        campaign = Campaign(given.cases, given.seed, journal, given.compiled)
        with _workers(given.jobs) as workers:
            campaign.run(workers, progress=True)
            folder = Path(tempfile.gettempdir()) / "halide_core_fuzz"
            for kind, (case, judges) in campaign.failed.items():
                failure = Failure(workers, kind, judges)
                failure.ask_fewer(case)
                small = shrink(case, failure.shows)
                path = write_test(small, workers.one(small, failure.judges), failure.judges, folder)
                sys.stdout.write(f"failure, made small: {path}\n")
    sys.stdout.write(campaign.text() + "\n")
    return 0 if campaign.ok else 1


if __name__ == "__main__":
    sys.exit(main())
