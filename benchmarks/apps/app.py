"""Applications of the benchmarks: one algorithm and its schedules, written once for two compilers.

In: ``build(hl, size)`` with ``hl`` either ``halide_core`` or ``halide``. Out: Funcs, which ``schedule`` then schedules.

    built = APPS["blur"].build(hl, (64, 48))
    APPS["blur"].schedules["expert"](built)
    built.output.compile_to_callable(built.arguments)(*inputs, out)

These files run in the peer's environment too, so they import numpy and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Size: TypeAlias = "tuple[int, ...]"
Inputs: TypeAlias = "tuple[Array | float | int, ...]"

PLAIN, EXPERT = "plain", "expert"
NONE = "none"
"""No schedule at all: everything is inlined that can be. Pyramids and long chains then take exponential time."""
AUTO, MODEL, MEASURED = "auto", "model", "measured"
"""No schedule of an application's: the compiler chooses one, by rules, by a search, or by measuring a few."""
CHOSEN = {AUTO: "", MODEL: "Model", MEASURED: "Measured"}
"""Their autoschedulers' names."""


@dataclass(frozen=True)
class Built:
    """A pipeline whose schedule is still empty.

    ``funcs`` holds the Funcs, RDoms and Vars that the schedules name; ``arguments`` are the inputs in order.
    """

    hl: Any
    output: Any
    arguments: tuple[Any, ...]
    funcs: SimpleNamespace

    def var(self, names: str) -> list[Any]:
        """Vars by name; both languages tell Vars apart by their names only."""
        return [self.hl.Var(n) for n in names.split()]

    def lanes(self, type: Any) -> int:
        """The number of values of a type in a register of the target."""
        return int(self.hl.get_jit_target_from_environment().natural_vector_size(type))


@dataclass(frozen=True)
class Work:
    """The least work of one run: arithmetic, and bytes of inputs and output.

    It says nothing of what a schedule recomputes; shares of the machine's peak are shares of useful work.
    """

    operations: float
    bytes: float


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a result against numpy's: ``|a - b| <= absolute + relative*|b|``, but for a ``share`` of
    outliers.

    Integer pipelines ask for equality. Where floats are truncated to integers, a different rounding of a sum moves a
    few points by one step, and through a table by more: that is what the share is for.
    """

    absolute: float = 0.0
    relative: float = 0.0
    share: float = 0.0

    def difference(self, found: Array, wanted: Array) -> str:
        """Empty where the result is right, else what is wrong with it."""
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            return f"{found.dtype}{list(found.shape)} where {wanted.dtype}{list(wanted.shape)} is expected"
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        if not np.isfinite(a[np.isfinite(b)]).all():
            return "not finite"
        far = np.abs(a - b)
        bad = int(np.count_nonzero(far > self.absolute + self.relative * np.abs(b)))
        if bad <= self.share * far.size:
            return ""
        return f"{bad} of {far.size} values are off, by up to {float(far.max()):g}"


@dataclass(frozen=True)
class App:
    """One application.

    Args:
        sizes: named sizes; ``full`` is measured, ``small`` is for tests.
        shape: the output's extents, the first being x.
        vector: lanes of the expert schedule, shown in the report.
    """

    name: str
    about: str
    sizes: Mapping[str, Size]
    inputs: Callable[[Size], Inputs]
    build: Callable[[Any, Size], Built]
    schedules: Mapping[str, Callable[[Built], None]]
    reference: Callable[[Inputs, Size], Array]
    shape: Callable[[Size], tuple[int, ...]]
    dtype: str
    work: Callable[[Size], Work]
    tolerance: Tolerance = Tolerance()

    def empty_output(self, size: Size) -> Array:
        """An array to compute into; numpy's axes are the reverse of the language's."""
        return np.zeros(self.shape(size)[::-1], self.dtype)


def random_array(shape: tuple[int, ...], dtype: str, seed: int, high: float = 1.0) -> Array:
    """Reproducible inputs: integers over their whole range up to ``high``, floats in [0, high)."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (random.random(shape, np.float32) * np.float32(high)).astype(kind)
    most = np.iinfo(kind).max if high == 1.0 else int(high)
    return random.integers(0, most, shape, kind, endpoint=True)


def picture(width: int, height: int, channels: int, dtype: str, high: float, seed: int) -> Array:
    """A picture with smooth parts, edges and some noise, [channels, height, width] or [height, width] for one channel.

    Noise alone would make every branch unpredictable and every pyramid level flat.
    """
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    random = np.random.default_rng(seed)
    planes = []
    for c in range(channels):
        wave = 0.5 + 0.25 * np.sin(x / (31 + 7 * c)) * np.cos(y / (23 + 5 * c)) + 0.15 * ((x // 64 + y // 48 + c) % 2)
        planes.append(np.clip(wave + 0.05 * random.standard_normal((height, width), np.float32), 0, 1) * high)
    array = np.stack(planes).astype(dtype)
    return array[0] if channels == 1 else array
