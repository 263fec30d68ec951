"""Extern stages: Funcs whose values a C function computes.

In: the name of a C function, and what it is passed. Out: a Func without a definition in the language::

    e.define_extern("box3", [g, 7], Int(32), 1)   ->   int box3(halide_buffer_t *g, int32_t k, halide_buffer_t *e)

The function is called with Halide's protocol: a Func of several values, passed or computed, is as many buffers. Before
it computes it is asked for bounds. The output has no memory then (``host`` is NULL), nor have the Funcs that it is
passed, computed or not, and inputs that are not there yet: it writes into ``dim`` of each of these what it needs for
the output's region, which it may widen, and computes nothing. Of an input that is there it may say what it needs in the
same way; one that has less ends the run. Else it fills the output. It returns 0, or ends the run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Definition, ExternCall, Function, Requirement
from halide_core.errors import DefinitionError, user_location
from halide_core.func.scheduling.func_schedule import FuncSchedule
from halide_core.ir.types import INT32, Type
from halide_core.ir.visitor import subexpressions
from halide_core.lang.buffer import Buffer
from halide_core.lang.coordinates import startup_value
from halide_core.lang.definition import Required, freeze
from halide_core.lang.expr import Expr, ExprLike, Operand, Var, as_node
from halide_core.lang.input_buffer import InputImage
from halide_core.lang.placeholders import met_and_untagged

Passed: TypeAlias = "FuncSchedule | Buffer | InputImage | ExprLike"


class ExternFuncArgument:
    """An argument of an extern stage: a Func, an ImageParam, a Buffer, or a value that is known at start-up.

    Raises:
        DefinitionError: anything else; a value that depends on a point; a Func that is not defined.
    """

    def __init__(self, of: Passed | ExternFuncArgument | None = None) -> None:
        self._given: Passed | None = of._given if isinstance(of, ExternFuncArgument) else of
        self._passed: ir.Callee | ir.ExprNode | None = None
        self.requirements: tuple[Requirement, ...] = ()
        self._written: ir.ExprNode | None = None
        given = self._given
        if isinstance(given, FuncSchedule):
            self._passed = given._stage()[0]
        elif isinstance(given, Buffer | InputImage):
            self._passed = given.source
        elif given is not None:
            self._take(given)

    def _take(self, given: ExprLike) -> None:
        """Takes a value: what it demands of runs, and its tags for memo keys, are the stage's."""
        if isinstance(given, Operand):
            self._written = as_node(given)
            (node,), self.requirements, _ = met_and_untagged((self._written,))
            given = Expr.of(node)
        self._passed = startup_value(given, "An argument of an extern stage")

    def defined(self) -> bool:
        """True where there is anything: ``ExternFuncArgument()`` is not defined."""
        return self._given is not None

    def is_func(self) -> bool:
        """True where this is a Func."""
        return isinstance(self._given, FuncSchedule)

    def is_expr(self) -> bool:
        """True where this is a value."""
        return isinstance(self._passed, ir.ExprNode)

    def is_buffer(self) -> bool:
        """True where this is a Buffer."""
        return isinstance(self._given, Buffer)

    def is_image_param(self) -> bool:
        """True where this is an ImageParam."""
        return isinstance(self._given, InputImage)

    @property
    def written(self) -> tuple[ir.ExprNode, ...]:
        """The value as it was written, with its tags; nothing for anything else."""
        return () if self._written is None else (self._written,)

    @property
    def passed(self) -> ir.Callee | ir.ExprNode:
        """The argument as the compiler sees it."""
        if self._passed is None:
            raise DefinitionError("An undefined ExternFuncArgument is used: ask defined() first.")
        return self._passed


def define_extern(
    function: Function,
    name: str,
    params: Sequence[Passed | ExternFuncArgument],
    types: Type | Sequence[Type],
    arguments: int | Sequence[Var],
    required: Required | None = None,
) -> None:
    """Makes a Func an extern stage.

    Raises:
        DefinitionError: it is defined already; no C function's name; no type or dimensions, or others than promised;
            what can't be passed.
        TypeMismatchError: other types than promised.
    """
    if function.definitions:
        raise DefinitionError(f'Func "{function.name}" is defined already: it can\'t be an extern stage.')
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise DefinitionError(f"{name!r} can't be the name of a C function.")
    several = tuple(types) if isinstance(types, list | tuple) else (types,)
    if not several or not all(isinstance(t, Type) and not t.is_handle() and t.is_scalar() for t in several):
        raise DefinitionError(f"An extern stage needs a scalar number type such as hl.UInt(8), not {types!r}.")
    names = _names(arguments)
    if required is not None:
        required.check(function.name, several, len(names))
    arguments_given = [ExternFuncArgument(p) for p in params]
    passed = tuple([a.passed for a in arguments_given])
    for each in passed:
        if isinstance(each, Function) and not each.definitions:
            raise DefinitionError(f'Func "{each.name}" is passed to "{name}" before it is defined.')
        if isinstance(each, ir.ExprNode) and any(isinstance(e, ir.BufferField) for e in subexpressions((each,))):
            raise DefinitionError(f'The shape of a buffer can\'t be passed to "{name}": it gets the buffer itself.')
        if isinstance(each, Function):
            freeze(each)
    here = user_location()
    function.args, function.types, function.location = names, several, here
    function.extern = ExternCall(name, passed)
    # A value that nothing computes: it mentions what is passed, so that whoever looks for inputs finds them.
    mentioned = [each if isinstance(each, ir.ExprNode) else _somewhere(each) for each in passed]
    value = ir.Print(several[0], ir.const(0, several[0]), ir.FALSE, (name, *mentioned))
    args = tuple(ir.pure_variable(n) for n in function.args)
    others = tuple([ir.const(0, t) for t in several[1:]])
    requirements = tuple(dict.fromkeys(r for a in arguments_given for r in a.requirements))
    _, _, tags = met_and_untagged([e for a in arguments_given for e in a.written])  # an argument may lack another's tag
    function.definitions.append(Definition(args, (value, *others), None, ir.TRUE, here, requirements, (), tags))


def _names(arguments: int | Sequence[Var]) -> tuple[str, ...]:
    if isinstance(arguments, int) and not isinstance(arguments, bool) and arguments >= 0:
        return tuple(f"_{i}" for i in range(arguments))
    if isinstance(arguments, int) or not all(isinstance(v, Var) for v in arguments):
        raise DefinitionError(f"An extern stage needs a number of dimensions, or Vars for them, not {arguments!r}.")
    names = tuple(v.name() for v in arguments)
    if len(set(names)) < len(names):
        raise DefinitionError(f"The Vars of an extern stage must be different: {', '.join(names)}.")
    return names


def _somewhere(callee: ir.Callee) -> ir.ExprNode:
    return ir.Access(callee.types[0], callee, (ir.const(0, INT32),) * callee.dimensions, 0, ir.LAST_STAGE)
