"""Products with a sum in C, rounded once: the machine's instruction, and what stands for it where there is none.

In: a type. Out: the name of a function ``f(a, b, c)`` of the prelude.

    fused_product(prelude, Float(32, 16))   ->   "fma_f32x16"

C's own function takes long without the instruction. Of float32, float64 has the exact product, and rounds the sum; to
round that once more is right, but where it is in the middle of two float32s, or is subnormal.
"""

from __future__ import annotations

from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.prelude import Prelude, mask_of

_BELOW_HALF, _HALF = "0x1fffffff", "0x10000000"
"""The digits of a float64 that a float32 has not, and where they are exactly half of its last one."""
_LEAST_NORMAL = "0x1p-125"


def fused_product(prelude: Prelude, type: Type) -> str:
    """The name of the function."""
    if type.is_scalar() and type.bits() == 64:
        return "__builtin_fma"

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        body = _of_scalars() if type.is_scalar() else _of_lanes(prelude, type)
        return c, f"{c} a, {c} b, {c} c", body

    return prelude.define(f"fma_{tag(type)}", head)


def _of_scalars() -> list[str]:
    return [
        "#ifdef __FP_FAST_FMAF",
        "return __builtin_fmaf(a, b, c);",
        "#else",
        "const union { double real; uint64_t word; } s = {(double)a * b + c};",
        f"const bool subnormal = s.real < {_LEAST_NORMAL} && s.real > -{_LEAST_NORMAL} && s.real != 0;",
        f"if ((s.word & {_BELOW_HALF}) == {_HALF} || subnormal) return __builtin_fmaf(a, b, c);",
        "return (float)s.real;",
        "#endif",
    ]


def _of_lanes(prelude: Prelude, type: Type) -> list[str]:
    c, lanes, one = prelude.type(type), type.lanes(), fused_product(prelude, type.element_of())
    again = f"for (int i = 0; i < {lanes}; i++) r[i] = {one}(a[i], b[i], c[i]);"
    generic = [f"{c} r;", again, "return r;"]
    if type.bits() == 32 and lanes >= 4:
        generic = ["#ifdef __FP_FAST_FMAF", *generic, "#else", *_in_halves(prelude, type, again), "#endif"]
    return prelude.armed(x86_builtins.fused_product(type), type, type, generic)


def _in_halves(prelude: Prelude, type: Type, again: str) -> list[str]:
    """In float64, one half of the lanes after the other; ``again`` does all of them one by one."""
    half = type.with_lanes(type.lanes() // 2)
    wide = half.with_bits(64)
    d, m = prelude.type(wide), prelude.type(mask_of(wide))
    widen, narrow = prelude.convert(wide, half), prelude.convert(half, wide)
    lines, tests = [], []
    for k, name in enumerate(("low", "high")):
        a, b, c = (f"{widen}({prelude.slice(type, half, k * half.lanes())}({v}))" for v in "abc")
        lines.append(f"const {d} {name} = {a} * {b} + {c};")
        small = f"({m})({name} < {_LEAST_NORMAL}) & ({m})({name} > -{_LEAST_NORMAL}) & ({m})({name} != 0)"
        tests.append(f"({m})((({m}){name} & {_BELOW_HALF}) == {_HALF}) | ({small})")
    order = ", ".join(map(str, range(type.lanes())))
    some = " | ".join(f"doubtful[{i}]" for i in range(half.lanes()))
    return [
        *lines,
        f"const {m} doubtful = {' | '.join(tests)};",
        f"{prelude.type(type)} r = __builtin_shufflevector({narrow}(low), {narrow}(high), {order});",
        f"if ({some}) {again}",
        "return r;",
    ]
