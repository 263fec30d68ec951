"""Floats of 16 bits in C: their bits, a uint16_t, and functions that convert them from and to float32.

In: the two types. Out: the name of a function of the prelude, of scalars or of lanes alike.

    convert_narrow(prelude, Float(16, 8), Float(32, 8))   ->   "f16x8_from_f32x8"

Rounding is to the nearest, ties to even; what is too large becomes infinite, subnormal numbers are exact, and NaN is
the positive quiet one of no payload. Nothing here depends on the machine's own instructions for such types.
"""

from __future__ import annotations

from halide_core.errors import InternalError
from halide_core.ir.float16 import NAN
from halide_core.ir.types import Float, Type, UInt
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.prelude import Prelude, mask_type


def convert_narrow(prelude: Prelude, to: Type, source: Type) -> str:
    """``f(x)``: a float of 16 bits as a float32, or a float32 as one."""
    lanes = to.lanes()
    real = Float(32, lanes)
    if real not in (to, source):
        raise InternalError(f"The conversion of {source} to {to} reached the C emitter.")
    name = f"{tag(to)}_from_{tag(source)}"
    words = _Words(prelude, lanes)

    def head() -> tuple[str, str, list[str]]:
        if to is real:
            body = words.widened(source)
        else:
            body = words.from_bfloat(to) if to.is_bfloat() else words.from_half(to)
        return prelude.type(to), f"{prelude.type(source)} x", body

    return prelude.define(name, head)


def reinterpret_narrow(prelude: Prelude, to: Type, source: Type) -> str:
    """``f(x)``: the bits of a float of 16 bits as an integer, always the same of a NaN; or an integer's as a float."""
    words = _Words(prelude, to.lanes(), 16)

    def head() -> tuple[str, str, list[str]]:
        c, a = prelude.type(to), prelude.type(source)
        if not source.is_narrow_float():
            return c, f"{a} x", [f"return ({c})x;"]
        k, bfloat = words.constant, source.is_bfloat()
        size, most = f"(x & {k(0x7FFF)})", k(0x7F80 if bfloat else 0x7C00)
        return c, f"{a} x", [f"return ({c})({words.choose(f'{size} > {most}', k(NAN[bfloat]), 'x')});"]

    return prelude.define(f"bits_{tag(to)}_from_{tag(source)}", head)


class _Words:
    """C text about the bits of values, in lanes or alone."""

    def __init__(self, prelude: Prelude, lanes: int, bits: int = 32) -> None:
        self._prelude = prelude
        self._type = UInt(bits, lanes)
        self._real = Float(32, lanes)
        self.c = prelude.type(self._type)

    def constant(self, value: int) -> str:
        """A word, in every lane."""
        text = f"{value:#x}u"
        return f"{self._prelude.splat(self._type)}({text})" if self._type.is_vector() else text

    def choose(self, test: str, a: str, b: str) -> str:
        """One of two words."""
        if self._type.is_scalar():
            return f"{test} ? {a} : {b}"
        mask = self._prelude.type(mask_type(self._type.bits(), self._type.lanes()))
        return f"{self._prelude.select(self._type)}(({mask})({test}), {a}, {b})"

    def _bits(self, real: str) -> str:
        return f"{self._prelude.reinterpret(self._type, self._real)}({real})"

    def _float(self, word: str) -> str:
        return f"{self._prelude.reinterpret(self._real, self._type)}({word})"

    def _converted(self, value: str, to: Type) -> str:
        c = self._prelude.type(to)
        return f"__builtin_convertvector({value}, {c})" if to.is_vector() else f"({c})({value})"

    def widened(self, source: Type) -> list[str]:
        """The lines that make a float32 of ``x``."""
        k = self.constant
        start = f"const {self.c} h = {self._converted('x', self._type)};"
        if source.is_bfloat():
            return [start, f"return {self._float(f'h << {k(16)}')};"]
        tiny = f"{self._float(f'a + {k(0x38800000)}')} - {self._float(k(0x38800000))}"
        return [
            start,
            f"const {self.c} a = (h & {k(0x7FFF)}) << {k(13)}, exponent = h & {k(0x7C00)};",
            f"const {self.c} subnormal = {self._bits(tiny)};",
            f"const {self.c} most = {self.choose(f'exponent == {k(0x7C00)}', k(0x70000000), k(0x38000000))};",
            f"const {self.c} size = {self.choose(f'exponent == {k(0)}', 'subnormal', 'a + most')};",
            f"return {self._float(f'size | (h & {k(0x8000)}) << {k(16)}')};",
        ]

    def from_half(self, to: Type) -> list[str]:
        """The lines that round ``x`` to a float16. A sum with 0.5 rounds what is to be subnormal."""
        k = self.constant
        small = f"{self._float('a')} + {self._float(k(0x3F000000))}"
        return [
            f"const {self.c} w = {self._bits('x')}, a = w & {k(0x7FFFFFFF)}, b = a - {k(0x38000000)};",
            f"const {self.c} subnormal = {self._bits(small)} - {k(0x3F000000)};",
            f"const {self.c} normal = (b + {k(0xFFF)} + (b >> {k(13)} & {k(1)})) >> {k(13)};",
            f"const {self.c} number = {self.choose(f'a < {k(0x38800000)}', 'subnormal', 'normal')};",
            f"const {self.c} size = {self.choose(f'a >= {k(0x47800000)}', k(0x7C00), 'number')};",
            f"const {self.c} signed_size = size | (w >> {k(16)} & {k(0x8000)});",
            f"const {self.c} r = {self.choose(f'a > {k(0x7F800000)}', k(NAN[False]), 'signed_size')};",
            f"return {self._converted('r', to)};",
        ]

    def from_bfloat(self, to: Type) -> list[str]:
        """The lines that round ``x`` to a bfloat16."""
        k = self.constant
        return [
            f"const {self.c} w = {self._bits('x')};",
            f"const {self.c} near = (w + {k(0x7FFF)} + (w >> {k(16)} & {k(1)})) >> {k(16)};",
            f"const {self.c} r = {self.choose(f'(w & {k(0x7FFFFFFF)}) > {k(0x7F800000)}', k(NAN[True]), 'near')};",
            f"return {self._converted('r', to)};",
        ]
