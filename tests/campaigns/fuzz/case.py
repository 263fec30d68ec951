"""A case as data: a program, its schedule and its windows; its source; and the objects that the source makes.

In: items in the order of their definition, directives, windows. Out: Python source of a function ``build(scheduled)``,
and what that returns. The objects are always made by running the source: what is reported is what was judged.

    def build(scheduled: bool) -> tuple[list[hl.Func], list[list[tuple[int, int]]]]:
        x = hl.Var("x")
        f0 = hl.Func("f0")
        f0[x] = x * 2
        if scheduled:
            f0.vectorize(hl.Var("x"), 4)
        return [f0], [[(0, 7)]]
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeAlias

import halide_core as hl
from halide_core.errors import Location
from halide_core.ir.memory import MemoryType, PrefetchBoundStrategy
from halide_core.ir.types import Type
from halide_core.schedule.access_directives import Partition
from halide_core.schedule.directives import LoopAlignStrategy, TailStrategy
from tests.campaigns.fuzz.terms import Term, source, type_source

Window: TypeAlias = "tuple[tuple[int, int], ...]"
"""(min, extent) of each dimension, x first."""

Built: TypeAlias = "tuple[list[hl.Func], list[list[tuple[int, int]]]]"
"""The outputs, and the window of each."""


class Numbers(Enum):
    """The kinds of numbers in an input."""

    SMALL = "small"
    WHOLE = "whole"
    ODD = "odd"
    """Ends of the type, and what lies beside zero; among floats what is no number, and what is too small for one."""


# ---------------------------------------------------------------------------------------------------------
# Items: what a program is made of, in order.


@dataclass(frozen=True, slots=True)
class Image:
    """An input: an ImageParam, or a Buffer that stands in definitions."""

    name: str
    type: Type
    mins: tuple[int, ...]
    extents: tuple[int, ...]
    seed: int
    numbers: Numbers
    embedded: bool = False

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return ()

    def lines(self) -> list[str]:
        """Its source."""
        made = [f"{self.name}_data = hl.Buffer({self._data()})"]
        if any(self.mins):
            made.append(f"{self.name}_data.set_min({list(self.mins)})")
        if self.embedded:
            return [*made, f"{self.name} = {self.name}_data"]
        param = f'{self.name} = hl.ImageParam({type_source(self.type)}, {len(self.extents)}, "{self.name}")'
        return [*made, param, f"{self.name}.set({self.name}_data)"]

    def _data(self) -> str:
        shape, rng = tuple(reversed(self.extents)), f"np.random.default_rng({self.seed})"
        dtype = f"np.{self.type.dtype.name}" if not self.type.is_bool() else "np.bool_"
        if self.numbers is Numbers.ODD:
            return f"np.asarray({rng}.choice(np.asarray({self._odd()}, {dtype}), {shape}), {dtype})"
        if self.type.is_float():
            # An array, also where there is one number only; a zero, a great number and an odd one among the others.
            drawn = f"{rng}.normal(0, 10, {shape})"
            return (
                f"np.asarray({drawn}, {dtype})"
                if self.numbers is Numbers.SMALL
                else (f"np.asarray(np.trunc({drawn}) * 2.0**{rng}.integers(-9, 70, {shape}), {dtype})")
            )
        low, high = self.type.range
        if self.numbers is Numbers.SMALL:
            low, high = max(low, -100), min(high, 100)
        drawing = "np.uint8" if self.type.is_bool() else dtype
        drawn = f"{rng}.integers({low}, {high}, {shape}, {drawing}, endpoint=True)"
        return f"np.asarray({drawn}, {dtype})"

    def _odd(self) -> str:
        """The source of a list of odd numbers."""
        if self.type.is_bool():
            return "[False, True]"
        if self.type.is_float():
            f = f"np.finfo(np.{self.type.dtype.name})"
            return f"[np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, {f}.smallest_subnormal, -{f}.tiny, {f}.max, {f}.min]"
        low, high = self.type.range
        return repr([n for n in (low, low + 1, -1, 0, 1, 2, high // 2, high - 1, high) if low <= n])


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Param; ``range`` is what is promised of it."""

    name: str
    type: Type
    value: float
    range: tuple[int, int] | None = None

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return ()

    def lines(self) -> list[str]:
        """Its source."""
        made = [f'{self.name} = hl.Param({type_source(self.type)}, "{self.name}", {self.value!r})']
        return made if self.range is None else [*made, f"{self.name}.set_range({self.range[0]}, {self.range[1]})"]


@dataclass(frozen=True, slots=True)
class Domain:
    """An RDom."""

    name: str
    bounds: tuple[tuple[Term, Term], ...]
    predicates: tuple[Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return (*(e for pair in self.bounds for e in pair), *self.predicates)

    def lines(self) -> list[str]:
        """Its source. Predicates are stated when it is first used: they may read the Func that uses it."""
        pairs = ", ".join(f"({source(low)}, {source(extent)})" for low, extent in self.bounds)
        return [f'{self.name} = hl.RDom([{pairs}], "{self.name}")']


@dataclass(frozen=True, slots=True)
class Border:
    """A boundary condition."""

    name: str
    kind: str
    source: str
    args: tuple[str, ...]
    exterior: Term | None = None
    bounds: tuple[tuple[int, int], ...] | None = None

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return () if self.exterior is None else (self.exterior,)

    def lines(self) -> list[str]:
        """Its source."""
        given = [self.source]
        if self.exterior is not None:
            given.append(source(self.exterior))
        if self.bounds is not None:
            given.append(repr(list(self.bounds)))
        return [f"{self.name} = hl.BoundaryConditions.{self.kind}({', '.join(given)})"]


@dataclass(frozen=True, slots=True)
class Definition:
    """The pure definition of a Func; ``more`` are the values of a Tuple after its first."""

    name: str
    args: tuple[str, ...]
    value: Term
    more: tuple[Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return (self.value, *self.more)

    def lines(self) -> list[str]:
        """Its source."""
        right = _right(self.value, *self.more)
        return [f'{self.name} = hl.Func("{self.name}")', f"{self.name}[{_point(self.args)}] = {right}"]


@dataclass(frozen=True, slots=True)
class Update:
    """An update definition. ``op`` is ``=``, ``+=``…"""

    name: str
    point: tuple[Term, ...]
    op: str
    value: Term
    domain: str = ""
    more: tuple[Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return (*self.point, self.value, *self.more)

    def lines(self) -> list[str]:
        """Its source."""
        right = _right(self.value, *self.more)
        return [f"{self.name}[{_point([source(a) for a in self.point])}] {self.op} {right}"]


Item: TypeAlias = "Image | Scalar | Domain | Border | Definition | Update"


def _point(args: tuple[str, ...] | list[str]) -> str:
    return ", ".join(args) or "()"


def _right(*values: Term) -> str:
    each = [f"hl.Expr({source(value)})" for value in values]
    return each[0] if len(each) == 1 else f"({', '.join(each)})"


# ---------------------------------------------------------------------------------------------------------
# Directives.


@dataclass(frozen=True, slots=True)
class Loop:
    """The name of a loop, or of a dimension, as an argument of a directive."""

    name: str


@dataclass(frozen=True, slots=True)
class Consumer:
    """A Func as an argument of a directive."""

    name: str


@dataclass(frozen=True, slots=True)
class Consumers:
    """A list of Funcs as an argument of a directive."""

    names: tuple[str, ...]


Given: TypeAlias = (
    "Loop | Consumer | Consumers | Term | TailStrategy | MemoryType | PrefetchBoundStrategy | Partition | Window | int "
    "| str | LoopAlignStrategy"
)


Then: TypeAlias = "tuple[str, tuple[Given, ...]]"
"""A method, and its arguments."""


@dataclass(frozen=True, slots=True)
class Told:
    """One call on the schedule of a stage; stage 0 is the Func itself. ``within``: the conditions of the specialization
    that it is given to, the outermost first. ``then``: calls on what it returns, each on what the one before does."""

    func: str
    stage: int
    method: str
    args: tuple[Given, ...] = ()
    within: tuple[Term, ...] = ()
    then: tuple[Then, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """The expressions in it."""
        return (*(arg for arg in self.args if isinstance(arg, Term)), *self.within)

    def line(self) -> str:
        """Its source."""
        stage = f".update({self.stage - 1})" if self.stage else ""
        stage += "".join(f".specialize({source(condition)})" for condition in self.within)
        calls = [(self.method, self.args), *self.then]
        return f"{self.func}{stage}" + "".join(f".{method}({', '.join(map(_given, args))})" for method, args in calls)


def _given(arg: Given) -> str:
    match arg:
        case Loop(name=name):
            return f'hl.Var("{name}")'
        case Consumer(name=name):
            return name
        case Consumers(names=names):
            return f"[{', '.join(names)}]"
        case TailStrategy():
            return f"hl.TailStrategy.{arg.name}"
        case MemoryType():
            return f"hl.MemoryType.{arg.name}"
        case PrefetchBoundStrategy():
            return f"hl.PrefetchBoundStrategy.{arg.name}"
        case Partition() | LoopAlignStrategy():
            return f"hl.{type(arg).__name__}.{arg.name}"
        case Term():
            return source(arg)
        case str() | int():
            return repr(arg)
    return repr(list(arg))


# ---------------------------------------------------------------------------------------------------------
# Cases.


class Program(Protocol):
    """The interface of a case for judges; one that was written to a file is no longer data, but can be built all the
    same."""

    @property
    def seed(self) -> str:
        """Draws the order of parallel iterations."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        ...

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window of each output."""
        ...

    @property
    def scheduled(self) -> bool:
        """True where there is a schedule to leave out."""
        ...

    @property
    def methods(self) -> tuple[str, ...]:
        """The directives that were called."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of what was drawn on purpose."""
        ...

    def build(self, *, scheduled: bool = True) -> Built:
        """Makes the objects anew."""
        ...

    def blamed(self, location: Location) -> str:
        """The method of the directive on a line of the program, or an empty string."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its schedule, and the window of each output. ``tags`` say what was drawn on purpose."""

    seed: str
    items: tuple[Item, ...]
    outputs: tuple[str, ...]
    windows: tuple[Window, ...]
    directives: tuple[Told, ...] = ()
    tags: tuple[str, ...] = field(default=(), compare=False)

    def source(self) -> str:
        """The function ``build`` as source."""
        return "\n".join(self._lines()) + "\n"

    def build(self, *, scheduled: bool = True) -> Built:
        """Makes the objects anew. Raises: HalideError where a definition or a directive is refused at once."""
        maker = _compiled(self.source(), self.file)
        return maker(scheduled)

    @property
    def file(self) -> str:
        """The name of the source in the locations of errors."""
        return f"<case {self.seed}>"

    @property
    def scheduled(self) -> bool:
        """True where there is a schedule to leave out."""
        return bool(self.directives)

    @property
    def methods(self) -> tuple[str, ...]:
        """The directives that were called."""
        return tuple(told.method for told in self.directives)

    def blamed(self, location: Location) -> str:
        """The method of the directive on a line of the source, or an empty string."""
        at = self.blamed_at(location)
        return "" if at is None else self.directives[at].method

    def blamed_at(self, location: Location) -> int | None:
        """The number of the directive on a line of the source, if one stands there."""
        first = len(self._lines()) - len(self.directives)  # counted from 1, and a return stands after them
        at = location.line - first
        return at if location.file == self.file and 0 <= at < len(self.directives) else None

    def _lines(self) -> list[str]:
        lines = ["def build(scheduled):"]
        lines += [f"    {line}" for line in self._program()]
        windows = repr([list(w) for w in self.windows])
        lines += [f"    result = [{', '.join(self.outputs)}], {windows}"]
        if not self.directives:
            return [*lines, "    return result"]
        lines += ["    if not scheduled:", "        return result"]
        # The directives come last but one, so that ``blamed`` can count them.
        return [*lines, *(f"    {d.line()}" for d in self.directives), "    return result"]

    def _program(self) -> Iterator[str]:
        names = dict.fromkeys(v for item in self.items if isinstance(item, Definition | Border) for v in item.args)
        for v in names:
            yield f'{v} = hl.Var("{v}")'
        waiting = {item.name: item for item in self.items if isinstance(item, Domain)}
        for item in self.items:
            if isinstance(item, Update) and item.domain:
                yield from _stated(waiting, item.domain)
            for term in item.terms():
                for node in term:
                    if node.over:
                        yield from _stated(waiting, node.over)
            yield from item.lines()


def _stated(waiting: dict[str, Domain], name: str) -> Iterator[str]:
    """The predicates of an RDom that is about to be used for the first time."""
    domain = waiting.pop(name, None)
    for predicate in domain.predicates if domain is not None else ():
        yield f"{name}.where({source(predicate)})"


def _compiled(text: str, file: str) -> Callable[[bool], Any]:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {}
    exec("import numpy as np\nimport halide_core as hl\n", space)
    exec(compile(text, file, "exec"), space)
    made: Callable[[bool], Any] = space["build"]
    return made
