"""Descriptions of a Generator's inputs and outputs: a name, a kind, types and dimensions.

In: types as users write them (``hl.UInt(8)``, ``float``, ``"uint8,float32"``, ``None`` for one that is not
set). Out: Types, and ArgInfos in which all is set.

    parse_types("uint8,int")   ->   (uint8, int32)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from halide_core.checks import shown
from halide_core.errors import DefinitionError, TypeMismatchError
from halide_core.ir.types import BFloat, Bool, Float, Int, Type, UInt

TypeLike: TypeAlias = "Type | type[bool] | type[int] | type[float]"
TypesLike: TypeAlias = "TypeLike | Sequence[TypeLike] | None"

# An identifier of C without two underscores in a row and without one at its start; what call() takes by name is none.
_NAME = re.compile(r"(?!.*__)[A-Za-z][A-Za-z0-9_]*")
_RESERVED = frozenset({"generator_params", "target", "autoscheduler"})

_PYTHON = {bool: Bool(), int: Int(32), float: Float(32)}
_NAMED = {str(t): t for t in (Bool(), BFloat(16), *(make(b) for make in (Int, UInt) for b in (8, 16, 32, 64)))}
_NAMED |= {str(t): t for t in (Float(16), Float(32), Float(64))} | {"int": Int(32), "float": Float(32)}


class ArgInfoDirection(Enum):
    """The direction of an argument's data."""

    Input = 0
    Output = 1


class ArgInfoKind(Enum):
    """The kind of an argument."""

    Scalar = 0
    Function = 1
    Buffer = 2


@dataclass
class ArgInfo:
    """An argument of a Generator. ``types`` are several where the points of an output have several values."""

    name: str = ""
    dir: ArgInfoDirection = ArgInfoDirection.Input
    kind: ArgInfoKind = ArgInfoKind.Scalar
    types: list[Type] = field(default_factory=list)
    dimensions: int = 0

    def check(self, types: Sequence[Type], dimensions: int) -> None:
        """Refuses what is not as declared.

        Raises:
            TypeMismatchError: other types. DefinitionError: another number of dimensions.
        """
        if list(types) != self.types:
            raise TypeMismatchError(f'"{self.name}" is of {_listed(self.types)}, not of {_listed(types)}.')
        if dimensions != self.dimensions:
            raise DefinitionError(f'"{self.name}" has {self.dimensions} dimensions, not {dimensions}.')


def _listed(types: Sequence[Type]) -> str:
    return ", ".join(map(str, types))


def checked_name(name: str) -> str:
    """A name that a parameter, an input or an output can have.

    Raises:
        DefinitionError: it is no name of C, begins with an underscore, has two in a row, or means something else.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
        raise DefinitionError(
            f'"{name}" can\'t be the name of a parameter, an input or an output of a Generator: it must be letters, '
            f"digits and single underscores, with a letter first, and none of {', '.join(sorted(_RESERVED))}."
        )
    return name


def as_types(given: TypesLike) -> tuple[Type, ...]:
    """The types that a user wrote; none for ``None``.

    Raises:
        DefinitionError: something that is no type of a number.
    """
    if given is None:
        return ()
    several = given if isinstance(given, list | tuple) else (given,)
    return tuple(_as_type(t) for t in several)


def _as_type(given: object) -> Type:
    found = given if isinstance(given, Type) else _PYTHON.get(given) if isinstance(given, type) else None
    if found is None or found.is_handle() or not found.is_scalar():
        raise DefinitionError(f"A type of numbers such as hl.UInt(8) or float is needed, not {shown(given)}.")
    return found


def parse_types(text: str) -> tuple[Type, ...]:
    """The types that a text names, with commas between them.

    Raises:
        DefinitionError: a word that names no type; the message lists those that do.
    """
    unknown = [word for word in text.split(",") if word not in _NAMED]
    if unknown:
        raise DefinitionError(f'"{unknown[0]}" names no type; these do: {", ".join(_NAMED)}.')
    return tuple(_NAMED[word] for word in text.split(","))
