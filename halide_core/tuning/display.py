"""Progress on the screen, by rich where that is installed.

In: how many candidates there were, the best time, the plain program's. Out: one line on stderr that changes.

    12 candidates, best 1.31 ms, 14.2 times as fast
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Show(Protocol):
    """Shows how far a search is: the candidates so far, the best time, and the plain program's, in seconds."""

    def __call__(self, count: int, best: float, plain: float, /) -> None: ...


@contextmanager
def display(total: int | None, *, quiet: bool) -> Iterator[Show]:
    """A place on the screen for a search of so many candidates, if that is known."""
    if quiet:
        yield _nothing
        return
    try:
        from halide_core.tuning.bar import bar  # noqa: PLC0415  # of the extra "tune"
    except ModuleNotFoundError:
        yield _nothing
        return
    with bar(total) as update:
        yield lambda count, best, plain: update(count, line(count, best, plain))


def _nothing(_count: int, _best: float, _plain: float) -> None:
    pass


def line(count: int, best: float, plain: float) -> str:
    """The text of a moment."""
    if not math.isfinite(best):
        return f"{count} candidates"
    return f"{count} candidates, best {best * 1e3:.3g} ms, {plain / best:.1f} times as fast"
