"""Instructions that gcc does not find by itself: the builtin that names each, where the machine has it.

In: an operation and a vector type. Out: an Arm, a builtin and its arguments, or None where C's own operators do.

    minimum(MIN, Float(32, 16))   ->   __builtin_ia32_minps512_mask(a, b, a, -1, 4)

An arm does exactly what the generic form beside it does. Whether it is taken is decided when the C is compiled, by
``__has_builtin``: it knows the instructions that the compiler may use, and clang, which finds them alone, has few of
the masked ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Int, Type, UInt
from halide_core.runtime.codegen.names import tag

DEFINITION = "#ifndef __has_builtin\n#define __has_builtin(name) 0\n#endif\n"
"""The definition that the unit needs before the first arm: compilers that don't know the question have no arms."""

_SLOW_GATHERS = " || ".join(
    ["defined(HALIDE_CORE_SLOW_GATHERS)", *(f"defined(__tune_znver{k}__)" for k in range(1, 6))]
)
"""Machines that take longer to gather than to load each element by itself: Zen 4 takes 1.4 times as long."""
_ELEMENTS = {8: ("char", "qi"), 16: ("short", "hi"), 32: ("int", "si"), 64: ("long long", "di")}
_REAL = {32: ("float", "sf"), 64: ("double", "df")}
_LETTERS = {8: "b", 16: "w", 32: "d", 64: "q"}
_NEAREST, _UNMASKED, _CURRENT = 8, "-1", "4"
_REGISTER = "{} __attribute__((vector_size(16)))"
_INTEGERS = {16: "short", 32: "int", 64: "long long"}
"""The C types of as many bits as the lanes that fill less than a register."""
_HALVES = {UInt(8, 8): "ub", Int(16, 4): "sw"}
"""Halves of registers that have minima and maxima of their own, for which the rest needn't be cleared."""
_MODES = {Intrinsic.FLOOR: 9, Intrinsic.CEIL: 10, Intrinsic.TRUNC: 11, Intrinsic.ROUND: _NEAREST}
"""The immediates of the rounding instruction; 8 says that it raises no flag."""


class Builtin(NamedTuple):
    """A call of ``builtin``. In its arguments ``{v}`` is the builtin's own name for the operands' vector type."""

    builtin: str
    arguments: str
    slow: str = ""
    """Where there is the instruction, and C's own operators are better: a condition of the preprocessor."""
    low: int = 0
    """So many bits of the register that it gives are the value; 0 where all are."""

    @property
    def condition(self) -> str:
        """Where the arm is taken, for the preprocessor."""
        taken = f"__has_builtin(__builtin_ia32_{self.builtin})"
        return f"{taken} && !({self.slow})" if self.slow else taken


def low_part(register: str, bits: int) -> str:
    """So many bits of a register, as an integer; all of it for 0."""
    if not bits:
        return register
    element = {width: name for width, (name, _) in _ELEMENTS.items()}[bits]
    return f"(({_REGISTER.format(element)}){register})[0]"


def _low_in_register(name: str, type: Type) -> str:
    """A register of the elements of ``type`` whose low part is a vector of it (``in_register``)."""
    return f"in_register_{tag(type)}({name})"


def in_register(type: Type, register: str) -> tuple[str, list[str]] | None:
    """The function that makes that register of a vector: its name and its lines. The register's rest is what is there:
    gcc has no other way to say so, and clears it before every instruction. None of other vectors."""
    bits = type.bits() * type.lanes()
    if type.is_float() or bits not in _INTEGERS:
        return None
    integer = _INTEGERS[bits]
    cleared = f"return ({register})({_REGISTER.format(integer)}){{({integer})a}};"
    kept = [f"{register} r;", '__asm__("" : "=v"(r) : "0"(a));', "return r;"]
    gcc = "#if defined(__GNUC__) && !defined(__clang__)"
    return f"in_register_{tag(type)}", [gcc, *kept, "#else", cleared, "#endif"] if bits >= 32 else [cleared]


def machine_type(type: Type) -> tuple[str, str, int]:
    """The element and the name of the vector type that builtins take, and its bytes: ("short", "v32hi", 64)."""
    element, mode = (_REAL if type.is_float() else _ELEMENTS)[type.bits()]
    return element, f"v{type.lanes()}{mode}", type.bytes() * type.lanes()


def _width(type: Type) -> int | None:
    """The bits of a register that the lanes fill."""
    bits = type.bits() * type.lanes()
    return bits if bits in (128, 256, 512) else None


def _float_suffix(type: Type, width: int) -> str:
    return ("ps" if type.bits() == 32 else "pd") + {128: "", 256: "256", 512: "512_mask"}[width]


def _on_part(whole: Callable[[Type], Builtin | None], type: Type) -> Builtin | None:
    """The builtin of a whole register's instruction, for integers that fill the low part of one: for fewer lanes gcc
    has comparisons and masks. None for other types."""
    bits = type.bits() * type.lanes()
    if type.is_float() or bits not in _INTEGERS:
        return None
    builtin = whole(type.with_lanes(128 // type.bits()))
    if builtin is None:
        return None
    arguments = builtin.arguments
    for name in "ab":
        arguments = arguments.replace(f"({{v}}){name}", _low_in_register(name, type))
    return builtin._replace(arguments=arguments, low=bits)


def minimum(op: BinaryOp, type: Type) -> Builtin | None:
    """``a < b ? a : b``, or the same with >: the second operand where one is NaN, as C has it."""
    width, word = _width(type), "min" if op is BinaryOp.MIN else "max"
    if width is None:
        half = _HALVES.get(type)  # clang takes the old registers for them, which floats of the x87 share
        if half is not None:
            return Builtin(f"p{word}{half}", "({v})a, ({v})b", "defined(__clang__)")
        return _on_part(partial(minimum, op), type)
    both = "({v})a, ({v})b"
    if type.is_float():
        masked = f", ({{v}})a, {_UNMASKED}, {_CURRENT}" if width == 512 else ""
        return Builtin(f"{word}{_float_suffix(type, width)}", both + masked)
    masked = f", ({{v}})a, {_UNMASKED}" if width == 512 or type.bits() == 64 else ""
    name = f"p{word}{'s' if type.is_int() else 'u'}{_LETTERS[type.bits()]}{width}{'_mask' if masked else ''}"
    return Builtin(name, both + masked)


def product(type: Type) -> Builtin | None:
    """``a * b`` of 16 bits: gcc makes several shifts and additions of a constant factor, which take longer."""
    width = _width(type)
    if width is None or type.is_float() or type.bits() != 16:
        return None
    masked = f", ({{v}})a, {_UNMASKED}" if width == 512 else ""
    return Builtin(f"pmullw{width}{'_mask' if masked else ''}", "({v})a, ({v})b" + masked)


def complement(type: Type) -> Builtin | None:
    """The greatest number less another one: gcc 12 negates bits with an instruction that waits for the register that it
    writes, so that each iteration waits for the one before."""
    width = _width(type)
    if not type.is_uint() or type.bits() > 16 or width is None:
        return None
    masked = f", ({{v}})a, {_UNMASKED}" if width == 512 else ""
    name = f"psubus{_LETTERS[type.bits()]}{width}{'_mask' if masked else ''}"
    return Builtin(name, f"({{v}})~(a ^ a), ({{v}})a{masked}")


def mean(type: Type) -> Builtin | None:
    """The mean of two unsigned integers, rounded up."""
    width = _width(type)
    if not type.is_uint() or type.bits() > 16:
        return None
    if width is None:
        return _on_part(mean, type)
    masked = f", ({{v}})a, {_UNMASKED}" if width == 512 else ""
    return Builtin(f"pavg{_LETTERS[type.bits()]}{width}{'_mask' if masked else ''}", "({v})a, ({v})b" + masked)


def narrow_product(type: Type) -> Builtin | None:
    """``a * b`` of 32-bit integers that 16 bits hold: a sum of two products, of which the second is of zeros."""
    width = _width(type)
    if width is None or not type.is_int() or type.bits() != 32:
        return None
    halves = f"(v{2 * type.lanes()}hi)"
    masked = f", ({{v}}){{{{0}}}}, {_UNMASKED}" if width == 512 else ""
    return Builtin(f"pmaddwd{width}{'_mask' if masked else ''}", f"{halves}a, {halves}(b & 0xffff){masked}")


def magnitude(type: Type) -> Builtin | None:
    """The absolute value of signed integers."""
    width = _width(type)
    if not type.is_int():
        return None
    if width is None:
        return _on_part(magnitude, type)
    masked = f", ({{v}})a, {_UNMASKED}" if width == 512 or type.bits() == 64 else ""
    return Builtin(f"pabs{_LETTERS[type.bits()]}{width}{'_mask' if masked else ''}", "({v})a" + masked)


def rounding(function: Intrinsic, type: Type) -> Builtin | None:
    """Rounding to an integer, and the square root: both are exact, in lanes and alone."""
    width = _width(type)
    if width is None:
        return None
    masked = f", ({{v}})a, {_UNMASKED}, {_CURRENT}" if width == 512 else ""
    if function is Intrinsic.SQRT:
        return Builtin(f"sqrt{_float_suffix(type, width)}", "({v})a" + masked)
    mode = _MODES.get(function)
    if mode is None:
        return None
    word = "ps" if type.bits() == 32 else "pd"
    name = f"rndscale{word}_mask" if width == 512 else f"round{word}{'256' if width == 256 else ''}"
    return Builtin(name, f"({{v}})a, {mode}{masked}")


def fused_product(type: Type) -> Builtin | None:
    """``a*b + c`` of floats, rounded once."""
    width = _width(type)
    if width is None:
        return None
    masked = f", {_UNMASKED}, {_CURRENT}" if width == 512 else ""
    return Builtin(f"vfmadd{_float_suffix(type, width)}", "({v})a, ({v})b, ({v})c" + masked)


def conversion(to: Type, source: Type) -> Builtin | None:
    """Integers as wider ones, which gcc takes apart, and as narrower ones, for which it shuffles two registers."""
    if not (to.is_integer() and source.is_integer()) or to.bits() == source.bits():
        return None
    letters = f"{_LETTERS[source.bits()]}{_LETTERS[to.bits()]}"
    size, wanted = source.bits() * source.lanes(), to.bits() * to.lanes()
    low = wanted if wanted < 128 else 0  # the builtins give a whole register
    zero = _REGISTER.format(_ELEMENTS[to.bits()][0]) if low else machine_type(to)[1]
    masked = f", ({zero}){{{{0}}}}, {_UNMASKED}"
    whole = size in (128, 256, 512)
    if (low and low not in _INTEGERS) or not (whole or size in _INTEGERS):
        return None
    register = "({v})a" if whole else _low_in_register("a", source)
    if to.bits() < source.bits():
        return Builtin(f"pmov{letters}{max(size, 128)}_mask", register + masked, low=low)
    name = f"pmov{'sx' if source.is_int() else 'zx'}{letters}{max(wanted, 128)}"
    if wanted == 512:
        return Builtin(f"{name}_mask", register + masked)
    return Builtin(name, register, low=low) if size <= 128 else None


def saturation(to: Type, source: Type) -> Builtin | None:
    """Signed integers as some of half as many bits, those that don't fit as the nearest that does. Both halves of two
    registers go into one, so that a register's own halves have to be apart."""
    size = source.bits() * source.lanes()
    if not source.is_int() or source.bits() not in (16, 32) or to.bits() * 2 != source.bits():
        return None
    letters = {16: "wb", 32: "dw"}[source.bits()]
    if size == 512:
        masked = f"({machine_type(to)[1]}){{{{0}}}}, {_UNMASKED}"
        return Builtin(f"pmovs{letters}512_mask", f"({{v}})a, {masked}") if to.is_int() else None
    pack = f"pack{'s' if to.is_int() else 'u'}s{letters}128"
    if size == 256:
        count = source.lanes() // 2
        halves = (", ".join(map(str, range(first, first + count))) for first in (0, count))
        return Builtin(pack, ", ".join(f"__builtin_shufflevector(({{v}})a, ({{v}})a, {half})" for half in halves))
    if size == 128:
        return Builtin(pack, "({v})a, ({v})a", low=64)
    register = _low_in_register("a", source) if size == 64 else ""
    return Builtin(pack, f"{register}, {register}", low=32) if register else None


def truncation(source: Type) -> Builtin | None:
    """float32 as int32, truncated; what does not fit, or is no number, gives the least int32."""
    width = _width(source)
    if width is None or source.bits() != 32:
        return None
    masked = f", (v16si){{{{0}}}}, {_UNMASKED}, {_CURRENT}" if width == 512 else ""
    return Builtin("cvttps2dq" + {128: "", 256: "256", 512: "512_mask"}[width], "({v})x" + masked)


def has_bits(type: Type) -> Builtin | None:
    """The mask of the lanes of ``a`` that have some bit of ``b``."""
    width = _width(type)
    if width is None or type.bits() < 32:
        return None
    return Builtin(f"ptestm{_LETTERS[type.bits()]}{width}", f"({{v}})a, ({{v}})b, {_UNMASKED}")


def masked_load(type: Type) -> Builtin | None:
    """Some lanes of a register from memory, the others 0."""
    name = _masked_move(type)
    return None if name is None else Builtin(f"load{name}", "(const void *)p, ({v}){{0}}, mask")


def masked_load_by_signs(type: Type) -> Builtin | None:
    """Lanes of a register of 32-bit elements from memory, the others 0, of machines that have no masks: those where
    ``which`` is negative."""
    if _width(type) != 256 or type.bits() != 32:
        return None
    places = machine_type(Int(32, 8))[1]
    return Builtin(f"maskload{'ps' if type.is_float() else 'd'}256", f"(const {{v}} *)from, ({places})which")


def masked_store(type: Type) -> Builtin | None:
    """Some lanes of a register to memory."""
    name = _masked_move(type)
    return None if name is None else Builtin(f"store{name}", "(void *)p, ({v})a, mask")


def _masked_move(type: Type) -> str | None:
    width = _width(type)
    if width is None:
        return None
    kind = f"up{'s' if type.bits() == 32 else 'd'}" if type.is_float() else f"dqu{_ELEMENTS[type.bits()][1]}"
    return f"{kind}{width}_mask"


def permutation(type: Type) -> Builtin | None:
    """A register whose lanes are those of ``a`` that ``b`` numbers, integers of as many bits."""
    width = _width(type)
    if width in (None, 128) or type.bits() < 32:
        return None
    element = (_REAL if type.is_float() else _ELEMENTS)[type.bits()][1]
    places = machine_type(Int(type.bits(), type.lanes()))[1]
    if type.bits() == 32 and width == 256:
        return Builtin(f"permvar{element}256", f"({{v}})a, ({places})b")
    return Builtin(f"permvar{element}{width}_mask", f"({{v}})a, ({places})b, ({{v}}){{{{0}}}}, {_UNMASKED}")


def lookup(type: Type, index: Type) -> Builtin | None:
    """Sixteen elements of 8 or 16 bits anywhere, with what follows each, as 32-bit integers."""
    small = type.is_integer() and type.bits() in (8, 16)
    if not small or type.lanes() != 16 or index.bits() != 32:
        return None
    place = f"(const void *)((uintptr_t)p + (uintptr_t)base * {type.bytes()})"
    return Builtin(
        "gathersiv16si", f"({{v}}){{{{0}}}}, {place}, ({{v}})index, {_UNMASKED}, {type.bytes()}", _SLOW_GATHERS
    )


def gather(type: Type, index: Type) -> Builtin | None:
    """Whole registers of elements anywhere, by indices of 32 or 64 bits."""
    full = min(512, 512 * type.bits() // index.bits())
    if min(type.bits(), index.bits()) < 32 or type.bits() * type.lanes() != full:
        return None
    wide = "d" if index.bits() == 64 else "s"
    kind = {(32, True): "sf", (32, False): "si", (64, True): "df", (64, False): "di"}[type.bits(), type.is_float()]
    count = 16 if type.bits() == 32 else 8
    return Builtin(
        f"gather{wide}iv{count}{kind}",
        f"({{v}}){{{{0}}}}, (const void *)((uintptr_t)p + (uintptr_t)base * {type.bytes()}), "
        f"({machine_type(index)[1]})index, {_UNMASKED}, {type.bytes()}",
        _SLOW_GATHERS,
    )
