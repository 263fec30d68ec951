"""Python extension modules: pipelines as functions of numpy arrays, or of whatever else has memory.

In: functions, and a name. Out: the C text of a module, which needs nothing but CPython when it runs, of any version
from 3.10 on (``python_module.h`` says how).

    import blur;  blur.blur(source, out)      ValueError: blur(): argument "source" must have 2 dimensions, not 3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from halide_core.errors import NotAvailableError, PipelineError
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.names import string, symbol

SUPPORT: Final = Path(__file__).resolve().parent / "python_module.h"


def module_name(path: Path) -> str:
    """The name of the module that a file is: what stands before the first dot.

    Raises:
        PipelineError: it can't be imported.
    """
    name = path.name.partition(".")[0]
    if not (name.isidentifier() and name.isascii()):
        raise PipelineError(f'"{path.name}" can\'t be the file of a Python module: "{name}" is no identifier.')
    return name


@dataclass(frozen=True)
class ModuleFunction:
    """A function of a module: the pipeline's name, and what ``help`` says; None where only its name is known."""

    name: str
    doc: str | None = None

    @classmethod
    def of(cls, name: str, arguments: Sequence[Argument]) -> ModuleFunction:
        """The function of a pipeline.

        Raises:
            NotAvailableError: a scalar argument of 16-bit floats.
        """
        for a in arguments:
            if a.kind is ArgumentKind.InputScalar and a.type.is_narrow_float():
                raise NotAvailableError(
                    f'"{name}" has the scalar "{a.name}" of {a.type}: an extension can\'t be given one yet.'
                )
        names = ", ".join(["$module", *(a.name for a in arguments)])
        lines = [f"{a.name}: {_told(a)}" for a in arguments]
        return cls(name, f"{name}({names})\n--\n\n" + "\n".join(lines))


def emit_module(name: str, functions: Sequence[ModuleFunction]) -> str:
    """The C text of a module. What its functions take it finds in their metadata."""
    methods = "".join(_method(symbol(f.name)) for f in functions)
    rows = "".join(_row(f) for f in functions)
    base = "{1, 0, 0, 0, 0}"
    return (
        f"{SUPPORT.read_text(encoding='utf-8')}\n{methods}"
        f"static PyMethodDef methods[] = {{\n{rows}    {{0, 0, 0, 0}}}};\n"
        "static PyModuleDef_Slot slots[] = {{PY_MOD_EXEC, (void *)start_module}, {0, 0}};\n"
        f"static PyModuleDef definition = {{{base}, {string(name)}, 0, 0, methods, slots, 0, 0, 0}};\n\n"
        f'__attribute__((visibility("default"))) PyObject *PyInit_{name}(void);\n'
        f"PyObject *PyInit_{name}(void) {{\n    return PyModuleDef_Init(&definition);\n}}\n"
    )


def _method(function: str) -> str:
    return (
        f"int {function}_argv(void **arguments);\nconst struct halide_filter_metadata_t *{function}_metadata(void);\n"
        f"static PyObject *call_{function}(PyObject *self, PyObject *const *given, Py_ssize_t count, PyObject *names)"
        f" {{\n    (void)self;\n"
        f"    return run_pipeline({function}_argv, {function}_metadata(), given, count, names);\n}}\n\n"
    )


def _row(f: ModuleFunction) -> str:
    doc = "0" if f.doc is None else string(f.doc)
    return f"    {{{string(f.name)}, call_{symbol(f.name)}, METH_FASTCALL | METH_KEYWORDS, {doc}}},\n"


def _told(a: Argument) -> str:
    if a.kind is ArgumentKind.InputScalar:
        return "an address" if a.type.is_handle() else f"a number of {a.type}"
    what = "filled: an array" if a.kind is ArgumentKind.OutputBuffer else "an array"
    return f"{what} of {a.type} of {a.dimensions} dimensions"
