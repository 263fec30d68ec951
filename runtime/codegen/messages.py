"""Values in texts that C shows: the messages of failed checks, and what a pipeline prints.

In: a value of a type, as C text. Out: the conversion of ``printf``, and the argument for it.

    conversion_of(Float(32), x)   ->   "%.9g", (double)x
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import string
from halide_core.runtime.codegen.text import UNARY, Text


def conversion_of(type: Type, value: Text) -> tuple[str, str]:
    """How a value is shown in full."""
    if type.is_bool():
        return "%s", f'{value.at(UNARY)} ? "true" : "false"'
    if type.is_float():
        return f"%.{9 if type.bits() == 32 else 17}g", f"(double){value.at(UNARY)}"
    if type.is_uint():
        return "%llu", f"(unsigned long long){value.at(UNARY)}"
    return "%lld", f"(long long){value.at(UNARY)}"


def printed(e: ir.Print, operands: Sequence[Text]) -> list[str]:
    """The C lines that print a message, floats as Halide shows them; ``operands`` are those of the node."""
    _, condition, *values = operands
    rest = iter(values)
    form, arguments = [], []
    for part in e.message:
        if isinstance(part, str):
            form.append(part.replace("%", "%%"))
            continue
        conversion, argument = conversion_of(part.type, next(rest))
        form.append(("%f" if part.type.bits() == 32 else "%e") if part.type.is_float() else conversion)
        arguments.append(argument)
    call = f"halide_core_print({', '.join([string(''.join(form)), *arguments])});"
    return [call if e.condition is ir.TRUE else f"if ({condition.text}) {call}"]
