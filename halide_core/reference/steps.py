"""Functions of floats as sequences of steps, each an operation that every machine does alike.

In: a Python function on ``Step``s, run once. Out: the steps that it took, from which C is made, for single values and
for vectors, and a function of Python floats: the three give the same bits, because they are the same operations.

    trace(lambda x: x * x + 1.0, 1)    ->    MUL(x, x), CONST(1), ADD(…, …)

The kinds of values: float32, float64, words of 32 bits (unsigned, they wrap), and truth. Every operation rounds
once, and is fused with another only where ``fused`` says so. ``min(a, b)`` is ``a < b ? a : b``: a number as ``a`` lets
NaN through.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from ctypes import c_float
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from halide_core.errors import InternalError
from halide_core.ir.types import Float
from halide_core.reference.fma import fused_product


class StepType(Enum):
    """The type of a step's value."""

    F32 = "f32"
    F64 = "f64"
    WORD = "u32"
    TRUTH = "truth"


class Op(Enum):
    """An operation; the value is its form in Python and in C where these are the same."""

    ARGUMENT = ""
    CONST = "c"
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    FMA = "fma"
    """``a*b + c`` of float32, rounded once."""
    SQRT = "sqrt"
    MIN = "min"
    MAX = "max"
    LT = "<"
    LE = "<="
    EQ = "=="
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"
    SHR = "signed >>"
    """Brings in the sign."""
    SELECT = "select"
    BITS = "bits"
    REAL = "real"
    """The float32 of a word's bits."""
    WIDEN = "widen"
    NARROW = "narrow"
    LOOKUP = "lookup"
    """The float32 at a place of a table of eight, which fit a register."""
    LIBRARY = "library"
    """The C library's function of float64, rounded, where a condition doesn't hold: for arguments that hardly come."""


class Lookup(NamedTuple):
    """A table of float32s; its name is that of the function in C."""

    name: str
    values: tuple[float, ...]


@dataclass(eq=False, slots=True)
class Step:
    """The value of one operation."""

    op: Op
    kind: StepType
    args: tuple[Step, ...] = ()
    constant: float | int | str | Lookup = 0

    def __add__(self, other: Step | float) -> Step:
        return _binary(Op.ADD, self, other)

    def __radd__(self, other: float) -> Step:
        return _binary(Op.ADD, _constant(other, self.kind), self)

    def __sub__(self, other: Step | float) -> Step:
        return _binary(Op.SUB, self, other)

    def __rsub__(self, other: float) -> Step:
        return _binary(Op.SUB, _constant(other, self.kind), self)

    def __mul__(self, other: Step | float) -> Step:
        return _binary(Op.MUL, self, other)

    def __truediv__(self, other: Step | float) -> Step:
        return _binary(Op.DIV, self, other)

    def __rtruediv__(self, other: float) -> Step:
        return _binary(Op.DIV, _constant(other, self.kind), self)

    def __lt__(self, other: Step | float) -> Step:
        return _binary(Op.LT, self, other, StepType.TRUTH)

    def __le__(self, other: Step | float) -> Step:
        return _binary(Op.LE, self, other, StepType.TRUTH)

    def __gt__(self, other: Step | float) -> Step:
        return (other if isinstance(other, Step) else _constant(other, self.kind)) < self

    def __ge__(self, other: Step | float) -> Step:
        return (other if isinstance(other, Step) else _constant(other, self.kind)) <= self

    def equals(self, other: Step | float) -> Step:
        """A comparison."""
        return _binary(Op.EQ, self, other, StepType.TRUTH)

    def __and__(self, other: Step | int) -> Step:
        return _binary(Op.AND, self, other)

    def __or__(self, other: Step | int) -> Step:
        return _binary(Op.OR, self, other)

    def __xor__(self, other: Step | int) -> Step:
        return _binary(Op.XOR, self, other)

    def __lshift__(self, count: int) -> Step:
        return Step(Op.SHL, StepType.WORD, (self,), count)

    def __rshift__(self, count: int) -> Step:
        return Step(Op.SHR, StepType.WORD, (self,), count)


def _constant(value: float, kind: StepType) -> Step:
    if kind is StepType.F32 and not math.isnan(value) and c_float(value).value != value:
        raise InternalError(f"{value!r} is no float32.")
    return Step(Op.CONST, kind, (), int(value) & 0xFFFFFFFF if kind is StepType.WORD else float(value))


def _binary(op: Op, a: Step, b: Step | float, kind: StepType | None = None) -> Step:
    second = b if isinstance(b, Step) else _constant(b, a.kind)
    if second.kind is not a.kind:
        raise InternalError(f"{op.name} of {a.kind.value} and {second.kind.value}.")
    return Step(op, kind or a.kind, (a, second))


def least(bound: float, x: Step) -> Step:
    """The lesser of a constant and a value; NaN stays."""
    return _binary(Op.MIN, _constant(bound, x.kind), x)


def greatest(bound: float, x: Step) -> Step:
    """The greater of a constant and a value; NaN stays."""
    return _binary(Op.MAX, _constant(bound, x.kind), x)


def lesser_of(a: Step, b: Step) -> Step:
    """``a < b ? a : b``."""
    return _binary(Op.MIN, a, b)


def greater_of(a: Step, b: Step) -> Step:
    """``a > b ? a : b``."""
    return _binary(Op.MAX, a, b)


def fused(a: Step, b: Step | float, c: Step | float) -> Step:
    """``a*b + c`` of float32, rounded once."""
    second, third = (v if isinstance(v, Step) else _constant(v, a.kind) for v in (b, c))
    return Step(Op.FMA, StepType.F32, (a, second, third))


def sqrt(x: Step) -> Step:
    """The square root."""
    return Step(Op.SQRT, x.kind, (x,))


def select(test: Step, a: Step | float, b: Step | float) -> Step:
    """``a`` where the test holds, else ``b``; of float32 or words, at least one of them a step's or both float32."""
    kind = a.kind if isinstance(a, Step) else b.kind if isinstance(b, Step) else StepType.F32
    x, y = (v if isinstance(v, Step) else _constant(v, kind) for v in (a, b))
    if kind is StepType.F64 or x.kind is not y.kind:
        raise InternalError(f"A choice between {x.kind.value} and {y.kind.value}.")
    return Step(Op.SELECT, kind, (test, x, y))


def bits(x: Step) -> Step:
    """The bits of a float32; which, where that is NaN, nobody may rely on."""
    return Step(Op.BITS, StepType.WORD, (x,))


def real(word: Step) -> Step:
    """The float32 of some bits."""
    return Step(Op.REAL, StepType.F32, (word,))


def widen(x: Step) -> Step:
    """A float32 as a float64."""
    return Step(Op.WIDEN, StepType.F64, (x,))


def narrow(x: Step) -> Step:
    """A float64, rounded to a float32."""
    return Step(Op.NARROW, StepType.F32, (x,))


def lookup(table: Lookup, at: Step) -> Step:
    """The float32 at a place, a word that is less than the table's length."""
    return Step(Op.LOOKUP, StepType.F32, (at,), table)


def unless(test: Step, value: Step, name: str, *args: Step) -> Step:
    """``value`` where the test holds, else what the C library says, see ``Op.LIBRARY``."""
    return Step(Op.LIBRARY, StepType.F32, (test, value, *args), name)


def horner(x: Step, coefficients: Sequence[float]) -> Step:
    """A polynomial; the coefficients of lower powers come first. In float32 its steps are fused."""
    total = _constant(coefficients[-1], x.kind)
    for c in reversed(coefficients[:-1]):
        total = fused(x, total, c) if x.kind is StepType.F32 else x * total + c
    return total


# ---------------------------------------------------------------------------------------------------------
# What was traced.


@dataclass(frozen=True)
class Tape:
    """The steps of a function of float32s, each after those it uses; the last one is the result."""

    arguments: tuple[Step, ...]
    steps: tuple[Step, ...] = field(repr=False)


def trace(function: Callable[..., Step], arity: int) -> Tape:
    """Runs a function on arguments that only record."""
    arguments = tuple(Step(Op.ARGUMENT, StepType.F32) for _ in range(arity))
    found: dict[Step, None] = {}

    def visit(step: Step) -> None:
        if step not in found:
            for a in step.args:
                visit(a)
            found[step] = None

    visit(function(*arguments))
    return Tape(arguments, tuple(s for s in found if s.op is not Op.ARGUMENT))


_PYTHON: dict[Op, str] = {
    Op.LT: "{0} < {1}",
    Op.LE: "{0} <= {1}",
    Op.EQ: "{0} == {1}",
    Op.AND: "{0} & {1}",
    Op.OR: "{0} | {1}",
    Op.XOR: "{0} ^ {1}",
    Op.SHL: "{0} << {c} & 0xFFFFFFFF",
    Op.SHR: "(({0} ^ 0x80000000) - 0x80000000 >> {c}) & 0xFFFFFFFF",
    Op.SELECT: "{1} if {0} else {2}",
    Op.MIN: "{0} if {0} < {1} else {1}",
    Op.MAX: "{0} if {0} > {1} else {1}",
    Op.ADD: "{0} + {1}",
    Op.SUB: "{0} - {1}",
    Op.MUL: "{0} * {1}",
    Op.DIV: "quotient({0}, {1})",
    Op.FMA: "fma({0}, {1}, {2})",
    Op.SQRT: "root({0})",
    Op.BITS: "word({0})",
    Op.REAL: "number({0})",
    Op.WIDEN: "{0}",
    Op.NARROW: "single({0}).value",
    Op.LOOKUP: "{c.values}[{0}]",
}
_ROUNDED = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.SQRT)
_CHANGING = (Op.ADD, Op.SUB)


def _quotient(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _root(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


def _word(a: float) -> int:
    found: int = struct.unpack("<I", struct.pack("<f", a))[0]
    return found


def _number(a: int) -> float:
    found: float = struct.unpack("<f", struct.pack("<I", a))[0]
    return found


def reference(traced: Tape, of_library: Callable[[str], Callable[..., float]]) -> Callable[..., float]:
    """The function on Python floats that are float32s; ``of_library`` gives the C library's functions."""
    names = {step: f"x{i}" for i, step in enumerate(traced.arguments)}
    space: dict[str, Any] = {"single": c_float, "fma": fused_product(Float(32)), "quotient": _quotient}
    space |= {"root": _root, "word": _word, "number": _number}
    lines = [f"def function({', '.join(names.values())}):"]
    for i, step in enumerate(traced.steps):
        a = [names[s] for s in step.args]
        names[step] = f"t{i}"
        if step.op is Op.CONST:
            space[f"t{i}"] = step.constant
            continue
        if step.op is Op.LIBRARY:
            space[f"f{i}"] = of_library(str(step.constant))
            text = f"{a[1]} if {a[0]} else single(f{i}({', '.join(a[2:])})).value"
        else:
            text = _PYTHON[step.op].format(*a, c=step.constant)
        if step.op in _ROUNDED and step.kind is StepType.F32:
            text = f"single({text}).value"
        elif step.op in _CHANGING and step.kind is StepType.WORD:
            text = f"({text}) & 0xFFFFFFFF"
        lines.append(f"    t{i} = {text}")
    lines.append(f"    return {names[traced.steps[-1]]}")
    exec("\n".join(lines), space)  # noqa: S102  # its own text
    made: Callable[..., float] = space["function"]
    return made
