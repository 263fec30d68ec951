"""The pipeline of one block: that of the user, but the shapes of its inputs are those of the whole arrays.

In: outputs, and the ImageParams that are given in parts. Out: a Local, whose copies of the Funcs read new inputs. Where
a Func asks for the extent of an input, as boundary conditions do, it gets a parameter, so that the edge is where the
array ends and not where a block's part of it does. What is read of a part is checked against the part as ever.

    repeat_edge(in)[x]   =   in[clamp(x, 0, in.extent - 1)]     becomes     part[clamp(x, 0, in_extent_0 - 1)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.model import (
    Definition,
    Function,
    Image,
    Requirement,
    ScalarParam,
    realization_order,
    refuse_externs,
    requirements_of,
    with_made_funcs,
)
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.algorithm.snapshot import leaves
from halide_core.analysis.simplify import simplify
from halide_core.errors import PipelineError, user_location
from halide_core.ir import Field
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import subexpressions, substitute
from halide_core.run.backend import Request
from halide_core.run.target import Target
from halide_core.schedule.func_directives import InInput

_MOST = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Local:
    """A pipeline whose inputs are parts of arrays. ``images``, ``extents`` and ``params`` are its arguments."""

    name: str
    outputs: tuple[Function, ...]
    images: tuple[Image, ...]
    extents: tuple[tuple[ScalarParam, ...], ...]
    """For each of the images the extent of the whole array along each dimension; none of results of other pipelines."""
    params: tuple[ScalarParam, ...]
    late: tuple[ScalarParam, ...]
    """Parameters that each block has values of its own for."""
    requirements: tuple[Requirement, ...]
    target: Target | None

    def request(self) -> Request:
        """The pipeline for the compiler; Buffers that stand in definitions come last."""
        found, _ = leaves(funcs_of(self.outputs), self.outputs, self.requirements)
        embedded = [image for image in found if image.embedded]
        extents = [p for each in self.extents for p in each]
        inputs: tuple[Image | ScalarParam, ...] = (*self.images, *self.params, *extents, *self.late, *embedded)
        return Request(self.outputs, inputs, self.name, requirements=self.requirements, target=self.target)


def funcs_of(outputs: Sequence[Function]) -> list[Function]:
    """The Funcs of a pipeline, and those that directives about them made. Wrappers of inputs are read by definitions
    here, and those that the user's inputs know are others."""
    made = with_made_funcs(realization_order(outputs))
    return [f for f in made if not any(isinstance(d, InInput) for d in f.directives)]


class _Shapes(Renamed):
    """Reads from copies, and asks parameters for the extents of inputs; these begin at 0. Values may not depend on
    strides: those of a part are its own."""

    def __init__(self, to: dict[ir.Callee, ir.Callee], extents: Mapping[Image, Sequence[ScalarParam]]) -> None:
        super().__init__(to)
        self._extents = extents

    def definition(self, d: Definition) -> Definition:
        """A definition over the new inputs."""
        for e in subexpressions(d.exprs()):
            if isinstance(e, ir.BufferField) and e.field is Field.STRIDE and e.buffer in self._extents:
                raise PipelineError(
                    f'A value depends on the stride of "{e.buffer.name}", which in blocks is that of a part: use '
                    f"a Param.",
                    d.location,
                )
        return super().definition(d)

    def rewrite_BufferField(self, e: ir.BufferField) -> ir.ExprNode:
        """The parameter, or 0."""
        if isinstance(e.buffer, Image) and self._extents.get(e.buffer) and e.field is not Field.STRIDE:
            if e.field is Field.MIN:
                return ir.const(0, e.type)
            p = self._extents[e.buffer][e.dim]
            return ir.cast(e.type, ir.ParamRef(p.type, p))
        return super().rewrite_BufferField(e)

    def rewrite_Cast(self, e: ir.Cast) -> ir.ExprNode:
        """A parameter as what it is, where it was widened only to be the field of a buffer."""
        inner = self.expr(e.a)
        if isinstance(e.a, ir.BufferField) and e.type is INT32:
            if isinstance(inner, ir.IntImm):
                return ir.const(inner.value, e.type)
            if isinstance(inner, ir.Cast) and inner.a.type is e.type and inner.type is INT64:
                return inner.a
        return ir.cast(e.type, inner)


def localized(
    outputs: Sequence[Function],
    parts: Sequence[Image],
    name: str,
    requirements: Sequence[Requirement] = (),
    target: Target | None = None,
    *,
    made: Sequence[Image] = (),
    late: Sequence[ScalarParam] = (),
) -> Local:
    """The pipeline with copies of ``parts`` and of all Funcs, with their schedule.

    Args:
        made: inputs among the parts that are results of other pipelines, whose shape is what a block is given.
        late: parameters that each block has values of its own for.

    Raises: NotAvailableError for extern stages; PipelineError for an input that is promised not to begin at 0.
    """
    order = funcs_of(outputs)
    refuse_externs(order, "pictures in blocks are")
    required = (*requirements, *requirements_of(order))
    images, params = leaves(order, outputs, required)
    used = [i for i in images if i in parts]
    names = UniqueNames([*(i.name for i in images), *(p.name for p in params)])
    extents = {
        i: tuple(_extent(names.fresh(f"{i.name}_extent_{d}")) for d in range(i.dimensions)) if i not in made else ()
        for i in used
    }
    to: dict[ir.Callee, ir.Callee] = {}
    for f in order:
        to[f] = Function(f.name, f.args, f.types, location=f.location, frozen_by=f.frozen_by or user_location())
    for i in used:
        to[i] = Image(i.name, i.types[0], i.dimensions, i.location)
    shapes = _Shapes(to, extents)
    for f in order:
        _fill(f, to[f], shapes, to)
    for i in used:
        copy = to[i]
        assert isinstance(copy, Image)
        copy.alignment = None  # the part's own memory
        copy.constraints = {at: shapes.expr(e) for at, e in i.constraints.items() if at[0] is Field.STRIDE}
        copy.traced = i.traced
    copies = [to[f] for f in outputs]
    return Local(
        name,
        tuple(f for f in copies if isinstance(f, Function)),
        tuple(i for i in (to[i] for i in used) if isinstance(i, Image)),
        tuple(extents[i] for i in used),
        tuple(p for p in params if p not in late),
        tuple(p for p in late if p in params),
        tuple(Requirement(shapes.expr(r.condition), tuple(_said(m, shapes) for m in r.message)) for r in required),
        target,
    )


def _extent(name: str) -> ScalarParam:
    p = ScalarParam(name, INT32, user_location())
    p.low, p.high = 0, _MOST
    return p


def _said(part: str | ir.ExprNode, shapes: _Shapes) -> str | ir.ExprNode:
    return shapes.expr(part) if isinstance(part, ir.ExprNode) else part


def _fill(f: Function, copy: ir.Callee, shapes: _Shapes, to: Mapping[ir.Callee, ir.Callee]) -> None:
    assert isinstance(copy, Function)
    copy.definitions = [replace(shapes.definition(d), requirements=()) for d in f.definitions]
    copy.directives = [d.renamed(to).with_exprs(shapes.expr) for d in f.directives]
    copy.constraints = {at: shapes.expr(e) for at, e in f.constraints.items() if at[0] is Field.STRIDE}


def number(
    e: ir.ExprNode,
    known: Mapping[ScalarParam, int | float],
    shapes: Mapping[Image, Sequence[int]],
    origins: Mapping[Image, Sequence[int]] | None = None,
) -> int:
    """The value of a start-up expression of parameters and of the shapes of arrays, which begin at 0 or at origins.

    Raises: PipelineError where it is not known.
    """
    values: dict[ir.ExprNode, ir.ExprNode] = {}
    for p, value in known.items():
        values[ir.ParamRef(p.computed, p)] = ir.const(value, p.computed)
    for image, shape in shapes.items():
        for d, extent in enumerate(shape):
            values[ir.BufferField(INT64, image, Field.MIN, d)] = ir.const(origins[image][d] if origins else 0, INT64)
            values[ir.BufferField(INT64, image, Field.EXTENT, d)] = ir.const(extent, INT64)
    found = simplify(substitute(e, values))
    if not isinstance(found, ir.IntImm):
        raise PipelineError(f"{e!r} has no value before the pipeline runs, and the blocks depend on it.")
    return found.value
