"""Targets whose registers tests count on, whatever machine they run on. Programs for them are lowered, not run."""

from __future__ import annotations

import halide_core as hl

WIDE = hl.Target("x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41")
"""Registers of sixteen lanes of 32 bits."""
NARROW = hl.Target("x86-64-linux-sse41")
"""Registers of four."""
