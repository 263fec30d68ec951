"""C text of one value, and how tightly its outermost operator binds.

    Text("a + b", SUM).at(PRODUCT)   ->   "(a + b)"
"""

from __future__ import annotations

from typing import NamedTuple

# How tightly the outermost operator of a text binds.
TERNARY, OTHER, SUM, PRODUCT, UNARY, ATOM = range(6)


class Text(NamedTuple):
    """C text of one value. ``mask`` is the width of a mask's lanes (0: no mask); ``data``: it depends on int64 data."""

    text: str
    level: int
    depth: int = 0
    mask: int = 0
    data: bool = False

    def at(self, level: int) -> str:
        """The text as an operand of something that binds as tightly as ``level``."""
        return self.text if self.level >= level else f"({self.text})"
