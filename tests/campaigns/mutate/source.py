"""A file's text by the nodes of its tree: edits that leave all else as it is.

In: nodes. Out: Edits that replace, cut or swap their text.

    between(a, b, "<=")     a < b   ->   a <= b
"""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Sequence

from tests.campaigns.mutate.mutant import Edit

Node = ast.expr | ast.stmt | ast.pattern
_SKIPPED = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


class Source:
    """A parsed file."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.indices = {id(n.slice) for n in ast.walk(self.tree) if isinstance(n, ast.Subscript)}
        """The expressions that stand in brackets, by identity."""
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._tokens = self._tokenized()

    def _tokenized(self) -> list[tuple[int, int, str]]:
        """Start, end and text of each token, in bytes."""
        found = []
        for token in tokenize.generate_tokens(io.StringIO(self.text.decode()).readline):
            if token.type not in _SKIPPED:
                start, end = (self._offset(row, column) for row, column in (token.start, token.end))
                found.append((start, end, token.string))
        return found

    def _offset(self, row: int, column: int) -> int:
        """The byte at a column that is counted in characters."""
        start = self._lines[row - 1]
        line = self.text[start : self._lines[min(row, len(self._lines) - 1)]].decode()
        return start + len(line[:column].encode())

    # -- places

    def start(self, node: Node) -> int:
        """The first byte of a node."""
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: Node) -> int:
        """The byte after a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: Node) -> str:
        """A node's text."""
        return self.text[self.start(node) : self.end(node)].decode()

    def _between(self, start: int, end: int) -> list[tuple[int, int, str]]:
        first = bisect_left(self._tokens, (start, start, ""))
        last = bisect_left(self._tokens, (end, end, ""))
        return [t for t in self._tokens[first:last] if t[1] <= end]

    # -- edits

    def replaced(self, node: Node, new: str) -> Edit:
        """Another text for a node."""
        return Edit(self.start(node), self.end(node), new.encode())

    def attribute(self, node: ast.Attribute, new: str) -> Edit:
        """Another attribute of the same object."""
        end = self.end(node)
        return Edit(end - len(node.attr), end, new.encode())

    def between(self, left: Node, right: Node, new: str) -> Edit:
        """Another operator between two operands, which may be in parentheses of their own."""
        tokens = [t for t in self._between(self.end(left), self.start(right)) if t[2] not in "()"]
        return Edit(tokens[0][0], tokens[-1][1], new.encode())

    def cut(self, last: Node, node: ast.expr) -> Edit:
        """Neither a condition nor the ``if`` before it, the last one after ``last``."""
        word = [t for t in self._between(self.end(last), self.start(node)) if t[2] == "if"][-1]
        return Edit(word[0], self._outer(node)[1], b"")

    def without(self, values: Sequence[ast.expr], i: int) -> Edit:
        """The operands of ``and`` or ``or``, or the elements of a display, but for one."""
        if i == 0:
            return Edit(self._outer(values[0])[0], self._outer(values[1])[0], b"")
        return Edit(self._outer(values[i - 1])[1], self._outer(values[i])[1], b"")

    def _outer(self, node: ast.expr) -> tuple[int, int]:
        """A node with the parentheses that are around it alone."""
        start, end = self.start(node), self.end(node)
        while True:
            at = bisect_left(self._tokens, (start, start, ""))
            after = bisect_left(self._tokens, (end, end, ""))
            if at == 0 or after == len(self._tokens):
                return start, end
            before, behind = self._tokens[at - 1], self._tokens[after]
            if before[2] != "(" or behind[2] != ")":
                return start, end
            start, end = before[0], behind[1]

    def swapped(self, first: Node, second: Node) -> Edit:
        """Two statements in each other's place; what stands between them stays."""
        a, b = self.of(first), self.of(second)
        gap = self.text[self.end(first) : self.start(second)].decode()
        return Edit(self.start(first), self.end(second), (b + gap + a).encode())
