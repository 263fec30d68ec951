"""Members that the body of a Generator's class declares: parameters, inputs and outputs.

In: ``gain = hl.GeneratorParam(2)``, ``source = hl.InputBuffer(hl.UInt(8), 2)``, ``out = hl.OutputBuffer(float, 2)``.
Out: for each instance the value of the parameter, an ImageParam or a Param, and a Func.

    InputBuffer(None, 2)   ->   ImageParam(uint16, 2, "source"), where ``source.type=uint16`` is set
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

from halide_core import ir
from halide_core.errors import DefinitionError, Location, TypeMismatchError, user_location
from halide_core.func.func import Func
from halide_core.func.image_param import ImageParam
from halide_core.generate.arg_info import ArgInfo, ArgInfoDirection, ArgInfoKind, TypesLike, as_types, parse_types
from halide_core.ir.types import Type
from halide_core.lang.buffer import Buffer
from halide_core.lang.expr import Expr, Operand, is_plain
from halide_core.lang.param import Param

_TRUE, _FALSE = frozenset({"true", "True", "1"}), frozenset({"false", "False", "0"})


class GeneratorParam:
    """A parameter that a build system sets: a bool, an int, a float, a text or a type, of the kind of its default."""

    def __init__(self, value: str | bool | int | float | Type) -> None:
        if not isinstance(value, str | bool | int | float | Type):
            raise DefinitionError(f"A GeneratorParam is a bool, an int, a float, a str or a hl.Type, not {value!r}.")
        self.value = value

    if TYPE_CHECKING:

        def __get__(self, owner: object, of: type) -> Any: ...  # an instance has the value under its name

    def parsed(self, name: str, given: object) -> object:
        """A value that is given, as a text or as one of the parameter's kind.

        Raises:
            DefinitionError: it is of another kind.
        """
        kind = Type if isinstance(self.value, Type) else type(self.value)
        found = _parsed(kind, given)
        if found is None:
            needed = {bool: "true or false", int: "an integer", float: "a number"}.get(kind, "a type")
            raise DefinitionError(f'GeneratorParam "{name}" is {needed}, not {given!r}.')
        return found


def _parsed(kind: type, given: object) -> object:
    """The value, or None where it is none of the kind."""
    if kind is str:
        return str(given)
    if kind is bool:
        if isinstance(given, str):
            return given in _TRUE if given in _TRUE | _FALSE else None
        return bool(given) if given in (0, 1) else None
    if kind is Type:
        types = parse_types(given) if isinstance(given, str) else as_types(given)  # type: ignore[arg-type]  # refuses others
        return types[0] if len(types) == 1 else None
    try:
        value = kind(given)  # int or float
    except (TypeError, ValueError):
        return None
    return value if isinstance(given, str) or value == given else None


class Port(ABC):
    """An input or an output of a Generator, whose types and dimensions may be left for a build system to say."""

    declared_types: tuple[Type, ...]
    declared_dimensions: int | None
    location: Location
    direction: ArgInfoDirection
    kind: ArgInfoKind

    def declare(self, types: TypesLike, dimensions: int | None) -> None:
        """Notes what the class says."""
        if dimensions is not None and (isinstance(dimensions, bool) or not isinstance(dimensions, int)):
            raise DefinitionError(f"The number of dimensions must be an integer or None, not {dimensions!r}.")
        if dimensions is not None and dimensions < 0:
            dimensions = None  # as in Halide
        self.declared_types, self.declared_dimensions = as_types(types), dimensions
        if self.direction is ArgInfoDirection.Input and len(self.declared_types) > 1:
            raise DefinitionError("An input of a Generator has one type.")
        self.location = user_location()

    @abstractmethod
    def made(self, info: ArgInfo) -> Any:
        """The object that stands for the port in an instance."""

    def bound_to(self, info: ArgInfo, value: object) -> Any:
        """The object that stands for an input in an instance that is called with a value.

        Raises:
            DefinitionError: a value of another kind, type, or number of dimensions.
        """
        raise NotImplementedError  # inputs say

    if not TYPE_CHECKING:  # the declaration of an input is none yet

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise DefinitionError(
                f"An {type(self).__name__} has a {name.strip('_')} only in configure() and generate(), where it is "
                f"that of a Generator which was made."
            )


class InputBuffer(Port, ImageParam):
    """An input buffer of a Generator: in its methods, an ImageParam. None leaves the type, or the dimensions, open."""

    direction, kind = ArgInfoDirection.Input, ArgInfoKind.Buffer

    def __init__(self, type: TypesLike, dimensions: int | None) -> None:
        self.declare(type, dimensions)

    def made(self, info: ArgInfo) -> ImageParam:
        """An ImageParam."""
        image = ImageParam(info.types[0], info.dimensions, info.name)
        image.source.location = self.location
        return image

    def bound_to(self, info: ArgInfo, value: object) -> ImageParam | Func:
        """The ImageParam or the Func that is given; an ImageParam that has the data of a Buffer."""
        if not isinstance(value, Buffer | ImageParam | Func):
            told = f"Input {info.name} requires an ImageParam or Buffer argument, or a Func, not {value!r}."
            raise DefinitionError(told)
        if isinstance(value, Func):
            info.check(value.types(), value.dimensions())
            return value
        info.check([value.type()], value.dimensions())
        if isinstance(value, ImageParam):
            return value
        image = ImageParam(value.type(), value.dimensions())  # a name of its own: there may be several calls
        image.set(value)
        return image


class InputScalar(Port, Param):
    """A scalar input of a Generator: in its methods, a Param. None leaves the type open."""

    direction, kind = ArgInfoDirection.Input, ArgInfoKind.Scalar

    def __init__(self, type: TypesLike) -> None:
        self.declare(type, 0)

    def made(self, info: ArgInfo) -> Param:
        """A Param."""
        param = Param(info.types[0], info.name)
        param.source.location = self.location
        return param

    def bound_to(self, info: ArgInfo, value: object) -> Param:
        """The Param that is given; one that is always worth a number or an expression."""
        if isinstance(value, Param):
            info.check([value.source.type], 0)
            return value
        if isinstance(value, Operand):
            info.check([Expr.of(value._node()).type()], 0)
            return ParamOf(info, value._node())
        if not is_plain(value):
            raise DefinitionError(
                f"Input {info.name} requires a Param (or scalar literal) argument when using call(), or an expression, "
                f"not {value!r}."
            )
        param = ParamOf(info, ir.TRUE)
        param.set(value)  # type: ignore[arg-type]  # a plain number
        number = param.get()
        assert number is not None
        param.fixed = ir.const(number, info.types[0])
        return param


class ParamOf(Param):
    """An input of a Generator that was called with a value: a Param that stands for it."""

    def __init__(self, info: ArgInfo, value: ir.ExprNode) -> None:
        super().__init__(info.types[0], info.name)
        self.fixed = value

    def _node(self) -> ir.ExprNode:
        return self.fixed


class OutputBuffer(Port, Func):
    """An output of a Generator: in its methods, a Func that promises its types and dimensions. Several types are those
    of a Tuple; None leaves them, or the dimensions, open."""

    direction, kind = ArgInfoDirection.Output, ArgInfoKind.Buffer

    def __init__(self, types: TypesLike, dimensions: int | None) -> None:
        self.declare(types, dimensions)

    def made(self, info: ArgInfo) -> Func:
        """A Func."""
        return Func(info.types, info.dimensions, info.name)


class OutputScalar(OutputBuffer):
    """An output of a Generator without dimensions."""

    def __init__(self, types: TypesLike) -> None:
        super().__init__(types, 0)


def resolved(name: str, port: Port, types: object, dimensions: object) -> ArgInfo:
    """All of a port, with what parameters (``name.type``, ``name.dim``) say of it, or None.

    Raises:
        DefinitionError: something that is said twice, or not at all.
    """
    said = {"type": (types, bool(port.declared_types)), "dim": (dimensions, port.declared_dimensions is not None)}
    for word, (value, declared) in said.items():
        if value is not None and declared:
            raise DefinitionError(
                f'"{name}.{word}" can\'t be set: the class declares it, at {port.location}. None there leaves it open.'
            )
        if value is None and not declared:
            what = "type" if word == "type" else "number of dimensions"
            raise DefinitionError(
                f'No {what} is set of "{name}", declared at {port.location}: set the parameter "{name}.{word}".'
            )
    found = port.declared_types or (parse_types(types) if isinstance(types, str) else as_types(types))  # type: ignore[arg-type]
    if port.direction is ArgInfoDirection.Input and len(found) > 1:
        raise TypeMismatchError(f'Input "{name}" has one type, not {len(found)}.')
    count = port.declared_dimensions
    if count is None:
        parsed = _parsed(int, dimensions)
        if not isinstance(parsed, int) or parsed < 0:
            raise DefinitionError(f'"{name}.dim" is a number of dimensions, not {dimensions!r}.')
        count = parsed
    return ArgInfo(name, port.direction, port.kind, list(found), count)
