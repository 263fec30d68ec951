"""Profiles: the time and memory of a pipeline, Func by Func, and their text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FuncProfile:
    """One Func. Times and counts are sums over all runs and threads.

    ``peak_bytes`` is the most heap memory that it held at once, over all threads; ``stack_bytes`` the arrays that it
    has on the stack of each thread. The Func without a name is everything that belongs to none: checks, starting
    tasks, waiting.
    """

    name: str
    seconds: float
    visits: int
    allocations: int
    peak_bytes: int
    stack_bytes: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A pipeline. ``seconds`` is the time on the wall of all its runs; ``peak_bytes`` the most heap memory at once."""

    name: str
    runs: int
    seconds: float
    peak_bytes: int
    funcs: tuple[FuncProfile, ...]

    @property
    def thread_seconds(self) -> float:
        """The time of all threads together."""
        return sum(f.seconds for f in self.funcs)

    def share(self, func: FuncProfile) -> float:
        """A Func's part of the time of all threads."""
        return func.seconds / self.thread_seconds if self.thread_seconds > 0 else 0.0

    def __str__(self) -> str:
        runs = max(self.runs, 1)
        rows = [_TITLES, *(self._cells(f) for f in self.funcs)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_TITLES))]
        wall, threads = (seconds / runs * 1e3 for seconds in (self.seconds, self.thread_seconds))
        head = (
            f"{self.name}: {self.runs} run{'' if self.runs == 1 else 's'}, each {wall:.3f} ms on the wall and "
            f"{threads:.3f} ms of all threads; at most {self.peak_bytes / 1024:.1f} KiB of heap"
        )
        lines = [head]
        for first, *others in rows:
            cells = [f"{cell:>{w}}" for cell, w in zip(others, widths[1:], strict=True)]
            lines.append("  ".join(["", f"{first:<{widths[0]}}", *cells]))
        return "\n".join(lines)

    def _cells(self, f: FuncProfile) -> tuple[str, ...]:
        """A row of the table, for each run but for the bytes."""
        runs = max(self.runs, 1)
        counts = (f"{f.visits / runs:.0f}", f"{f.allocations / runs:.0f}")
        sizes = (f"{f.peak_bytes / 1024:.1f}", f"{f.stack_bytes / 1024:.1f}")
        return (f.name or _NOBODY, f"{f.seconds / runs * 1e3:.3f}", f"{self.share(f):.1%}", *counts, *sizes)


_TITLES = ("Func", "ms a run", "share", "visits", "allocations", "peak KiB", "stack KiB")
_NOBODY = "(checks, waiting)"
