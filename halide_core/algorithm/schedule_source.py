"""A schedule as the source of a Python function that gives it again.

In: the directives of some Funcs, in the order in which they were given. Out: source; its arguments are the Funcs, then
the Params and ImageParams that directives mention.

    f.split(x, xo, xi, k); f.vectorize(xi)   ->   def schedule(f, k):
                                                      x, xi, xo = (hl.Var(n) for n in ("x", "xi", "xo"))
                                                      f.split(x, xo, xi, k)
                                                      f.vectorize(xi)

What was recorded as several directives (``vectorize(x, 8)``) is one call again where it was one. Loops go by Vars here,
reduction loops too: a directive knows a loop by its name alone.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from enum import Enum

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.errors import ScheduleError
from halide_core.ir import BinaryOp, Callee, ExprNode, IntImm
from halide_core.ir.names import OUTERMOST
from halide_core.ir.printer import format_expr
from halide_core.ir.types import INT32, INT64, Type
from halide_core.ir.visitor import subexpressions
from halide_core.schedule.directives import (
    Directive,
    Reorder,
    Specialize,
    Spelling,
    Split,
    StageDirective,
    TailStrategy,
    Traverse,
)
from halide_core.schedule.func_directives import CloneIn, InInput

_OPERATORS = {BinaryOp.AND: "&", BinaryOp.OR: "|", BinaryOp.DIV: "//"}

Given = Sequence[tuple[Function, Sequence[Directive]]]
"""Funcs, producers first, each with its directives."""


def schedule_source(given: Given, name: str = "schedule") -> str:
    """The source of a function of a name.

    Raises: ScheduleError for a directive that can't be written.
    """
    return _SourceWriter(given).function(name)


class _Names:
    """Identifiers: of things, each its own."""

    def __init__(self) -> None:
        self._taken: set[str] = {"hl"}
        self._of: dict[object, str] = {}

    def of(self, thing: object, wanted: str) -> str:
        """The identifier of a thing, as near to a name as Python allows."""
        known = self._of.get(thing)
        if known is None:
            stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in wanted)
            if not stem.isidentifier() or keyword.iskeyword(stem):
                stem = f"{stem}_" if keyword.iskeyword(stem) else f"_{stem}"
            known, count = stem, 1
            while known in self._taken:
                count += 1
                known = f"{stem}_{count}"
            self._taken.add(known)
            self._of[thing] = known
        return known


class _SourceWriter(Spelling):
    """The lines of one function; what its calls mention goes by identifiers."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._names = _Names()
        self._loops: dict[str, str] = {}
        directives = [d for _, each in given for d in each]
        self._makers = {made: d.func for d in directives for made in d.funcs()}
        named = {f: None for f, each in given if each} | {f: None for d in directives for f in _others(d)}
        order = [f for f, _ in given if f in named]
        order += [f for f in named if f not in order and isinstance(f, Function)]
        self._args = [self._names.of(f, f.name) for f in order if f not in self._makers]
        mentioned = dict.fromkeys(each for d in directives for each in _leaves(d))
        self._args += [self._names.of(each, each.name) for each in mentioned if isinstance(each, Image | ScalarParam)]

    def function(self, name: str) -> str:
        """All of it."""
        body = [line for f, directives in self._ordered() for line in self._calls(f, directives[self._copied(f) :])]
        lines = [f"def {name}({', '.join(self._args)}):"]
        if len(self._loops) == 1:
            lines += [f"    {short} = hl.Var({loop!r})" for loop, short in self._loops.items()]
        elif self._loops:
            short, loops = ", ".join(self._loops.values()), ", ".join(map(repr, self._loops))
            lines.append(f"    {short} = (hl.Var(n) for n in ({loops}))")
        return "\n".join([*lines, *(f"    {line}" for line in body or ["pass"])]) + "\n"

    def _copied(self, f: Function) -> int:
        """The number of directives that a Func starts with: a clone with those that the other one had."""
        for _, directives in self._given:
            for at, d in enumerate(directives):
                if isinstance(d, CloneIn) and d.instead is f:
                    return sum(not before.funcs() for before in directives[:at])
        return 0

    def _ordered(self) -> Given:
        """The Funcs so that one which a directive makes comes after that directive wherever it is named."""
        about = dict(self._given)
        found: dict[Function, None] = {}
        started: set[Function] = set()

        def visit(f: Function) -> None:
            if f in started:
                return
            started.add(f)
            for needed in (f, *(other for d in about[f] for other in _others(d))):
                maker = self._makers.get(needed)
                if isinstance(maker, Function) and maker in about:
                    visit(maker)
            found[f] = None

        for f in about:
            visit(f)
        return [(f, about[f]) for f in found]

    # -- calls

    def _calls(self, f: Function, directives: Sequence[Directive]) -> Iterator[str]:
        at = 0
        while at < len(directives):
            group = _together(directives, at)
            d = directives[at]
            made = d.funcs()
            if isinstance(d, Specialize):
                label = self._names.of((f, d.stage, d.number), f"{f.name}_{d.stage}_{d.number}")
                yield f"{label} = {self._subject(d)}.{d.call(self)}"
            elif made:
                yield f"{self._names.of(made[0], made[0].name)} = {self._subject(d)}.{d.call(self)}"
            else:
                yield f"{self._subject(d)}.{self._several(group) if len(group) > 1 else d.call(self)}"
            at += len(group)

    def _subject(self, d: Directive) -> str:
        func = d.image if isinstance(d, InInput) else d.func
        if not isinstance(d, StageDirective):
            return self._names.of(func, func.name)
        if d.branch.number:
            return self._names.of((func, d.stage, d.branch.number), func.name)
        update = f".update({d.stage - 1})" if d.stage else ""
        return self._names.of(func, func.name) + update

    def _several(self, group: Sequence[Directive]) -> str:
        """A call that was recorded as several directives."""
        splits = [d for d in group if isinstance(d, Split)]
        tail = _tail(splits[0].tail)
        last = group[-1]
        if isinstance(last, Traverse):
            return f"{last.called()}({self.loop(splits[0].old)}, {self.expr(splits[0].factor)}{tail})"
        parts = [[self.loop(name) for name in names] for names in zip(*(d.variables() for d in splits), strict=True)]
        lists = [*parts, [self.expr(d.factor) for d in splits]]
        listed = ", ".join(f"[{', '.join(each)}]" for each in lists)
        return f"tile({listed}{tail})"

    def func(self, f: Callee) -> str:
        """The argument that is a Func or an input."""
        return self._names.of(f, f.name)

    def choice(self, e: Enum) -> str:
        """A member of an enumeration of the language's module."""
        return f"hl.{super().choice(e)}"

    def loop(self, name: str) -> str:
        """The Var of a loop."""
        if name == OUTERMOST:
            return "hl.Var.outermost()"
        short = self._names.of(("loop", name), name)
        self._loops[name] = short
        return short

    def expr(self, e: ExprNode) -> str:
        """An expression in the language."""
        match e:
            case IntImm():
                plain = e.type in (INT32, INT64) or e.type.is_bool()
                return f"{bool(e.value) if e.type.is_bool() else e.value}" if plain else _cast(e.type, str(e.value))
            case ir.FloatImm():
                return _cast(e.type, repr(e.value))
            case ir.ParamRef(param=param) if isinstance(param, ScalarParam):
                return self._names.of(param, param.name)
            case ir.BufferField():
                output = ".output_buffer()" if isinstance(e.buffer, Function) else ""
                return f"{self._names.of(e.buffer, e.buffer.name)}{output}.dim({e.dim}).{e.field.value}()"
            case ir.Binary(op=BinaryOp.MIN | BinaryOp.MAX):
                return f"hl.{e.op.value}({self.expr(e.a)}, {self.expr(e.b)})"
            case ir.Binary():
                operator = "/" if e.op is BinaryOp.DIV and e.type.is_float() else _OPERATORS.get(e.op, e.op.value)
                return f"({self.expr(e.a)} {operator} {self.expr(e.b)})"
            case ir.Not():
                return f"~{self.expr(e.a)}"
            case ir.Select():
                return f"hl.select({', '.join(map(self.expr, (e.condition, e.a, e.b)))})"
            case ir.Cast(a=ir.BufferField() as shape) if e.type is INT32:
                return self.expr(shape)  # as users have it
            case ir.Cast():
                return _cast(e.type, self.expr(e.a))
        raise ScheduleError(f"A schedule with {format_expr(e)} can't be written as source.")


def _leaves(d: Directive) -> list[object]:
    """The leaves that a directive mentions, besides Funcs."""
    return [*d.callees(), *(_leaf(e) for e in subexpressions(d.exprs()))]


def _leaf(e: ExprNode) -> object:
    return e.param if isinstance(e, ir.ParamRef) else e.buffer if isinstance(e, ir.BufferField) else None


def _others(d: Directive) -> tuple[Callee, ...]:
    """The other Funcs that a directive names."""
    made = d.funcs()
    return tuple([each for each in d.callees() if each is not d.func and each not in made])


def _together(directives: Sequence[Directive], at: int) -> Sequence[Directive]:
    """The directives from one on that a single call recorded."""
    first, end = directives[at], at + 1
    if not first.written or not isinstance(first, Split):
        return directives[at:end]
    while end < len(directives) and directives[end].written == first.written:
        end += 1
        if isinstance(directives[end - 1], Traverse | Reorder):
            break  # the last of one call; another of the same text may follow
    return directives[at:end]


def _tail(tail: TailStrategy) -> str:
    return "" if tail is TailStrategy.Auto else f", hl.TailStrategy.{tail.name}"


def _cast(type: Type, value: str) -> str:
    kind = "Float" if type.is_float() else "Int" if type.is_int() else "UInt"
    return f"hl.cast(hl.{'Bool()' if type.is_bool() else f'{kind}({type.bits()})'}, {value})"
