"""The features to exercise, asked of the system itself.

In: the types of directives, tails and nodes as they are now. Out: the features that a campaign must have met.

A new directive, tail strategy, node type or operator is in this list by itself: until a generator draws it, a campaign
fails, and so does the test of the tables in ``directives``.
"""

from __future__ import annotations

import sys

from halide_core.func import boundary_conditions
from halide_core.func.scheduling.loop_level import Unplaced
from halide_core.ir import BinaryOp, ExprNode, Intrinsic, LoopKind, Stmt, WriteFile
from halide_core.schedule.directives import DebugToFile, Directive, TailStrategy
from tests.campaigns.fuzz.coverage import REUSES, Feature, Group
from tests.campaigns.fuzz.directives import FUNC_DIRECTIVES, LOOP_DIRECTIVES
from tests.campaigns.fuzz.draw_algorithm import BORDERS, SHAPES
from tests.campaigns.fuzz.draw_terms import TYPES
from tests.campaigns.fuzz.draw_updates import KINDS
from tests.campaigns.fuzz.families import METHODS

UNDRAWN: dict[str, tuple[type, ...]] = {
    "debug_to_file": (DebugToFile, WriteFile),
    "copy_to_host": (),
    "copy_to_device": (),
}
"""Methods that no campaign needs to meet, with the directives and the nodes that are theirs: a campaign shall not write
files all over, which no judge reads; tests of their own ask for files and values. Copies between the host and itself
leave nothing behind."""
UNPLACED = (Unplaced,)
"""Directives that no program runs with: a level that was never set is refused."""


def leaves(root: type) -> list[type]:
    """The classes below one that have none below themselves."""
    below = [each for each in root.__subclasses__() if _is_named(each)]
    return [root] if not below else [leaf for each in below for leaf in leaves(each)]


def _is_named(each: type) -> bool:
    """True where a class is the one of its name: a dataclass with slots leaves another behind, which it replaced."""
    return getattr(sys.modules[each.__module__], each.__name__, None) is each


def all_features() -> list[Feature]:
    """Everything that a long campaign has to meet in cases that ran."""
    apart = {*UNPLACED, *(each for classes in UNDRAWN.values() for each in classes)}
    names = {
        Group.DIRECTIVE: [each.__name__ for each in leaves(Directive) if each not in apart],
        Group.METHOD: [*LOOP_DIRECTIVES, *FUNC_DIRECTIVES, *METHODS],
        Group.TAIL: [tail.name for tail in TailStrategy],
        Group.NODE: [each.__name__ for root in (ExprNode, Stmt) for each in leaves(root) if each not in apart],
        Group.OPERATOR: [op.name for op in BinaryOp],
        Group.FUNCTION: [function.name for function in Intrinsic],
        Group.TRAVERSAL: [kind.name for kind in LoopKind],
        Group.TYPE: [str(type) for type in TYPES],
        Group.SHAPE: [*SHAPES, *KINDS, *BORDERS, REUSES[1]],
    }
    return [(group, name) for group, each in names.items() for name in each]


def boundary_names() -> list[str]:
    """The boundary conditions that there are."""
    return [n for n, f in vars(boundary_conditions).items() if callable(f) and _own(f) and not n.startswith("_")]


def _own(function: object) -> bool:
    return getattr(function, "__module__", "") == boundary_conditions.__name__
