"""Scalar parameters of a pipeline.

In: a type, and perhaps a name and a value. Out: an operand whose value is given when the pipeline runs.

    p = Param(UInt(8), "p", 3);  p.set(300)   ->   TypeMismatchError: 300 is not a value of uint8 …
"""

from __future__ import annotations

import math

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import ScalarParam
from halide_core.checks import shown
from halide_core.errors import DefinitionError, user_location
from halide_core.ir.names import fresh_input_name
from halide_core.ir.types import Type
from halide_core.lang.arguments.values import checked_value
from halide_core.lang.coordinates import constant
from halide_core.lang.expr import Expr, Operand
from halide_core.lang.parameter import Parameter as Input
from halide_core.own_name import package_name


class Param(Operand):
    """A scalar input: ``Param(type)``, ``Param(type, name)``, ``Param(type, value)``, ``Param(type, name, value)``.

    One of type ``Handle()`` is a pointer, set to an address or to a ``ctypes.c_void_p``, for C functions: it is passed
    to extern stages, and is a ``void *`` in C. There is no arithmetic on it; ``hl.reinterpret(hl.UInt(64), p)`` is
    its address as a number.
    """

    def __init__(
        self,
        type: Type,
        name: str | int | float | np.generic | None = None,
        value: int | float | np.generic | None = None,
    ) -> None:
        if not isinstance(type, Type) or type.is_vector():
            raise DefinitionError(f"A Param needs a scalar type such as hl.Int(32), not {shown(type)}.")
        if name is not None and not isinstance(name, str):
            if value is not None:
                raise DefinitionError(f"The name of a Param must be a string, not {shown(name)}.")
            name, value = None, name
        self._source = ScalarParam(name or fresh_input_name(), type, user_location())
        if value is not None:
            self.set(value)

    @property
    def source(self) -> ScalarParam:
        """The parameter as the compiler sees it."""
        return self._source

    def _node(self) -> ir.ExprNode:
        return ir.ParamRef(self._source.computed, self._source)

    def _is_pointer(self) -> bool:
        return self._source.type.is_handle()

    def type(self) -> Type:
        """The type that the Param was made with. In expressions a pointer is its address, a ``uint64``."""
        return self._source.type

    def _checked(self, value: object) -> int | float:
        if isinstance(value, Operand):
            number = constant(value._node())
            if number is None:
                raise DefinitionError(f'A limit of Param "{self.name()}" must be a constant, not {value!r}.')
            value = number
        return checked_value(self._source.type, value, f'Param "{self.name()}"')

    def _limit(self, value: object) -> int | float:
        limit = self._checked(value)
        if math.isnan(limit):
            raise DefinitionError(f'A limit of Param "{self.name()}" must be a number, not NaN.')
        return limit

    def parameter(self) -> Input:
        """The same input, without its Python class."""
        return Input.of(self._source)

    def name(self) -> str:
        """The parameter's name, which is also its argument's."""
        return self._source.name

    def set(self, value: int | float | np.generic) -> None:
        """Sets the value for the runs that follow.

        Raises:
            TypeMismatchError: the type can't hold the value; a float isn't taken for an integer.
        """
        self._source.value = self._checked(value)

    def get(self) -> int | float | None:
        """The value that was set, or None."""
        return self._source.value

    def set_range(self, low: Expr | int | float, high: Expr | int | float) -> None:
        """Promises that the value lies in [low, high]; checked when the pipeline starts."""
        least, most = self._limit(low), self._limit(high)
        if least > most:
            raise DefinitionError(f'The range of Param "{self.name()}" is empty: {least} is above {most}.')
        self._source.low, self._source.high = least, most

    def set_min_value(self, low: Expr | int | float) -> None:
        """Promises that the value is not less than ``low``; checked when the pipeline starts."""
        self._source.low = self._limit(low)

    def set_max_value(self, high: Expr | int | float) -> None:
        """Promises that the value is not greater than ``high``; checked when the pipeline starts."""
        self._source.high = self._limit(high)

    def set_estimate(self, value: int | float | np.generic) -> None:
        """Notes the value that is expected, for tools that choose schedules. It changes nothing."""
        self._source.estimate = self._checked(value)

    def min_value(self) -> Expr:
        """The least value promised; undefined where there is none."""
        low = self._source.low
        return Expr() if low is None else Expr.of(ir.const(low, self._source.computed))

    def max_value(self) -> Expr:
        """The greatest value promised; undefined where there is none."""
        high = self._source.high
        return Expr() if high is None else Expr.of(ir.const(high, self._source.computed))

    def __repr__(self) -> str:
        return f"<{package_name()}.Param {self.name()!r} type {self._source.type}>"
