"""The executable semantics of the algorithm language (figure 2.6): the judge of all compiled code.

In: a Func and a window. Out: the value of each of its points. Evaluation is pointwise, lazy and memoised, and
shares nothing with simplification or lowering but what operators do to values, and which products are fused.

    f(x) = g(x - 1) + g(x + 1)
    evaluate(f, [(0, 3)])       ->  array of 3 values; g is evaluated at -1 … 3 and nowhere else

Each definition is translated once into straight-line Python (``halide_core.reference.translate``), and becomes a stage
that is
asked for points (``halide_core.reference.stages``):

    f.s0 at (x0,):   p = (x0 - 1,);  a = g.at(p) …        [FUNC-EVAL], [FUNC-ARG-EVAL]

Where the figure's select evaluates an update's value at points that the update doesn't write, this evaluates the
chosen side only: without infinite images the other side may not exist. A domain with a negative extent, an error by
[RDOM-ERR], is empty, as in Halide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from halide_core import ir
from halide_core.algorithm.fused_products import fused_values
from halide_core.algorithm.model import (
    Definition,
    Function,
    Image,
    ReductionDomain,
    ScalarParam,
    realization_order,
    refuse_externs,
)
from halide_core.errors import InternalError, PipelineError
from halide_core.ir.float16 import element
from halide_core.ir.types import INT32
from halide_core.ir.visitor import parts
from halide_core.reference.inputs import Array, Before, Inputs
from halide_core.reference.scalar_ops import wrap_function
from halide_core.reference.stack import Code, run_bounded
from halide_core.reference.stages import Fold, Iterations, Kept, Pure, Scan, StageValues, Update, Writes
from halide_core.reference.translate import Translator

Contents: TypeAlias = "Mapping[Function, Sequence[tuple[Array, Sequence[int]]]]"
"""The contents of the buffer of each component of some Funcs, and its first coordinates."""


def _below(roots: Iterable[ir.ExprNode]) -> list[ir.ExprNode]:
    """Every distinct node of some expressions."""
    seen: dict[ir.ExprNode, None] = {}
    stack = list(roots)
    while stack:
        e = stack.pop()
        if e not in seen:
            seen[e] = None
            stack.extend(parts(e))
    return list(seen)


def _conditions(definition: Definition) -> list[ir.ExprNode]:
    """The conditions of an iteration that writes; the domain's own predicate comes first."""
    tests = [definition.domain.predicate] if definition.domain is not None else []
    return [test for test in dict.fromkeys([*tests, definition.predicate]) if test is not ir.TRUE]


def _reachable(output: Function) -> list[Function]:
    """Every Func that may be read."""
    found = {output: None}
    waiting = [output]
    while waiting:
        for d in waiting.pop().definitions:
            for e in _below([*d.args, *d.values, *_conditions(d)]):
                if isinstance(e, ir.Access) and isinstance(e.callee, Function) and e.callee not in found:
                    found[e.callee] = None
                    waiting.append(e.callee)
    return list(found)


class _Program:
    """Every stage that an output needs, ready to be asked for points."""

    def __init__(self, output: Function, inputs: Inputs, strict_float: bool, before: Contents) -> None:
        self.inputs = inputs
        self._before = before
        self._strict_float = strict_float
        self.stages: dict[ir.Callee, list[StageValues]] = {}
        functions = _reachable(output)
        for f in functions:
            if not f.definitions:
                raise PipelineError(f'Func "{f.name}" has no definition.', f.location)
            for i in range(len(f.definitions)):
                self._check_requirements(f, i)
            own: list[StageValues] = [self._first(f)]
            for i in range(1, len(f.definitions)):
                own.append(self._update(f, i, own[-1]))
            self.stages[f] = own
        for f in functions:
            for i in range(len(f.definitions)):
                self._translate(f, i)

    def _first(self, f: Function) -> Pure:
        """The first definition; where it leaves points undefined, they are what an output's buffer has, or 0."""
        if not f.keeps:
            return Pure()
        had = self._before.get(f)
        return Kept([Before(type, None if had is None else had[k]) for k, type in enumerate(f.types)])

    def _check_requirements(self, f: Function, i: int) -> None:
        """Checks a definition's requirements on every run, at the start as in compiled code."""
        for r in f.definitions[i].requirements:
            startup = Translator(self.inputs, self.stages, f, i)
            found = startup.code((), 0, startup.tuple_of([startup.expr(e) for e in r.exprs()]))((), (), None, 0)
            if not found[0]:
                values = iter(found[1:])
                told = "".join(part if isinstance(part, str) else str(next(values)) for part in r.message)
                raise PipelineError(told, f.definitions[i].location)

    def _update(self, f: Function, i: int, before: StageValues) -> StageValues:
        d, pure_dims = f.definitions[i], f.pure_dims(i)
        where = [arg for arg, pure in zip(d.args, pure_dims, strict=True) if not pure] + _conditions(d)
        nodes = _below(where)
        reads_where = _reads_of(f, nodes)
        reads = _reads_of(f, _below(d.values))
        for e in reads + reads_where:
            if e.stage not in (i - 1, ir.LAST_STAGE):
                raise InternalError(f'Stage {i} of "{f.name}" reads its own stage {e.stage}.', d.location)
            if any(pure and a is not b for a, b, pure in zip(e.args, d.args, pure_dims, strict=True)):
                raise InternalError(f'"{e!r}" moves a pure dimension of "{f.name}" (definition 2.7).', d.location)
        # A read of the Func itself names its pure dimensions, by the check above.
        shared = not any(isinstance(e, ir.Variable) for e in nodes)
        iterations = self._iterations(f, i)
        at_once = len(iterations.ranges[0]) if d.domain is not None and d.domain.at_once else 1
        writes = Writes(None, iterations, shared, at_once)
        if at_once > 1 or reads_where or any(a is not b for e in reads for a, b in zip(e.args, d.args, strict=True)):
            return Scan(before, pure_dims, writes)
        return Fold(before, pure_dims, writes, bool(reads))

    def _iterations(self, f: Function, i: int) -> Iterations:
        """The iterations of an update definition [RDOM-ERR], [RDOM-EVAL]."""
        domain = f.definitions[i].domain
        ranges: list[list[int]] = []
        for name, interval in zip(domain.names, domain.bounds, strict=True) if domain is not None else ():
            if any(isinstance(e, ir.Access) for e in _below([interval.min, interval.len])):
                raise InternalError(f'The bounds of "{name}" are no startup expression.', f.definitions[i].location)
            startup = Translator(self.inputs, self.stages, f, i)
            ends = startup.tuple_of([startup.expr(interval.min), startup.expr(interval.len)])
            low, extent = startup.code((), 0, ends)((), (), None, 0)
            ranges.append([wrap_function(interval.min.type)(low + k) for k in range(extent)])
        return Iterations(ranges)

    def _translate(self, f: Function, i: int) -> None:
        d, stage = f.definitions[i], self.stages[f][i]
        pure = [dim for dim, is_pure in enumerate(f.pure_dims(i)) if is_pure]
        body = Translator(self.inputs, self.stages, f, i, pure=pure, domain=d.domain)
        if isinstance(stage, Fold):
            for e in _reads_of(f, _below(d.values)):
                body.name(e, "state")
        if isinstance(stage, Kept):
            anywhere = " or ".join(body.expr(p.where) for p in d.partial)
            body.line(f"if not ({anywhere}): return None")
        meant = fused_values(f, d) if i and not self._strict_float else d.values
        values = [body.expr(value) for value in meant]
        result = values[0] if len(values) == 1 else body.tuple_of(values)
        if isinstance(stage, Kept):
            result = body.tuple_of([result, body.tuple_of([body.expr(p.where) for p in d.partial])])
        assert isinstance(stage, Pure | Update)
        stage.body = body.code(pure, _variables(d.domain), result)
        if isinstance(stage, Update):
            stage.writes.target = self._target(f, i, pure)

    def _target(self, f: Function, i: int, pure: list[int]) -> Code | None:
        """The code that tells which cell an iteration writes, if any."""
        d = f.definitions[i]
        cell = [arg for dim, arg in enumerate(d.args) if dim not in pure]
        conditions = _conditions(d)
        if not cell and not conditions:
            return None
        target = Translator(self.inputs, self.stages, f, i, pure=pure, domain=d.domain)
        for condition in conditions:
            target.line(f"if not {target.expr(condition)}: return None")
        point = target.tuple_of([target.coordinate(arg) for arg in cell])
        return target.code(pure, _variables(d.domain), point)


def _variables(domain: ReductionDomain | None) -> int:
    return len(domain.names) if domain is not None else 0


def _reads_of(function: Function, nodes: Sequence[ir.ExprNode]) -> list[ir.Access]:
    return [e for e in nodes if isinstance(e, ir.Access) and e.callee is function]


def evaluate(
    function: Function,
    window: Sequence[tuple[int, int]],
    *,
    params: Mapping[ScalarParam, object] | None = None,
    images: Mapping[Image, tuple[Array, Sequence[int]]] | None = None,
    strict_float: bool = False,
    before: Contents | None = None,
) -> Array | tuple[Array, ...]:
    """The values of a Func in a window [REALIZE].

    Args:
        function: what to evaluate; its schedule, and everybody else's, is ignored.
        window: (min, extent) of each dimension, x first.
        params: values of parameters, before ``ScalarParam.value``.
        images: contents and first coordinates (x first) of images, before ``Image.bound``. Arrays have their axes
            reversed: ``array[y, x]``.
        strict_float: as for a target with this feature: no product is fused with a sum.
        before: what the buffers of outputs have when the pipeline starts, with their first coordinates, x first: the
            points that a first definition leaves undefined have it. Elsewhere, and in other Funcs, these are 0.

    Returns:
        An array with its axes reversed (``result[y, x]``) in the Func's own dtype; a tuple of them where the Func
        has several components.

    Raises:
        PipelineError: a parameter or an image is missing or of another type, an image is read outside of its
            bounds, or the window doesn't fit the Func or has a negative extent.
    """
    if len(window) != function.dimensions:
        raise PipelineError(f'Func "{function.name}" has {function.dimensions} dimensions, the window {len(window)}.')
    if any(extent < 0 for _, extent in window):
        raise PipelineError(f'The window of Func "{function.name}" has a negative extent: {list(window)}.')
    refuse_externs(realization_order([function]), "the reference semantics are")
    program = _Program(function, Inputs(params or {}, images or {}), strict_float, before or {})
    last = program.stages[function][-1]
    wrap = wrap_function(INT32)
    ranges = [[wrap(low + k) for k in range(extent)] for low, extent in window]
    values = []
    for at in itertools.product(*reversed(ranges)):
        point = at[::-1]
        known = last.memo.get(point)
        values.append(run_bounded(last.compute, point) if known is None else known)
    shape = tuple(extent for _, extent in reversed(window))
    components = [values] if len(function.types) == 1 else [[v[k] for v in values] for k in range(len(function.types))]
    typed = zip(components, function.types, strict=True)
    arrays = tuple(np.array([element(v, t) for v in each], t.dtype).reshape(shape) for each, t in typed)
    return arrays[0] if len(arrays) == 1 else arrays
