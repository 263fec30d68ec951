"""Reads what profiled pipelines measured of themselves.

In: a loaded library that ``runtime.codegen.profile`` has put clocks into. Out: a Profile; with ``HL_PROFILE=1`` the
profiles of all pipelines that ran, printed to stderr when the program ends.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from halide_core.run.backend import Compiled
from halide_core.run.profile_data import FuncProfile, Profile
from halide_core.runtime.crt.runtime_library import FFI

_HEAD = 3  # runs, their ticks, their nanoseconds
FIELDS = ("ticks", "visits", "allocations", "peak")
"""The fields that ``halide_core_profile_take`` writes of each Func, in this order; three kinds of bytes follow."""
_EACH = len(FIELDS) + 3


class Profiler:
    """One loaded pipeline's counters; they belong to the library, so loading it twice gives them once."""

    def __init__(self, name: str, library: Any) -> None:
        self._name = name
        self._library = library
        count = library.halide_core_profile_funcs()
        names = [FFI.string(library.halide_core_profile_name(i)) for i in range(count)]
        self._funcs = [n.decode() if isinstance(n, bytes) else n for n in names]

    def take(self) -> Profile:
        """The measurements since the last call."""
        words = FFI.new("int64_t[]", _HEAD + (len(self._funcs) + 1) * _EACH)
        self._library.halide_core_profile_take(words)
        values = list(words)
        runs, ticks, nanoseconds = values[:_HEAD]
        tick = nanoseconds / ticks * 1e-9 if ticks else 0.0
        rows = [values[i : i + _EACH] for i in range(_HEAD, len(values), _EACH)]
        *own, together = rows
        funcs = [
            FuncProfile(name, spent * tick, visits, allocations, peak, stack)
            for name, (spent, visits, allocations, peak, stack, *_) in zip(self._funcs, own, strict=True)
        ]
        nobody, *named = funcs
        return Profile(self._name, runs, nanoseconds * 1e-9, together[FIELDS.index("peak")], (*named, nobody))


_shown_at_exit: list[Compiled] = []


def show_at_exit(compiled: Compiled) -> None:
    """Notes a pipeline whose profile is to be printed when the program ends, if it is to be: with ``HL_PROFILE=1``."""
    if os.environ.get("HL_PROFILE", "").strip() == "1":
        _shown_at_exit.append(compiled)


def show_profiles() -> None:
    """Prints what has run since it was shown last."""
    for compiled in _shown_at_exit:
        profile = compiled.take_profile()
        if profile.runs:
            sys.stderr.write(f"{profile}\n")


atexit.register(show_profiles)
