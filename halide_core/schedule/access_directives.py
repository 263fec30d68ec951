"""Directives about how a stage meets memory, as data.

In: calls such as ``f.prefetch(g, y, y, 2)`` and ``f.update().atomic()``. Out: frozen records, as in ``schedule``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from halide_core.ir import Callee, ExprNode
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.schedule.directives import LoopVar, Spelling, StageDirective


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Prefetch(StageDirective):
    """Each iteration of loop ``at`` begins by asking for what it would read of ``fetched`` if loop ``source`` were
    ``offset`` iterations further on."""

    verb: ClassVar[str] = "prefetch"
    fetched: Callee
    at: LoopVar
    source: LoopVar
    offset: ExprNode
    strategy: PrefetchBoundStrategy = PrefetchBoundStrategy.GuardWithIf


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Atomic(StageDirective):
    """Each update of a point is one step, so that reduction loops of the stage may be parallel or vectorized.
    ``override``: on the user's word that the order of the steps doesn't matter."""

    verb: ClassVar[str] = "atomic"
    override: bool = False


class Partition(Enum):
    """Policies for dividing a loop into a head, a steady part without the clamps and guards of its ends, and a tail."""

    Auto = "Auto"
    Never = "Never"
    Always = "Always"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionLoop(StageDirective):
    """The policy for dividing a loop, or every loop that the stage has by then, where ``var`` is None. No value
    changes."""

    var: LoopVar | None
    policy: Partition

    def called(self) -> str:
        if self.var is not None:
            return "partition"
        return "partition_all" if self.policy is Partition.Auto else f"{self.policy.value.lower()}_partition_all"

    def arguments(self, to: Spelling) -> list[str]:
        if self.var is None:
            return [to.choice(self.policy)] if self.policy is Partition.Auto else []
        return [to.loop(self.var), to.choice(self.policy)]
