"""Trace lines of Funcs and inputs: prints among the values of definitions.

In: the algorithm after inlining. Out: the same, with an event for each load and each store of what is traced.

    f[x] = g[x + 1]*2, both traced   ->   "Load g.0(4) = 16" and "Store f.0(3) = 32", at each point that is computed

All that a stage loads is shown before what it stores, what it reads in coordinates and conditions too. Of a component
that a first definition leaves undefined no store is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function, Image
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import Callee, ExprNode
from halide_core.ir.types import Float
from halide_core.ir.visitor import subexpressions
from halide_core.run.target import Target
from halide_core.run.target_names import TargetFeature
from halide_core.schedule.directives import Trace, Traced

_OF_TARGETS = {
    TargetFeature.TraceLoads: Traced.LOADS,
    TargetFeature.TraceStores: Traced.STORES,
    TargetFeature.TraceRealizations: Traced.REALIZATIONS,
}


def trace_everything(algorithm: Algorithm, target: Target | None) -> None:
    """Traces every Func, as the target asks for. The Funcs of the algorithm are copies of the user's."""
    wanted = [what for feature, what in _OF_TARGETS.items() if target is not None and target.has_feature(feature)]
    for f in algorithm.functions if wanted else ():
        f.directives += [Trace(func=f, location=UNKNOWN_LOCATION, what=what) for what in wanted]


def show_traces(algorithm: Algorithm) -> Algorithm:
    """See the module's docstring. The Funcs of the algorithm are copies of the user's, and are changed in place."""
    loads: set[Callee] = {f for f in algorithm.functions if _is_traced(f, Traced.LOADS)}
    loads |= {image for image in algorithm.images if image.traced}
    for f in algorithm.functions:
        stores = _is_traced(f, Traced.STORES)
        if loads or stores:
            f.definitions = [_shown(f, d, loads, stores=stores) for d in f.definitions]
    return algorithm


def _is_traced(f: Function, what: Traced) -> bool:
    return any(isinstance(d, Trace) and d.what is what for d in f.directives)


def _shown(f: Function, d: Definition, loads: set[Callee], *, stores: bool) -> Definition:
    domain = () if d.domain is None else (d.domain.predicate,)
    read = [e for e in subexpressions((*d.exprs(), *domain)) if isinstance(e, ir.Access) and e.callee in loads]
    values = list(d.values)
    for e in read:
        values[0] = _line(values[0], ir.EventCode.LOAD, e.callee, e.component, e.args, e)
    if stores:
        for k, given in enumerate(d.values):
            if k not in d.undefined:
                values[k] = _line(values[k], ir.EventCode.STORE, f, k, d.args, given)
    return replace(d, values=tuple(values))


def _line(
    value: ExprNode, code: ir.EventCode, callee: Callee, component: int, at: Sequence[ExprNode], shown: ExprNode
) -> ExprNode:
    """``value``, which shows a line where it is computed."""
    verb = "Load" if code is ir.EventCode.LOAD else "Store"
    message: list[str | ExprNode] = [f"{verb} {callee.own.name}.{component}("]
    for i, coordinate in enumerate(at):
        message += [", ", coordinate] if i else [coordinate]
    number = ir.cast(Float(32), shown) if shown.type.is_narrow_float() else shown
    whole = (*message, ") = ", number)
    return ir.Event(value.type, value, ir.TRUE, whole, code, callee.own.name, isinstance(callee, Image), component, "")
