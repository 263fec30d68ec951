"""Constants of a processor for a cost model: cycles of what is no arithmetic.

In: nothing, or a file with what was measured before. Out: Constants.

    Constants()   ->   those of a server of 2022, on which a schedule for a machine that isn't here is chosen
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constants:
    """Bytes of the caches of one core, and cycles."""

    l1: int = 32 << 10
    l2: int = 1 << 20
    l3: int = 16 << 20
    byte_l2: float = 0.03
    byte_l3: float = 0.06
    byte_memory: float = 0.15
    """Of a byte that is read from each level, beyond what a load from the first one costs."""
    shared: float = 1.6
    """The factor by which two threads or more read more of memory at once."""
    load: float = 0.5
    store: float = 1.0
    shuffle: float = 1.0
    gather: float = 1.5
    """Of an instruction; the last of a lane."""
    latency: float = 8.0
    """Sums that must be under way at once, so that none waits for the one before."""
    row: float = 12.0
    instance: float = 60.0
    """To enter an innermost loop; to find the bounds of a Func that is computed in a loop."""
    fork: float = 15000.0
    task: float = 600.0
    """To start threads, and to hand a task to one."""
    late: float = 0.5
    """Of a task: how long all wait for the last thread, on average."""
    page: int = 4096
    fault: float = 1500.0
    pages_known: int = 64
    translation: float = 20.0
    """Pages whose addresses the processor remembers; to find the address of another one."""
    kept: int = 256 << 20
    """Of pages that are touched first; bytes that the runtime keeps from one run to the next."""

    def byte(self, resident: float) -> float:
        """Cycles of a byte that is read again after so many others were touched."""
        if resident <= 0.75 * self.l1:
            return 0.0
        if resident <= 0.75 * self.l2:
            return self.byte_l2
        return self.byte_l3 if resident <= self.l3 else self.byte_memory
