"""Random expressions over the operands, as source texts.

In: a seed and a count. Out: that many sources, the same in every process and version of Python.

    random_expressions(1, 2)   ->   ["hl.min((a_u8 + b_i16), 7)", "(a_f32 * hl.f32(b_u8))"]

Four of five are well formed by family (integer, float, truth value), of any mix of widths; in the others any operand
may stand anywhere, so that errors are compared too. What Halide leaves undefined is left out: signed overflow of 32
and 64 bits is kept unlikely by small operands and few products, shift counts stay inside of the type, and floats are
clamped before they become integers.
"""

from __future__ import annotations

import random
from typing import Any

_INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
_SMALL = ("i8", "u8", "i16", "i32", "i64")
_FLOATS = ("f32", "f64")
_DEPTH = 3


class _Generator:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._wild = False

    def expression(self) -> str:
        self._wild = self._random.random() < 0.2
        return self._pick(self._integer, self._integer, self._float, self._truth)(self._random.randint(1, _DEPTH))

    def _pick(self, *choices: Any) -> Any:
        return choices[self._random.randrange(len(choices))]

    def _operand(self, types: tuple[str, ...]) -> str:
        return f"{self._pick('a', 'b')}_{self._pick(*types)}"

    def _sub(self, kind: str, depth: int) -> str:
        """A part of a family; of any in a wild expression."""
        if self._wild and self._random.random() < 0.35:
            kind = self._pick("integer", "float", "truth")
        make = {"integer": self._integer, "float": self._float, "truth": self._truth}[kind]
        return make(depth - 1)

    def _integer(self, depth: int) -> str:
        if depth <= 0:
            return self._operand(_INTEGERS) if self._random.random() < 0.75 else str(self._random.choice(_LITERALS))
        a, b = self._sub("integer", depth), self._sub("integer", depth)
        return self._pick(
            lambda: f"({a} + {b})",
            lambda: f"({a} - {b})",
            lambda: f"({self._operand(_SMALL)} * {self._operand(_SMALL)})",
            lambda: f"({a} / {b})",
            lambda: f"({a} // {b})",
            lambda: f"({a} % {b})",
            lambda: f"({a} {self._pick('&', '|', '^')} {b})",
            lambda: f"(hl.{(t := self._pick(*_INTEGERS))}({a}) {self._pick('&', '|', '^')} hl.{t}({b}))",
            lambda: f"(~{self._operand(_INTEGERS)})",
            lambda: f"(-{self._operand(_SMALL)})",
            lambda: f"({self._operand(_INTEGERS)} << {self._random.randint(0, 5)})",
            lambda: f"({self._operand(_INTEGERS)} >> {self._random.randint(0, 7)})",
            lambda: f"hl.min({a}, {b})",
            lambda: f"hl.max({a}, {b})",
            lambda: f"hl.select({self._sub('truth', depth)}, hl.{(t := self._pick(*_INTEGERS))}({a}), hl.{t}({b}))",
            lambda: f"hl.cast(hl.{self._pick('Int', 'UInt')}({self._pick(8, 16, 32, 64)}), {self._integer(depth - 1)})",
            lambda: f"hl.{self._pick(*_INTEGERS)}({self._integer(depth - 1)})",
            lambda: f"hl.{self._pick(*_INTEGERS)}_sat({self._integer(depth - 1)})",
            lambda: f"hl.i16(hl.clamp({self._sub('float', depth)}, -300.0, 300.0))",
            lambda: f"hl.abs({self._operand(_INTEGERS)})",
            lambda: f"hl.absd({a}, {b})",
            lambda: f"hl.clamp({self._operand(_INTEGERS)}, {self._pick(0, 3, 20)}, {self._pick(40, 77, 90)})",
            lambda: f"hl.mux(hl.i32({a}) % 3, [{self._operand(('i32',))}, hl.i32({self._integer(depth - 1)}), 7])",
            lambda: f"hl.lerp({self._operand(('u8',))}, {self._operand(('u8',))}, {self._operand(('u8', 'u16'))})",
        )()

    def _float(self, depth: int) -> str:
        if depth <= 0:
            return self._operand(_FLOATS) if self._random.random() < 0.75 else str(self._random.choice(_FLOAT_LITERALS))
        a, b = self._sub("float", depth), self._sub("float", depth)
        return self._pick(
            lambda: f"({a} + {b})",
            lambda: f"({a} - {b})",
            lambda: f"({a} * {b})",
            lambda: f"({a} / {self._operand(_FLOATS)})",
            lambda: f"({self._operand(_FLOATS)} // {self._operand(_FLOATS)})",
            lambda: f"({self._operand(_FLOATS)} % {self._operand(_FLOATS)})",
            lambda: f"(-{a})",
            lambda: f"hl.min({a}, {b})",
            lambda: f"hl.max({a}, {b})",
            lambda: f"hl.select({self._sub('truth', depth)}, hl.{(t := self._pick(*_FLOATS))}({a}), hl.{t}({b}))",
            lambda: f"hl.{self._pick(*_FLOATS)}({self._sub('integer', depth)})",
            lambda: f"({a} {self._pick('+', '*', '-')} {self._operand(('u8', 'i16', 'i32'))})",
            lambda: f"hl.{self._pick('floor', 'ceil', 'round', 'trunc', 'abs')}({a})",
            lambda: f"hl.sqrt(hl.abs({self._operand(_FLOATS)}))",
            lambda: f"hl.lerp({self._operand(('f32',))}, {self._operand(('f32',))}, {self._pick('0.25', '0.5')})",
            lambda: f"hl.{self._pick('sin', 'cos', 'atan', 'tanh')}({self._operand(_FLOATS)})",
            lambda: f"hl.absd({a}, {b})",
            lambda: f"({self._operand(_FLOATS)} ** {self._random.randint(0, 4)})",
        )()

    def _truth(self, depth: int) -> str:
        if depth <= 0:
            return self._operand(("bool",))
        compared = self._pick("==", "!=", "<", "<=", ">", ">=")
        kind = self._pick("integer", "integer", "float")
        return self._pick(
            lambda: f"({self._sub(kind, depth)} {compared} {self._sub(kind, depth)})",
            lambda: f"({self._sub(kind, depth)} {compared} {self._sub(kind, depth)})",
            lambda: f"({self._sub('truth', depth)} {self._pick('&', '|', '^')} {self._sub('truth', depth)})",
            lambda: f"(~{self._sub('truth', depth)})",
            lambda: f"hl.logical_not({self._sub('truth', depth)})",
        )()


_LITERALS = (0, 1, 2, 3, 7, 10, 100, 127)
_FLOAT_LITERALS = (0.5, 2.0, 1.5, -3.0, 10.0)


def random_expressions(seed: int, count: int) -> list[str]:
    """``count`` different sources that mention an operand."""
    generator, found = _Generator(seed), dict[str, None]()
    while len(found) < count:
        source = generator.expression()
        if "_" in source.replace("hl.", "") and len(source) < 240:
            found.setdefault(source)
    return list(found)
