"""Random small pipelines under random schedules, on both sides in one run.

    python -m benchmarks.unseen --cases 100 --seed 7 --threads 1 [--mode root] [--family resize] [--only 12]

Prints each case's ratio of run times (ours over the peer's; below 1 we are faster) and the distribution, and keeps the
slowest and the wrong ones as text below ``benchmarks/out/unseen``. It ends with 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.measure import Sides
from benchmarks.peer import OUT, PeerMissingError, peer_python
from benchmarks.processes import WorkerError, WorkerLostError
from benchmarks.unseen.case import FAMILIES, Name
from benchmarks.unseen.drawing import Array
from benchmarks.worker import HALIDE, OURS

_TURN_S, _MOST_A_TURN, _TURNS = 0.02, 100, 5
_SLOW_S = 0.5
"""A run that takes longer gets one more turn only."""
_KEPT = 20
_LIMIT_S = 40.0
"""A side that takes longer for a step has failed: the peer compiles some chains that are inlined for hours."""


@dataclass
class Result:
    """The result of a case on both sides; times are minima, in seconds."""

    name: Name
    lines: list[str] = field(default_factory=list)
    run_s: dict[str, float] = field(default_factory=dict)
    compile_s: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    rounds: bool = False

    def ratio(self, of: str = "run_s") -> float | None:
        """Ours over the peer's, where both have a time."""
        times: dict[str, float] = getattr(self, of)
        return times[OURS] / times[HALIDE] if OURS in times and HALIDE in times else None

    def text(self) -> str:
        """The case as it is kept and shown."""
        ratio = self.ratio()
        told = f"{ratio:.2f}" if ratio is not None else "-"
        head = f"{self.name.number} {self.name.family}: {told}"
        for side, seconds in self.run_s.items():
            head += f", {side} {seconds * 1e3:.3f} ms"
        if len(self.compile_s) == 2:
            head += f", compiled in {self.compile_s[OURS]:.2f} s and {self.compile_s[HALIDE]:.2f} s"
        for side, reason in self.failed.items():
            head += f", {side} failed: {' '.join(reason.split())[:300]}"
        return head + (f", WRONG: {self.wrong}" if self.wrong else "")


def measured(sides: Sides, name: Name, folder: Path) -> Result:
    """Loads a case on both sides, compares the results, and lets the sides take turns."""
    result = Result(name)
    arrays = {side: array for side in sides.names if (array := _loaded(sides, side, result, folder)) is not None}
    if len(arrays) == 2:
        result.wrong = difference(arrays[OURS], arrays[HALIDE], rounds=result.rounds)
        if result.wrong:
            result.wrong += f"; {_unlike_plain(sides, result, arrays, folder)}"
        for turn in range(_TURNS):
            for side in sides.names:
                least = result.run_s[side]
                if least < _SLOW_S or turn == 0:
                    count = max(1, min(_MOST_A_TURN, int(_TURN_S / least)))
                    result.run_s[side] = min(least, *sides.of(side, name.threads).ask(do="run", count=count)["run_s"])
    return result


def _loaded(sides: Sides, side: str, result: Result, folder: Path) -> Array | None:
    """One side's answer, its times noted; None where it has none, the reason noted."""
    name, path = result.name, folder / f"{side}.npy"
    try:
        worker = sides.of(side, name.threads)
        answer = worker.ask(do="load", seed=name.seed, number=name.number, threads=name.threads, mode=name.mode)
        worker.ask(do="save", path=str(path))
        result.run_s[side] = min(worker.ask(do="run", count=2)["run_s"])
    except WorkerError as error:
        result.failed[side] = str(error)
        if isinstance(error, WorkerLostError):
            sides.lost(side, name.threads)
        return None
    result.lines, result.rounds, result.compile_s[side] = answer["lines"], answer["rounds"], answer["compile_s"]
    return cast(Array, np.load(path))


def _unlike_plain(sides: Sides, result: Result, arrays: dict[str, Array], folder: Path) -> str:
    """Whose result is not that of the same algorithm with nothing scheduled."""
    bare = Result(replace(result.name, mode="none"))
    plain = _loaded(sides, OURS, bare, folder)
    for side in arrays:  # the case itself is what is timed, by a new worker where this one was lost
        _loaded(sides, side, result, folder)
    if plain is None:
        return "with nothing scheduled there is no result"
    unlike = [side for side, array in arrays.items() if difference(array, plain, rounds=result.rounds)]
    return f"unlike what it is with nothing scheduled: {', '.join(unlike) or 'neither'}"


def difference(a: Array, b: Array, *, rounds: bool) -> str:
    """The difference of two results: integers not at all, but where floats are rounded to them, and then by 1 at few
    points; floats as sums in another order may."""
    if a.dtype != b.dtype:
        return f"{a.dtype} and {b.dtype}"
    if a.dtype.kind == "f":
        many = np.count_nonzero(~np.isclose(a, b, rtol=2e-4, atol=1e-5, equal_nan=True))
        return "" if many <= (a.size // 2000 if rounds else 0) else f"{many} of {a.size} points"
    apart = np.abs(a.astype(np.int64) - b.astype(np.int64))
    many = np.count_nonzero(apart)
    few = rounds and (many <= a.size // 2000 or (apart.max() <= 1 and many <= a.size // 50))
    return "" if few or not many else f"{many} of {a.size} points, by up to {apart.max()}"


def summary(results: Iterable[Result]) -> str:
    """The distribution of the ratios, and what was refused."""
    results = list(results)
    lines = []
    for what in ("run_s", "compile_s"):
        ratios = sorted(r for each in results if (r := each.ratio(what)) is not None)
        if ratios:
            mean = statistics.geometric_mean(ratios)
            at = {p: ratios[min(len(ratios) - 1, p * len(ratios) // 100)] for p in (50, 90)}
            lines.append(
                f"{what}: {len(ratios)} cases, geometric mean {mean:.3f}, median {at[50]:.2f}, "
                f"90th percentile {at[90]:.2f}, worst {ratios[-1]:.2f}, above 1.3: {sum(r > 1.3 for r in ratios)}"
            )
    ours = [r for r in results if OURS in r.failed and HALIDE not in r.failed]
    theirs = [r for r in results if HALIDE in r.failed and OURS not in r.failed]
    both = [r for r in results if len(r.failed) == 2]
    wrong = [r for r in results if r.wrong]
    lines.append(
        f"failed here only: {len(ours)}, at the peer only: {len(theirs)}, on both: {len(both)}; wrong: {len(wrong)}"
    )
    return "\n".join(lines)


def keep(results: list[Result], folder: Path) -> None:
    """Writes the slowest cases, the refused and the wrong ones with their schedules."""
    folder.mkdir(parents=True, exist_ok=True)
    slow = sorted((r for r in results if r.ratio() is not None), key=lambda r: -(r.ratio() or 0))[:_KEPT]
    for result in {id(r): r for r in [*slow, *(r for r in results if r.wrong or OURS in r.failed)]}.values():
        path = folder / f"seed_{result.name.seed}_case_{result.name.number}_{result.name.family}.txt"
        path.write_text(f"{result.text()}\n\n" + "\n".join(result.lines) + "\n")


def main() -> int:
    """Draws, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=len(FAMILIES))
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mode", choices=("drawn", "root", "none"), default="drawn")
    parser.add_argument("--family", choices=list(FAMILIES))
    parser.add_argument("--only", type=int, help="the number of one case")
    parser.add_argument("--peer", help="an interpreter that can import halide")
    given = parser.parse_args()
    try:
        commands = {OURS: sys.executable, HALIDE: peer_python(given.peer)}
    except PeerMissingError as error:
        print(error, file=sys.stderr)
        return 2
    workers = {side: [python, "-m", "benchmarks.unseen.worker", side] for side, python in commands.items()}
    sides = Sides(workers, _LIMIT_S)
    names = [Name(given.seed, n, given.threads, given.mode) for n in range(given.cases)]
    if given.only is not None:
        names = [Name(given.seed, given.only, given.threads, given.mode)]
    results = []
    with tempfile.TemporaryDirectory(prefix="unseen-") as folder:
        for name in names:
            if given.family is None or name.family == given.family:
                results.append(measured(sides, name, Path(folder)))
                print(results[-1].text(), flush=True)
    sides.close()
    keep(results, OUT / "unseen")
    print(summary(results))
    return 1 if any(r.wrong for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
