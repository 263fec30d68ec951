"""Scheduling directives as data (figure 2.11): what the user asked for, and on which line.

In: calls such as ``f.split(x, xo, xi, 8)``. Out: frozen records; nothing is checked against a program and
nothing is applied here. That is the work of ``scheduling``.

    Split(f, 0, "x", "xo", "xi", 8, TailStrategy.Auto)   prints as   f.split(x, xo, xi, 8)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, ClassVar, TypeVar

from halide_core.errors import Location
from halide_core.ir import Callee, Expr, IntImm, LoopKind
from halide_core.ir.debug_files import DebugFile
from halide_core.ir.names import OUTERMOST
from halide_core.ir.printer import format_expr

_D = TypeVar("_D", bound="Directive")
_L = TypeVar("_L", bound="AtLevel")

_VERBS = {
    LoopKind.SERIAL: "serial",
    LoopKind.PARALLEL: "parallel",
    LoopKind.VECTORIZED: "vectorize",
    LoopKind.UNROLLED: "unroll",
}


class TailStrategy(Enum):
    """What becomes of the remainder when a split factor does not divide an extent."""

    RoundUp = "RoundUp"
    GuardWithIf = "GuardWithIf"
    Predicate = "Predicate"
    PredicateLoads = "PredicateLoads"
    PredicateStores = "PredicateStores"
    ShiftInwards = "ShiftInwards"
    ShiftInwardsAndBlend = "ShiftInwardsAndBlend"
    RoundUpAndBlend = "RoundUpAndBlend"
    Auto = "Auto"


@dataclass(frozen=True, slots=True)
class Branch:
    """A specialization of a stage: its number there, and the conditions that the user gave on the way to it, the
    outermost first. Number 0, without conditions, is the general case."""

    number: int
    conditions: tuple[Expr, ...]


GENERAL = Branch(0, ())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Directive:
    """The root: every directive names the Func whose schedule it changes, and the user's line."""

    func: Callee
    location: Location
    written: str = ""
    """The call that the user wrote, where it is recorded as several directives: ``vectorize(x, 8)`` is a split too."""
    user: Directive | None = None
    """The user's own, where this one is about a copy of the Func that the compiler made."""

    def exprs(self) -> tuple[Expr, ...]:
        """The expressions among the arguments: each must be a start-up expression."""
        return ()

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        """The same directive about other Funcs."""
        return replace(self, func=to.get(self.func, self.func))

    def with_exprs(self: _D, rewrite: Callable[[Expr], Expr]) -> _D:
        """The same directive with its expressions rewritten."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        changed: dict[str, Any] = {n: rewrite(v) for n, v in given.items() if isinstance(v, Expr)}
        for n, v in given.items():
            if isinstance(v, Branch):
                changed[n] = Branch(v.number, tuple(map(rewrite, v.conditions)))
        return replace(self, **changed) if changed else self

    def variables(self) -> tuple[str, ...]:
        """The loops that the directive names."""
        return ()

    def funcs(self) -> tuple[Callee, ...]:
        """The Funcs that the call made: they are part of every pipeline that the directive's own is part of."""
        return ()

    def with_variables(self: _D, to: Mapping[str, str]) -> _D:
        """The same directive with loops renamed."""
        return self

    def call(self) -> str:
        """The call as source, without the Func: ``split(x, xo, xi, 8)``."""
        raise NotImplementedError  # each directive says

    def subject(self) -> str:
        """What the call is a method of: ``f``, ``f.update()``."""
        return self.func.name

    @property
    def own(self) -> Directive:
        """The user's own, where this one is about a copy."""
        return self.user or self

    def spelled(self) -> str:
        """The whole call, as the user wrote it."""
        return f"{self.own.subject()}.{self.own.written or self.own.call()}"

    def __str__(self) -> str:
        return f"{self.subject()}.{self.call()}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StageDirective(Directive):
    """A directive about the loops of one stage, in one of its specializations."""

    stage: int
    branch: Branch = GENERAL
    given_to: Branch | None = None
    """The specialization that the user gave it to, where another one inherits it."""

    def subject(self) -> str:
        update = "" if self.stage == 0 else f".update({self.stage - 1})" if self.stage > 1 else ".update()"
        within = "".join(f".specialize({format_expr(c)})" for c in (self.given_to or self.branch).conditions)
        return f"{self.func.name}{update}{within}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Specialize(StageDirective):
    """A copy of the loops of ``branch``, with the directives given to them so far, runs where ``condition`` holds."""

    condition: Expr
    number: int
    """Of the specialization that this makes: 1, 2, … in the order of the calls about the stage."""

    def exprs(self) -> tuple[Expr, ...]:
        return (self.condition,)

    def made(self) -> Branch:
        """The specialization that this makes."""
        return Branch(self.number, (*self.branch.conditions, self.condition))

    def call(self) -> str:
        return f"specialize({format_expr(self.condition)})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SpecializeFail(StageDirective):
    """A run that no specialization of ``branch`` takes ends at start-up with the user's message."""

    message: str

    def call(self) -> str:
        return f"specialize_fail({self.message!r})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split(StageDirective):
    """Loop ``old`` becomes ``outer`` over ``inner``, which takes ``factor`` steps."""

    old: str
    outer: str
    inner: str
    factor: Expr
    tail: TailStrategy

    def variables(self) -> tuple[str, ...]:
        return (self.old, self.outer, self.inner)

    def with_variables(self, to: Mapping[str, str]) -> Split:
        return replace(
            self,
            old=to.get(self.old, self.old),
            outer=to.get(self.outer, self.outer),
            inner=to.get(self.inner, self.inner),
        )

    def exprs(self) -> tuple[Expr, ...]:
        return (self.factor,)

    def call(self) -> str:
        tail = "" if self.tail is TailStrategy.Auto else f", TailStrategy.{self.tail.value}"
        return f"split({self.old}, {self.outer}, {self.inner}, {format_expr(self.factor)}{tail})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fuse(StageDirective):
    """Loops ``inner`` and ``outer`` become one."""

    inner: str
    outer: str
    fused: str

    def variables(self) -> tuple[str, ...]:
        return (self.inner, self.outer, self.fused)

    def with_variables(self, to: Mapping[str, str]) -> Fuse:
        return replace(
            self,
            inner=to.get(self.inner, self.inner),
            outer=to.get(self.outer, self.outer),
            fused=to.get(self.fused, self.fused),
        )

    def call(self) -> str:
        return f"fuse({self.inner}, {self.outer}, {self.fused})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reorder(StageDirective):
    """The loops named trade places so that they nest as listed, innermost first."""

    vars: tuple[str, ...]

    def variables(self) -> tuple[str, ...]:
        return self.vars

    def with_variables(self, to: Mapping[str, str]) -> Reorder:
        return replace(self, vars=tuple(to.get(v, v) for v in self.vars))

    def call(self) -> str:
        return f"reorder({', '.join(self.vars)})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rename(StageDirective):
    """A loop goes by another name from here on."""

    old: str
    new: str

    def variables(self) -> tuple[str, ...]:
        return (self.old, self.new)

    def with_variables(self, to: Mapping[str, str]) -> Rename:
        return replace(self, old=to.get(self.old, self.old), new=to.get(self.new, self.new))

    def call(self) -> str:
        return f"rename({self.old}, {self.new})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Traverse(StageDirective):
    """How a loop is run."""

    var: str
    kind: LoopKind

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> Traverse:
        return replace(self, var=to.get(self.var, self.var))

    def verb(self) -> str:
        """The call that says so."""
        return _VERBS[self.kind]

    def call(self) -> str:
        return f"{self.verb()}({self.var})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AllowRaceConditions(StageDirective):
    """Reduction loops of the stage may be parallel or vectorized without a proof that their iterations never meet."""

    def call(self) -> str:
        return "allow_race_conditions()"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeInline(Directive):
    """The Func's definition is substituted where it is used."""

    def call(self) -> str:
        return "compute_inline()"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeRoot(Directive):
    """The Func is computed before anything that uses it."""

    def call(self) -> str:
        return "compute_root()"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoreRoot(Directive):
    """The Func's memory lives as long as the pipeline runs."""

    def call(self) -> str:
        return "store_root()"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AtLevel(Directive):
    """A directive that names a loop of a consumer."""

    verb: ClassVar[str]
    """The call."""
    consumer: Callee
    var: str
    stage: int = -1
    """The stage of the consumer whose loop is meant; -1 for whichever has it."""

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self: _L, to: Mapping[str, str]) -> _L:
        return replace(self, var=to.get(self.var, self.var))

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        assert isinstance(self, AtLevel)
        return replace(self, func=to.get(self.func, self.func), consumer=to.get(self.consumer, self.consumer))

    def call(self) -> str:
        loop = f"{self.consumer.name}, {'hl.Var.outermost()' if self.var == OUTERMOST else self.var}"
        return f"{self.verb}({loop if self.stage < 0 else f'hl.LoopLevel({loop}, {self.stage})'})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeAt(AtLevel):
    """The Func is computed anew in each iteration of a loop of a consumer."""

    verb: ClassVar[str] = "compute_at"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoreAt(AtLevel):
    """The Func's memory lives for one iteration of a loop of a consumer."""

    verb: ClassVar[str] = "store_at"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bound(Directive):
    """The compute bounds of a dimension are ``(min, extent)``; ``min`` is None for bound_extent."""

    var: str
    min: Expr | None
    extent: Expr

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> Bound:
        return replace(self, var=to.get(self.var, self.var))

    def exprs(self) -> tuple[Expr, ...]:
        return (self.extent,) if self.min is None else (self.min, self.extent)

    def call(self) -> str:
        if self.min is None:
            return f"bound_extent({self.var}, {format_expr(self.extent)})"
        return f"bound({self.var}, {format_expr(self.min)}, {format_expr(self.extent)})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlignBounds(Directive):
    """The compute bounds of a dimension grow until their length is a multiple of ``modulus`` and their minimum is
    ``remainder`` modulo it; ``remainder`` is None for align_extent, which leaves the minimum as it is."""

    var: str
    modulus: Expr
    remainder: Expr | None

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> AlignBounds:
        return replace(self, var=to.get(self.var, self.var))

    def exprs(self) -> tuple[Expr, ...]:
        return (self.modulus,) if self.remainder is None else (self.modulus, self.remainder)

    def call(self) -> str:
        if self.remainder is None:
            return f"align_extent({self.var}, {format_expr(self.modulus)})"
        zero = isinstance(self.remainder, IntImm) and self.remainder.value == 0
        rest = "" if zero else f", {format_expr(self.remainder)}"
        return f"align_bounds({self.var}, {format_expr(self.modulus)}{rest})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Estimate(Directive):
    """What the user expects of a dimension; it is recorded for tools that choose schedules, and has no effect."""

    var: str
    min: Expr
    extent: Expr

    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    def with_variables(self, to: Mapping[str, str]) -> Estimate:
        return replace(self, var=to.get(self.var, self.var))

    def exprs(self) -> tuple[Expr, ...]:
        return (self.min, self.extent)

    def call(self) -> str:
        return f"set_estimate({self.var}, {format_expr(self.min)}, {format_expr(self.extent)})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DebugToFile(Directive):
    """The Func's values are written to a file when its memory goes. It changes no value."""

    file: DebugFile

    def call(self) -> str:
        return f"debug_to_file({self.file.path!r})"


class Traced(Enum):
    """What is shown of a Func while a pipeline runs; the value is the call that asks for it."""

    LOADS = "trace_loads"
    STORES = "trace_stores"
    REALIZATIONS = "trace_realizations"
    TAG = "add_trace_tag"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trace(Directive):
    """A line is shown for each load, store or realization of the Func, or with a text. It changes no value."""

    what: Traced
    tag: str = ""

    def call(self) -> str:
        return f"{self.what.value}({repr(self.tag) if self.what is Traced.TAG else ''})"
