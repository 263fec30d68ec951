"""A pipeline made again of what ``write`` made of it.

In: a dict that JSON gave, and inputs that are to stand for those of their names. Out: outputs, requirements and inputs;
or an error: nothing is taken for granted of what is read.

    restored({"scalars": [], …}, {})   ->   Restored(outputs=(f,), …)
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, Image, ReductionDomain, Requirement, ScalarParam
from halide_core.algorithm.user_context import USER_CONTEXT, is_passed
from halide_core.algorithm.wellformed import (
    check_names,
    check_pure_values,
    check_separation,
    check_shapes,
    check_update_type,
    domain_of,
)
from halide_core.errors import DefinitionError, Location
from halide_core.ir import Access, ExprNode, Field, Interval, IntImm
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import BOOL, INT32, INT64, Handle, Type
from halide_core.ir.visitor import subexpressions
from halide_core.lang.arguments.values import checked_value
from halide_core.lang.buffer import Buffer
from halide_core.schedule.directives import ComputeWith, Directive, StageDirective
from halide_core.serialize.codec import POINTER, Tables, damaged, decoded, expression, number

_MOST_DIMENSIONS = 64


@dataclass(frozen=True)
class Restored:
    """The contents of a serialization."""

    outputs: tuple[Function, ...]
    requirements: tuple[Requirement, ...]
    inputs: dict[str, Image | ScalarParam]
    """By name; Buffers that stand in definitions are no inputs."""


def restored(content: Mapping[str, Any], given: Mapping[str, Image | ScalarParam]) -> Restored:
    """The pipeline.

    Raises:
        DamageError, and what Python raises of data of another form: it is none. DefinitionError: a definition that no
            user could have given, or an input that does not fit.
    """
    tables = Tables()
    scalars, images, functions = (content[key] for key in ("scalars", "images", "functions"))
    tables.scalars = [_scalar(row, given) for row in scalars]
    pictures = [_image(row, given) for row in images]
    funcs = [_function(row) for row in functions]
    tables.callees = [*pictures, *funcs]
    tables.domains = [_domain(row) for row in content["domains"]]
    for row in content["expressions"]:
        tables.expressions.append(expression(row, tables))
    for domain, row in zip(tables.domains, content["domains"], strict=True):
        _fill_domain(domain, row, tables)
    for image, row in zip(pictures, images, strict=True):
        if image is not given.get(image.name):  # the user's own has what he said of it
            _fill_image(image, row, tables)
        _wrap(image, row, tables)
    for k, (f, row) in enumerate(zip(funcs, functions, strict=True)):
        _fill_function(f, row, tables, frozenset(funcs[:k]))
    for f in funcs:
        _check_stages(f)
    outputs = decoded(tuple[ir.Callee, ...], content["outputs"], tables)
    if not outputs or not all(isinstance(f, Function) for f in outputs):
        damaged("outputs")
    requirements = decoded(tuple[Requirement, ...], content["requirements"], tables)
    _check_requirements(requirements)
    inputs: dict[str, Image | ScalarParam] = {i.name: i for i in pictures if not i.embedded}
    inputs |= {p.name: p for p in tables.scalars if is_passed(p)}
    return Restored(outputs, requirements, inputs)


def _text(data: object) -> str:
    return data if isinstance(data, str) else str(damaged(data))


def _location(data: Any) -> Location:
    found: Location = decoded(Location, data, Tables())
    return found


def _type(data: Any) -> Type:
    found: Type = decoded(Type, data, Tables())
    return found


def _given(name: str, type: Type, dimensions: int | None, given: Mapping[str, Image | ScalarParam]) -> Any:
    """The input that is to stand for that of a name; None where there is none."""
    found = given.get(name)
    if found is None:
        return None
    of = found.types[0] if isinstance(found, Image) else found.type
    has = found.dimensions if isinstance(found, Image) else None
    if (of, has) != (type, dimensions):
        what = "a scalar" if dimensions is None else f"a buffer of {dimensions} dimensions"
        raise DefinitionError(f'The input "{name}" of the pipeline is {what} of {type}, which the one given is not.')
    return found


def _scalar(row: Any, given: Mapping[str, Image | ScalarParam]) -> ScalarParam:
    name, type = _text(row["name"]), Handle() if row["type"] == POINTER else _type(row["type"])
    if (name, type) == (USER_CONTEXT.name, USER_CONTEXT.type):
        return USER_CONTEXT
    found = _given(name, type, None, given)
    if isinstance(found, ScalarParam):
        return found
    made = ScalarParam(name, type, _location(row["location"]))
    for key in ("value", "low", "high", "estimate"):
        if key in row:
            value = row[key]
            exact = float.fromhex(value) if isinstance(value, str) else value
            setattr(made, key, checked_value(type, exact, f'The {key} of "{name}"'))
    return made


def _image(row: Any, given: Mapping[str, Image | ScalarParam]) -> Image:
    name, type = _text(row["name"]), _type(row["type"])
    dimensions, data = number(row["dimensions"], _MOST_DIMENSIONS), row["data"]
    if data is None:
        found = _given(name, type, dimensions, given)
        return found if isinstance(found, Image) else Image(name, type, dimensions, _location(row["location"]))
    made = Image(name, type, dimensions, _location(row["location"]), embedded=True)
    made.bound = _buffer(data, type, dimensions)
    return made


def _buffer(data: Any, type: Type, dimensions: int) -> Buffer:
    shape, mins = [number(n, 1 << 31) for n in data["shape"]], data["mins"]
    values = base64.b64decode(_text(data["bytes"]), validate=True)
    if len(shape) != dimensions or math.prod(shape) * type.bytes() != len(values):
        damaged(shape)
    array = np.frombuffer(values, np.uint8).view(type.dtype).reshape(shape).copy()
    buffer = Buffer(array, _text(data["name"]))
    lows = [number(low + (1 << 31), 1 << 32) - (1 << 31) for low in mins]
    if len(lows) != dimensions:
        damaged(mins)
    buffer.set_min(lows)
    return buffer


def _function(row: Any) -> Function:
    args, types = tuple(map(_text, row["args"])), tuple(map(_type, row["types"]))
    if len(set(args)) < len(args) or len(args) > _MOST_DIMENSIONS or not types:
        damaged(row["name"])
    return Function(_text(row["name"]), args, types)


def _domain(row: Any) -> ReductionDomain:
    names = tuple(map(_text, row["names"]))
    if not 0 < len(names) <= _MOST_DIMENSIONS or len(set(names)) < len(names):
        damaged(names)
    return ReductionDomain(names, (), ir.TRUE, _location(row["location"]))


def _fill_domain(domain: ReductionDomain, row: Any, tables: Tables) -> None:
    domain.bounds = decoded(tuple[Interval, ...], row["bounds"], tables)
    domain.predicate = decoded(ExprNode, row["predicate"], tables)
    domain.at_once = decoded(bool, row.get("at_once", False), tables)
    domain.frozen_by = decoded(Location | None, row["frozen_by"], tables)
    ends = [end for i in domain.bounds for end in (i.min, i.len)]
    if len(domain.bounds) != len(domain.names) or any(e.type not in (INT32, INT64) for e in ends):
        damaged(domain.names)
    if domain.predicate.type is not BOOL:
        damaged("predicate")
    _check_startup(ends, domain.names)
    if domain.at_once:
        _check_at_once(domain)


def _check_at_once(domain: ReductionDomain) -> None:
    """Refuses iterations at once that no list makes: a constant number of them, and no condition asks which one."""
    first = domain.bounds[0]
    listed = first.min is ir.const(0, INT32) and isinstance(first.len, IntImm) and first.len.value > 0
    within = subexpressions([domain.predicate])
    if not listed or any(isinstance(e, ir.RVarRef) and e.domain is domain and e.index == 0 for e in within):
        damaged(domain.names)


def _check_startup(exprs: Iterable[ExprNode], told: object) -> None:
    """Refuses what is not known when a pipeline starts."""
    if any(isinstance(e, ir.Variable | ir.RVarRef | Access) for e in subexpressions(exprs)):
        damaged(told)


def _shared(of: Image | Function, row: Any, tables: Tables) -> None:
    """Restores what inputs and outputs both have."""
    for field, dim, value in row["constraints"]:
        promised = decoded(ExprNode, value, tables)
        of.constraints[Field.__members__[field], number(dim, of.dimensions)] = promised
        _check_startup([promised], field)
    of.memory = MemoryType.__members__[row["memory"]]
    alignment = row["alignment"]
    if alignment is not None and number(alignment, 1 << 31).bit_count() != 1:
        damaged(alignment)
    of.alignment = alignment


def _fill_image(image: Image, row: Any, tables: Tables) -> None:
    _shared(image, row, tables)
    image.traced = decoded(bool, row["traced"], tables)
    for dim, low, extent in row["estimates"]:
        ends = (decoded(ExprNode | None, low, tables), decoded(ExprNode | None, extent, tables))
        image.estimates[number(dim, image.dimensions)] = ends


def _wrap(image: Image, row: Any, tables: Tables) -> None:
    """Gives an input the Funcs that ``in_`` made of it."""
    wrappers = decoded(tuple[ir.Callee, ...], row["wrappers"], tables)
    if wrappers and image.wrappers:
        raise DefinitionError(
            f'The pipeline has Funcs that in_() made of the input "{image.name}", and so has the one given: give a new '
            f"one, such as deserialize_parameters() makes."
        )
    for f in wrappers:
        image.wrappers.append(f if isinstance(f, Function) else damaged(row["wrappers"]))


def _fill_function(f: Function, row: Any, tables: Tables, before: frozenset[ir.Callee]) -> None:
    f.location = decoded(Location | None, row["location"], tables)
    f.frozen_by = decoded(Location | None, row["frozen_by"], tables)
    for k, definition in enumerate(decoded(tuple[Definition, ...], row["definitions"], tables)):
        _check(f, k, definition, before)
        f.definitions.append(definition)
    f.directives.extend(decoded(tuple[Directive, ...], row["directives"], tables))
    if not f.definitions or any(d.func is not f for d in f.directives):
        damaged(f.name)
    _check_startup([e for d in f.directives for e in d.exprs()], f.name)
    _shared(f, row, tables)


def _check_stages(f: Function) -> None:
    """Refuses directives about stages that their Funcs don't have."""
    for d in f.directives:
        if isinstance(d, StageDirective):
            number(d.stage, len(f.definitions))
        if isinstance(d, ComputeWith):
            number(d.other_stage, len(d.other.definitions) if isinstance(d.other, Function) else 0)


def _check(f: Function, stage: int, d: Definition, before: frozenset[ir.Callee]) -> None:
    """Refuses a stage that no user could have written: by the rules of definitions 2.7 to 2.10."""
    exprs = d.exprs()
    fits = len(d.args) == len(f.args) and all(a.type is INT32 for a in d.args) and d.predicate.type is BOOL
    partial = [(p.value.type, p.where.type) for p in d.partial]
    if not fits or partial not in ([], [(t, BOOL) for t in f.types]) or any(k >= len(f.types) for k in d.undefined):
        damaged(f.name)
    _check_requirements(d.requirements)
    more = [e for p in d.partial for e in (p.value, p.where)]
    for e in subexpressions([*exprs, d.predicate, *more]):
        if isinstance(e, Access) and not _may_read(e, f, stage, before):
            damaged(f.name)
    if stage == 0:
        plain = all(a is ir.pure_variable(n) for a, n in zip(d.args, f.args, strict=True))
        if d.domain is not None or d.predicate is not ir.TRUE or not plain:
            damaged(f.name)
        check_pure_values(f.name, f.args, [*d.values, *more])
        check_update_type(f, 0, [v.type for v in d.values])
        return
    check_update_type(f, stage, [v.type for v in d.values])
    if domain_of(f'Func "{f.name}"', exprs) not in (d.domain, None) or d.partial:
        damaged(f.name)
    check_names(f, d.domain)
    check_shapes(f.name, exprs, d.domain)
    check_separation(f, stage, d.args, exprs)


def _check_requirements(requirements: tuple[Requirement, ...]) -> None:
    """Refuses requirements about points: a run meets them, or it does not."""
    exprs = [e for r in requirements for e in r.exprs()]
    if any(isinstance(e, ir.Variable | ir.RVarRef) for e in subexpressions(exprs)):
        damaged("requirements")
    if any(r.condition.type is not BOOL for r in requirements):
        damaged("requirements")


def _may_read(e: Access, f: Function, stage: int, before: frozenset[ir.Callee]) -> bool:
    """True where a stage reads what there is before it: its own Func as the stage before left it, other Funcs whole,
    and none that comes later, which would need this one."""
    if e.callee is f:
        return e.stage == stage - 1 >= 0
    return e.stage == ir.LAST_STAGE and (isinstance(e.callee, Image) or e.callee in before)
