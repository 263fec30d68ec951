"""Tables of small numbers: lanes of 8 or 16 bits from anywhere in memory that the pipeline itself allocated.

In: a pipeline's body. Out: the buffers that are read so, which get a few bytes more than their elements; and the C
function that reads them. There are gathers of 32 bits only: they read what follows an element, too, and drop it.

    curve[clamp(in[x], 0, 255)]: uint8    ->    vpgatherdd, vpmovdb

What belongs to a caller has no bytes behind its end that may be read, so its elements are loaded one by one.
"""

from __future__ import annotations

from halide_core.ir import AllocateFlat, Load, Stmt
from halide_core.types import Int, Type
from halide_core.visit import stmt_exprs, subexpressions, walk
from runtime import vector_arms
from runtime.c_names import stored, tag
from runtime.c_uses import address_parts
from runtime.vectors import Prelude, of_loads

PADDING = 3
"""The bytes behind an element of one byte that a gather of 32 bits reads."""


def find_tables(body: Stmt) -> set[str]:
    """The allocated buffers that lanes of 8 or 16 bits are read from, at places that are no ramp."""
    allocated = {s.buffer for s in walk(body) if isinstance(s, AllocateFlat) and s.type.bytes() < 4}
    loads = (e for s in walk(body) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Load)) if allocated else ()
    return {e.buffer for e in loads if e.buffer in allocated and _is_lookup(e)}


def _is_lookup(e: Load) -> bool:
    parts = address_parts(e.index)
    return e.type.is_vector() and len(parts) == 2 and vector_arms.lookup(e.type, parts[1].type) is not None


def lookup(prelude: Prelude, type: Type, index: Type) -> str | None:
    """``f(pointer, base, indices)`` in padded memory; None where there is no better way than one by one."""
    arm = vector_arms.lookup(type, index)
    if arm is None:
        return None
    wide = Int(32, type.lanes())

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        generic = of_loads(c, [f"p[base + index[{i}]]" for i in range(type.lanes())])
        body = prelude.armed(arm, wide, wide, generic, through=prelude.convert(type, wide))
        return c, f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"lookup_{tag(type)}_{tag(index)}", head)
