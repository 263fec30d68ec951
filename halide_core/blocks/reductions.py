"""Reductions over whole arrays, in parts: each block takes in a part of the domain, and the results are merged.

In: outputs, and the shapes of inputs, which some domains are as long as. Out: outputs that read the merged results as
inputs, and for each reduction the pipeline of one part and that of a merge.

    h[i] = 0;  h[in[r.x, r.y]] += 1;  f[x] = h[x]*2      r over all of in
      ->   part:   h[i] = 0;  h[in[r.x, r.y]] += 1       r over a box of its own
           merge:  h[i] = 0;  h[i] += parts[i, r]
           f:      h[i] = 0 + merged[i];  f[x] = h[x]*2

What makes it right is the law that ``rfactor`` rests on: the operator is associative, and where the parts don't follow
one another in the order of the domain, commutative too. Operators of the table are known to be; of others a merge is
factored as well, so that its compile proves the law. Floats obey no such law to the last bit, and their reductions stay
in one piece: a result never depends on the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.algorithm.model import (
    Definition,
    Function,
    Image,
    ReductionDomain,
    ScalarParam,
    realization_order,
    with_made_funcs,
)
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.algorithm.snapshot import leaves
from halide_core.analysis.associativity import law_of
from halide_core.blocks.local import funcs_of, number
from halide_core.errors import user_location
from halide_core.func.scheduling.partial_results import partial_results
from halide_core.func.scheduling.rfactor import factored, factored_stage
from halide_core.ir import Access, BufferField, Field, Interval, ParamRef, RVarRef
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import subexpressions
from halide_core.schedule.directives import (
    Async,
    AtLevel,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    ComputeWith,
    Directive,
    StageDirective,
    StoreRoot,
)
from halide_core.schedule.func_directives import ReadInstead, RFactor
from halide_core.schedule.storage_directives import (
    AlignStorage,
    BoundStorage,
    FoldStorage,
    HoistStorageRoot,
    Memoize,
    ReorderStorage,
    RingBuffer,
    StoreIn,
)


@dataclass(frozen=True, eq=False)
class Reduction:
    """A Func that takes in whole arrays by an operator that obeys a law."""

    function: Function
    law: Law
    merged: tuple[Image, ...]
    """The images that stand for the merged parts, an input for each value of a point."""
    box: tuple[ScalarParam, ...]
    """The min and the extent of a part along each dimension of the domain that is split."""
    split: tuple[int, ...]
    """The dimensions of the domain that are split: all, or, where the order of values counts, the outermost."""

    @property
    def domain(self) -> ReductionDomain:
        """The whole domain."""
        domain = self.function.definitions[1].domain
        assert domain is not None
        return domain


def found(
    outputs: Sequence[Function], shapes: Mapping[Image, Sequence[int]], known: Mapping[ScalarParam, int | float]
) -> tuple[list[Reduction], list[str]]:
    """The reductions over whole inputs that can be split, producers first; and why others can't."""
    reductions: list[Reduction] = []
    refused: list[str] = []
    _, params = leaves(realization_order(outputs), outputs, ())
    names = UniqueNames([*(i.name for i in shapes), *(p.name for p in params)])
    for f in realization_order(outputs):
        whole = [k for k, d in enumerate(f.definitions) if _takes_in(f, d, shapes, known)]
        if not whole:
            continue
        law = law_of(f, f.definitions[1]) if whole == [1] and len(f.definitions) == 2 else None
        if len(f.definitions) > 2:
            refused.append(f"{_told(f, whole[0])} has several updates, of which this takes in all of an input.")
        elif law is None:
            refused.append(
                f"{_told(f, whole[0])} is no reduction by an associative operator (such as a scan, where each value "
                f"needs those before it)."
            )
        elif not law.exact:
            refused.append(f"{_told(f, whole[0])} takes in floats, whose sums depend on how they are bracketed.")
        else:
            reductions.append(_reduction(f, law, names))
    return reductions, refused


def _told(f: Function, stage: int) -> str:
    return f'"{f.name}", updated at {f.definitions[stage].location},'


def _takes_in(
    f: Function, d: Definition, shapes: Mapping[Image, Sequence[int]], known: Mapping[ScalarParam, int | float]
) -> bool:
    """True where a domain depends on the extents of an input, or is at least half as long as what it walks along."""
    if d.domain is None:
        return False
    roots = [e for over in d.domain.bounds for e in (over.min, over.len)]
    if any(isinstance(e, BufferField) and e.buffer in shapes for e in subexpressions(roots)):
        return True
    lengths = [number(over.len, known, shapes) for over in d.domain.bounds]
    for access in subexpressions([*d.args, *d.values]):
        if isinstance(access, Access) and access.callee is not f:
            for k, arg in enumerate(access.args):
                along = [lengths[e.index] for e in subexpressions([arg]) if isinstance(e, RVarRef)]
                if along and 2 * max(along) >= _length(access.callee, k, shapes):
                    return True
    return False


def _length(callee: ir.Callee, k: int, shapes: Mapping[Image, Sequence[int]]) -> float:
    """The extent along a dimension: of an input, or the least of the inputs of as many dimensions that a Func reads."""
    if isinstance(callee, Image):
        return shapes[callee][k] if callee in shapes else math.inf
    assert isinstance(callee, Function)
    images, _ = leaves(realization_order([callee]), [callee], ())
    return min((shapes[i][k] for i in images if i in shapes and i.dimensions == callee.dimensions), default=math.inf)


def _reduction(f: Function, law: Law, names: UniqueNames) -> Reduction:
    at = user_location()
    merged = tuple(
        Image(names.fresh(f"{f.component_name(k)}_merged"), t, f.dimensions, at) for k, t in enumerate(f.types)
    )
    domain = f.definitions[1].domain
    assert domain is not None
    dims = range(len(domain.names)) if law.known else range(len(domain.names) - 1, len(domain.names))
    ends = [f"{f.name}_{domain.names[d]}_{end}" for d in dims for end in ("min", "extent")]
    box = tuple(ScalarParam(names.fresh(end), INT32, at) for end in ends)
    for p in box[1::2]:
        p.low = 0
    return Reduction(f, law, merged, box, tuple(dims))


def without(outputs: Sequence[Function], reductions: Sequence[Reduction]) -> tuple[Function, ...]:
    """Outputs that read the merged results."""
    to = copied(outputs, {r.function: _merged(r) for r in reductions})
    for f in (to[r.function] for r in reductions if r.function in to):
        if f not in outputs and not any(isinstance(d, ComputeRoot | ComputeAt) for d in f.directives):
            # Without an update it is computed where it is used, and has no loops of its own.
            f.directives = [d for d in f.directives if isinstance(d, ReadInstead)]
    return tuple(to[f] for f in outputs)


def part(reduction: Reduction, before: Sequence[Reduction]) -> Function:
    """The Func that takes in one part of the domain; of the reductions before, it reads the merged results."""
    replaced: dict[Function, Definitions] = {r.function: _merged(r) for r in before if r is not reduction}
    replaced[reduction.function] = lambda renamed: _part(reduction, renamed)
    result = copied([reduction.function], replaced)[reduction.function]
    _factor_again(result)
    _place_alone(result)
    return result


_OF_NO_OUTPUT = (
    AtLevel, ComputeInline, StoreRoot, Async, FoldStorage, HoistStorageRoot, ReorderStorage, AlignStorage,
    BoundStorage, RingBuffer, Memoize, StoreIn,
)  # fmt: skip
"""Directives about where a Func is computed and stored before what reads it: an output is there as a whole."""


def _place_alone(output: Function) -> None:
    """Takes away what was said of places in Funcs that are no part of the pipeline of an output."""
    output.directives = [d for d in output.directives if not isinstance(d, _OF_NO_OUTPUT)]
    order = funcs_of([output])
    for f in order:
        lost = [d for d in f.directives if isinstance(d, AtLevel) and d.consumer not in order]
        root = [ComputeRoot(func=f, location=d.location) for d in lost if isinstance(d, ComputeAt)]
        f.directives = [*(d for d in f.directives if d not in lost and not _shares_loops(d, order)), *root]


def _shares_loops(d: Directive, order: Sequence[Function]) -> bool:
    """True where the loops are those of a Func that is not there."""
    return isinstance(d, ComputeWith) and d.other not in order


def _factor_again(function: Function) -> None:
    """Gives the Funcs that ``rfactor`` made of a Func, and those that it made of them, loops over its domain as it is
    now."""
    for d in function.directives:
        if isinstance(d, RFactor) and isinstance(d.partial, Function):
            made = factored(d, *factored_stage(function, d.stage, d))
            d.partial.definitions = [made.neutral, made.update]
            _factor_again(d.partial)


def merge(reduction: Reduction) -> tuple[Function, tuple[Image, ...]]:
    """The Func that merges parts, and the inputs that hold these, side by side along one dimension more."""
    f, law, at = reduction.function, reduction.law, user_location()
    parts = tuple(Image(f"{f.component_name(k)}_parts", t, f.dimensions + 1, at) for k, t in enumerate(f.types))
    count = ir.cast(INT32, BufferField(INT64, parts[0], Field.EXTENT, f.dimensions))
    over = ReductionDomain(("part",), (Interval(ir.const(0, INT32), count),), ir.TRUE, at)
    into = Function(f"{f.name}_merge", f.args, f.types, location=at)
    point = tuple(map(ir.pure_variable, f.args))
    state = [Access(t, into, point, k, 0) for k, t in enumerate(f.types)]
    at_part = (*point, RVarRef(INT32, over, 0))
    each = [Access(t, p, at_part, 0, ir.LAST_STAGE) for t, p in zip(f.types, parts, strict=True)]
    into.definitions = [
        Definition(point, law.neutral, None, ir.TRUE, at),
        Definition(point, law.applied(state, each), over, ir.TRUE, at),
    ]
    if not law.known:
        into.directives.append(partial_results(into, 1, (("part", "group"),)))
    return into, parts


Definitions = Callable[[Renamed], "list[Definition]"]


def _merged(reduction: Reduction) -> Definitions:
    """The definition of a Func of which the merged results are at hand: its first values take them in."""

    def definitions(renamed: Renamed) -> list[Definition]:
        first = renamed.definition(reduction.function.definitions[0])
        taken = [Access(i.types[0], i, first.args, 0, ir.LAST_STAGE) for i in reduction.merged]
        return [_whole(first, reduction.law.applied(first.values, taken))]

    return definitions


def _part(reduction: Reduction, renamed: Renamed) -> list[Definition]:
    """The definitions of one part: from the neutral element on, over a box of its own."""
    first, update = map(renamed.definition, reduction.function.definitions)
    domain = update.domain
    assert domain is not None
    bounds = list(domain.bounds)
    for d, low, extent in zip(reduction.split, reduction.box[::2], reduction.box[1::2], strict=True):
        bounds[d] = Interval(ParamRef(INT32, low), ParamRef(INT32, extent))
    domain.bounds = tuple(bounds)  # of the copy that was just made
    return [_whole(first, reduction.law.neutral), update]


def _whole(first: Definition, values: tuple[ir.ExprNode, ...]) -> Definition:
    """A first definition with other values, which all points get: also those that it left undefined."""
    return replace(first, values=values, partial=(), undefined=())


def copied(
    outputs: Sequence[Function],
    replaced: Mapping[Function, Definitions],
    rewriter: Callable[[dict[ir.Callee, ir.Callee]], Renamed] = Renamed,
    *,
    wrappers: bool = False,
) -> dict[Function, Function]:
    """Copies of all Funcs that outputs need, some with other definitions; these keep what was said of their stages.
    Those that wrap inputs are among them only if asked for: what is copied again reads them as it is."""
    order = with_made_funcs(realization_order(outputs)) if wrappers else funcs_of(outputs)
    copies = {f: Function(f.name, f.args, f.types, location=f.location, frozen_by=f.frozen_by) for f in order}
    to: dict[ir.Callee, ir.Callee] = dict(copies.items())
    renamed = rewriter(to)
    for f, copy in copies.items():
        given = replaced.get(f)
        copy.definitions = given(renamed) if given else [_kept(d, renamed) for d in f.definitions]
        stages = len(copy.definitions)
        copy.directives = [
            d.renamed(to).with_exprs(renamed.expr)
            for d in f.directives
            if not isinstance(d, StageDirective) or d.stage < stages
        ]
        copy.constraints = {at: renamed.expr(e) for at, e in f.constraints.items()}
        copy.alignment = f.alignment
    return copies


def _kept(d: Definition, renamed: Renamed) -> Definition:
    return renamed.definition(d)
