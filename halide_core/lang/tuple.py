"""Tuples: several values that a Func has at each point.

In: what the user gives as the values of a definition. Out: operands and numbers, one for each component.

    f[x] = (x, x*2)          ->   a Func of 2 values at each point, f[x][0] and f[x][1]
    several(f[x])            ->   (f[x][0], f[x][1])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from halide_core.errors import DefinitionError
from halide_core.lang.expr import Expr, ExprLike, Operand, as_node

TupleLike: TypeAlias = "Tuple | Sequence[ExprLike]"


class Tuple(tuple[Expr, ...]):
    """Several values. ``Tuple(a, b)``, ``Tuple((a, b))`` of a sequence, ``Tuple(f[x])`` of a Func's values at a point.

    Wherever a Tuple can stand, Python's own ``(a, b)`` can.
    """

    __slots__ = ()

    def __new__(cls, *values: object) -> Tuple:
        given = several(values[0]) if len(values) == 1 else several(values)
        return super().__new__(cls, [Expr.of(as_node(v)) for v in given])

    def size(self) -> int:
        """The number of values."""
        return len(self)

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self))})"


def is_several(value: object) -> bool:
    """True where a value has components: a Tuple, a tuple or a list, or a Tuple Func at a point; or an object of the
    user's own that has a length and items, such as a complex number."""
    if isinstance(value, Operand):
        return len(value._nodes()) > 1
    return isinstance(value, tuple | list) or _has_items(value)


def _has_items(value: object) -> bool:
    if isinstance(value, str | bytes | Mapping) or hasattr(value, "__array__"):
        return False
    return hasattr(value, "__getitem__") and hasattr(value, "__len__")


def several(value: object) -> tuple[object, ...]:
    """The components of a value: operands and numbers. One that has none is its own only component.

    Raises:
        DefinitionError: no values at all.
    """
    if isinstance(value, tuple | list):
        if not value:
            raise DefinitionError("A Tuple needs at least one value.")
        return tuple(value)
    if isinstance(value, Operand) and len(value._nodes()) > 1:
        return tuple(map(Expr.of, value._nodes()))
    if not isinstance(value, Operand) and _has_items(value):
        given = cast("Sequence[object]", value)
        return several(tuple([given[i] for i in range(len(given))]))
    return (value,)
