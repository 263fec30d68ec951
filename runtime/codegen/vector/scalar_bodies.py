"""The bodies of C functions on scalars, and the numbers that bodies of both kinds are made of.

In: an operation and its types. Out: lines of C over the parameters a and b, or x, without undefined behaviour.

    scalar_body(MIN, Int(32), Int(32))   ->   return a < b ? a : b;
"""

from __future__ import annotations

from halide_core.ir import BinaryOp
from halide_core.ir.types import Int, Type, TypeCode, UInt
from halide_core.runtime.codegen.names import stored

SHIFTS = (BinaryOp.SHL, BinaryOp.SHR)
WRAPPING = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}
LEAST = {BinaryOp.MIN: "<", BinaryOp.MAX: ">"}


def unsigned(type: Type) -> Type:
    """The unsigned type of the same shape."""
    return type.with_code(TypeCode.UInt)


def scalar_body(op: BinaryOp, type: Type, count: Type) -> list[str]:
    """The body of ``f(a, b)``; ``count`` is the type of a shift's count."""
    s, u = stored(type), stored(unsigned(type))
    if op in WRAPPING:
        return [f"return ({s})(({u})a {WRAPPING[op]} ({u})b);"]
    if op in LEAST:
        return [f"return a {LEAST[op]} b ? a : b;"]
    if op in SHIFTS:
        return _shift(op, type, count)
    if type.is_float():
        floor = "__builtin_floorf" if type.bits() == 32 else "__builtin_floor"
        return [f"return a - b * {floor}(a / b);"]
    if type.is_uint():
        return [f"return b ? ({s})(a {op.value} b) : 0;"]
    if op is BinaryOp.DIV:
        return [
            "if (b == 0) return 0;",
            f"if (b == -1) return ({s})(0 - ({u})a);",
            f"const {s} q = ({s})(a / b), r = ({s})(a % b);",
            f"return ({s})(r >= 0 ? q : b > 0 ? q - 1 : q + 1);",
        ]
    return [
        "if (b == 0 || b == -1) return 0;",
        f"const {s} r = ({s})(a % b);",
        f"return ({s})(r >= 0 ? r : b > 0 ? r + b : r - b);",
    ]


def _shift(op: BinaryOp, type: Type, count: Type) -> list[str]:
    """Towards higher bits zeros come in; towards lower ones zeros, or the sign."""
    s, bits = stored(type), type.bits()
    wide = stored(UInt(max(bits, 32)))

    def up(n: str, far: str) -> str:
        return f"{far} ? 0 : ({s})(({wide})a << {n})"

    def down(n: str, far: str) -> str:
        return f"({s})(a >> ({far} ? {bits - 1} : {n}))" if type.is_int() else f"{far} ? 0 : ({s})(a >> {n})"

    forward, backward = (up, down) if op is BinaryOp.SHL else (down, up)
    ahead = f"return {forward('b', f'b >= {bits}')};"
    return [ahead] if count.is_uint() else [f"if (b < 0) return {backward('-b', f'b <= -{bits}')};", ahead]


def above(to: Type) -> float:
    """The first number beyond the type: a power of two."""
    return float(to.range[1] + 1)


def float_literal(value: float, type: Type) -> str:
    """A number as C, exactly."""
    return value.hex() + ("f" if type.bits() == 32 else "")


def limits(to: Type, source: Type) -> tuple[str, str]:
    """The least number of an integer type, and the first one beyond it, as floats."""
    return float_literal(float(to.range[0]), source), float_literal(above(to), source)


def greatest(type: Type) -> str:
    """The greatest number of an integer type."""
    return f"{'' if type.is_int() else 'U'}INT{type.bits()}_MAX"


def veiled(bytes: int) -> str:
    """The macro of ``veiled.h`` for a value of so many bytes."""
    return {16: "VEILED", 32: "VEILED_32", 64: "VEILED_64"}.get(max(bytes, 16), "VEILED_WIDE")


def middle_of(to: Type) -> Type:
    """The integers that a float becomes before it is one of another type: those that there are instructions for."""
    return Int(32) if to.bits() < 32 or to == Int(32) else to


def scalar_from_float(to: Type, source: Type, *, veil: bool) -> list[str]:
    """The body of ``f(x)``: a float as an integer, truncated and saturated; NaN gives 0. There are no branches in it,
    which loops that become vectors can't have. ``veil``: see ``kept``."""
    f, s, n = stored(source), stored(to), stored(middle_of(to))
    low, beyond = limits(to, source)
    last = float_literal(float(to.range[1]), source)
    if to.bits() < source.bits():  # its last number is a float
        number = "x == x ? x : 0" if to.is_int() else "x"  # what a comparison with no number gives is the limit
        return [
            f"const {f} y = {number}, z = y > {low} ? y : {low};",
            f"{n} n = ({n})(z < {last} ? z : {last});",
            *kept("n", to, veil=veil),
            f"return ({s})n;",
        ]
    return [
        f"const {f} y = x < {beyond} ? x : 0;",
        f"{s} n = ({s})(y > {low} ? y : {low});",
        *kept("n", to, veil=veil),
        f"return x >= {beyond} ? {greatest(to)} : n;",
    ]


def foreseen_from_float(to: Type, source: Type) -> list[str]:
    """The same by branches, which cost nothing where they are foreseen, as for places in a picture."""
    s = stored(to)
    low, beyond = limits(to, source)
    least = f"INT{to.bits()}_MIN" if to.is_int() else "0"
    generic = [
        f"if (x >= {beyond}) return {greatest(to)};",
        f"if (x >= {low}) {{ {s} n = ({s})x; VEILED(n); return n; }}",
        f"return x < {low} ? {least} : 0;",
    ]
    if to.bits() > 32:
        return generic
    float_type, instruction = {32: ("float", "cvttss2si64"), 64: ("double", "cvttsd2si64")}[source.bits()]
    return [
        f"#if __has_builtin(__builtin_ia32_{instruction})",
        f"typedef {float_type} register_type __attribute__((vector_size(16)));",
        f"const int64_t n = __builtin_ia32_{instruction}((register_type){{x}});",  # the least one of what is none
        f"if (__builtin_expect(({s})n == n, 1)) return ({s})n;",
        "#endif",
        *generic,
    ]


def kept(name: str, to: Type, *, veil: bool) -> list[str]:
    """The line behind which gcc does not know that an integer of a type was a float. ``veil``: whether there are
    floats made of integers, of which it would make truncated floats, with zeros that are negative. It needs to see that
    nothing is cut off, which of narrow types gcc 12 does not. Of uint32s it gets sums wrong."""
    if to.bits() > 32 or (to.is_uint() and to.bits() == 32):
        return [f"VEILED({name});"]
    if not veil:
        return []
    return [f"VEILED({name});" if to.bits() == 32 else f"VEILED_NARROW({name});"]
