"""Python extension modules: pipelines as functions of numpy arrays, or of whatever else has memory.

In: functions, and a name. Out: the C text of a module, which needs nothing but CPython when it runs, of any version
from 3.10 on (``python_module.h`` says how).

    import blur;  blur.blur(source, out)      ValueError: blur(): argument "source" must have 2 dimensions, not 3
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from halide_core.errors import NotAvailableError, PipelineError
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.ahead.entry_points import KINDS, type_value
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


def emit_module(name: str, functions: Sequence[Lowered]) -> str:
    """The C text of a module.

    Raises:
        NotAvailableError: a scalar argument of 16-bit floats.
    """
    methods = "".join(_method(f) for f in functions)
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


def _method(of: Lowered) -> str:
    function = symbol(of.name)
    described = "".join(f"    {_argument(of, a)},\n" for a in of.arguments)
    return (
        f"int {function}_argv(void **arguments);\n"
        f"static const pipeline_argument arguments_of_{function}[] = {{\n{described}}};\n"
        f"static const pipeline pipeline_{function} = {{{string(of.name)}, {function}_argv, {len(of.arguments)}, "
        f"arguments_of_{function}}};\n"
        f"static PyObject *call_{function}(PyObject *self, PyObject *const *given, Py_ssize_t count, PyObject *names)"
        f" {{\n    (void)self;\n    return run_pipeline(&pipeline_{function}, given, count, names);\n}}\n\n"
    )


def _argument(of: Lowered, a: Argument) -> str:
    if a.kind is ArgumentKind.InputScalar and a.type.is_narrow_float():
        raise NotAvailableError(
            f'"{of.name}" has the scalar "{a.name}" of {a.type}: a Python extension can\'t be given one yet.'
        )
    facts = [string(a.name), string(str(a.type)), type_value(a.type), KINDS[a.kind], str(a.dimensions)]
    return f"{{{', '.join(facts)}}}"


def _row(of: Lowered) -> str:
    names = ", ".join(["$module", *(a.name for a in of.arguments)])
    lines = [f"{a.name}: {_told(a)}" for a in of.arguments]
    text = f"{of.name}({names})\n--\n\n" + "\n".join(lines)
    call = f"call_{symbol(of.name)}"
    return f"    {{{string(of.name)}, {call}, METH_FASTCALL | METH_KEYWORDS, {string(text)}}},\n"


def _told(a: Argument) -> str:
    if a.kind is ArgumentKind.InputScalar:
        return f"a number of {a.type}"
    what = "filled: an array" if a.kind is ArgumentKind.OutputBuffer else "an array"
    return f"{what} of {a.type} of {a.dimensions} dimensions"
