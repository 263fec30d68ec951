"""Functions that take a context of their caller's, which gets it back in what the runtime calls.

In: a pipeline's function, which takes none. Out: C text of the function that does.

    int blur(const void *__user_context, …) { …; const int error = blur_in_context(…); …; return error; }
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.run.backend import Argument
from halide_core.runtime.codegen.linkage import CONTEXT, Linkage
from halide_core.runtime.codegen.names import RUNTIME_INCLUDES, Names


def inside(linkage: Linkage) -> Linkage:
    """The pipeline's function: another one than the caller's where that takes a context."""
    return linkage.inside("in_context") if linkage.context else linkage


def emit_in_context(linkage: Linkage, arguments: Sequence[Argument]) -> str:
    """The caller's function, to stand behind the pipeline's; nothing where they are one.

    The context is the thread's until the pipeline returns, and that of the threads that help it.
    """
    if not linkage.context:
        return ""
    names, own = Names(), inside(linkage)
    for name in (linkage.function, own.function):
        names.reserve(name)
    around, error = names.fresh("around"), names.fresh("error")
    head = f"int {linkage.function}({linkage.parameters(arguments, names)})"
    return (
        f"\n{head};\n{head} {{\n"
        f"    void *const {around} = halide_core_swap_user_context((void *){CONTEXT});\n"
        f"    const int {error} = {own.function}({own.passed(arguments, names)});\n"
        f"    (void)halide_core_swap_user_context({around});\n    return {error};\n}}\n"
    )


def hidden(linkage: Linkage, arguments: Sequence[Argument]) -> str:
    """A declaration before the pipeline's own text, which keeps its function in this file; nothing where it is the
    caller's."""
    if not linkage.context:
        return ""
    own = inside(linkage)
    head = f"static int {own.function}({own.parameters(arguments, Names())});"
    return f"{RUNTIME_INCLUDES}{head}\n"
