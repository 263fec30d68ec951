"""The shapes of inputs and outputs, and what an ImageParam is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.algorithm.sources import Source
from halide_core.buffer.png import Array
from halide_core.checks import items, shown
from halide_core.errors import DefinitionError, NotIterableError, TypeMismatchError, user_location
from halide_core.ir import Field
from halide_core.ir.memory import MemoryType
from halide_core.ir.names import fresh_input_name
from halide_core.ir.types import INT32, INT64, Type
from halide_core.lang.arguments.ranges import RangeLike, as_range
from halide_core.lang.buffer import Buffer
from halide_core.lang.buffer_constraints import alignment_of, check_dimension, note_memory, promise, promise_alignment
from halide_core.lang.coordinates import Coordinates, as_tuple, image_access, startup
from halide_core.lang.expr import Expr, ExprLike
from halide_core.lang.parameter import Parameter
from halide_core.own_name import package_name

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11


class Dimension:
    """The shape of an input, or of an output, along one dimension, as start-up expressions."""

    def __init__(self, image: Image | Function, dim: int) -> None:
        self._image = image
        self._dim = dim

    def _field(self, field: Field) -> Expr:
        return Expr.of(ir.cast(INT32, ir.BufferField(INT64, self._image, field, self._dim)))

    def min(self) -> Expr:
        """The least coordinate."""
        return self._field(Field.MIN)

    def extent(self) -> Expr:
        """The number of coordinates."""
        return self._field(Field.EXTENT)

    def max(self) -> Expr:
        """The greatest coordinate."""
        return self.min() + self.extent() - 1

    def stride(self) -> Expr:
        """The distance of neighbours in memory, in elements."""
        return self._field(Field.STRIDE)

    def dim(self, dimension: int) -> Dimension:
        """Another dimension of the same buffer."""
        return dimension_of(self._image, dimension)

    def set_estimate(self, min: ExprLike, extent: ExprLike) -> Dimension:
        """Notes what is expected of the dimension, for tools that choose schedules. It changes nothing."""
        least = startup(min, "The min of set_estimate()")
        self._note(least, startup(extent, "The extent of set_estimate()"))
        return self

    def set_min(self, min: ExprLike) -> Dimension:
        """Promises the least coordinate; checked when the pipeline starts. An undefined ``Expr()`` takes it back."""
        return self._promise(Field.MIN, min, "The min of set_min()")

    def set_extent(self, extent: ExprLike) -> Dimension:
        """Promises how many coordinates there are; checked when the pipeline starts."""
        return self._promise(Field.EXTENT, extent, "The extent of set_extent()")

    def set_stride(self, stride: ExprLike) -> Dimension:
        """Promises the distance of neighbours in memory, in elements; checked when the pipeline starts.

        Dimension 0 has stride 1 unless something else is promised: ``dim(0).set_stride(3)`` and
        ``dim(2).set_stride(1)`` are what an interleaved picture of three channels has; ``dim(0).set_stride(Expr())``
        allows any stride. Where no stride is read or promised, ``realize`` copies what is not dense.
        """
        return self._promise(Field.STRIDE, stride, "The stride of set_stride()")

    def set_bounds(self, min: ExprLike, extent: ExprLike) -> Dimension:
        """``set_min`` and ``set_extent``."""
        self._promise(Field.MIN, min, "The min of set_bounds()")
        return self._promise(Field.EXTENT, extent, "The extent of set_bounds()")

    def _promise(self, field: Field, value: ExprLike, what: str) -> Dimension:
        promise(self._image, field, self._dim, value, what)
        return self

    def _note(self, min: ir.ExprNode, extent: ir.ExprNode) -> None:
        if isinstance(self._image, Image):
            self._image.estimates[self._dim] = (min, extent)


def dimension_of(image: Image | Function, dim: int) -> Dimension:
    """One dimension of a buffer."""
    check_dimension(image, dim)
    return Dimension(image, dim)


class ShapedSource(Source):
    """A buffer whose shape start-up expressions can be made of."""

    def dim(self, dimension: int) -> Dimension:
        """The shape along one dimension."""
        return dimension_of(self._buffer(), dimension)

    def set_estimates(self, estimates: Sequence[RangeLike]) -> Self:
        """Notes what is expected of every dimension: ``set_estimates([(0, 1920), (0, 1080)])``."""
        buffer, estimates = self._buffer(), items(estimates, "set_estimates() takes a list of (min, extent)")
        if len(estimates) != buffer.dimensions:
            raise DefinitionError(
                f'Buffer "{buffer.name}" has {buffer.dimensions} dimensions, '
                f"but set_estimates() is given {len(estimates)} ranges."
            )
        for d, given in enumerate(estimates):
            range = as_range(given)
            if range.min is None or range.extent is None:
                raise DefinitionError("set_estimates() needs a min and an extent for each dimension.")
            self.dim(d).set_estimate(range.min, range.extent)
        return self

    def set_host_alignment(self, bytes: int) -> Self:
        """Promises that the address of the data is a multiple of ``bytes``, a power of two; checked at start-up."""
        promise_alignment(self._buffer(), bytes)
        return self

    def host_alignment(self) -> int:
        """The bytes that the address of the data is promised to be a multiple of: the element's, unless set."""
        return alignment_of(self._buffer())

    def store_in(self, memory_type: MemoryType) -> Self:
        """Says what kind of memory the data is in: Auto or Heap, which on a CPU are one."""
        note_memory(self._buffer(), memory_type)
        return self

    def parameter(self) -> Parameter:
        """The same buffer, without its Python class."""
        return Parameter.of(self._buffer())

    def left(self) -> Expr:
        """The least x."""
        return self.dim(0).min()

    def right(self) -> Expr:
        """The greatest x."""
        return self.dim(0).max()

    def top(self) -> Expr:
        """The least y."""
        return self.dim(1).min()

    def bottom(self) -> Expr:
        """The greatest y."""
        return self.dim(1).max()

    def width(self) -> Expr:
        """The extent of x."""
        return self.dim(0).extent()

    def height(self) -> Expr:
        """The extent of y."""
        return self.dim(1).extent()

    def channels(self) -> Expr:
        """The extent of the third dimension."""
        return self.dim(2).extent()


class InputImage(ShapedSource):
    """An input buffer, but for what is made of Funcs: see ``ImageParam``."""

    def __init__(self, type: Type | None = None, dimensions: int | None = None, name: str = "") -> None:
        if type is None and dimensions is None:
            return
        if not isinstance(type, Type) or type.is_handle() or type.is_vector():
            raise DefinitionError(f"An ImageParam needs a scalar number type such as hl.UInt(8), not {shown(type)}.")
        if not isinstance(dimensions, int) or isinstance(dimensions, bool) or dimensions < 0:
            raise DefinitionError(f"The number of dimensions of an ImageParam can't be {shown(dimensions)}.")
        self._source = Image(name or fresh_input_name(), type, dimensions, user_location())

    if not TYPE_CHECKING:  # with it a type checker would know of every name

        def __getattr__(self, name: str) -> NoReturn:
            if name == "_source":
                raise DefinitionError("An undefined ImageParam is used: give it a type and a number of dimensions.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _buffer(self) -> Image | Function:
        return self._source

    @property
    def source(self) -> Image:
        """The input as the compiler sees it."""
        return self._source

    def name(self) -> str:
        """The input's name, which is also its argument's."""
        return self._source.name

    def type(self) -> Type:
        """The type of an element."""
        return self._source.types[0]

    def dimensions(self) -> int:
        """The number of coordinates of a point."""
        return self._source.dimensions

    def defined(self) -> bool:
        """True where there is an input: ``ImageParam()`` is undefined. It can't be used, only asked."""
        return "_source" in self.__dict__

    def __iter__(self) -> NoReturn:
        raise NotIterableError(
            f'ImageParam "{self.name()}" has a size only when the pipeline runs: it can\'t be iterated over.'
        )

    def __getitem__(self, index: Coordinates) -> Expr:
        return image_access(self._source, as_tuple(index))

    def at(self, *args: ExprLike) -> Expr:
        """The element at a point as an expression."""
        return image_access(self._source, args)

    def set(self, buffer: Buffer | Array) -> None:
        """Binds the data for the runs that follow; an array is not copied.

        Raises:
            TypeMismatchError: another type. DefinitionError: another number of dimensions.
        """
        given = buffer if isinstance(buffer, Buffer) else Buffer(buffer)
        if given.type() is not self.type():
            raise TypeMismatchError(f'ImageParam "{self.name()}" is of {self.type()}, the buffer of {given.type()}.')
        if given.dimensions() != self.dimensions():
            raise DefinitionError(
                f'ImageParam "{self.name()}" has {self.dimensions()} dimensions, the buffer {given.dimensions()}.'
            )
        self._source.bound = given

    def trace_loads(self) -> None:
        """Shows a line for each element that a stage reads: ``Load in.0(3, 4) = 7``."""
        self._source.traced = True

    def get(self) -> Buffer | None:
        """The Buffer that is bound, or None."""
        bound = self._source.bound
        return bound if isinstance(bound, Buffer) else None

    def reset(self) -> None:
        """Unbinds the data."""
        self._source.bound = None

    def __repr__(self) -> str:
        if not self.defined():
            return f"<{package_name()}.ImageParam ImageParam()>"
        return f"<{package_name()}.ImageParam {self.name()!r}, dims: {self.dimensions()}, type: {self.type()}>"
