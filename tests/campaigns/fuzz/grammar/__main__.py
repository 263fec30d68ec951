"""Campaigns of the grammar: ``python -m tests.campaigns.fuzz.grammar --cases N --seed S``; see the package.

Several seeds share one table, so that each draws towards what the others left empty: ``--cases`` is how many there are
to be of all of them, those that ``--kept`` has among them.
"""

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
from tests.campaigns.fuzz.grammar.journal import Journal, merged
from tests.campaigns.fuzz.grammar.report import Asked, text, verdict
from tests.campaigns.fuzz.grammar.serving import serve
from tests.campaigns.fuzz.grammar.table import Table
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.shrink import shrink
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.fuzz.workers import Workers
from tests.campaigns.fuzz.write import write_test


def _arguments() -> argparse.Namespace:
    name = "python -m tests.campaigns.fuzz.grammar"
    parser = argparse.ArgumentParser(name, description="Draws whose coverage is measured.")
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="how many, kept ones included (1000)")
    parser.add_argument("--seed", type=int, nargs="+", default=[1], metavar="S", help="the campaign, or several (1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes (1)")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="campaigns are kept there, and go on")
    parser.add_argument("--compiled", action="store_true", help="compiled code judges a part; needs a C compiler")
    parser.add_argument("--table", action="store_true", help="the report on what is kept, and no case more")
    parser.add_argument("--defects", nargs="*", metavar="NAME", help="with defects of the past, until each is found")
    given = parser.parse_args()
    if given.defects is not None and (len(given.seed) > 1 or given.kept or given.compiled or given.table):
        parser.error("--defects goes with one --seed, --cases and --jobs, and nothing else")
    return given


def _workers(jobs: int, defect: str = "") -> Workers:
    return Workers(jobs, serve=partial(serve, defect=defect), preload=serve.__module__)


def _finds_defects(names: list[str], seed: int, cases: int, jobs: int) -> bool:
    """True where a campaign finds each of some defects: a case that the compiler as it is gets right."""
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

            by_gcc = DEFECTS[name].by_gcc
            campaign = Campaign(cases, seed, Journal(), compiled=by_gcc, plain_alone=by_gcc, until=is_right)
            campaign.run(workers)
        told = f"found by case {campaign.journal.next}: {list(campaign.failed)[-1]}" if shown else "NOT FOUND"
        sys.stdout.write(f"{name:58} {told} ({campaign.journal.cases} judged, {campaign.took:.0f} s)\n")
        sys.stdout.flush()
        everywhere = everywhere and bool(shown)
    return everywhere


def _judged(seeds: list[int], cases: int, kept: Path | None, jobs: int, compiled: bool) -> Journal:
    """The findings of the campaigns together, until there are so many cases."""
    table = Table()
    journals = [Journal(kept_in(kept, seed) if kept else None, table) for seed in seeds]
    for at, (seed, journal) in enumerate(zip(seeds, journals, strict=True)):
        more = cases * (at + 1) // len(seeds) - cases * at // len(seeds) - journal.cases
        campaign = Campaign(max(more, 0), seed, journal, compiled)
        if more <= 0:
            continue
        with _workers(jobs) as workers:
            campaign.run(workers, progress=True)
            for kind, (case, judges) in campaign.failed.items():
                failure = Failure(workers, kind, judges)
                failure.ask_fewer(case)
                small = shrink(case, failure.shows)
                folder = Path(tempfile.gettempdir()) / "halide_core_fuzz"
                path = write_test(small, workers.one(small, failure.judges), failure.judges, folder)
                sys.stdout.write(f"failure, made small: {path}\n")
    return merged(journals, table)


def main() -> int:
    """Runs campaigns; 0 where every judge agrees and no hole remains, or where every defect was found."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="fuzz_cache_") as cache:
        os.environ["HL_CACHE_DIR"] = cache  # cases are compiled once and never again
        if given.defects is not None:
            return 0 if _finds_defects(given.defects or list(DEFECTS), given.seed[0], given.cases, given.jobs) else 1
        journal = _judged(given.seed, 0 if given.table else given.cases, given.kept, given.jobs, given.compiled)
    compiled = (given.cases // 5, given.cases // 20) if given.compiled else (0, 0)
    asked = Asked(given.cases, *compiled)
    sys.stdout.write(f"{text(journal)}\n{verdict(journal, asked)}\n")
    return 1 if asked.missing(journal) else 0


if __name__ == "__main__":
    sys.exit(main())
