"""The blocks of the compiler that a test or a step runs: a mutant need only be shown to those that reach it.

In: the packages, imported after ``Hits.install``. Out: the blocks that ran since the last ``clear``, as ``path:first
line`` of the block. A block is a function's body, or that of an ``if``, a loop or a case in it.

    hits = Hits(root); hits.install(); …; hits.clear(); lower(request)
    hits.found()   ->   ["bounds/infer/substitute.py:26", "bounds/infer/substitute.py:52", …]

Every block is compiled with a statement more, which sets a byte: that costs next to nothing, where tracing calls costs
more than the calls. What a memo spared is not seen, nor what another process ran: such a mutant is shown to fewer tests
than could kill it, never to one that could not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.campaigns.mutate.mutant import PACKAGES

_NAME = "__reached__"


class Hits(MetaPathFinder):
    """Finds the packages' modules, and knows which of their blocks ran."""

    def __init__(self, root: Path) -> None:
        self._root = str(root.resolve()) + "/"
        self._files: dict[str, tuple[list[int], bytearray]] = {}

    def install(self) -> None:
        """From now on."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Another loader for modules of the packages."""
        if fullname.removeprefix("halide_core.").partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not spec.origin.startswith(self._root):
            return None
        spec.loader = _Loader(fullname, spec.origin, self)
        return spec

    def told(self, path: str, lines: list[int]) -> bytearray:
        """The bytes of a file's blocks."""
        found = bytearray(len(lines))
        self._files[path.removeprefix(self._root).removeprefix("halide_core/")] = (lines, found)
        return found

    def clear(self) -> None:
        """Nothing ran yet."""
        for _, found in self._files.values():
            found[:] = bytes(len(found))

    def found(self) -> list[str]:
        """The blocks that ran."""
        return [
            f"{path}:{line}"
            for path, (lines, found) in sorted(self._files.items())
            for line, hit in zip(lines, found, strict=True)
            if hit
        ]


class _Loader(SourceFileLoader):
    """Compiles a file with its blocks marked, and keeps no compiled form of it."""

    def __init__(self, name: str, path: str, hits: Hits) -> None:
        super().__init__(name, path)
        self._hits = hits
        self._lines: list[int] = []

    def get_code(self, fullname: str) -> CodeType:
        """Without a cache."""
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        """The code of the marked tree."""
        tree = ast.parse(data)
        marked = list(_blocks(tree))
        self._lines = [block[0].lineno for block in marked]
        for i, block in enumerate(marked):
            _mark(block, i)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def exec_module(self, module: ModuleType) -> None:
        """With the bytes that the marks set."""
        code = self.get_code(module.__name__)
        module.__dict__[_NAME] = self._hits.told(self.path, self._lines)
        exec(code, module.__dict__)


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The lists of statements inside functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield function.body
            yield from _within(function.body)


def _within(block: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Those of compound statements; functions and classes have their own."""
    for stmt in block:
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            continue
        inner: list[list[ast.stmt]] = [getattr(stmt, part, []) for part in ("body", "orelse", "finalbody")]
        inner += [part.body for part in (*getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ()))]
        for each in inner:
            if each:
                yield each
                yield from _within(each)


def _mark(block: list[ast.stmt], number: int) -> None:
    first = block[0]
    (mark,) = ast.parse(f"{_NAME}[{number}] = 1").body
    for node in ast.walk(mark):
        ast.copy_location(node, first)
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    block.insert(1 if is_text else 0, mark)


def blocks(tree: ast.Module) -> list[tuple[ast.stmt, ast.stmt]]:
    """The first and the last statement of each block, outer blocks before those in them."""
    return [(block[0], block[-1]) for block in _blocks(tree)]
