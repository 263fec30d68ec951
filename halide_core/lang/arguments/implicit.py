"""Implicit variables: ``_`` among coordinates stands for the dimensions that aren't written.

In: coordinates with the placeholder. Out: the same with ``_0, _1, …`` in its place, as many as are missing.

    g[x, _] = f[x, _] + 1     for f of 3 dimensions   ->   g[x, _0, _1] = f[x, _0, _1] + 1
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.errors import DefinitionError
from halide_core.ir.visitor import subexpressions
from halide_core.lang.expr import ExprLike, Operand, Var

_ = Var("_")
_0, _1, _2, _3, _4, _5, _6, _7, _8, _9 = (Var.implicit(i) for i in range(10))


def has_placeholder(args: Sequence[ExprLike]) -> bool:
    """True where ``_`` is among the coordinates."""
    return any(isinstance(a, Var) and a.is_placeholder() for a in args)


def expanded(what: str, args: Sequence[ExprLike], dimensions: int) -> tuple[ExprLike, ...]:
    """The coordinates with ``_`` replaced by what ``dimensions`` lacks; as they are where it isn't among them.

    Raises:
        DefinitionError: ``_`` twice, or more coordinates than dimensions.
    """
    if not has_placeholder(args):
        return tuple(args)
    places = [i for i, a in enumerate(args) if isinstance(a, Var) and a.is_placeholder()]
    missing = dimensions - len(args) + 1
    if len(places) > 1:
        raise DefinitionError(f'{what} has the placeholder "_" {len(places)} times; once is enough for all dimensions.')
    if missing < 0:
        raise DefinitionError(f'{what} has {dimensions} dimensions, but is used with {len(args) - 1} besides "_".')
    at = places[0]
    return (*args[:at], *(Var.implicit(i) for i in range(missing)), *args[at + 1 :])


def expanded_for_value(what: str, args: Sequence[ExprLike], value: object) -> tuple[ExprLike, ...]:
    """The coordinates of a first definition: ``_`` stands for the implicit variables of its right-hand side."""
    if not has_placeholder(args):
        return tuple(args)
    values = value if isinstance(value, tuple | list) else (value,)
    nodes = tuple(n for v in values if isinstance(v, Operand) for n in v._nodes())
    names = [e.name for e in subexpressions(nodes) if isinstance(e, ir.Variable)]
    count = max((Var(n).implicit_index() + 1 for n in names), default=0)
    return expanded(what, args, len(args) - 1 + count)
