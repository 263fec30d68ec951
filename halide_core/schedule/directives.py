"""Scheduling directives as data (figure 2.11): what the user asked for, and on which line.

In: calls such as ``f.split(x, xo, xi, 8)``. Out: frozen records; nothing is checked against a program and
nothing is applied here. That is the work of ``scheduling``.

    Split(f, 0, "x", "xo", "xi", 8, TailStrategy.Auto)   prints as   f.split(x, xo, xi, 8)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from halide_core.errors import Location
from halide_core.ir import Callee, ExprNode, IntImm, LoopKind
from halide_core.ir.debug_files import DebugFile
from halide_core.ir.names import OUTERMOST
from halide_core.ir.printer import format_expr

_D = TypeVar("_D", bound="Directive")

_VERBS = {
    LoopKind.SERIAL: "serial",
    LoopKind.PARALLEL: "parallel",
    LoopKind.VECTORIZED: "vectorize",
    LoopKind.UNROLLED: "unroll",
}


class TailStrategy(Enum):
    """The treatment of the remainder when a split factor does not divide an extent."""

    RoundUp = "RoundUp"
    GuardWithIf = "GuardWithIf"
    Predicate = "Predicate"
    PredicateLoads = "PredicateLoads"
    PredicateStores = "PredicateStores"
    ShiftInwards = "ShiftInwards"
    ShiftInwardsAndBlend = "ShiftInwardsAndBlend"
    RoundUpAndBlend = "RoundUpAndBlend"
    Auto = "Auto"


class LoopAlignStrategy(Enum):
    """Where the shared loop of two stages has the iterations of the second one, where these are fewer or others."""

    AlignStart = "AlignStart"
    AlignEnd = "AlignEnd"
    NoAlign = "NoAlign"
    Auto = "Auto"


class Role(Enum):
    """The role of a directive's field, where its type does not tell it."""

    LOOP = "the name of a loop"
    MADE = "a Func that the call made"


LoopVar: TypeAlias = Annotated[str, Role.LOOP]
MadeFunc: TypeAlias = Annotated[Callee, Role.MADE]


class Spelling:
    """The spelling of the parts of a call: by the user's own names."""

    def loop(self, name: str) -> str:
        """A loop."""
        return "hl.Var.outermost()" if name == OUTERMOST else name

    def expr(self, e: ExprNode) -> str:
        """An expression."""
        return format_expr(e)

    def func(self, f: Callee) -> str:
        """A Func or an input."""
        return f.name

    def choice(self, e: Enum) -> str:
        """A member of one of the language's enumerations."""
        return f"{type(e).__name__}.{e.name}"

    def value(self, v: object) -> str:
        """An argument that is no loop."""
        if isinstance(v, ExprNode):
            return self.expr(v)
        if isinstance(v, Callee):
            return self.func(v)
        return self.choice(v) if isinstance(v, Enum) else repr(v)


PLAIN = Spelling()


@dataclass(frozen=True, slots=True)
class Branch:
    """A specialization of a stage: its number there, and the conditions that the user gave on the way to it, the
    outermost first. Number 0, without conditions, is the general case."""

    number: int
    conditions: tuple[ExprNode, ...]


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

    verb: ClassVar[str]
    """The call, where it is the same for all; see ``called``."""

    def exprs(self) -> tuple[ExprNode, ...]:
        """The expressions among the arguments: each must be a start-up expression."""
        return tuple([v for v in self._values() if isinstance(v, ExprNode)])

    def variables(self) -> tuple[str, ...]:
        """The loops that the directive names."""
        return tuple([name for field in roles(type(self), Role.LOOP) for name in _flat(getattr(self, field))])

    def funcs(self) -> tuple[Callee, ...]:
        """The Funcs that the call made: they are part of every pipeline that the directive's own is part of."""
        return tuple([getattr(self, field) for field in roles(type(self), Role.MADE)])

    def callees(self) -> tuple[Callee, ...]:
        """All Funcs and inputs that the directive is about or names, its own first."""
        return tuple([each for v in self._values() for each in _flat(v) if isinstance(each, Callee)])

    def renamed(self: _D, to: Mapping[Callee, Callee]) -> _D:
        """The same directive about other Funcs."""
        return self._mapped(lambda v: to.get(v, v) if isinstance(v, Callee) else v)

    def with_exprs(self: _D, rewrite: Callable[[ExprNode], ExprNode]) -> _D:
        """The same directive with its expressions rewritten."""

        def changed(v: Any) -> Any:
            if isinstance(v, Branch):
                return Branch(v.number, tuple(map(rewrite, v.conditions)))
            return rewrite(v) if isinstance(v, ExprNode) else v

        return self._mapped(changed)

    def with_variables(self: _D, to: Mapping[str, str]) -> _D:
        """The same directive with loops renamed."""
        return self._mapped(lambda v: to.get(v, v), roles(type(self), Role.LOOP))

    def called(self) -> str:
        """The name of the call."""
        return self.verb

    def arguments(self, to: Spelling) -> list[str]:
        """The arguments of the call: the fields of the directive's own class in their order, without those that have
        their default."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _COMMON}
        given = {f.name: own[f.name] for f in fields(self) if f.name in own and own[f.name] != f.default}
        loops = roles(type(self), Role.LOOP)
        return [
            to.loop(each) if name in loops else to.value(each) for name, v in given.items() for each in _flat(v)
        ]

    def call(self, to: Spelling = PLAIN) -> str:
        """The call as source, without the Func: ``split(x, xo, xi, 8)``."""
        return f"{self.called()}({', '.join(self.arguments(to))})"

    def _values(self) -> list[Any]:
        return [getattr(self, f.name) for f in fields(self)]

    def _mapped(self: _D, change: Callable[[Any], Any], names: tuple[str, ...] | None = None) -> _D:
        """The directive with its fields, or some, changed; in tuples part by part."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if names is None or f.name in names}
        new = {name: _deep(v, change) for name, v in given.items()}
        changed = {name: v for name, v in new.items() if v is not given[name]}
        return replace(self, **changed) if changed else self

    def subject(self) -> str:
        """The object that the call is a method of: ``f``, ``f.update()``."""
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


_COMMON = frozenset({f.name for f in fields(StageDirective)})
"""The fields that are no arguments of a call."""


_roles: dict[tuple[type, Role], tuple[str, ...]] = {}


def roles(kind: type[Directive], role: Role) -> tuple[str, ...]:
    """The fields of a directive that have a role, in their order."""
    known = _roles.get((kind, role))
    if known is None:
        hints = get_type_hints(kind, include_extras=True)
        known = _roles[kind, role] = tuple([f.name for f in fields(kind) if _has(hints[f.name], role)])
    return known


def _has(hint: Any, role: Role) -> bool:
    """True where a type is, or is made of, one with a role."""
    if get_origin(hint) is Annotated:
        return role in hint.__metadata__
    return any(_has(part, role) for part in get_args(hint))


def _flat(value: Any) -> Iterator[Any]:
    """The parts of a field: of tuples, all that is in them; none of None."""
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    elif value is not None:
        yield value


def _deep(value: Any, change: Callable[[Any], Any]) -> Any:
    """A field whose parts are changed; itself where none is."""
    if not isinstance(value, tuple):
        return None if value is None else change(value)
    new = tuple([_deep(each, change) for each in value])
    return value if all(a is b for a, b in zip(new, value, strict=True)) else new


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Specialize(StageDirective):
    """A copy of the loops of ``branch``, with the directives given to them so far, runs where ``condition`` holds."""

    verb: ClassVar[str] = "specialize"
    condition: ExprNode
    number: int
    """Of the specialization that this makes: 1, 2, … in the order of the calls about the stage."""

    def made(self) -> Branch:
        """The specialization that this makes."""
        return Branch(self.number, (*self.branch.conditions, self.condition))

    def arguments(self, to: Spelling) -> list[str]:
        return [to.expr(self.condition)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SpecializeFail(StageDirective):
    """A run that no specialization of ``branch`` takes ends at start-up with the user's message."""

    verb: ClassVar[str] = "specialize_fail"
    message: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split(StageDirective):
    """Loop ``old`` becomes ``outer`` over ``inner``, which takes ``factor`` steps."""

    verb: ClassVar[str] = "split"
    old: LoopVar
    outer: LoopVar
    inner: LoopVar
    factor: ExprNode
    tail: TailStrategy = TailStrategy.Auto


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fuse(StageDirective):
    """Loops ``inner`` and ``outer`` become one."""

    verb: ClassVar[str] = "fuse"
    inner: LoopVar
    outer: LoopVar
    fused: LoopVar


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reorder(StageDirective):
    """The loops named trade places so that they nest as listed, innermost first."""

    verb: ClassVar[str] = "reorder"
    vars: tuple[LoopVar, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rename(StageDirective):
    """A loop goes by another name from here on."""

    verb: ClassVar[str] = "rename"
    old: LoopVar
    new: LoopVar


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Traverse(StageDirective):
    """The way in which a loop runs: serial, parallel, vectorized or unrolled."""

    var: LoopVar
    kind: LoopKind

    def called(self) -> str:
        return _VERBS[self.kind]

    def arguments(self, to: Spelling) -> list[str]:
        return [to.loop(self.var)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AllowRaceConditions(StageDirective):
    """Reduction loops of the stage may be parallel or vectorized without a proof that their iterations never meet."""

    verb: ClassVar[str] = "allow_race_conditions"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeWith(StageDirective):
    """The stage's loops, from the outermost down to one, are those of a stage of another Func."""

    verb: ClassVar[str] = "compute_with"
    other: Callee
    other_stage: int
    var: LoopVar
    aligned: tuple[tuple[LoopVar, LoopAlignStrategy], ...] = ()
    """The loops whose iterations are not where their own variables say."""

    def arguments(self, to: Spelling) -> list[str]:
        name = to.func(self.other)
        stage = f"{name}.update({self.other_stage - 1})" if self.other_stage else f"hl.Stage({name})"
        pairs = [f"({to.loop(v)}, {to.choice(s)})" for v, s in self.aligned]
        return [stage, to.loop(self.var), *([f"[{', '.join(pairs)}]"] if pairs else [])]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeInline(Directive):
    """The Func's definition is substituted where it is used."""

    verb: ClassVar[str] = "compute_inline"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComputeRoot(Directive):
    """The Func is computed before anything that uses it."""

    verb: ClassVar[str] = "compute_root"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoreRoot(Directive):
    """The Func's memory lives as long as the pipeline runs."""

    verb: ClassVar[str] = "store_root"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AtLevel(Directive):
    """A directive that names a loop of a consumer."""

    consumer: Callee
    var: LoopVar
    stage: int = -1
    """The stage of the consumer whose loop is meant; -1 for whichever has it."""

    def arguments(self, to: Spelling) -> list[str]:
        level = f"{to.func(self.consumer)}, {to.loop(self.var)}"
        return [level if self.stage < 0 else f"hl.LoopLevel({level}, {self.stage})"]


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

    var: LoopVar
    min: ExprNode | None
    extent: ExprNode

    def called(self) -> str:
        return "bound_extent" if self.min is None else "bound"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlignBounds(Directive):
    """The compute bounds of a dimension grow until their length is a multiple of ``modulus`` and their minimum is
    ``remainder`` modulo it; ``remainder`` is None for align_extent, which leaves the minimum as it is."""

    var: LoopVar
    modulus: ExprNode
    remainder: ExprNode | None

    def called(self) -> str:
        return "align_extent" if self.remainder is None else "align_bounds"

    def arguments(self, to: Spelling) -> list[str]:
        plain = isinstance(self.remainder, IntImm) and self.remainder.value == 0
        rest = [] if plain or self.remainder is None else [to.expr(self.remainder)]
        return [to.loop(self.var), to.expr(self.modulus), *rest]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Estimate(Directive):
    """An estimate of a dimension; it is recorded for tools that choose schedules, and has no effect."""

    verb: ClassVar[str] = "set_estimate"
    var: LoopVar
    min: ExprNode
    extent: ExprNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DebugToFile(Directive):
    """The Func's values are written to a file when its memory goes. It changes no value."""

    verb: ClassVar[str] = "debug_to_file"
    file: DebugFile

    def arguments(self, to: Spelling) -> list[str]:
        return [repr(self.file.path)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Async(Directive):
    """The Func may be computed in a thread of its own, ahead of what reads it."""

    verb: ClassVar[str] = "async_"


class Traced(Enum):
    """The events of a Func that a run traces; the value is the call that asks for it."""

    LOADS = "trace_loads"
    STORES = "trace_stores"
    REALIZATIONS = "trace_realizations"
    TAG = "add_trace_tag"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trace(Directive):
    """A line is shown for each load, store or realization of the Func, or with a text. It changes no value."""

    what: Traced
    tag: str = ""

    def called(self) -> str:
        return self.what.value

    def arguments(self, to: Spelling) -> list[str]:
        return [repr(self.tag)] if self.what is Traced.TAG else []
