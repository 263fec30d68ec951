"""Wrappers for PyTorch: a pipeline as a C++ function of tensors in host memory, for extensions of PyTorch.

In: a pipeline's name, how it is called, its arguments. Out: a C++ header, to be included where ATen is.

    inline int blur_th_(const at::Tensor &in, at::Tensor &out)     a wrong tensor: c10::Error that names the argument
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from halide_core.ir.types import Type, TypeCode
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.names import Names, scalar, string
from halide_core.runtime.codegen.prologue import TYPE_CODES

SUPPORT: Final = Path(__file__).resolve().parent / "pytorch_support.h"

_SCALAR_TYPES: Final = {
    (TypeCode.UInt, 1): "Bool",
    (TypeCode.UInt, 8): "Byte",
    (TypeCode.UInt, 16): "UInt16",
    (TypeCode.UInt, 32): "UInt32",
    (TypeCode.UInt, 64): "UInt64",
    (TypeCode.Int, 8): "Char",
    (TypeCode.Int, 16): "Short",
    (TypeCode.Int, 32): "Int",
    (TypeCode.Int, 64): "Long",
    (TypeCode.Float, 16): "Half",
    (TypeCode.Float, 32): "Float",
    (TypeCode.Float, 64): "Double",
    (TypeCode.BFloat, 16): "BFloat16",
}


def emit_wrapper(name: str, linkage: Linkage, arguments: Sequence[Argument], header: str) -> str:
    """The C++ header; ``header`` is the file that declares the pipeline."""
    names = Names()
    names.reserve(linkage.function)
    given = [(a, names.of("argument", i, a.name)) for i, a in enumerate(arguments)]
    error = names.fresh("error")
    wrapper = f"{linkage.function}_th_"
    taken = ", ".join(_taken(a, called) for a, called in given)
    described = [(a, called, names.fresh(f"{called}_buffer")) for a, called in given]
    lines = [_described(a, called, buffer) for a, called, buffer in described if _is_tensor(a)]
    passed = ["nullptr"] if linkage.context else []
    passed += [f"{buffer}.buffer()" if _is_tensor(a) else called for a, called, buffer in described]
    lines += [
        f"    const int {error} = {linkage.called}({', '.join(passed)});",
        f"    TORCH_CHECK({error} == 0, {string(f'{name}: ')}, halide_core_last_error());",
        "    return 0;",
    ]
    before = "".join(f"namespace {n} {{\n" for n in linkage.namespaces)
    after = "".join(f"}}  // namespace {n}\n" for n in reversed(linkage.namespaces))
    body = "\n".join(lines)
    guard = f"HALIDE_CORE_PYTORCH_{'_'.join([*linkage.namespaces, linkage.function])}_H"
    return (
        f"{SUPPORT.read_text(encoding='utf-8')}\n#ifndef {guard}\n#define {guard}\n\n"
        f'#include {string(header)}\n\n{before}// Fills the outputs; returns 0, or throws.\n'
        f"inline int {wrapper}({taken}) {{\n{body}\n}}\n{after}\n#endif  // {guard}\n"
    )


def _is_tensor(a: Argument) -> bool:
    return a.kind is not ArgumentKind.InputScalar


def _taken(a: Argument, called: str) -> str:
    if not _is_tensor(a):
        return f"void *{called}" if a.type.is_handle() else f"{scalar(a.type)} {called}"
    return f"{'const ' if a.kind is ArgumentKind.InputBuffer else ''}at::Tensor &{called}"


def _described(a: Argument, called: str, buffer: str) -> str:
    of = f"at::ScalarType::{_scalar_type(a.type)}"
    type = f"{{{TYPE_CODES[a.type.code()]}, {a.type.bits()}, 1}}"
    told = string(f'"{a.name}"')
    return f"    halide_core_pytorch::Described {buffer}({called}, {told}, {of}, {type}, {a.dimensions});"


def _scalar_type(type: Type) -> str:
    return _SCALAR_TYPES[type.code(), type.bits()]
