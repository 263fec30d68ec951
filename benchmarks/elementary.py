"""The elementary functions on every float32: errors, equal bits in scalar code and lanes, and where they don't grow.

In: names of functions. Out: for each the greatest error in units in the last place, and the number of results that
differ in bits between scalar code, lanes and the reference (of which there is a sample). Functions of two values are
tried at numbers drawn at random.

    python -m benchmarks.elementary exp        ->   exp: 4294967296 values, error 0.96, 0 differ, falls nowhere
    python -m benchmarks.elementary pow --draws 100000000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import halide_core as hl
from halide_core.elementary import steps_of
from halide_core.ir import Intrinsic
from halide_core.types import Float
from halide_core.value_semantics import call_function

Array = npt.NDArray[np.float32]
_CHUNK = 1 << 22
_LANES = 16
_SAMPLE = 64
_TWO = (Intrinsic.POW, Intrinsic.ATAN2)
_GROWING = (
    Intrinsic.EXP, Intrinsic.LOG, Intrinsic.TANH, Intrinsic.SINH, Intrinsic.ASIN, Intrinsic.ATAN,
)  # fmt: skip
_OF_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}


@dataclass
class Found:
    """What was seen of one function."""

    count: int = 0
    error: float = 0.0
    at: tuple[float, ...] = ()
    differ: int = 0
    falls: list[float] = field(default_factory=list)
    last: float = -np.inf

    def __str__(self) -> str:
        falls = f"falls {len(self.falls)} times: {self.falls[:3]}" if self.falls else "falls nowhere it was looked for"
        return f"{self.count} values, error {self.error:.4f} at {self.at}, {self.differ} differ, {falls}"


def _compiled(function: Intrinsic, lanes: int) -> Callable[..., Array]:
    x = hl.Var("x")
    inputs = [hl.ImageParam(hl.Float(32), 1) for _ in range(1 + (function in _TWO))]
    made = hl.Func(f"lanes{lanes}")
    made[x] = getattr(hl, function.value)(*(i[x] for i in inputs))
    if lanes > 1:
        made.vectorize(x, lanes)

    def run(*args: Array) -> Array:
        for i, a in zip(inputs, args, strict=True):
            i.set(hl.Buffer(a))
        return np.asarray(made.realize([len(args[0])]))

    return run


def _every_float32() -> Iterator[Array]:
    """From -NaN and -infinity up to infinity and NaN: in ascending order but for the ends."""
    for start in range(0, 1 << 32, _CHUNK):
        words = np.arange(start, start + _CHUNK, dtype=np.uint64)
        size = np.where(words < 1 << 31, 0xFFFFFFFF - words, words - (1 << 31))
        yield size.astype(np.uint32).view(np.float32)


def _drawn(draws: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Half of them have bits at random, half are near 1 or 0."""
    rng = np.random.default_rng(seed)
    for _ in range(0, draws, _CHUNK):
        bits = rng.integers(0, 1 << 32, (2, _CHUNK // 2), dtype=np.uint32).view(np.float32)
        near = rng.normal(0, 4, (2, _CHUNK // 2)).astype(np.float32)
        both = np.concatenate([bits, near], axis=1)
        yield both[0], both[1]


def _words(values: Array) -> npt.NDArray[np.uint32]:
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32)


def _look(found: Found, function: Intrinsic, args: tuple[Array, ...], scalar: Array, lanes: Array) -> None:
    exact = getattr(np, _OF_NUMPY.get(function.value, function.value))(*(a.astype(np.float64) for a in args))
    nearest = exact.astype(np.float32)
    found.count += len(scalar)
    found.differ += int((_words(scalar) != _words(lanes)).sum())
    found.differ += int((np.isnan(scalar) != np.isnan(nearest)).sum())
    finite = np.isfinite(nearest) & np.isfinite(scalar)
    found.differ += int(
        ((scalar != nearest) & ~finite & ~np.isnan(nearest) & (np.abs(exact) > 3.40282356e38 + 1e32)).sum()
    )
    unit = np.spacing(np.abs(nearest[finite])).astype(np.float64)
    error = np.abs(scalar[finite].astype(np.float64) - exact[finite]) / unit
    if len(error) and error.max() > found.error:
        found.error = float(error.max())
        found.at = tuple(float(a[finite][error.argmax()]) for a in args)
    call, rng = call_function(function, Float(32), Float(32)), np.random.default_rng(found.count)
    for i in rng.integers(0, len(scalar), _SAMPLE):
        wanted = np.float32([call(*(float(a[i]) for a in args))])
        found.differ += int(_words(wanted)[0] != _words(scalar[i : i + 1])[0])
    if function in _GROWING:
        numbers = ~np.isnan(scalar)
        grown = np.concatenate([[np.float32(found.last)], scalar[numbers]])
        fallen = np.flatnonzero(np.diff(grown) < 0)
        found.falls += [float(v) for v in args[0][numbers][fallen]]
        found.last = float(grown[-1])


def _float32(function: Intrinsic, draws: int, seed: int) -> Found:
    scalar, lanes, found = _compiled(function, 1), _compiled(function, _LANES), Found()
    chunks: Iterator[tuple[Array, ...]]
    chunks = _drawn(draws, seed) if function in _TWO else ((a,) for a in _every_float32())
    with np.errstate(all="ignore"):
        for args in chunks:
            _look(found, function, args, scalar(*args), lanes(*args))
    return found


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--draws", type=int, default=10**8, help="of functions of two values")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = options.functions or [f.value for f in Intrinsic if steps_of(f) is not None]
    for name in names:
        print(f"{name}: {_float32(Intrinsic(name), options.draws, options.seed)}", flush=True)


if __name__ == "__main__":
    main()
