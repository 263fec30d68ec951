"""Measurements as tables, as JSON and as a plot.

In: the rows and starts of ``measure``. Out: text on the terminal, and files under ``benchmarks/out``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.apps import APPS
from benchmarks.measure import Outcome, Row, Start
from benchmarks.peak import Peak
from benchmarks.worker import HALIDE, OURS

GOOD, BAD = 1.05, 1.3
"""Ratios that are shown green up to the first, red from the second."""


def ratio(row: Row, what: str = "run_s") -> float | None:
    """Our time over the peer's; None unless both were measured."""
    ours, peer = (getattr(row.outcomes.get(side), what, None) for side in (OURS, HALIDE))
    return None if ours is None or not peer else ours / peer


def geometric_mean(values: Iterable[float]) -> float | None:
    """None for no values."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    ms = seconds * 1e3
    return f"{ms:.3f}" if ms < 1 else f"{ms:.2f}" if ms < 100 else f"{ms:.0f}"


def _ratio(value: float | None) -> str:
    if value is None:
        return "–"
    style = "green" if value <= GOOD else "red" if value > BAD else "yellow"
    return f"[{style}]{value:.2f}[/]"


def _verdict(row: Row) -> str:
    """The remarks on a row besides its numbers."""
    said = []
    for side, outcome in row.outcomes.items():
        if outcome.failed:
            said.append(f"{'not yet' if side == OURS else side}: {_first_line(outcome.failed)}")
        elif outcome.wrong:
            said.append(f"[red]{side} is wrong: {outcome.wrong}[/]")
    if row.disagree and not any(o.wrong for o in row.outcomes.values()):
        said.append(row.disagree)
    return "; ".join(said) or "ok"


def _first_line(text: str) -> str:
    line = text.splitlines()[0] if text else ""
    return (line if len(line) <= 140 else line[:139] + "…").replace("[", r"\[")


def run_table(rows: Sequence[Row]) -> Table:
    """Run and compile times with their ratios, and a geometric mean for each schedule and number of threads."""
    table = Table(title="run and compile time: ours, Halide's, ratio (minima; below 1 is faster than Halide)")
    for name in ("app", "schedule", "threads"):
        table.add_column(name)
    for name in ("run ms", "Halide", "ratio", "CPU ratio", "compile ms", "Halide", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("result")
    for row in rows:
        ours, peer = (row.outcomes.get(side, Outcome()) for side in (OURS, HALIDE))
        table.add_row(
            row.app, row.schedule, str(row.threads),
            _milliseconds(ours.run_s), _milliseconds(peer.run_s), _ratio(ratio(row)), _ratio(ratio(row, "cpu_s")),
            _milliseconds(ours.compile_s), _milliseconds(peer.compile_s), _ratio(ratio(row, "compile_s")),
            _verdict(row),
        )  # fmt: skip
    table.add_section()
    for schedule, threads in dict.fromkeys((r.schedule, r.threads) for r in rows):
        chosen = [r for r in rows if (r.schedule, r.threads) == (schedule, threads)]
        means = {}
        for what in ("run_s", "cpu_s", "compile_s"):
            means[what] = _ratio(geometric_mean(v for r in chosen if (v := ratio(r, what)) is not None))
        good = sum(v <= GOOD for r in chosen if (v := ratio(r)) is not None)
        measured = any(ratio(r) is not None for r in chosen)
        table.add_row(
            "geometric mean", schedule, str(threads), "", "", means["run_s"], means["cpu_s"], "", "",
            means["compile_s"], f"{good} of {len(chosen)} at most {GOOD:g}" if measured else "",
        )  # fmt: skip
    return table


def start_table(starts: dict[str, dict[str, Start]]) -> Table:
    """From process start to the first result, and the process's peak memory."""
    table = Table(title="process start to first result, ms; peak memory of the process, MiB")
    table.add_column("app")
    for name in ("cold", "warm cache", "Halide", "cold ratio", "MiB", "Halide", "ratio"):
        table.add_column(name, justify="right")
    table.add_column("")
    for app, sides in starts.items():
        ours, peer = (sides.get(side, Start()) for side in (OURS, HALIDE))
        failed = [f"{side}: {_first_line(s.failed)}" for side, s in sides.items() if s.failed]
        table.add_row(
            app, _milliseconds(ours.cold_s), _milliseconds(ours.warm_s), _milliseconds(peer.cold_s),
            _ratio(ours.cold_s / peer.cold_s if ours.cold_s and peer.cold_s else None),
            *(f"{s.peak_mib:.0f}" if s.peak_mib else "–" for s in (ours, peer)),
            _ratio(ours.peak_mib / peer.peak_mib if ours.peak_mib and peer.peak_mib else None), "; ".join(failed),
        )  # fmt: skip
    return table


def peers_table(
    times: Mapping[tuple[str, int], dict[str, Outcome]],
    rows: Sequence[Row],
    peak: Peak,
    size: str,
    missing: Mapping[str, str],
) -> Table:
    """Every other library beside ours and Halide's best schedule, and the share of the machine's peak that ours has."""
    libraries = list(dict.fromkeys(name for found in times.values() for name in found))
    table = Table(title=f"the same work elsewhere, ms; one core: {peak.text()}")
    table.add_column("app")
    table.add_column("threads")
    for name in ("ours", "Halide", *libraries, "of peak", "of bandwidth"):
        table.add_column(name, justify="right")
    for (app, threads), found in times.items():
        mine = [r for r in rows if r.app == app and r.threads == threads]
        best = [_best(mine, side) for side in (OURS, HALIDE)]
        work = APPS[app].work(APPS[app].sizes[size])
        shares = ["–", "–"]
        if best[0] is not None:
            shares = [
                f"{work.operations / best[0] / peak.operations_s / threads:.0%}",
                f"{work.bytes / best[0] / peak.bytes_s:.0%}",
            ]
        cells = [_library_cell(found.get(name)) for name in libraries]
        table.add_row(app, str(threads), *(_milliseconds(b) for b in best), *cells, *shares)
    if missing:
        table.caption = "absent: " + "; ".join(f"{name} ({_first_line(why)})" for name, why in missing.items())
    return table


def _best(rows: Sequence[Row], side: str) -> float | None:
    """A side's least time under any schedule."""
    return min((o.run_s for r in rows if (o := r.outcomes.get(side)) and o.run_s), default=None)


def _library_cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    if outcome.failed:
        return "failed"
    return _milliseconds(outcome.run_s) + (" (differs)" if outcome.wrong else "")


def write_json(path: Path, document: dict[str, Any]) -> None:
    """The whole run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, default=_plain) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else asdict(value)


def plot(path: Path, rows: Sequence[Row]) -> bool:
    """Bars of the run-time ratios, one colour for each schedule and number of threads; False where there are none."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, and not needed without a peer

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    groups = list(dict.fromkeys((r.schedule, r.threads) for r in rows if ratio(r) is not None))
    apps = list(dict.fromkeys(r.app for r in rows if ratio(r) is not None))
    if not groups:
        return False
    figure, axes = plt.subplots(figsize=(max(6.0, 1.1 * len(apps)), 5))
    width = 0.8 / len(groups)
    for number, group in enumerate(groups):
        found = {r.app: ratio(r) for r in rows if (r.schedule, r.threads) == group}
        bars = [(i + (number - (len(groups) - 1) / 2) * width, found.get(app)) for i, app in enumerate(apps)]
        shown = [(x, v) for x, v in bars if v is not None]
        threads = f"{group[1]} thread{'s' if group[1] > 1 else ''}"
        axes.bar([x for x, _ in shown], [v for _, v in shown], width, label=f"{group[0]}, {threads}")
    axes.axhline(1, color="black", linewidth=1)
    axes.set_yscale("log")
    axes.set_ylabel("run time over Halide's (log)")
    axes.set_xticks(range(len(apps)), apps, rotation=35, ha="right")
    axes.legend(fontsize="small")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
