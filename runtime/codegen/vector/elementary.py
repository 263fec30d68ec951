"""The elementary functions in C: of float32 their steps (``halide_core.reference.elementary``), for single values and
for lanes.

In: a function and a type. Out: the name of a function of the prelude, which does what the reference does.

    elementary(prelude, EXP, Float(32, 16))   ->   "exp_f32x16"

Of many lanes, float64 values are two vectors, of half of the lanes each. Functions of float64 are the C library's, but
for tanh, under names that the compiler doesn't know: it would compute those of constants by itself, and more exactly,
and ``pow(x, 2)`` as a product.
"""

from __future__ import annotations

import math

from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.reference.elementary import steps_of
from halide_core.reference.hyperbolic import ONE_FROM
from halide_core.reference.steps import Lookup, Op, Step, StepType, Tape
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.fma import fused_product
from halide_core.runtime.codegen.vector.prelude import Prelude, either, mask_type
from halide_core.runtime.codegen.vector.scalar_bodies import float_literal
from halide_core.runtime.codegen.vector.x86_builtins import DEFINITION

_ELEMENTS = {StepType.F32: Float(32), StepType.F64: Float(64), StepType.WORD: UInt(32)}
_INFIX = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.AND, Op.OR, Op.XOR, Op.LT, Op.LE, Op.EQ)
_COMPARISONS = (Op.LT, Op.LE, Op.EQ)
_EXTREMES = {Op.MIN: BinaryOp.MIN, Op.MAX: BinaryOp.MAX}
_WHOLE = 4
"""So many float64s are one vector, where a register has as many and where two have (pow takes 0.63 of the time with
AVX2). Twice as many are where registers are as long."""
_ALL = {
    4: ("movmskps", "__builtin_ia32_movmskps(({float})m) == 15"),
    8: ("movmskps256", "__builtin_ia32_movmskps256(({float})m) == 255"),
    16: ("ptestmd512", "__builtin_ia32_ptestmd512((v16si)m, (v16si)m, -1) == 65535"),
}
"""Instructions that tell whether all lanes of a mask are set."""
_PICKED = {
    4: ("si256_si", "__builtin_ia32_ps_ps256(__builtin_ia32_permvarsf256(all, __builtin_ia32_si256_si({at})))"),
    8: ("permvarsf256", "__builtin_ia32_permvarsf256(all, {at})"),
    16: ("permvarsf512_mask", "__builtin_ia32_permvarsf512_mask(all, {at}, all, -1)"),
}
"""Instructions that pick lanes of a register, in which a table of eight is once or twice."""


def elementary(prelude: Prelude, function: Intrinsic, type: Type) -> str | None:
    """The name of the C function; None of one that is a single operation."""
    traced = steps_of(function)
    if traced is None or not type.is_float():
        return None
    if type.bits() == 64:
        return _of_float64(prelude, function, len(traced.arguments), type)
    lanes = type.lanes()

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        names = "ab"[: len(traced.arguments)]
        lines = _Body(prelude, lanes, 1 if lanes <= _WHOLE else 2).lines(traced, names)
        if lanes == 2 * _WHOLE and any(step.kind is StepType.F64 for step in traced.steps):
            lines = either("defined(__AVX512F__)", _Body(prelude, lanes, 1).lines(traced, names), lines)
        return c, ", ".join(f"{c} {name}" for name in names), lines

    return prelude.define(f"{function.value}_{tag(type)}", head)


def _of_float64(prelude: Prelude, function: Intrinsic, arity: int, type: Type) -> str:
    """The function of float64, lane by lane."""
    name, parameters = function.value, "ab"[:arity]
    if function is Intrinsic.TANH:
        one = _hyperbolic_tangent(prelude)
    else:
        library, given = _library_function(prelude, name, arity), ", ".join(f"double {p}" for p in parameters)
        hidden = [f"UNKNOWN({p});" for p in parameters]
        one = prelude.define(
            f"{name}_f64", lambda: ("double", given, [*hidden, f"return {library}({', '.join(parameters)});"])
        )
    if type.is_scalar():
        return one
    c, call = prelude.type(type), f"{one}({', '.join(f'{p}[i]' for p in parameters)})"
    loop = f"for (int i = 0; i < {type.lanes()}; i++) r[i] = {call};"
    return prelude.define(
        f"{name}_{tag(type)}", lambda: (c, ", ".join(f"{c} {p}" for p in parameters), [f"{c} r;", loop, "return r;"])
    )


def _library_function(prelude: Prelude, name: str, arity: int) -> str:
    """The C library's function of float64."""
    prelude.typedef("LIBRARY", resource("library.h"))
    declared = f"double {name}_library({', '.join(['double'] * arity)}) LIBRARY({name}) __attribute__((const));\n"
    return prelude.typedef(f"{name}_library", f"extern {declared}")


def _hyperbolic_tangent(prelude: Prelude) -> str:
    """The same as ``halide_core.reference.hyperbolic``, in C."""
    expm1, fused = _library_function(prelude, "expm1", 1), fused_product(prelude, Float(64))
    lines = [
        "if (a != a) return a;",
        "double u = __builtin_fabs(a);",
        f"u = 2 * (u < {ONE_FROM} ? u : {ONE_FROM});",
        "UNKNOWN(u);",
        f"const double t = {expm1}(u), below = t + 2;",
        "const double lost = t > 2 ? (t - below) + 2 : (2 - below) + t, quotient = t / below;",
        f"const double rest = {fused}(-quotient, below, t) - quotient * lost;",
        "return __builtin_copysign(quotient + rest / below, a);",
    ]
    return prelude.define("tanh_f64", lambda: ("double", "double a", lines))


class _Body:
    """The lines of one function. Each value has a name, or several: float64s of many lanes are in two vectors."""

    def __init__(self, prelude: Prelude, lanes: int, halves: int) -> None:
        self._prelude, self._lanes, self._halves = prelude, lanes, halves

    def lines(self, traced: Tape, names: str) -> list[str]:
        """One line for each step and part."""
        known: dict[Step, list[str]] = {s: [n] for s, n in zip(traced.arguments, names, strict=True)}
        found: list[str] = []
        for i, step in enumerate(traced.steps):
            parts = self._parts(step)
            known[step] = [f"t{i}{'hl'[k] if parts > 1 else ''}" for k in range(parts)]
            for k, name in enumerate(known[step]):
                value = self._value(step, k, [known[a] for a in step.args])
                found.append(f"const {self._type(step.kind)} {name} = {value};")
        return [*found, f"return {known[traced.steps[-1]][0]};"]

    def _parts(self, step: Step) -> int:
        return self._halves if step.kind is StepType.F64 else 1

    def _of(self, kind: StepType) -> Type:
        return _ELEMENTS[kind].with_lanes(self._lanes // (self._halves if kind is StepType.F64 else 1))

    def _type(self, kind: StepType) -> str:
        if kind is not StepType.TRUTH:
            return self._prelude.type(self._of(kind))
        return "bool" if self._lanes == 1 else self._prelude.type(mask_type(32, self._lanes))

    def _value(self, step: Step, part: int, args: list[list[str]]) -> str:
        op, vector = step.op, self._lanes > 1
        a = [names[min(part, len(names) - 1)] for names in args]
        if op is Op.CONST:
            literal = _literal(step)
            return f"{self._prelude.splat(self._of(step.kind))}({literal})" if vector else literal
        if op in _INFIX:
            text = f"{a[0]} {op.value} {a[1]}"
            return f"({self._type(StepType.TRUTH)})({text})" if op in _COMPARISONS and vector else text
        if op in _EXTREMES:
            return f"{self._prelude.binary(_EXTREMES[op], self._of(step.kind))}({a[0]}, {a[1]})"
        match op:
            case Op.FMA:
                return f"{fused_product(self._prelude, self._of(step.kind))}({', '.join(a)})"
            case Op.SELECT if vector:
                return f"{self._prelude.select(self._of(step.kind))}({', '.join(a)})"
            case Op.SELECT:
                return f"{a[0]} ? {a[1]} : {a[2]}"
            case Op.SHL:
                return f"{a[0]} << {step.constant}"
            case Op.SHR:
                signed = self._prelude.type(mask_type(32, self._lanes)) if vector else "int32_t"
                return f"({self._type(StepType.WORD)})(({signed}){a[0]} >> {step.constant})"
            case Op.SQRT:
                return f"{self._prelude.math(Intrinsic.SQRT, self._of(step.kind))}({a[0]})"
            case Op.LOOKUP:
                assert isinstance(step.constant, Lookup)
                return self._lookup(step.constant, a[0])
            case Op.LIBRARY:
                return f"{self._library(Intrinsic(str(step.constant)), len(a) - 2)}({', '.join(a)})"
        return self._converted(step, part, a, args)

    def _lookup(self, table: Lookup, at: str) -> str:
        values = ", ".join(float_literal(v, Float(32)) for v in table.values)
        memory = f"static const float {table.name}[{len(table.values)}] = {{{values}}};\n"
        name = self._prelude.typedef(table.name, memory)
        return f"{name}[{at}]" if self._lanes == 1 else f"{self._pick(self._lanes)}({name}, {at})"

    def _pick(self, lanes: int) -> str:
        """``f(table, at)``: what is at places of eight floats."""
        prelude, real, word = self._prelude, Float(32, lanes), UInt(32, lanes)
        c = prelude.type(real)

        def lines() -> list[str]:
            generic = [f"{c} r;", f"for (int i = 0; i < {lanes}; i++) r[i] = table[at[i]];", "return r;"]
            if lanes > 4 and lanes % 2 == 0:
                half = word.with_lanes(lanes // 2)
                places = [f"{prelude.slice(word, half, k)}(at)" for k in (0, half.lanes())]
                parts = [f"{self._pick(half.lanes())}(table, {place})" for place in places]
                generic = [f"return {self._join(real.with_lanes(half.lanes()))}({', '.join(parts)});"]
            if lanes not in _PICKED:
                return generic
            needed, call = _PICKED[lanes]
            prelude.typedef("__has_builtin", DEFINITION)
            eight = Float(32, 8)
            whole = f"{prelude.load(eight)}(table)"
            whole = f"{self._join(eight)}({whole}, {whole})" if lanes > 8 else whole
            taken = [
                f"const {prelude.type(eight.with_lanes(max(lanes, 8)))} all = {whole};",
                f"return {call.format(at=f'({prelude.type(Int(32, lanes))})at')};",
            ]
            return either(f"__has_builtin(__builtin_ia32_{needed})", taken, generic)

        return prelude.define(f"pick_{tag(real)}", lambda: (c, f"const float *table, {prelude.type(word)} at", lines()))

    def _converted(self, step: Step, part: int, a: list[str], args: list[list[str]]) -> str:
        """BITS, REAL, WIDEN and NARROW."""
        prelude, narrow, wide = self._prelude, self._of(StepType.F32), self._of(StepType.F64)
        if self._lanes == 1:
            match step.op:
                case Op.BITS:
                    return f"((const union {{ float real; uint32_t word; }}){{{a[0]}}}).word"
                case Op.REAL:
                    return f"((const union {{ uint32_t word; float real; }}){{{a[0]}}}).real"
            return f"({self._type(step.kind)}){a[0]}"
        if step.op in (Op.BITS, Op.REAL):
            return f"({self._type(step.kind)}){a[0]}"
        some = narrow.with_lanes(wide.lanes())
        if step.op is Op.WIDEN:
            value = a[0] if some is narrow else f"{prelude.slice(narrow, some, part * some.lanes())}({a[0]})"
            return f"{prelude.convert(wide, some)}({value})"
        values = [f"{prelude.convert(some, wide)}({name})" for name in args[0]]
        return values[0] if len(values) == 1 else f"{self._join(some)}({', '.join(values)})"

    def _join(self, half: Type) -> str:
        """``f(a, b)``: the lanes of a, then those of b."""
        whole, c = half.with_lanes(2 * half.lanes()), self._prelude.type(half)
        order = ", ".join(map(str, range(whole.lanes())))
        body = [f"return __builtin_shufflevector(a, b, {order});"]
        return self._prelude.define(f"join_{tag(whole)}", lambda: (self._prelude.type(whole), f"{c} a, {c} b", body))

    def _library(self, function: Intrinsic, arity: int) -> str:
        """``f(usual, value, a, …)``: the library's function where it is not usual, else the value."""
        c, test, lanes, names = self._type(StepType.F32), self._type(StepType.TRUTH), self._lanes, "ab"[:arity]
        one = _of_float64(self._prelude, function, arity, Float(64))
        parameters = ", ".join((f"{test} usual, {c} value", *(f"{c} {name}" for name in names)))
        at = "" if lanes == 1 else "[i]"
        call = f"(float){one}({', '.join(f'(double){name}{at}' for name in names)})"
        if lanes == 1:
            body = [f"return usual ? value : {call};"]
        else:
            rare = self._rare(function, names, call)
            copies = ", ".join(f"x{name} = {name}" for name in names)
            given = ", ".join(f"&x{name}" for name in names)
            body = [
                f"if ({self._all()}(usual)) return value;",
                f"const {test} few = usual;",
                f"const {c} {copies};",
                f"{c} found = value;",
                f"{rare}(&few, &found, {given});",
                "return found;",
            ]
        name = f"library_{function.value}_{tag(self._of(StepType.F32))}"
        return self._prelude.define(name, lambda: (c, parameters, body))

    def _rare(self, function: Intrinsic, names: str, call: str) -> str:
        """``f(usual, value, a, …)`` for lanes that are not usual. It is hardly ever called: there is one of it, and it
        takes pointers, as compilers don't agree on how vectors are passed."""
        c, test, real = self._type(StepType.F32), self._type(StepType.TRUTH), self._of(StepType.F32)
        name = f"rare_{function.value}_{tag(real)}"
        given = ", ".join(f"const {c} *p{n}" for n in names)
        copies = ", ".join(f"{n} = *p{n}" for n in names)
        text = f"""\
static __attribute__((noinline, cold, unused)) void {name}(const {test} *usual, {c} *value, {given}) {{
    const {c} {copies};
    for (int i = 0; i < {self._lanes}; i++) if (!(*usual)[i]) (*value)[i] = {call};
}}
"""
        return self._prelude.typedef(name, text)

    def _all(self) -> str:
        """``f(m)``: whether all lanes of a mask are set."""
        lanes, mask = self._lanes, self._type(StepType.TRUTH)
        generic = ["bool all = true;", f"for (int i = 0; i < {lanes}; i++) all &= m[i] != 0;", "return all;"]
        body = generic
        if lanes in _ALL:
            self._prelude.typedef("__has_builtin", DEFINITION)
            builtin, text = _ALL[lanes]
            if lanes == 16:
                self._prelude.typedef("v16si", "typedef int v16si __attribute__((vector_size(64), may_alias));\n")
            taken = f"return {text.format(float=self._type(StepType.F32))};"
            body = [f"#if __has_builtin(__builtin_ia32_{builtin})", taken, "#else", *generic, "#endif"]
        return self._prelude.define(f"all_{tag(mask_type(32, lanes))}", lambda: ("bool", f"{mask} m", body))


def _literal(step: Step) -> str:
    if step.kind is StepType.WORD:
        return f"{step.constant:#x}u"
    suffix = "f" if step.kind is StepType.F32 else ""
    assert not isinstance(step.constant, Lookup)
    value = float(step.constant)
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    return float_literal(value, _ELEMENTS[step.kind])
