"""Copies of the tree in which one file is changed, so that the tree itself never is.

In: the repository. Out: a Shadow: a folder with the packages and the tests copied, and all else linked.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

_COPIED = ("halide_core", "scheduling", "bounds", "lowering", "runtime", "src", "tests")
_LATER = 7200
"""Seconds by which a changed file is from the future: no compiled form of it can be of that time."""


class Shadow:
    """One copy. ``scratch`` beside it is for what a process writes; ``cache`` keeps the C runtime, which all need."""

    def __init__(self, root: Path) -> None:
        self._clock = int(time.time()) + _LATER
        self._folder = Path(tempfile.mkdtemp(prefix="halide_core_mutate_"))
        self.tree = self._folder / "tree"
        self.scratch = self._folder / "scratch"
        self.cache = self._folder / "cache"
        self.tree.mkdir()
        self.scratch.mkdir()
        for entry in sorted(root.iterdir()):
            if entry.name in _COPIED:
                shutil.copytree(entry, self.tree / entry.name, symlinks=True)
            elif not entry.name.startswith("."):
                (self.tree / entry.name).symlink_to(entry)

    def change(self, path: str, text: bytes) -> None:
        """Gives a file another text."""
        file = self.tree / path
        file.write_bytes(text)
        self._clock += 1
        os.utime(file, (self._clock, self._clock))

    def clear(self) -> None:
        """Empties the scratch folder."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(exist_ok=True)

    def remove(self) -> None:
        """Deletes the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)
