"""Targets whose registers tests count on, whatever machine they run on. Programs for them are lowered, not run,
but for the last one."""

from __future__ import annotations

import halide_core as hl
from halide_core.run.target_names import TargetFeature

WIDE = hl.Target("x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41")
"""Registers of sixteen lanes of 32 bits."""
MIDDLE = hl.Target("x86-64-linux-avx-avx2-f16c-fma-sse41")
"""Registers of eight, and no gather of bytes."""
NARROW = hl.Target("x86-64-linux-sse41")
"""Registers of four."""
_AVX512 = frozenset(f for f in TargetFeature if f.value.startswith("avx512"))


def host_without_avx512() -> hl.Target:
    """This machine, of which no more than registers of eight is used: programs for it can be run."""
    host = hl.get_host_target()
    return hl.Target(host.os, host.arch, host.bits, host.processor_tune, host.features() - _AVX512)
