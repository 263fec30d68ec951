"""``make bench``: every application here and in Halide, in one run, turn by turn; ``make bench-peers`` adds others.

    python -m benchmarks.run --apps blur,sgemm --schedules expert --threads 1,2 --repeat 10
    python -m benchmarks.run --small --no-start        # seconds, to see that everything works

Prints tables, and writes benchmarks/out/bench.json and bench.png.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import report
from benchmarks.apps import APPS
from benchmarks.apps.app import EXPERT, NONE, PLAIN
from benchmarks.libraries import LIBRARIES
from benchmarks.measure import Outcome, Prepared, Row, Sides, Start, measure, measure_start
from benchmarks.peak import Peak, measure_peak
from benchmarks.peer import OUT, PeerMissingError, install, peer_python
from benchmarks.worker import HALIDE, OURS

_SCHEDULES = f"of: {PLAIN}, {EXPERT}, tiled, {NONE}; default: all that an app has, which {NONE} is no part of"


def _options(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", default=",".join(APPS), help=f"of: {', '.join(APPS)}")
    parser.add_argument("--schedules", default="", help=_SCHEDULES)
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--repeat", type=int, default=10, help="turns that each side gets")
    parser.add_argument("--small", action="store_true", help="the small sizes of the tests")
    parser.add_argument("--size", default="full", help="another size, of the apps that have it: 992 of sgemm")
    parser.add_argument("--target", help="what both sides compile for, as x86-64-linux-avx-avx2-f16c-fma-sse41")
    parser.add_argument("--peer", help="an interpreter that has halide; default: an environment of our own")
    parser.add_argument("--no-peer", action="store_true", help="our side alone")
    parser.add_argument("--no-check", action="store_true", help="compare the sides with each other, not with numpy")
    parser.add_argument("--no-start", action="store_true", help="skip process start to first result")
    parser.add_argument("--libraries", action="store_true", help="numpy, scipy, OpenCV, numba, torch; peak shares")
    parser.add_argument("--install-torch", action="store_true", help="download torch (large) for --libraries")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(given)
    options.apps = _chosen(parser, "--apps", options.apps, list(APPS))
    options.size = "small" if options.small else options.size
    options.apps = [name for name in options.apps if options.size in APPS[name].sizes]
    if not options.apps:
        parser.error(f'--size: no chosen application has the size "{options.size}"')
    known = list(dict.fromkeys(s for app in APPS.values() for s in app.schedules))
    if options.schedules:
        options.schedules = _chosen(parser, "--schedules", options.schedules, [*known, NONE])
    else:
        options.schedules = known
    if not all(part.isdecimal() and int(part) > 0 for part in options.threads.split(",")):
        parser.error(f'--threads takes numbers, as in 1,2, not "{options.threads}"')
    options.threads = [int(part) for part in options.threads.split(",")]
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    return options


def _chosen(parser: argparse.ArgumentParser, option: str, text: str, known: list[str]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f'{option}: there is no "{name}"; there are: {", ".join(known)}')
    return names


class Bench:
    """One run."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.options, self.console = options, console
        self.size = options.size
        self.rows: list[Row] = []
        self.starts: dict[str, dict[str, Start]] = {}
        self.times: dict[tuple[str, int], dict[str, Outcome]] = {}
        self.missing: dict[str, str] = {}
        self.peak: Peak | None = None
        self.pythons = {OURS: sys.executable}
        if not options.no_peer:
            try:
                with console.status("looking for the peer (the first time, it is installed) …"):
                    self.pythons[HALIDE] = peer_python(options.peer)
            except PeerMissingError as error:
                console.print(f"[yellow]{error}[/]\nOur side runs alone.")

    def run(self) -> None:
        """Measures everything that was asked for."""
        chosen = [APPS[name] for name in self.options.apps]
        schedules = {app.name: [s for s in (*app.schedules, NONE) if s in self.options.schedules] for app in chosen}
        count = sum(len(schedules[app.name]) * len(self.options.threads) for app in chosen)
        count += 0 if self.options.no_start else len(chosen)
        commands = {side: [python, "-m", "benchmarks.worker", side] for side, python in self.pythons.items()}
        sides, others = Sides(commands), self._libraries()
        if others is not None:
            count += len(chosen) * len(self.options.threads)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder, self._progress() as progress:
            task = progress.add_task("", total=count)

            def step(what: str) -> None:
                progress.update(task, description=what)

            try:
                for app in chosen:
                    step(f"{app.name}: inputs")
                    prepared = Prepared(app, self.size, Path(folder))
                    for schedule in schedules[app.name]:
                        for threads in self.options.threads:
                            step(f"{app.name}, {schedule}, {threads} thr.")
                            check = not self.options.no_check
                            self.rows.append(
                                measure(sides, prepared, schedule, threads, self.options.repeat, check=check)
                            )
                            progress.advance(task)
                    if not self.options.no_start and schedules[app.name]:
                        step(f"{app.name}: from process start")
                        self._start(prepared, schedules[app.name])
                        progress.advance(task)
                    if others is not None:
                        for threads in self.options.threads:
                            step(f"{app.name}: other libraries, {threads} thr.")
                            self._others(others, prepared, threads)
                            progress.advance(task)
            finally:
                sides.close()
                if others is not None:
                    others.close()
        if self.peak is not None:
            self.peak = self.peak.best(measure_peak())  # the machine may have been busy before

    def _progress(self) -> Progress:
        columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        return Progress(*columns, console=self.console, transient=True)

    def _start(self, prepared: Prepared, schedules: list[str]) -> None:
        schedule = EXPERT if EXPERT in schedules else schedules[0]
        threads = max(self.options.threads)
        self.starts[prepared.app.name] = {
            side: measure_start(python, side, prepared, schedule, threads, cached=side == OURS, repeat=2)
            for side, python in self.pythons.items()
        }

    def _libraries(self) -> Sides | None:
        """The other libraries' workers; those that can't be had are noted."""
        if not self.options.libraries:
            return None
        with self.console.status("looking for other libraries, measuring the machine …"):
            self.peak = measure_peak()
            python = self.pythons.get(HALIDE, sys.executable)
            self.missing = install(python, large=self.options.install_torch)
        return Sides({n: [python, "-m", "benchmarks.libraries", n] for n in LIBRARIES if n not in self.missing})

    def _others(self, others: Sides, prepared: Prepared, threads: int) -> None:
        found = self.times[prepared.app.name, threads] = {}
        for name in others.names:
            if prepared.app.name in LIBRARIES[name]:
                alone, check = _One(others, name), not self.options.no_check
                row = measure(alone, prepared, "", threads, min(3, self.options.repeat), check=check)
                found[name] = row.outcomes[name]

    def show(self) -> None:
        """Prints the tables and writes the files."""
        self.console.print(report.run_table(self.rows))
        if self.starts:
            self.console.print(report.start_table(self.starts))
        if self.peak is not None:
            self.console.print(report.peers_table(self.times, self.rows, self.peak, self.size, self.missing))
        document: dict[str, Any] = {
            "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "python": platform.python_version(),
            "options": {k: str(v) for k, v in vars(self.options).items()},
            "rows": [{**asdict(r), "ratio": report.ratio(r)} for r in self.rows],
            "starts": {app: {s: asdict(v) for s, v in sides.items()} for app, sides in self.starts.items()},
            "libraries": [{"app": a, "threads": t, "outcomes": {n: asdict(o) for n, o in f.items()}}
                          for (a, t), f in self.times.items()],
            "peak": None if self.peak is None else asdict(self.peak),
        }  # fmt: skip
        path = self.options.out / "bench.json"
        report.write_json(path, document)
        written = [str(path)]
        if report.plot(self.options.out / "bench.png", self.rows):
            written.append(str(self.options.out / "bench.png"))
        self.console.print("written: " + ", ".join(written), soft_wrap=True)


class _One(Sides):
    """One side out of several."""

    def __init__(self, whole: Sides, name: str) -> None:
        super().__init__({})
        self.names = [name]
        self._whole = whole

    def of(self, side: str, threads: int) -> Any:
        """The worker, which belongs to the whole."""
        return self._whole.of(side, threads)

    def lost(self, side: str, threads: int) -> None:
        """Passed on."""
        self._whole.lost(side, threads)


def main(given: list[str] | None = None) -> int:
    """Runs; the status says whether every result was right."""
    options = _options(given)
    if options.target:
        os.environ["HL_JIT_TARGET"] = options.target  # both sides' processes read it
    bench = Bench(options, Console() if sys.stdout.isatty() else Console(width=150))
    try:
        bench.run()
    except KeyboardInterrupt:
        bench.console.print("Stopped. This is what was measured until then:")
    bench.show()
    return 1 if any(o.wrong for row in bench.rows for o in row.outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
