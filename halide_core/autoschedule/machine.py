"""The machine that a schedule is for: what a choice of loops has to know of it.

In: a target and the parameters of an autoscheduler. Out: lanes, threads, bytes of cache.

    parallelism=32, last_level_cache_size=…   ->   MachineModel(threads=32, cache=…)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from halide_core.errors import ScheduleError
from halide_core.ir.types import Float, Type
from halide_core.run.target import Target
from halide_core.run.target_names import TargetArch

_L2 = 1 << 20
_WIDE = 64
"""Bytes of the registers that there are 32 of."""


@dataclass(frozen=True, slots=True)
class MachineModel:
    """Threads, bytes of cache that belong to one of them, and vectors."""

    target: Target
    threads: int
    cache: int

    @property
    def registers(self) -> int:
        """The number of vector registers."""
        return 32 if self.register_bytes >= _WIDE or self.target.arch is not TargetArch.X86 else 16

    @property
    def register_bytes(self) -> int:
        """Bytes of a vector register."""
        return self.target.natural_vector_size(Float(32)) * 4

    def lanes(self, type: Type) -> int:
        """The number of values of a type in a register."""
        return self.target.natural_vector_size(type)

    def register_tile(self, type: Type) -> tuple[int, tuple[int, ...]]:
        """Lanes, and numbers of rows, of the accumulators that stay in registers."""
        lanes = self.lanes(type)
        if lanes * type.bytes() >= _WIDE:
            return 2 * lanes, (8, 6, 5, 4, 3, 2)
        return 2 * lanes, (4, 3, 2)


def machine(target: Target, parameters: Mapping[str, str]) -> MachineModel:
    """The machine of a target.

    Raises:
        ScheduleError: a parameter that is no positive number.
    """
    threads = number(parameters, "parallelism", os.environ.get("HL_NUM_THREADS") or str(os.cpu_count() or 1))
    return MachineModel(target, threads, number(parameters, "last_level_cache_size", str(_L2)))


def number(parameters: Mapping[str, str], name: str, default: str) -> int:
    """A parameter that is a positive whole number.

    Raises: ScheduleError for any other.
    """
    text = str(parameters.get(name, default))
    if not text.isdecimal() or not int(text):
        raise ScheduleError(f'The autoscheduler\'s "{name}" must be a positive whole number, not "{text}".')
    return int(text)
