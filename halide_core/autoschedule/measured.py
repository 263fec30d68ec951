"""The constants of this machine: measured once, and kept in the cache folder for all processes.

In: nothing. Out: Constants, whose bytes from each level of the caches take as long as copying arrays of fitting sizes
did.

    1 MiB of L2, copied at 60 GB/s   ->   byte_l2 = 0.05 cycles, of a processor of 3 GHz

All figures are of one clock, as only their ratios decide anything. What is measured is no less than what is usual, and
no more than a few times that: one thread that copies has all of the memory for itself, which a pipeline's threads do
not, and a machine that was busy meanwhile is no other machine.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from halide_core.autoschedule.constants import Constants
from halide_core.cache_folder import cache_folder

_Bytes: TypeAlias = "npt.NDArray[np.uint8]"

_FILE = "machine.json"
_CYCLES_A_SECOND = 3e9
_MOST = 3.0
"""The greatest factor by which a measurement may exceed the usual."""
_TURNS = 5
_LEAST_SHARED, _MOST_SHARED = 1.3, 2.0
_MEMORY = 64 << 20
_CPU = Path("/sys/devices/system/cpu/cpu0/cache")


def constants_of_this_machine() -> Constants:
    """Constants measured on this machine before, or measured now, in less than a second."""
    folder = cache_folder()
    return _measured() if folder is None else _kept(folder / _FILE)


def forget_constants() -> None:
    """Removes what was measured and kept: the next choice of a schedule measures again. Raises: OSError."""
    folder = cache_folder()
    if folder is not None:
        (folder / _FILE).unlink(missing_ok=True)
    _kept.cache_clear()
    _measured.cache_clear()


@lru_cache(maxsize=8)
def _kept(file: Path) -> Constants:
    who = f"{platform.node()} {platform.machine()} {platform.processor()} {os.cpu_count()}"
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(file.read_text(encoding="utf-8"))
        if known["machine"] == who:
            return Constants(**known["constants"])
    found = _measured()
    with suppress(OSError):  # a folder that can't be written costs a measurement, and no more
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({"machine": who, "constants": asdict(found)}, indent=1), encoding="utf-8")
        part.replace(file)
    return found


@lru_cache(maxsize=1)
def _measured() -> Constants:
    usual = Constants()
    sizes = _caches()
    l1, l2, l3 = (sizes.get(level, each) for level, each in ((1, usual.l1), (2, usual.l2), (3, usual.l3)))
    near = _copy_cycles(l1 // 4)
    shared = _sharing(_MEMORY // 3)
    return replace(
        usual,
        l1=l1,
        l2=l2,
        l3=max(l2, l3),
        byte_l2=_usual(_copy_cycles(l2 // 4) - near, usual.byte_l2),
        byte_l3=_usual(_copy_cycles(max(l2, min(l3, _MEMORY) // 4)) - near, usual.byte_l3),
        byte_memory=_usual(_copy_cycles(_MEMORY // 2) - near, usual.byte_memory),
        shared=min(_MOST_SHARED, max(_LEAST_SHARED, round(shared, 1))),
    )


def _usual(cycles: float, usual: float) -> float:
    """A measurement to two digits, kept near to what is usual."""
    return float(f"{min(usual * _MOST, max(usual, cycles)):.2g}")


def _copy_cycles(size: int) -> float:
    """Cycles to read a byte, or to write one, of two arrays of a size; the least of several turns."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    rounds = max(1, (1 << 21) // size)
    took = min(_seconds(source, target, rounds) for _ in range(_TURNS))
    calls = min(_seconds(source[:1], target[:1], rounds) for _ in range(_TURNS))
    return max(0.0, took - calls) / (2 * size * rounds) * _CYCLES_A_SECOND


def _seconds(source: _Bytes, target: _Bytes, rounds: int) -> float:
    start = time.perf_counter()
    for _ in range(rounds):
        np.copyto(target, source)
    return time.perf_counter() - start


def _sharing(size: int) -> float:
    """The factor by which two threads copy more in the time of one."""
    if (os.cpu_count() or 1) < 2:
        return 1.0
    arrays = [np.ones(size, np.uint8) for _ in range(4)]
    alone = min(_seconds(arrays[0], arrays[1], 1) for _ in range(3))
    both = []
    for _ in range(3):
        other = threading.Thread(target=_seconds, args=(arrays[2], arrays[3], 1))
        start = time.perf_counter()
        other.start()
        _seconds(arrays[0], arrays[1], 1)
        other.join()
        both.append(time.perf_counter() - start)
    return 2 * alone / min(both)


def _caches() -> dict[int, int]:
    """The bytes of the data caches by level, where the system says them."""
    found: dict[int, int] = {}
    for index in sorted(_CPU.glob("index*")):
        with suppress(OSError, ValueError):
            kind, level, size = ((index / name).read_text().strip() for name in ("type", "level", "size"))
            if kind != "Instruction":
                found[int(level)] = int(size.removesuffix("K")) << 10
    return found
