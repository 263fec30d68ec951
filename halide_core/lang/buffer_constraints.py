"""Promises about a buffer's shape and address, before there is one.

In: an input or an output, a field of a dimension, and a start-up expression. Out: a record on it, which compiled code
checks when it starts.

    promise(image, Field.STRIDE, 0, 3, "…")   ->   assert im.stride.0 == 3
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.algorithm.strides import any_stride
from halide_core.checks import integer, shown
from halide_core.errors import DefinitionError
from halide_core.ir import Field
from halide_core.ir.memory import MemoryType
from halide_core.lang.coordinates import startup
from halide_core.lang.expr import Expr, ExprLike


def check_dimension(buffer: Image | Function, dim: int) -> None:
    """Raises DefinitionError unless the buffer has the dimension."""
    if not 0 <= integer(dim, f'A dimension of buffer "{buffer.name}" is an integer') < buffer.dimensions:
        raise DefinitionError(
            f'Buffer "{buffer.name}" has {buffer.dimensions} dimensions: there is no dimension {shown(dim)}.'
        )


def promise(buffer: Image | Function, field: Field, dim: int, value: ExprLike, what: str) -> None:
    """Records that a field of a dimension has a value; an undefined ``Expr()`` takes an earlier promise back, and the
    one that holds unless another is made: dimension 0 may have any stride then.

    Raises:
        DefinitionError: a value that is not known when the pipeline starts, or a negative extent.
    """
    check_dimension(buffer, dim)
    if isinstance(value, Expr) and not value.defined():
        buffer.constraints.pop((field, dim), None)
        if field is Field.STRIDE and dim == 0:
            buffer.constraints[field, dim] = any_stride(buffer)
        return
    node = startup(value, what)
    if field is Field.EXTENT and isinstance(node, ir.IntImm) and node.value < 0:
        raise DefinitionError(f"{what} can't be negative: {node.value}.")
    buffer.constraints[field, dim] = node


def promise_alignment(buffer: Image | Function, bytes: int) -> None:
    """Records that the address of the data is a multiple of ``bytes``.

    Raises:
        DefinitionError: no power of two.
    """
    if not isinstance(bytes, int) or isinstance(bytes, bool) or bytes < 1 or bytes & (bytes - 1):
        raise DefinitionError(f"The alignment of a buffer is a power of two, in bytes, not {shown(bytes)}.")
    buffer.alignment = bytes


def alignment_of(buffer: Image | Function) -> int:
    """The bytes that the address of the data is promised to be a multiple of: the element's, unless set."""
    return buffer.alignment if buffer.alignment is not None else buffer.types[0].bytes()


def note_memory(buffer: Image | Function, memory_type: MemoryType) -> None:
    """Records the kind of memory that the caller's data is in.

    Raises:
        DefinitionError: a kind that a pipeline makes itself: what a caller passes lies on the heap.
    """
    if not isinstance(memory_type, MemoryType) or memory_type not in (MemoryType.Auto, MemoryType.Heap):
        given = str(memory_type) if isinstance(memory_type, MemoryType) else shown(memory_type)
        raise DefinitionError(
            f'The memory of buffer "{buffer.name}" is the caller\'s: store_in() takes MemoryType.Auto or '
            f"MemoryType.Heap here, not {given}."
        )
    buffer.memory = memory_type
