"""The name that scripts know this package by: its own, or Halide's (``run.as_halide``).

In: Python's table of modules. Out: what texts about objects open with, and whether a script was written for Halide.

    import halide_core as hl                     ->   <halide_core.Func 'f'>
    install_as_halide(); import halide as hl     ->   <halide.Func 'f'>
"""

from __future__ import annotations

import sys

_OWN, _HALIDE = "halide_core", "halide"


def stands_for_halide() -> bool:
    """True where ``import halide`` gives this package."""
    known = sys.modules.get(_HALIDE)
    return known is not None and known is sys.modules.get(_OWN)


def package_name() -> str:
    """The name of the package in the texts of objects."""
    return _HALIDE if stands_for_halide() else _OWN
