"""Captures of a statement: leaves and names that a task, or a part of a function, has to be given.

In: a statement, and what is its own. Out: expressions that are leaves, and the names of buffers and semaphores, in the
order of first use.

    x[i] = y[i] + p, its own: i   ->   p, BufferName("x"), BufferName("y")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from halide_core import ir
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk


class BufferName(NamedTuple):
    """Flat memory."""

    buffer: str


class SemaphoreName(NamedTuple):
    """A semaphore of a fork."""

    semaphore: str


Captured: TypeAlias = "ir.Variable | ir.ParamRef | ir.BufferField | BufferName | SemaphoreName"


def captured(body: ir.Stmt, own: set[str]) -> Iterator[Captured]:
    """The captures of a body; ``own``: variables that are bound around the body, but are its own."""
    variables, names = set(own), set[NamedTuple]()
    for stmt in walk(body):
        if isinstance(stmt, ir.AllocateFlat):
            names.add(BufferName(stmt.buffer))
        elif isinstance(stmt, ir.Let | ir.For):
            variables.add(stmt.var.name)
        elif isinstance(stmt, ir.Fork):
            names.update(SemaphoreName(name) for name, _ in stmt.semaphores)
        elif isinstance(stmt, ir.Acquire | ir.Release) and SemaphoreName(stmt.semaphore) not in names:
            yield SemaphoreName(stmt.semaphore)
        buffers = [stmt.buffer] if isinstance(stmt, ir.Store | ir.PrefetchLine) else []
        if isinstance(stmt, ir.AllocateFlat) and stmt.within is not None:
            buffers.append(stmt.within)
        if isinstance(stmt, ir.WriteFile | ir.Remember):
            buffers += [stmt.func.component_name(k) for k in range(len(stmt.func.types))]
        for e in subexpressions(stmt_exprs(stmt)):
            match e:
                case ir.Variable(name=name) if name not in variables:
                    yield e
                case ir.ParamRef() | ir.BufferField():
                    yield e
                case ir.Load(buffer=buffer):
                    buffers.append(buffer)
        yield from (BufferName(buffer) for buffer in buffers if BufferName(buffer) not in names)


def members_of(name: str, found: list[tuple[str, str]]) -> str:
    """The type of what tasks read from outside; nothing where they read nothing."""
    members = "".join(f"    {c_type} {each};\n" for c_type, each in found)
    return f"struct {name} {{\n{members}}};\n" if found else ""
