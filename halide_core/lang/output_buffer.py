"""The buffer of an output, for start-up expressions about its shape.

In: ``f.output_buffer()``. Out: expressions that schedules can be made of; the pipeline that is compiled must have ``f``
among its outputs.

    f.specialize(f.output_buffer().width() >= 256).vectorize(x, 8)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import DefinitionError, user_location
from halide_core.ir.types import Type
from halide_core.lang.input_buffer import Dimension, ShapedSource, dimension_of
from halide_core.own_name import package_name
from halide_core.schedule.directives import Estimate


class OutputDimension(Dimension):
    """The shape of an output along one dimension."""

    def __init__(self, function: Function, dim: int) -> None:
        super().__init__(function, dim)
        self._function = function

    def _note(self, min: ir.ExprNode, extent: ir.ExprNode) -> None:
        if not self._function.definitions:
            raise DefinitionError(
                f'Func "{self._function.name}" is not defined: set_estimate() of its output names a variable of its '
                f"definition, and comes after it."
            )
        name = self._function.args[self._dim]
        self._function.directives.append(
            Estimate(func=self._function, location=user_location(), var=name, min=min, extent=extent)
        )


class OutputImageParam(ShapedSource):
    """The buffer that a pipeline writes an output into."""

    def __init__(self, function: Function | None = None, component: int = 0) -> None:
        self._made = function
        self._component = component

    @property
    def _function(self) -> Function:
        if self._made is None:
            raise DefinitionError("An undefined OutputImageParam is used: output_buffer() of a Func gives one.")
        return self._made

    def _buffer(self) -> Function:
        return self._function

    @property
    def source(self) -> Function:
        """The output as the compiler sees it."""
        return self._function

    def dim(self, dimension: int) -> Dimension:
        """The shape along one dimension."""
        dimension_of(self._function, dimension)
        return OutputDimension(self._function, dimension)

    def name(self) -> str:
        """The Func's name; that of the component where it has several."""
        return self._function.component_name(self._component)

    def type(self) -> Type:
        """The type of an element."""
        return self._function.types[self._component]

    def dimensions(self) -> int:
        """The number of coordinates of a point."""
        return self._function.dimensions

    def defined(self) -> bool:
        """True where there is an output: ``OutputImageParam()`` is undefined."""
        return self._made is not None

    def __repr__(self) -> str:
        if self._made is None:
            return f"<{package_name()}.OutputImageParam OutputImageParam()>"
        return f"<{package_name()}.OutputImageParam {self.name()!r}, dims: {self.dimensions()}, type: {self.type()}>"
