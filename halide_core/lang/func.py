"""Funcs: values at every point of an integer lattice, by a definition and updates (figure 2.5).

In: ``f[x, y] = e`` and ``f[r.x, y] += e``. Out: a Function with one Definition for each stage.

    f = Func("f");  f[x] = x*x;  f[3] = 0   ->   fun f(x) = { x*x; (3) <- 0 }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from halide_core import ir
from halide_core.algorithm.model import Definition, Function
from halide_core.buffer.buffer import Buffer
from halide_core.errors import DefinitionError, NotAvailableError, NotIterableError, ScheduleError, TypeMismatchError
from halide_core.ir import BinaryOp
from halide_core.ir.types import Type
from halide_core.lang.arguments.implicit import expanded, expanded_for_value, has_placeholder
from halide_core.lang.arguments.keywords import one_of
from halide_core.lang.coordinates import Coordinates, as_tuple, check_arity, coordinates
from halide_core.lang.definition import Accumulation, Required, define
from halide_core.lang.expr import Expr, ExprLike, Operand, Var, as_node
from halide_core.lang.extern import ExternFuncArgument, Passed, define_extern
from halide_core.lang.image_param import ImageParam
from halide_core.lang.mathematics import definitions, latex_definitions
from halide_core.lang.output_buffer import OutputImageParam
from halide_core.lang.rdom import RVar
from halide_core.lang.scheduling.func_schedule import FuncSchedule, wrapped_input
from halide_core.lang.scheduling.stage import Stage, StageSchedule
from halide_core.lang.tuple import Tuple, TupleLike, is_several, several
from halide_core.run.output_files import NameMangling
from halide_core.run.pipeline import Realizable
from halide_core.run.target_names import DeviceAPI
from halide_core.unsupported import FUNC

_T = TypeVar("_T")


class FuncRef(Operand):
    """``f[args]``: the Func at a point, on either side of a definition."""

    __slots__ = ("_args", "_function")

    def __init__(self, function: Function, args: tuple[ir.Expr, ...]) -> None:
        self._function = function
        self._args = args

    def _node(self) -> ir.Expr:
        nodes = self._nodes()
        if len(nodes) > 1:
            raise DefinitionError(
                f'Func "{self._function.name}" has {len(nodes)} values at a point, and one is needed here: '
                f"choose one of {self!r}[0] to {self!r}[{len(nodes) - 1}]."
            )
        return nodes[0]

    def _nodes(self) -> tuple[ir.Expr, ...]:
        f = self._function
        if not f.definitions:
            raise DefinitionError(f'Func "{f.name}" is used before it is defined.')
        check_arity(f'Func "{f.name}"', f.dimensions, len(self._args))
        return tuple(ir.Access(type, f, self._args, k, ir.LAST_STAGE) for k, type in enumerate(f.types))

    def _accumulate(self, op: BinaryOp, value: ExprLike | TupleLike, combined: Any) -> Any:
        values = several(value)
        if not self._function.definitions:
            return Accumulation(self._function, self._args, op, tuple(map(as_node, values)))
        own = several(self)
        if len(own) == 1 and not is_several(value):
            return combined(self, value)
        if len(own) != len(values):
            raise TypeMismatchError(
                f'Func "{self._function.name}" has {len(own)} values at a point, '
                f"but {op.value}= is given {len(values)}."
            )
        return Tuple([combined(a, b) for a, b in zip(own, values, strict=True)])

    def __iadd__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.ADD, value, Operand.__add__)

    def __isub__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.SUB, value, Operand.__sub__)

    def __imul__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.MUL, value, Operand.__mul__)

    def __itruediv__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.DIV, value, Operand.__truediv__)

    def size(self) -> int:
        """How many values a point has."""
        return max(1, len(self._function.types))

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Any:
        if self.size() == 1:
            raise NotIterableError(f"{self!r} is one value: only a Tuple can be unpacked.")
        return iter([self[k] for k in range(self.size())])

    def __getitem__(self, component: int) -> FuncTupleElementRef:
        self._check_component(component)
        return FuncTupleElementRef(self, component)

    def __setitem__(self, component: int, value: object) -> NoReturn:
        self._check_component(component)
        raise DefinitionError(
            f"A definition gives every value of a point: write {self!r} = (…), "
            f"with {self!r}[i] for each value that stays."
        )

    def _check_component(self, component: int) -> None:
        if self.size() == 1:
            raise DefinitionError(f"{self!r} is one value: {self!r}[{component!r}] needs a Tuple.")
        if isinstance(component, bool) or not isinstance(component, int) or not 0 <= component < self.size():
            raise DefinitionError(
                f'{self!r}[{component!r}]: Func "{self._function.name}" has {self.size()} values at a point, '
                f"{self!r}[0] to {self!r}[{self.size() - 1}]."
            )

    def __repr__(self) -> str:
        return f"{self._function.name}[{', '.join(map(repr, self._args))}]"


class FuncTupleElementRef(Operand):
    """``f[args][i]``: one of the values of a Tuple Func at a point."""

    __slots__ = ("_component", "_point")

    def __init__(self, point: FuncRef, component: int) -> None:
        self._point = point
        self._component = component

    def _node(self) -> ir.Expr:
        return self._point._nodes()[self._component]

    def index(self) -> int:
        """Which of the values this is, counted from 0."""
        return self._component

    def __repr__(self) -> str:
        return f"{self._point!r}[{self._component}]"


class Func(FuncSchedule, Realizable):
    """A Func. ``Func()``, ``Func(name)``, ``Func(type, dimensions, name)`` to promise its type and dimensions, which
    are ``required_type``, or several ``required_types``, and ``required_dimensions``, too; ``Func(source)`` of a Buffer
    or an ImageParam for its values, ``Func(expr)`` for a value without dimensions."""

    _pending = FUNC

    def __init__(
        self,
        source: str | Type | Sequence[Type] | Expr | Tuple | Buffer | ImageParam | None = None,
        required_dimensions: int | None = None,
        name: str | None = None,
        *,
        required_type: Type | None = None,
        required_types: Sequence[Type] | None = None,
    ) -> None:
        source = one_of(
            "Func", DefinitionError, source=source, required_type=required_type, required_types=required_types
        )
        label = source if isinstance(source, str) else name
        self._function = Function(label or "f")
        self._required: Required | None = None
        if source is None or isinstance(source, str):
            return
        if isinstance(source, Tuple):
            self[()] = source
        elif isinstance(source, Type | list | tuple):
            types = (source,) if isinstance(source, Type) else tuple(source)
            if not types or not all(isinstance(t, Type) for t in types):
                raise DefinitionError(f"Func(types, dimensions, name) needs Types, not {source!r}.")
            if required_dimensions is None:
                raise DefinitionError("Func(type, dimensions, name) needs the number of dimensions.")
            self._required = Required(types, required_dimensions)
        elif isinstance(source, Buffer | ImageParam):
            args = [Var(f"_{i}") for i in range(source.dimensions())]
            self[tuple(args)] = source.at(*args)
        elif isinstance(source, Operand):
            self[()] = source
        else:
            raise DefinitionError(f"A Func can't be made from {source!r}.")

    @classmethod
    def _of(cls, function: Function) -> Func:
        """The Func of a Function that a directive made."""
        self = cls(function.name)
        self._function = function
        return self

    # Definitions.

    def __getitem__(self, index: Coordinates) -> FuncRef:
        args = as_tuple(index)
        what = f'Func "{self._function.name}"'
        if self._function.definitions:
            args = expanded(what, args, self._function.dimensions)
            check_arity(what, self._function.dimensions, len(args))
        elif has_placeholder(args):
            raise DefinitionError(f'{what} is used with "_" before it is defined: its dimensions are not known.')
        return FuncRef(self._function, coordinates(what, args))

    def __setitem__(self, index: Coordinates, value: object) -> None:
        what, at = f'Func "{self._function.name}"', as_tuple(index)
        defined = bool(self._function.definitions)
        full = expanded(what, at, self._function.dimensions) if defined else expanded_for_value(what, at, value)
        args = coordinates(what, full)
        define(self._function, args, value, self._required)

    def __call__(self, *args: object) -> NoReturn:
        name = self._function.name
        raise DefinitionError(f'Func "{name}" is no Python function: write {name}[x, y] for its value at a point.')

    def __iter__(self) -> NoReturn:
        raise NotIterableError(
            f'Func "{self._function.name}" has infinitely many points: it can\'t be iterated over. '
            f"Realize it first: np.asarray({self._function.name}.realize([width, height]))."
        )

    def define_extern(
        self,
        function_name: str,
        params: Sequence[Passed | ExternFuncArgument],
        types: Type | Sequence[Type] | None = None,
        arguments: int | Sequence[Var] | None = None,
        mangling: NameMangling = NameMangling.Default,
        device_api: DeviceAPI = DeviceAPI.Host,
        *,
        type: Type | None = None,
        dimensionality: int | None = None,
    ) -> None:
        """Makes this an extern stage: a C function computes it, once, before all that reads it.

        The function must be in the process, for example by ``ctypes.CDLL(path, ctypes.RTLD_GLOBAL)``, and is called
        with the parameters in order and then the output: Funcs, ImageParams and Buffers as ``halide_buffer_t *``,
        values by their C types. See ``halide_core.lang.extern`` for how it is asked for bounds.

        Args:
            function_name: a C function that returns an int, 0 where all is well.
            params: Funcs, ImageParams, Buffers, and values that are known at start-up.
            types: of the values, one, which ``type`` is, too.
            arguments: the number of dimensions, which ``dimensionality`` is, too; or Vars for them.

        Raises:
            DefinitionError: the Func is defined already, or something can't be passed.
            NotAvailableError: several values at a point, C++ names, memory of devices.
        """
        if mangling is NameMangling.CPlusPlus or device_api not in (DeviceAPI.Host, DeviceAPI.None_):
            raise NotAvailableError("An extern stage is a function of C on the host; others are not available yet.")
        values = one_of("define_extern", DefinitionError, types=types, type=type)
        args = one_of("define_extern", DefinitionError, arguments=arguments, dimensionality=dimensionality)
        if values is None or args is None:
            raise DefinitionError("define_extern() needs a type, and the number of dimensions or Vars for them.")
        define_extern(self._function, function_name, params, values, args)

    # What it is.

    @property
    def function(self) -> Function:
        """The Func as the compiler sees it."""
        return self._function

    def _stage(self) -> tuple[Function, int]:
        return self._function, 0

    def _functions(self) -> tuple[Function, ...]:
        return (self._function,)

    def _definition(self, stage: int) -> Definition:
        if not self._function.definitions:
            raise DefinitionError(f'Func "{self._function.name}" is not defined.')
        if not 0 <= stage < len(self._function.definitions):
            raise DefinitionError(
                f'Func "{self._function.name}" has {self.num_update_definitions()} update definitions: '
                f"there is no update({stage - 1})."
            )
        return self._function.definitions[stage]

    def name(self) -> str:
        """The Func's name. Several Funcs can share one: a pipeline tells them apart."""
        return self._function.name

    def defined(self) -> bool:
        """Whether there is a definition."""
        return bool(self._function.definitions)

    def args(self) -> list[Var]:
        """The pure variables; empty before the definition."""
        return [Var(n) for n in self._function.args]

    def dimensions(self) -> int:
        """How many coordinates a point has."""
        if self._required is not None:
            return self._required.dimensions
        return len(self._definition(0).args)

    def types(self) -> list[Type]:
        """The type of each value of a point."""
        if self._required is not None:
            return list(self._required.types)
        self._definition(0)
        return list(self._function.types)

    def type(self) -> Type:
        """The type of a value. Raises DefinitionError where a point has several: ask types()."""
        return self._only("type", "types", self.types())

    def value(self) -> Expr:
        """The first definition's right-hand side. Raises DefinitionError where there are several: ask values()."""
        return self._only("value", "values", self.values())

    def _only(self, asked: str, instead: str, found: Sequence[_T]) -> _T:
        if len(found) > 1:
            raise DefinitionError(
                f'Func "{self._function.name}" has {len(found)} values at a point: ask {instead}() and not {asked}().'
            )
        return found[0]

    def values(self) -> tuple[Expr, ...]:
        """The first definition's right-hand sides."""
        return tuple(map(Expr.of, self._definition(0).values))

    def output_buffer(self) -> OutputImageParam:
        """The buffer that a pipeline with this output writes; its shape can stand in directives."""
        return self._only("output_buffer", "output_buffers", self.output_buffers())

    def output_buffers(self) -> list[OutputImageParam]:
        """The buffer of each value of a point, all of one shape."""
        self._definition(0)
        return [OutputImageParam(self._function, k) for k in range(len(self._function.types))]

    def is_extern(self) -> bool:
        """Whether a C function computes the Func."""
        return self._function.extern is not None

    def extern_function_name(self) -> str:
        """The C function that computes the Func; an empty text where none does."""
        return "" if self._function.extern is None else self._function.extern.name

    def outputs(self) -> int:
        """How many values a point has."""
        return len(self.types())

    # Updates.

    def update(self, idx: int = 0) -> Stage:
        """The ``idx``-th update definition, for scheduling.

        Raises:
            ScheduleError: there is no such update.
        """
        if not 0 <= idx < self.num_update_definitions():
            raise ScheduleError(
                f'Func "{self._function.name}" has no update({idx}): '
                f"it has {self.num_update_definitions()} update definitions."
            )
        return Stage.of(self._function, idx + 1)

    def num_update_definitions(self) -> int:
        """How many update definitions there are."""
        return max(0, len(self._function.definitions) - 1)

    def has_update_definition(self) -> bool:
        """Whether there is an update definition."""
        return self.num_update_definitions() > 0

    def update_args(self, idx: int = 0) -> list[Expr]:
        """An update's left-hand side."""
        return list(map(Expr.of, self._definition(idx + 1).args))

    def update_value(self, idx: int = 0) -> Expr:
        """An update's right-hand side."""
        return self._only("update_value", "update_values", self.update_values(idx))

    def update_values(self, idx: int = 0) -> tuple[Expr, ...]:
        """An update's right-hand sides."""
        return tuple(map(Expr.of, self._definition(idx + 1).values))

    def rvars(self, idx: int = 0) -> list[RVar]:
        """An update's reduction variables, innermost first."""
        domain = self._definition(idx + 1).domain
        return [] if domain is None else [RVar.of(domain, i) for i in range(len(domain.names))]

    def __repr__(self) -> str:
        return f"<halide_core.Func {self._function.name!r}>"

    def __str__(self) -> str:
        """The definitions, a line each."""
        return definitions(self._function)

    def _repr_latex_(self) -> str | None:
        """The definitions as mathematics, for notebooks."""
        return latex_definitions(self._function)


StageSchedule._func_of = Func._of
ImageParam._wrapped = wrapped_input


def lambda_func(*args: Var | ExprLike) -> Func:
    """``lambda_func(x, y, e)``: an anonymous Func whose value at (x, y) is ``e``."""
    if not args:
        raise DefinitionError("lambda_func() takes Vars and then a value.")
    f = Func("lambda")
    f[tuple(args[:-1])] = args[-1]
    return f


def evaluate(expr: ExprLike | TupleLike) -> Any:
    """The value of an expression without variables, by compiling and running it; a tuple of those of a Tuple."""
    f = Func("evaluated")
    f[()] = expr
    result = f.realize()
    if isinstance(result, tuple):
        return tuple(buffer[()] for buffer in result)
    assert isinstance(result, Buffer)
    return result[()]
