"""Copies of programs: the compiler only ever sees these, so that nothing that a user does later changes a compile.

In: the outputs of a program as the user's objects have built it up. Out: an Algorithm in realization order, whose names
are unique and the same in every process.

    snapshot([out]).functions   ->  (blur_x, out)      producers before consumers
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import (
    BEFORE,
    Algorithm,
    Constraint,
    Definition,
    Function,
    Image,
    Requirement,
    ScalarParam,
    realization_order,
    refuse_externs,
    with_made_funcs,
)
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.errors import DefinitionError, ScheduleError
from halide_core.ir.names import is_automatic
from halide_core.ir.visitor import subexpressions
from halide_core.schedule.directives import Directive


def snapshot(
    outputs: Sequence[Function],
    requirements: Sequence[Requirement] = (),
    inputs: Sequence[Image | ScalarParam] = (),
    *,
    externs: bool = False,
) -> Algorithm:
    """A copy of the program that computes ``outputs``, with unique, canonical names. ``inputs``: it has these too.

    Images and parameters keep their identity: they are the pipeline's arguments.

    Raises: NotAvailableError for extern stages, unless the caller knows what to do with them.
    """
    order = with_made_funcs(realization_order(outputs))
    if not externs:
        refuse_externs(order, "loop nests, explanations, certificates, profiles and compilation to files are")
    images, params = leaves(order, outputs, requirements, inputs)
    names = UniqueNames([*(i.name for i in images), *(p.name for p in params)])
    variables = _canonical_variables(order)
    to: dict[ir.Callee, ir.Callee] = {}
    copies: dict[Function, Function] = {}
    _refuse_shapes_of_others(order, outputs)
    promised: list[Function | Image] = [*outputs, *images]
    for buffer in promised:
        _refuse_of_others(f'A constraint of "{buffer.name}"', buffer.constraints.values(), outputs)
    for r in requirements:
        _refuse_of_others("A requirement", r.exprs(), outputs)
    for f in order:
        args = tuple(variables.get(a, a) for a in f.args)
        name = names.fresh_of(f.name.replace(".", "_"), len(f.types))  # behind a dot stand stages, and their loops
        copies[f] = Function(name, args, f.types, location=f.location, stands_for=f.stands_for)
        to[f] = copies[f]
    renamed = Renamed(to, variables=variables)
    directives: list[Directive] = []
    for f in order:
        copies[f].definitions = [renamed.definition(d) for d in f.definitions]
        copies[f].extern = renamed.call(f.extern)
        if f.keeps:
            first = _kept(copies[f]) if f in outputs else replace(copies[f].definitions[0], partial=())
            copies[f].definitions[0] = first
        copies[f].directives = [d.renamed(to).with_exprs(renamed.expr).with_variables(variables) for d in f.directives]
        directives.extend(copies[f].directives)
    for f in outputs:
        copies[f].alignment = f.alignment
        copies[f].constraints = {at: renamed.expr(value) for at, value in f.constraints.items()}
    constraints = tuple(
        Constraint(to.get(b, b), field, dim, renamed.expr(value))
        for b in promised
        for (field, dim), value in b.constraints.items()
    )
    required = tuple(
        Requirement(
            renamed.expr(r.condition), tuple(renamed.expr(m) if isinstance(m, ir.ExprNode) else m for m in r.message)
        )
        for r in requirements
    )
    leaf = (tuple(images), tuple(params))
    copied = tuple(copies[f] for f in outputs)
    return Algorithm(copied, tuple(copies.values()), *leaf, tuple(directives), constraints, required)


def leaves(
    functions: Sequence[Function],
    outputs: Sequence[Function] = (),
    requirements: Sequence[Requirement] = (),
    inputs: Sequence[Image | ScalarParam] = (),
) -> tuple[list[Image], list[ScalarParam]]:
    """The images and parameters that Funcs and their directives mention, in the order of first use; then those that
    only the requirements and the constraints of buffers mention; then inputs that nothing mentions."""
    images, params = dict[Image, None](), dict[ScalarParam, None]()

    def collect(roots: Iterable[ir.ExprNode]) -> None:
        for e in subexpressions(roots):
            if isinstance(e, ir.Access) and isinstance(e.callee, Image):
                images.setdefault(e.callee)
            elif isinstance(e, ir.BufferField) and isinstance(e.buffer, Image):
                images.setdefault(e.buffer)
            elif isinstance(e, ir.ParamRef) and isinstance(e.param, ScalarParam):
                params.setdefault(e.param)

    for f in functions:
        collect(expressions_of(f))
    collect(e for r in requirements for e in r.exprs())
    collect(e for f in outputs for e in f.constraints.values())
    images.update(dict.fromkeys(i for i in inputs if isinstance(i, Image)))
    settled = 0
    while settled < len(images):  # a constraint may mention another image
        collect(list(images)[settled].constraints.values())
        settled += 1
    params.update(dict.fromkeys(i for i in inputs if isinstance(i, ScalarParam)))
    return list(images), list(params)


def expressions_of(f: Function) -> list[ir.ExprNode]:
    """The expressions of definitions and directives."""
    roots = [e for d in f.definitions for e in d.exprs()]
    roots += [e for d in f.definitions if d.domain for i in d.domain.bounds for e in (i.min, i.len)]
    roots += [e for d in f.directives for e in d.exprs()]
    roots += [e for d in f.definitions for tag in d.tags for e in tag.words]
    return roots


def _canonical_variables(functions: Sequence[Function]) -> dict[str, str]:
    """Names for the variables that the user left unnamed, in the order of their first mention."""
    mentioned: dict[str, None] = {}
    for f in functions:
        mentioned.update(dict.fromkeys(f.args))
        for d in f.directives:
            mentioned.update(dict.fromkeys(d.variables()))
    given = UniqueNames(name for name in mentioned if not is_automatic(name))
    return {name: given.fresh("v") for name in mentioned if is_automatic(name)}


def _refuse_shapes_of_others(functions: Sequence[Function], outputs: Sequence[Function]) -> None:
    """Only an output has a buffer whose shape is known at start-up."""
    for f in functions:
        for d in f.directives:
            for e in subexpressions(d.exprs()):
                if isinstance(e, ir.BufferField) and isinstance(e.buffer, Function) and e.buffer not in outputs:
                    raise ScheduleError(
                        f'{d.spelled()}: "{e.buffer.name}" is no output of the pipeline that is compiled, so it has '
                        f"no output_buffer().",
                        d.location,
                    )


def _refuse_of_others(what: str, exprs: Iterable[ir.ExprNode], outputs: Sequence[Function]) -> None:
    """Only the shapes of inputs and outputs are known at start-up."""
    for e in subexpressions(exprs):
        if isinstance(e, ir.BufferField) and isinstance(e.buffer, Function) and e.buffer not in outputs:
            raise DefinitionError(
                f'{what} mentions the shape of "{e.buffer.name}", which is no output of the pipeline that is compiled.'
            )


def _kept(f: Function) -> Definition:
    """The first definition of an output that leaves points undefined: these keep what the buffer has, as nothing is
    written there. Where only some values of a point are undefined, they are written back."""
    first = f.definitions[0]
    where = dict.fromkeys(p.where for p in first.partial if p.where is not ir.FALSE)
    written: ir.ExprNode = ir.TRUE if ir.TRUE in where else ir.FALSE
    if written is ir.FALSE:
        for each in where:
            written = each if written is ir.FALSE else ir.Binary(each.type, ir.BinaryOp.OR, written, each)
    values = []
    for k, (p, type) in enumerate(zip(first.partial, f.types, strict=True)):
        old = ir.Access(type, f, first.args, k, BEFORE)
        partly = old if p.where is ir.FALSE else ir.Select(type, p.where, p.value, old)
        values.append(p.value if p.where is written is not ir.FALSE else partly)
    return replace(first, values=tuple(values), predicate=written)
