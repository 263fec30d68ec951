"""The line on stderr that a search shows its progress in, by rich.

    with bar(20) as update:
        update(3, "3 candidates")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def bar(total: int | None) -> Iterator[Callable[[int, str], None]]:
    """A line, gone when it ends; what changes it takes how many there were, and a text."""
    moving = SpinnerColumn() if total is None else BarColumn()
    with Progress(
        moving, TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        task = progress.add_task("the plain program", total=total)
        yield lambda count, text: progress.update(task, completed=count, description=text)
