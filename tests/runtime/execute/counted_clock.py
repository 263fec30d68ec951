"""A clock for profiled pipelines that no neighbour can disturb: it counts, and each square root takes its time.

In: a folder. Out: a context whose pipelines are profiled by that clock.

    with counted_clock(folder):
        slow[x] = hl.sqrt(…)             SPENT nanoseconds of its thread
        hl.profile(fast, [64, 50])       and one whenever the clock is read
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from halide_core.runtime.codegen import profile
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.compile.toolchain import DEFAULT_OPTIONS, compile_shared, find_compiler

SPENT = 1000
_SOURCE = rf"""
#include <math.h>
#include <time.h>
static _Thread_local long ns;

struct timespec clock_now(void) {{ return (struct timespec){{.tv_nsec = ++ns}}; }}

float clock_sqrt(float v) {{
    ns += {SPENT};
    return sqrtf(v);
}}
"""
_DECLARED = """\
extern struct timespec clock_now(void);
extern float clock_sqrt(float);
#define __builtin_sqrtf clock_sqrt
"""
_CLOCK = "clock_gettime(CLOCK_MONOTONIC, &t);"
_TICKS = "(int64_t)__builtin_ia32_rdtsc()"


def _counted(name: str) -> str:
    """The C of a file, with the clock of ``_SOURCE`` in the place of the machine's two."""
    text = resource(name)
    if name != "profile.h":
        return text
    assert _CLOCK in text
    assert _TICKS in text
    counted = text.replace(_CLOCK, "t = clock_now();").replace(_TICKS, "halide_core_profile_ns()")
    return f"{_DECLARED}{counted}"


@contextmanager
def counted_clock(folder: Path) -> Iterator[None]:
    """Profiles by counts; ``folder`` gets the clock's library, and a cache of its own for what is compiled with it."""
    source, output = folder / "clock.c", folder / "clock.so"
    source.write_text(_SOURCE, encoding="utf-8")
    compile_shared([source], output, options=DEFAULT_OPTIONS, compiler=find_compiler())
    ctypes.CDLL(str(output), ctypes.RTLD_GLOBAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "resource", _counted)
        patch.setenv("HL_CACHE_DIR", str(folder / "cache"))
        yield
