"""One C signature for every pipeline, so that loading one needs no declaration of its own.

In: a pipeline's name and arguments. Out: C text of a function that takes pointers to the arguments.

    int halide_core_entry(void **a) { return blur((halide_buffer_t *)a[0], *(const float *)a[1], …); }
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.backend import Argument, ArgumentKind
from halide_core.types import Type
from runtime.c_names import symbol

ENTRY = "halide_core_entry"


def emit_entry(name: str, arguments: Sequence[Argument]) -> str:
    """The function, to be appended to the pipeline's own translation unit."""
    passed = [_passed(argument, i) for i, argument in enumerate(arguments)]
    inside = ",\n        ".join(passed)
    head = f"int {ENTRY}(void **arguments)"
    return f"\n{head};\n{head} {{\n    return {symbol(name)}(\n        {inside});\n}}\n"


def _passed(argument: Argument, position: int) -> str:
    if argument.kind is not ArgumentKind.InputScalar:
        return f"(halide_buffer_t *)arguments[{position}]"
    return f"*(const {_scalar(argument.type)} *)arguments[{position}]"


def _scalar(type: Type) -> str:
    if type.is_float():
        return "float" if type.bits() == 32 else "double"
    if type.is_bool():
        return "uint8_t"
    return f"{'int' if type.is_int() else 'uint'}{type.bits()}_t"
