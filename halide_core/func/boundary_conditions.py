"""Boundary conditions: an image, or a Func within bounds, made into a Func that has a value everywhere.

In: a Buffer or an ImageParam, or any source with a list of (min, extent). Out: a Func that reads it only inside.

    repeat_edge(ip)[x]   ->   ip[max(min(x, min + extent - 1), min)]

A Func of Tuples gives a Func of the same Tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from halide_core import ir
from halide_core.checks import items, shown
from halide_core.errors import DefinitionError, TypeMismatchError
from halide_core.func.func import Func
from halide_core.func.image_param import ImageParam
from halide_core.ir.types import Type
from halide_core.lang.arguments.ranges import Range, RangeLike, as_range
from halide_core.lang.buffer import Buffer
from halide_core.lang.expr import Expr, ExprLike, Var, as_node, is_plain, matched
from halide_core.lang.ops.math import clamp, select
from halide_core.lang.tuple import Tuple, TupleLike, several

Source: TypeAlias = "ImageParam | Buffer | Func"
_Coordinate = Callable[[Expr, Expr, Expr], Expr]


def _bounds(name: str, source: Source, bounds: Sequence[RangeLike] | None) -> list[Range]:
    if not isinstance(source, ImageParam | Buffer | Func):
        raise DefinitionError(f"{name}() takes an ImageParam, a Buffer or a Func, not {shown(source)}.")
    if bounds is None:
        if isinstance(source, Func):
            raise DefinitionError(f"{name}() of a Func needs bounds: {name}({source.name()}, [(min, extent), …]).")
        dims = [source.dim(i) for i in range(source.dimensions())]
        return [Range(d.min(), d.extent()) for d in dims]
    given = items(bounds, f"{name}() takes a list of (min, extent), one for each dimension")
    ranges = [_known(as_range(b)) for b in given]
    if len(ranges) > source.dimensions():
        raise DefinitionError(f"{name}() is given {len(ranges)} bounds for {source.dimensions()} dimensions.")
    return ranges + [Range()] * (source.dimensions() - len(ranges))


def _known(r: Range) -> Range:
    """A range; none where both of its ends are undefined Exprs."""
    return Range() if all(end is not None and not end.defined() for end in (r.min, r.extent)) else r


def _arguments(source: Source) -> list[Var]:
    if isinstance(source, Func):
        return source.args()
    return [Var(f"_{i}") for i in range(source.dimensions())]


def _read(source: Source, at: Sequence[ExprLike]) -> Tuple:
    """The values of a point, one for each component."""
    return Tuple(source[tuple(at)]) if isinstance(source, Func) else Tuple(source.at(*at))


def _types(source: Source) -> list[Type]:
    return source.types() if isinstance(source, Func) else [source.type()]


def _moved(name: str, source: Source, bounds: Sequence[RangeLike] | None, coordinate: _Coordinate) -> Func:
    ranges, args = _bounds(name, source, bounds), _arguments(source)
    at: list[ExprLike] = []
    for arg, r in zip(args, ranges, strict=True):
        at.append(arg if r.min is None or r.extent is None else coordinate(Expr(arg), r.min, r.extent))
    result = Func(name)
    result[tuple(args)] = _read(source, at)
    return result


def _outside(x: Expr, low: Expr, extent: Expr) -> Expr:
    return (x < low) | (x >= low + extent)


def _edge(x: Expr, low: Expr, extent: Expr) -> Expr:
    return clamp(x, low, low + extent - 1)


def _inside_or(x: Expr, low: Expr, extent: Expr, elsewhere: Expr) -> Expr:
    """``elsewhere`` outside; inside ``x`` itself, in a form whose bounds are plain."""
    return select(_outside(x, low, extent), elsewhere, _edge(x, low, extent))


def _image(x: Expr, low: Expr, extent: Expr) -> Expr:
    return _inside_or(x, low, extent, (x - low) % extent + low)


def _mirror_image(x: Expr, low: Expr, extent: Expr) -> Expr:
    along = (x - low) % (extent * 2)
    folded = select(along >= extent, extent * 2 - 1 - along, along)
    return _inside_or(x, low, extent, clamp(folded + low, low, low + extent - 1))


def _mirror_interior(x: Expr, low: Expr, extent: Expr) -> Expr:
    limit = extent - 1
    along = (x - low) % (limit * 2)
    folded = select(along >= limit, limit * 2 - along, along)
    return _inside_or(x, low, extent, clamp(folded + low, low, low + extent - 1))


def repeat_edge(f: Source, bounds: Sequence[RangeLike] | None = None) -> Func:
    """Outside is what the nearest point inside is: ``a b c`` continues as ``… a a |a b c| c c …``."""
    return _moved("repeat_edge", f, bounds, _edge)


def repeat_image(f: Source, bounds: Sequence[RangeLike] | None = None) -> Func:
    """The image is a tile: ``… b c |a b c| a b …``."""
    return _moved("repeat_image", f, bounds, _image)


def mirror_image(f: Source, bounds: Sequence[RangeLike] | None = None) -> Func:
    """The image is a tile, every other one mirrored: ``… b a |a b c| c b …``."""
    return _moved("mirror_image", f, bounds, _mirror_image)


def mirror_interior(f: Source, bounds: Sequence[RangeLike] | None = None) -> Func:
    """Like ``mirror_image`` without doubling the edge: ``… c b |a b c| b a …``."""
    return _moved("mirror_interior", f, bounds, _mirror_interior)


def _outside_value(type: Type, given: object) -> Expr:
    """The value outside of one component.

    Raises:
        TypeMismatchError: a value of another type.
    """
    value = matched(given, Expr.of(ir.const(0, type)))[0] if is_plain(given) else as_node(given)
    if value.type is not type:
        raise TypeMismatchError(f"constant_exterior() of a source of {type} is given a value of {value.type}.")
    return Expr.of(value)


def _outside_values(source: Source, exterior: ExprLike | TupleLike) -> list[Expr]:
    """The value outside of each component."""
    types, given = _types(source), several(exterior)
    if len(types) != len(given):
        raise TypeMismatchError(
            f"constant_exterior() of a source of {len(types)} values at a point is given {len(given)} of them."
        )
    return [_outside_value(type, value) for type, value in zip(types, given, strict=True)]


def constant_exterior(f: Source, exterior: ExprLike | TupleLike, bounds: Sequence[RangeLike] | None = None) -> Func:
    """Outside is one value, of the source's type; of a Func of Tuples a Tuple of values.

    Raises:
        TypeMismatchError: a value of another type, or another number of values.
    """
    name = "constant_exterior"
    ranges, args = _bounds(name, f, bounds), _arguments(f)
    inside = repeat_edge(f, ranges)
    values = _outside_values(f, exterior)
    outside: Expr | None = None
    for arg, r in zip(args, ranges, strict=True):
        if r.min is not None and r.extent is not None:
            here = _outside(Expr(arg), r.min, r.extent)
            outside = here if outside is None else outside | here
    result = Func(name)
    point = Tuple(inside[tuple(args)])
    if outside is not None:
        point = Tuple([select(outside, value, own) for value, own in zip(values, point, strict=True)])
    result[tuple(args)] = point
    return result
