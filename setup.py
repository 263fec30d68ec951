"""The source distribution: it keeps the links by which the packages lie side by side, and are installed as one.

Everything else about the package is in setup.cfg.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

LINKS = ("src/halide_core", *(f"halide_core/{part}" for part in ("bounds", "lowering", "runtime", "scheduling")))


class LinkedSdist(sdist):
    """A source distribution in which a linked folder is a link again, not a second copy of its files."""

    def make_release_tree(self, base_dir: str, files: Sequence[str]) -> None:
        """Copies all files but those behind links, and makes the links."""
        inside = tuple(f"{link}/" for link in LINKS)
        super().make_release_tree(base_dir, [f for f in files if not f.startswith(inside) and f not in LINKS])
        for link in LINKS:
            there = Path(base_dir, link)
            there.parent.mkdir(parents=True, exist_ok=True)
            if not there.is_symlink():
                there.symlink_to(Path(link).readlink())


if __name__ == "__main__":
    setup(cmdclass={"sdist": LinkedSdist})
