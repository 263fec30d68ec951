"""A program of the algorithm language (figure 2.5): Funcs, images, parameters and reduction domains.

In: what the user's Func, ImageParam, Param and RDom build up. Out: an Algorithm, once it is copied
(``algorithm.snapshot``), and the order in which its Funcs are computed.

    realization_order([out])   ->  [blur_x, out]      producers before consumers
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.errors import Location, NotAvailableError
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import Type, computed_type
from halide_core.ir.visitor import subexpressions
from halide_core.schedule.directives import Directive, StageDirective


class HostBuffer(Protocol):
    """The interface of the numpy-backed Buffer that feeds an Image."""

    def name(self) -> str: ...


Constraints: TypeAlias = "dict[tuple[ir.Field, int], ir.ExprNode]"
"""Promises about a buffer: for a field of a dimension the start-up expression that it equals."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """A promise about a dimension of an input or of an output, checked at start-up: ``in.dim(0).set_stride(3)``."""

    buffer: ir.Callee
    field: ir.Field
    dim: int
    value: ir.ExprNode


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """A condition that every run must meet, checked at start-up, and what is said where one does not."""

    condition: ir.ExprNode
    message: tuple[str | ir.ExprNode, ...]

    def exprs(self) -> tuple[ir.ExprNode, ...]:
        """The condition, and the values in the message."""
        return (self.condition, *(part for part in self.message if isinstance(part, ir.ExprNode)))


class ScalarParam(ir.Scalar):
    """A scalar input. ``value`` is what a JIT run passes; ``low`` and ``high`` are promises checked at start-up."""

    def __init__(self, name: str, type: Type, location: Location) -> None:
        self.name = name
        self.type = type
        self.location = location
        self.value: int | float | None = None
        self._low: int | float | None = None
        self._high: int | float | None = None
        self.estimate: int | float | None = None
        """The value that the user expects. It changes nothing."""

    @property
    def computed(self) -> Type:
        """The type that the value is computed with: a pointer is its address."""
        return computed_type(self.type)

    @property
    def low(self) -> int | float | None:
        """The least value, a number of the type: what start-up checks compare with is rounded to it."""
        return self._low

    @low.setter
    def low(self, limit: float | None) -> None:
        self._low = self._rounded(limit)

    @property
    def high(self) -> int | float | None:
        """The greatest value, likewise."""
        return self._high

    @high.setter
    def high(self, limit: float | None) -> None:
        self._high = self._rounded(limit)

    def _rounded(self, limit: float | None) -> int | float | None:
        nearest = None if limit is None else ir.const(limit, self.computed)
        return nearest.value if isinstance(nearest, ir.FloatImm) else limit


class Image(ir.Callee):
    """An input buffer. ``bound`` is what a JIT run passes; ``embedded`` images are Buffers used in a definition."""

    def __init__(self, name: str, type: Type, dimensions: int, location: Location, *, embedded: bool = False) -> None:
        self.name = name
        self.types = (type,)
        self.dimensions = dimensions
        self.location = location
        self.embedded = embedded
        self.bound: HostBuffer | None = None
        self.estimates: dict[int, tuple[ir.ExprNode | None, ir.ExprNode | None]] = {}
        """The min and extent that the user expects of a dimension. They change nothing."""
        self.constraints: Constraints = {}
        self.alignment: int | None = None
        """The bytes that the address of the data is a multiple of, where that is promised."""
        self.traced = False
        """True where each load is shown."""
        self.memory = MemoryType.Auto
        """The kind of memory that the caller says the data is in. It changes nothing: a CPU has one kind."""
        self.wrappers: list[Function] = []
        """The Funcs that ``in_`` made of it, each with the directive that says who reads it."""


class ReductionDomain(ir.Domain):
    """An ordered list of reduction variables; the first is the innermost loop. ``at_once``: iterations that differ in
    the first one alone, a constant number of them, read all that they read before any of them writes; where two write
    one point, the last one's value stays."""

    def __init__(
        self,
        names: tuple[str, ...],
        bounds: tuple[ir.Interval, ...],
        predicate: ir.ExprNode,
        location: Location,
        *,
        at_once: bool = False,
    ) -> None:
        self.at_once = at_once
        self.names = names
        self.bounds = bounds
        self.predicate = predicate
        self.location = location
        self.frozen_by: Location | None = None
        """The first definition that uses the domain; its predicate is final from there on."""
        self.requirements: tuple[Requirement, ...] = ()
        """Those of every definition that uses it."""

    @property
    def movable(self) -> tuple[str, ...]:
        """The names of the variables whose loops directives may be about."""
        return self.names[1:] if self.at_once else self.names


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A value that a first definition gives only where a condition holds."""

    value: ir.ExprNode
    where: ir.ExprNode


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """``memoize_tag``: a value, and what tells it from those of other runs."""

    value: ir.ExprNode
    words: tuple[ir.ExprNode, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One stage: ``domain in (args) <- values if predicate``. In stage 0 the args are the pure variables."""

    args: tuple[ir.ExprNode, ...]
    values: tuple[ir.ExprNode, ...]
    domain: ReductionDomain | None
    predicate: ir.ExprNode
    location: Location
    requirements: tuple[Requirement, ...] = ()
    """Requirements on every run of a pipeline that the stage is part of."""
    partial: tuple[Partial, ...] = ()
    """A first definition that leaves something undefined: each of its values, and where it has it. ``values`` then have
    0 where there is none, which is what a Func has that is no output."""
    tags: tuple[Tag, ...] = ()
    """Tags by which some values differ from those of other runs, where the Func is remembered."""
    undefined: tuple[int, ...] = ()
    """The components that a first definition never gives a value: no trace shows stores of them."""

    def conditions(self) -> list[ir.ExprNode]:
        """The conditions that points are written under, outermost first: its domain's, and its own."""
        domain = self.domain
        return [p for p in (ir.TRUE if domain is None else domain.predicate, self.predicate) if p is not ir.TRUE]

    def exprs(self) -> tuple[ir.ExprNode, ...]:
        """Every expression of the stage: arguments, values, and the predicates, its own and its domain's."""
        tests = (self.predicate, ir.TRUE if self.domain is None else self.domain.predicate)
        return self.args + self.values + tuple(test for test in tests if test is not ir.TRUE)


@dataclass(frozen=True, slots=True, eq=False)
class ExternCall:
    """The C function that computes an extern stage, and what it is passed: Funcs, images and start-up values."""

    name: str
    params: tuple[ir.Callee | ir.ExprNode, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Automatic:
    """Directives of one Func that were chosen automatically, and what for."""

    key: object
    directives: tuple[Directive, ...]
    why: str = ""
    """Of a choice that was searched for: what each Func of the pipeline costs, and what else it might have got."""

    def intact(self, f: Function) -> bool:
        """True where the Func has all of them still, after all that nobody chose for it."""
        count = len(self.directives)
        return not count or tuple(f.directives[-count:]) == self.directives


@dataclass(eq=False)
class Function(ir.Callee):
    """A Func: pure variables and stages. ``name`` is unique inside a snapshot only."""

    name: str
    args: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    definitions: list[Definition] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    location: Location | None = None
    frozen_by: Location | None = None
    original: Function | None = None
    """The Func of the user's that the compiler made this copy of, if it is one."""
    stands_for: Image | None = None  # the ImageParam that a user made the Func of, which in Halide all its readers read
    constraints: Constraints = field(default_factory=dict)
    """Promises about the buffer, where the Func is an output."""
    alignment: int | None = None
    """The bytes that the address of its buffer is a multiple of, where that is promised."""
    memory: MemoryType = MemoryType.Auto
    """The kind of memory that the caller says its buffer is in, where the Func is an output. It changes nothing."""
    extern: ExternCall | None = None
    """The C function of an extern stage, which runs before updates; the first definition then only mentions inputs."""
    loops_so_far: object = field(default=None, init=False)
    """The state that ``lowering.at_call`` keeps of the directives that it has checked."""
    automatic: Automatic | None = field(default=None, init=False)
    """The part of the directives that was chosen automatically, if it was."""

    @property
    def dimensions(self) -> int:  # type: ignore[override]  # a Callee's attribute, here derived
        """The number of coordinates of a point."""
        return len(self.args)

    @property
    def own(self) -> Function:
        """The user's Func, where this is a copy that the compiler made."""
        return self.original or self

    def __getstate__(self) -> dict[str, Any]:
        """The contents of a pickle: first the Funcs that this one needs, producers before consumers, so that a chain of
        any length is read without recursion."""
        needed = with_made_funcs(realization_order([self]))
        return {"needed": [f for f in needed if f is not self], **self.__dict__, "loops_so_far": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "needed"})

    @property
    def keeps(self) -> bool:
        """True where the first definition leaves points as they are, so that values of an output's caller remain."""
        return bool(self.definitions and self.definitions[0].partial)

    @property
    def is_pure(self) -> bool:
        """True where there is no update definition."""
        return len(self.definitions) == 1

    def pure_dims(self, stage: int) -> tuple[bool, ...]:
        """For each dimension, True where it is pure in a stage (definition 2.8): its variable is its own index
        there."""
        args = self.definitions[stage].args
        return tuple(a is ir.pure_variable(n) for a, n in zip(args, self.args, strict=True))


def refuse_externs(functions: Iterable[Function], what: str) -> None:
    """Raises NotAvailableError where an extern stage is among some Funcs."""
    for f in functions:
        if f.extern is not None:
            raise NotAvailableError(
                f'Func "{f.name}" is an extern stage, made at {f.location}: {what} not available for it. '
                f"realize(), compile_jit(), infer_input_bounds() and compile_to_callable() are."
            )


def callees(function: Function) -> list[ir.Callee]:
    """The callees of a Func, itself excepted, in the order of first use."""
    found: dict[ir.Callee, None] = {}
    roots = [e for d in function.definitions for e in d.exprs()]
    roots += [e for d in function.definitions if d.domain for i in d.domain.bounds for e in (i.min, i.len)]
    for e in subexpressions(roots):
        if isinstance(e, ir.Access | ir.BufferField):
            callee = e.callee if isinstance(e, ir.Access) else e.buffer
            if callee is not function:
                found.setdefault(callee)
    return list(found)


def realization_order(outputs: Iterable[Function]) -> list[Function]:
    """Every Func that the outputs need, producers before consumers."""
    order: dict[Function, None] = {}
    stack: list[tuple[Function, bool]] = [(f, False) for f in reversed(list(outputs))]
    while stack:
        function, done = stack.pop()
        if done:
            order.setdefault(function)
        elif function not in order:
            stack.append((function, True))
            stack.extend((c, False) for c in reversed(callees(function)) if isinstance(c, Function))
    return list(order)


def with_made_funcs(functions: Iterable[Function]) -> list[Function]:
    """Some Funcs, and after each those that directives about it, or about inputs that it reads, made."""
    found: dict[Function, None] = {}
    waiting = list(reversed(list(functions)))
    while waiting:
        function = waiting.pop()
        if function not in found:
            found[function] = None
            made = [f for d in function.directives for f in d.funcs()]
            for image in callees(function):
                for f in image.wrappers if isinstance(image, Image) else ():
                    made += [g for d in f.directives for g in d.funcs() if g is f]
            waiting += [f for f in reversed(made) if isinstance(f, Function)]
    return list(found)


def requirements_of(functions: Iterable[Function]) -> tuple[Requirement, ...]:
    """The requirements of the definitions of some Funcs, each once."""
    return tuple(dict.fromkeys(r for f in functions for d in f.definitions for r in d.requirements))


@dataclass(frozen=True, slots=True, eq=False)
class AlgebraicLaw:
    """The law of an operator that an ``rfactor`` or an ``atomic`` rests on; None where it is the user's word alone."""

    directive: StageDirective
    law: Law | None


@dataclass(frozen=True, slots=True, eq=False)
class MemoKey:
    """By what a memoized Func's values can be known. ``words``: Params, shapes and tags, each once. ``tagged``: whether
    some are tags. ``inputs``: those whose elements nothing in the key tells. ``kept``: the outputs that have what the
    caller's buffer has, of which nothing tells either."""

    words: tuple[ir.ExprNode, ...]
    tagged: bool
    inputs: tuple[Image, ...]
    kept: tuple[Function, ...]

    def untold(self) -> str:
        """All that the values depend on and that the key can't hold, in words; nothing where there is no such thing."""
        if self.inputs:
            return f"elements of {', '.join([_quoted(image) for image in self.inputs])}"
        outputs = ", ".join(map(_quoted, self.kept))
        return f"what the caller's buffer has where {outputs} is left undefined" if outputs else ""


def _quoted(callee: ir.Callee) -> str:
    return f'"{callee.own.name}"'


@dataclass(frozen=True, slots=True, eq=False)
class Algorithm:
    """A valid program (definition 2.10), and the directives recorded for it, in the order of the user's calls."""

    outputs: tuple[Function, ...]
    functions: tuple[Function, ...]
    images: tuple[Image, ...]
    params: tuple[ScalarParam, ...]
    directives: tuple[Directive, ...]
    constraints: tuple[Constraint, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    laws: tuple[AlgebraicLaw, ...] = ()
    offered: tuple[AlgebraicLaw, ...] = ()
    """The laws taken for true; and those of atomic stages, of which each joins them once a loop needs it."""
    memo_keys: Mapping[Function, MemoKey] = field(default_factory=dict)


BEFORE = -1
"""The stage before the first: what an output's buffer has when a pipeline starts."""
