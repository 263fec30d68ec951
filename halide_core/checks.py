"""Arguments of calls, looked at before anything is done with them: their Python types, and whether they are whole.

In: what was passed, and how a message names it. Out: the same with its type known, or an error at the user's line.

    of_kind(4, Buffer, "copy_from() takes a Buffer")   ->   ArgumentTypeError: copy_from() takes a Buffer, not 4.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from halide_core.errors import ArgumentTypeError

K = TypeVar("K")
T = TypeVar("T")
_SHOWN_LENGTH = 200
_SHOWN_BITS = 256


def shown(value: object) -> str:
    """A value for a message: its repr, unless that is long, or an integer so long that Python refuses to write it."""
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, list | tuple) and any(isinstance(v, int) and v.bit_length() > _SHOWN_BITS for v in value):
        return f"a {type(value).__name__} of such long integers"
    text = repr(value)
    return text if len(text) <= _SHOWN_LENGTH and "\n" not in text else f"a {type(value).__name__}"


def of_kind(value: object, kind: type[T], rule: str) -> T:
    """The value, which is of a Python type.

    Args:
        rule: how a message begins, such as ``same_as() takes a Buffer``.

    Raises:
        ArgumentTypeError: it is not.
    """
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"{rule}, not {shown(value)}.")
    return value


def member(value: object, kind: type[T], call: str) -> T:
    """The value, which is a member of an enum; the message of the error lists all."""
    if not isinstance(value, kind):
        names = [str(each) for each in kind]  # type: ignore[attr-defined]  # an enum has members
        some = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        raise ArgumentTypeError(f"{call} takes a hl.{kind.__name__} ({some}), not {shown(value)}.")
    return value


def integer(value: Any, rule: str) -> int:
    """The value as Python's int, which numpy's integers become, too; no bool, which is a mistake where one counts.

    Raises:
        ArgumentTypeError: anything else.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{rule}, not {shown(value)}.")
    try:
        return operator.index(value)
    except TypeError as error:  # an array of several
        raise ArgumentTypeError(f"{rule}, not {shown(value)}.") from error


def items(values: Iterable[T], rule: str) -> Sequence[T]:
    """The values as a list; a text, whose parts are letters, is an error, and so is a dict.

    Raises:
        ArgumentTypeError: nothing that can be iterated over.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{rule}, not {shown(values)}.")
    return list(values)


def items_of(values: Iterable[object], kind: type[T], rule: str) -> list[T]:
    """The values, all of one Python type."""
    found = []
    for each in items(values, rule):
        if not isinstance(each, kind):
            raise ArgumentTypeError(f"{rule}; {shown(each)} is none.")
        found.append(each)
    return found


def mapping(values: Mapping[K, T], rule: str) -> Mapping[K, T]:
    """The values by their names."""
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(f"{rule}, not {shown(values)}.")
    return values


def integers(values: Iterable[object], rule: str) -> list[int]:
    """The values as Python's ints."""
    return [integer(v, rule) for v in items(values, rule)]
