"""The executable semantics of the algorithm language (figure 2.6): the judge of all compiled code.

In: a Func and a window. Out: the value of each of its points. Evaluation is pointwise, lazy and memoised, and
shares nothing with simplification or lowering.

    f(x) = g(x - 1) + g(x + 1)
    evaluate(f, [(0, 3)])       ->  array of 3 values; g is evaluated at -1 … 3 and nowhere else

Each definition is translated once into straight-line Python on the functions of ``value_semantics``:

    f.s0 at (x0,):   p = (x0 - 1,);  a = g.at(p) …        [FUNC-EVAL], [FUNC-ARG-EVAL]

Two readings of the figure keep it fast. A reduction is unrolled [RDOM-EVAL] by numbering its iterations; the
value of a point after iteration t is what the last iteration up to t that wrote it gave [UPDATE-EVAL]. And where
the figure's select evaluates the update's value at points that the update doesn't write, this evaluates the
chosen side only: without infinite images the other side may not exist. Negative extents [RDOM-ERR] are errors of
every reachable reduction domain at the start, as they are in compiled code.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from . import ir
from .algorithm import Definition, Function, Image, Parameter, ReductionDomain
from .errors import InternalError, Location, PipelineError
from .types import INT32
from .value_semantics import (
    Value,
    binary_function,
    call_function,
    cast_function,
    logical_not,
    select,
    value_of,
    wrap_function,
)
from .visit import parts

Array: TypeAlias = "npt.NDArray[Any]"
Point: TypeAlias = "tuple[int, ...]"
Code: TypeAlias = "Callable[..., Any]"

# How many Python calls one evaluation may nest. What lies deeper is evaluated first, from the top.
_DEEPEST = 300


class _TooDeep(Exception):
    """Unwinds the stack: ``task(argument, 0)`` has to be evaluated, and remembered, first."""

    def __init__(self, task: Code, argument: Any) -> None:
        super().__init__()
        self.task = task
        self.argument = argument


def _run(task: Code, argument: Any) -> Any:
    """``task(argument, 0)`` with a stack of bounded height. Tasks remember results, so that a retry advances."""
    waiting = [(task, argument)]
    while True:
        current, of = waiting[-1]
        try:
            result = current(of, 0)
        except _TooDeep as deep:
            waiting.append((deep.task, deep.argument))
            continue
        waiting.pop()
        if not waiting:
            return result


# ---------------------------------------------------------------------------------------------------------
# Inputs.


@runtime_checkable
class BoundArray(Protocol):
    """What ``Image.bound`` must offer: the data, with numpy axes reversed, and the first coordinates, x first."""

    @property
    def array(self) -> Array: ...

    @property
    def mins(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class _Table:
    """An image as a flat list; dimension 0 is dense."""

    image: Image
    values: list[Value]
    mins: tuple[int, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """Those of the caller's array, in elements."""

    def outside(self, location: Location, point: Point) -> None:
        """Raises the error for a point that the image doesn't have."""
        for dim, (at, low, extent) in enumerate(zip(point, self.mins, self.extents, strict=True)):
            if not low <= at < low + extent:
                raise PipelineError(
                    f'Input "{self.image.name}" is read at {at} in dimension {dim}, '
                    f"outside of its {extent} elements from {low} to {low + extent - 1} "
                    f"(point {', '.join(map(str, point))}).",
                    location,
                )


class _Inputs:
    """The constants of a realization: parameter values and image contents."""

    def __init__(self, params: Mapping[Parameter, object], images: Mapping[Image, tuple[Array, Sequence[int]]]) -> None:
        self._params = params
        self._images = images
        self._tables: dict[Image, _Table] = {}

    def param(self, param: ir.Scalar) -> Value:
        """The value of a parameter."""
        assert isinstance(param, Parameter)
        given = self._params.get(param, param.value)
        if given is None:
            raise PipelineError(f'The parameter "{param.name}" has no value: set it, or pass it in `params`.')
        value = value_of(given, param.type)
        if value is None:
            raise PipelineError(f'The parameter "{param.name}" can\'t be {given!r}: it is of type {param.type}.')
        return value

    def table(self, image: Image) -> _Table:
        """The contents of an image, copied on first use."""
        if image not in self._tables:
            array, mins = self._bound(image)
            if array.ndim != image.dimensions or len(mins) != image.dimensions:
                raise PipelineError(f'Input "{image.name}" has {image.dimensions} dimensions, its array {array.ndim}.')
            if array.dtype != image.types[0].dtype:
                raise PipelineError(f'Input "{image.name}" is of type {image.types[0]}, its array of {array.dtype}.')
            strides = tuple(s // array.itemsize for s in reversed(array.strides))
            self._tables[image] = _Table(
                image, array.ravel().tolist(), tuple(map(int, mins)), tuple(reversed(array.shape)), strides
            )
        return self._tables[image]

    def _bound(self, image: Image) -> tuple[Array, Sequence[int]]:
        if image in self._images:
            return self._images[image]
        bound = cast(object, image.bound)
        if not isinstance(bound, BoundArray):
            raise PipelineError(f'The input "{image.name}" has no buffer: set it, or pass it in `images`.')
        return bound.array, bound.mins

    def buffer_field(self, e: ir.BufferField) -> int:
        """What a buffer says of one of its dimensions."""
        if not isinstance(e.buffer, Image):
            raise InternalError(f'"{e!r}" asks for the shape of a Func.')
        table = self.table(e.buffer)
        shape = {ir.Field.MIN: table.mins, ir.Field.EXTENT: table.extents, ir.Field.STRIDE: table.strides}
        value: int = wrap_function(e.type)(shape[e.field][e.dim])
        return value


# ---------------------------------------------------------------------------------------------------------
# Stages: the points of a Func after each of its definitions. ``depth`` counts nested Python calls.


class _Stage:
    """The values of a Func after one of its definitions."""

    def __init__(self) -> None:
        self.memo: dict[Point, Any] = {}

    def at(self, point: Point, depth: int) -> Any:
        """The value of a point; a tuple where the Func has several components."""
        value = self.memo.get(point)
        return self.compute(point, depth + 1) if value is None else value

    def compute(self, point: Point, depth: int) -> Any:
        """``at`` for a point that is not known yet."""
        raise NotImplementedError


class _Pure(_Stage):
    """Stage 0 [FUNC-EVAL]."""

    body: Code

    def compute(self, point: Point, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _TooDeep(self.compute, point)
        value = self.memo[point] = self.body(point, (), None, depth + 1)
        return value


@dataclass
class _Log:
    """Which iterations wrote which cell, among the first ``done``."""

    done: int = 0
    hits: dict[Point, list[int]] = field(default_factory=dict)


@dataclass
class _Writes:
    """What an update definition writes, found as far as it was asked for.

    ``target(pure, r, t, depth)`` gives the coordinates in the reduction dimensions that iteration ``t`` writes,
    None where a predicate fails; no target at all means that every iteration writes the only cell.
    """

    target: Code | None
    iterations: _Iterations
    shared: bool
    """Whether all points of the pure dimensions are written by the same iterations."""
    logs: dict[Point, _Log] = field(default_factory=dict)

    def of(self, pure: Point, cell: Point, end: int, depth: int) -> Sequence[int]:
        """The iterations that write a cell: in order, all those before ``end`` and perhaps later ones."""
        if self.target is None:
            return range(end)
        log = self.logs.setdefault(() if self.shared else pure, _Log())
        if log.done < end:
            self._extend((pure, end), depth + 1)
        return log.hits.get(cell, ())

    def _extend(self, request: tuple[Point, int], depth: int) -> None:
        if depth > _DEEPEST:
            raise _TooDeep(self._extend, request)
        pure, end = request
        assert self.target is not None
        log = self.logs[() if self.shared else pure]
        while log.done < end:
            t = log.done
            cell = self.target(pure, self.iterations.points[t], t, depth + 1)
            if cell is not None:
                log.hits.setdefault(cell, []).append(t)
            log.done = t + 1


@dataclass
class _Iterations:
    """The points of a reduction domain in the order of execution; one empty point where there is no domain."""

    ranges: list[list[int]]

    def __len__(self) -> int:
        count = 1
        for values in self.ranges:
            count *= len(values)
        return count

    @cached_property
    def points(self) -> list[Point]:
        """The values of the reduction variables in each iteration; the first changes fastest."""
        return [p[::-1] for p in itertools.product(*reversed(self.ranges))]


def _picker(dims: Sequence[int]) -> Callable[[Point], Point]:
    """The function that takes some coordinates out of a point."""
    match dims:
        case []:
            return lambda point: ()
        case [dim]:
            return lambda point: (point[dim],)
        case _:
            return itemgetter(*dims)


class _Update(_Stage):
    """An update definition: ``body(pure, r, state, depth)`` gives the value that one iteration writes."""

    body: Code

    def __init__(self, before: _Stage, pure_dims: Sequence[bool], writes: _Writes) -> None:
        super().__init__()
        self.before = before
        self.writes = writes
        self.pure = _picker([i for i, pure in enumerate(pure_dims) if pure])
        self.cell = _picker([i for i, pure in enumerate(pure_dims) if not pure])
        self.count = len(writes.iterations)


class _Fold(_Update):
    """A definition that reads its own Func at most at the point being written: each point is a loop of its own.

    The state is the point's current value.
    """

    def __init__(self, before: _Stage, pure_dims: Sequence[bool], writes: _Writes, reads_itself: bool) -> None:
        super().__init__(before, pure_dims, writes)
        self.reads_itself = reads_itself
        self.unfinished: dict[Point, tuple[int, Any]] = {}

    def compute(self, point: Point, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _TooDeep(self.compute, point)
        hits = self.writes.of(self.pure(point), self.cell(point), self.count, depth + 1)
        if not hits:
            value = self.before.at(point, depth + 1)
        elif self.reads_itself:
            value = self._fold(point, hits, depth + 1)
        else:
            value = self.body(self.pure(point), self.writes.iterations.points[hits[-1]], None, depth + 1)
        self.memo[point] = value
        return value

    def _fold(self, point: Point, hits: Sequence[int], depth: int) -> Any:
        start, value = self.unfinished.pop(point, (0, None))
        if value is None:
            value = self.before.at(point, depth + 1)
        pure, points, body = self.pure(point), self.writes.iterations.points, self.body
        done = start
        try:
            for done in range(start, len(hits)):
                value = body(pure, points[hits[done]], value, depth + 1)
        except _TooDeep:
            self.unfinished[point] = done, value
            raise
        return value


class _Scan(_Update):
    """A definition that reads its own Func anywhere. The state is the number of the iteration."""

    def __init__(self, before: _Stage, pure_dims: Sequence[bool], writes: _Writes) -> None:
        super().__init__(before, pure_dims, writes)
        self.written: dict[tuple[Point, int], Any] = {}

    def compute(self, point: Point, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _TooDeep(self.compute, point)
        value = self.memo[point] = self.just_before(point, self.count, depth + 1)
        return value

    def just_before(self, point: Point, t: int, depth: int) -> Any:
        """The value of a point after the iterations before ``t``."""
        pure = self.pure(point)
        hits = self.writes.of(pure, self.cell(point), t, depth + 1)
        earlier = bisect_left(hits, t)
        if not earlier:
            return self.before.at(point, depth + 1)
        key = pure, hits[earlier - 1]
        value = self.written.get(key)
        return self._write(key, depth + 1) if value is None else value

    def _write(self, key: tuple[Point, int], depth: int) -> Any:
        if depth > _DEEPEST:
            raise _TooDeep(self._write, key)
        pure, t = key
        value = self.written[key] = self.body(pure, self.writes.iterations.points[t], t, depth + 1)
        return value


# ---------------------------------------------------------------------------------------------------------
# From expressions to Python.


class _Translator:
    """Straight-line Python for the expressions of one definition: an assignment per distinct node."""

    def __init__(
        self, program: _Program, function: Function, stage: int, pure: Sequence[int], domain: ReductionDomain | None
    ) -> None:
        self._program = program
        self._function = function
        self._stage = stage
        self._location = function.definitions[stage].location
        self._domain = domain
        self._names: dict[ir.Expr, str] = {}
        self._globals: dict[str, object] = {}
        self._bound: dict[int, str] = {}
        self._lines: list[str] = []
        for dim in pure:
            self._names[ir.pure_variable(function.args[dim])] = f"x{dim}"

    # Text -------------------------------------------------------------------------------------------------

    def bind(self, value: object) -> str:
        """A global name for an object."""
        name = self._bound.get(id(value))
        if name is None:
            name = self._bound[id(value)] = f"g{len(self._globals)}"
            self._globals[name] = value
        return name

    def line(self, text: str) -> None:
        """Adds a statement."""
        self._lines.append(text)

    def let(self, text: str) -> str:
        """A new local name for the value of ``text``."""
        name = f"t{len(self._lines)}"
        self.line(f"{name} = {text}")
        return name

    def tuple_of(self, names: Sequence[str]) -> str:
        """A tuple display."""
        return f"({''.join(f'{name}, ' for name in names)})"

    def code(self, pure: Sequence[int], variables: int, result: str) -> Code:
        """The function ``(pure, r, state, depth) -> result`` of the lines so far."""
        head = ["def code(pure, r, state, depth):"]
        if pure:
            head.append(f"{self.tuple_of([f'x{dim}' for dim in pure])} = pure")
        if variables:
            head.append(f"{self.tuple_of([f'r{i}' for i in range(variables)])} = r")
        text = "\n    ".join([*head, "depth += 1", *self._lines, f"return {result}"])
        where = f"<semantics of {self._function.name}.s{self._stage}>"
        exec(compile(text, where, "exec"), self._globals)  # noqa: S102  # the text is made of nodes and numbers
        return cast(Code, self._globals["code"])

    # Expressions ------------------------------------------------------------------------------------------

    def expr(self, root: ir.Expr) -> str:
        """The name of an expression's value; a shared part is evaluated once."""
        stack = [root]
        while stack:
            e = stack[-1]
            missing = [] if e in self._names else [p for p in parts(e) if p not in self._names]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if e not in self._names:
                self._names[e] = self._node(e)
        return self._names[root]

    def _node(self, e: ir.Expr) -> str:
        a = [self._names[p] for p in parts(e)]
        match e:
            case ir.IntImm():
                return str(bool(e.value)) if e.type.is_bool() else f"({e.value})"
            case ir.FloatImm():
                return self.bind(e.value)
            case ir.ParamRef():
                return self.bind(self._program.inputs.param(e.param))
            case ir.BufferField():
                return f"({self._program.inputs.buffer_field(e)})"
            case ir.Binary():
                return self.let(f"{self.bind(binary_function(e.op, e.a.type))}({a[0]}, {a[1]})")
            case ir.Not():
                return self.let(f"{self.bind(logical_not)}({a[0]})")
            case ir.Select():
                return self.let(f"{self.bind(select)}({a[0]}, {a[1]}, {a[2]})")
            case ir.Cast():
                return self.let(f"{self.bind(cast_function(e.a.type, e.type))}({a[0]})")
            case ir.Call():
                return self.let(f"{self.bind(call_function(e.function, e.args[0].type, e.type))}({', '.join(a)})")
            case ir.Access():
                return self._access(e, a)
            case ir.RVarRef() if e.domain is self._domain:
                return f"r{e.index}"
        raise InternalError(f'"{e!r}" has no meaning in the definition of "{self._function.name}".')

    def name(self, e: ir.Access, value: str) -> None:
        """Says where the value of an access is, before it is translated."""
        self._names[e] = f"{value}[{e.component}]" if len(e.callee.types) > 1 else value

    def coordinate(self, e: ir.Expr) -> str:
        """A coordinate of a Func's point, as an int32."""
        name = self.expr(e)
        if INT32.can_represent(e.type):
            return name
        return self.let(f"{self.bind(cast_function(e.type, INT32))}({name})")

    def _access(self, e: ir.Access, args: list[str]) -> str:
        if isinstance(e.callee, Image):
            return self._load(self._program.inputs.table(e.callee), args)
        point = self.tuple_of([self.coordinate(arg) for arg in e.args])
        if e.callee is self._function:
            value = self._own_value(e, point)
        else:
            # _Stage.at, written out: this is where the time goes.
            stage = self._program.stages[e.callee][e.stage]
            value = self.let(point)
            point, memo, compute = value, self.bind(stage.memo), self.bind(stage.compute)
            value = self.let(f"{memo}.get({point})")
            self.line(f"if {value} is None: {value} = {compute}({point}, depth)")
        return f"{value}[{e.component}]" if len(e.callee.types) > 1 else value

    def _own_value(self, e: ir.Access, point: str) -> str:
        """The Func's own value just before this iteration."""
        own = self._program.stages[self._function][self._stage]
        if not isinstance(own, _Scan):
            raise InternalError(f'The pure definition of "{self._function.name}" reads "{e!r}".', self._location)
        return self.let(f"{self.bind(own.just_before)}({point}, state, depth)")

    def _load(self, table: _Table, args: list[str]) -> str:
        inside = [
            f"{low} <= {a} < {low + extent}" for a, low, extent in zip(args, table.mins, table.extents, strict=True)
        ]
        if inside:
            outside = self.bind(partial(table.outside, self._location))
            self.line(f"if not ({' and '.join(inside)}): {outside}({self.tuple_of(args)})")
        index, stride = "0", 1
        for a, low, extent in zip(args, table.mins, table.extents, strict=True):
            index += f" + ({a} - ({low}))*{stride}"
            stride *= extent
        return self.let(f"{self.bind(table.values)}[{index}]")


# ---------------------------------------------------------------------------------------------------------
# Programs.


def _below(roots: Iterable[ir.Expr]) -> list[ir.Expr]:
    """Every distinct node of some expressions."""
    seen: dict[ir.Expr, None] = {}
    stack = list(roots)
    while stack:
        e = stack.pop()
        if e not in seen:
            seen[e] = None
            stack.extend(parts(e))
    return list(seen)


def _conditions(definition: Definition) -> list[ir.Expr]:
    """What must hold in an iteration that writes; the domain's own predicate comes first."""
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

    def __init__(self, output: Function, inputs: _Inputs) -> None:
        self.inputs = inputs
        self.stages: dict[ir.Callee, list[_Stage]] = {}
        functions = _reachable(output)
        for f in functions:
            if not f.definitions:
                raise PipelineError(f'Func "{f.name}" has no definition.', f.location)
            own: list[_Stage] = [_Pure()]
            for i in range(1, len(f.definitions)):
                own.append(self._update(f, i, own[-1]))
            self.stages[f] = own
        for f in functions:
            for i in range(len(f.definitions)):
                self._translate(f, i)

    def _update(self, f: Function, i: int, before: _Stage) -> _Stage:
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
        writes = _Writes(None, self._iterations(f, i), shared)
        if reads_where or any(a is not b for e in reads for a, b in zip(e.args, d.args, strict=True)):
            return _Scan(before, pure_dims, writes)
        return _Fold(before, pure_dims, writes, bool(reads))

    def _iterations(self, f: Function, i: int) -> _Iterations:
        """The iterations of an update definition [RDOM-ERR], [RDOM-EVAL]."""
        domain = f.definitions[i].domain
        ranges: list[list[int]] = []
        for name, interval in zip(domain.names, domain.bounds, strict=True) if domain is not None else ():
            if any(isinstance(e, ir.Access) for e in _below([interval.min, interval.len])):
                raise InternalError(f'The bounds of "{name}" are no startup expression.', f.definitions[i].location)
            startup = _Translator(self, f, i, (), None)
            ends = startup.tuple_of([startup.expr(interval.min), startup.expr(interval.len)])
            low, extent = startup.code((), 0, ends)((), (), None, 0)
            if extent < 0:
                assert domain is not None
                raise PipelineError(
                    f'The RDom of update definition {i} of Func "{f.name}" has the negative extent {extent} '
                    f'in "{name}".',
                    domain.location,
                )
            ranges.append([wrap_function(interval.min.type)(low + k) for k in range(extent)])
        return _Iterations(ranges)

    def _translate(self, f: Function, i: int) -> None:
        d, stage = f.definitions[i], self.stages[f][i]
        pure = [dim for dim, is_pure in enumerate(f.pure_dims(i)) if is_pure]
        body = _Translator(self, f, i, pure, d.domain)
        if isinstance(stage, _Fold):
            for e in _reads_of(f, _below(d.values)):
                body.name(e, "state")
        values = [body.expr(value) for value in d.values]
        result = values[0] if len(values) == 1 else body.tuple_of(values)
        assert isinstance(stage, _Pure | _Update)
        stage.body = body.code(pure, _variables(d.domain), result)
        if isinstance(stage, _Update):
            stage.writes.target = self._target(f, i, pure)

    def _target(self, f: Function, i: int, pure: list[int]) -> Code | None:
        """The code that tells which cell an iteration writes, if any."""
        d = f.definitions[i]
        cell = [arg for dim, arg in enumerate(d.args) if dim not in pure]
        conditions = _conditions(d)
        if not cell and not conditions:
            return None
        target = _Translator(self, f, i, pure, d.domain)
        for condition in conditions:
            target.line(f"if not {target.expr(condition)}: return None")
        point = target.tuple_of([target.coordinate(arg) for arg in cell])
        return target.code(pure, _variables(d.domain), point)


def _variables(domain: ReductionDomain | None) -> int:
    return len(domain.names) if domain is not None else 0


def _reads_of(function: Function, nodes: Sequence[ir.Expr]) -> list[ir.Access]:
    return [e for e in nodes if isinstance(e, ir.Access) and e.callee is function]


def evaluate(
    function: Function,
    window: Sequence[tuple[int, int]],
    *,
    params: Mapping[Parameter, object] | None = None,
    images: Mapping[Image, tuple[Array, Sequence[int]]] | None = None,
) -> Array | tuple[Array, ...]:
    """The values of a Func in a window [REALIZE].

    Args:
        function: what to evaluate; its schedule, and everybody else's, is ignored.
        window: (min, extent) of each dimension, x first.
        params: values of parameters, before ``Parameter.value``.
        images: contents and first coordinates (x first) of images, before ``Image.bound``. Arrays have their axes
            reversed: ``array[y, x]``.

    Returns:
        An array with its axes reversed (``result[y, x]``) in the Func's own dtype; a tuple of them where the Func
        has several components.

    Raises:
        PipelineError: a parameter or an image is missing or of another type, an image is read outside of its
            bounds, an RDom has a negative extent, or the window doesn't fit the Func.
    """
    if len(window) != function.dimensions:
        raise PipelineError(f'Func "{function.name}" has {function.dimensions} dimensions, the window {len(window)}.')
    if any(extent < 0 for _, extent in window):
        raise PipelineError(f'The window of Func "{function.name}" has a negative extent: {list(window)}.')
    program = _Program(function, _Inputs(params or {}, images or {}))
    last = program.stages[function][-1]
    wrap = wrap_function(INT32)
    ranges = [[wrap(low + k) for k in range(extent)] for low, extent in window]
    values = []
    for at in itertools.product(*reversed(ranges)):
        point = at[::-1]
        known = last.memo.get(point)
        values.append(_run(last.compute, point) if known is None else known)
    shape = tuple(extent for _, extent in reversed(window))
    components = [values] if len(function.types) == 1 else [[v[k] for v in values] for k in range(len(function.types))]
    arrays = tuple(np.array(v, t.dtype).reshape(shape) for v, t in zip(components, function.types, strict=True))
    return arrays[0] if len(arrays) == 1 else arrays
