"""Ways into a pipeline for programs that don't know its arguments: by an array of pointers, and by name.

In: a pipeline's name, arguments and target. Out: C text of ``NAME_argv`` and ``NAME_metadata``, which stand behind the
pipeline in its unit, and of a C++ file that registers them when a program starts. Names and types are Halide's.

    int blur_argv(void **arguments);  const struct halide_filter_metadata_t *blur_metadata(void);
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.ir import IntImm
from halide_core.ir.types import Type, computed_type
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.entry import emit_argv
from halide_core.runtime.codegen.linkage import CONTEXT, Linkage
from halide_core.runtime.codegen.names import literal, string
from halide_core.runtime.codegen.prologue import TYPE_CODES

_KINDS = {
    ArgumentKind.InputScalar: "halide_argument_kind_input_scalar",
    ArgumentKind.InputBuffer: "halide_argument_kind_input_buffer",
    ArgumentKind.OutputBuffer: "halide_argument_kind_output_buffer",
}


_HANDLE = "{halide_type_handle, 64, 1}"
_CONTEXT_ROW = f'{{"{CONTEXT}", {_KINDS[ArgumentKind.InputScalar]}, 0, {_HANDLE}, 0, 0, 0, 0, 0}}'


def _type_value(type: Type) -> str:
    """An initializer of a ``halide_type_t``."""
    return f"{{{TYPE_CODES[type.code()]}, {type.bits()}, 1}}"


def emit_entry_points(name: str, linkage: Linkage, arguments: Sequence[Argument], target: str) -> str:
    """Both functions, to be appended to the pipeline's own translation unit."""
    function = linkage.function
    values = _Values()
    rows = [_CONTEXT_ROW] if linkage.context else []
    rows += [_row(a, values) for a in arguments]
    return (
        f"{emit_argv(f'{function}_argv', function, arguments, context=linkage.context)}\n{values.text()}"
        f"const struct halide_filter_metadata_t *{function}_metadata(void);\n"
        f"const struct halide_filter_metadata_t *{function}_metadata(void) {{\n"
        f"    static const halide_filter_argument_t described[] = {{\n        {f',{chr(10)}        '.join(rows)}}};\n"
        f"    static const halide_filter_metadata_t metadata = {{1, {len(rows)}, described, {string(target)}, "
        f"{string(name)}}};\n    return &metadata;\n}}\n"
    )


class _Values:
    """The values that metadata points to."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def text(self) -> str:
        """The definitions."""
        return "".join(f"static const {line};\n" for line in self._lines)

    def scalar(self, type: Type, value: int | float | None) -> str:
        """A pointer to a ``halide_scalar_value_t``."""
        if value is None:
            return "0"
        type = computed_type(type)
        number = literal(ir.const(value, type))  # type: ignore[arg-type]  # the constant of a scalar type
        kind = "f" if type.is_float() and not type.is_narrow_float() else "i" if type.is_int() else "u"
        field = "b" if type.is_bool() else f"{kind}{8 * type.bytes()}"
        return f"&{self._add('halide_scalar_value_t', f' = {{.u.{field} = {number}}}')}"

    def number(self, value: ir.ExprNode | None) -> str:
        """A pointer to an ``int64_t``, where the value is a constant."""
        return f"&{self._add('int64_t', f' = {value.value}')}" if isinstance(value, IntImm) else "0"

    def pointers(self, items: Sequence[str]) -> str:
        """An array of such pointers."""
        return self._add("int64_t *const", f"[] = {{{', '.join(items)}}}")

    def _add(self, of: str, value: str) -> str:
        name = f"halide_core_described_{len(self._lines)}"
        self._lines.append(f"{of} {name}{value}")
        return name


def _row(argument: Argument, values: _Values) -> str:
    source, type = argument.source, argument.type
    scalars, estimates = ["0"] * 4, "0"
    if isinstance(source, ScalarParam):
        limits = (source.value, source.low, source.high, source.estimate)
        scalars = [values.scalar(type, v) for v in limits]
    elif isinstance(source, Image) and source.estimates:
        ends = [source.estimates.get(d, (None, None)) for d in range(source.dimensions)]
        estimates = values.pointers([values.number(v) for end in ends for v in end])
    assert isinstance(source, ScalarParam | Image | Function)
    facts = [string(argument.name), _KINDS[argument.kind], str(argument.dimensions), _type_value(type)]
    return f"{{{', '.join([*facts, *scalars, estimates])}}}"


def emit_registration(functions: Sequence[str]) -> str:
    """A C++ file that hands every function to ``halide_register_argv_and_metadata``, which the program defines."""
    extra = "HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC"
    declared = "".join(f"int {f}_argv(void **);\nconst halide_filter_metadata_t *{f}_metadata();\n" for f in functions)
    register = "halide_register_argv_and_metadata"
    calls = "".join(f"        {register}({f}_argv, {f}_metadata(), extra_key_value_pairs());\n" for f in functions)
    return (
        '// Made by halide_core.\n\nextern "C" {\nstruct halide_filter_metadata_t;\n'
        f"void {register}(int (*)(void **), const halide_filter_metadata_t *, const char *const *);\n"
        f"{declared}"
        f"#ifdef {extra}\nconst char *const *{extra}();\n#endif\n}}\n\nnamespace {{\n"
        f"const char *const *extra_key_value_pairs() {{\n#ifdef {extra}\n    return {extra}();\n#else\n"
        "    return nullptr;\n#endif\n}\n\nstruct Registration {\n    Registration() {\n"
        f"{calls}    }}\n}} registration;\n}}  // namespace\n"
    )
