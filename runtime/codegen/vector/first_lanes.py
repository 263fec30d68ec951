"""The first lanes of a register, loaded and stored alone.

In: a vector type. Out: C functions of a mask, whose bit k stands for lane k, and of a pointer. What is not loaded is 0.

    load_first_u16x16(mask, p)    ->   vmovdqu16 (p), %ymm0{%k1}{z}

Registers of every size have such loads and stores where AVX-512 has bytes; other machines go lane by lane, and get no
statements that ask for them. More than a register holds are halves.
"""

from __future__ import annotations

from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.prelude import Prelude, either

MASK = "uint64_t"
_REGISTER, _WIDEST = 128, 512
"""The bits of the smallest register, and of the greatest."""


def load_first(prelude: Prelude, type: Type) -> str:
    """``f(mask, pointer)``: neighbouring elements."""

    def head() -> tuple[str, str, list[str]]:
        c, register = prelude.type(type), _register(type)
        if _fills_several(type):
            half = type.with_lanes(type.lanes() // 2)
            function, of = load_first(prelude, half), ", ".join(map(str, range(type.lanes())))
            both = f"{function}(mask, p), {function}(mask >> {half.lanes()}, p + {half.lanes()})"
            return c, f"{MASK} mask, const {stored(type)} *p", [f"return __builtin_shufflevector({both}, {of});"]
        part = ", ".join(map(str, range(type.lanes())))
        value = f"__builtin_shufflevector(r, r, {part})" if register is not type else "r"
        generic = [f"{c} r = {{0}};", f"for (int i = 0; i < {type.lanes()}; i++) if (mask >> i & 1) r[i] = p[i];"]
        builtin = x86_builtins.masked_load(register)
        body = [*generic, "return r;"]
        if builtin is not None:
            whole = prelude.type(register)
            call = f"({whole}){prelude.call_builtin(builtin, register)}"
            body = either(builtin.condition, [f"{whole} r = {call};", f"return {value};"], body)
        return c, f"{MASK} mask, const {stored(type)} *p", body

    return prelude.define(f"load_first_{tag(type)}", head)


def store_first(prelude: Prelude, type: Type) -> str:
    """``f(mask, pointer, value)``: neighbouring elements."""

    def head() -> tuple[str, str, list[str]]:
        register = _register(type)
        if _fills_several(type):
            half = type.with_lanes(type.lanes() // 2)
            lines = []
            for at, given in ((0, "mask, p"), (half.lanes(), f"mask >> {half.lanes()}, p + {half.lanes()}")):
                of = ", ".join(map(str, range(at, at + half.lanes())))
                lines.append(f"{store_first(prelude, half)}({given}, __builtin_shufflevector(v, v, {of}));")
            return "void", f"{MASK} mask, {stored(type)} *p, {prelude.type(type)} v", lines
        body = [f"for (int i = 0; i < {type.lanes()}; i++) if (mask >> i & 1) p[i] = v[i];"]
        builtin = x86_builtins.masked_store(register)
        if builtin is not None:
            order = ", ".join(str(k % type.lanes()) for k in range(register.lanes()))
            value = "v" if register is type else f"__builtin_shufflevector(v, v, {order})"
            lines = [f"{prelude.type(register)} a = {value};", f"{prelude.call_builtin(builtin, register)};"]
            body = either(builtin.condition, lines, body)
        return "void", f"{MASK} mask, {stored(type)} *p, {prelude.type(type)} v", body

    return prelude.define(f"store_first_{tag(type)}", head)


def mask_of(count: str) -> str:
    """The mask of so many lanes, at least one and less than a mask has."""
    return f"({MASK})-1 >> (64 - {count})"


def _fills_several(type: Type) -> bool:
    """True of what is taken in halves."""
    return type.bits() * type.lanes() > _WIDEST and type.lanes() % 2 == 0


def _register(type: Type) -> Type:
    """The register whose low part the lanes are, where they fill none."""
    return type.with_lanes(max(type.lanes(), _REGISTER // type.bits()))
