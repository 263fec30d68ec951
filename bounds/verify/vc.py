"""Verification conditions: claims, their hypotheses, and their outcomes.

In: facts met on the way to a place in a program. Out: Claims, ``hypotheses ⇒ conclusion``, over the expressions of the
language alone: no solver is needed to build, print or evaluate one.

    for x in (0, n): in[x]    ->    0 <= x, x < n  ⇒  in.min.0 <= x && x < in.min.0 + in.extent.0

Hypotheses are shared lists, as paths of the query are: claims about one place have one Context, which a solver
enters once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import Location
from halide_core.ir import Assert, ExprNode, Hole, Interval, Promise, Variable
from halide_core.ir.brief import brief
from halide_core.ir.logic import all_of, negation
from halide_core.ir.visitor import Substitution


class ClaimKind(Enum):
    """The subject of a claim; the value is its name in a certificate."""

    QUERY = "query"
    OBLIGATION = "obligation"
    MEMORY = "in bounds"
    REGION = "argument"
    SIZE = "size"
    LET = "let"
    COMPUTED = "computed before read"
    COVERAGE = "coverage"
    FOLD = "fold"
    ORDER = "order"
    RACE = "no race"
    VALUES = "value range"
    DEFINITION = "definition"
    LAW = "law"
    MEMOIZED = "memoized"
    INT32 = "int32"
    INT64 = "int64"
    STARTUP = "start-up"


class Status(Enum):
    """The outcome of a claim."""

    PROVEN = "proven"
    ASSERTED = "asserted"
    ASSUMED = "assumed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


Named = Variable | Hole
"""The expressions that a context can define."""


class Context:
    """Facts on the way down to a place, shared: a child points to its parent.

    A node either states that ``fact`` holds, or that ``variable`` is ``fact``. ``check`` is the start-up check that
    makes the fact hold; None where the program's own course does.
    """

    __slots__ = ("check", "fact", "parent", "variable")

    def __init__(
        self, parent: Context | None, fact: ExprNode, variable: Named | None = None, check: Assert | None = None
    ) -> None:
        self.parent = parent
        self.fact = fact
        self.variable = variable
        self.check = check

    def holds(self, *facts: ExprNode) -> Context:
        """With conditions that hold from here on."""
        at = self
        for fact in facts:
            if fact is not ir.TRUE:
                at = Context(at, fact)
        return at

    def checked(self, check: Assert) -> Context:
        """With a start-up check passed."""
        return Context(self, check.condition, check=check)

    def defines(self, variable: Named, value: ExprNode) -> Context:
        """With a variable bound to a value."""
        return Context(self, value, variable)

    def ranges(self, variable: Variable, over: Interval) -> Context:
        """With a loop's variable in its range."""
        return self.holds(
            ir.less_equal(over.min, variable), ir.less(variable, ir.add(over.min, over.len))
        )

    def below(self, stop: Context | None) -> list[Context]:
        """The nodes between ``stop`` and here, outermost first."""
        found: list[Context] = []
        at: Context | None = self
        while at is not stop:
            assert at is not None, "the stop is not above this context"
            found.append(at)
            at = at.parent
        found.reverse()
        return found

    def unchecked(self) -> list[ExprNode]:
        """The conditions that the program's own course makes hold here."""
        return [node.fact for node in self.below(None) if node.variable is None and node.check is None]

    def again(self, nodes: Iterable[Context], names: Substitution) -> Context:
        """This context with other nodes replayed below it under other names."""
        at = self
        for node in nodes:
            variable = node.variable
            if variable is not None:
                renamed = names.expr(variable)
                assert isinstance(renamed, Variable | Hole)
                variable = renamed
            at = Context(at, names.expr(node.fact), variable, node.check)
        return at


def nothing() -> Context:
    """The top: no fact yet."""
    return Context(None, ir.TRUE)


Text = tuple["str | ExprNode", ...]


@dataclass(frozen=True, slots=True)
class Assumption:
    """The user's word for something, as it was written, and the line."""

    told: str
    location: Location

    def __str__(self) -> str:
        return f"{self.told} at {self.location.file}:{self.location.line}"


def on_the_word(promises: Iterable[Promise]) -> tuple[Assumption, ...]:
    """Promises as the user wrote them, each line once."""
    told = ((f"unsafe_promise_clamped(…, {brief_line(p.low)}, {brief_line(p.high)})", p.location) for p in promises)
    return tuple(dict.fromkeys(Assumption(*each) for each in told))


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """``context ⇒ conclusion``. A structural verdict is the conclusion TRUE or FALSE.

    ``func`` is the name of the Func or input that it is about, ``text`` says what is claimed, ``location`` is the
    user's line and ``advice`` what the user can write if it does not hold. Under a ``waiver`` the user answers for it.
    ``step`` is the Func that could be computed whole, and kept whole, in each iteration, if it does not hold. ``near``
    says less than the context, of what other steps of that Func claim among it: there the claim may have fewer cases.
    """

    kind: ClaimKind
    func: str
    text: Text
    context: Context
    conclusion: ExprNode
    location: Location | None = None
    advice: str = ""
    waiver: Assumption | None = None
    step: Function | None = None
    near: Context | None = None

    def told(self) -> str:
        """The text, with expressions no longer than a line."""
        return "".join(t if isinstance(t, str) else brief_line(t) for t in self.text)


_LINE = 60
"""The nodes of what is no longer than a line."""


def brief_line(e: ExprNode) -> str:
    """An expression as text; an ellipsis where it would fill more than a line."""
    return brief(e, _LINE)


def brief_point(args: Sequence[ExprNode]) -> str:
    """Coordinates as text."""
    return ", ".join(map(brief_line, args))


def listed(point: Sequence[ExprNode]) -> list[str | ExprNode]:
    """Coordinates as parts of a text."""
    told: list[str | ExprNode] = []
    for i, e in enumerate(point):
        told += [", ", e] if i else [e]
    return told


# ---------------------------------------------------------------------------------------------------------
# Results.


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Values of the user's names for which a claim fails. ``certain``: evaluating the claim with them confirms it, and
    none of them is a value of a Func that was made up."""

    values: Mapping[str, int]
    certain: bool

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.values.items())


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The outcome of one claim. ``checks`` and ``assumptions``: the start-up checks, and the user's word, without which
    it isn't proven. A claim that is assumed although it is refuted has a counterexample."""

    claim: Claim
    status: Status
    checks: tuple[Assert, ...] = ()
    counterexample: Counterexample | None = None
    assumptions: tuple[Assumption, ...] = ()

    def waived(self) -> Result:
        """The same where it counts; assumed where it does not hold, or is left open, and the user answers for that."""
        waiver = self.claim.waiver
        if waiver is None or self.status not in (Status.REFUTED, Status.UNDECIDED):
            return self
        counterexample = self.counterexample if self.status is Status.REFUTED else None
        return Result(self.claim, Status.ASSUMED, (), counterexample, (waiver,))


def fails(claims: Iterable[Claim]) -> ExprNode:
    """That some of the claims' conclusions do not hold."""
    return negation(all_of(c.conclusion for c in claims))
