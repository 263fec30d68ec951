"""A Func at a point: ``f[x, y]``, on either side of a definition, and one value of a Tuple Func, ``f[x, y][0]``."""

from __future__ import annotations

from typing import Any, NoReturn

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.checks import shown
from halide_core.errors import DefinitionError, NotIterableError, TypeMismatchError
from halide_core.ir import BinaryOp
from halide_core.lang.coordinates import check_arity
from halide_core.lang.definition import Accumulation, undefined
from halide_core.lang.expr import ExprLike, Operand, as_node
from halide_core.lang.tuple import Tuple, TupleLike, is_several, several


class FuncRef(Operand):
    """``f[args]``: the Func at a point, on either side of a definition."""

    __slots__ = ("_args", "_function")

    def __init__(self, function: Function, args: tuple[ir.ExprNode, ...]) -> None:
        self._function = function
        self._args = args

    def _node(self) -> ir.ExprNode:
        nodes = self._nodes()
        if len(nodes) > 1:
            raise DefinitionError(
                f'Func "{self._function.name}" has {len(nodes)} values at a point, and one is needed here: '
                f"choose one of {self!r}[0] to {self!r}[{len(nodes) - 1}]."
            )
        return nodes[0]

    def _nodes(self) -> tuple[ir.ExprNode, ...]:
        f = self._function
        if not f.definitions:
            raise undefined(f, self._args)
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

    def __add__(self, value: ExprLike) -> Any:
        return super().__add__(value) if self._function.definitions else self.__iadd__(value)

    def __sub__(self, value: ExprLike) -> Any:
        return super().__sub__(value) if self._function.definitions else self.__isub__(value)

    def __mul__(self, value: ExprLike) -> Any:
        return super().__mul__(value) if self._function.definitions else self.__imul__(value)

    def __truediv__(self, value: ExprLike) -> Any:
        return super().__truediv__(value) if self._function.definitions else self.__itruediv__(value)

    def __iadd__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.ADD, value, Operand.__add__)

    def __isub__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.SUB, value, Operand.__sub__)

    def __imul__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.MUL, value, Operand.__mul__)

    def __itruediv__(self, value: ExprLike | TupleLike) -> Any:
        return self._accumulate(BinaryOp.DIV, value, Operand.__truediv__)

    def size(self) -> int:
        """The number of values of a point."""
        return len(self._function.types) if self._function.definitions else 1

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
            raise DefinitionError(f"{self!r} is one value: {self!r}[{shown(component)}] needs a Tuple.")
        if isinstance(component, bool) or not isinstance(component, int) or not 0 <= component < self.size():
            raise DefinitionError(
                f'{self!r}[{shown(component)}]: Func "{self._function.name}" has {self.size()} values at a point, '
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

    def _node(self) -> ir.ExprNode:
        return self._point._nodes()[self._component]

    def index(self) -> int:
        """The index of the value among those of a point, from 0."""
        return self._component

    def __repr__(self) -> str:
        return f"{self._point!r}[{self._component}]"
