"""Buffers: numpy arrays with coordinates of their own.

In: an array, or a type and sizes. Out: a view whose first coordinate x is the array's last axis; never a copy.

    a = np.zeros((3, 4));  b = Buffer(a);  b[x, y]  is  a[y, x];  np.asarray(b)  has the memory of a
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from halide_core.algorithm.model import Image
from halide_core.buffer.device import DeviceMemory
from halide_core.buffer.png import Array
from halide_core.buffer.shape import Shaped, allocate, check_memory, view, zeros_like
from halide_core.checks import integer, integers, items, of_kind, shown
from halide_core.errors import (
    ArgumentTypeError,
    CoordinateCountError,
    CoordinateError,
    DefinitionError,
    HalideError,
    NotIterableError,
    TypeMismatchError,
    user_location,
)
from halide_core.ir.float16 import element, numbers
from halide_core.ir.types import Type
from halide_core.lang.arguments.values import checked_value
from halide_core.lang.coordinates import Coordinates, as_tuple, check_arity, image_access
from halide_core.lang.expr import Expr, ExprLike, Operand
from halide_core.own_name import package_name

_count = 0


def _fresh_name() -> str:
    global _count
    _count += 1
    return f"b{_count - 1}"


class Buffer(DeviceMemory, Shaped):
    """A typed, strided block of memory shared with numpy.

    ``Buffer(array, name="", reverse_axes=True)`` views any array or buffer of numbers, without a copy;
    ``Buffer(type, sizes, name="")`` allocates, x dense; ``Buffer(type, sizes, storage_order, name="")`` lays the
    dimensions out in the order given, the first dense. The least coordinate is 0 until ``set_min``. ``Buffer()``
    is none: it isn't ``defined()``.

    Raises:
        HalideError: a type that no pipeline knows, a foreign byte order, misaligned data, strides
            that are no multiple of the element, or a shape that int32 can't express.
    """

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, buffer: Any, name: str = "", reverse_axes: bool = True) -> None: ...
    @overload
    def __init__(self, type: Type, sizes: Sequence[int], name: str = "") -> None: ...
    @overload
    def __init__(
        self, type: Type, sizes: Sequence[int], storage_order: Sequence[int] | None, name: str = ""
    ) -> None: ...
    def __init__(self, *args: Any, **options: Any) -> None:
        self._image: Image | None = None
        self.described: object = None
        """The descriptor that the runtime keeps with the Buffer: how C sees it."""
        self._has_memory = True
        if len(args) == 1 and not options and isinstance(args[0], Buffer):
            self._name, self._has_memory, self._defined = _fresh_name(), args[0]._has_memory, args[0]._defined
            if self._defined:
                self._array, self._mins = args[0]._array, args[0]._mins
            return
        if not args and not options:  # none yet, as a variable of Halide's is before it is assigned
            self._name, self._has_memory, self._defined = _fresh_name(), False, False
            return
        make = allocate if "type" in options or (args and isinstance(args[0], Type)) else view
        try:
            self._array, name = make(*args, **options)
        except TypeError:
            _check_call(make, args, options)
            raise
        self._mins = (0,) * self._array.ndim
        self._name = of_kind(name, str, "The name of a Buffer is a text") or _fresh_name()
        check_memory(self._array)
        self._check_shape()

    @classmethod
    def make_scalar(cls, type: Type, name: str = "") -> Buffer:
        """A Buffer without dimensions: one element."""
        return cls(type, [], name)

    @classmethod
    def make_interleaved(cls, type: Type, width: int, height: int, channels: int, name: str = "") -> Buffer:
        """A Buffer of (x, y, c) with c dense."""
        return cls(type, [width, height, channels], [2, 0, 1], name)

    @classmethod
    def make_with_shape_of(cls, src: Buffer, name: str = "") -> Buffer:
        """A new Buffer with the type, the shape and the order of dimensions in memory of another."""
        src = of_kind(src, Buffer, "make_with_shape_of() takes a Buffer")
        return cls._of(np.empty_like(src._array), src._mins, name)

    @classmethod
    def make_bounds_query(cls, type: Type, sizes: Sequence[int], name: str = "") -> Buffer:
        """A Buffer without memory. A run that is given one computes nothing: it gives each such Buffer the region that
        computing the others would need of it, or that sizes ask for.

        Example: ``ip.set(query); f.realize(out)`` leaves in ``query`` what ``f`` reads of ``ip`` for ``out``;
        ``query.allocate()`` gives it memory.
        """
        self = cls(type, sizes, name)
        self._has_memory = False
        return self

    @classmethod
    def _of(cls, array: Array, mins: tuple[int, ...], name: str = "") -> Buffer:
        self = cls(array, name)
        self._mins = mins
        self._check_shape()
        return self

    def _view(self, array: Array, mins: tuple[int, ...]) -> Buffer:
        """Another view of the same memory, or of the same lack of it."""
        view = Buffer._of(array, mins)
        view._has_memory = self._has_memory
        return view

    if not TYPE_CHECKING:  # else the type checker would know any attribute

        def __getattr__(self, name: str) -> None:
            """Refuses what asks for the memory or the shape of an undefined Buffer, which has neither of these."""
            if name in ("_array", "_mins") and not self._defined:
                raise HalideError("An undefined Buffer is used: Buffer() is nothing yet. Ask defined() first.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __getstate__(self) -> dict[str, Any]:
        """The contents of a pickle: all but how C sees the memory."""
        return {**self.__dict__, "described": None}

    # Memory.

    def allocate(self) -> None:
        """Gives the Buffer new memory, zeroed, of its shape and order of dimensions."""
        self._array, self.described, self._has_memory = zeros_like(self._array), None, True

    def deallocate(self) -> None:
        """Gives the memory up: the Buffer has a shape only, until ``allocate``. Views of it keep theirs."""
        self._array, self.described, self._has_memory = zeros_like(self._array), None, False

    def has_memory(self) -> bool:
        """True where there are elements: not in a bounds query, and not after ``deallocate``."""
        return self._has_memory

    def set_region(self, region: Sequence[tuple[int, int]]) -> None:
        """Gives a Buffer without memory another shape: (min, extent) of each dimension, x dense.

        Raises:
            HalideError: the Buffer has memory.
        """
        if self._has_memory:
            raise HalideError(f"{self!r} has memory: its region can't change.")
        box = _pairs(region, "set_region()")
        self._array, _ = allocate(self.type(), [extent for _, extent in box])
        self._move(tuple(low for low, _ in box))

    def _memory(self) -> Array:
        """The elements as numpy sees them."""
        if not self._has_memory:
            raise HalideError(f"{self!r} has no memory: it was deallocated, or is a bounds query. Call allocate().")
        return self._array

    def _writable(self) -> Array:
        """The elements, to be set."""
        array = self._memory()
        if not array.flags.writeable:
            raise HalideError(f"{self!r} is read-only: it is made of an array that is.")
        return array

    # Elements.

    @property
    def source(self) -> Image:
        """The Buffer as an input of a pipeline."""
        return self.image

    @property
    def image(self) -> Image:
        """The Buffer as an input that definitions mention; the same object each time."""
        if self._image is None:
            self._image = Image(self._name, self.type(), self.dimensions(), user_location(), embedded=True)
            self._image.bound = self
        return self._image

    def _axes(self, index: tuple[Any, ...]) -> tuple[int, ...]:
        check_arity(f'Buffer "{self._name}"', self.dimensions(), len(index), CoordinateCountError)
        at = []
        for i, value in enumerate(index):
            if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
                raise TypeMismatchError(f'Coordinate {i} of Buffer "{self._name}" must be an integer, not {value!r}.')
            position, d = operator.index(value), self.dim(i)
            if not d.min() <= position <= d.max():
                raise CoordinateError(
                    f"index {position} is out of bounds for axis {i} with min={d.min()}, extent={d.extent()}, "
                    f'in Buffer "{self._name}".'
                )
            at.append(position - d.min())
        return tuple(reversed(at))

    def __getitem__(self, index: Coordinates) -> Any:
        """An element, for integers; an expression, where a Var or an Expr is among the coordinates."""
        at = as_tuple(index)
        if any(isinstance(i, Operand) for i in at):
            return image_access(self.image, at)
        return numbers(self._memory()[self._axes(at)]).item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._writable()[self._axes(as_tuple(index))] = self._element(value)

    def at(self, *args: ExprLike) -> Expr:
        """The element at a point as an expression, for integers and zero dimensions too."""
        return image_access(self.image, args)

    def __iter__(self) -> Iterator[Any]:
        if self.dimensions() != 1:
            raise NotIterableError(
                f"A Buffer of {self.dimensions()} dimensions can't be iterated over; np.asarray(buffer) can."
            )
        return iter(numbers(self._memory()).tolist())

    def contains(self, coords: Sequence[int]) -> bool:
        """True where a point lies inside."""
        at = integers(coords, "contains() takes a list of integers")
        dims = [self.dim(i) for i in range(len(at))]
        return all(d.min() <= c <= d.max() for d, c in zip(dims, at, strict=True))

    def numpy_view(self, reverse_axes: bool = True) -> Array:
        """The same memory as an array, whose last axis is x; or its first one."""
        array = np.asarray(self)
        return array if reverse_axes else array.T

    def fill(self, value: object) -> None:
        """Sets every element."""
        self._writable()[...] = self._element(value)

    def all_equal(self, value: object) -> bool:
        """True where every element has this value."""
        expected = checked_value(self.type(), value, f'Buffer "{self._name}"')
        return bool(np.all(numbers(self._memory()) == expected))

    def _element(self, value: object) -> Any:
        """A number as an element of the memory."""
        return element(checked_value(self.type(), value, f'Buffer "{self._name}"'), self.type())

    def for_each_element(self, f: Callable[[list[int]], object]) -> None:
        """Calls ``f`` with the coordinates of each element, x changing fastest."""
        if not callable(f):
            raise ArgumentTypeError(f"for_each_element() takes a function of a list of coordinates, not {shown(f)}.")
        for at in np.ndindex(self._array.shape):
            f([i + low for i, low in zip(reversed(at), self._mins, strict=True)])

    # Copies and views.

    def copy(self) -> Buffer:
        """A Buffer with memory of its own, laid out alike."""
        return Buffer._of(self._memory().copy(order="K"), self._mins)

    def copy_from(self, src: Buffer) -> None:
        """Copies the elements at the coordinates that both Buffers have."""
        src = of_kind(src, Buffer, "copy_from() takes a Buffer")
        if src.type() is not self.type() or src.dimensions() != self.dimensions():
            raise TypeMismatchError(f"{self!r} can't be filled from {src!r}.")
        both = []
        for i in range(self.dimensions()):
            a, b = self.dim(i), src.dim(i)
            low, high = max(a.min(), b.min()), min(a.max(), b.max())
            if high < low:
                return
            both.append((low, high - low + 1))
        self.cropped(both)._writable()[...] = src.cropped(both)._memory()

    def set_min(self, mins: Sequence[int]) -> None:
        """Moves the coordinates so that the first ones are ``mins``; dimensions that aren't given stay."""
        try:
            first = tuple(operator.index(m) for m in mins)
        except TypeError as error:
            given = shown(mins)
            raise DefinitionError(f"{self!r} starts at integers, one for each dimension, not at {given}.") from error
        if len(first) > self.dimensions():
            raise DefinitionError(f"{self!r} has fewer than {len(first)} dimensions.")
        self._move(first + self._mins[len(first) :])

    def _move(self, mins: tuple[int, ...]) -> None:
        before, self._mins = self._mins, mins
        try:
            self._check_shape()
        except HalideError:
            self._mins = before
            raise

    def translate(self, dimension: int | Sequence[int], dx: int | None = None) -> None:
        """``translate(dimension, dx)`` or ``translate([dx, dy, …])``: adds to the coordinates."""
        if isinstance(dimension, int):
            self.dim(dimension)
            delta = [0] * dimension + [integer(dx if dx is not None else 0, "A distance of translate() is an integer")]
        else:
            delta = integers(dimension, "translate() takes a dimension and a distance, or a list of distances")
        if len(delta) > self.dimensions():
            raise DefinitionError(f"{self!r} has fewer than {len(delta)} dimensions.")
        delta += [0] * (self.dimensions() - len(delta))
        self._move(tuple(m + d for m, d in zip(self._mins, delta, strict=True)))

    def translated(self, dimension: int | Sequence[int], dx: int | None = None) -> Buffer:
        """A view of the same memory with coordinates moved."""
        view = self._view(self._array, self._mins)
        view.translate(dimension, dx)
        return view

    def cropped(
        self, dimension: int | Sequence[tuple[int, int]], min: int | None = None, extent: int | None = None
    ) -> Buffer:
        """A view of a part: ``cropped(dimension, min, extent)`` or ``cropped([(min, extent), …])``."""
        if isinstance(dimension, int):
            if min is None or extent is None:
                raise DefinitionError("cropped() needs a dimension, a min and an extent.")
            d = self.dim(dimension)
            part = _pairs([(min, extent)], "cropped()")
            rect = [(self.dim(i).min(), self.dim(i).extent()) for i in range(dimension)] + part
        else:
            rect = _pairs(dimension, "cropped()")
        window: list[Any] = [...] + [slice(None)] * self.dimensions()
        mins = list(self._mins)
        for i, (low, size) in enumerate(rect):
            d = self.dim(i)
            if size < 0 or low < d.min() or low + size > d.min() + d.extent():
                raise CoordinateError(f"The crop ({low}, {size}) of dimension {i} is outside of {self!r}.")
            window[self.dimensions() - i] = slice(low - d.min(), low - d.min() + size)
            mins[i] = low
        return self._view(self._array[tuple(window)], tuple(mins))

    def sliced(self, dimension: int, pos: int | None = None) -> Buffer:
        """A view with one dimension fixed, at its least coordinate if none is given, and dropped."""
        d = self.dim(dimension)
        at = d.min() if pos is None else integer(pos, "The place of a slice is an integer")
        if not d.min() <= at <= d.max():
            raise CoordinateError(f"The slice at {at} of dimension {dimension} is outside of {self!r}.")
        window: list[Any] = [...] + [slice(None)] * self.dimensions()
        window[self.dimensions() - dimension] = at - d.min()
        return self._view(self._array[tuple(window)], self._mins[:dimension] + self._mins[dimension + 1 :])

    def transposed(self, d1: int | Sequence[int], d2: int | None = None) -> Buffer:
        """A view with two dimensions exchanged, or with dimension ``i`` as the one that ``d1[i]`` says."""
        n = self.dimensions()
        order = list(range(n))
        if isinstance(d1, int):
            if d2 is None:
                raise DefinitionError("transposed() needs two dimensions, or a list of all.")
            self.dim(d1), self.dim(d2)
            order[d1], order[d2] = d2, d1
        else:
            given = integers(d1, "transposed() takes two dimensions, or a list of all")
            if sorted(given) != order:
                raise DefinitionError(f"{given} is not an order of the dimensions of {self!r}.")
            order.sort(key=given.__getitem__)
        axes = [n - 1 - order[n - 1 - axis] for axis in range(n)]
        return self._view(self._array.transpose(axes), tuple(self._mins[i] for i in order))

    def embedded(self, dimension: int, pos: int = 0) -> Buffer:
        """A view with one more dimension, of extent 1 at ``pos``."""
        if not 0 <= integer(dimension, "The dimension of embedded() is an integer") <= self.dimensions():
            raise DefinitionError(f"{self!r} can't get a dimension {shown(dimension)}.")
        pos = integer(pos, "The pos of embedded() is an integer")
        array = np.expand_dims(self._array, self.dimensions() - dimension)
        return self._view(array, (*self._mins[:dimension], pos, *self._mins[dimension:]))

    def reverse_axes(self) -> Buffer:
        """A view with the dimensions in reverse order."""
        return self.transposed(list(reversed(range(self.dimensions()))))

    def _become(self, other: Buffer) -> None:
        if self._image is not None and other.dimensions() != self.dimensions():
            raise DefinitionError(f"{self!r} stands in a definition: its number of dimensions can't change.")
        self._array, self._mins = other._array, other._mins

    def crop(
        self, dimension: int | Sequence[tuple[int, int]], min: int | None = None, extent: int | None = None
    ) -> None:
        """``cropped``, in place."""
        self._become(self.cropped(dimension, min, extent))

    def slice(self, dimension: int, pos: int | None = None) -> None:
        """``sliced``, in place."""
        self._become(self.sliced(dimension, pos))

    def transpose(self, d1: int | Sequence[int], d2: int | None = None) -> None:
        """``transposed``, in place."""
        self._become(self.transposed(d1, d2))

    def embed(self, dimension: int, pos: int = 0) -> None:
        """``embedded``, in place."""
        self._become(self.embedded(dimension, pos))

    def add_dimension(self) -> None:
        """Adds a last dimension of extent 1."""
        self.embed(self.dimensions())

    def __repr__(self) -> str:
        if not self._defined:
            return f"<undefined {package_name()}.Buffer>"
        dims = [self.dim(i) for i in range(self.dimensions())]
        shape = ",".join(f"[{d.min()},{d.extent()},{d.stride()}]" for d in dims)
        return f"<{package_name()}.Buffer of type {self.type()} shape:[{shape}]>"


def _pairs(region: Sequence[tuple[int, int]], call: str) -> list[tuple[int, int]]:
    """The (min, extent) of each dimension, as integers."""
    rule = f"{call} takes a (min, extent) of integers for each dimension"
    found = []
    for pair in items(region, rule):
        ends = integers(pair, rule)
        if len(ends) != 2:
            raise ArgumentTypeError(f"{rule}, not {shown(pair)}.")
        found.append((ends[0], ends[1]))
    return found


def _check_call(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raises ArgumentTypeError where a Buffer can't be made of arguments as many, or of these names."""
    try:
        inspect.signature(make).bind(*args, **options)
    except TypeError as wrong:
        raise ArgumentTypeError(
            f"A Buffer is made by Buffer(), Buffer(array, name, reverse_axes), Buffer(type, sizes, name) or "
            f"Buffer(type, sizes, storage_order, name): {wrong}."
        ) from wrong
