"""Saying which loops of a stage are divided into a head, a steady part and a tail, for StageSchedule to inherit.

In: ``f.never_partition(x)``. Out: frozen records, as in ``stage``.

    for x in (0, n): f[x] = g[max(x - 1, 0)]
    ->  for x in (0, 1): f[x] = g[max(x - 1, 0)];  for x in (1, n - 1): f[x] = g[x - 1]       unless that is forbidden
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from halide_core.algorithm.model import Function
from halide_core.errors import ScheduleError, user_location
from halide_core.lang.scheduling.stage_arguments import VarOrRVar, listed, loop_name
from halide_core.schedule.access_directives import Partition, PartitionLoop
from halide_core.schedule.directives import StageDirective

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11


class PartitionSchedule:
    """The calls; ``StageSchedule`` says of which stage."""

    def _scheduled(self) -> tuple[Function, int]:
        raise NotImplementedError  # StageSchedule says

    def _record(self, *directives: StageDirective) -> Self:
        raise NotImplementedError  # StageSchedule says

    def partition(self, var: VarOrRVar, partition_policy: Partition) -> Self:
        """Says whether a loop is divided into a head, a steady part without the clamps and guards of its ends, and a
        tail. No value depends on it: a divided loop runs faster, and its code is longer.

        Args:
            var: the loop. What later directives split it into, or fuse it into, is meant too.
            partition_policy: Auto divides innermost loops where that pays; Never leaves the loop whole; Always divides
                it wherever it stands, and is an error where no clamp or guard in it can be decided so.

        Raises:
            ScheduleError: an argument of the wrong type.
        """
        if not isinstance(partition_policy, Partition):
            raise ScheduleError(f"partition() takes a hl.Partition, not {partition_policy!r}.")
        return self._record(self._policy(loop_name("partition", var), partition_policy))

    def never_partition(
        self, *args: VarOrRVar | Sequence[VarOrRVar], vars: Sequence[VarOrRVar] | None = None
    ) -> Self:
        """Leaves loops whole: ``partition(var, Partition.Never)`` for each."""
        return self._each("never_partition", listed("never_partition", args, "vars", vars), Partition.Never)

    def always_partition(
        self, *args: VarOrRVar | Sequence[VarOrRVar], vars: Sequence[VarOrRVar] | None = None
    ) -> Self:
        """Divides loops wherever they stand: ``partition(var, Partition.Always)`` for each."""
        return self._each("always_partition", listed("always_partition", args, "vars", vars), Partition.Always)

    def never_partition_all(self) -> Self:
        """Leaves whole every loop that the stage has at this point of its schedule."""
        return self._record(self._policy(None, Partition.Never))

    def always_partition_all(self) -> Self:
        """Divides all loops that the stage has at this point of its schedule and that can be; one of them must."""
        return self._record(self._policy(None, Partition.Always))

    def _each(self, directive: str, vars: list[object], policy: Partition) -> Self:
        names = [loop_name(directive, v) for v in vars]
        written = f"{directive}({', '.join(names)})"
        return self._record(*[self._policy(name, policy, written) for name in names])

    def _policy(self, var: str | None, policy: Partition, written: str = "") -> PartitionLoop:
        function, stage = self._scheduled()
        return PartitionLoop(
            func=function, stage=stage, location=user_location(), written=written, var=var, policy=policy
        )
