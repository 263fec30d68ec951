"""Names for the variables that passes make.

In: a tree. Out: names that nothing in it has: "names are globally unique, nothing is shadowed".
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.algorithm.rename import UniqueNames
from halide_core.ir import AllocateFlat, For, Let, Stmt
from halide_core.ir.visitor import walk


def names_in(stmt: Stmt, memory: Iterable[str] = ()) -> UniqueNames:
    """A source of names that are new to a tree, and that none of some memory has."""
    names = list(memory)
    for s in walk(stmt):
        if isinstance(s, For | Let):
            names.append(s.var.name)
        elif isinstance(s, AllocateFlat):  # what lanes have each for themselves, an earlier pass has named
            names.append(s.buffer)
    return UniqueNames(names)
