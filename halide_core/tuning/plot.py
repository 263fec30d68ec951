"""A drawing of a search, as SVG: its progress, and the model beside the measurements.

In: the candidates, and the plain program's seconds. Out: a file that any browser shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from halide_core.run.tune import TrialRecord
from halide_core.tuning.learned import rank_correlation

_WIDTH, _HEIGHT, _MARGIN = 420, 280, 48
_GIVEN, _BEST, _PLAIN = "#4477aa", "#228833", "#cc3311"


class _Panel:
    """Axes with logarithmic heights, and points on them.

    Args:
        left: where it begins in the drawing.
        across, up: the least and the greatest value of each axis.
    """

    def __init__(self, left: float, title: str, across: tuple[float, float], up: tuple[float, float]) -> None:
        self._left = left
        self._across = across
        self._up = up
        middle = left + _WIDTH / 2
        self.marks = [
            _frame(left + _MARGIN, _MARGIN, _WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN),
            _text(middle, 20, title, "middle"),
        ]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is in the drawing."""
        (a, b), (c, d) = self._across, self._up
        right = (x - a) / ((b - a) or 1)
        over = (math.log(y) - math.log(c)) / ((math.log(d) - math.log(c)) or 1)
        inner = _HEIGHT - 2 * _MARGIN
        return self._left + _MARGIN + right * (_WIDTH - 2 * _MARGIN), _MARGIN + (1 - over) * inner

    def dot(self, x: float, y: float) -> None:
        """A candidate."""
        across, down = self.at(x, y)
        self.marks.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{_GIVEN}" fill-opacity="0.7"/>')

    def line(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*p) for p in points))
        self.marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')

    def labels(self, across: tuple[str, str, str], up: tuple[str, str, str]) -> None:
        """The ends of the axes, and what they are of."""
        low, high, bottom = self._left + _MARGIN, self._left + _WIDTH - _MARGIN, _HEIGHT - _MARGIN + 16
        self.marks += [
            _text(low, bottom, across[0], "start"),
            _text((low + high) / 2, bottom + 14, across[2], "middle"),
            _text(high, bottom, across[1], "end"),
            _text(low - 4, _HEIGHT - _MARGIN, up[0], "end"),
            _text(low - 4, _MARGIN + 8, up[1], "end"),
            _text(low, _MARGIN - 8, up[2], "start"),
        ]


def draw(path: Path, trials: Sequence[TrialRecord], plain: float, name: str) -> None:
    """Draws a search.

    Raises:
        OSError: the file can't be written.
    """
    done = [(i, t.cycles, t.seconds * 1e3) for i, t in enumerate(trials) if t.seconds]
    panels = []
    if done:
        times = [ms for _, _, ms in done]
        top = max(*times, plain * 1e3)
        progress = _Panel(0, f"{name}: progress", (0, max(1, len(trials) - 1)), (min(times) * 0.9, top * 1.1))
        best = [(float(i), min(times[: k + 1])) for k, (i, _, _) in enumerate(done)]
        steps = [p for a, b in pairwise(best) for p in (a, (b[0], a[1]))]
        progress.line([*steps, best[-1], (len(trials) - 1, best[-1][1])], _BEST)
        progress.line([(0, plain * 1e3), (max(1, len(trials) - 1), plain * 1e3)], _PLAIN)
        for i, _, ms in done:
            progress.dot(i, ms)
        ends = (_number(min(times)), _number(top), "ms; the plain program red, the best so far green")
        progress.labels(("0", str(len(trials) - 1), "candidate"), ends)
        panels.append(progress)
        panels.append(comparison([(cycles, ms) for _, cycles, ms in done], _WIDTH))
    marks = "\n".join(mark for panel in panels for mark in panel.marks)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg(marks, 2 * _WIDTH), encoding="utf-8")


def comparison(pairs: Sequence[tuple[float, float]], left: float = 0.0) -> _Panel:
    """Expected cycles and measured milliseconds, with how far the two order alike."""
    logs = [math.log10(max(1.0, cycles)) for cycles, _ in pairs]
    times = [ms for _, ms in pairs]
    agreement = rank_correlation([c for c, _ in pairs], times)
    title = f"model and measurement, rank correlation {agreement:.2f}"
    panel = _Panel(left, title, (min(logs), max(logs)), (min(times) * 0.9, max(times) * 1.1))
    for log, ms in zip(logs, times, strict=True):
        panel.dot(log, ms)
    across = (_number(10 ** min(logs)), _number(10 ** max(logs)), "cycles by the model")
    panel.labels(across, (_number(min(times)), _number(max(times)), "ms"))
    return panel


def svg(marks: str, width: float) -> str:
    """A whole drawing."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" font-family="sans-serif">'
    return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n{marks}\n</svg>\n'


def _frame(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke="#999"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" text-anchor="{anchor}">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:.3g}"
