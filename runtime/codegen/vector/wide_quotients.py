"""Quotients and remainders of lanes of 64 bits by constants, for which processors have no products to divide with.

In: an operation and a type of int64 lanes. Out: the name of a C function, which joins the prelude.

    mod_i64x8(ramp, 998)   ->   wide_mod_i64x8(ramp, 998)

Places in memory are int64, and nearly always numbers of 32 bits, whose products with a reciprocal of 32 are lanes like
all others. Where all lanes are such numbers they are multiplied; where one is not, they are divided one by one.
"""

from __future__ import annotations

from halide_core.ir import BinaryOp
from halide_core.ir.types import Int, Type, UInt
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.prelude import Prelude, either
from halide_core.runtime.codegen.vector.x86_builtins import Builtin

_ANY = {
    2: (Builtin("ptestz128", "({v})v, ({v})v"), "== 0"),
    4: (Builtin("ptestz256", "({v})v, ({v})v"), "== 0"),
    8: (Builtin("ptestmq512", "({v})v, ({v})v, -1"), "!= 0"),
}
"""Instructions that tell whether any lane is not 0, by the number of lanes, and when."""
_WIDE = Int(64)


def is_wide(type: Type) -> bool:
    """True of int64 lanes that fill registers."""
    return type.is_vector() and type.element_of() is _WIDE and type.lanes() & (type.lanes() - 1) == 0


def wide_quotient(prelude: Prelude, op: BinaryOp, type: Type) -> str:
    """``f(a, c)``: lanes divided by a literal c > 1, or the remainders. Euclidean, so rounded down.

    Of n in [0, 2**31), floor(n/c) is n*m >> s, where 2**(s - 31) is c or the next power of 2 above, and m is 2**s/c
    rounded up: m*c exceeds 2**s by less than 2**(s - 31), and n*m is less than 2**63. Of a negative number the
    complement is divided.
    """
    mod = op is BinaryOp.MOD

    def head() -> tuple[str, str, list[str]]:
        c, u = prelude.type(type), prelude.type(UInt(64, type.lanes()))
        divided = prelude.divide_by_constant(op, type)
        splat = prelude.splat(UInt(64, type.lanes()))
        return c, f"{c} a, int64_t c", [
            f"const {u} far = (({u})a + {splat}(0x80000000u)) >> 32;",
            f"if (c > 0x7fffffff || {any_lane(prelude, UInt(64, type.lanes()))}(far)) return {divided}(a, c);",
            "const int s = 95 - __builtin_clzll((uint64_t)c - 1);",
            "const uint64_t m = (((uint64_t)1 << s) + (uint64_t)c - 1) / (uint64_t)c;",
            f"const {c} sign = a >> 63;",
            f"const {c} q = ({c})((({u})(a ^ sign) * {splat}(m)) >> s) ^ sign;",
            f"return ({c})(({u})a - ({u})q * {splat}((uint64_t)c));" if mod else "return q;",
        ]  # fmt: skip

    return prelude.define(f"wide_{'mod' if mod else 'div'}_{tag(type)}", head)


def any_lane(prelude: Prelude, type: Type) -> str:
    """``f(v)``: whether a lane of integers, which fill registers, is not 0."""
    size, c = type.bits() * type.lanes(), prelude.type(type)
    words = UInt(64, size // 64)

    def head() -> tuple[str, str, list[str]]:
        if words.lanes() > max(_ANY):
            half = type.with_lanes(type.lanes() // 2)
            low, high = (prelude.slice(type, half, first) for first in (0, half.lanes()))
            return "bool", f"{c} v", [f"return {any_lane(prelude, half)}({low}(v) | {high}(v));"]
        builtin, holds = _ANY[words.lanes()]
        generic = f"return {' | '.join(f'v[{i}]' for i in range(type.lanes()))};"
        arms = either(builtin.condition, [f"return {prelude.call_builtin(builtin, words)} {holds};"], [generic])
        return "bool", f"{c} v", arms

    return prelude.define(f"any_{tag(type)}", head)
