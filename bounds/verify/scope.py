"""The scope of a walk over a program's tree: knowledge at a place.

In: a statement's surroundings. Out: a Scope, which the walk copies on its way down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from halide_core.bounds.verify.cases import StageSite
from halide_core.bounds.verify.memory import Reads
from halide_core.bounds.verify.sites import Entered
from halide_core.bounds.verify.sliding import Folds
from halide_core.bounds.verify.vc import Context
from halide_core.ir import Callee, ExprNode, Interval
from halide_core.loop_nest import StageKey


@dataclass(slots=True, eq=False)
class Scope:
    """The context, the reads and the boxes at a place."""

    context: Context
    reads: Reads
    boxes: dict[Callee, tuple[Interval, ...]] = field(default_factory=dict)
    private: dict[Callee, int] = field(default_factory=dict)
    folds: dict[Callee, Folds] = field(default_factory=dict)
    computed: frozenset[Callee] = frozenset()
    labels: dict[Callee, int] = field(default_factory=dict)
    loops: tuple[Entered, ...] = ()
    stage: StageKey | None = None
    tests: tuple[ExprNode, ...] = ()
    """The conditions around; inside a stage, those of the stage."""
    outside: tuple[Context, ...] = ()
    """The context just outside each of these."""
    site: StageSite | None = None
    """The nest."""
    sizes: tuple[ExprNode, ...] = ()
    """That the sizes of the memory around, and the lengths of fused loops, are numbers of int64."""
    done: dict[Callee, list[int]] = field(default_factory=dict)
    """The stages computed so far of the Funcs whose labels are around."""

    def inner(self) -> Scope:
        """A scope inside this one."""
        return replace(self, boxes=dict(self.boxes), private=dict(self.private), labels=dict(self.labels))
