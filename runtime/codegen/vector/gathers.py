"""Lanes from anywhere in memory: gathers, and tables of small numbers.

In: a pipeline's body. Out: the buffers that the pipeline itself allocated and lanes of 8 or 16 bits are read from,
which get a few bytes more than their elements; and the C functions that read. There are gathers of 32 bits and more
only: they read what follows a smaller element, too, and drop it.

    curve[clamp(in[x], 0, 255)]: uint8    ->    vpgatherdd, vpmovdb

What belongs to a caller has no bytes behind its end that may be read, and not every machine gathers: there, elements
are loaded one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.ir import AllocateFlat, Load, Stmt
from halide_core.ir.types import INT32, Int, Type
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.uses import address_parts
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.prelude import Prelude, of_loads

Places = tuple[list[str], list[str]]
"""Declarations, and then the number of each lane."""

_REGISTERS = (256, 512)
"""The bits of registers whose lanes go through memory."""
PADDING = 3
"""The bytes behind an element of one byte that a gather of 32 bits reads."""


def find_tables(body: Stmt) -> set[str]:
    """The allocated buffers that lanes of 8 or 16 bits are read from, at places that are no ramp, and those in whose
    memory they are: copies of a loop allocate a buffer in memory of their own."""
    small = [s for s in walk(body) if isinstance(s, AllocateFlat) and s.type.bytes() < 4]
    allocated = {s.buffer for s in small}
    loads = (e for s in walk(body) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Load)) if allocated else ()
    found = {e.buffer for e in loads if e.buffer in allocated and _is_lookup(e)}
    return found | {s.within for s in small if s.buffer in found and s.within is not None}


def _is_lookup(e: Load) -> bool:
    parts = address_parts(e.index)
    return e.type.is_vector() and len(parts) == 2 and x86_builtins.lookup(e.type, parts[1].type) is not None


def lookup(prelude: Prelude, type: Type, index: Type) -> str | None:
    """``f(pointer, base, indices)`` in padded memory; None where there is no better way than one by one."""
    arm = x86_builtins.lookup(type, index)
    if arm is None:
        return None
    wide = Int(32, type.lanes())

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        generic = _one_by_one(prelude, type, places(prelude, index))
        body = prelude.armed(arm, wide, wide, generic, through=prelude.convert(type, wide))
        return c, f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"lookup_{tag(type)}_{tag(index)}", head)


def gather(prelude: Prelude, type: Type, index: Type) -> str:
    """``f(pointer, base, indices)``: elements anywhere."""

    def head() -> tuple[str, str, list[str]]:
        parameters = f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index"
        wide = INT32.with_lanes(index.lanes())
        if index.bits() < wide.bits() and x86_builtins.gather(type, wide) is not None:
            body = [f"return {gather(prelude, type, wide)}(p, base, {prelude.convert(wide, index)}(index));"]
        else:
            generic = _one_by_one(prelude, type, places(prelude, index))
            body = prelude.armed(x86_builtins.gather(type, index), type, type, generic, index)
        return prelude.type(type), parameters, body

    return prelude.define(f"gather_{tag(type)}_{tag(index)}", head)


def gather_terms(prelude: Prelude, type: Type, terms: Sequence[Type]) -> str:
    """``f(pointer, base, a, b, stride, …)``: elements at ``base + a + b*stride + …``; ``a`` and ``b`` have int32s.
    The products are those of single lanes: vectors of int64 take twice the registers, and few machines multiply them
    at once."""
    given = Terms(prelude, terms)

    def head() -> tuple[str, str, list[str]]:
        body = _one_by_one(prelude, type, given.places())
        wide = Int(64, type.lanes())
        arm = x86_builtins.gather(type, wide)
        if arm is not None:
            whole = f"return {gather(prelude, type, wide)}(p, base, {given.whole(wide)});"
            body = [f"#if {arm.condition}", whole, "#else", *body, "#endif"]
        return prelude.type(type), f"const {stored(type)} *p, int64_t base, {given.parameters()}", body

    return prelude.define(f"gather_{tag(type)}_{given.tag()}", head)


class Terms:
    """The parameters of a function that are what ``lane_terms`` of an index are: ``i0``, ``i1``, …"""

    def __init__(self, prelude: Prelude, types: Sequence[Type]) -> None:
        self._prelude, self._types = prelude, types

    def tag(self) -> str:
        """Part of the function's name."""
        return "_".join("by" if type.is_scalar() else tag(type) for type in self._types)

    def parameters(self) -> str:
        """Their declarations."""
        return ", ".join(f"{self._prelude.type(type)} i{n}" for n, type in enumerate(self._types))

    def places(self) -> Places:
        """The number of each lane."""
        lanes = max(type.lanes() for type in self._types)
        declared: list[str] = []
        at = [""] * lanes
        for n, type in enumerate(self._types):
            if type.is_scalar():
                at = [f"{each} * i{n}" for each in at]
                continue
            declared += _in_memory(self._prelude.type(type), f"i{n}", f"m{n}")
            at = [f"{each}{' + ' if each else ''}m{n}[{k}]" for k, each in enumerate(at)]
        return declared, at

    def whole(self, wide: Type) -> str:
        """The numbers of all lanes as one vector of int64."""
        found = ""
        for n, type in enumerate(self._types):
            if type.is_scalar():
                found += f" * {self._prelude.splat(wide)}(i{n})"
            else:
                found += f"{' + ' if found else ''}{self._prelude.convert(wide, type)}(i{n})"
        return found


def _one_by_one(prelude: Prelude, type: Type, index: Places) -> list[str]:
    """Loads of single elements. Bytes enter their register one after the other: gcc would put less than a register
    together in scalar registers, by shifts."""
    lanes, (body, at) = type.lanes(), index
    loads = [f"p[base + {k}]" for k in at]
    whole = type.with_lanes(128 // type.bits())
    if not type.is_integer() or type.is_bool() or type.bits() > 16 or lanes not in (4, 8, whole.lanes()):
        return [*body, *of_loads(prelude.type(type), loads)]
    body.append(f"{prelude.type(whole)} whole = {{0}};")
    body += [f"whole[{i}] = {load};" for i, load in enumerate(loads)]
    order = ", ".join(map(str, range(lanes)))
    part = "whole" if lanes == whole.lanes() else f"__builtin_shufflevector(whole, whole, {order})"
    return [*body, f"return {part};"]


def places(prelude: Prelude, index: Type) -> Places:
    """The declarations for a vector ``index``, and then the number of each lane."""
    lanes = index.lanes()
    if index.bits() * lanes not in _REGISTERS or index.bits() != 32:
        return [], [f"index[{i}]" for i in range(lanes)]
    return _in_memory(prelude.type(index), "index", "at"), [f"(int64_t)at[{i}]" for i in range(lanes)]


def _in_memory(c: str, vector: str, name: str) -> list[str]:
    """The lanes of a vector of int32 as an array. Lanes leave a register one after the other, through a unit that
    shuffles need, too; memory gives two or three of them at once. A compiler would take them out of the register."""
    return [
        f"int32_t {name}[sizeof(({c}){{0}}) / 4] __attribute__((aligned(sizeof({c}))));",
        f"*({c} *){name} = {vector};",
        f'__asm__("" : "+m"({name}));',
    ]
