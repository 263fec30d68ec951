"""The store of schedules: what was measured to be fast, kept on disk for the processes to come.

In: an algorithm, the windows of its outputs, a target and threads. Out: a StoredSchedule, or None.

    store_key(outputs, windows, machine)   ->   StoreKey("3fa9…"), a file in the folder "schedules" of the cache folder

A size class is all sizes whose logarithm rounds to the same: a schedule is legal for any of them, and about as good.
What another version wrote, what is damaged, or is for other Funcs, is not there.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from halide_core.algorithm.digest import ProgramDigest
from halide_core.algorithm.model import Function
from halide_core.algorithm.snapshot import snapshot
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.ranges import Region, extent
from halide_core.cache_folder import cache_folder

FORMAT = 1
_EXACT = 16
"""Extents up to which sizes are classes of their own: channels, and the like."""


@dataclass(frozen=True, slots=True)
class StoreKey:
    """The key that a schedule is kept for; the digest covers all of it."""

    digest: str
    outputs: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    target: str
    threads: int


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule, the seconds that it took, those of the plain program, and of the one that the model chose."""

    choice: str
    source: str
    seconds: float
    plain_seconds: float
    model_seconds: float
    trials: int


class _Generation:
    """Counts what this process keeps: a schedule that was taken from the store before may be another one since."""

    number = 0


def generation() -> int:
    """The number of schedules that this process has kept."""
    return _Generation.number


def store_key(outputs: Sequence[Function], windows: Mapping[Function, Region], machine: MachineModel) -> StoreKey:
    """The key of a pipeline.

    Raises:
        NotAvailableError: an extern stage.
    """
    sizes = tuple(tuple(int(extent(r)) for r in windows[f]) for f in outputs)
    digest = hashlib.sha256()
    ProgramDigest(digest, directives=False).algorithm(snapshot(outputs))
    classes = [[_size_class(n) for n in each] for each in sizes]
    digest.update(json.dumps([classes, str(machine.target), machine.threads, machine.cache]).encode())
    return StoreKey(digest.hexdigest(), tuple(f.name for f in outputs), sizes, str(machine.target), machine.threads)


def _size_class(length: int) -> float:
    return length if length <= _EXACT else _EXACT + round(math.log2(length))


def store_folder() -> Path | None:
    """The folder of the store; None where no cache is wanted."""
    folder = cache_folder()
    return None if folder is None else folder / "schedules"


def stored(key: StoreKey) -> StoredSchedule | None:
    """The schedule kept for a key; None where there is none, or nothing of this version."""
    folder = store_folder()
    if folder is None:
        return None
    try:
        known = json.loads((folder / f"{key.digest}.json").read_text(encoding="utf-8"))
        if known["made_by"] != _made_by() or known["sha256"] != _checksum(known["schedule"]):
            return None
        return StoredSchedule(**known["schedule"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def keep(key: StoreKey, found: StoredSchedule) -> Path | None:
    """Keeps a schedule, and says in which file; None where nothing is kept.

    Raises:
        OSError: it can't be written.
    """
    folder = store_folder()
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    schedule = asdict(found)
    whole = {"made_by": _made_by(), "for": asdict(key), "sha256": _checksum(schedule), "schedule": schedule}
    path = folder / f"{key.digest}.json"
    part = path.with_suffix(f".{os.getpid()}")
    try:
        part.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
    _Generation.number += 1
    return path


def _made_by() -> list[Any]:
    try:
        return [FORMAT, version("halide-core")]
    except PackageNotFoundError:  # a checkout that is not installed
        return [FORMAT, ""]


def _checksum(schedule: object) -> str:
    return hashlib.sha256(json.dumps(schedule, sort_keys=True).encode()).hexdigest()
