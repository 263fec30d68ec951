"""Automatic schedules here beside the experts' in Halide, in one run, turn by turn.

    python -m benchmarks.auto --threads 2                      the twelve applications
    python -m benchmarks.auto --apps blur,harris --small       seconds, to see that everything works
    python -m benchmarks.auto --by model                       schedules of the search, not those of the rules
    python -m benchmarks.auto --by measured                    the best of some that are measured, a minute each

Prints for each application the ratio of run times (ours over the peer's; below 1 we are faster) and the times of
compiling, ours with the choice of a schedule, and the geometric mean. It ends with 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.apps import APPS
from benchmarks.apps.app import AUTO, CHOSEN, EXPERT
from benchmarks.measure import Outcome, Prepared, Sides, measure
from benchmarks.peer import PeerMissingError, peer_python
from benchmarks.worker import HALIDE, OURS


def main() -> int:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", default=",".join(APPS), help=f"of: {', '.join(APPS)}")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5, help="turns that each side gets")
    parser.add_argument("--small", action="store_true", help="the small sizes of the tests")
    parser.add_argument("--by", choices=CHOSEN, default=AUTO, help="rules, a search, or measuring")
    parser.add_argument("--peer", help="an interpreter that can import halide")
    given = parser.parse_args()
    unknown = [name for name in given.apps.split(",") if name not in APPS]
    if unknown or given.threads < 1 or given.repeat < 1:
        parser.error(f'there is no application "{unknown[0]}"' if unknown else "numbers must be at least 1")
    try:
        commands = {OURS: sys.executable, HALIDE: peer_python(given.peer)}
    except PeerMissingError as error:
        print(error, file=sys.stderr)
        return 2
    sides = Sides({side: [python, "-m", "benchmarks.worker", side] for side, python in commands.items()})
    ratios, wrong = [], False
    with tempfile.TemporaryDirectory(prefix="auto-") as folder:
        for name in given.apps.split(","):
            prepared = Prepared(APPS[name], "small" if given.small else "full", Path(folder))
            schedules = {OURS: given.by, HALIDE: EXPERT}
            row = measure(sides, prepared, schedules, given.threads, given.repeat, check=given.small)
            ours, theirs = row.outcomes[OURS], row.outcomes[HALIDE]
            if ours.run_s is not None and theirs.run_s is not None:
                ratios.append(ours.run_s / theirs.run_s)
            wrong |= bool(row.disagree or ours.wrong)
            told = row.disagree or ours.wrong
            print(line(name, ours, theirs) + (f", WRONG: {told}" if told else ""), flush=True)
    sides.close()
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"{len(ratios)} applications, geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    return 1 if wrong else 0


def line(name: str, ours: Outcome, theirs: Outcome) -> str:
    """An application's figures."""
    failed = [f"{side} failed: {each.failed[:300]}" for side, each in ((OURS, ours), (HALIDE, theirs)) if each.failed]
    if ours.run_s is None or theirs.run_s is None:
        return f"{name:16} {'; '.join(failed)}"
    return (
        f"{name:16} {ours.run_s / theirs.run_s:5.2f}   "
        f"ours {ours.run_s * 1e3:8.2f} ms, expert {theirs.run_s * 1e3:8.2f} ms, "
        f"compiled in {ours.compile_s or 0:.2f} s and {theirs.compile_s or 0:.2f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
