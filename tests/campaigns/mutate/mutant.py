"""A mutant: one edit of one file.

In: a file's text and an edit. Out: the changed text, and the difference as people read it.

    bounds/query/query.py:_extremes:relation:2    form.const < least[key][0]   ->   form.const <= least[key][0]
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import Enum

PACKAGES = ("scheduling", "bounds", "lowering")
"""Where the compiler is changed."""
Key = tuple[str, str, str]
"""File and function, a line of it, and what the edit makes of the line."""


class Operator(Enum):
    """The kinds of changes."""

    RELATION = "relation"
    """``<`` becomes ``<=``, ``==`` becomes ``!=``, and the like."""
    OFFSET = "offset"
    """A constant is one more or one less."""
    SIGN = "sign"
    """``+`` becomes ``-``, and the other way round."""
    EXTREME = "extreme"
    """``min`` becomes ``max``, and the other way round."""
    CONJUNCT = "conjunct"
    """A part of a condition is dropped."""
    OBLIGATION = "obligation"
    """A statement that records, checks or refuses something is dropped."""
    SWAP = "swap"
    """Two statements of which one depends on the other trade places."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes ``start`` to ``end`` of a file become ``new``."""

    start: int
    end: int
    new: bytes

    def applied(self, text: bytes) -> bytes:
        """The changed text."""
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edit and its place.

    ``occurrence`` counts the operator's edits in the function: it makes the id stable. ``reached`` names the block
    that has to run to reach the edit, as ``reached.Hits`` does; None where importing the file is enough.
    """

    path: str
    function: str
    operator: Operator
    occurrence: int
    line: int
    edit: Edit
    reached: str | None

    @property
    def id(self) -> str:
        """The same as long as the function has the same places to change before this one."""
        return f"{self.path}:{self.function}:{self.operator.value}:{self.occurrence}"

    def diff(self, text: bytes) -> str:
        """The change, with a line around it."""
        before, after = (t.decode().splitlines() for t in (text, self.edit.applied(text)))
        return "\n".join(difflib.unified_diff(before, after, self.path, self.path, lineterm="", n=1))

    def changed_lines(self, text: bytes) -> tuple[str, str]:
        """The first line that differs, before and after the change, without the space around it."""
        before, after = (t.decode().splitlines() for t in (text, self.edit.applied(text)))
        return next(((a.strip(), b.strip()) for a, b in zip(before, after, strict=False) if a != b), ("", ""))

    def key(self, text: bytes) -> Key:
        """The key of an explanation: it lasts as long as the function has this line."""
        return (f"{self.path}:{self.function}", *self.changed_lines(text))
