"""The header of pipelines, for C and C++.

In: their names and their arguments. Out: the text of a header file.

    emit_header([("blur", …)])   ->   int blur(halide_buffer_t *in, halide_buffer_t *out);
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halide_core.run.backend import Argument
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.prologue import banner


@dataclass(frozen=True, slots=True)
class Declared:
    """A pipeline that a header declares: its name, how it is called, what it takes."""

    name: str
    linkage: Linkage
    arguments: Sequence[Argument]


def emit_header(functions: Sequence[Declared]) -> str:
    """The header that declares pipelines, each with its ``_argv`` and its ``_metadata``: for C and C++; for C++ alone
    where one has symbols of C++."""
    guard = _guard([f.linkage for f in functions])
    banners = "".join(banner(f.name, f.arguments) for f in functions)
    c = "".join(f.linkage.declared(f.arguments) for f in functions if not f.linkage.mangled)
    cpp = "".join(f.linkage.declared(f.arguments) for f in functions if f.linkage.mangled)
    return (
        f"{banners}#ifndef {guard}\n#define {guard}\n\n{_CPP_ALONE if cpp else ''}"
        '#include <stdbool.h>\n#include <stdint.h>\n#include "halide_runtime.h"\n\n'
        f"{cpp}{_C.format(c) if c else ''}\n#endif /* {guard} */\n"
    )


def _guard(linkages: Sequence[Linkage]) -> str:
    """The macro that tells a header from all others, also of functions whose names differ by a namespace or by case.
    Where there is more than one name, the length of each says where it ends."""
    names = [name for of in linkages for name in (*of.namespaces, of.function)]
    told = names[0] if len(names) == 1 else "".join(f"{len(name)}{name}" for name in names)
    return f"HALIDE_CORE_PIPELINE_{told}_H"


_RETURNS = "/* Return 0, or a halide_core_error_code; halide_core_last_error() tells more. */\n"
_CPP_ALONE = f'#ifndef __cplusplus\n#error "This header is for C++."\n#endif\n\n{_RETURNS}'
_C = f'#ifdef __cplusplus\nextern "C" {{{{\n#endif\n\n{_RETURNS}{{}}\n#ifdef __cplusplus\n}}}}\n#endif\n'
