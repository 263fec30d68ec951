"""A mutant: one edit of one file.

In: a file's text and an edit. Out: the changed text, and the difference as people read it.

    bounds/query.py:_extremes:relation:2    form.const < least[key][0]   ->   form.const <= least[key][0]
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import Enum


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

    ``occurrence`` counts the operator's edits in the function: it makes the id stable. ``reached`` names the function
    that has to be called to reach the edit, as ``reached.Reached`` does; None where importing the file is enough.
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

    def changed_line(self, text: bytes) -> str:
        """The first line that differs, as it is after the change, without the space around it."""
        before, after = (t.decode().splitlines() for t in (text, self.edit.applied(text)))
        return next((b.strip() for a, b in zip(before, after, strict=False) if a != b), "")
