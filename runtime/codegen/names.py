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
from halide_core.ir.types import Type, TypeCode

_RESERVED = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
    throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix i386 main errno NULL INLINE LIBRARY UNKNOWN OPAQUE VEILED VEILED_NARROW VEILED_32 VEILED_64 VEILED_WIDE
    UNMERGED LOADED LOADED_32 LOADED_64 size_t ptrdiff_t max_align_t offsetof ONE_BY_ONE IN_ORDER
"""
_KEYWORDS = frozenset(_RESERVED.split())
_TAG = r"(?:[iuf]|bf)\d+(?:x\d+)?"
_TYPES = rf"u?int.*_t|{_TAG}(?:_u|_two)?|v\d+[qhsd][if]"
_CONSTANTS = r"[A-Z0-9_]+_(?:MAX|MIN|C|WIDTH)"
_PREFIXES = r"_.*|halide_.*|HALIDE_.*"
# What the emitter itself names: types, vector types, functions on them, and everything of the runtime's header.
_OWN = re.compile(rf"{_PREFIXES}|{_TYPES}|{_CONSTANTS}|\w+_{_TAG}(?:_u|_from_\w+)?")
_OPERATIONS = (
    "min max add sub mul div mod neg abs shl shr product select splat ramp load store gather scatter lookup mean"
    " complement interleave bits is_nan fma all join hidden".split()
    + [function.value for function in ir.Intrinsic]
)
# What emitted code, the C compiler and the runtime call: they would call a pipeline of that name in their program.
_MATH = """
    a?(?:cos|sin|tan)h? atan2 cbrt ceil copysign erfc? exp(?:2|10|m1)? fabs fdim floor fma fmax fmin fmod frexp hypot
    ldexp lgamma log(?:2|10|1p|b)? ll?rint ll?round modf nearbyint nextafter pow remainder rint round sqrt tgamma trunc
"""
_SYSTEM = r"""
    abort exit mem(?:cpy|move|set|cmp|chr) strn?(?:len|cpy|cmp|cat) malloc calloc realloc free posix_memalign
    aligned_alloc madvise v?s?n?f?printf f?put(?:s|c) putchar fwrite fread fopen fclose fflush getenv clock_gettime
    pthread_\w+ sched_\w+ atexit memalign malloc_usable_size open close read write fdopen rename remove unlink getpid
    sig(?:action|delset|fillset) sysconf str(?:chr|error|tol) std(?:in|out|err)
"""
# What a pipeline may not be called. Its name is what a C program links against, so it is changed only where it must be:
# "blur_u8" stays, "min_i64" does not.
_TAKEN = re.compile(
    rf"{_PREFIXES}|{_TYPES}|{_CONSTANTS}"
    rf"|(?:{'|'.join(_OPERATIONS)})_(?:(?:const|two|narrow|strided|reversed|every_\d+(?:_from_\d+)?|shared_\d+)_)?"
    rf"{_TAG}(?:_(?:from_)?{_TAG})?"
    rf"|{_TAG}_(?:of|from|from_limited|from_natural|from_foreseen)_{_TAG}|(?:rare|library)_\w+_{_TAG}"
    rf"|(?:{'|'.join(_MATH.split())})[fl]?|{'|'.join(_SYSTEM.split())}"
)
RUNTIME_INCLUDES = '#include <stdbool.h>\n#include "halide_runtime.h"\n'
"""The includes that declarations of pipelines need."""
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
    if plain and not _TAKEN.fullmatch(pipeline):
        return pipeline
    text = identifier(pipeline)
    return f"{text}_" if text == pipeline or _TAKEN.fullmatch(text) else text


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
