"""The arguments of an interpreted program: what their buffers hold, and the values that stay the same in a run.

In: arguments and the caller's buffers, numbers and boxes. Out: memory, and the value of each Param and buffer's field.

    Arguments(lowered.arguments, [image, 3], [out]).leaf(in.extent.0)   ->   640
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import InternalError
from halide_core.ir import Callee, ExprNode, Field
from halide_core.ir.float16 import element, numbers
from halide_core.ir.types import INT64, computed_type
from halide_core.lang.buffer import Buffer
from halide_core.lowering.interpreter.memory_model import EPS_MEM, OUTSIDE, AssertionFailure, Memory
from halide_core.reference.scalar_ops import cast_function, value_of
from halide_core.run.backend import Argument, ArgumentKind, Box

_INT32 = range(-(1 << 31), 1 << 31)


class ArgumentMemory(Memory):
    """An argument's cells. Flat positions count from the first element, by the caller's strides, gaps left out."""

    __slots__ = ("_positions", "present", "strides")

    def __init__(self, name: str, box: Box, strides: tuple[int, ...], *, present: bool) -> None:
        super().__init__(name, box)
        self.strides = strides
        self.present = present
        """True where there is memory; there is none in a bounds query."""
        self._positions: dict[int, int] | None = None
        used = [(s, dense) for s, (_, n, dense) in zip(strides, self._dims, strict=True) if n > 1]
        if self.size and any(s != dense for s, dense in used):
            positions = [0]
            for stride, (_, length) in zip(strides, box, strict=True):
                positions = [k * stride + at for k in range(length) for at in positions]
            self._positions = {position: cell for cell, position in enumerate(positions)}

    def position(self, index: int) -> int:
        """InBounds of a position: gaps between rows are outside."""
        return super().position(index) if self._positions is None else self._positions.get(index, OUTSIDE)


def memory_of(name: str, buffer: Buffer, *, filled: bool) -> ArgumentMemory:
    """An argument's memory: an input has its values, and so has an output that keeps some; others start as ε_mem."""
    array = buffer.array
    box = tuple(zip(buffer.mins, reversed(array.shape), strict=True))
    strides = []
    dense = 1
    for d, (_, length) in enumerate(box):
        unused = array.size == 0 or (d == 0 and length < 2)  # numpy's are arbitrary there
        strides.append(dense if unused else array.strides[-1 - d] // array.itemsize)
        dense *= max(length, 1)
    memory = ArgumentMemory(name, box, tuple(strides), present=True)
    if filled:
        memory.cells = dict(enumerate(numbers(array.ravel()).tolist()))
    return memory


def absent_memory(name: str, box: Box) -> ArgumentMemory:
    """An argument whose region is asked for."""
    strides, dense = [], 1
    for _, length in box:
        strides.append(dense)
        dense *= max(length, 1)
    return ArgumentMemory(name, box, tuple(strides), present=False)


class Arguments:
    """One call's arguments. A buffer without memory is a bounds query."""

    def __init__(self, arguments: Sequence[Argument], values: Sequence[Any]) -> None:
        self._arguments = tuple(arguments)
        self._values = tuple(values)
        self._scalars: dict[ir.Scalar, int | float] = {}
        self._memories: list[ArgumentMemory | None] = []
        self.components: dict[Callee, list[tuple[Argument, ArgumentMemory]]] = {}
        """The memory of each buffer, by component."""
        for argument, value in zip(arguments, values, strict=True):
            self._memories.append(self._bind(argument, value))

    def _bind(self, argument: Argument, value: Any) -> ArgumentMemory | None:
        if argument.kind is ArgumentKind.InputScalar:
            assert isinstance(argument.source, ir.Scalar)
            number = value_of(value, computed_type(argument.type))
            if number is None:
                raise InternalError(f'"{argument.name}" can\'t be {value!r}: it is of {argument.type}.')
            self._scalars[argument.source] = number
            return None
        assert isinstance(argument.source, Callee)
        if isinstance(value, Buffer):
            source = argument.source
            filled = argument.kind is ArgumentKind.InputBuffer or (isinstance(source, Function) and source.keeps)
            memory = memory_of(argument.name, value, filled=filled)
        else:
            memory = absent_memory(argument.name, value or ((0, 0),) * argument.dimensions)
        self.components.setdefault(argument.source, []).append((argument, memory))
        return memory

    def leaf(self, e: ExprNode) -> int | float:
        """A Param's value, or a field of a buffer as the expression's type."""
        if isinstance(e, ir.ParamRef):
            if e.param not in self._scalars:
                raise InternalError(f'Parameter "{e.param.name}" is no argument.')
            return self._scalars[e.param]
        assert isinstance(e, ir.BufferField)
        if e.buffer not in self.components:
            raise InternalError(f'"{e!r}" asks for the shape of what is no argument.')
        memory = self.components[e.buffer][0][1]
        if e.field is Field.STRIDE:
            number = memory.strides[e.dim]
        else:
            number = memory.box[e.dim][0 if e.field is Field.MIN else 1]
        value: int = cast_function(INT64, e.type)(number)
        return value

    @property
    def all_present(self) -> bool:
        """True where every buffer has memory."""
        return all(memory is None or memory.present for memory in self._memories)

    def answers(self, regions: dict[Callee, Box]) -> tuple[Box | None, ...]:
        """The reply to a bounds query: the region of each argument that has no memory."""
        result: list[Box | None] = []
        for argument, memory in zip(self._arguments, self._memories, strict=True):
            if memory is None or memory.present:
                result.append(None)
                continue
            assert isinstance(argument.source, Callee)
            result.append(_checked_region(argument, regions[argument.source]))
        return tuple(result)

    def finish(self) -> tuple[tuple[Argument, Memory], ...]:
        """The outputs; what was written of them is copied to the caller's arrays."""
        result: list[tuple[Argument, Memory]] = []
        for argument, memory, value in zip(self._arguments, self._memories, self._values, strict=True):
            if memory is not None and argument.kind is ArgumentKind.OutputBuffer:
                result.append((argument, memory))
                for at, cell in memory.cells.items():
                    if cell is not EPS_MEM:
                        value.array[np.unravel_index(at, value.array.shape)] = element(cell, argument.type)
        return tuple(result)


def _checked_region(argument: Argument, region: Box) -> Box:
    """A region as an argument's int32 fields can hold it."""
    for d, (low, length) in enumerate(region):
        if low not in _INT32 or length not in _INT32 or length < 0 or low + length - 1 not in _INT32:
            told = f"would need min {low} and extent {length} in dimension {d}, which don't fit int32."
            raise AssertionFailure(f'"{argument.name}" {told}', ir.Failure.INDEX_OVERFLOW)
    return region
