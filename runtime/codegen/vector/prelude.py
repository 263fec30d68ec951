"""The prelude of the emitted C: vector types, and one inline function per operation and type.

In: an operation and a type, asked for while expressions are emitted. Out: the name of a C function (or type), whose
definition joins ``text()`` once. Scalars and vectors have the same functions, under the same names:

    prelude.binary(MIN, Int(32))      ->  "min_i32"        a < b ? a : b
    prelude.binary(MIN, Int(32, 16))  ->  "min_i32x16"     select_i32x16(a < b, a, b)

A vector is a value of GCC's vector extension. A vector of bools is a *mask*: lanes of 0 and -1, as wide as the lanes
of the operands that were compared. None of the functions has undefined behaviour for any operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Int, Type
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.names import integer, scalar, stored, tag
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.scalar_bodies import (
    LEAST,
    SHIFTS,
    WRAPPING,
    above,
    float_literal,
    foreseen_from_float,
    greatest,
    kept,
    limits,
    middle_of,
    scalar_body,
    scalar_from_float,
    unsigned,
    veiled,
)
from halide_core.runtime.codegen.vector.x86_builtins import Builtin

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
_STEP = 4
"""Lanes at equal distances that are addressed from one place."""
_LIBM = {Intrinsic.ROUND: "rint"}


def is_few_bytes(type: Type) -> bool:
    """True of bytes in less than half a register of SSE, which gcc multiplies and shifts lane by lane."""
    return type.is_vector() and type.bits() == 8 and type.lanes() < 8


def mask_type(bits: int, lanes: int) -> Type:
    """The vector type that holds a mask whose lanes have this width."""
    return Int(bits, lanes)


def mask_of(type: Type) -> Type:
    """The type of the mask that comparing two vectors of ``type`` gives."""
    return mask_type(8 * type.bytes(), type.lanes())


class Prelude:
    """The definitions that one translation unit needs, in the order of first use, each after those it uses."""

    def __init__(self, *, floats_again: bool = True) -> None:
        self._definitions: dict[str, str] = {}
        self._floats_again = floats_again

    def text(self) -> str:
        """All definitions."""
        return "".join(self._definitions.values())

    def typedef(self, name: str, text: str) -> str:
        """A type of another file's, whose whole definition is ``text``."""
        self._definitions.setdefault(name, text)
        return name

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

    def armed(
        self, arm: Builtin | None, result: Type, operand: Type, generic: list[str], *others: Type, through: str = ""
    ) -> list[str]:
        """A body: one instruction, where there is one and the compiler may use it, else what C can say. ``others`` are
        the types of further operands, ``through`` names a function that takes what the instruction gives."""
        if arm is None:
            return generic
        call = self.call_builtin(arm, operand, result, *others)
        if operand.bits() * operand.lanes() < 128:
            self._in_register(operand)
        value = f"({self.type(result)}){x86_builtins.low_part(call, arm.low)}"
        value = f"{through}({value})" if through else value
        return either(arm.condition, [f"return {value};"], generic)

    def call_builtin(self, builtin: Builtin, operand: Type, *others: Type) -> str:
        """The call of an instruction, ``others`` the types of what else it takes or gives."""
        self._definitions.setdefault("__has_builtin", x86_builtins.DEFINITION)
        name, *_ = [self._machine_type(type) for type in dict.fromkeys((operand, *others))]
        return f"__builtin_ia32_{builtin.builtin}({builtin.arguments.format(v=name)})"

    def _machine_type(self, type: Type) -> str:
        """The name of the vector type that builtins take, which is defined from here on."""
        element, name, size = x86_builtins.machine_type(type)
        typedef = f"typedef {element} {name} __attribute__((vector_size({size}), may_alias));\n"
        self._definitions.setdefault(name, typedef)
        return name

    def _in_register(self, type: Type) -> None:
        whole = type.with_lanes(128 // type.bits())
        register = x86_builtins.machine_type(whole)[1]
        made = x86_builtins.in_register(type, register)
        if made is not None:
            self._machine_type(whole)
            self._function(made[0], lambda: (register, f"{self.type(type)} a", made[1]))

    # ---- binary operators ----------------------------------------------------------------------------------------

    def binary(self, op: BinaryOp, type: Type, count: Type | None = None) -> str:
        """``f(a, b)`` for an operator that C's own does not give; ``count`` is the type of a shift's count."""
        name = f"{_NAMES[op]}_{tag(type)}"
        other = count or type
        if op in SHIFTS and not (other.is_int() and other.bits() == type.bits()):
            name += f"_{tag(other)}"

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            parameters = f"{c} a, {self.type(other)} b"
            body = self._vector_body(op, type, other) if type.is_vector() else scalar_body(op, type, other)
            return c, parameters, body

        return self._function(name, head)

    def _vector_body(self, op: BinaryOp, type: Type, count: Type) -> list[str]:
        c = self.type(type)
        if op in LEAST:
            test = f"({self.type(mask_of(type))})(a {LEAST[op]} b)"
            generic = [f"return {self.select(type)}({test}, a, b);"]
            return self.armed(x86_builtins.minimum(op, type), type, type, generic)
        if op is BinaryOp.MUL and is_few_bytes(type):
            wide = type.with_bits(16)
            a, b = (f"{self.convert(wide, type)}({x})" for x in "ab")
            return [f"return {self.convert(type, wide)}({self.binary(op, wide)}({a}, {b}));"]
        if op in WRAPPING:
            u = self.type(unsigned(type))
            arm = x86_builtins.product(type) if op is BinaryOp.MUL else None
            return self.armed(arm, type, type, [f"return ({c})(({u})a {WRAPPING[op]} ({u})b);"])
        if type.is_float() and op is BinaryOp.MOD:
            floor = self.math(Intrinsic.FLOOR, type)
            return [f"return a - b * {floor}(a / b);"]
        one = self.binary(op, type.element_of(), count.element_of())
        if op in (BinaryOp.DIV, BinaryOp.MOD) and type.is_integer():
            return self._quotients(type, one)
        return [self.veil("a", type), *_lane_by_lane(c, type.lanes(), f"{one}(a[i], b[i])")]

    def _quotients(self, type: Type, one: str) -> list[str]:
        """A quotient is a comparison where one of its operands is 1, or is the other one, and of two such lanes gcc 12
        makes a mask: -1 for 1. So it does not get to know the operands."""
        self.typedef("OPAQUE", resource("opaque.h"))
        c, element = self.type(type), self.type(type.element_of())
        lane = f"{element} x = a[i], y = b[i]; OPAQUE(x); OPAQUE(y); r[i] = {one}(x, y);"
        return [f"{c} r;", f"for (int i = 0; i < {type.lanes()}; i++) {{ {lane} }}", "return r;"]

    def veil(self, name: str, type: Type) -> str:
        """The line behind which gcc does not know what a vector was made of. Of lanes that are put into one one by one,
        all of them comparisons, gcc 12 makes a mask: -1 for 1. A comparison that is shifted by 0 is one, too."""
        self.typedef("VEILED", resource("veiled.h"))
        return f"{veiled(type.bytes() * type.lanes())}({name});"

    def loaded(self, name: str, type: Type) -> str:
        """The statement by which a vector that was loaded stays in its register, if one holds it."""
        macro = {16: "LOADED", 32: "LOADED_32", 64: "LOADED_64"}.get(type.bytes() * type.lanes())
        if macro is None:
            return ""
        self.typedef("LOADED", resource("loaded.h"))
        return f"{macro}({name});"

    def product(self, a: str, b: str) -> str:
        """A product of sizes, which are not negative; INT64_MAX, which can't be allocated, where it overflows."""
        body = ["int64_t r;", "return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;"]
        name = self._function("product_i64", lambda: ("int64_t", "int64_t a, int64_t b", body))
        return f"{name}({a}, {b})"

    def divide_by_constant(self, op: BinaryOp, type: Type) -> str:
        """``f(a, c)``: numbers divided by a literal c > 0, or the remainders. Euclidean, so rounded down."""
        return self._function(
            f"{_NAMES[op]}_const_{tag(type)}",
            lambda: (self.type(type), f"{self.type(type)} a, {stored(type)} c", self._constant_division(op, type)),
        )

    def _constant_division(self, op: BinaryOp, type: Type) -> list[str]:
        c = self.type(type)
        if type.is_scalar():
            u = stored(unsigned(type))
            sign = f"const {c} sign = ({c})(a >> {type.bits() - 1});"
            return [sign, f"return ({c})(({c})(({u})(a ^ sign) / ({u})c) ^ sign);"]
        if type.bits() == 8:  # there are no byte multiplications to divide with
            wide = type.with_bits(16)
            w = self.type(wide)
            name = self.divide_by_constant(op, wide)
            return [f"return __builtin_convertvector({name}(__builtin_convertvector(a, {w}), c), {c});"]
        divisor = f"const {c} b = {self.splat(type)}(c);"
        if type.is_uint():
            return [divisor, "return a / b;" if op is BinaryOp.DIV else "return a - a / b * b;"]
        if op is BinaryOp.MOD:
            return [divisor, f"const {c} r = a - a / b * b;", "return r + (b & (r < 0));"]
        # Of a negative number the complement is divided, which is natural: of a quotient rounded down it is one, too.
        natural = unsigned(type)
        by = f"const {self.type(natural)} b = {self.splat(natural)}(({stored(natural)})c);"
        sign = f"const {c} sign = a >> {type.bits() - 1};"
        return [by, sign, f"return ({c})(({self.type(natural)})(a ^ sign) / b) ^ sign;"]

    # ---- selections, conversions, mathematics --------------------------------------------------------------------

    def select(self, type: Type) -> str:
        """``f(mask, a, b)`` on vectors."""

        def head() -> tuple[str, str, list[str]]:
            c, m = self.type(type), self.type(mask_of(type))
            if c == m:
                return c, f"{m} mask, {c} a, {c} b", ["return (a & mask) | (b & ~mask);"]
            return c, f"{m} mask, {c} a, {c} b", [f"return ({c})((({m})a & mask) | (({m})b & ~mask));"]

        return self._function(f"select_{tag(type)}", head)

    def from_float(self, to: Type, source: Type, *, branches: bool = False) -> str:
        """``f(x)``: a float as an integer, truncated and saturated; NaN gives 0. ``branches``: it mostly is a number of
        the type, and in a loop that becomes no vectors."""

        def head() -> tuple[str, str, list[str]]:
            self.typedef("VEILED", resource("veiled.h"))
            self.typedef("__has_builtin", x86_builtins.DEFINITION)
            if to.is_vector():
                return self.type(to), f"{self.type(source)} x", self._vector_from_float(to, source)
            body = foreseen_from_float(to, source) if branches else scalar_from_float(to, source, veil=again)
            return self.type(to), f"{self.type(source)} x", body

        again, kind = self._floats_again, "from_foreseen" if branches and to.is_scalar() else "from"
        return self._function(f"{tag(to)}_{kind}_{tag(source)}", head)

    def from_limited_float(self, to: Type, source: Type, *, natural: bool) -> str:
        """``f(x)``: a float that is a number of an integer type that is no wider, truncated. ``natural``: it has no
        sign, so that it may as well be a truncated float."""

        def head() -> tuple[str, str, list[str]]:
            self.typedef("VEILED", resource("veiled.h"))
            c = self.type(source)
            if to.is_scalar():
                middle = stored(middle_of(to))
                veil = kept("n", to, veil=self._floats_again and not natural)
                return self.type(to), f"{c} x", [f"{middle} n = ({middle})x;", *veil, f"return ({self.type(to)})n;"]
            lanes = mask_of(source)
            n = f"{self.type(lanes)} n = __builtin_convertvector(x, {self.type(lanes)});"
            value = "n" if to == lanes else f"{self.convert(to, lanes)}(n)"
            return self.type(to), f"{c} x", [n, self.veil("n", lanes), f"return {value};"]

        kind = "natural" if natural and to.is_scalar() else "limited"
        return self._function(f"{tag(to)}_from_{kind}_{tag(source)}", head)

    def _vector_from_float(self, to: Type, source: Type) -> list[str]:
        select, splat = self.select(source), self.splat(source)
        m = self.type(mask_of(source))
        low, beyond = limits(to, source)
        last = (1.0 - 2.0 ** -(24 if source.bits() == 32 else 53)) * above(to)  # the greatest float below
        least, most = (self.binary(op, source) for op in (BinaryOp.MAX, BinaryOp.MIN))
        # A number's comparison with no number is false, and gives the second operand: 0, where that is the least one.
        number = f"{select}(({m})(x == x), x, {splat}(0))" if to.is_int() else "x"
        y = f"{most}({least}({number}, {splat}({low})), {splat}({float_literal(last, source)}))"
        middle = mask_of(source)
        narrower = to.bits() < source.bits()
        first = middle if narrower else to
        kept = [f"{self.type(first)} n = __builtin_convertvector({y}, {self.type(first)});"]
        kept.append(f"{veiled(first.bytes() * first.lanes())}(n);")
        value = f"{self.convert(to, middle)}(n)" if narrower else "n"
        if int(last) == to.range[1]:
            return [*kept, f"return {value};"]
        over = f"({m})(x >= {splat}({beyond}))"
        wide = self.type(mask_of(to))
        if wide != m:
            over = f"__builtin_convertvector({over}, {wide})"
        generic = [*kept, f"return {self.select(to)}({over}, {self.splat(to)}({greatest(to)}), {value});"]
        arm = x86_builtins.truncation(source) if to.is_int() and to.bits() == 32 else None
        if arm is None:
            return generic
        # What is too great is the least number there, of which ~ is the greatest.
        test, call, *rest = self.armed(arm, to, source, generic)
        made = f"{call.removeprefix('return ').removesuffix(';')} ^ {over}"
        return [test, f"return ({made}) & ({m})(x == x);", *rest]

    def convert(self, to: Type, source: Type) -> str:
        """``f(a)``: lanes in another type, which holds them; integers wrap. In steps: gcc knows those of twice or half
        the width, and those between 32-bit integers and floats, and goes lane by lane in all others."""

        def head() -> tuple[str, str, list[str]]:
            c = self.type(to)
            middle = _between(to, source)
            if middle is None:
                generic = f"__builtin_convertvector(a, {c})"
            else:
                generic = f"{self.convert(to, middle)}({self.convert(middle, source)}(a))"
            body = self.armed(x86_builtins.conversion(to, source), to, source, [f"return {generic};"])
            return c, f"{self.type(source)} a", body

        return self._function(f"{tag(to)}_of_{tag(source)}", head)

    def absolute(self, type: Type) -> str:
        """``f(a)``: the magnitude of a signed integer, as an unsigned one, or of a vector of floats."""

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            if type.is_float():
                m = mask_of(type)
                clear = f"{self.splat(m)}({greatest(m)})"
                return c, f"{c} a", [f"return ({c})(({self.type(m)})a & {clear});"]
            u = self.type(unsigned(type))
            if type.is_scalar():
                return u, f"{c} a", [f"return ({u})(a < 0 ? 0 - ({u})a : ({u})a);"]
            generic = [f"const {u} sign = ({u})(a < 0);", f"return (({u})a ^ sign) - sign;"]
            return u, f"{c} a", self.armed(x86_builtins.magnitude(type), unsigned(type), type, generic)

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
        """Rounding to an integer, or a square root. A builtin needs no header, and gives an instruction."""
        suffix = "f" if type.bits() == 32 else ""
        builtin = f"__builtin_{_LIBM.get(function, function.value)}{suffix}"
        if type.is_scalar():
            return builtin

        def head() -> tuple[str, str, list[str]]:
            c = self.type(type)
            generic = _lane_by_lane(c, type.lanes(), f"{builtin}(a[i])")
            return c, f"{c} a", self.armed(x86_builtins.rounding(function, type), type, type, generic)

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

    def load_shared(self, type: Type, count: int) -> str:
        """``f(pointer, first)``: the elements first/count, (first + 1)/count, …: as many neighbouring lanes share one.
        Lane number i of each group is a dense load, of what is read and no more."""

        def head() -> tuple[str, str, list[str]]:
            c, parameters = self.type(type), f"const {stored(type)} *p, int64_t first"
            shift, groups = count.bit_length() - 1, type.lanes() // count
            at = [f"p + ((first + {i}) >> {shift})" for i in range(count)]
            if groups == 1:
                return c, parameters, [f"return ({c}){{{', '.join(f'*({a})' for a in at)}}};"]
            part = type.with_lanes(groups)
            parts = [f"{self.load(part)}({a})" for a in at]
            while len(parts) > 1:
                half = len(parts) // 2
                join = self.interleave(part)
                parts = [f"{join}({a}, {b})" for a, b in zip(parts[:half], parts[half:], strict=True)]
                part = part.with_lanes(2 * part.lanes())
            return c, parameters, [f"return {parts[0]};"]

        return self._function(f"load_shared_{count}_{tag(type)}", head)

    def slice(self, type: Type, part: Type, first: int) -> str:
        """``f(v)``: neighbouring lanes of a vector."""
        order = ", ".join(str(first + i) for i in range(part.lanes()))
        body = [f"return __builtin_shufflevector(v, v, {order});"]
        return self._function(
            f"slice_{first}_{tag(part)}_{tag(type)}", lambda: (self.type(part), f"{self.type(type)} v", body)
        )

    def interleave(self, type: Type) -> str:
        """``f(a, b)``: the lanes of a and b in turn, twice as many."""
        order = ", ".join(f"{i}, {type.lanes() + i}" for i in range(type.lanes()))
        c, wide = self.type(type), self.type(type.with_lanes(2 * type.lanes()))
        body = [f"return __builtin_shufflevector(a, b, {order});"]
        return self._function(f"interleave_{tag(type)}", lambda: (wide, f"{c} a, {c} b", body))

    def store_strided(self, type: Type) -> str:
        """``f(pointer, stride, value)``: elements at equal distances, the first lane first."""
        bases, at = strided_places(f"{stored(type)} *", type.lanes())
        stores = [*bases, *(f"{place} = v[{k}];" for k, place in enumerate(at))]
        return self._function(
            f"store_strided_{tag(type)}",
            lambda: (
                "void",
                f"{stored(type)} *p, int64_t stride, {self.type(type)} v",
                stores,
            ),
        )

    def scatter(self, type: Type, index: Type) -> str:
        """``f(pointer, base, indices, value)``: elements anywhere, the first lane first."""
        return self._function(
            f"scatter_{tag(type)}_{tag(index)}",
            lambda: (
                "void",
                f"{stored(type)} *p, int64_t base, {self.type(index)} index, {self.type(type)} v",
                [f"for (int i = 0; i < {type.lanes()}; i++) p[base + index[i]] = v[i];"],
            ),
        )


def either(condition: str, lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Lines where a condition of the preprocessor holds, and others where it does not."""
    return [f"#if {condition}", *lines, "#else", *others, "#endif"]


def strided_places(pointer: str, lanes: int) -> tuple[list[str], list[str]]:
    """Declarations, and the C of the elements at equal distances from ``p``: each address serves a few. gcc would keep
    the distance of each lane in a register, and there are not as many."""
    bases = []
    for first in range(_STEP, lanes, _STEP):
        bases.append(f"{pointer}p{first} = p{first - _STEP or ''} + {_STEP} * stride;")
        bases.append(f'__asm__("" : "+r"(p{first}));')
    return bases, [f"p{k - k % _STEP or ''}[{k % _STEP} * stride]" for k in range(lanes)]


def _lane_by_lane(c: str, lanes: int, value: str) -> list[str]:
    return [f"{c} r;", f"for (int i = 0; i < {lanes}; i++) r[i] = {value};", "return r;"]


def _between(to: Type, source: Type) -> Type | None:
    """The type that a conversion passes through; None where it is one step."""
    if source.is_integer() and to.is_float():
        return Int(32, source.lanes()) if source.bits() < 32 else None
    if not (source.is_integer() and to.is_integer()):
        return None
    if to.bits() > 2 * source.bits():
        return source.with_bits(2 * source.bits())
    return to.with_bits(source.bits() // 2) if 2 * to.bits() < source.bits() else None
