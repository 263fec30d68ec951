"""The expressions of one statement as a list of steps, each of which puts one node's value into its place.

In: expressions, and where memory and variables are. Out: Code. A shared node is evaluated once. Scalar operators are
those of ``halide_core.reference.scalar_ops``.

    f[x] + g[x]*2   ->   t[3] = f at t[1];  t[4] = g at t[1];  unless ε_mem is in t[3], t[4]:  t[5] = mul(t[4], t[2]) …

Every operator is strict in ε_mem (definition 2.6; select and the logical operators too), so a value is ε_mem exactly
if something that it loads is: loads come first, are all checked, and no operator ever sees ε_mem. Vectors are
evaluated lane by lane by the same steps, the lane's number being in place 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, Stmt, Variable
from halide_core.ir.types import Type
from halide_core.ir.visitor import parts, subexpressions
from halide_core.lowering.interpreter.memory_model import (
    EPS_MEM,
    OUTSIDE,
    Cell,
    Memory,
    MemoryFault,
    Races,
    UndefinedValue,
    head,
)
from halide_core.lowering.interpreter.threads import Threads
from halide_core.reference.scalar_ops import binary_function, call_function, cast_function, logical_not, select

Step: TypeAlias = "Callable[[], None]"
LANE = 0


class Allocation:
    """The meaning of a name in one scope: a memory for each component, made anew each time that the scope is
    entered."""

    __slots__ = ("depth", "memories", "name", "types", "writable")

    def __init__(
        self,
        name: str,
        types: tuple[Type, ...],
        depth: int,
        memories: tuple[Memory, ...] = (),
        *,
        writable: bool = True,
    ) -> None:
        self.name = name
        self.types = types
        self.depth = depth
        """The number of parallel or vectorized loops around it: those further in share it."""
        self.memories = memories
        self.writable = writable


@dataclass(frozen=True, slots=True)
class AccessPlace:
    """Where an access finds its memory, and the loops whose iterations share it."""

    allocation: Allocation
    component: int
    races: tuple[Races | Threads, ...]


class Surroundings(Protocol):
    """The surroundings of a statement: values of leaves, and variables in scope."""

    def leaf(self, e: ExprNode) -> int | float:
        """The value of a parameter or of a field of a buffer, constant in a run."""
        ...

    def may_be_undefined(self, var: Variable) -> bool:
        """True where a let's value may be ε_mem. Raises: InternalError for a variable out of scope."""
        ...

    def place(self, e: ir.Access | ir.Load) -> AccessPlace | None:
        """The memory that is read; None if there is none in this scope."""
        ...


@dataclass(frozen=True, slots=True)
class Operation:
    """The steps of one node, and the places of its operands and of its value."""

    steps: tuple[Step, ...]
    at: tuple[int, ...]
    place: int
    chooses: bool

    def careful(self, values: list[Any]) -> None:
        """Runs, where operands may be ε_mem: then so is the value, unless it is a choice of another one."""
        if self.chooses and values[self.at[0]] is not EPS_MEM:
            values[self.place] = values[self.at[1 if values[self.at[0]] else 2]]
        elif any(values[p] is EPS_MEM for p in self.at):
            values[self.place] = EPS_MEM
        else:
            for step in self.steps:
                step()


class Root:
    """One value: ε_mem if one of its leaves is that no select drops, else what the rest of the steps give."""

    __slots__ = ("_chooses", "_leaves", "_place", "_rest", "_values", "may_be_undefined")

    def __init__(self, values: list[Any], place: int, leaves: tuple[int, ...], rest: tuple[Operation, ...]) -> None:
        self._values = values
        self._place = place
        self._leaves = leaves
        self._rest = rest
        self._chooses = any(operation.chooses for operation in rest)
        self.may_be_undefined = bool(leaves)

    def get(self) -> Any:
        """The value, once the first steps have run."""
        values = self._values
        for leaf in self._leaves:
            if values[leaf] is EPS_MEM:
                return self._careful() if self._chooses else EPS_MEM
        for operation in self._rest:
            for step in operation.steps:
                step()
        return values[self._place]

    def _careful(self) -> Any:
        for operation in self._rest:
            operation.careful(self._values)
        return self._values[self._place]


@dataclass(frozen=True, slots=True)
class Code:
    """Evaluators of the expressions of a statement: ``strict`` ones, which can't be ε_mem, then values."""

    values: list[Any]
    first: tuple[Step, ...]
    each: tuple[Step, ...]
    """Those of the first steps that every lane repeats."""
    strict: tuple[int, ...]
    roots: tuple[Root, ...]
    lanes: int
    some: int | None = None
    """Where the number of the lanes is that do anything, if not all do."""

    def run(self) -> list[tuple[list[int], list[Cell]]]:
        """The strict expressions' values and the others', for each lane."""
        values, strict, roots = self.values, self.strict, self.roots
        for step in self.first:
            step()
        if self.lanes == 1:
            return [([values[p] for p in strict], [root.get() for root in roots])]
        result = []
        count = self.lanes if self.some is None else values[self.some]
        if not 0 < count <= self.lanes:
            raise InternalError(f"{count} of {self.lanes} lanes can't do anything.")
        for lane in range(count):
            values[LANE] = lane
            for step in self.each:
                step()
            result.append(([values[p] for p in strict], [root.get() for root in roots]))
        return result


class Coder:
    """Makes Code; ``values`` is the memory of all of it."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings
        self.values: list[Any] = [0]
        self._places: dict[ExprNode, int] = {}
        self._wholes: dict[Variable, int] = {}
        self._some: int | None = None

    # -- places

    def place(self, e: ExprNode) -> int:
        """The number of the place of a node's value."""
        place = self._places.get(e)
        if place is None:
            place = self._places[e] = len(self.values)
            self.values.append(self._constant(e))
        return place

    def _constant(self, e: ExprNode) -> int | float | None:
        match e:
            case ir.IntImm(type=type, value=value):
                return bool(value) if type.is_bool() else value
            case ir.FloatImm():
                return e.value
            case ir.ParamRef() | ir.BufferField():
                return self._around.leaf(e)
        return None

    def refresh(self) -> None:
        """Looks anew at what stays the same in a run alone."""
        for e, place in self._places.items():
            if isinstance(e, ir.ParamRef | ir.BufferField):
                self.values[place] = self._around.leaf(e)

    def new_place(self) -> int:
        """The number of a place for something that no expression is."""
        self.values.append(None)
        return len(self.values) - 1

    def variable(self, var: Variable) -> int:
        """The place where a loop or a let binds a variable; a vector's is a tuple of its lanes."""
        if var.type.is_scalar():
            return self.place(var)
        if var not in self._wholes:
            self._wholes[var] = len(self.values)
            self.values.append(None)
        return self._wholes[var]

    # -- code

    @contextmanager
    def first_lanes(self) -> Iterator[int]:
        """The place for the number of lanes that do anything in the code that is made inside."""
        place = self._some = self.new_place()
        yield place
        self._some = None

    def number(self, e: ExprNode, stmt: Stmt) -> Callable[[], Any]:
        """The value of a scalar expression on which the program's course depends."""
        if e.type.is_vector():
            raise InternalError(f"A vector can't decide this: {head(stmt)}")
        code = self.code(stmt, (e,), ())
        values, steps, place = self.values, code.first, code.strict[0]
        if not steps:
            return lambda: values[place]

        def run() -> Any:
            for step in steps:
                step()
            return values[place]

        return run

    def code(self, stmt: Stmt, strict: Sequence[ExprNode], roots: Sequence[ExprNode]) -> Code:
        """The code of a statement's expressions."""
        lanes = max([e.type.lanes() for e in (*strict, *roots)], default=1)
        order = [e for e in subexpressions((*strict, *roots)) if not _is_sliced(e, lanes)]
        indices = [p for e in order if isinstance(e, ir.Access | ir.Load) for p in parts(e)]
        decisive = _below(order, [*strict, *indices])
        loaded = _below(order, [*strict, *(e for e in order if self._may_be_undefined(e))])
        early = [e for e in order if e in loaded]
        first: list[Step] = []
        each: list[Step] = []
        for e in early:
            self._check_lanes(e, lanes, stmt)
            (each if e.type.is_vector() else first).extend(self._steps(e, stmt, strict=e in decisive))
        found = tuple([self._root(root, loaded, decisive, stmt, lanes) for root in roots])
        places = tuple([self.place(e) for e in strict])
        return Code(self.values, tuple(first), tuple(each), places, found, lanes, self._some)

    def _root(self, root: ExprNode, done: set[ExprNode], decisive: set[ExprNode], stmt: Stmt, lanes: int) -> Root:
        leaves: list[int] = []
        rest: list[Operation] = []
        for e in subexpressions((root,)):
            if _is_sliced(e, lanes):
                continue
            if self._may_be_undefined(e) and e not in decisive:
                leaves.append(self.place(e))
            if e not in done:
                self._check_lanes(e, lanes, stmt)
                steps = tuple(self._steps(e, stmt, strict=False))
                at = tuple([self.place(p) for p in parts(e)])
                rest.append(Operation(steps, at, self.place(e), isinstance(e, ir.Select)))
        return Root(self.values, self.place(root), tuple(leaves), tuple(rest))

    def _may_be_undefined(self, e: ExprNode) -> bool:
        if isinstance(e, Variable):
            return self._around.may_be_undefined(e)
        if isinstance(e, ir.Slice) and isinstance(e.a, Variable):
            return self._around.may_be_undefined(e.a)
        return isinstance(e, ir.Access | ir.Load)

    @staticmethod
    def _check_lanes(e: ExprNode, lanes: int, stmt: Stmt) -> None:
        if e.type.lanes() not in (1, lanes):
            raise InternalError(f"{e!r} has {e.type.lanes()} lanes among {lanes}: {head(stmt)}")

    # -- steps

    def _steps(self, e: ExprNode, stmt: Stmt, *, strict: bool) -> list[Step]:
        values, d = self.values, self.place(e)
        steps: list[Step] = []
        match e:
            case ir.IntImm() | ir.FloatImm() | ir.ParamRef() | ir.BufferField():
                return []
            case Variable():
                undefined = self._around.may_be_undefined(e)
                if e.type.is_vector():
                    steps.append(_lane_of(values, d, self.variable(e)))
                if not undefined:
                    return steps
            case ir.Slice(a=Variable() as whole, first=first):
                steps.append(_lane_of(values, d, self.variable(whole), first, scalar=e.type.is_scalar()))
                if not self._around.may_be_undefined(whole):
                    return steps
            case ir.Access() | ir.Load():
                steps.append(self._read(e, stmt))
            case _:
                return [self._operator(e, d)]
        if strict:
            steps.append(_defined(values, d, e, stmt))
        return steps

    def _operator(self, e: ExprNode, d: int) -> Step:
        values, element = self.values, e.type.element_of()
        at = [self.place(p) for p in parts(e)]
        _check_types(e)
        match e:
            case ir.Binary(op=op, a=a):
                return _binary(values, d, binary_function(op, a.type.element_of()), *at)
            case ir.Not():
                return _unary(values, d, logical_not, *at)
            case ir.Select():
                return _nary(values, d, select, at)
            case ir.Cast(a=a):
                return _unary(values, d, cast_function(a.type.element_of(), element), *at)
            case ir.Call(function=function, args=args):
                return _nary(values, d, call_function(function, args[0].type.element_of(), element), at)
            case ir.Promise():
                return _unary(values, d, lambda value: value, at[0])
            case ir.Print():
                return _nary(values, d, lambda value, *_: value, at)
            case ir.Broadcast():
                return _unary(values, d, lambda value: value, *at)
            case ir.Ramp():
                plus, times = (binary_function(op, element) for op in (BinaryOp.ADD, BinaryOp.MUL))
                return _nary(values, d, lambda a, stride: plus(a, times(values[LANE], stride)), at)
        raise InternalError(f'"{e!r}" has no meaning in the target language.')

    def _read(self, e: ir.Access | ir.Load, stmt: Stmt) -> Step:
        values, d, found = self.values, self.place(e), self._around.place(e)
        at = tuple([self.place(p) for p in parts(e)])
        if found is None:
            return _no_memory(e.buffer if isinstance(e, ir.Load) else e.callee.name, stmt)
        allocation, component, races = found.allocation, found.component, found.races
        if allocation.types[component] is not e.type.element_of():
            raise InternalError(f"{e!r} is not of its memory's type: {head(stmt)}")
        flat = at[0] if isinstance(e, ir.Load) else None

        def step() -> None:
            memory = allocation.memories[component]
            if flat is None:
                cell = memory.offset([values[p] for p in at])
            else:
                cell = memory.position(values[flat])
            if cell == OUTSIDE:
                raise memory.outside([values[p] for p in at], "read", stmt)
            values[d] = memory.cells.get(cell, EPS_MEM)
            for each in races:
                each.read(memory, cell, stmt)

        return step


def _is_sliced(e: ExprNode, lanes: int) -> bool:
    """True where a node stands among so many lanes for being a slice's operand, whose own lanes are others."""
    return isinstance(e, Variable) and e.type.lanes() not in (1, lanes)


def _below(order: Sequence[ExprNode], some: Iterable[ExprNode]) -> set[ExprNode]:
    """Of nodes in an order, operands first: some, and what they are made of."""
    found = set(some)
    for e in reversed(order):
        if e in found:
            found.update(parts(e))
    return found


def _check_types(e: ExprNode) -> None:
    """Operands have the types that the operator's fields say (invariant of ``exprs``)."""
    match e:
        case ir.Binary(op=op, a=a, b=b):
            shift = op in (BinaryOp.SHL, BinaryOp.SHR)
            sound = a.type is b.type or (shift and a.type.lanes() == b.type.lanes())
        case ir.Select(condition=condition, a=a, b=b):
            sound = a.type is b.type is e.type and condition.type.element_of().is_bool()
        case ir.Cast(a=a) | ir.Not(a=a):
            sound = a.type.lanes() == e.type.lanes()
        case _:
            return
    if not sound:
        raise InternalError(f"Operands of types that don't go together: {e!r}")


def _unary(values: list[Any], d: int, f: Callable[[Any], Any], a: int) -> Step:
    def step() -> None:
        values[d] = f(values[a])

    return step


def _binary(values: list[Any], d: int, f: Callable[[Any, Any], Any], a: int, b: int) -> Step:
    def step() -> None:
        values[d] = f(values[a], values[b])

    return step


def _nary(values: list[Any], d: int, f: Callable[..., Any], at: Sequence[int]) -> Step:
    def step() -> None:
        values[d] = f(*[values[p] for p in at])

    return step


def _lane_of(values: list[Any], d: int, whole: int, first: int = 0, *, scalar: bool = False) -> Step:
    def step() -> None:
        values[d] = values[whole][first if scalar else first + values[LANE]]

    return step


def _defined(values: list[Any], d: int, e: ExprNode, stmt: Stmt) -> Step:
    def step() -> None:
        if values[d] is EPS_MEM:
            raise UndefinedValue(f'"{e!r}" was never written, and an address or a decision needs it:\n  {head(stmt)}')

    return step


def _no_memory(name: str, stmt: Stmt) -> Step:
    def step() -> None:
        raise MemoryFault(name, "is read where it has no memory", stmt)

    return step
