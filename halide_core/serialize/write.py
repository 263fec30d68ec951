"""A pipeline as data for JSON: tables of its inputs, Funcs, reduction domains and expressions.

In: outputs, and what every run must meet. Out: a dict; expressions come after those they use, Funcs after those they
read, and each stands once.

    {"scalars": […], "images": […], "domains": […], "functions": [{"name": "f", …}], "expressions": [[…], …], …}
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from halide_core.algorithm.model import (
    Function,
    Image,
    ReductionDomain,
    Requirement,
    ScalarParam,
    Tag,
    realization_order,
    with_made_funcs,
)
from halide_core.errors import NotAvailableError
from halide_core.ir import Access, BufferField, ExprNode, Interval, ParamRef, RVarRef
from halide_core.lang.buffer import Buffer
from halide_core.schedule.directives import Branch, Directive
from halide_core.serialize.codec import POINTER, Numbers, Tables, directives, hints


def written(outputs: Sequence[Function], requirements: Sequence[Requirement]) -> dict[str, Any]:
    """The content of a serialization.

    Raises:
        NotAvailableError: an extern stage, or a file to be written, which are not for whoever reads this.
    """
    functions = realization_order(with_made_funcs(realization_order(outputs)))
    for f in functions:
        _refuse(f)
    tables = _tables(functions, requirements)
    numbers = Numbers(tables)
    images = [c for c in tables.callees if isinstance(c, Image)]
    return {
        "scalars": [_scalar(p, numbers) for p in tables.scalars],
        "images": [_image(i, numbers) for i in images],
        "domains": [_domain(d, numbers) for d in tables.domains],
        "functions": [_function(f, numbers) for f in functions],
        "expressions": [numbers.row(e) for e in tables.expressions],
        "outputs": [numbers.encoded(f) for f in outputs],
        "requirements": [numbers.encoded(r) for r in requirements],
    }


def _refuse(f: Function) -> None:
    if f.extern is not None:
        raise NotAvailableError(f'Func "{f.name}" is an extern stage: it can\'t be serialized.')
    for d in f.directives:
        if type(d).__name__ not in directives():
            raise NotAvailableError(f"{d.spelled()} can't be serialized: whoever reads it would write the file.")


def _parts(value: Any) -> Iterator[ExprNode]:
    """The expressions in the fields of a record, and in theirs."""
    if isinstance(value, ExprNode):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, Directive | Branch | Requirement | Interval | Tag):
        for name, _, _ in hints(type(value)):
            yield from _parts(getattr(value, name))


def _roots_of_function(f: Function) -> Iterator[ExprNode]:
    for d in f.definitions:
        yield from d.exprs()
        for p in d.partial:
            yield from (p.value, p.where)
        yield d.predicate
        yield from _parts(d.requirements)
        yield from _parts(d.tags)
    yield from f.constraints.values()
    yield from _parts(tuple(f.directives))


def _roots_of_image(image: Image) -> Iterator[ExprNode]:
    yield from image.constraints.values()
    yield from (e for ends in image.estimates.values() for e in ends if e is not None)


def _tables(functions: Sequence[Function], requirements: Sequence[Requirement]) -> Tables:
    """Everything that is mentioned, however far away, each once."""
    tables, images = Tables(), dict[Image, None]()
    seen: set[int] = set()
    waiting: list[Iterable[ExprNode]] = [_roots_of_function(f) for f in functions]
    waiting.append(_parts(tuple(requirements)))
    domains: list[ReductionDomain | None] = [d.domain for f in functions for d in f.definitions]
    scalars = dict[ScalarParam, None]()
    found = dict[ReductionDomain, None]()
    while waiting or domains:
        for e in _operands_first(waiting.pop(), seen) if waiting else ():
            tables.expressions.append(e)
            callee = e.callee if isinstance(e, Access) else e.buffer if isinstance(e, BufferField) else None
            if isinstance(callee, Image) and callee not in images:
                images[callee] = None
                waiting.append(_roots_of_image(callee))
            elif isinstance(e, ParamRef) and isinstance(e.param, ScalarParam):
                scalars[e.param] = None
            elif isinstance(e, RVarRef) and isinstance(e.domain, ReductionDomain):
                domains.append(e.domain)
        domain = domains.pop() if domains else None
        if domain is not None and domain not in found:
            found[domain] = None
            waiting.append((*_parts(domain.bounds), domain.predicate))
    tables.scalars, tables.domains, tables.callees = list(scalars), list(found), [*images, *functions]
    return tables


def _operands_first(roots: Iterable[ExprNode], seen: set[int]) -> Iterator[ExprNode]:
    """The nodes at and below some roots that were not seen, each after its operands, without recursion."""
    stack = list(roots)
    stack.reverse()
    while stack:
        e = stack[-1]
        if id(e) in seen:
            stack.pop()
            continue
        values = [getattr(e, name) for name, _, _ in hints(type(e))]
        parts = [p for v in values for p in (v if isinstance(v, tuple) else (v,)) if isinstance(p, ExprNode)]
        missing = [p for p in parts if id(p) not in seen]
        if missing:
            stack.extend(reversed(missing))
        else:
            stack.pop()
            seen.add(id(e))
            yield e


def _value(value: int | float | None) -> int | str | None:
    """A number; a float by its digits in base 16, which are exact."""
    return value.hex() if isinstance(value, float) else value


def _scalar(p: ScalarParam, numbers: Numbers) -> dict[str, Any]:
    limits = {"value": p.value, "low": p.low, "high": p.high, "estimate": p.estimate}
    type = POINTER if p.type.is_handle() else numbers.encoded(p.type)
    named = {"name": p.name, "type": type, "location": numbers.encoded(p.location)}
    return named | {key: _value(v) for key, v in limits.items() if v is not None}


def _constraints(of: Image | Function, numbers: Numbers) -> list[Any]:
    return [[field.name, dim, numbers.encoded(e)] for (field, dim), e in of.constraints.items()]


def _image(image: Image, numbers: Numbers) -> dict[str, Any]:
    estimates = [[d, *(numbers.encoded(e) for e in ends)] for d, ends in image.estimates.items()]
    return {
        "name": image.name,
        "type": numbers.encoded(image.types[0]),
        "dimensions": image.dimensions,
        "location": numbers.encoded(image.location),
        "data": _data(image.bound) if image.embedded and isinstance(image.bound, Buffer) else None,
        "estimates": estimates,
        "constraints": _constraints(image, numbers),
        "alignment": image.alignment,
        "traced": image.traced,
        "memory": image.memory.name,
        # A wrapper of an input may be part of another pipeline.
        "wrappers": [numbers.encoded(f) for f in image.wrappers if numbers.knows(f)],
    }


def _data(buffer: Buffer) -> dict[str, Any]:
    array = np.ascontiguousarray(buffer.array)
    values = base64.b64encode(array.tobytes()).decode()
    return {"name": buffer.name(), "shape": list(array.shape), "mins": list(buffer.mins), "bytes": values}


def _domain(d: ReductionDomain, numbers: Numbers) -> dict[str, Any]:
    return {
        "names": list(d.names),
        "bounds": [numbers.encoded(i) for i in d.bounds],
        "predicate": numbers.encoded(d.predicate),
        "at_once": d.at_once,
        "location": numbers.encoded(d.location),
        "frozen_by": numbers.encoded(d.frozen_by),
    }


def _function(f: Function, numbers: Numbers) -> dict[str, Any]:
    return {
        "name": f.name,
        "args": list(f.args),
        "types": [numbers.encoded(t) for t in f.types],
        "location": numbers.encoded(f.location),
        "frozen_by": numbers.encoded(f.frozen_by),
        "definitions": [numbers.encoded(d) for d in f.definitions],
        "directives": [numbers.encoded(d) for d in f.directives],
        "constraints": _constraints(f, numbers),
        "alignment": f.alignment,
        "memory": f.memory.name,
    }
