"""The words of C: identifiers for IR names, names of types, literals and strings.

In: IR names, which may hold ``.``, ``$``, ``[`` and clash with C's own words. Out: identifiers, each given once, by
the order in which they are asked for and nothing else.

    Names().of("loop", "f.s0.x$1")  ->  "f_s0_x_1"        literal(IntImm(UInt(32), 3))  ->  "3u"
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.types import Type, TypeCode

_RESERVED = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
    throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix i386 main errno NULL INLINE
"""
_KEYWORDS = frozenset(_RESERVED.split())
# What the emitter itself names: types, vector types, helper functions, and everything of the runtime's header.
_OWN = re.compile(
    r"_.*|halide_.*|HALIDE_.*|u?int.*_t|U?INT.*_(MAX|MIN|C)|(?:[iuf]|bf)\d+(x\d+)?(_u|_two)?|\w+_(?:[iuf]|bf)\d+(x\d+)?(_u|_from_\w+)?"
    r"|check_argument|check_host|answer_query|byte_range|check_overlap|check_alike|type_name"
)
# The part of these that a pipeline may not be called. Its name is what a C program links against, so it is changed
# only where it must be: "blur_u8" stays, "min_i64" does not.
_TAKEN = re.compile(
    r"_.*|halide_.*|HALIDE_.*|u?int.*_t|(?:[iuf]|bf)\d+(x\d+)?(_u|_two)?|check_\w+|answer_query|byte_range|type_name"
    r"|(min|max|add|sub|mul|div|mod|neg|abs|load|store|splat|ramp|select|shl|shr|product|gather|scatter)_(const_|two_)?"
    r"(?:[iuf]|bf)\d+(x\d+)?(_(?:[iuf]|bf)\d+(x\d+)?)?"
)
_CODE_LETTERS = {TypeCode.Int: "i", TypeCode.UInt: "u", TypeCode.Float: "f", TypeCode.BFloat: "bf"}


def identifier(name: str) -> str:
    """A C identifier that looks like ``name``. Different names can give the same one."""
    text = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not text or text[0].isdigit():
        text = f"v{text}"
    return f"{text}_" if text in _KEYWORDS or _OWN.fullmatch(text) else text


def symbol(pipeline: str) -> str:
    """The name of a pipeline's C function: its own name, where that is an identifier."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", pipeline) and pipeline not in _KEYWORDS
    return pipeline if plain and not _TAKEN.fullmatch(pipeline) else identifier(pipeline)


class Names:
    """The identifiers of one translation unit. All of them are different, whatever scope they live in."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, Hashable], str] = {}
        self._next: dict[str, int] = {}

    def of(self, kind: str, key: Hashable, hint: str | None = None) -> str:
        """The identifier of one thing, always the same; made from ``hint``, or else from the key."""
        known = self._given.get((kind, key))
        if known is None:
            known = self._given[kind, key] = self.fresh(str(key) if hint is None else hint)
        return known

    def fresh(self, hint: str) -> str:
        """An identifier that was not given yet."""
        base = identifier(hint)
        number = self._next.get(base, 0)
        self._next[base] = number + 1
        if number == 0:
            return base
        while f"{base}_{number}" in self._next:
            number += 1
        self._next[base] = number + 1
        self._next[f"{base}_{number}"] = 1
        return f"{base}_{number}"

    def numbered(self, stem: str) -> str:
        """``stem0``, ``stem1``, …: a name for a value that has none of its own."""
        number = self._next.get(f"{stem}#", 0)
        while f"{stem}{number}" in self._next:
            number += 1
        self._next[f"{stem}#"] = number + 1
        self._next[f"{stem}{number}"] = 1
        return f"{stem}{number}"

    def reserve(self, name: str) -> str:
        """Takes ``name`` exactly as it is."""
        self._next.setdefault(name, 1)
        return name


def tag(type: Type) -> str:
    """A short name: ``i32``, ``u8x16``. A bool is stored as ``u8``."""
    letter = _CODE_LETTERS.get(type.code())
    if letter is None:
        raise InternalError(f"The C emitter has no values of type {type}.")
    lanes = type.lanes()
    if lanes & (lanes - 1):
        raise InternalError(f"A vector of type {type} has a number of lanes that is not a power of two.")
    return f"{letter}{8 * type.bytes()}" + (f"x{lanes}" if lanes > 1 else "")


def scalar(type: Type) -> str:
    """The C type of a scalar value."""
    return "bool" if type.is_bool() else stored(type)


def stored(type: Type) -> str:
    """The C type of an element in memory: a bool takes a byte, a float of 16 bits is its bits."""
    if type.is_narrow_float():
        return "uint16_t"
    if type.is_float():
        return "float" if type.bits() == 32 else "double"
    if not type.is_integer():
        raise InternalError(f"The C emitter has no values of type {type}.")
    return f"{'' if type.is_int() else 'u'}int{8 * type.bytes()}_t"


def literal(e: ir.IntImm | ir.FloatImm) -> str:
    """A literal with exactly this value and C's type for it; types narrower than int are ints."""
    if isinstance(e, ir.FloatImm):
        return _float_literal(e) if not e.type.is_narrow_float() else str(e.pattern)
    return integer(e.value, e.type)


def integer(value: int, type: Type) -> str:
    """The literal of one integer of a scalar type."""
    bits = type.bits()
    if type.is_bool():
        return "true" if value else "false"
    if type.is_uint():
        return f"{value}{'ull' if bits == 64 else 'u' if bits == 32 else ''}"
    suffix = "ll" if bits == 64 else ""
    if bits >= 32 and value == type.range[0]:
        return f"(-{-(value + 1)}{suffix} - 1)"
    return f"{value}{suffix}"


def _float_literal(e: ir.FloatImm) -> str:
    narrow = e.type.bits() == 32
    suffix = "f" if narrow else ""
    sign_bit, exponent_bits, quiet = (31, 0xFF << 23, 1 << 22) if narrow else (63, 0x7FF << 52, 1 << 51)
    sign = "-" if e.pattern >> sign_bit else ""
    magnitude = e.pattern & ((1 << sign_bit) - 1)
    if magnitude == exponent_bits:
        return f"{sign}__builtin_inf{suffix}()"
    if magnitude > exponent_bits:
        kind = "nan" if magnitude & quiet else "nans"
        return f'{sign}__builtin_{kind}{suffix}("{magnitude & (quiet - 1):#x}")'
    return f"{sign}{abs(e.value).hex()}{suffix}"


def string(text: str) -> str:
    """A C string literal of the text as UTF-8."""
    out = []
    for byte in text.encode():
        character = chr(byte)
        if character in '"\\':
            out.append("\\" + character)
        elif character == "\n":
            out.append("\\n")
        elif 32 <= byte < 127 and character != "?":
            out.append(character)
        elif character == "?":
            out.append("?" if not out or out[-1] != "?" else "\\?")  # no trigraphs
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'
