"""One C signature for every pipeline, so that loading one needs no declaration of its own.

In: a pipeline's name and arguments. Out: C text of a function that takes pointers to the arguments, and a declaration
that hides the pipeline itself from everything else in the process.

    int halide_core_entry(void **a) { …; return blur((halide_buffer_t *)a[0], *(const float *)a[1], …); }
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.ir.types import Type
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.names import RUNTIME_INCLUDES, Names, symbol
from halide_core.runtime.codegen.prologue import parameters

ENTRY = "halide_core_entry"


def emit_hiding(name: str, arguments: Sequence[Argument]) -> str:
    """A declaration of the pipeline's function that stands before its own text and gives it another symbol.

    Else the entry of a Func called "free" or "y1" would call libc's or libm's, which is found first. The compiler
    may know a function of that name and type too, and warn; that is of no concern here.
    """
    plain = f"int {symbol(name)}({parameters(arguments, Names())})"
    return (
        f"{RUNTIME_INCLUDES}"
        f'{plain} __asm__("halide_core_pipeline") __attribute__((visibility("hidden")));\n\n'
    )


def emit_entry(name: str, arguments: Sequence[Argument]) -> str:
    """The function, to be appended to the pipeline's own translation unit. It enters the run that was begun and leaves
    it, whatever becomes of it: a SIGINT that comes later must end nothing else."""
    call = _call(symbol(name), arguments)
    entered = "    const volatile int *const halide_core_around = halide_core_enter_run();\n"
    return _function(ENTRY, f"{entered}    return halide_core_leave_run(halide_core_around, {call});\n")


def emit_argv(entry: str, function: str, arguments: Sequence[Argument], *, context: bool = False) -> str:
    """A function that takes pointers to what another one takes: first of all to a context, where that takes one."""
    first = ["*(const void *const *)_arguments[0]"] if context else []
    return _function(entry, f"    return {_call(function, arguments, first)};\n")


def _function(entry: str, body: str) -> str:
    head = f"int {entry}(void **_arguments)"
    return f"\n{head};\n{head} {{\n{body}}}\n"


def _call(function: str, arguments: Sequence[Argument], first: Sequence[str] = ()) -> str:
    passed = [*first, *(_passed(argument, i) for i, argument in enumerate(arguments, start=len(first)))]
    inside = ",\n        ".join(passed)
    return f"{function}(\n        {inside})"


def _passed(argument: Argument, position: int) -> str:
    if argument.kind is not ArgumentKind.InputScalar:
        return f"(halide_buffer_t *)_arguments[{position}]"
    if argument.type.is_handle():
        return f"*(void *const *)_arguments[{position}]"
    return f"*(const {_scalar(argument.type)} *)_arguments[{position}]"


def _scalar(type: Type) -> str:
    if type.is_narrow_float():
        return "uint16_t"
    if type.is_float():
        return "float" if type.bits() == 32 else "double"
    if type.is_bool():
        return "uint8_t"
    return f"{'int' if type.is_int() else 'uint'}{type.bits()}_t"
