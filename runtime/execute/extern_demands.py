"""The demands of a pipeline with extern stages on what a run is given, checked before a C function gets it.

In: a request some of whose Funcs are computed by C functions. Out: a pipeline of its inputs that computes nothing.

    e = box3(im, k), k in [1, 9], require(k < im.width())   ->   a pipeline of im and k that checks these, and writes 0

A segment checks what it reads itself, which is not what C functions are passed; and one behind a C function comes too
late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, Image, ScalarParam, realization_order
from halide_core.algorithm.snapshot import leaves, snapshot
from halide_core.algorithm.strides import is_dense, not_dense, with_strides
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir.types import INT32
from halide_core.ir.visitor import subexpressions
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Compiled, Request

_Given = Buffer | int | float | bool


@dataclass(frozen=True, slots=True, eq=False)
class Demands:
    """The checks of one pipeline's inputs."""

    checking: Compiled
    checked: tuple[int, ...]
    """The inputs that are checked, by their positions."""
    passed: frozenset[int]
    """Those that are passed to C functions, which expect neighbours in dimension 0 to be neighbours in memory."""
    strided: frozenset[int]
    """Those whose strides the pipeline knows."""
    names: tuple[str, ...]

    def met(self, inputs: Sequence[_Given]) -> list[_Given]:
        """The inputs as C functions expect them: a dense copy of one that is not dense, as every pipeline makes.

        Raises: PipelineError where a demand is not met.
        """
        self.checking.run([inputs[k] for k in self.checked], [Buffer.make_scalar(INT32)])
        return [self._dense(k, each) if k in self.passed else each for k, each in enumerate(inputs)]

    def _dense(self, k: int, given: _Given) -> _Given:
        if not isinstance(given, Buffer) or not given.array.size or given.dimensions() == 0:
            return given
        extent, stride = given.dim(0).extent(), given.dim(0).stride()
        if extent == 1 or stride == 1:
            return given
        if k in self.strided:
            raise not_dense(self.names[k], stride)
        copy = Buffer(np.array(given.array, order="C", copy=True))
        copy.set_min([given.dim(d).min() for d in range(given.dimensions())])
        return copy


def demands(request: Request, compiling: Callable[[Request], Compiled]) -> Demands | None:
    """The checks of a pipeline's inputs; None where there are none to make. Demands that mention Funcs, or the shapes
    of outputs, are left to the segment that knows them."""
    order = realization_order(request.outputs)
    passed = [p for e in order if e.extern is not None for p in e.extern.params]
    images = {p for p in passed if isinstance(p, Image)}
    values = subexpressions([p for p in passed if isinstance(p, ir.ExprNode)])
    scalars = {e.param for e in values if isinstance(e, ir.ParamRef) and _is_limited(e.param)}
    required = tuple([r for r in request.requirements if _is_of_inputs(r.exprs())])
    read, params = leaves((), (), required, ())
    asked = [s for s in request.inputs if s in images or s in scalars or s in read or s in params]
    asked = [s for s in asked if not isinstance(s, Image) or _is_of_inputs(s.constraints.values())]
    if not asked:
        return None
    mentioned, also = leaves((), (), required, asked)
    inputs = tuple([s for s in request.inputs if s in mentioned or s in also])
    nothing = Definition((), (ir.const(0, INT32),), None, ir.TRUE, UNKNOWN_LOCATION)
    output = Function(request.outputs[0].name, (), (INT32,), [nothing], location=UNKNOWN_LOCATION)
    checking = compiling(replace(request, outputs=(output,), inputs=inputs, requirements=required))
    known = with_strides(snapshot(request.outputs, request.requirements, request.inputs, externs=True))
    dense = [s in images and isinstance(s, Image) and not s.embedded and is_dense(s) for s in request.inputs]
    return Demands(
        checking,
        tuple([request.inputs.index(s) for s in inputs]),
        frozenset(k for k, each in enumerate(dense) if each),
        frozenset(k for k, s in enumerate(request.inputs) if s in known),
        tuple([s.name for s in request.inputs]),
    )


def _is_limited(p: ir.Scalar) -> bool:
    return isinstance(p, ScalarParam) and (p.low is not None or p.high is not None)


def _is_of_inputs(roots: Iterable[ir.ExprNode]) -> bool:
    """True where expressions mention no Func, nor the shape of an output."""
    every = list(subexpressions(roots))
    fields = [e.buffer for e in every if isinstance(e, ir.BufferField)]
    return not any(isinstance(c, Function) for c in (*fields, *(e.callee for e in every if isinstance(e, ir.Access))))
