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
from halide_core.ir.types import INT32, Int, Type, UInt
from halide_core.ir.visitor import nodes_of, stmt_exprs, walk
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.uses import address_parts
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.lanes import Places, lanes_of, of_loads
from halide_core.runtime.codegen.vector.prelude import Prelude, either

_BLOCKS = (8, 4)
"""The numbers of int64s that fill a register."""
_WIDE_PRODUCTS = "defined(__AVX512DQ__) && defined(__AVX512VL__)"
"""Machines that multiply registers of int64s."""
PADDING = 3
"""The bytes behind an element of one byte that a gather of 32 bits reads."""


def find_tables(body: Stmt) -> set[str]:
    """The allocated buffers that lanes of 8 or 16 bits are read from, at places that are no ramp, and those in whose
    memory they are: copies of a loop allocate a buffer in memory of their own."""
    small = [s for s in walk(body) if isinstance(s, AllocateFlat) and s.type.bytes() < 4]
    allocated = {s.buffer for s in small}
    loads = (e for s in walk(body) for e in nodes_of(stmt_exprs(s), Load)) if allocated else ()
    found = {e.buffer for e in loads if e.buffer in allocated and _is_lookup(e)}
    return found | {s.within for s in small if s.buffer in found and s.within is not None}


def _is_lookup(e: Load) -> bool:
    parts = address_parts(e.index)
    index = INT32.with_lanes(e.type.lanes())
    return len(parts) == 2 and parts[1].type.bits() <= index.bits() and x86_builtins.lookup(e.type, index) is not None


def lookup(prelude: Prelude, type: Type, index: Type) -> str | None:
    """``f(pointer, base, indices)`` in padded memory; None where there is no better way than one by one."""
    wide = INT32.with_lanes(type.lanes())
    arm = x86_builtins.lookup(type, wide) if index.bits() <= wide.bits() else None
    if arm is None:
        return None

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        generic = _one_by_one(prelude, type, places(prelude, index))
        if index is wide:
            body = prelude.armed(arm, wide, wide, generic, through=prelude.convert(type, wide))
        else:
            widened = f"return {lookup(prelude, type, wide)}(p, base, {prelude.convert(wide, index)}(index));"
            body = either(arm.condition, [widened], generic)
        return c, f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"lookup_{tag(type)}_{tag(index)}", head)


def gather(prelude: Prelude, type: Type, index: Type) -> str:
    """``f(pointer, base, indices)``: elements anywhere."""

    def head() -> tuple[str, str, list[str]]:
        parameters = f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index"
        wide = INT32.with_lanes(index.lanes())
        generic = _one_by_one(prelude, type, places(prelude, index))
        arm = x86_builtins.gather(type, wide) if index.bits() < wide.bits() else None
        if arm is not None:
            widened = f"return {gather(prelude, type, wide)}(p, base, {prelude.convert(wide, index)}(index));"
            body = either(arm.condition, [widened], generic)
        else:
            body = prelude.armed(x86_builtins.gather(type, index), type, type, generic, index)
        return prelude.type(type), parameters, body

    return prelude.define(f"gather_{tag(type)}_{tag(index)}", head)


def gather_terms(prelude: Prelude, type: Type, terms: Sequence[Type], *, near: bool = False) -> str:
    """``f(pointer, base, a, b, stride, …)``: elements at ``base + a + b*stride + …``; ``a`` and ``b`` have int32s.
    With ``near`` there is one stride and a last parameter, the greatest with which the sum stays in int32: registers of
    that hold twice the lanes, and all machines multiply them at once."""
    given = Terms(prelude, terms)

    def head() -> tuple[str, str, list[str]]:
        body = _one_by_one(prelude, type, given.places())
        wide, narrow = Int(64, type.lanes()), INT32.with_lanes(type.lanes())
        arm = x86_builtins.gather(type, wide)
        if arm is not None:
            whole = f"return {gather(prelude, type, wide)}(p, base, {given.whole(wide)});"
            body = either(arm.condition, [whole], body)
        if near:
            found = f"{gather(prelude, type, narrow)}(p, base, {given.wrapped(narrow)})"
            body = [given.if_near(found), *body]
        return prelude.type(type), f"const {stored(type)} *p, int64_t base, {given.parameters(near=near)}", body

    return prelude.define(f"gather_{tag(type)}_{given.tag()}{'_near' if near else ''}", head)


class Terms:
    """The parameters of a function that are what ``lane_terms`` of an index are: ``i0``, ``i1``, …"""

    def __init__(self, prelude: Prelude, types: Sequence[Type]) -> None:
        self._prelude, self._types = prelude, types

    def tag(self) -> str:
        """Part of the function's name."""
        return "_".join("by" if type.is_scalar() else tag(type) for type in self._types)

    def parameters(self, *, near: bool = False) -> str:
        """Their declarations; with ``near`` that of the greatest factor behind them."""
        declared = [f"{self._prelude.type(type)} i{n}" for n, type in enumerate(self._types)]
        return ", ".join([*declared, "uint64_t nearest"] if near else declared)

    def places(self) -> Places:
        """The number of each lane."""
        lanes = max(type.lanes() for type in self._types)
        block = next((size for size in _BLOCKS if lanes % size == 0), 0)
        names = [f"at{k}" for k in range(lanes)]
        one_by_one = self._by_scalars(lanes, names)
        if not block:
            return one_by_one, names
        return either(_WIDE_PRODUCTS, self._by_blocks(block, lanes), one_by_one), names

    def _by_scalars(self, lanes: int, names: Sequence[str]) -> list[str]:
        declared: list[str] = []
        sums = [""] * lanes
        for n, type in enumerate(self._types):
            if type.is_scalar():
                sums = [f"{each} * i{n}" for each in sums]
                continue
            declared += (found := lanes_of(self._prelude, type, f"i{n}", f"m{n}_"))[0]
            sums = [f"{each}{' + ' if each else ''}{lane}" for each, lane in zip(sums, found[1], strict=True)]
        return [*declared, *(f"const int64_t {name} = {each};" for name, each in zip(names, sums, strict=True))]

    def _by_blocks(self, block: int, lanes: int) -> list[str]:
        """Registers of int64, whose lanes leave them one by one."""
        declared, wide = [], Int(64, block)
        for first in range(0, lanes, block):
            part = self.whole(wide, range(first, first + block) if block < lanes else None)
            declared.append(f"const {self._prelude.type(wide)} from{first} = {part};")
            declared += [f"const int64_t at{first + k} = from{first}[{k}];" for k in range(block)]
        return declared

    def if_near(self, found: str) -> str:
        """The statement that returns what is found where the sum stays in int32: where the factor isn't negative, which
        is a great number without a sign, nor too great."""
        factor = next(n for n, type in enumerate(self._types) if type.is_scalar())
        return f"if (__builtin_expect((uint64_t)i{factor} <= nearest, 1)) return {found};"

    def wrapped(self, narrow: Type) -> str:
        """The numbers of all lanes as one vector of int32, where they are some."""
        found, unsigned = "", UInt(32, narrow.lanes())
        for n, type in enumerate(self._types):
            if type.is_scalar():
                found += f" * {self._prelude.splat(unsigned)}((uint32_t)i{n})"
            else:
                found += f"{' + ' if found else ''}({self._prelude.type(unsigned)})i{n}"
        return f"({self._prelude.type(narrow)})({found})"

    def whole(self, wide: Type, part: range | None = None) -> str:
        """The numbers of all lanes, or of some neighbours, as one vector of int64."""
        found = ""
        for n, type in enumerate(self._types):
            if type.is_scalar():
                found += f" * {self._prelude.splat(wide)}(i{n})"
            else:
                chosen = f"i{n}"
                if part is not None:
                    chosen = f"__builtin_shufflevector(i{n}, i{n}, {', '.join(map(str, part))})"
                convert = self._prelude.convert(wide, type.with_lanes(wide.lanes()))
                found += f"{' + ' if found else ''}{convert}({chosen})"
        return found


def _one_by_one(prelude: Prelude, type: Type, index: Places) -> list[str]:
    declared, at = index
    return [*declared, *of_loads(prelude, type, [f"p[base + {k}]" for k in at])]


def places(prelude: Prelude, index: Type) -> Places:
    """The declarations for a vector ``index``, and then the number of each lane."""
    return lanes_of(prelude, index, "index", "at")
