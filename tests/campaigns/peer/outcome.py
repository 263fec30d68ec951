"""Outcomes of cases, in a form that two processes can exchange.

In: whatever the source of a case evaluates to, with the package that it ran with. Out: a tree of dicts, lists and
numbers for JSON, and arrays for an npz that the tree names.

    Buffer of uint8 8 x 8   ->   {"kind": "buffer", "type": "uint8", "bounds": [[0, 8], [0, 8]], "array": "17"}
    an exception            ->   {"kind": "error", "class": "HalideError", "message": "…"}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Tree: TypeAlias = "dict[str, Any]"


@dataclass
class Arrays:
    """The arrays of one process, by the name that a tree gives them."""

    prefix: str
    known: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def keep(self, array: npt.NDArray[Any]) -> str:
        """Stores an array; gives its name. An array of Python objects is no result that another process could read."""
        if array.dtype.hasobject:
            raise TypeError(f"A case can't give an array of {array.dtype}.")
        name = f"{self.prefix}{len(self.known)}"
        self.known[name] = np.ascontiguousarray(array)
        return name


def type_text(type: Any) -> str:
    """A type of either package, spelled one way."""
    kind = "bool" if type.is_bool() else "int" if type.is_int() else "float" if type.is_float() else "uint"
    kind = "handle" if type.is_handle() else "bfloat" if type.is_bfloat() else kind
    bits = "" if kind == "bool" else str(type.bits())
    return f"{kind}{bits}" + (f"x{type.lanes()}" if type.lanes() > 1 else "")


def error(raised: BaseException) -> Tree:
    """The tree of an exception."""
    return {"kind": "error", "class": raised.__class__.__name__, "message": str(raised).strip()}


def encode(hl: Any, value: Any, arrays: Arrays) -> Tree:
    """The tree of a result that is no Expr: numbers, texts, types, arrays, Buffers, and lists and dicts of these."""
    if isinstance(value, hl.Buffer):
        dims = [value.dim(i) for i in range(value.dimensions())]
        return {
            "kind": "buffer",
            "type": type_text(value.type()),
            "bounds": [[d.min(), d.extent()] for d in dims],
            "array": arrays.keep(np.array(value)),
        }
    if isinstance(value, hl.Type):
        return {"kind": "type", "type": type_text(value)}
    if isinstance(value, np.ndarray):
        return {"kind": "array", "type": str(value.dtype), "array": arrays.keep(value)}
    if isinstance(value, list | tuple):
        return {"kind": "list", "items": [encode(hl, v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": {str(k): encode(hl, v, arrays) for k, v in value.items()}}
    return _encode_plain(value)


def _encode_plain(value: Any) -> Tree:
    if isinstance(value, np.generic):
        value = value.item()
    # An enum of pybind11 is no enum.Enum, but it has a name as well.
    if isinstance(value, Enum) or (not isinstance(value, str | int | float) and isinstance(_name(value), str)):
        return {"kind": "enum", "name": _name(value)}
    if value is None or isinstance(value, bool | int | str):
        return {"kind": "plain", "class": value.__class__.__name__, "value": value}
    if isinstance(value, float):
        return {"kind": "float", "value": value.hex()}
    raise TypeError(f"A case can't give a {value.__class__.__name__}.")


def _name(value: Any) -> Any:
    return getattr(value, "name", None)
