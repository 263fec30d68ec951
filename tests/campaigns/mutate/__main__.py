"""python -m tests.campaigns.mutate --seed 7 --count 200 [--jobs 2] [--resume file] [--only id] [--json file]

Exit status: 0 where at least 95 % are killed and every survivor is explained, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.campaigns.mutate.choosing import all_mutants, choose
from tests.campaigns.mutate.mutant import Mutant
from tests.campaigns.mutate.report import Report
from tests.campaigns.mutate.running import Log, Runner, digest_of_tests
from tests.campaigns.mutate.verdict import Verdict

ROOT = Path(__file__).resolve().parents[3]


def _parsed(arguments: list[str]) -> argparse.Namespace:
    told = "Do the judges notice where the compiler is wrong?"
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.mutate", description=told)
    parser.add_argument("--seed", type=int, default=7, help="draws the mutants (default: 7)")
    parser.add_argument("--count", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="verdicts are kept there, and not looked for again")
    parser.add_argument("--only", metavar="ID", action="append", help="these mutants instead, with their differences")
    parser.add_argument("--list", action="store_true", help="show the mutants that would be tried, and try none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the report as JSON")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _chosen(given: argparse.Namespace, candidates: list[Mutant]) -> list[Mutant]:
    if not given.only:
        return choose(candidates, given.seed, given.count)
    by_id = {m.id: m for m in candidates}
    unknown = [i for i in given.only if i not in by_id]
    if unknown:
        raise SystemExit(f"There is no mutant {unknown[0]}; --list shows some.")
    return [by_id[i] for i in given.only]


def _list(chosen: list[Mutant], root: Path) -> None:
    for m in chosen:
        _say(f"{m.id} (line {m.line})")
        _say("\n".join(m.diff((root / m.path).read_bytes()).splitlines()[2:]))


def main(arguments: list[str]) -> int:
    """Draws, runs and reports."""
    given = _parsed(arguments)
    if given.list:
        _list(_chosen(given, all_mutants(ROOT)), ROOT)
        return 0
    runner = Runner(ROOT, given.jobs)
    try:
        # From the copy: the tree itself may change meanwhile.
        chosen = _chosen(given, all_mutants(runner.tree))
        texts = {m.path: (runner.tree / m.path).read_bytes() for m in chosen}
        if given.only:
            _list(chosen, runner.tree)
        _say("Recording the compiler as it is ...")
        record = runner.prepare()
        _say(
            f"{len(record.items)} steps and tests of {sum(i.seconds for i in record.items.values()):.0f} s; "
            f"{len(record.left_out)} tests are left out, which are slow or start processes."
        )
        found: dict[Mutant, Verdict] = {}
        for mutant, verdict in runner.run(chosen, texts, Log(given.resume, digest_of_tests(runner.tree))):
            found[mutant] = verdict
            ended = verdict.judge.value if verdict.judge else "SURVIVED"
            _say(f"{len(found):>4}/{len(chosen)}  {ended:<12}{verdict.seconds:>6.1f} s  {mutant.id}")
    finally:
        runner.close()
    report = Report([(m, found[m]) for m in chosen], texts, record.failing)
    _say(f"\n{report}")
    if given.json is not None:
        given.json.write_text(json.dumps(report.as_data(), indent=1) + "\n", encoding="utf-8")
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
