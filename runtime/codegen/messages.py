"""Values in texts that C shows: the messages of failed checks, and what a pipeline prints.

In: a value of a type, as C text. Out: the conversion of ``printf``, and the argument for it.

    conversion_of(Float(32), x)   ->   "%.9g", (double)x
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import scalar, string
from halide_core.runtime.codegen.text import UNARY, Text


def conversion_of(type: Type, value: Text) -> tuple[str, str]:
    """The format and the argument that show a value in full."""
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
    call = _event(e, values) if isinstance(e, ir.Event) else _line(e, values)
    return [call if e.condition is ir.TRUE else f"if ({condition.text}) {call}"]


def _line(e: ir.Print, values: Sequence[Text]) -> str:
    rest = iter(values)
    form, arguments = [], []
    for part in e.message:
        if isinstance(part, str):
            form.append(part.replace("%", "%%"))
            continue
        conversion, argument = conversion_of(part.type, next(rest))
        form.append(("%f" if part.type.bits() == 32 else "%e") if part.type.is_float() else conversion)
        arguments.append(argument)
    return f"halide_core_print({', '.join([string(''.join(form)), *arguments])});"


def _event(e: ir.Event, values: Sequence[Text]) -> str:
    """The call that tells of an event of a trace."""
    types = [m.type for m in e.message if isinstance(m, ir.ExprNode)]
    element, code, bits = "NULL", 0, 0
    places = list(values)
    if e.code in (ir.EventCode.LOAD, ir.EventCode.STORE):
        type, value = types[-1], places.pop()
        code, bits, element = int(type.code()), type.bits(), f"&({scalar(type)}){{{value.text}}}"
    point = ", ".join(f"(int32_t){p.at(UNARY)}" for p in places)
    at = f"(int32_t[]){{{point}}}" if places else "NULL"
    about = f"{e.code.value}, {string(e.name)}, {int(e.of_input)}, {e.component}, {code}, {bits}, {string(e.tag)}"
    return f"halide_core_trace({about}, {len(places)}, {at}, {element});"


SCOPE = (
    "struct halide_core_trace_scope *halide_core_traced __attribute__((cleanup(halide_core_leave_trace_scope))) = "
    "halide_core_trace_scope();"
)
"""The start of a function whose run is traced: however it ends, its events do."""
