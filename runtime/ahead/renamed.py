"""Warnings about functions and arguments that C can't call as the user does, as it has the word itself.

In: a pipeline's name, its linkage and its arguments. Out: a warning for what a header names otherwise.

    compile_to_header("out.h", [image], "printf")   ->   HalideWarning: No function of C can be called "printf": …
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.errors import HalideWarning, warn_user
from halide_core.run.backend import Argument, OutputKind
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.names import Names, identifier

_FOR_C = frozenset(
    {OutputKind.C_SOURCE, OutputKind.C_HEADER, OutputKind.OBJECT, OutputKind.STATIC_LIBRARY, OutputKind.ASSEMBLY}
)
"""The files whose names a C program mentions; a Python extension has those that the user gave."""


def warn_of_renamed(kinds: Sequence[OutputKind], name: str, linkage: Linkage, arguments: Sequence[Argument]) -> None:
    """Warns of a function, or an argument, whose name is a word of C's or of the runtime's."""
    if _FOR_C.isdisjoint(kinds):
        return
    function = name.rsplit("::", maxsplit=1)[-1] if linkage.mangled else name
    if linkage.function != function.strip("_"):
        _warn("function", function, linkage.function)
    names = Names()
    names.reserve(linkage.function)
    for i, a in enumerate(arguments):
        used = names.of("argument", i, a.name)
        if a.name.isidentifier() and identifier(a.name) != a.name:
            _warn("argument", a.name, used)


def _warn(kind: str, name: str, used: str) -> None:
    warn_user(
        f'No {kind} of C can be called "{name}": C or the runtime has that name, or it is not in ASCII. It is "{used}" '
        f"there.",
        HalideWarning,
    )
