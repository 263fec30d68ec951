"""The machine's peak, measured: float operations a second of one core, and bytes a second that it copies.

measure_peak().text()   ->   "117 GFLOP/s, copies 38 GB/s"
"""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halide_core.runtime.compile.toolchain import CompileOptions, compile_shared

_SOURCE = Path(__file__).resolve().parent / "peak.c"
_STEPS = 2_000_000
_BYTES = 128 << 20
_REPEAT = 5


@dataclass(frozen=True)
class Peak:
    """Of one core."""

    operations_s: float
    bytes_s: float

    def best(self, other: Peak) -> Peak:
        """The better of both measurements, item by item."""
        return Peak(max(self.operations_s, other.operations_s), max(self.bytes_s, other.bytes_s))

    def text(self) -> str:
        """For a title."""
        return f"{self.operations_s / 1e9:.0f} GFLOP/s, copies {self.bytes_s / 1e9:.0f} GB/s"


def measure_peak() -> Peak:
    """The best of several measurements.

    Raises:
        ToolchainError: there is no C compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "peak.so"
        # Contraction is what makes the fused multiply-adds; the default flags forbid it.
        compile_shared([_SOURCE], library, options=CompileOptions(extra_flags=("-ffp-contract=fast",)))
        functions = ctypes.CDLL(str(library))
        functions.peak_operations.restype = functions.peak_bytes.restype = ctypes.c_double
        functions.peak_operations.argtypes = [ctypes.c_int64]
        functions.peak_bytes.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        operations = max(functions.peak_operations(_STEPS) for _ in range(_REPEAT))
        source, target = np.ones(_BYTES, np.uint8), np.zeros(_BYTES, np.uint8)
        bytes_s = max(functions.peak_bytes(target.ctypes.data, source.ctypes.data, _BYTES) for _ in range(_REPEAT))
    return Peak(operations, bytes_s)
