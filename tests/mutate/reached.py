"""Which functions of the compiler a test or a step calls, so that a mutant need only be shown to those that reach it.

In: code to run. Out: the functions of the packages that it called, as ``path:first line``.

    with Reached(root) as reached: lower(request)
    reached.functions()   ->   ["bounds/fill.py:26", "bounds/fill.py:52", …]

What a memo spared is not seen, nor what another process called: such a mutant is shown to fewer tests than could kill it,
never to one that couldn't.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from tests.mutate.choosing import PACKAGES


class Reached:
    """Records while it is entered; entered again, it starts anew."""

    def __init__(self, root: Path) -> None:
        self._root = str(root.resolve()) + "/"
        self._codes: dict[int, CodeType] = {}

    def __enter__(self) -> Reached:
        self._codes = {}
        sys.settrace(self._called)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        """A function is called; its lines are not watched."""
        code = frame.f_code
        self._codes[id(code)] = code

    def functions(self) -> list[str]:
        """What was called, without repeating."""
        found = set()
        for code in self._codes.values():
            path = code.co_filename.removeprefix(self._root)
            if path.startswith(tuple(f"{package}/" for package in PACKAGES)):
                found.add(f"{path}:{code.co_firstlineno}")
        return sorted(found)


def by_function(reached: dict[str, list[str]]) -> dict[str, list[str]]:
    """For each function who reaches it, from whom each one reaches; the order stays."""
    found: dict[str, list[str]] = {}
    for name, functions in reached.items():
        for function in functions:
            found.setdefault(function, []).append(name)
    return found


def shown_to(function: str | None, everyone: Iterable[str], reaching: dict[str, list[str]]) -> list[str]:
    """Who looks at a mutant of a function: those that reach it; all where it runs on import, or no one is known to."""
    if function is None or function not in reaching:
        return list(everyone)
    return reaching[function]
