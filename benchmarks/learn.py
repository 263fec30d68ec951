"""Trains the weights of ``halide_core.tuning.learned`` on random programs, and shows how the model orders candidates.

    HL_NUM_THREADS=1 python -m benchmarks.learn --programs 30            measures, goes on where it stopped
    python -m benchmarks.learn --programs 0 --write --plot rank.svg      fits what was measured, and keeps the weights

Each program of ``benchmarks.unseen`` gets candidates of the model's space: its choice, states of its search, and random
ones. They run in one thread, in the processor's time, which a busy machine changes less. Every third program is held
back: for those it prints the rank correlation of expected and measured times, by the model alone and with the weights.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

import halide_core as hl
from benchmarks.peer import OUT
from benchmarks.unseen.case import Name, make
from halide_core.algorithm.model import Function
from halide_core.autoschedule.choices import encoded
from halide_core.autoschedule.search import Found, FuncChoice, drawn, search
from halide_core.run.pipeline import Realizable
from halide_core.tuning.job import PROBLEM, Clock, Ending, Job, JobRole
from halide_core.tuning.learned import FEATURES, WEIGHTS, Measurement, features, rank_correlation, ridge
from halide_core.tuning.plot import comparison, svg
from halide_core.tuning.problem import Problem
from halide_core.tuning.processes import CandidateProcesses
from halide_core.tuning.session import Options, Session

_FILE = OUT / "learn" / "measurements.jsonl"
_HELD = 3
_STATES = 32
_STIFF = 10.0
_FEWEST = 4
"""Measured candidates without which a program says nothing of an order."""


@dataclass(frozen=True)
class Program:
    """The measurements of a random program."""

    number: int
    family: str
    measured: tuple[Measurement, ...]

    def correlation(self, weights: Any) -> float:
        """The rank correlation of expected and measured times."""
        expected = [math.log(m.cycles) + float(m.features @ weights) for m in self.measured]
        return rank_correlation(expected, [m.seconds for m in self.measured])


def problem_of(name: Name) -> Problem:
    """A random program without a schedule, and its inputs."""
    case = make(hl, name)
    for argument, value in zip(case.arguments, case.inputs, strict=True):
        argument.set(value)
    session = Session.of(cast(Realizable, case.output), list(case.shape), None, Options())
    return session.problem


def candidates(problem: Problem, count: int, rng: random.Random) -> list[tuple[str, Found]]:
    """Different choices: the model's first, some that its search ends with, and random ones."""
    model = problem.model()
    states = search(model, width=_STATES, best=_STATES)
    chosen = [states[0], *rng.sample(states[1:], min(count // 3, len(states) - 1))]

    def draw(_: Function, choices: list[FuncChoice]) -> int:
        return int(len(choices) * rng.random() ** 2)

    chosen += [drawn(model, draw) for _ in range(count - len(chosen))]
    return list({encoded(found.placed(), problem.order): found for found in chosen}.items())


def measured(name: Name, count: int, limit: float) -> dict[str, Any]:
    """A program as a line of the file."""
    problem = problem_of(name)
    rows = []
    with tempfile.TemporaryDirectory(prefix="learn-") as folder, CandidateProcesses(limit) as processes:
        problem.write(Path(folder, PROBLEM))
        plain = processes.run(Job(folder, "", JobRole.PLAIN, clock=Clock.CPU))
        for choice, found in candidates(problem, count, random.Random(name.number)):
            if plain.result is not Ending.DONE:
                break
            outcome = processes.run(Job(folder, choice, JobRole.MEASURE, hopeless=1.0, clock=Clock.CPU))
            if outcome.result is Ending.WRONG:
                raise SystemExit(f"WRONG: program {name.seed}/{name.number}, {choice}")
            if outcome.result is Ending.DONE:
                rows.append([features(found).tolist(), found.cycles, outcome.seconds, choice])
    return {"seed": name.seed, "number": name.number, "family": name.family, "measured": rows}


def known(file: Path) -> Iterator[dict[str, Any]]:
    """The lines that there are."""
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def programs(file: Path) -> list[Program]:
    """The programs whose candidates can be ordered."""
    found = []
    for line in known(file):
        rows = [Measurement(np.array(f), cycles, seconds) for f, cycles, seconds, *_ in line["measured"]]
        if len(rows) >= _FEWEST:
            found.append(Program(line["number"], line["family"], tuple(rows)))
    return found


def fit(every: list[Program], plot: Path | None, *, write: bool) -> None:
    """Fits the weights to all programs that are not held back, and prints what they are worth on those that are."""
    held = [p for p in every if p.number % _HELD == 0]
    learned = [p for p in every if p.number % _HELD]
    if not held or not learned:
        raise SystemExit("There are too few programs: measure some more.")
    nothing = np.zeros(len(FEATURES))
    weights = ridge([p.measured for p in learned], nothing, _STIFF)
    scores: dict[str, float] = {}
    for label, used in (("the model", nothing), ("with what was learned", weights)):
        each = [p.correlation(used) for p in held]
        pairs = [(math.exp(math.log(m.cycles) + float(m.features @ used)), m.seconds) for p in held for m in p.measured]
        pooled = rank_correlation([a for a, _ in pairs], [b for _, b in pairs])
        scores[label] = statistics.fmean(each)
        print(
            f"{label}: rank correlation within a program, mean {statistics.fmean(each):.3f}, median "
            f"{statistics.median(each):.3f}, least {min(each):.2f}; of all {len(pairs)} candidates {pooled:.3f}"
        )
        if plot is not None:
            path = plot.with_stem(f"{plot.stem}-{'model' if used is nothing else 'learned'}")
            panel = comparison([(cycles, seconds * 1e3) for cycles, seconds in pairs])
            path.write_text(svg("\n".join(panel.marks), 420), encoding="utf-8")
            print(f"drawn in {path}")
    for p in held:
        print(f"  {p.number:4} {p.family:16} {p.correlation(nothing):6.2f} {p.correlation(weights):6.2f}")
    count = sum(len(p.measured) for p in learned)
    print(f"learned of {len(learned)} programs and {count} candidates, held back {len(held)} programs")
    if write:
        values = {name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)}
        learned_from = {"programs": len(learned), "candidates": count, "stiffness": _STIFF}
        worth = {label: round(score, 3) for label, score in scores.items()}
        whole = {"weights": values, "learned from": learned_from, "rank correlation on others": worth}
        WEIGHTS.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        print(f"written to {WEIGHTS}")


def main() -> int:
    """Measures, fits, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=30, help="how many more are measured")
    parser.add_argument("--candidates", type=int, default=12, help="of each")
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--limit", type=float, default=40.0, help="seconds for a candidate")
    parser.add_argument("--file", type=Path, default=_FILE, help="where measurements are kept")
    parser.add_argument("--write", action="store_true", help="keep the weights")
    parser.add_argument("--plot", type=Path, help="SVG files to be drawn, of this name and -model, -learned")
    given = parser.parse_args()
    given.file.parent.mkdir(parents=True, exist_ok=True)
    first = 1 + max((line["number"] for line in known(given.file)), default=-1)
    for number in range(first, first + given.programs):
        line = measured(Name(given.seed, number, 1, "none"), given.candidates, given.limit)
        with given.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{number} {line['family']}: {len(line['measured'])} candidates", flush=True)
    fit(programs(given.file), given.plot, write=given.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
