"""Halide under its own name: ``import halide`` gives this package, to scripts that nobody wants to edit.

In: a call, before a script imports it. Out: ``halide`` and the modules below it in Python's table of modules.

    import halide_core; halide_core.install_as_halide()
    import halide as hl, halide.imageio          # halide_core, and halide_core.imageio: the same modules, not copies
"""

from __future__ import annotations

import importlib
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from halide_core.errors import HalideError

_OWN, _HALIDE = "halide_core", "halide"


class _SameModule(Loader):
    """Gives a name to a module that has another one."""

    def __init__(self, own: str) -> None:
        self._own = own

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module that is meant in the place of the one that was made."""
        sys.modules[module.__name__] = importlib.import_module(self._own)


class _Finder(MetaPathFinder):
    """Finds ``halide`` and what is below it."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of ours by Halide's name; None for any other."""
        package, dot, rest = fullname.partition(".")
        if package != _HALIDE:
            return None
        own = _OWN + dot + rest
        return ModuleSpec(fullname, _SameModule(own)) if importlib.util.find_spec(own) is not None else None


def install_as_halide() -> None:
    """Makes ``import halide`` give halide_core for the rest of the process, whether Halide's own package is installed
    or not. A second time it does nothing.

    Raises:
        HalideError: Halide's own package was imported before.
    """
    known = sys.modules.get(_HALIDE)
    if known is sys.modules[_OWN]:
        return
    if known is not None:
        raise HalideError(
            f'"halide" is imported already, from {known.__file__}: call install_as_halide() before anything imports it.'
        )
    sys.meta_path.insert(0, _Finder())
    importlib.import_module(_HALIDE)


def run_script(words: Sequence[str]) -> int:
    """Runs a script as ``python SCRIPT ARGUMENTS…`` would, with ``halide`` for halide_core.

    Returns: 0, or 2 where there is no such file. What the script raises, and how it exits, is its own.
    """
    if not words or not Path(words[0]).is_file():
        told = f"there is no file {words[0]}" if words else "a script is missing"
        sys.stderr.write(f"python -m halide_core run SCRIPT.py [ARGUMENTS …]: {told}\n")
        return 2
    install_as_halide()
    sys.argv = list(words)
    sys.path[0] = str(Path(words[0]).resolve().parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0
