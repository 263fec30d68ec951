"""Funcs: values at every point of an integer lattice, by a definition and updates (figure 2.5).

In: ``f[x, y] = e`` and ``f[r.x, y] += e``. Out: a Function with one Definition for each stage.

    f = Func("f");  f[x] = x*x;  f[3] = 0   ->   fun f(x) = { x*x; (3) <- 0 }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from halide_core import ir
from halide_core.algorithm import Definition, Function
from halide_core.buffer import Buffer
from halide_core.coordinates import Coordinates, as_tuple, check_arity, coordinates
from halide_core.definition import Accumulation, Required, define
from halide_core.errors import DefinitionError, NotIterableError, ScheduleError
from halide_core.expr import Expr, ExprLike, Operand, Var, as_node
from halide_core.func_schedule import FuncSchedule
from halide_core.image_param import ImageParam
from halide_core.implicit import expanded, expanded_for_value, has_placeholder
from halide_core.ir import BinaryOp
from halide_core.mathematics import definitions, latex_definitions
from halide_core.output_buffer import OutputImageParam
from halide_core.pending import FUNC
from halide_core.pipeline import Realizable
from halide_core.rdom import RVar
from halide_core.stage import Stage
from halide_core.types import Type


class FuncRef(Operand):
    """``f[args]``: the Func at a point, on either side of a definition."""

    __slots__ = ("_args", "_function")

    def __init__(self, function: Function, args: tuple[ir.Expr, ...]) -> None:
        self._function = function
        self._args = args

    def _node(self) -> ir.Expr:
        f = self._function
        if not f.definitions:
            raise DefinitionError(f'Func "{f.name}" is used before it is defined.')
        check_arity(f'Func "{f.name}"', f.dimensions, len(self._args))
        return ir.Access(f.types[0], f, self._args, 0, ir.LAST_STAGE)

    def _accumulate(self, op: BinaryOp, value: ExprLike, combined: Any) -> Any:
        if self._function.definitions:
            return combined(self, value)
        return Accumulation(self._function, self._args, op, as_node(value))

    def __iadd__(self, value: ExprLike) -> Any:
        return self._accumulate(BinaryOp.ADD, value, Operand.__add__)

    def __isub__(self, value: ExprLike) -> Any:
        return self._accumulate(BinaryOp.SUB, value, Operand.__sub__)

    def __imul__(self, value: ExprLike) -> Any:
        return self._accumulate(BinaryOp.MUL, value, Operand.__mul__)

    def __itruediv__(self, value: ExprLike) -> Any:
        return self._accumulate(BinaryOp.DIV, value, Operand.__truediv__)

    def size(self) -> int:
        """How many values a point has: 1."""
        return 1

    def __len__(self) -> int:
        return 1

    def __getitem__(self, component: int) -> NoReturn:
        raise DefinitionError(f"{self!r} is one value: {self!r}[{component!r}] needs a Tuple.")

    def __setitem__(self, component: int, value: object) -> NoReturn:
        raise DefinitionError(f"{self!r} is one value: {self!r}[{component!r}] needs a Tuple.")

    def __repr__(self) -> str:
        return f"{self._function.name}[{', '.join(map(repr, self._args))}]"


class Func(FuncSchedule, Realizable):
    """A Func. ``Func()``, ``Func(name)``, ``Func(type, dimensions, name)`` to promise its type and dimensions,
    ``Func(source)`` of a Buffer or an ImageParam for its values, ``Func(expr)`` for a value without dimensions."""

    _pending = FUNC

    def __init__(
        self,
        source: str | Type | Sequence[Type] | Expr | Buffer | ImageParam | None = None,
        dimensions: int | None = None,
        name: str | None = None,
    ) -> None:
        label = source if isinstance(source, str) else name
        self._function = Function(label or "f")
        self._required: Required | None = None
        if source is None or isinstance(source, str):
            return
        if isinstance(source, Type | list | tuple):
            types = (source,) if isinstance(source, Type) else tuple(source)
            if len(types) != 1:
                raise DefinitionError("A Func of several types is a Tuple, which is not available yet.")
            if dimensions is None:
                raise DefinitionError("Func(type, dimensions, name) needs the number of dimensions.")
            self._required = Required(types, dimensions)
        elif isinstance(source, Buffer | ImageParam):
            args = [Var(f"_{i}") for i in range(source.dimensions())]
            self[tuple(args)] = source.at(*args)
        elif isinstance(source, Operand):
            self[()] = source
        else:
            raise DefinitionError(f"A Func can't be made from {source!r}.")

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
        """The type of a value."""
        return self.types()[0]

    def value(self) -> Expr:
        """The first definition's right-hand side."""
        return self.values()[0]

    def values(self) -> tuple[Expr, ...]:
        """The first definition's right-hand sides."""
        return tuple(map(Expr.of, self._definition(0).values))

    def output_buffer(self) -> OutputImageParam:
        """The buffer that a pipeline with this output writes; its shape can stand in directives."""
        self._definition(0)
        return OutputImageParam(self._function)

    def output_buffers(self) -> list[OutputImageParam]:
        """The buffer of each value."""
        return [self.output_buffer()]

    def is_extern(self) -> bool:
        """Whether a C function defines the Func; none is here."""
        return False

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
        return self.update_values(idx)[0]

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


def lambda_func(*args: Var | ExprLike) -> Func:
    """``lambda_func(x, y, e)``: an anonymous Func whose value at (x, y) is ``e``."""
    if not args:
        raise DefinitionError("lambda_func() takes Vars and then a value.")
    f = Func("lambda")
    f[tuple(args[:-1])] = args[-1]
    return f


def evaluate(value: ExprLike) -> int | float:
    """The value of an expression without variables, by compiling and running it."""
    buffer = Func(Expr(value)).realize()
    assert isinstance(buffer, Buffer)
    number: int | float = buffer[()]
    return number
