"""Funcs: values at every point of an integer lattice, by a definition and updates (figure 2.5).

In: ``f[x, y] = e`` and ``f[r.x, y] += e``. Out: a Function with one Definition for each stage.

    f = Func("f");  f[x] = x*x;  f[3] = 0   ->   fun f(x) = { x*x; (3) <- 0 }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from halide_core.algorithm.model import Definition, Function, Image
from halide_core.checks import integer, shown
from halide_core.errors import DefinitionError, NotAvailableError, NotIterableError, ScheduleError
from halide_core.func.extern import ExternFuncArgument, Passed, define_extern
from halide_core.func.scheduling.func_schedule import FuncSchedule
from halide_core.func.scheduling.stage import StageSchedule
from halide_core.func.scheduling.stage_arguments import VarOrRVar
from halide_core.ir.types import Type
from halide_core.lang.arguments.implicit import _, expanded, expanded_for_value
from halide_core.lang.arguments.keywords import one_of
from halide_core.lang.buffer import Buffer
from halide_core.lang.coordinates import Coordinates, as_tuple, check_arity, coordinates
from halide_core.lang.definition import Accumulation, Required, define
from halide_core.lang.expr import Expr, ExprLike, Operand, Var
from halide_core.lang.func_ref import FuncRef
from halide_core.lang.input_buffer import InputImage
from halide_core.lang.mathematics import definitions, latex_definitions
from halide_core.lang.output_buffer import OutputImageParam
from halide_core.lang.rdom import RVar
from halide_core.lang.tuple import Tuple, TupleLike
from halide_core.own_name import package_name
from halide_core.run.output_files import NameMangling
from halide_core.run.pipeline import Realizable
from halide_core.run.target_names import DeviceAPI
from halide_core.schedule.directives import GENERAL, Branch
from halide_core.schedule.specialization import present_branch
from halide_core.unsupported import FUNC

_T = TypeVar("_T")
_UPDATES = "Update definitions have numbers, from 0 on"


class Schedulable(StageSchedule):
    """The directives about a stage that make a Func or another Stage."""

    def rfactor(
        self, r: VarOrRVar | Sequence[tuple[VarOrRVar, Var]] | None = None, v: Var | None = None,
        *, preserved: Sequence[tuple[VarOrRVar, Var]] | None = None,
    ) -> Func:
        """Factors an associative reduction: a new Func reduces over all loops but some, for each value of these, and
        this stage merges its values. The new Func's loops over these are pure: they can be vectors and threads.

        ``split``, ``fuse``, ``rename`` and ``reorder`` of reduction loops that were given before are part of it;
        directives given after are about the merge. The law that the operator must obey is known of sums, products,
        min, max, and, or and xor of integers; of other operators (an argmin, a complex product) z3 must prove it when
        compiling. Of floats none obeys it to the last bit: a certificate calls that assumed, and the target feature
        ``strict_float`` forbids it.

        Args:
            r: a reduction loop, or a list of pairs of a loop and a Var, whose name is ``preserved``, too. With none in
                it the whole reduction is the new Func's, and this stage takes in its one result.
            v: the Var that stands for ``r`` in the new Func, after the Func's own.

        Returns: the new Func, for schedules of its own.

        Rewrite: ``f[x] += g[r.x, r.y]`` with r.y as u → ``p[x, u] = 0;  p[x, u] += g[r.x, u];  f[x] += p[x, r.y]``

        Legal when: the operator is associative and has a neutral element; it is commutative too, unless the loops are
        the outermost reduction loops; and one reduction loop is left.

        Raises:
            ScheduleError: with the reason, and what would be legal.
        """
        return Func._of(self._factored(r, v, preserved))

    def specialize(self, condition: ExprLike) -> Stage:
        """Makes a copy of the stage's loops for the runs in which a condition holds.

        The copy starts with the directives given so far; it gets those given to the Stage that is returned, and this
        stage gets those given to it from here on. Of several conditions the first that holds decides. What the
        condition says is used in the copy, so that its bounds and its code are simpler.

        Args:
            condition: made of numbers, Params, and the shapes of inputs. The same one again gives the same copy.

        Rewrite: ``label f.s0: s`` → ``label f.s0: if c: s[1] else: s``

        Raises:
            ScheduleError: a condition that is not known at start-up; any after specialize_fail().
        """
        return Stage.of(*self._specialized(condition))


class Stage(Schedulable):
    """One stage of a Func, as a handle for scheduling; ``Stage(f)`` is its first."""

    def __init__(self, of: StageSchedule) -> None:
        if not isinstance(of, StageSchedule):
            raise ScheduleError(f"A Stage is made of a Func, not of {shown(of)}.")
        self._function, self._number = of._stage()
        self._specialization = of._branch()

    @classmethod
    def of(cls, function: Function, stage: int, branch: Branch = GENERAL) -> Stage:
        """The stage of a number, or one of its specializations."""
        self = cls.__new__(cls)
        self._function, self._number, self._specialization = function, stage, branch
        return self

    def _branch(self) -> Branch:
        return present_branch(self._function.directives, self._number, self._specialization)

    def _stage(self) -> tuple[Function, int]:
        return self._function, self._number

    def name(self) -> str:
        """``f``, or ``f.update(0)``."""
        return self._function.name + (f".update({self._number - 1})" if self._number else "")

    def __repr__(self) -> str:
        return f"<{package_name()}.Stage {self.name()!r}>"


class Func(FuncSchedule, Schedulable, Realizable):
    """A Func. ``Func()``, ``Func(name)``, ``Func(type, dimensions, name)`` to promise its type and dimensions, which
    are ``required_type``, or several ``required_types``, and ``required_dimensions``, too; ``Func(source)`` of a Buffer
    or an ImageParam for its values, ``Func(expr)`` for a value, whose implicit variables are the dimensions."""

    _pending = FUNC

    def __init__(
        self,
        source: str | Type | Sequence[Type] | Expr | Tuple | Buffer | InputImage | None = None,
        required_dimensions: int | None = None,
        name: str | None = None,
        *,
        required_type: Type | None = None,
        required_types: Sequence[Type] | None = None,
    ) -> None:
        source = one_of(
            "Func", DefinitionError, source=source, required_type=required_type, required_types=required_types
        )
        label = source if isinstance(source, str) else name
        self._function = Function(label or "f")
        self._required: Required | None = None
        if source is None or isinstance(source, str):
            return
        if isinstance(source, Tuple):
            self[_] = source
        elif isinstance(source, Type | list | tuple):
            types = (source,) if isinstance(source, Type) else tuple(source)
            if not types or not all(isinstance(t, Type) for t in types):
                raise DefinitionError(f"Func(types, dimensions, name) needs Types, not {source!r}.")
            if required_dimensions is None:
                raise DefinitionError("Func(type, dimensions, name) needs the number of dimensions.")
            self._required = Required(types, required_dimensions)
        elif isinstance(source, Buffer | InputImage):
            args = [Var(f"_{i}") for i in range(source.dimensions())]
            self[tuple(args)] = source.at(*args)
            image = source.source
            if isinstance(source, InputImage) and isinstance(image, Image):
                self._function.stands_for = image
        elif isinstance(source, Operand):
            self[_] = source
        else:
            raise DefinitionError(f"A Func can't be made from {shown(source)}.")

    @classmethod
    def _of(cls, function: Function) -> Func:
        """The Func of a Function that a directive made."""
        self = cls(function.name)
        self._function = function
        return self

    # Definitions.

    def __getitem__(self, index: Coordinates) -> FuncRef:
        args = as_tuple(index)
        what = f'Func "{self._function.name}"'
        if self._function.definitions:
            args = expanded(what, args, self._function.dimensions)
            check_arity(what, self._function.dimensions, len(args))
        return FuncRef(self._function, coordinates(what, args))

    def __setitem__(self, index: Coordinates, value: object) -> None:
        what, at = f'Func "{self._function.name}"', as_tuple(index)
        defined = bool(self._function.definitions)
        given = tuple(map(Expr.of, value.values)) if isinstance(value, Accumulation) else value
        full = expanded(what, at, self._function.dimensions) if defined else expanded_for_value(what, at, given)
        args = coordinates(what, full)
        if isinstance(value, Accumulation) and value.args == coordinates(what, at):
            value = replace(value, args=args)  # of ``_``, for which both stand
        define(self._function, args, value, self._required)

    def __call__(self, *args: object) -> NoReturn:
        name = self._function.name
        raise DefinitionError(f'Func "{name}" is no Python function: write {name}[x, y] for its value at a point.')

    def __iter__(self) -> NoReturn:
        raise NotIterableError(
            f'Func "{self._function.name}" has infinitely many points: it can\'t be iterated over. '
            f"Realize it first: np.asarray({self._function.name}.realize([width, height]))."
        )

    def define_extern(
        self,
        function_name: str,
        params: Sequence[Passed | ExternFuncArgument],
        types: Type | Sequence[Type] | None = None,
        arguments: int | Sequence[Var] | None = None,
        mangling: NameMangling = NameMangling.Default,
        device_api: DeviceAPI = DeviceAPI.Host,
        *,
        type: Type | None = None,
        dimensionality: int | None = None,
    ) -> None:
        """Makes this an extern stage: a C function computes it, before all that reads it, or where ``compute_at`` says.

        The function must be in the process, for example by ``ctypes.CDLL(path, ctypes.RTLD_GLOBAL)``, and is called
        with the parameters in order and then the output: Funcs, ImageParams and Buffers as ``halide_buffer_t *``,
        values by their C types. See ``halide_core.func.extern`` for how it is asked for bounds.

        Args:
            function_name: a C function that returns an int, 0 where all is well.
            params: Funcs, ImageParams, Buffers, and values that are known at start-up.
            types: of the values, by component; of one, which ``type`` is, too.
            arguments: the number of dimensions, which ``dimensionality`` is, too; or Vars for them.

        Raises:
            DefinitionError: the Func is defined already, or something can't be passed.
            DefinitionError, TypeMismatchError: ``Func(type, dimensions)`` promised others.
            NotAvailableError: C++ names, memory of devices.
        """
        if mangling is NameMangling.CPlusPlus or device_api not in (DeviceAPI.Host, DeviceAPI.None_):
            raise NotAvailableError("An extern stage is a function of C on the host; others are not available yet.")
        values = one_of("define_extern", DefinitionError, types=types, type=type)
        args = one_of("define_extern", DefinitionError, arguments=arguments, dimensionality=dimensionality)
        if values is None or args is None:
            raise DefinitionError("define_extern() needs a type, and the number of dimensions or Vars for them.")
        define_extern(self._function, function_name, params, values, args, self._required)

    # What it is.

    @property
    def function(self) -> Function:
        """The Func as the compiler sees it."""
        return self._function

    def _stage(self) -> tuple[Function, int]:
        return self._function, 0

    def _functions(self) -> tuple[Function, ...]:
        return (self._function,)

    def _definition(self, stage: int) -> Definition:
        if not self._function.definitions:
            name = self._function.name
            raise DefinitionError(f'Func "{name}" is not defined: there is nothing to ask for, as it is undefined.')
        if not 0 <= stage < len(self._function.definitions):
            raise DefinitionError(
                f'Func "{self._function.name}" has {self.num_update_definitions()} update definitions: '
                f"there is no update({shown(stage - 1)})."
            )
        return self._function.definitions[stage]

    def _update(self, idx: int) -> Definition:
        return self._definition(integer(idx, _UPDATES) + 1)

    def name(self) -> str:
        """The Func's name. Several Funcs can share one: a pipeline tells them apart."""
        return self._function.name

    def defined(self) -> bool:
        """True where there is a definition."""
        return bool(self._function.definitions)

    def args(self) -> list[Var]:
        """The pure variables; empty before the definition."""
        return [Var(n) for n in self._function.args] if self.defined() else []

    def dimensions(self) -> int:
        """The number of coordinates of a point."""
        if self._required is not None:
            return self._required.dimensions
        return len(self._definition(0).args)

    def types(self) -> list[Type]:
        """The type of each value of a point."""
        if self._required is not None:
            return list(self._required.types)
        self._definition(0)
        return list(self._function.types)

    def type(self) -> Type:
        """The type of a value. Raises DefinitionError where a point has several: ask types()."""
        return self._only("type", "types", self.types())

    def value(self) -> Expr:
        """The first definition's right-hand side. Raises DefinitionError where there are several: ask values()."""
        return self._only("value", "values", self.values())

    def _only(self, asked: str, instead: str, found: Sequence[_T]) -> _T:
        if len(found) > 1:
            raise DefinitionError(
                f'Func "{self._function.name}" has {len(found)} values at a point, as it returns a Tuple: ask '
                f"{instead}() and not {asked}()."
            )
        return found[0]

    def values(self) -> tuple[Expr, ...]:
        """The first definition's right-hand sides."""
        return tuple(map(Expr.of, self._definition(0).values))

    def output_buffer(self) -> OutputImageParam:
        """The buffer that a pipeline with this output writes; its shape can stand in directives."""
        return self._only("output_buffer", "output_buffers", self.output_buffers())

    def output_buffers(self) -> list[OutputImageParam]:
        """The buffer of each value of a point, all of one shape; before the definition of what was made with its types
        and dimensions, too."""
        function, required = self._function, self._required
        if function.definitions or required is None:
            self._definition(0)
        else:
            function.types, function.args = required.types, tuple(f"_{i}" for i in range(required.dimensions))
        return [OutputImageParam(self._function, k) for k in range(len(self._function.types))]

    def is_extern(self) -> bool:
        """True where a C function computes the Func."""
        return self._function.extern is not None

    def extern_function_name(self) -> str:
        """The C function that computes the Func; an empty text where none does."""
        return "" if self._function.extern is None else self._function.extern.name

    def outputs(self) -> int:
        """The number of values of a point."""
        return len(self.types())

    # Other Funcs made of it.

    def in_(self, f: Func | Sequence[Func] | None = None, *, fs: Sequence[Func] | None = None) -> Func:
        """Makes a Func with the same values, which consumers read in place of this one: to load a tile of an input, or
        to compute at one place and store at another. Without a place of its own it is inlined, and changes nothing.

        Args:
            f: the consumer, or several, which share one; None for all that have nothing else to read in its place. The
                name of several is ``fs``, too.

        Returns: the new Func, for a schedule of its own; the same one for the same consumers.

        Rewrite: ``f(x) = g(x) + g(x + 1)`` → ``w(x) = g(x); f(x) = w(x) + w(x + 1)``. Legal when: every consumer reads
        the Func.
        """
        return Func._of(self._wrapper(f, fs))

    def clone_in(self, f: Func | Sequence[Func] | None = None, *, fs: Sequence[Func] | None = None) -> Func:
        """Makes a Func with the same definitions, which consumers read in place of this one: so that it can be computed
        for them in another way or place. It starts with this one's directives.

        Args:
            f: the consumer, or several, which share one, and whose name is ``fs``, too.

        Returns: the new Func, for a schedule of its own; the same one for the same consumers.

        Rewrite: ``g(x) = x*2; f(x) = g(x) + 1`` → ``c(x) = x*2; f(x) = c(x) + 1``. Legal when: every consumer reads the
        Func, and neither is an output that leaves points undefined.
        """
        return Func._of(self._clone(f, fs))

    # Updates.

    def update(self, idx: int = 0) -> Stage:
        """The ``idx``-th update definition, for scheduling.

        Raises:
            ScheduleError: there is no such update.
        """
        if not 0 <= integer(idx, _UPDATES) < self.num_update_definitions():
            raise ScheduleError(
                f'Func "{self._function.name}" has no update({shown(idx)}): '
                f"it has {self.num_update_definitions()} update definitions."
            )
        return Stage.of(self._function, idx + 1)

    def num_update_definitions(self) -> int:
        """The number of update definitions."""
        return max(0, len(self._function.definitions) - 1)

    def has_update_definition(self) -> bool:
        """True where there is an update definition."""
        return self.num_update_definitions() > 0

    def update_args(self, idx: int = 0) -> list[Expr]:
        """An update's left-hand side."""
        return list(map(Expr.of, self._update(idx).args))

    def update_value(self, idx: int = 0) -> Expr:
        """An update's right-hand side."""
        return self._only("update_value", "update_values", self.update_values(idx))

    def update_values(self, idx: int = 0) -> tuple[Expr, ...]:
        """An update's right-hand sides."""
        return tuple(map(Expr.of, self._update(idx).values))

    def rvars(self, idx: int = 0) -> list[RVar]:
        """An update's reduction variables, innermost first."""
        domain = self._update(idx).domain
        return [] if domain is None else [RVar.of(domain, i) for i in range(len(domain.names))]

    def __repr__(self) -> str:
        return f"<{package_name()}.Func {self._function.name!r}>"

    def __str__(self) -> str:
        """The definitions, a line each."""
        return definitions(self._function)

    def _repr_latex_(self) -> str | None:
        """The definitions as mathematics, for notebooks."""
        return latex_definitions(self._function)


def lambda_func(*args: Var | ExprLike) -> Func:
    """``lambda_func(x, y, e)``: an anonymous Func whose value at (x, y) is ``e``."""
    if not args:
        raise DefinitionError("lambda_func() takes Vars and then a value.")
    f = Func("lambda")
    f[tuple(args[:-1])] = args[-1]
    return f


def evaluate(expr: ExprLike | TupleLike) -> Any:
    """The value of an expression without variables, by compiling and running it; a tuple of those of a Tuple."""
    f = Func("evaluated")
    f[()] = expr
    result = f.realize()
    if isinstance(result, tuple):
        return tuple(buffer[()] for buffer in result)
    assert isinstance(result, Buffer)
    return result[()]


def evaluate_may_gpu(expr: ExprLike | TupleLike) -> Any:
    """``evaluate``: there is no device that might do it."""
    return evaluate(expr)
