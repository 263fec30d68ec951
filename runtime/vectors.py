"""What the emitted C defines before it starts: vector types, and one inline function per operation and type.

In: an operation and a type, asked for while expressions are emitted. Out: the name of a C function (or type), whose
definition joins ``text()`` once. Scalars and vectors have the same functions, under the same names:

    prelude.binary(MIN, Int(32))      ->  "min_i32"        a < b ? a : b
    prelude.binary(MIN, Int(32, 16))  ->  "min_i32x16"     select_i32x16(a < b, a, b)

A vector is a value of GCC's vector extension. A vector of bools is a *mask*: lanes of 0 and -1, as wide as the lanes
of the operands that were compared. None of the functions has undefined behaviour for any operands.
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.types import INT64, Int, Type, TypeCode, UInt
from runtime.c_names import integer, scalar, stored, tag

_NAMES = {
    BinaryOp.ADD: "add",
    BinaryOp.SUB: "sub",
    BinaryOp.MUL: "mul",
    BinaryOp.DIV: "div",
    BinaryOp.MOD: "mod",
    BinaryOp.MIN: "min",
    BinaryOp.MAX: "max",
    BinaryOp.SHL: "shl",
    BinaryOp.SHR: "shr",
}
_SHIFTS = (BinaryOp.SHL, BinaryOp.SHR)
_WRAPPING = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}
_LEAST = {BinaryOp.MIN: "<", BinaryOp.MAX: ">"}
_LIBM = {Intrinsic.ROUND: "rint"}


def unsigned(type: Type) -> Type:
    """The unsigned type of the same shape."""
    return type.with_code(TypeCode.UInt)


def mask_type(bits: int, lanes: int) -> Type:
    """The vector type that holds a mask whose lanes have this width."""
    return Int(bits, lanes)


def mask_of(type: Type) -> Type:
    """The type of the mask that comparing two vectors of ``type`` gives."""
    return mask_type(8 * type.bytes(), type.lanes())


class Prelude:
    """The definitions that one translation unit needs, in the order of first use, each after those it uses."""

    def __init__(self) -> None:
        self._definitions: dict[str, str] = {}

    def text(self) -> str:
        """All definitions."""
        return "".join(self._definitions.values())

    # ---- types ---------------------------------------------------------------------------------------------------

    def type(self, type: Type) -> str:
        """The C type of a value; not of a vector of bools, which is a mask."""
        if type.is_scalar():
            return scalar(type)
        name = tag(type)
        if type.is_bool():
            raise InternalError("A vector of bools has no C type of its own.")
        if name not in self._definitions:
            size = type.bytes() * type.lanes()
            text = f"typedef {stored(type)} {name} __attribute__((vector_size({size})));\n"
            self._definitions[name] = text
        return name

    def _unaligned(self, type: Type) -> str:
        """The type through which vectors are loaded and stored: aligned like an element, and it may alias."""
        value, name = self.type(type), f"{tag(type)}_u"
        if name not in self._definitions:
            attribute = f"__attribute__((aligned({type.bytes()}), may_alias))"
            self._definitions[name] = f"typedef {value} {name} {attribute};\n"
        return name

    def _function(self, name: str, head: Callable[[], tuple[str, str, list[str]]]) -> str:
        """``head`` gives the result's type, the parameters and the lines of the body."""
        if name not in self._definitions:
            result, parameters, body = head()
            lines = "".join(f"    {line}\n" for line in body)
            self._definitions[name] = f"INLINE {result} {name}({parameters}) {{\n{lines}}}\n"
        return name

    def define(self, name: str, head: Callable[[], tuple[str, str, list[str]]]) -> str:
        """A function of another file's: ``head`` gives the result's type, the parameters and the lines of the body."""
        return self._function(name, head)

    # ---- binary operators ----------------------------------------------------------------------------------------

    def binary(self, op: BinaryOp, type: Type, count: Type | None = None) -> str:
        """``f(a, b)`` for an operator that C's own does not give; ``count`` is the type of a shift's count."""
        name = f"{_NAMES[op]}_{tag(type)}"
        other = count or type
        if op in _SHIFTS and not (other.is_int() and other.bits() == type.bits()):
            name += f"_{tag(other)}"

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            parameters = f"{c} a, {self.type(other)} b"
            body = self._vector_body(op, type, other) if type.is_vector() else _scalar_body(op, type, other)
            return c, parameters, body

        return self._function(name, head)

    def _vector_body(self, op: BinaryOp, type: Type, count: Type) -> list[str]:
        c = self.type(type)
        if op in _LEAST:
            test = f"({self.type(mask_of(type))})(a {_LEAST[op]} b)"
            return [f"return {self.select(type)}({test}, a, b);"]
        if op in _WRAPPING:
            u = self.type(unsigned(type))
            return [f"return ({c})(({u})a {_WRAPPING[op]} ({u})b);"]
        if type.is_float() and op is BinaryOp.MOD:
            floor = self.math(Intrinsic.FLOOR, type)
            return [f"return a - b * {floor}(a / b);"]
        one = self.binary(op, type.element_of(), count.element_of())
        return _lane_by_lane(c, type.lanes(), f"{one}(a[i], b[i])")

    def product(self, a: str, b: str) -> str:
        """A product of sizes, which are not negative; INT64_MAX, which can't be allocated, where it overflows."""
        body = ["int64_t r;", "return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;"]
        name = self._function("product_i64", lambda: ("int64_t", "int64_t a, int64_t b", body))
        return f"{name}({a}, {b})"

    def divide_by_constant(self, op: BinaryOp, type: Type) -> str:
        """``f(a, c)``: a vector divided by a scalar literal c > 0, or the remainder. Euclidean, so rounded down."""
        return self._function(
            f"{_NAMES[op]}_const_{tag(type)}",
            lambda: (self.type(type), f"{self.type(type)} a, {stored(type)} c", self._constant_division(op, type)),
        )

    def _constant_division(self, op: BinaryOp, type: Type) -> list[str]:
        c = self.type(type)
        if type.bits() == 8:  # there are no byte multiplications to divide with
            wide = type.with_bits(16)
            w = self.type(wide)
            name = self.divide_by_constant(op, wide)
            return [f"return __builtin_convertvector({name}(__builtin_convertvector(a, {w}), c), {c});"]
        divisor = f"const {c} b = {self.splat(type)}(c);"
        if type.is_uint():
            return [divisor, "return a / b;" if op is BinaryOp.DIV else "return a - a / b * b;"]
        lines = [divisor, f"const {c} q = a / b, r = a - q * b;"]
        return [*lines, "return q + (r < 0);" if op is BinaryOp.DIV else "return r + (b & (r < 0));"]

    # ---- selections, conversions, mathematics --------------------------------------------------------------------

    def select(self, type: Type) -> str:
        """``f(mask, a, b)`` on vectors."""

        def head() -> tuple[str, str, list[str]]:
            c, m = self.type(type), self.type(mask_of(type))
            if c == m:
                return c, f"{m} mask, {c} a, {c} b", ["return (a & mask) | (b & ~mask);"]
            return c, f"{m} mask, {c} a, {c} b", [f"return ({c})((({m})a & mask) | (({m})b & ~mask));"]

        return self._function(f"select_{tag(type)}", head)

    def from_float(self, to: Type, source: Type) -> str:
        """``f(x)``: a float as an integer, truncated and saturated; NaN gives 0."""

        def head() -> tuple[str, str, list[str]]:
            body = self._vector_from_float(to, source) if to.is_vector() else _scalar_from_float(to, source)
            return self.type(to), f"{self.type(source)} x", body

        return self._function(f"{tag(to)}_from_{tag(source)}", head)

    def _vector_from_float(self, to: Type, source: Type) -> list[str]:
        f, select, splat = self.type(source), self.select(source), self.splat(source)
        m = self.type(mask_of(source))
        low, above = _limits(to, source)
        last = (1.0 - 2.0 ** -(24 if source.bits() == 32 else 53)) * _above(to)  # the greatest float below
        lines = [
            f"const {f} low = {splat}({low}), high = {splat}({_float(last, source)});",
            f"{f} y = {select}(({m})(x == x), x, {splat}(0));",
            f"y = {select}(({m})(y > low), y, low);",
            f"y = {select}(({m})(y < high), y, high);",
        ]
        value = "y"
        if to.bits() < source.bits():
            value = f"__builtin_convertvector(y, {m})"
        value = f"__builtin_convertvector({value}, {self.type(to)})"
        if int(last) == to.range[1]:
            return [*lines, f"return {value};"]
        over = f"({m})(x >= {splat}({above}))"
        wide = self.type(mask_of(to))
        if wide != m:
            over = f"__builtin_convertvector({over}, {wide})"
        most = f"{self.splat(to)}({_greatest(to)})"
        return [*lines, f"return {self.select(to)}({over}, {most}, {value});"]

    def absolute(self, type: Type) -> str:
        """``f(a)``: the magnitude of a signed integer, as an unsigned one, or of a vector of floats."""

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            if type.is_float():
                m = mask_of(type)
                clear = f"{self.splat(m)}({_greatest(m)})"
                return c, f"{c} a", [f"return ({c})(({self.type(m)})a & {clear});"]
            u = self.type(unsigned(type))
            if type.is_scalar():
                return u, f"{c} a", [f"return ({u})(a < 0 ? 0 - ({u})a : ({u})a);"]
            return u, f"{c} a", [f"const {u} sign = ({u})(a < 0);", f"return (({u})a ^ sign) - sign;"]

        return self._function(f"abs_{tag(type)}", head)

    def is_nan(self, type: Type) -> str:
        """``f(a)``: a mask of the lanes that are no numbers."""
        m = self.type(mask_of(type))
        return self._function(f"is_nan_{tag(type)}", lambda: (m, f"{self.type(type)} a", [f"return ({m})(a != a);"]))

    def reinterpret(self, to: Type, source: Type) -> str:
        """``f(a)``: the bits of a float as an integer, always the same of a NaN; or an integer's as a float."""

        def head() -> tuple[str, str, list[str]]:
            c, a = self.type(to), self.type(source)
            if not source.is_float():
                union = f"const union {{ {a} word; {c} real; }} both = {{a}};"
                return c, f"{a} a", [f"return ({c})a;"] if to.is_vector() else [union, "return both.real;"]
            nan = integer(0x7FC00000 if source.bits() == 32 else 0x7FF8 << 48, to.element_of())
            if to.is_scalar():
                union = f"const union {{ {a} real; {c} word; }} both = {{a}};"
                return c, f"{a} a", [union, f"return a != a ? {nan} : both.word;"]
            chosen = f"{self.select(to)}(({self.type(mask_of(to))})(a != a), {self.splat(to)}({nan}), ({c})a)"
            return c, f"{a} a", [f"return {chosen};"]

        return self._function(f"bits_{tag(to)}_from_{tag(source)}", head)

    def math(self, function: Intrinsic, type: Type) -> str:
        """A function of floats. A builtin needs no header, and lets a compiler use an instruction for it."""
        suffix = "f" if type.bits() == 32 else ""
        builtin = f"__builtin_{_LIBM.get(function, function.value)}{suffix}"
        if type.is_scalar():
            return builtin
        two = function in (Intrinsic.POW, Intrinsic.ATAN2)

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            call = f"{builtin}(a[i], b[i])" if two else f"{builtin}(a[i])"
            return c, f"{c} a, {c} b" if two else f"{c} a", _lane_by_lane(c, type.lanes(), call)

        return self._function(f"{function.value}_{tag(type)}", head)

    # ---- making vectors, and moving them to and from memory ------------------------------------------------------

    def splat(self, type: Type) -> str:
        """``f(x)``: x in every lane. By a subtraction: x - 0 is x even for -0.0, and compilers see the broadcast."""
        c = self.type(type)
        return self._function(f"splat_{tag(type)}", lambda: (c, f"{stored(type)} x", [f"return x - ({c}){{0}};"]))

    def ramp(self, type: Type) -> str:
        """``f(base, stride)``: base, base + stride, …; wraps."""

        def head() -> tuple[str, str, list[str]]:
            s, u, splat = stored(type), self.type(unsigned(type)), self.splat(unsigned(type))
            steps = ", ".join(map(str, range(type.lanes())))
            count = stored(unsigned(type))
            value = f"{splat}(({count})base) + {splat}(({count})stride) * ({u}){{{steps}}}"
            return self.type(type), f"{s} base, {s} stride", [f"return ({self.type(type)})({value});"]

        return self._function(f"ramp_{tag(type)}", head)

    def load(self, type: Type) -> str:
        """``f(pointer)``: neighbouring elements."""
        return self._function(
            f"load_{tag(type)}",
            lambda: (self.type(type), f"const {stored(type)} *p", [f"return *(const {self._unaligned(type)} *)p;"]),
        )

    def store(self, type: Type) -> str:
        """``f(pointer, value)``: neighbouring elements."""
        return self._function(
            f"store_{tag(type)}",
            lambda: ("void", f"{stored(type)} *p, {self.type(type)} v", [f"*({self._unaligned(type)} *)p = v;"]),
        )

    def load_strided(self, type: Type) -> str:
        """``f(pointer, stride)``: elements at equal distances."""
        return self._function(
            f"load_strided_{tag(type)}",
            lambda: (
                self.type(type),
                f"const {stored(type)} *p, int64_t stride",
                _of_loads(self.type(type), [f"p[{i} * stride]" for i in range(type.lanes())]),
            ),
        )

    def store_strided(self, type: Type) -> str:
        """``f(pointer, stride, value)``: elements at equal distances, the first lane first."""
        return self._function(
            f"store_strided_{tag(type)}",
            lambda: (
                "void",
                f"{stored(type)} *p, int64_t stride, {self.type(type)} v",
                [f"for (int i = 0; i < {type.lanes()}; i++) p[i * stride] = v[i];"],
            ),
        )

    def gather(self, type: Type) -> str:
        """``f(pointer, indices)``: elements anywhere."""
        index = self.type(INT64.with_lanes(type.lanes()))
        return self._function(
            f"gather_{tag(type)}",
            lambda: (
                self.type(type),
                f"const {stored(type)} *p, {index} index",
                _of_loads(self.type(type), [f"p[index[{i}]]" for i in range(type.lanes())]),
            ),
        )

    def scatter(self, type: Type) -> str:
        """``f(pointer, indices, value)``: elements anywhere, the first lane first."""
        index = self.type(INT64.with_lanes(type.lanes()))
        return self._function(
            f"scatter_{tag(type)}",
            lambda: (
                "void",
                f"{stored(type)} *p, {index} index, {self.type(type)} v",
                [f"for (int i = 0; i < {type.lanes()}; i++) p[index[i]] = v[i];"],
            ),
        )


def _of_loads(c: str, loads: list[str]) -> list[str]:
    """A vector of scalar loads: written out, as gcc would build one that a loop fills in memory (twice as slow)."""
    return [f"return ({c}){{{', '.join(loads)}}};"]


def _lane_by_lane(c: str, lanes: int, value: str) -> list[str]:
    return [f"{c} r;", f"for (int i = 0; i < {lanes}; i++) r[i] = {value};", "return r;"]


def _scalar_body(op: BinaryOp, type: Type, count: Type) -> list[str]:
    s, u = stored(type), stored(unsigned(type))
    if op in _WRAPPING:
        return [f"return ({s})(({u})a {_WRAPPING[op]} ({u})b);"]
    if op in _LEAST:
        return [f"return a {_LEAST[op]} b ? a : b;"]
    if op in _SHIFTS:
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


def _above(to: Type) -> float:
    """The first number beyond the type: a power of two."""
    return float(to.range[1] + 1)


def _float(value: float, type: Type) -> str:
    return value.hex() + ("f" if type.bits() == 32 else "")


def _limits(to: Type, source: Type) -> tuple[str, str]:
    return _float(float(to.range[0]), source), _float(_above(to), source)


def _greatest(type: Type) -> str:
    return f"{'' if type.is_int() else 'U'}INT{type.bits()}_MAX"


def _scalar_from_float(to: Type, source: Type) -> list[str]:
    s = stored(to)
    low, above = _limits(to, source)
    least = f"INT{to.bits()}_MIN" if to.is_int() else "0"
    return [
        f"if (x >= {above}) return {_greatest(to)};",
        f"if (x >= {low}) return ({s})x;",
        f"return x < {low} ? {least} : 0;",
    ]
