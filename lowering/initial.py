"""𝓛: from an algorithm to a program with holes under the default, eager schedule (figure 2.9).

In: an Algorithm. Out: T₀, one loop nest per stage in realization order, everything computed and stored at the top.

    fun f(x) = g(x) + 1    ->    allocate f(?mem f.x)
                                 label f: label f.s0: for f.s0.x in ?cpu f.s0.x: f[f.s0.x] = g[f.s0.x] + 1
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import TargetExprs, stage_variables, startup_index
from halide_core.analysis.simplify import simplify
from halide_core.ir import ExprNode, If, Interval, LoopKind, LoopName, Provide, Stmt, Variable
from halide_core.ir.types import INT32
from halide_core.loop_nest import Guard, Loop, Nest, Program, StageKey, hole


def lower_initial(algorithm: Algorithm) -> Program:
    """𝓛 of a whole pipeline."""
    nests = {
        StageKey(f, stage): lower_stage(f, stage, definition)
        for f in algorithm.functions
        for stage, definition in enumerate(f.definitions)
    }
    top = dict.fromkeys(algorithm.functions, None)
    return Program(algorithm, {f.name: f for f in algorithm.functions}, nests, top, dict(top))


def lower_stage(f: Function, stage: int, definition: Definition) -> Nest:
    """𝓛_U: pure loops around reduction loops around the guarded assignment."""
    variables = stage_variables(f, stage)
    loops: list[Loop] = []
    pure = f.pure_dims(stage)
    for dim in reversed(range(f.dimensions)):
        if pure[dim]:
            var = variables[ir.pure_variable(f.args[dim])]
            bounds = hole(ir.HoleKind.CPU, f, stage, dim)
            loops.append(_loop(LoopName(f.name, stage, 0, f.args[dim]), var, bounds))
    domain = definition.domain
    conditions: dict[ExprNode, None] = {}
    if domain is not None:
        for i in reversed(range(len(domain.names))):
            var = variables[ir.RVarRef(INT32, domain, i)]
            bounds = Interval(startup_index(domain.bounds[i].min), startup_index(domain.bounds[i].len))
            conditions |= dict.fromkeys(_unless_negative(bounds.len))
            name = domain.names[i]
            kind = LoopKind.AT_ONCE if domain.at_once and i == 0 else LoopKind.SERIAL
            loops.append(_loop(LoopName(f.name, stage, 0, name), var, bounds, (name,), kind))
    exprs = TargetExprs(variables)
    core: Stmt = Provide(
        f, stage, tuple(exprs.index(a) for a in definition.args), tuple(exprs.value(v) for v in definition.values)
    )
    for predicate in (definition.predicate, domain.predicate if domain else ir.TRUE):
        if predicate is not ir.TRUE:
            core = If(exprs.condition(predicate), core, None)
    return Nest(tuple(loops), tuple(map(Guard, conditions)), core)


def _unless_negative(length: ExprNode) -> list[ExprNode]:
    """The guard of a loop whose length may be negative: it has no iterations then."""
    known = simplify(length)
    return [] if ConstantRanges().of(known)[0] >= 0 else [ir.less_equal(ir.ZERO, known)]


def _loop(
    name: LoopName,
    var: ExprNode,
    bounds: Interval,
    reduces: tuple[str, ...] = (),
    kind: LoopKind = LoopKind.SERIAL,
) -> Loop:
    assert isinstance(var, Variable)
    return Loop(name, var, bounds, kind, reduces)
