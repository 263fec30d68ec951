"""Runs both sides and compares them: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.campaigns.peer.case import Case, all_cases, groups
from tests.campaigns.peer.compare import Comparison
from tests.campaigns.peer.outcome import Tree
from tests.campaigns.peer.report import Verdict, passed, report

_ROOT = Path(__file__).resolve().parents[3]
# Halide's floats are fast and loose otherwise; here they never are.
_PEER_TARGET = {"HL_JIT_TARGET": "host-strict_float"}


class Results:
    """The results of one side: outcomes by the name of the case, and the arrays of all of them."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {}
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def read(self, folder: Path, jobs: Sequence[Sequence[str]], label: str) -> list[list[str]]:
        """Takes in what a folder has of some groups; returns the groups that it lacks."""
        lacking = []
        for number, group in enumerate(jobs):
            path = folder / f"{number}.json"
            if not path.exists():
                lacking.append(list(group))
                continue
            with np.load(path.with_suffix(".npz")) as stored:
                self.arrays.update({f"{label}{name}": stored[name] for name in stored.files})
            for tree in json.loads(path.read_text(encoding="utf-8")):
                self.trees[tree["name"]] = _relabelled(tree, label)
        return lacking


def _relabelled(tree: Any, label: str) -> Any:
    """The tree with its arrays' names made unique among several runs."""
    if isinstance(tree, dict):
        return {k: f"{label}{v}" if k == "array" else _relabelled(v, label) for k, v in tree.items()}
    return [_relabelled(v, label) for v in tree] if isinstance(tree, list) else tree


def run_side(python: str, package: str, cases: Sequence[Case], folder: Path) -> Results:
    """Runs cases with one package. A group that ends its process runs again case by case; a case that does, crashes."""
    results = Results()
    jobs, round_number = groups(cases), 0
    while jobs:
        label = f"{round_number}/"
        out = folder / package / str(round_number)
        out.mkdir(parents=True)
        _run_until_done(python, package, jobs, out)
        lacking = results.read(out, jobs, label)
        for group in lacking:
            if len(group) == 1:
                results.trees[group[0]] = {"name": group[0], "outcome": {"kind": "crash"}, "names": []}
        jobs = [[name] for group in lacking if len(group) > 1 for name in group]
        round_number += 1
    return results


def _run_until_done(python: str, package: str, jobs: list[list[str]], out: Path) -> None:
    """Starts the side again after each group that ended it, behind that group."""
    path = out / "groups.json"
    path.write_text(json.dumps(jobs), encoding="utf-8")
    skipped = 0
    while True:
        command = [python, "-m", "tests.campaigns.peer.side", package, str(path), str(out), str(skipped)]
        environment = os.environ | _PEER_TARGET
        ended = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode == 0:
            return
        done = [n for n in range(len(jobs)) if n >= skipped and (out / f"{n}.json").exists()]
        if not done and skipped == 0 and ended.returncode == 1:
            sys.exit(f"{package} does not start with {python}:\n{ended.stderr}")
        skipped = (max(done) if done else skipped - 1) + 2


def compare(cases: Sequence[Case], ours: Results, peers: Results) -> list[Verdict]:
    """The verdict on each case."""
    verdicts = []
    for case in cases:
        a, b = ours.trees[case.name], peers.trees[case.name]
        found = Comparison(ours.arrays, peers.arrays, case.ulps).difference(a["outcome"], b["outcome"])
        raised = a["outcome"]["kind"] == "error"  # says nothing of what the names do
        names = () if raised else tuple((str(owner), str(name)) for owner, name in a["names"])
        verdicts.append(Verdict(case, found, names))
    return verdicts


def main() -> int:
    """Runs, compares, prints the report; 1 where something differs that is not listed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.peer", description="Compares halide_core with Halide 21."
    )
    parser.add_argument("--peer", required=True, help="a Python that has halide==21.0.0")
    parser.add_argument("--report", type=Path, help="a file to write the report to as well")
    parser.add_argument("--only", default="", help="only the cases whose name has this text")
    options = parser.parse_args()
    cases = [c for c in all_cases().values() if options.only in c.name]
    with tempfile.TemporaryDirectory() as folder:
        peers = run_side(options.peer, "halide", cases, Path(folder))
        ours = run_side(sys.executable, "halide_core", cases, Path(folder))
        verdicts = compare(cases, ours, peers)
    text = report(verdicts) + "\n"
    if options.report is not None:
        options.report.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0 if passed(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
