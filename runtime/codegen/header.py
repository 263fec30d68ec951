"""The header of pipelines, for C and C++.

In: their names and their arguments. Out: the text of a header file.

    emit_header([("blur", …)])   ->   int blur(halide_buffer_t *in, halide_buffer_t *out);
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.run.backend import Argument
from halide_core.runtime.codegen.names import Names, symbol
from halide_core.runtime.codegen.prologue import banner, parameters


def emit_header(functions: Iterable[tuple[str, Iterable[Argument]]]) -> str:
    """The C and C++ header that declares pipelines, each with its ``_argv`` and its ``_metadata``."""
    given = [(name, tuple(arguments)) for name, arguments in functions]
    guard = f"HALIDE_CORE_PIPELINE_{symbol(given[0][0]).upper()}_H"
    return (
        f"{''.join(banner(name, arguments) for name, arguments in given)}#ifndef {guard}\n#define {guard}\n\n"
        "#include <stdbool.h>\n#include <stdint.h>\n"
        '#include "halide_runtime.h"\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
        "/* Return 0, or a halide_core_error_code; halide_core_last_error() tells more. */\n"
        f"{''.join(_declared(name, arguments) for name, arguments in given)}\n"
        f"#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n"
    )


def _declared(name: str, arguments: Iterable[Argument]) -> str:
    function, names = symbol(name), Names()
    names.reserve(function)
    return (
        f"int {function}({parameters(arguments, names)});\nint {function}_argv(void **arguments);\n"
        f"const struct halide_filter_metadata_t *{function}_metadata(void);\n"
    )
