"""Operations on integers that have an instruction of their own, beside those of C: means, products of 16 bits, and
conversions of what is limited to the type's range; and shifts of bytes, which x86 has none for.

In: a type. Out: the name of a C function, which joins the prelude; vectors of whole registers have one instruction.

    mean(prelude, UInt(8, 64))             ->   "mean_u8x64"             vpavgb
    narrow_product(prelude, Int(32, 16))   ->   "mul_narrow_i32x16"      vpmaddwd
    saturate(prelude, UInt(8, 8), Int(16, 8))   ->   "u8x8_limited_i16x8"   vpackuswb
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import Int, Type, UInt
from halide_core.runtime.codegen.names import integer, stored, tag
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.prelude import Prelude

_SHORT = Int(16)
_FEW, _WORD = 8, 4


def mean(prelude: Prelude, type: Type) -> str:
    """``f(a, b)``: (a + b + 1)/2 without overflow, rounded down. What two numbers share counts whole, the rest half."""

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        generic = ["return (a | b) - ((a ^ b) >> 1);"]
        if type.is_scalar():
            return c, f"{c} a, {c} b", [f"return ({stored(type)})((a | b) - ((a ^ b) >> 1));"]
        return c, f"{c} a, {c} b", prelude.armed(x86_builtins.mean(type), type, type, generic)

    return prelude.define(f"mean_{tag(type)}", head)


def shifts_bytes(type: Type, amount: int) -> bool:
    """True of lanes that x86 has no shift for: of numbers twice as wide, or of four as one word, it has one."""
    in_pairs = type.lanes() >= _FEW and type.lanes() % 2 == 0
    return type.is_vector() and type.bits() == 8 and (in_pairs or type.lanes() == _WORD) and amount > 0


def shift_bytes(prelude: Prelude, type: Type, op: BinaryOp) -> str:
    """``f(a, n)``: lanes of 8 bits to the left or the right by so many bits, from 1 to 7."""

    def head() -> tuple[str, str, list[str]]:
        c, bits, symbol = prelude.type(type), UInt(8, type.lanes()), "<<" if op is BinaryOp.SHL else ">>"
        splat, b = prelude.splat(bits), prelude.type(bits)
        kept = f"(uint8_t)(255 {symbol} n)"
        if type.lanes() == _WORD:
            moved = f"({b})(((uint32_t)a {symbol} n) & 0x01010101u * {kept})"
        else:
            moved = f"({b})(({prelude.type(UInt(16, type.lanes() // 2))})a {symbol} n) & {splat}({kept})"
        signed = type.is_int() and op is not BinaryOp.SHL
        result = [f"const {b} s = {splat}(128 >> n);", f"return ({c})((({moved}) ^ s) - s);"]
        return c, f"{c} a, int n", [
            "#if defined(__SSE2__)",
            *(result if signed else [f"return ({c})({moved});"]),
            "#else",
            f"return ({c})(({c if signed else b})a {symbol} n);",
            "#endif",
        ]

    return prelude.define(f"{'shl' if op is BinaryOp.SHL else 'shr'}_const_{tag(type)}", head)


def is_complement(e: ir.Binary) -> bool:
    """True where lanes of 8 or 16 bits are taken from the greatest number of their type."""
    greatest = e.a.a if isinstance(e.a, ir.Broadcast) else e.a
    small = e.type.is_vector() and e.type.is_uint() and e.type.bits() in (8, 16)
    if not small or e.op is not BinaryOp.SUB or not isinstance(greatest, ir.IntImm):
        return False
    return greatest.value == e.type.element_of().range[1]


def complement(prelude: Prelude, type: Type) -> str:
    """``f(a)``: the greatest number less ``a``, which is what saturates as well as what wraps."""

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        return c, f"{c} a", prelude.armed(x86_builtins.complement(type), type, type, ["return ~a;"])

    return prelude.define(f"complement_{tag(type)}", head)


def is_narrow(e: ExprNode) -> bool:
    """True where lanes of int32 hold numbers of int16, by their types alone."""
    if e.type.is_scalar() or e.type.element_of() is not Int(32):
        return False
    inner = e.a if isinstance(e, ir.Broadcast) else e
    if isinstance(inner, ir.IntImm):
        return _SHORT.range[0] <= inner.value <= _SHORT.range[1]
    return isinstance(inner, ir.Cast) and inner.a.type.is_integer() and _SHORT.can_represent(inner.a.type.element_of())


def narrow_product(prelude: Prelude, type: Type) -> str:
    """``f(a, b)``: the product of lanes for which ``is_narrow`` holds; constants come last."""

    def head() -> tuple[str, str, list[str]]:
        c, halves = prelude.type(type), _SHORT.with_lanes(2 * type.lanes())
        body = prelude.armed(x86_builtins.narrow_product(type), type, type, ["return a * b;"], halves)
        return c, f"{c} a, {c} b", body

    return prelude.define(f"mul_narrow_{tag(type)}", head)


def saturate(prelude: Prelude, to: Type, source: Type) -> str:
    """``f(a)``: signed lanes as narrower ones, the nearest where they don't fit (``uses.limited``)."""

    def head() -> tuple[str, str, list[str]]:
        c, half = prelude.type(source), Int(source.bits() // 2, source.lanes())
        if to.bits() < half.bits():
            first, then = saturate(prelude, half, source), saturate(prelude, to, half)
            return prelude.type(to), f"{c} a", [f"return {then}({first}(a));"]
        low, high = (f"{prelude.splat(source)}({integer(end, source.element_of())})" for end in to.range)
        above = f"{prelude.binary(BinaryOp.MAX, source)}(a, {low})"
        generic = f"return {prelude.convert(to, source)}({prelude.binary(BinaryOp.MIN, source)}({above}, {high}));"
        return prelude.type(to), f"{c} a", prelude.armed(x86_builtins.saturation(to, source), to, source, [generic])

    return prelude.define(f"{tag(to)}_limited_{tag(source)}", head)
