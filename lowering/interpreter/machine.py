"""The executable semantics of the target language (figure 2.8): the judge of every pass after bounds inference.

In: a tree without holes, of points or of flat memory, and the arguments' values. Out: an Outcome; or the error of the
stuck state: AssertionFailure (2.11), RDomFailure (2.12), MemoryFault (2.13), and where the result would hang on chance,
UndefinedValue and RaceError.

    outcome = interpret(lowered.body, lowered.arguments, [image, 3], [out])
    outcome.result(0, [(0, 16), (0, 16)])  ->  the array, or UndefinedValue where ε_mem is left in it

A tree becomes nested Python closures, one for each statement, on the expressions' Code. Iterations of parallel and
vectorized loops run in a shuffled order where ``shuffle`` is given; in any order, what could show one is a RaceError.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halide_core import ir
from halide_core.debug import deep_recursion
from halide_core.errors import InternalError
from halide_core.ir import Callee, ExprNode, LoopKind, Stmt, Variable
from halide_core.ir.float16 import element
from halide_core.ir.visitor import stmt_exprs
from halide_core.lang.buffer import Buffer
from halide_core.lowering.interpreter.arguments import Arguments
from halide_core.lowering.interpreter.code import AccessPlace, Allocation, Code, Coder
from halide_core.lowering.interpreter.memory_model import (
    EPS_MEM,
    OUTSIDE,
    AssertionFailure,
    Memory,
    OutOfSteps,
    Races,
    RDomFailure,
    UndefinedValue,
)
from halide_core.lowering.interpreter.prefetch import is_inside, look_at
from halide_core.lowering.interpreter.threads import Threads
from halide_core.lowering.interpreter.writes import (
    FlatWrite,
    Kept,
    Prepared,
    Run,
    allocate,
    flat_write,
    point_write,
    recall_or_run,
    run_at_once,
    write_flat,
    write_nowhere,
    write_point,
)
from halide_core.run.backend import Argument, ArgumentKind, Box

_CONCURRENT = frozenset({LoopKind.PARALLEL, LoopKind.VECTORIZED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an execution."""

    regions: tuple[Box | None, ...] | None
    """The answer to a bounds query: the region of each argument without memory. None where the program ran."""
    outputs: tuple[tuple[Argument, Memory], ...]
    overlaps: int
    """The number of times that iterations of one parallel or vectorized loop wrote the same value to the same cell."""

    def result(self, output: int, window: Sequence[tuple[int, int]]) -> npt.NDArray[Any]:
        """An output's values in a window, axes reversed. Raises: UndefinedValue where a point was never written."""
        argument, memory = self.outputs[output]
        shape = tuple(n for _, n in reversed(window))
        array = np.empty(shape, argument.type.dtype)
        for index in np.ndindex(*shape):
            point = tuple(k + low for k, (low, _) in zip(reversed(index), window, strict=True))
            at = memory.offset(point)
            value = EPS_MEM if at == OUTSIDE else memory.read(at)
            if value is EPS_MEM:
                raise UndefinedValue(f'The requested point {point} of output "{argument.name}" was never written.')
            array[index] = element(value, argument.type)
        return array


class _AnsweredError(Exception):
    """The bounds query is answered: the run ends."""

    def __init__(self, regions: tuple[Box | None, ...]) -> None:
        super().__init__()
        self.regions = regions


def interpret(
    stmt: Stmt,
    arguments: Sequence[Argument],
    inputs: Sequence[Buffer | int | float | bool | Box | None],
    outputs: Sequence[Buffer | Box],
    *,
    shuffle: random.Random | None = None,
    steps: int | None = None,
) -> Outcome:
    """Runs a program.

    Args:
        stmt: a tree that ``lowering`` produced, from bounds inference on.
        arguments: those of the compiled function (``Lowered.arguments``).
        inputs: the values of the input arguments, in order; None, or a box, for a buffer without memory.
        outputs: for each output argument the buffer to fill, or the window of one without memory.
        shuffle: draws the order of parallel and vectorized iterations; ascending where it is not given.
        steps: how many iterations the loops may have in all; any number where it is not given.

    Returns:
        The regions, if any buffer has no memory (a bounds query); else the outputs. Cells that were written are also
        copied to the output buffers.

    Raises:
        StuckError: the program is stuck; the subclass says how. OutOfSteps, where ``steps`` don't suffice.
        InternalError: the tree breaks a rule of the grammar: a hole, a variable out of scope, types that don't match.
    """
    return Translated(stmt, arguments).run(inputs, outputs, shuffle=shuffle, steps=steps)


class Translated:
    """A program that is translated once and runs with one set of values after another; see ``interpret``."""

    def __init__(self, stmt: Stmt, arguments: Sequence[Argument]) -> None:
        self._stmt = stmt
        self._arguments = tuple(arguments)
        self._found: dict[bool, tuple[_Machine, Run]] = {}
        """The program, and its beginning that answers a bounds query."""

    def run(
        self,
        inputs: Sequence[Buffer | int | float | bool | Box | None],
        outputs: Sequence[Buffer | Box],
        *,
        shuffle: random.Random | None = None,
        steps: int | None = None,
    ) -> Outcome:
        """Runs the program, or asks it for regions."""
        with deep_recursion():
            given = Arguments(self._arguments, (*inputs, *outputs))
            if given.all_present not in self._found:
                fresh = _Machine(given)
                self._found[given.all_present] = fresh, fresh.translate(self._stmt)
            machine, program = self._found[given.all_present]
            machine.begin(given, shuffle, steps)
            try:
                program()
            except _AnsweredError as answered:
                return Outcome(answered.regions, (), 0)
            return Outcome(None, given.finish(), sum(loop.overlaps for loop in machine.loops))


class _Machine:
    """Translates statements. Implements ``lowering.interpreter.code.Surroundings``: what is in scope at the current
    one."""

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._shuffle: random.Random | None = None
        self._steps: int | None = None
        self._variables: dict[Variable, bool] = {}
        """Those in scope, and whether they may be ε_mem."""
        self._allocations: dict[Callee | str, tuple[Allocation, int]] = {}
        """Memory in scope, and the component that the key stands for."""
        self._around: tuple[Races | Threads, ...] = ()
        """The parallel and vectorized loops around, outermost first."""
        self._atomic: tuple[Allocation, ...] = ()
        """The memory that the statement at hand updates in one step: iterations of reduction loops take turns there."""
        self._remembered: Kept = {}
        self._threads = Threads()
        self._forks = 0
        """The number of forks around."""
        self._semaphores: dict[str, int] = {}
        """The places of the semaphores in scope."""
        self.loops: list[Races] = []
        """All of those of the program."""
        self._given: dict[Callee, Allocation] = {}
        """The arguments' memory."""
        for callee, components in arguments.components.items():
            writable = components[0][0].kind is ArgumentKind.OutputBuffer
            types, memories = tuple(a.type for a, _ in components), tuple(memory for _, memory in components)
            allocation = self._given[callee] = Allocation(callee.name, types, 0, memories, writable=writable)
            names: list[tuple[Callee | str, int]] = [(callee, 0), *((a.name, k) for k, (a, _) in enumerate(components))]
            self._allocations.update({name: (allocation, k) for name, k in names})
        self._coder = Coder(self)

    def begin(self, arguments: Arguments, shuffle: random.Random | None, steps: int | None) -> None:
        """Another run: other memory, Params and fields of buffers, and nothing of the last one."""
        self._arguments, self._shuffle, self._steps = arguments, shuffle, steps
        for callee, components in arguments.components.items():
            self._given[callee].memories = tuple([memory for _, memory in components])
        self._coder.refresh()
        self._threads.begin(shuffle)
        for loop in self.loops:
            loop.overlaps = 0

    # -- surroundings

    def leaf(self, e: ExprNode) -> int | float:
        """A Param, or a field of an argument."""
        return self._arguments.leaf(e)

    def may_be_undefined(self, var: Variable) -> bool:
        """True where a variable may be ε_mem."""
        if var not in self._variables:
            raise InternalError(f'Variable "{var.name}" is used outside its scope.')
        return self._variables[var]

    def place(self, e: ir.Access | ir.Load) -> AccessPlace | None:
        """The memory that an access reads."""
        if isinstance(e, ir.Load):
            return self._place(e.buffer)
        found = self._place(e.callee)
        return None if found is None else AccessPlace(found.allocation, e.component, found.races)

    def _place(self, key: Callee | str) -> AccessPlace | None:
        found = self._allocations.get(key)
        if found is None:
            return None
        allocation, component = found
        around = self._around[allocation.depth :] if allocation.writable else ()
        if any(each is allocation for each in self._atomic):
            around = tuple([races for races in around if not races.takes_turns])
        return AccessPlace(allocation, component, around)

    def _number(self, e: ExprNode, stmt: Stmt) -> Callable[[], Any]:
        return self._coder.number(e, stmt)

    # -- scopes

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """A scope: bindings and allocations made inside end with it."""
        before = self._variables, self._allocations, self._around
        self._variables, self._allocations = dict(self._variables), dict(self._allocations)
        yield
        self._variables, self._allocations, self._around = before

    def _bind(self, var: Variable, *, undefined: bool) -> int:
        if var in self._variables:
            raise InternalError(f'Variable "{var.name}" is bound where it is bound already.')
        self._variables[var] = undefined
        return self._coder.variable(var)

    def translate(self, stmt: Stmt) -> Run:
        """A statement in a scope of its own."""
        with self._scope():
            return self._stmt(stmt)

    # -- statements

    def _stmt(self, stmt: Stmt) -> Run:
        match stmt:
            case ir.Block():
                return self._block(stmt)
            case ir.Remember():
                return self._remember(stmt)
            case ir.Label(body=body):
                return self.translate(body)
            case ir.Let():
                return self._let(stmt)
            case ir.For():
                return self._for(stmt)
            case ir.If():
                return self._if(stmt)
            case ir.FirstLanes():
                return self._first_lanes(stmt)
            case ir.Fork():
                return self._fork(stmt)
            case ir.Acquire() | ir.Release():
                return self._semaphore(stmt)
            case ir.Provide():
                with self._one_step([stmt.func] if stmt.atomic else []):
                    return self._provide(stmt)
            case ir.Store():
                return self._stores(stmt, (stmt,))
            case ir.Stores(stores=stores):
                return self._stores(stmt, stores)
            case ir.Allocate() | ir.AllocateFlat():
                return self._allocate(stmt)
            case ir.Assert():
                return self._assert(stmt)
            case ir.AnswerQuery():
                return self._answer(stmt)
            case ir.WriteFile():
                return lambda: None  # what people see of memory is no part of the program's meaning
            case ir.PrefetchRegion() | ir.PrefetchLine():
                return self._prefetch(stmt)
        raise InternalError(f"A {type(stmt).__name__} has no meaning in the target language.")

    def _block(self, block: ir.Block) -> Run:
        runs = []
        with self._scope():
            for s in block.stmts:
                runs.append(self._stmt(s))
                if isinstance(s, ir.AnswerQuery) and not self._arguments.all_present:
                    break  # a query runs nothing more

        def run() -> None:
            for each in runs:
                each()

        return runs[0] if len(runs) == 1 else run

    def _let(self, let: ir.Let) -> Run:
        if let.var.type is not let.value.type:
            raise InternalError(f"A let binds a value of another type: {let!r}")
        code = self._coder.code(let, (), (let.value,))
        place = self._bind(let.var, undefined=code.roots[0].may_be_undefined)
        values = self._coder.values

        def run() -> None:
            ((_, (values[place],)),) = code.run()

        def run_lanes() -> None:
            values[place] = tuple([lane for _, (lane,) in code.run()])

        return run if code.lanes == 1 else run_lanes

    def _for(self, loop: ir.For) -> Run:
        low, length = self._number(loop.bounds.min, loop), self._number(loop.bounds.len, loop)
        races = Races(loop.loop, takes_turns=not loop.pure) if loop.kind in _CONCURRENT else None
        at_once = loop.kind is LoopKind.AT_ONCE
        with self._scope():
            if races is not None:
                self.loops.append(races)
                self._around = (*self._around, races)
            place = self._bind(loop.var, undefined=False)
            body = _nothing if at_once else self.translate(loop.body)
            prepare = self._prepared(loop.body) if at_once else None
        values = self._coder.values

        def iterations() -> range:
            first, count = low(), length()
            if count < 0:
                raise RDomFailure(loop.loop, count, loop)
            if self._steps is not None:
                self._steps -= count
                if self._steps < 0:
                    raise OutOfSteps(f'The budget of steps ends in loop "{loop.loop}".')
            return range(first, first + count)

        def run() -> None:
            for i in iterations():
                values[place] = i
                body()

        def run_concurrent() -> None:
            assert races is not None
            order = list(iterations())
            if self._shuffle is not None:
                self._shuffle.shuffle(order)
            races.start()
            for i in order:
                races.iteration = values[place] = i
                body()

        def run_in_fork() -> None:
            for i in iterations():
                self._threads.step()
                values[place] = i
                body()

        if prepare is not None:
            return run_at_once(place, values, iterations, prepare)
        if races is not None:
            return run_concurrent
        return run_in_fork if self._forks else run

    def _prepared(self, stmt: Stmt) -> Prepared:
        """A write, with the conditions and lets around it, in two steps."""
        match stmt:
            case ir.If(condition=condition, then=then, otherwise=None):
                test, inner = self._number(condition, stmt), self._prepared(then)
                return lambda: inner() if test() else _nothing
            case ir.Block(stmts=()):  # its guard holds nowhere
                return lambda: _nothing
            case ir.Block(stmts=(*lets, last)) if all(isinstance(s, ir.Let) for s in lets):
                with self._scope():
                    bound = [self._stmt(s) for s in lets]
                    rest = self._prepared(last)

                def prepare() -> Run:
                    for each in bound:
                        each()
                    return rest()

                return prepare
            case ir.Provide():
                place = self._written(stmt.func, stmt)
                assert place is not None
                return point_write(stmt, self._coder.code(stmt, stmt.args, stmt.values), place)
            case ir.Store() | ir.Stores():
                stores = stmt.stores if isinstance(stmt, ir.Stores) else (stmt,)
                return flat_write([self._store(s) for s in stores])
        raise InternalError(f"A {type(stmt).__name__} can't be in several iterations at once.")

    def _fork(self, fork: ir.Fork) -> Run:
        threads, values = self._threads, self._coder.values
        with self._scope():
            self._around = (*self._around, threads)
            outside, self._forks = self._semaphores, self._forks + 1
            places = [(self._coder.new_place(), count) for _, count in fork.semaphores]
            own = {name: at for (name, _), (at, _) in zip(fork.semaphores, places, strict=True)}
            self._semaphores = {**outside, **own}
            producer, consumer = self.translate(fork.producer), self.translate(fork.consumer)
            self._semaphores, self._forks = outside, self._forks - 1

        def run() -> None:
            for place, count in places:
                values[place] = threads.semaphore(count)
            threads.fork(producer, consumer)

        return run

    def _semaphore(self, stmt: ir.Acquire | ir.Release) -> Run:
        place = self._semaphores.get(stmt.semaphore)
        if place is None:
            raise InternalError(f"A semaphore is used outside of its fork: {stmt!r}")
        values, threads = self._coder.values, self._threads
        operate = threads.acquire if isinstance(stmt, ir.Acquire) else threads.release
        return lambda: operate(values[place])

    def _if(self, test: ir.If) -> Run:
        condition = self._number(test.condition, test)
        then = self.translate(test.then)
        otherwise = None if test.otherwise is None else self.translate(test.otherwise)

        def run() -> None:
            if condition():
                then()
            elif otherwise is not None:
                otherwise()

        return run

    def _first_lanes(self, stmt: ir.FirstLanes) -> Run:
        count, values = self._number(stmt.count, stmt), self._coder.values
        with self._coder.first_lanes() as place:
            body = self.translate(stmt.body)

        def run() -> None:
            values[place] = count()
            body()

        return run

    # -- memory

    def _allocate(self, stmt: ir.Allocate | ir.AllocateFlat) -> Run:
        key: Callee | str
        if isinstance(stmt, ir.Allocate):
            key, name, types = stmt.func, stmt.func.name, stmt.func.types
            box = [e for i in stmt.bounds for e in (i.min, i.len)] + [k for k in stmt.folds if k is not None]
        else:
            key, name, types = stmt.buffer, stmt.buffer, (stmt.type,)
            box = [ir.ZERO, stmt.size]
        if key in self._allocations:
            raise InternalError(f'"{name}" is allocated where it has memory already.')
        code = self._coder.code(stmt, box, ())
        within = stmt.within if isinstance(stmt, ir.AllocateFlat) else None
        around = None if within is None else self._allocations[within][0]
        allocation = Allocation(name, types, len(self._around))
        self._allocations[key] = (allocation, 0)
        return allocate(stmt, code, allocation, around)

    def _remember(self, stmt: ir.Remember) -> Run:
        """Recalls the memory that the computation of an equal key left, or runs the computation."""
        names: list[Callee | str] = [stmt.func, *(stmt.func.component_name(k) for k in range(len(stmt.func.types)))]
        places = [self._place(name) for name in names]
        numbers = [self._number(e, stmt) for e in stmt.exprs()]
        body = self.translate(stmt.body)
        return recall_or_run(stmt.func, numbers, body, [p for p in places if p is not None], self._remembered)

    def _prefetch(self, stmt: ir.PrefetchRegion | ir.PrefetchLine) -> Run:
        """Nothing happens; what is said to be inside of memory is looked at."""
        place = self._place(stmt.func if isinstance(stmt, ir.PrefetchRegion) else stmt.buffer)
        if place is None:
            raise InternalError(f"What is prefetched has no memory: {stmt!r}")
        if not is_inside(stmt):
            return _nothing
        return look_at(stmt, self._coder.code(stmt, stmt_exprs(stmt), ()), place.allocation)

    def _provide(self, stmt: ir.Provide) -> Run:
        types = stmt.func.types
        if len(stmt.values) != len(types) or any(v.type is not t for v, t in zip(stmt.values, types, strict=True)):
            raise InternalError(f"A point gets values that are not of its Func's types: {stmt!r}")
        place = self._written(stmt.func, stmt)
        code = self._coder.code(stmt, stmt.args, stmt.values)
        return write_nowhere(stmt.func.name, stmt) if place is None else write_point(stmt, code, place)

    def _stores(self, stmt: Stmt, stores: tuple[ir.Store, ...]) -> Run:
        absent = next((s for s in stores if self._place(s.buffer) is None), None)
        if absent is not None:
            return write_nowhere(absent.buffer, stmt)
        with self._one_step([s.buffer for s in stores if s.atomic]):
            return write_flat([self._store(s) for s in stores])

    @contextmanager
    def _one_step(self, keys: Sequence[Callee | str]) -> Iterator[None]:
        """Makes what is translated inside update memory in one step."""
        self._atomic = tuple([self._allocations[key][0] for key in keys if key in self._allocations])
        yield
        self._atomic = ()

    def _store(self, stmt: ir.Store) -> FlatWrite:
        if stmt.index.type.lanes() != stmt.value.type.lanes():
            raise InternalError(f"A store has an index and a value of different lanes: {stmt!r}")
        place = self._written(stmt.buffer, stmt)
        assert place is not None
        if place.allocation.types[place.component] is not stmt.value.type.element_of():
            raise InternalError(f"A store's value is not of its memory's type: {stmt!r}")
        return FlatWrite(stmt, self._coder.code(stmt, (stmt.index,), (stmt.value,)), place)

    def _written(self, key: Callee | str, stmt: Stmt) -> AccessPlace | None:
        place = self._place(key)
        if place is not None and not place.allocation.writable:
            raise InternalError(f'Input "{place.allocation.name}" is written: {stmt!r}')
        return place

    # -- start-up

    def _assert(self, stmt: ir.Assert) -> Run:
        condition = self._number(stmt.condition, stmt)
        scope = self._variables

        def run() -> None:
            if not condition():
                self._variables = scope  # the message is translated only now: most are never needed
                raise AssertionFailure("".join(map(self._told, stmt.message)), stmt.failure)

        return run

    def _told(self, part: str | ExprNode) -> str:
        if isinstance(part, str):
            return part
        ((_, (value,)),) = self._coder.code(ir.NOTHING, (), (part,)).run()
        if value is EPS_MEM:
            return EPS_MEM.value
        if part.type.is_bool():
            return "true" if value else "false"
        if part.type.is_float():
            return f"{value:.{9 if part.type.bits() == 32 else 17}g}"
        return str(value)

    def _answer(self, stmt: ir.AnswerQuery) -> Run:
        if self._arguments.all_present:
            return _nothing
        asked: list[tuple[Callee, Code]] = []
        for callee, box in stmt.regions:
            asked.append((callee, self._coder.code(stmt, [e for i in box for e in (i.min, i.len)], ())))

        def run() -> None:
            regions: dict[Callee, Box] = {}
            for callee, code in asked:
                ((numbers, _),) = code.run()
                regions[callee] = tuple(zip(numbers[::2], numbers[1::2], strict=True))
            raise _AnsweredError(self._arguments.answers(regions))

        return run


def _nothing() -> None:
    """A statement without effect."""
