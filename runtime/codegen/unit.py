"""A lowered pipeline as one C translation unit.

In: ``Lowered``, flat and without holes. Out: C11 text (with GNU extensions), the same in every process.

    emit_c(blur)  ->  int blur(halide_buffer_t *in, halide_buffer_t *out) { checks; for (int64_t y = …) … }

The function checks its arguments, answers a bounds query where the body says so, and runs. A parallel loop's body
becomes a function of its own, which takes what it reads from outside through a closure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir.visitor import walk
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.captures import BufferName, SemaphoreName, captured, members_of
from halide_core.runtime.codegen.cut import cut
from halide_core.runtime.codegen.expr import ExprEmitter
from halide_core.runtime.codegen.gcc_sums import confuses_sums, loads_of
from halide_core.runtime.codegen.memory.live_memory import FAILED, LiveMemory
from halide_core.runtime.codegen.memory.scalar_replacement import Registers, place_of
from halide_core.runtime.codegen.memory.sizes import bytes_of, factors_of, find_arrays, find_size_lets, sizes_of
from halide_core.runtime.codegen.messages import SCOPE, conversion_of
from halide_core.runtime.codegen.names import Names, scalar, stored, string, symbol
from halide_core.runtime.codegen.parts import checks_first, end_of, first_loop, looks_up, part_head
from halide_core.runtime.codegen.profile import NAMES as PROFILE_NAMES
from halide_core.runtime.codegen.profile import OVERHEAD, Instrumentation, Marks
from halide_core.runtime.codegen.prologue import Prologue, banner, parameters
from halide_core.runtime.codegen.remember import NAMES as REMEMBER_NAMES
from halide_core.runtime.codegen.remember import RECALLED, keeping, recalling, with_sites
from halide_core.runtime.codegen.stores import StoreEmitter, runs, stores_of
from halide_core.runtime.codegen.text import ATOM, UNARY, Text
from halide_core.runtime.codegen.uses import Use, as_use, find_index_lets, makes_floats, uses_of
from halide_core.runtime.codegen.vector.gathers.anywhere import PADDING, find_tables
from halide_core.runtime.codegen.vector.gcc_masked_loads import one_by_one, stays_one_by_one
from halide_core.runtime.codegen.vector.gcc_truths import find_lookups
from halide_core.runtime.codegen.vector.prelude import Prelude

_ALIGNMENT = 64
_SEMAPHORE = "struct halide_core_semaphore *"
_OUTER = 2
"""The number of loops of a function, from the outermost on, that are outer ones."""
_SPARSE = 8
"""A C compiler takes so many times less for a character of the pipeline's own function, which it doesn't optimize."""
_HIDDEN = '__attribute__((visibility("hidden")))'


def emit_c(lowered: Lowered, *, function: str = "", profile: bool = False, registered: str = "") -> str:
    """The pipeline's C source, with a function of that name, else of the pipeline's own; with ``profile`` it measures
    itself (``runtime.codegen.profile``), ``registered`` under a name where a program's runtime is to know of it.

    Raises:
        InternalError: the body holds something that lowering should have removed.
    """
    measured = Instrumentation(lowered.owners, registered) if profile else None
    return _TranslationUnit(lowered, measured, function).texts(1)[0]


def emit_units(lowered: Lowered, most: int, *, profile: bool = False) -> list[str]:
    """The same functions as up to so many units, to be compiled side by side: one where there is little, or where they
    share variables. The pipeline's own function, which runs once a call, is in the first, and is compiled as fast as
    can be. Raises: InternalError."""
    return _TranslationUnit(lowered, Instrumentation(lowered.owners) if profile else None).texts(most, fast=not profile)


class _Task(NamedTuple):
    """A function that runs what is in a loop, or a side of a fork: what stands before its body, and its body."""

    head: str
    body: str

    def defined(self, storage: str = "") -> str:
        """The whole function."""
        return f"{storage}{self.head} {{\n{self.body}}}\n\n"


class _TranslationUnit:
    """One translation unit: what its functions share, and where names come from (``runtime.codegen.expr.Leaves``)."""

    def __init__(self, lowered: Lowered, profile: Instrumentation | None, function: str = "") -> None:
        self.lowered, self.profile = lowered, profile
        self.names = Names()
        self.prelude = Prelude(floats_again=makes_floats(lowered.body))
        self.function = self.names.reserve(function or symbol(lowered.name))
        for name in (*_Function.OWN_NAMES, *REMEMBER_NAMES, *(() if profile is None else PROFILE_NAMES)):
            self.names.reserve(name)
        self.prologue = Prologue(lowered, self.names)
        self.exprs = ExprEmitter(self, self.names, self.prelude, lookups=find_lookups(lowered.body))
        self.index_lets, self.arrays = find_index_lets(lowered.body), find_arrays(lowered.body)
        self.local, self.tables = Registers(lowered.body), find_tables(lowered.body)
        self.size_lets = find_size_lets(lowered.body)
        self.loads = loads_of(lowered.body)
        self.stores = StoreEmitter(self, self.exprs, self.prelude, self.names, self.index_lets, self.local)
        self.variables: dict[str, tuple[str, Text]] = {}
        """The C type and the text of each loop and let variable in scope."""
        self.buffers: dict[str, str] = {}
        """The C type of the pointer to each allocated buffer's elements."""
        self.tasks: list[_Task | str] = []
        """The functions beside the pipeline's own, and the types of their closures, each before what uses it."""
        self._sites: dict[ir.Callee, int] = {}
        self.meeting = 0
        """The number of parallel loops around whose iterations may update one element."""

    def texts(self, most: int, *, fast: bool = False) -> list[str]:
        """The whole unit, or up to so many that it is cut into; ``fast``: the pipeline's own function, which computes
        nothing by itself, is not optimized."""
        queried = any(isinstance(s, ir.AnswerQuery) for s in walk(self.lowered.body))
        body = _Function(self, OVERHEAD)
        body.scope(self.lowered.body)
        body.finish(whole=True)
        checks = self.prologue.lines(queried)
        once = resource("once.h") + "ONCE " if fast else ""
        head = f"{once}int {self.function}({parameters(self.lowered.arguments, self.names)}) {{\n"
        checks += [SCOPE] if self.exprs.traced else []
        main = "".join([head, *(f"    {line}\n" for line in checks), body.text(), "}\n"])
        before, about = self._before(), banner(self.lowered.name, self.lowered.arguments)
        functions = [t for t in self.tasks if isinstance(t, _Task)]
        shares = cut([len(main) // _SPARSE, *(len(t.body) for t in functions)], 1 if self._keeps_state else most)
        own = about + before
        if len(shares) == 1:
            whole = [own, *(t if isinstance(t, str) else t.defined("static ") for t in self.tasks), main]
            return with_sites(["".join(whole)])
        declared = "".join(t if isinstance(t, str) else f"{t.head} {_HIDDEN};\n\n" for t in self.tasks)
        defined = [main, *(t.defined() for t in functions)]
        heads = [own, *([before] * (len(shares) - 1))]
        units = ["".join([h, declared, *(defined[i] for i in s)]) for h, s in zip(heads, shares, strict=True)]
        return with_sites(units)

    @property
    def _keeps_state(self) -> bool:
        """True where functions share variables, which there must be one of."""
        return self.profile is not None or self.stores.locks

    def _before(self) -> str:
        """The text before the functions: includes, and what they call."""
        prelude = self.prelude.text()
        parts = ['#include <stdbool.h>\n#include <stdint.h>\n#include "halide_runtime.h"\n\n', resource("contract.h")]
        if prelude:
            parts.append("#define INLINE static inline __attribute__((always_inline, unused))\n")
        if any("UNMERGED" in t.head for t in self.tasks if isinstance(t, _Task)):
            parts.append(resource("unmerged.h"))
        if "vector_size" in prelude:
            parts.append('#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed but to inline functions */\n')
            parts.append(resource("schedule.h"))
        parts.append("" if self.profile is None else self.profile.text())
        parts.append(resource("locks.h") if self.stores.locks else "")
        return "".join([*parts, prelude, "\n" if prelude else ""])

    # ---- leaves of expressions -----------------------------------------------------------------------------------

    def variable(self, var: ir.Variable) -> Text:
        """A loop or let variable."""
        known = self.variables.get(var.name)
        if known is None:
            raise InternalError(f'Variable "{var.name}" is used outside its scope.')
        return known[1]

    def bind(self, var: ir.Variable, c_type: str, value: Text | None = None) -> str:
        """Declares a variable; the answer is its identifier."""
        name = self.names.of("variable", var.name)
        text = Text(name, ATOM) if value is None else Text(name, ATOM, 0, value.mask, value.data)
        self.variables[var.name] = (c_type, text)
        return name

    def parameter(self, param: ir.Scalar) -> str:
        """A scalar argument."""
        return self.prologue.parameter(param)

    def field(self, field: ir.BufferField) -> str:
        """A dimension of an argument buffer."""
        return self.prologue.field(field)

    def buffer(self, name: str) -> str:
        """The pointer to a buffer's elements."""
        return self.names.of("buffer", name) if name in self.buffers else self.prologue.data(name)

    def site(self, stmt: ir.Remember) -> int:
        """The number of a Func that is memoized."""
        return self._sites.setdefault(stmt.func, len(self._sites))

    def register(self, buffer: str, index: ir.ExprNode) -> str | None:
        """The local variable that an element, or lanes of them, are kept in."""
        place = place_of(index) if buffer in self.local else None
        return None if place is None else self.names.of("register", f"{buffer}.{place[0]}")

    def padded(self, buffer: str) -> bool:
        """True where a few bytes behind the last element may be read."""
        return buffer in self.tables

    def registers(self, stmt: ir.AllocateFlat) -> list[tuple[str, str]] | None:
        """The C type and name of each local variable that stands for a buffer; None where it is memory."""
        places = self.local.allocate(stmt)
        if places is None:
            return None
        lanes = [(at, stmt.type.with_lanes(n)) for at, n in places.items()]
        return [(self.prelude.type(type), self.names.of("register", f"{stmt.buffer}.{at}")) for at, type in lanes]

    def semaphore(self, name: str) -> str:
        """The pointer to a semaphore of a fork around."""
        return self.names.of("semaphore", name)

    def captures(self, body: ir.Stmt, own: set[str]) -> list[tuple[str, str]]:
        """The C type and name of everything that a task reads from outside, in the order of first use; without what is
        its ``own``."""
        found: dict[str, str] = {}
        for each in captured(body, own):
            match each:
                case ir.Variable(name=name):
                    found.setdefault(self.variable(each).text, self.variables[name][0])
                case ir.ParamRef(type=type, param=param):
                    found.setdefault(self.parameter(param), scalar(type))
                case ir.BufferField():
                    found.setdefault(self.field(each), "int64_t")
                case SemaphoreName(semaphore=name):
                    found.setdefault(self.semaphore(name), _SEMAPHORE)
                case BufferName(buffer=name):
                    found.setdefault(self.buffer(name), self.buffers.get(name) or self.prologue.pointer_type(name))
        return [(c_type, name) for name, c_type in found.items()]


class _Function:
    """Emits the statements of one C function."""

    _CLOSURE, _CAPTURED, _REGION, _HALTING = _LOCAL = ("closure", "captured", "region", "halting")
    OWN_NAMES = (*_LOCAL, FAILED)
    """Names inside the functions, which no IR name may get."""

    def __init__(self, unit: _TranslationUnit, owner: int, *, task: bool = False, part: bool = False) -> None:
        self._unit, self._task = unit, task
        self._whole = not (task or part or unit.profile is not None)
        """True where what computes is put into functions of its own."""
        self._lines: list[str] = []
        self._depth = 1
        self._loops = 0
        """Serial loops that are open."""
        self._halts = False
        """True where a loop asks if the run is to end."""
        self._memory = LiveMemory(unit.names)
        self._marks = None if unit.profile is None else Marks(unit.profile, owner)
        for line in () if self._marks is None else self._marks.start():
            self.line(line)

    def finish(self, *, whole: bool = False) -> None:
        """Ends the function: all went well."""
        for line in () if self._marks is None else self._marks.stop(whole=whole):
            self.line(line)
        self.line("return 0;")

    def text(self) -> str:
        """The emitted text."""
        halting = [f"    const volatile int *const {self._HALTING} = halide_core_halting();"] if self._halts else []
        return "".join(f"{line}\n" for line in [*halting, *self._memory.declared(), *self._lines])

    def line(self, text: str) -> None:
        """Adds one line."""
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def _braces(self, head: str) -> Iterator[None]:
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")

    def scope(self, stmt: ir.Stmt) -> None:
        """Emits what stands between two braces, and frees what it allocated."""
        self._memory.open()
        entered = None if self._marks is None else self._marks.at
        stmts = stmt.stmts if isinstance(stmt, ir.Block) else (stmt,)
        stmts = checks_first(stmts) if self._whole else stmts
        first = first_loop(stmts) if self._whole else len(stmts)
        for s in runs(stmts[:first], meeting=self._unit.meeting > 0):
            if isinstance(s, ir.Stmt):
                self._stmt(s)
            else:
                self._stores(s)
        if first < len(stmts):
            self._part(ir.Block(stmts[first:]))
        for line in self._memory.close():
            self.line(line)
        self._move(entered)

    def _part(self, stmt: ir.Block) -> None:
        """A function for what computes: gcc believes that pointers are restricted of parameters alone, and else loads
        again behind every store."""
        unit = self._unit
        name, captured = unit.names.numbered(f"{unit.function}_part_"), unit.captures(stmt, set())
        body = _Function(unit, OVERHEAD, part=True)
        body.scope(stmt)
        body.finish()
        unit.tasks.append(_Task(part_head(name, captured, stmt), body.text()))
        error = unit.names.numbered("error")
        self.line(f"const int {error} = {name}({', '.join(given for _, given in captured)});")
        self._fail(error, error)

    def _move(self, owner: int | None) -> None:
        """From here on the time belongs to a Func, where anybody asks."""
        for line in () if self._marks is None else self._marks.move(owner):
            self.line(line)

    def _fail(self, condition: str, result: str) -> None:
        """Returns ``result`` if the condition holds, after freeing everything. That it seldom does has to be said: what
        comes after a dozen returns is taken for code that hardly ever runs, and compiled for size."""
        with self._braces(f"if (__builtin_expect({condition}, 0))"):
            for line in self._memory.returning(result):
                self.line(line)

    def _values(self, *uses: Use) -> list[Text]:
        return self._unit.exprs.emit(uses, self.line)

    def _stmt(self, stmt: ir.Stmt) -> None:
        if self._unit.profile is not None:
            self._move(self._unit.profile.owner(stmt))
        match stmt:
            case ir.Block():
                with self._braces(""):
                    self.scope(stmt)
            case ir.Let():
                self._let(stmt)
            case ir.Store() | ir.Stores():
                self._unit.stores.emit(stores_of(stmt), self.line, meeting=self._unit.meeting > 0)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                (test,) = self._values((condition, False))
                with self._braces(f"if ({test.text})"):
                    self.scope(then)
                if otherwise is not None:
                    self._lines[-1] += " else {"
                    self._depth += 1
                    self.scope(otherwise)
                    self._depth -= 1
                    self.line("}")
            case ir.FirstLanes(count=count, body=body):
                (some,) = self._values((count, False))
                with self._braces(""), self._unit.exprs.masked(some, self.line):
                    self.scope(body)
            case ir.For(kind=ir.LoopKind.SERIAL | ir.LoopKind.PARALLEL as kind):
                with self._unit.exprs.loop(stmt):
                    (self._serial if kind is ir.LoopKind.SERIAL else self._parallel)(stmt)
            case ir.Fork():
                with self._braces(""):  # copies of a loop fork by the same semaphores, and may be in one block
                    self._fork(stmt)
            case ir.Acquire() | ir.Release():
                self._semaphore(stmt)
            case ir.Assert():
                self._assert(stmt)
            case ir.AllocateFlat():
                self._allocate(stmt)
            case ir.AnswerQuery():
                self._answer(stmt)
            case ir.WriteFile():
                self._write_file(stmt)
            case ir.Remember():
                self._remember(stmt)
            case ir.PrefetchLine():
                self._unit.stores.prefetch(stmt, self.line)
            case _:
                raise InternalError(f"A {_kind(stmt)} reached the C emitter:\n{stmt!r}")

    def _semaphore(self, stmt: ir.Acquire | ir.Release) -> None:
        semaphore = self._unit.semaphore(stmt.semaphore)
        if isinstance(stmt, ir.Release):
            self.line(f"halide_core_semaphore_release({semaphore});")
            return
        error = self._unit.names.numbered("error")
        self.line(f"const int {error} = halide_core_semaphore_acquire({semaphore});")
        self._fail(error, error)

    def _stores(self, points: Sequence[tuple[ir.Store, ...]]) -> None:
        """Stores one after the other; those of each Func by themselves, where its time is measured."""
        profile = self._unit.profile
        owners = [None if profile is None else profile.of_buffer(stores[0].buffer) for stores in points]
        for owner, group in groupby(zip(owners, points, strict=True), itemgetter(0)):
            if profile is not None:
                self._move(owner)
            self._unit.stores.emit_run([stores for _, stores in group], self.line)

    def _let(self, let: ir.Let) -> None:
        type, product = let.value.type, factors_of(let.value)
        if let.var.name in self._unit.size_lets and len(product) > 1:
            first, *others = self._values(*(as_use(e, True) for e in product))
            value = Text(reduce(self._unit.prelude.product, [t.text for t in others], first.text), ATOM)
        else:
            value = self._unit.exprs.settled(self._values(*uses_of(let, self._unit.index_lets))[0], type)
        c_type = self._unit.exprs.c_type(type, value.mask)
        name = self._unit.bind(let.var, c_type, value)
        self.line(f"const {c_type} {name} = {value.text};")

    # ---- loops ---------------------------------------------------------------------------------------------------

    def _serial(self, loop: ir.For) -> None:
        low, high = loop.bounds.min, end_of(loop.bounds)
        first, end = self._values(as_use(low, True), as_use(high, True))
        name = self._unit.bind(loop.var, "int64_t")
        texts = []
        for expr, text, what in ((low, first, "min"), (high, end, "end")):
            if isinstance(expr, ir.IntImm) and abs(expr.value) < 1 << 31:
                texts.append(str(expr.value))
            elif text.level == ATOM:
                texts.append(text.text)
            else:
                texts.append(self._unit.names.fresh(f"{loop.var.name}.{what}"))
                self.line(f"const int64_t {texts[-1]} = {text.text};")
        with self._braces(f"for (int64_t {name} = {texts[0]}; {name} < {texts[1]}; {name}++)"):
            self._look_up(loop)
            if stays_one_by_one(loop, self._unit.local.always) or confuses_sums(loop, self._unit.loads):
                self.line(one_by_one(self._unit.prelude))
            self._loops += 1
            self.scope(loop.body)
            self._loops -= 1

    def _look_up(self, loop: ir.For) -> None:
        """Ends the run where that is wanted. Nothing goes on after the call: registers needn't be kept for it."""
        if looks_up(loop, outer=not self._task and self._loops < _OUTER):
            self._halts = True
            self._fail(f"*{self._HALTING}", "halide_core_halt()")

    def _parallel(self, loop: ir.For) -> None:
        unit = self._unit
        first, length = self._values(*uses_of(loop, unit.index_lets))
        captured = unit.captures(loop.body, {loop.var.name})
        task = unit.names.numbered(f"{unit.function}_par_")
        unit.tasks.append(members_of(task, captured))
        unit.meeting += not loop.pure
        self._emit_task(task, task, captured, loop.body, loop.var)
        unit.meeting -= not loop.pure
        closure = self._closure(task, captured)
        self._call(f"halide_core_par_for({task}, {first.text}, {length.text}, {closure})")

    def _fork(self, fork: ir.Fork) -> None:
        unit, count = self._unit, len(fork.semaphores)
        shared = unit.names.numbered("semaphores")
        first = ", ".join(f"{{{n}, 0}}" for _, n in fork.semaphores)
        self.line(f"struct halide_core_semaphore {shared}[{count}] = {{{first}}};")
        for at, (name, _) in enumerate(fork.semaphores):
            self.line(f"{_SEMAPHORE} {unit.semaphore(name)} = &{shared}[{at}];")
        captured = unit.captures(ir.Block((fork.producer, fork.consumer)), set())
        sides = unit.names.numbered(f"{unit.function}_fork_")
        unit.tasks.append(members_of(sides, captured))
        names = [f"{sides}_{side}" for side in ("producer", "consumer")]
        for name, body in zip(names, (fork.producer, fork.consumer), strict=True):
            self._emit_task(name, sides, captured, body, None)
        self._call(f"halide_core_fork({', '.join(names)}, {self._closure(sides, captured)}, {shared}, {count})")

    def _closure(self, of: str, captured: list[tuple[str, str]]) -> str:
        """The pointer to what tasks read from outside."""
        if not captured:
            return "0"
        closure = self._unit.names.numbered("closure")
        self.line(f"struct {of} {closure} = {{{', '.join(name for _, name in captured)}}};")
        return f"&{closure}"

    def _call(self, call: str) -> None:
        """Runs tasks: what fails there fails here."""
        error = self._unit.names.numbered("error")
        self._move(OVERHEAD)
        self.line(f"const int {error} = {call};")
        self._fail(error, error)

    def _emit_task(
        self, task: str, members: str, captured: list[tuple[str, str]], stmt: ir.Stmt, var: ir.Variable | None
    ) -> None:
        unit, body = self._unit, _Function(self._unit, OVERHEAD if self._marks is None else self._marks.at, task=True)
        argument = self._CLOSURE
        index = unit.names.numbered("side") if var is None else unit.bind(var, "int64_t")
        body.scope(stmt)
        body.finish()
        part, own = unit.names.numbered(f"{unit.function}_part_"), [] if var is None else [("int64_t", index)]
        unit.tasks.append(_Task(part_head(part, [*captured, *own], stmt), body.text()))
        taken = [f"const struct {members} *const {self._CAPTURED} = {argument};" if captured else f"(void){argument};"]
        taken += [f"(void){index};"] if var is None else []
        given = [*(f"{self._CAPTURED}->{name}" for _, name in captured), *(name for _, name in own)]
        called = "".join(f"    {line}\n" for line in [*taken, f"return {part}({', '.join(given)});"])
        unit.tasks.append(_Task(f"int {task}(void *{argument}, int64_t {index})", called))

    # ---- everything that can fail --------------------------------------------------------------------------------

    def _assert(self, stmt: ir.Assert) -> None:
        shown = [m for m in stmt.message if isinstance(m, ir.ExprNode)]
        condition, *values = self._values((stmt.condition, False), *((e, False) for e in shown))
        rest = iter(values)
        text, arguments = f'Pipeline "{self._unit.lowered.name}": '.replace("%", "%%"), []
        for part in stmt.message:
            if isinstance(part, str):
                text += part.replace("%", "%%")
            else:
                conversion, argument = conversion_of(part.type, next(rest))
                text += conversion
                arguments.append(argument)
        form = [string(text)] if text else [string("%s"), string("")]  # compilers warn of empty formats
        call = ", ".join([f"halide_core_error_{stmt.failure.value}", *form, *arguments])
        self._fail(f"!{condition.at(UNARY)}", f"halide_core_error({call})")

    def _write_file(self, stmt: ir.WriteFile) -> None:
        unit, type = self._unit, stmt.func.types[0]
        values = [value.text for value in self._values(*uses_of(stmt, unit.index_lets))]
        ends = 2 * len(stmt.box)  # a minimum and a length of each dimension; then the strides
        text, number = stmt.file.told(type)
        words = [string(unit.lowered.name), string(stmt.file.path)]
        words += [f"halide_core_file_{stmt.file.format.value}", string(text)]
        shape = [str(number), unit.buffer(stmt.func.name), str(type.bytes()), str(len(stmt.box))]
        with self._braces(""):
            region = self._REGION if values else "0"
            if values:
                self.line(f"const int64_t {region}[] = {{{', '.join([*values[1:ends:2], *values[ends:]])}}};")
            error = unit.names.numbered("error")
            self.line(f"const int {error} = halide_core_write_file({', '.join([*words, *shape, region])});")
            self._fail(error, error)

    def _remember(self, stmt: ir.Remember) -> None:
        unit = self._unit
        values = [value.text for value in self._values(*uses_of(stmt, unit.index_lets))]
        parts = [(unit.buffer(stmt.func.component_name(k)), t.bytes()) for k, t in enumerate(stmt.func.types)]
        with self._braces(""):
            for line in recalling(stmt, values, parts, unit.site(stmt)):
                self.line(line)
            with self._braces(f"if (!{RECALLED})"):
                self.scope(stmt.body)
                self.line(keeping(stmt, values))

    def _allocate(self, stmt: ir.AllocateFlat) -> None:
        unit, element, size = self._unit, stored(stmt.type), stmt.type.bytes()
        kept = unit.registers(stmt)
        if kept is not None:
            for c_type, name in kept:
                self.line(f"{c_type} {name} = {{0}};")
            return
        unit.buffers[stmt.buffer] = f"{element} *restrict"
        name = unit.buffer(stmt.buffer)
        if stmt.within is not None:
            self.line(f"{element} *const {name} = {unit.buffer(stmt.within)};")
            return
        padding = PADDING if stmt.buffer in unit.tables else 0
        if stmt.limit is not None and stmt in unit.arrays:
            room = max(1, -(-(stmt.limit * size + padding) // _ALIGNMENT)) * _ALIGNMENT // size
            zeros = " = {0}" if stmt.zeroed else ""
            self.line(f"{element} {name}[{room}] __attribute__((aligned({_ALIGNMENT}))){zeros};")
            if unit.profile is not None:
                unit.profile.on_stack(stmt.buffer, room * size)
            return
        sizes = [self._values(*(as_use(e, True) for e in factors_of(each))) for each in sizes_of(stmt.size)]
        texts = [[t.text for t in factors] + [str(size)] for factors in sizes]
        names = [unit.names.fresh(f"{stmt.buffer}.bytes") for _ in texts]
        total, fits = names[0], unit.names.fresh(f"{stmt.buffer}.fits")
        for line in bytes_of(names, fits, texts, padding):
            self.line(line)
        self.line(f"{element} *restrict {name} = {fits} ? halide_core_malloc({total}) : 0;")
        what = f'Pipeline "{unit.lowered.name}": there is no memory for buffer "{stmt.buffer}".'
        call = f"halide_core_error(halide_core_error_out_of_memory, {string(what.replace('%', '%%'))})"
        self._fail(f"!{name}", call)
        if stmt.zeroed:
            self.line(f"__builtin_memset({name}, 0, {total});")
        then = ""
        if unit.profile is not None:
            counted = f"{unit.profile.of_buffer(stmt.buffer)}, {total}"
            self.line(f"halide_core_profile_allocated({counted});")
            then = f" halide_core_profile_freed({counted});"
        self._memory.add(name, then)

    def _answer(self, stmt: ir.AnswerQuery) -> None:
        prologue = self._unit.prologue
        null = [f"!{name}->host" for name in prologue.buffer_names()]
        if null:
            with self._braces(f"if ({' || '.join(null)})"):
                for callee, box in stmt.regions:
                    for argument in prologue.arguments_of(callee):
                        self._answer_one(argument, box)
                self.line("return 0;")
        for line in prologue.memory_checks():
            self.line(line)

    def _answer_one(self, argument: Argument, box: tuple[ir.Interval, ...]) -> None:
        prologue = self._unit.prologue
        name, what = prologue.name(argument), prologue.described(argument)
        if len(box) != argument.dimensions:
            raise InternalError(f'The query\'s region of "{argument.name}" has {len(box)} dimensions.')
        with self._braces(f"if (!{name}->host)"):
            region = self._REGION
            values = self._values(*((e, False) for i in box for e in (i.min, i.len)))
            if values:
                self.line(f"const int64_t {region}[] = {{{', '.join(v.text for v in values)}}};")
            self.line(prologue.check(f"answer_query({name}, {what}, {region if values else '0'})"))


def _kind(stmt: ir.Stmt) -> str:
    return f"{stmt.kind.value} loop" if isinstance(stmt, ir.For) else type(stmt).__name__
