"""The sizes of allocations: as products, so that their overflow can be told; and which are small enough for the stack.

In: the size of an allocation, and a pipeline's body. Out: the factors of the size, left to right, the variables
whose values are such products too, and what the stack has room for.

    let n = w*h;  allocate f[n*2]
    factors_of(n*2)  ->  [n, 2]        find_size_lets(body)  ->  {"n", "w", "h"}: the product w*h is checked, too
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir.memory import MemoryType
from halide_core.ir.visitor import sub_stmts, walk

_STACK_BYTES = 16384
_MOST_STACK_BYTES = 1 << 20
"""All arrays that are there at one time: threads have 8 MiB, of which the caller has used some."""


def factors_of(size: ir.ExprNode) -> list[ir.ExprNode]:
    """The factors of a product, left to right."""
    found: list[ir.ExprNode] = []
    stack = [size]
    while stack:
        e = stack.pop()
        if isinstance(e, ir.Binary) and e.op is ir.BinaryOp.MUL:
            stack += [e.b, e.a]
        else:
            found.append(e)
    return found


def sizes_of(size: ir.ExprNode) -> list[ir.ExprNode]:
    """The sizes whose greatest is the size of memory that several buffers live in; else the size itself."""
    if isinstance(size, ir.Binary) and size.op is ir.BinaryOp.MAX:
        return [*sizes_of(size.a), *sizes_of(size.b)]
    return [size]


def bytes_of(names: Sequence[str], fits: str, sizes: Sequence[Sequence[str]], padding: int) -> list[str]:
    """The C lines that declare the bytes of memory for the largest of some sizes, each a product of its factors, and
    whether none of them overflows; the first of the names, one a size, has the result. One of several may be the
    length of a region that is empty, and less than 0."""
    total, lines, checks = names[0], list[str](), list[str]()
    for name, (first, *others) in zip(names, sizes, strict=True):
        lines.append(f"int64_t {name} = {first};")
        if len(sizes) > 1:
            lines.append(f"{name} = {name} > 0 ? {name} : 0;")
        else:
            checks.append(f"{name} >= 0")
        checks += [*(f"!__builtin_mul_overflow({name}, {factor}, &{name})" for factor in others)]
        checks += [f"!__builtin_add_overflow({name}, {padding}, &{name})"] if padding else []
    larger = [f"{total} = {name} > {total} ? {name} : {total};" for name in names[1:]]
    return [*lines, f"const bool {fits} = {' && '.join(checks)};", *larger]


def find_size_lets(body: ir.Stmt) -> set[str]:
    """The variables that are factors of an allocation's size: their products must not overflow unseen."""
    found: set[str] = set()
    for stmt in reversed(list(walk(body))):
        if isinstance(stmt, ir.AllocateFlat):
            factors = [e for size in sizes_of(stmt.size) for e in factors_of(size)]
        elif isinstance(stmt, ir.Let) and stmt.var.name in found:
            factors = factors_of(stmt.value)
        else:
            continue
        found.update(e.name for e in factors if isinstance(e, ir.Variable))
    return found


def find_arrays(body: ir.Stmt) -> set[ir.AllocateFlat]:
    """The memory that is arrays of functions: as asked for, or where it is small, as long as there is room for all
    that is there at one time. Tasks count to what is around them, as the thread that has it runs some of them."""
    found = _ArraySearch()
    found.look(body, 0)
    return found.fitting - found.refused


class _ArraySearch:
    def __init__(self) -> None:
        self.fitting: set[ir.AllocateFlat] = set()
        self.refused: set[ir.AllocateFlat] = set()
        """Those that have no room at one of the places where they stand: a tree may have a statement twice."""

    def look(self, stmt: ir.Stmt, taken: int) -> None:
        """``taken``: the bytes of arrays that are there already."""
        for s in sub_stmts(stmt):
            if not isinstance(s, ir.AllocateFlat):
                self.look(s, taken)
            elif s.within is None and s.limit is not None and _is_small(s, most := s.limit * s.type.bytes()):
                fits = taken + most <= _MOST_STACK_BYTES
                taken += most if fits else 0
                (self.fitting if fits else self.refused).add(s)


def _is_small(stmt: ir.AllocateFlat, most: int) -> bool:
    """True where memory of at most so many bytes should be an array."""
    if stmt.memory is MemoryType.Auto:
        return most <= _STACK_BYTES
    return stmt.memory is not MemoryType.Heap
