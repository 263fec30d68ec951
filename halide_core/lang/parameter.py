"""Inputs seen without their Python class: what a Param and an ImageParam are made of.

In: ``param.parameter()``, or a type, whether it is a buffer, and a number of dimensions. Out: the same input, with its
value, its promises and its estimates under one set of names.

    Param(Int(32), "n", 3).parameter().scalar()   ->   3
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.algorithm.model import ScalarParam as Scalar
from halide_core.algorithm.strides import any_stride
from halide_core.checks import integer, of_kind, shown
from halide_core.errors import ArgumentTypeError, DefinitionError, TypeMismatchError, user_location
from halide_core.ir import Field
from halide_core.ir.memory import MemoryType
from halide_core.ir.names import fresh_input_name
from halide_core.ir.types import Type, computed_type
from halide_core.lang.arguments.values import checked_value
from halide_core.lang.buffer import Buffer
from halide_core.lang.buffer_constraints import (
    alignment_of,
    check_dimension,
    note_memory,
    promise,
    promise_alignment,
)
from halide_core.lang.coordinates import constant, startup
from halide_core.lang.estimates import ArgumentEstimates, estimates_of, expected
from halide_core.lang.expr import Expr, ExprLike, Operand, as_node
from halide_core.own_name import package_name


class Parameter:
    """An input: a scalar, or a buffer. Two Parameters are the same input where ``same_as`` says so.

    Raises:
        DefinitionError: a question about buffers that is asked of a scalar, or the other way round.
    """

    def __init__(self, type: Type, is_buffer: bool, dimensions: int, name: str = "") -> None:
        type = of_kind(type, Type, "A Parameter is of a hl.Type")
        dimensions = integer(dimensions, "The dimensions of a Parameter are a number of them")
        if dimensions < 0 or (dimensions and not is_buffer):
            raise DefinitionError(f"A Parameter can't have {shown(dimensions)} dimensions; a scalar has 0.")
        label, here = of_kind(name, str, "A Parameter's name is a text") or fresh_input_name(), user_location()
        self._source: Image | Function | Scalar = (
            Image(label, type, dimensions, here) if is_buffer else Scalar(label, type, here)
        )

    @classmethod
    def of(cls, source: Image | Function | Scalar) -> Parameter:
        """The Parameter of an input, or of an output's buffer."""
        self = cls.__new__(cls)
        self._source = source
        return self

    @property
    def source(self) -> Image | Function | Scalar:
        """The input as the compiler sees it."""
        return self._source

    def _scalar(self) -> Scalar:
        if not isinstance(self._source, Scalar):
            raise DefinitionError(f'Parameter "{self.name()}" is a buffer: it has no value of its own.')
        return self._source

    def _buffer(self) -> Image | Function:
        if isinstance(self._source, Scalar):
            raise DefinitionError(f'Parameter "{self.name()}" is a scalar: it has no dimensions and no data.')
        return self._source

    # What it is.

    def name(self) -> str:
        """The input's name."""
        return self._source.name

    def type(self) -> Type:
        """The type of the value, or of an element."""
        return self._source.type if isinstance(self._source, Scalar) else self._source.types[0]

    def dimensions(self) -> int:
        """The number of dimensions of a buffer; 0 for a scalar."""
        return 0 if isinstance(self._source, Scalar) else self._source.dimensions

    def is_buffer(self) -> bool:
        """True where this is a buffer."""
        return not isinstance(self._source, Scalar)

    def defined(self) -> bool:
        """Always true."""
        return True

    def same_as(self, other: Parameter) -> bool:
        """True where both are the same input."""
        return self._source is of_kind(other, Parameter, "same_as() of a Parameter takes a Parameter")._source

    # A scalar's value.

    def scalar(self) -> int | float | None:
        """The value that was set, or None."""
        value = self._scalar().value
        return bool(value) if value is not None and self.type().is_bool() else value

    def scalar_expr(self) -> Expr:
        """The value that was set, as an expression; undefined where there is none."""
        return self._expr(self._scalar().value)

    def set_scalar(self, *value: object) -> None:
        """Sets the value: ``set_scalar(value)``, or ``set_scalar(type, value)`` of that very type."""
        if len(value) not in (1, 2):
            raise ArgumentTypeError("set_scalar() takes a value, or a hl.Type and a value.")
        if len(value) == 2 and value[0] is not self.type():
            raise TypeMismatchError(f'Parameter "{self.name()}" is of {self.type()}, not of {shown(value[0])}.')
        self._scalar().value = self._checked(value[-1])

    def default_value(self) -> Expr:
        """The value that was set."""
        return self.scalar_expr()

    def set_default_value(self, expr: ExprLike) -> None:
        """Sets the value."""
        self._scalar().value = self._checked(expr)

    def min_value(self) -> Expr:
        """The least value promised; undefined where there is none."""
        return self._expr(self._scalar().low)

    def max_value(self) -> Expr:
        """The greatest value promised; undefined where there is none."""
        return self._expr(self._scalar().high)

    def set_min_value(self, expr: ExprLike) -> None:
        """Promises that the value is not less; checked when the pipeline starts."""
        self._scalar().low = self._checked(expr)

    def set_max_value(self, expr: ExprLike) -> None:
        """Promises that the value is not greater; checked when the pipeline starts."""
        self._scalar().high = self._checked(expr)

    def estimate(self) -> Expr:
        """The value that is expected; undefined where there is none."""
        return self._expr(self._scalar().estimate)

    def set_estimate(self, expr: ExprLike) -> None:
        """Notes the value that is expected. It changes nothing."""
        self._scalar().estimate = self._checked(expr)

    # A buffer's data and shape.

    def buffer(self) -> Buffer | None:
        """The Buffer that is bound, or None."""
        source = self._buffer()
        bound = source.bound if isinstance(source, Image) else None
        return bound if isinstance(bound, Buffer) else None

    def set_buffer(self, buffer: Buffer) -> None:
        """Binds the data for the runs that follow."""
        source, buffer = self._buffer(), of_kind(buffer, Buffer, "set_buffer() takes a Buffer")
        if buffer.type() is not self.type() or buffer.dimensions() != source.dimensions or isinstance(source, Function):
            raise TypeMismatchError(f'{buffer!r} is no data for Parameter "{self.name()}".')
        source.bound = buffer

    def host_alignment(self) -> int:
        """The bytes that the address of the data is promised to be a multiple of: the element's, unless set."""
        return alignment_of(self._buffer())

    def set_host_alignment(self, bytes: int) -> None:
        """Promises that the address of the data is a multiple of ``bytes``, a power of two; checked at start-up."""
        promise_alignment(self._buffer(), bytes)

    def memory_type(self) -> MemoryType:
        """The kind of memory that the data is in; Auto for a scalar."""
        return MemoryType.Auto if isinstance(self._source, Scalar) else self._source.memory

    def store_in(self, memory_type: MemoryType) -> None:
        """Says what kind of memory the data is in: Auto or Heap, which on a CPU are one."""
        note_memory(self._buffer(), memory_type)

    def min_constraint(self, dim: int) -> Expr:
        """The least coordinate promised; undefined where there is none."""
        return self._constraint(Field.MIN, dim)

    def extent_constraint(self, dim: int) -> Expr:
        """The extent promised; undefined where there is none."""
        return self._constraint(Field.EXTENT, dim)

    def stride_constraint(self, dim: int) -> Expr:
        """The stride promised, in elements: 1 for dimension 0 unless set; undefined where there is none."""
        found = self._constraint(Field.STRIDE, dim)
        if not found.defined():
            return Expr(1) if dim == 0 else found
        return Expr() if found._node() is any_stride(self._buffer()) else found

    def set_min_constraint(self, dim: int, expr: ExprLike) -> None:
        """Promises the least coordinate; checked when the pipeline starts."""
        promise(self._buffer(), Field.MIN, dim, expr, "The min of set_min_constraint()")

    def set_extent_constraint(self, dim: int, expr: ExprLike) -> None:
        """Promises the extent; checked when the pipeline starts."""
        promise(self._buffer(), Field.EXTENT, dim, expr, "The extent of set_extent_constraint()")

    def set_stride_constraint(self, dim: int, expr: ExprLike) -> None:
        """Promises the stride, in elements; checked when the pipeline starts."""
        promise(self._buffer(), Field.STRIDE, dim, expr, "The stride of set_stride_constraint()")

    def buffer_constraints(self) -> list[tuple[Expr, Expr, Expr]]:
        """The min, the extent and the stride promised of each dimension."""
        dims = range(self._buffer().dimensions)
        return [(self.min_constraint(d), self.extent_constraint(d), self.stride_constraint(d)) for d in dims]

    def min_constraint_estimate(self, dim: int) -> Expr:
        """The least coordinate that is expected; undefined where there is none."""
        return self._expected(dim)[0]

    def extent_constraint_estimate(self, dim: int) -> Expr:
        """The extent that is expected; undefined where there is none."""
        return self._expected(dim)[1]

    def set_min_constraint_estimate(self, dim: int, expr: ExprLike) -> None:
        """Notes the least coordinate that is expected. It changes nothing."""
        self._expect(dim, 0, startup(expr, "The min of set_min_constraint_estimate()"))

    def set_extent_constraint_estimate(self, dim: int, expr: ExprLike) -> None:
        """Notes the extent that is expected. It changes nothing."""
        self._expect(dim, 1, startup(expr, "The extent of set_extent_constraint_estimate()"))

    def get_argument_estimates(self) -> ArgumentEstimates:
        """Everything that is known in advance of the values."""
        return estimates_of(self._source)

    # How.

    def _expr(self, value: int | float | None) -> Expr:
        return Expr() if value is None else Expr.of(ir.const(value, computed_type(self.type())))

    def _checked(self, value: object) -> int | float:
        number = constant(as_node(value)) if isinstance(value, Operand) else value
        if number is None:
            raise DefinitionError(f'A value of Parameter "{self.name()}" must be a constant, not {value!r}.')
        return checked_value(self.type(), number, f'Parameter "{self.name()}"')

    def _constraint(self, field: Field, dim: int) -> Expr:
        check_dimension(self._buffer(), dim)
        found = self._buffer().constraints.get((field, dim))
        return Expr.of(found) if found is not None else Expr()

    def _expected(self, dim: int) -> tuple[Expr, Expr]:
        source = self._buffer()
        check_dimension(source, dim)
        return expected(source, dim)

    def _expect(self, dim: int, which: int, value: ir.ExprNode) -> None:
        source = self._buffer()
        check_dimension(source, dim)
        if isinstance(source, Image):
            least, extent = source.estimates.get(dim, (None, None))
            source.estimates[dim] = (value, extent) if which == 0 else (least, value)

    def __repr__(self) -> str:
        kind = f"buffer of {self.dimensions()} dimensions" if self.is_buffer() else "scalar"
        return f"<{package_name()}.Parameter {self.name()!r}, {kind}, {self.type()}>"
