"""Boundary conditions in blocks: far from every edge they are the input itself, and near one they read what is near.

In: outputs, and inputs. Out: for the Funcs that are proven to be an input wherever this has points, the outputs in
which each reads it directly, and those in which what each reads is clamped to a part of it.

    mirror_image(in)[x] = select(outside, in[clamp(…)], in[clamp(x, 0, in.extent - 1)])
      far from the edges:   in[x]
      near one:             select(outside, in[clamp(clamp(…), low, high)], …)     [low, high] being the part at hand

A block may be computed by the first where all that it reads then is part of the array: at these points both are the
same. It may be computed by the second where the part has every index that occurs, which ``Indices`` finds by computing
them: bounds inference knows of ``(x - low) % extent`` only that it may be anything below ``extent``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, Image, ScalarParam, callees, realization_order
from halide_core.algorithm.rename import Renamed
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.blocks.kernel import Recipe
from halide_core.blocks.local import localized
from halide_core.blocks.reductions import Definitions, copied
from halide_core.errors import user_location
from halide_core.ir import Access, Binary, BinaryOp, BufferField, Cast, Field, ParamRef, Select
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import accesses_to, free_variables, subexpressions
from halide_core.run.backend import Box
from halide_core.run.target import Target


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Funcs that are an input inside of it: how they are computed far from the edges, and near them."""

    far: tuple[Function, ...]
    near: tuple[Function, ...]
    part: dict[Image, tuple[ScalarParam, ...]]
    """The min and the extent, in turn, of the part at hand along each dimension of an input; of ``near``."""
    indices: dict[Image, Indices]


def boundaries(
    outputs: Sequence[Function], shapes: Mapping[Image, tuple[int, ...]], target: Target | None
) -> Boundaries | None:
    """The Funcs of some outputs that are an input inside of it; None where that makes no difference, where what one
    reads along a dimension depends on other coordinates too, or where near an edge one reads another by way of a third,
    or one of another input: nothing tells how much of it, as nobody reads it far from the edges."""
    same: dict[Function, Image] = {}
    for f in realization_order(outputs):
        if len(f.definitions) == 1 and len(f.types) == 1 and f.extern is None:
            for image in shapes:
                if image.dimensions == f.dimensions and _Inside(f, image, same).equal():
                    same[f] = image
                    break
    changed = {f: i for f, i in same.items() if not _is_plain(f, i)}
    images = list(dict.fromkeys(changed.values()))
    part = {i: _part(i) for i in images}
    read: dict[Image, list[ir.Callee]] = {
        i: [i, *(f for f, of in same.items() if of is i and f not in changed)] for i in images
    }
    indices = {
        i: Indices(i, shapes[i], [f for f, of in changed.items() if of is i], read[i], target) for i in images
    }
    if not changed or not all(each.known for each in indices.values()):
        return None
    if any(_reads_others(f, changed) for f in changed):
        return None
    far = copied(outputs, {f: _direct(f, read[i]) for f, i in changed.items()})
    near = copied(outputs, {f: _clamped(f, read[i], part[i]) for f, i in changed.items()})
    return Boundaries(tuple(far[f] for f in outputs), tuple(near[f] for f in outputs), part, indices)


def _reads_others(f: Function, changed: Mapping[Function, Image]) -> bool:
    """True where a Func reads others that are an input inside of it, but for those of its own input that it reads
    itself."""
    others = [c for c in callees(f) if isinstance(c, Function) and changed.get(c) is not changed[f]]
    return any(other in changed for other in realization_order(others))


class Indices:
    """The elements of an input that Funcs read, by computing each index. One Func may read another of them, at points
    that nobody else asks for: what that reads there counts, too."""

    def __init__(
        self,
        image: Image,
        shape: Sequence[int],
        functions: Sequence[Function],
        read: Sequence[ir.Callee],
        target: Target | None,
    ) -> None:
        """``functions``: producers first. ``read`` are the input and its wrappers."""
        self._shape = shape
        self._functions = functions
        self._along: list[dict[Function, list[tuple[ir.Callee, Recipe | None]]]]
        """For each dimension and Func what it reads, and at which index; None is its own coordinate."""
        self._along = [{f: [] for f in functions} for _ in shape]
        self._memo: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.known = True
        """True where each index depends on one coordinate alone."""
        for f in functions:
            others = [other for other in functions if other is not f]
            for access in (a for callee in (*read, *others) for a in accesses_to(callee, f.definitions[0].values)):
                for d, arg in enumerate(access.args):
                    own = f.definitions[0].args[d]
                    self.known &= free_variables(arg) <= {own} and not _reads(arg)
                    if self.known:
                        at = None if arg is own else _recipe(image, shape, f.args[d], arg, target)
                        self._along[d][f].append((access.callee, at))

    def region(self, box: Box) -> Box:
        """The region that is read where the Funcs are computed in a box."""
        return tuple(self._interval(d, low, extent) for d, (low, extent) in enumerate(box))

    def _interval(self, d: int, low: int, extent: int) -> tuple[int, int]:
        key = (d, low, extent)
        if key not in self._memo:
            ends = self._ends(d, (low, low + extent)) if extent > 0 else (0, 0)
            self._memo[key] = (ends[0], ends[1] - ends[0])
        return self._memo[key]

    def _ends(self, d: int, asked: tuple[int, int]) -> tuple[int, int]:
        """Where what is read begins and ends, where each Func is asked for the same interval."""
        ends = self._inside(d, asked)
        computed = dict.fromkeys(self._functions, asked)
        for f in reversed(self._functions):
            for callee, at in self._along[d][f]:
                read = computed[f] if at is None else _values(at, computed[f])
                if isinstance(callee, Function) and callee in computed:
                    computed[callee] = _around(computed[callee], read)
                else:
                    ends = _around(ends, self._inside(d, read) if at is None else read)
        return ends

    def _inside(self, d: int, ends: tuple[int, int]) -> tuple[int, int]:
        """The points of an interval that the input has: they are read as they are."""
        return max(ends[0], 0), min(ends[1], self._shape[d])


def _around(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return min(a[0], b[0]), max(a[1], b[1])


def _values(index: Recipe, ends: tuple[int, int]) -> tuple[int, int]:
    """Where the values of an index begin and end, over an interval of its coordinate."""
    kernel, window = index.kernel(), ((ends[0], ends[1] - ends[0]),)
    values = kernel.run(window, kernel.regions(window), [])[0]
    return int(np.min(values)), int(np.max(values)) + 1


def _reads(e: ir.ExprNode) -> bool:
    return any(isinstance(part, Access | ir.RVarRef) for part in subexpressions([e]))


def _recipe(image: Image, shape: Sequence[int], variable: str, index: ir.ExprNode, target: Target | None) -> Recipe:
    """The pipeline of an index over its coordinate."""
    f = Function(f"{image.name}_index", (variable,), (INT32,), location=user_location())
    f.definitions = [Definition((ir.pure_variable(variable),), (index,), None, ir.TRUE, user_location())]
    return indexed(f, image, shape, target)


def indexed(f: Function, image: Image, shape: Sequence[int], target: Target | None) -> Recipe:
    """A recipe of a Func that asks for the extents of an input, and reads none of it."""
    local = localized([f], [image], f.name, target=target)
    extents = {p.name: n for each in local.extents for p, n in zip(each, shape, strict=True)}
    alone = replace(local, images=(), extents=(), params=(*local.params, *(p for each in local.extents for p in each)))
    return Recipe(alone, (), tuple(extents[p.name] for p in alone.params))


def _part(image: Image) -> tuple[ScalarParam, ...]:
    ends = [f"{image.name}_part_{end}_{d}" for d in range(image.dimensions) for end in ("min", "extent")]
    return tuple(ScalarParam(name, INT32, user_location()) for name in ends)


def _direct(f: Function, read: Sequence[ir.Callee]) -> Definitions:
    """The definition that reads an input, or the wrapper of it that the Func reads, where it is asked for."""

    def definitions(renamed: Renamed) -> list[Definition]:
        first = renamed.definition(f.definitions[0])
        own = [c for c in read if accesses_to(c, f.definitions[0].values)] or read
        source = renamed.to.get(own[0], own[0])
        return [replace(first, values=(Access(f.types[0], source, first.args, 0, ir.LAST_STAGE),))]

    return definitions


class _Clamped(Renamed):
    """Reads an input, and wrappers of it, only in a part of it."""

    def __init__(
        self, to: dict[ir.Callee, ir.Callee], read: Sequence[ir.Callee], part: Sequence[ScalarParam]
    ) -> None:
        super().__init__(to)
        self._read = read
        self._ends = [ParamRef(INT32, p) for p in part]

    def rewrite_Access(self, e: Access) -> ir.ExprNode:
        """An access with its coordinates clamped to the part."""
        if e.callee not in self._read:
            return super().rewrite_Access(e)
        args = []
        for arg, low, extent in zip(e.args, self._ends[::2], self._ends[1::2], strict=True):
            high = ir.sub(ir.add(low, extent), ir.const(1, INT32))
            args.append(ir.maximum(ir.minimum(self.expr(arg), high), low))
        return Access(e.type, self._to.get(e.callee, e.callee), tuple(args), e.component, e.stage)


def _clamped(f: Function, read: Sequence[ir.Callee], part: Sequence[ScalarParam]) -> Definitions:
    def definitions(renamed: Renamed) -> list[Definition]:
        return [_Clamped(renamed.to, read, part).definition(f.definitions[0])]

    return definitions


_EXACT = frozenset({BinaryOp.MIN, BinaryOp.MAX, BinaryOp.ADD, BinaryOp.SUB})


def _is_plain(f: Function, image: Image) -> bool:
    first = f.definitions[0]
    value = first.values[0]
    return isinstance(value, Access) and value.callee is image and value.args == first.args


class _Inside:
    """A Func at the points that an input has."""

    def __init__(self, f: Function, image: Image, same: Mapping[Function, Image]) -> None:
        self._definition = f.definitions[0]
        self._image, self._same = image, same
        self._facts = Facts()
        for d, v in enumerate(self._definition.args):
            extent = BufferField(INT64, image, Field.EXTENT, d)
            self._facts.assume_range(Cast(INT64, v), ir.ZERO, ir.sub(extent, ir.ONE))
            self._facts.assume_range(extent, ir.ZERO, ir.i64(INT32.range[1]))

    def equal(self) -> bool:
        """True where it is proven to be the input's element."""
        value = self._resolved(self._definition.values[0])
        if not isinstance(value, Access) or tuple(map(self._resolved, value.args)) != self._definition.args:
            return False
        callee = value.callee
        return callee is self._image or (isinstance(callee, Function) and self._same.get(callee) is self._image)

    def _resolved(self, e: ir.ExprNode) -> ir.ExprNode:
        """The arm of a choice, or of a minimum or maximum, that is proven to be taken."""
        match e:
            case Select(condition=condition, a=a, b=b):
                taken = self._truth(condition)
                return e if taken is None else self._resolved(a if taken else b)
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
                a, b = self._resolved(a), self._resolved(b)
                least, most = (a, b) if op is BinaryOp.MIN else (b, a)
                if self._at_most(least, most):
                    return a
                return b if self._at_most(most, least) else e
        return e

    def _at_most(self, a: ir.ExprNode, b: ir.ExprNode) -> bool:
        x, y = self._index(a), self._index(b)
        return x is not None and y is not None and self._facts.proves_le(x, y)

    def _less(self, a: ir.ExprNode, b: ir.ExprNode) -> bool:
        x, y = self._index(a), self._index(b)
        return x is not None and y is not None and self._facts.proves_le(ir.add(x, ir.ONE), y)

    def _index(self, e: ir.ExprNode) -> ir.ExprNode | None:
        """The number that an int32 is, over atoms of int64; None where it isn't proven not to wrap."""
        match e:
            case ir.IntImm(value=value):
                return ir.i64(value)
            case ir.Variable(type=type) if type is INT32:
                return Cast(INT64, e)
            case Cast(type=type, a=BufferField(buffer=Image(), field=field) as a) if type is INT32:
                return ir.ZERO if field is Field.MIN else a if field is Field.EXTENT else None
            case Binary(op=op, a=a, b=b) if e.type is INT32 and op in _EXACT:
                x, y = self._index(a), self._index(b)
                if x is None or y is None:
                    return None
                result = simplify(Binary(INT64, op, x, y))
                low, high = map(ir.i64, INT32.range)
                return result if self._facts.proves_le(low, result) and self._facts.proves_le(result, high) else None
        return None

    def _truth(self, e: ir.ExprNode) -> bool | None:
        """The proven truth of a condition; None where there is no proof."""
        match e:
            case ir.Not(a=a):
                inner = self._truth(a)
                return None if inner is None else not inner
            case Binary(op=BinaryOp.AND | BinaryOp.OR as op, a=a, b=b):
                both = self._truth(a), self._truth(b)
                decisive = op is BinaryOp.OR
                if decisive in both:
                    return decisive
                return None if None in both else not decisive
            case Binary(op=BinaryOp.LT, a=a, b=b):
                return True if self._less(a, b) else False if self._at_most(b, a) else None
            case Binary(op=BinaryOp.LE, a=a, b=b):
                return True if self._at_most(a, b) else False if self._less(b, a) else None
        return None
