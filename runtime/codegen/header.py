"""The header of a pipeline, for C and C++.

In: its name and its arguments. Out: the text of a header file.

    emit_header("blur", …)   ->   int blur(halide_buffer_t *in, halide_buffer_t *out);
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.run.backend import Argument
from halide_core.runtime.codegen.names import Names, symbol
from halide_core.runtime.codegen.prologue import banner, parameters


def emit_header(name: str, arguments: Iterable[Argument]) -> str:
    """The C and C++ header that declares pipeline ``name``."""
    given, function = tuple(arguments), symbol(name)
    names = Names()
    names.reserve(function)
    guard = f"HALIDE_CORE_PIPELINE_{function.upper()}_H"
    return (
        f"{banner(name, given)}#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stdint.h>\n"
        f'#include "halide_runtime.h"\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        "/* Returns 0, or a halide_core_error_code; halide_core_last_error() tells more. */\n"
        f"int {function}({parameters(given, names)});\n\n"
        f"#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n"
    )
