"""The names of Halide's that a case uses: attributes of the package and of the objects of its classes.

In: the package ``halide_core``. Out: a stand-in for it that notes ``hl.name``, and classes that note ``object.name``,
both only where the line that asks is a case's own.

    hl.Func("f").realize([4])   ->   ("hl", "Func"), ("Func", "realize")
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any

Name = tuple[str, str]


class Watch:
    """The names that the cases have used since the last ``take``."""

    def __init__(self, files: frozenset[str]) -> None:
        self._files = files
        self._seen: dict[Name, None] = {}

    def take(self) -> list[Name]:
        """The names, in the order of their first use, and forgets them."""
        seen, self._seen = list(self._seen), {}
        return seen

    def note(self, owner: str, name: str, depth: int) -> None:
        """Notes a name where the frame ``depth`` above the caller is a case's."""
        if sys._getframe(depth + 1).f_code.co_filename in self._files:
            self._seen.setdefault((owner, name))

    def note_statics(self, source: str) -> None:
        """Notes ``hl.Class.name`` where a source has it: an attribute of a class asks no object."""
        for node in ast.walk(ast.parse(textwrap.dedent(source))):
            match node:
                case ast.Attribute(ast.Attribute(ast.Name("hl"), owner), name):
                    self._seen.setdefault((owner, name))

    def module(self, package: ModuleType) -> Any:
        """A stand-in for the package."""
        return _WatchedModule(package, self)

    def classes(self, package: ModuleType, names: dict[str, frozenset[str]]) -> None:
        """Makes the package's classes note the attributes in ``names``, for the rest of the process."""
        for owner in sorted(names):
            cls = vars(package).get(owner)
            if isinstance(cls, type):
                _instrument(cls, owner, names[owner], self)


class _WatchedModule:
    def __init__(self, package: ModuleType, watch: Watch) -> None:
        self._package = package
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        self._watch.note("hl", name, 1)
        return getattr(self._package, name)


def _instrument(cls: type, owner: str, names: frozenset[str], watch: Watch) -> None:
    plain: Callable[[Any, str], Any] = cls.__getattribute__

    def noting(self: Any, name: str) -> Any:
        # A base of another class in the table notes for itself only: a Func is no Stage.
        if name in names and type(self) is cls:
            watch.note(owner, name, 1)
        return plain(self, name)

    cls.__getattribute__ = noting  # type: ignore[method-assign, assignment]  # that is what instrumenting is
