"""Several Vars or Funcs by one call.

In: names in one text, with spaces between. Out: a tuple, in that order.

    x, y = hl.vars("x y")
"""

from __future__ import annotations

from halide_core.checks import shown
from halide_core.errors import DefinitionError, TypeMismatchError
from halide_core.func.func import Func
from halide_core.lang.expr import Var


def vars(names: str) -> tuple[Var, ...]:
    """A Var of each name; ``names`` has spaces between them.

    Raises: TypeMismatchError, where it is no text; DefinitionError, where there is no name in it.
    """
    return tuple(map(Var, _split("vars", names)))


def funcs(names: str) -> tuple[Func, ...]:
    """A Func of each name; ``names`` has spaces between them.

    Raises: TypeMismatchError, where it is no text; DefinitionError, where there is no name in it.
    """
    return tuple(map(Func, _split("funcs", names)))


def _split(caller: str, names: str) -> list[str]:
    if not isinstance(names, str):
        raise TypeMismatchError(f'{caller}() takes one text, such as {caller}("a b"), not {shown(names)}.')
    found = names.split()
    if not found:
        raise DefinitionError(f'{caller}() takes at least one name, such as {caller}("a b").')
    return found
