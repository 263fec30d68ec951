"""Buffers that stand in definitions, and the caller's context, as part of a compiled file.

In: a lowered pipeline some of whose inputs no caller passes. Out: C text in which Buffers are constants: the pipeline
under a name that only its unit knows, and a function that takes the other arguments.

    int blur(halide_buffer_t *in, halide_buffer_t *out) { …; return blur_and_data(in, &embedded_1, out); }
"""

from __future__ import annotations

import numpy as np

from halide_core.algorithm.model import Image
from halide_core.algorithm.user_context import USER_CONTEXT
from halide_core.lang.buffer import Buffer
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument
from halide_core.runtime.codegen.names import RUNTIME_INCLUDES, Names
from halide_core.runtime.codegen.prologue import TYPE_CODES, parameters
from halide_core.runtime.codegen.unit import emit_c

_LINE = 32
"""Bytes of data on a line."""
_CONTEXT = "halide_core_user_context()"


def data_of(argument: Argument) -> Buffer | None:
    """The Buffer that an argument stands for; None where the caller passes it."""
    source = argument.source
    return source.bound if isinstance(source, Image) and source.embedded and isinstance(source.bound, Buffer) else None


def public(lowered: Lowered) -> tuple[Argument, ...]:
    """The arguments that a caller passes."""
    return tuple(a for a in lowered.arguments if data_of(a) is None and a.source is not USER_CONTEXT)


def unit_with_data(lowered: Lowered, function: str, *, profile: bool = False) -> str:
    """The unit of a pipeline with its Buffers in it, with a function of that name, which takes the other arguments, and
    may measure itself."""
    embedded = {i: data for i, a in enumerate(lowered.arguments) if (data := data_of(a)) is not None}
    given = public(lowered)
    if len(given) == len(lowered.arguments):
        return emit_c(lowered, function=function, profile=profile, registered=lowered.name)
    whole = f"{function}_and_data"
    before = (
        f"{RUNTIME_INCLUDES}"
        f"static int {whole}({parameters(lowered.arguments, Names())});\n"
    )
    constants = "".join(_constant(f"embedded_data_{i}", data) for i, data in embedded.items())
    names = Names()
    own = (f"embedded_{each}" for i in embedded for each in (f"{i}", f"{i}_dims", f"data_{i}"))
    for name in (function, whole, *own):
        names.reserve(name)
    head = f"int {function}({parameters(given, names)})"
    local = "".join(_local(f"embedded_{i}", f"embedded_data_{i}", lowered.arguments[i], d) for i, d in embedded.items())
    known = {a: names.of("argument", i, a.name) for i, a in enumerate(given)}
    arguments = [known.get(a, f"&embedded_{i}" if i in embedded else _CONTEXT) for i, a in enumerate(lowered.arguments)]
    call = f"    return {whole}({', '.join(arguments)});\n"
    unit = emit_c(lowered, function=whole, profile=profile, registered=lowered.name)
    return f"{before}{unit}\n{constants}{head};\n{head} {{\n{local}{call}}}\n"


def _array(data: Buffer) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.ascontiguousarray(data.array).reshape(-1).view(np.uint8)


def _constant(name: str, data: Buffer) -> str:
    values = _array(data).tolist() or [0]
    lines = [", ".join(map(str, values[at : at + _LINE])) for at in range(0, len(values), _LINE)]
    inside = ",\n    ".join(lines)
    return f"static const uint8_t {name}[] __attribute__((aligned(128))) = {{\n    {inside}}};\n\n"


def _local(name: str, constant: str, argument: Argument, data: Buffer) -> str:
    extents, mins = list(reversed(data.array.shape)), data.mins
    strides = np.cumprod([1, *extents[:-1]]).tolist() if extents else []
    dims = ", ".join(f"{{{low}, {n}, {step}, 0}}" for low, n, step in zip(mins, extents, strides, strict=True))
    type = f"{{{TYPE_CODES[argument.type.code()]}, {argument.type.bits()}, 1}}"
    return (
        f"    halide_dimension_t {name}_dims[] = {{{dims or '{0, 0, 0, 0}'}}};\n"
        f"    halide_buffer_t {name} = {{0, 0, (uint8_t *){constant}, 0, {type}, {len(extents)}, {name}_dims, 0}};\n"
    )

