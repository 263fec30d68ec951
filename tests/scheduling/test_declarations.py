"""Every directive is declared once: its fields say how it prints and what is renamed in it, a table which phase has it.
A test tells, by name, what a new one lacks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields

import pytest

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.func.scheduling.loop_level import Unplaced
from halide_core.ir import Callee, LoopKind
from halide_core.ir.types import INT32
from halide_core.schedule.access_directives import Prefetch
from halide_core.schedule.directives import (
    AtLevel,
    Directive,
    Fuse,
    LoopVar,
    Role,
    Split,
    StageDirective,
    TailStrategy,
    Traverse,
    roles,
)
from halide_core.schedule.func_directives import ReadInstead, RFactor
from halide_core.scheduling.phases import LOOP_RULES, OF_OTHER_PHASES, OF_PHASE_0

f, g = (Function(name, ("x",), (INT32,)) for name in "fg")
TEXTS = {"written", "message", "tag"}
"""Fields that hold a text for people, and no name of a loop."""


def leaves(root: type[Directive] = Directive) -> Iterator[type[Directive]]:
    """The directives of the product."""
    for each in root.__subclasses__():
        module = sys.modules[each.__module__]
        if each.__module__.startswith("halide_core.") and getattr(module, each.__name__, None) is each:
            yield from [each] if each not in (StageDirective, AtLevel, ReadInstead) else []
            yield from leaves(each)


def lacks(kind: type[Directive]) -> list[str]:
    """The lacks of a directive, in words."""
    found = []
    if not hasattr(kind, "verb") and kind.called is Directive.called:
        found.append(f"{kind.__name__} has no verb")
    texts = [each.name for each in fields(kind) if str(each.type).startswith(("str", "tuple[str"))]
    found += [f'{kind.__name__}.{name} is a str: is it a LoopVar?' for name in texts if name not in TEXTS]
    if kind not in LOOP_RULES and kind not in OF_OTHER_PHASES | OF_PHASE_0:
        found.append(f"{kind.__name__} is of no phase: scheduling.phases")
    return found


def test_directives_lack_nothing() -> None:
    kinds = set(leaves()) - {Unplaced}  # never compiled
    assert len(kinds) > 25
    assert [each for kind in sorted(kinds, key=lambda k: k.__name__) for each in lacks(kind)] == []
    assert LOOP_RULES.keys() | OF_OTHER_PHASES | OF_PHASE_0 == kinds


def test_phases_share_no_directive() -> None:
    assert not LOOP_RULES.keys() & (OF_OTHER_PHASES | OF_PHASE_0) and not OF_OTHER_PHASES & OF_PHASE_0


def test_what_a_new_directive_lacks_is_told_by_name() -> None:
    @dataclass(frozen=True, slots=True, eq=False, kw_only=True)
    class Novel(StageDirective):
        """As one who adds a directive might forget things."""

        loop: str

    assert lacks(Novel) == [
        "Novel has no verb",
        "Novel.loop is a str: is it a LoopVar?",
        "Novel is of no phase: scheduling.phases",
    ]


def test_all_follows_from_fields() -> None:
    @dataclass(frozen=True, slots=True, eq=False, kw_only=True)
    class Skip(StageDirective):
        """A directive that has nothing but its fields."""

        verb = "skip"  # type: ignore[misc]  # a ClassVar
        over: tuple[LoopVar, ...]
        times: ir.ExprNode
        func_there: Callee
        tail: TailStrategy = TailStrategy.Auto

    d = Skip(func=f, location=UNKNOWN_LOCATION, stage=0, over=("x", "y"), times=ir.i64(3), func_there=g)
    assert str(d) == "f.skip(x, y, 3, g)"
    assert d.variables() == ("x", "y")
    assert d.exprs() == (ir.i64(3),)
    assert d.callees() == (f, g)
    changed = d.with_variables({"y": "z"}).with_exprs(lambda e: ir.i64(4)).renamed({g: f})
    assert str(changed) == "f.skip(x, z, 4, f)"
    assert d.with_variables({"a": "b"}) is d


@pytest.mark.parametrize(
    ("kind", "loops"),
    [
        (Split, ("old", "outer", "inner")),
        (Fuse, ("inner", "outer", "fused")),
        (Traverse, ("var",)),
        (Prefetch, ("at", "source")),
        (RFactor, ("factors",)),
    ],
)
def test_roles(kind: type[Directive], loops: tuple[str, ...]) -> None:
    assert roles(kind, Role.LOOP) == loops
    assert roles(kind, Role.MADE) == (("partial",) if kind is RFactor else ())


def test_arguments_that_have_their_default_are_left_out() -> None:
    about = {"func": f, "location": UNKNOWN_LOCATION, "stage": 0}
    split = Split(old="x", outer="xo", inner="xi", factor=ir.i64(8), **about)
    assert split.call() == "split(x, xo, xi, 8)"
    guarded = Split(old="x", outer="xo", inner="xi", factor=ir.i64(8), tail=TailStrategy.GuardWithIf, **about)
    assert guarded.call() == "split(x, xo, xi, 8, TailStrategy.GuardWithIf)"
    assert Traverse(var="x", kind=LoopKind.PARALLEL, **about).call() == "parallel(x)"


def test_defaults_come_last() -> None:
    """An argument that is left out stands after those that are not."""
    for kind in leaves():
        if kind.arguments is Directive.arguments:
            own = [each for each in fields(kind) if each.name not in {c.name for c in fields(StageDirective)}]
            given = [each.default is MISSING for each in own]
            assert given == sorted(given, reverse=True), kind
