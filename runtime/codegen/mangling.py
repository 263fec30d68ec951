"""The symbols that C++ gives to functions in namespaces (the Itanium ABI, which all but Microsoft's compilers follow).

In: namespaces, a name, the types of the parameters. Out: the symbol.

    mangle(("imaging", "fast"), "blur", [BUFFER, BUFFER])  ->  _ZN7imaging4fast4blurEP15halide_buffer_tS3_
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from halide_core.ir.types import Type

Layers = tuple[str, ...]
"""A type from the outside in: what stands before (``P``, a pointer to; ``K``, constant), and last what it is about."""

BUFFER: Final[Layers] = ("P", "15halide_buffer_t")
UNKNOWN: Final[Layers] = ("P", "K", "v")
"""A pointer to what is only passed on."""
POINTERS: Final[Layers] = ("P", "P", "v")

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SHORT: Final = {("i", 8): "a", ("u", 8): "h", ("i", 16): "s", ("u", 16): "t", ("i", 32): "i", ("u", 32): "j"}


def scalar_layers(type: Type, *, long_is_64: bool) -> Layers:
    """The type by which a scalar is passed. ``long_is_64``: an ``int64_t`` is a ``long``, and no ``long long``."""
    if type.is_handle():
        return ("P", "v")
    if type.is_bool():
        return ("b",)
    if type.is_float() and not type.is_narrow_float():
        return ("f" if type.bits() == 32 else "d",)
    sign = "i" if type.is_int() else "u"  # the bits of a float of 16 bits are passed as an unsigned number
    if type.bits() == 64:
        return ({("i", True): "l", ("u", True): "m", ("i", False): "x", ("u", False): "y"}[sign, long_is_64],)
    return (_SHORT[sign, type.bits()],)


def mangle(namespaces: Sequence[str], name: str, parameters: Sequence[Layers]) -> str:
    """The symbol of a function."""
    seen: dict[tuple[str, ...], None] = {}
    prefix: tuple[str, ...] = ()
    for namespace in namespaces:
        prefix += (_sourced(namespace),)
        seen[prefix] = None
    named = f"N{''.join(prefix)}{_sourced(name)}E" if prefix else _sourced(name)
    return f"_Z{named}{''.join([_type(p, seen) for p in parameters]) or 'v'}"


def _sourced(name: str) -> str:
    return f"{len(name)}{name}"


def _type(layers: Layers, seen: dict[tuple[str, ...], None]) -> str:
    """A parameter's type; one that stood before, or what it points to, is its number among those."""
    if layers in seen:
        return _numbered(list(seen).index(layers))
    if len(layers) == 1:
        if layers[0][0].isdigit():
            seen[layers] = None
        return layers[0]
    text = layers[0] + _type(layers[1:], seen)
    seen[layers] = None
    return text


def _numbered(position: int) -> str:
    if position == 0:
        return "S_"
    digits, rest = "", position - 1
    while rest or not digits:
        digits, rest = _DIGITS[rest % 36] + digits, rest // 36
    return f"S{digits}_"
