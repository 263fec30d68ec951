"""The elementary functions on every float32: errors, equal bits in scalar code and lanes, and where they don't grow.

In: names of functions. Out: for each the greatest error in units in the last place, and the number of results that
differ in bits between scalar code, lanes and the reference (of which there is a sample). Functions of two values and
of float64 are tried at numbers drawn at random.

    python -m benchmarks.elementary exp        ->   exp: 4294967296 values, error 0.96, 0 differ, falls nowhere
    python -m benchmarks.elementary pow --bits 64 --draws 100000000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import halide_core as hl
from halide_core.ir import Intrinsic
from halide_core.ir.types import Float
from halide_core.reference.elementary import steps_of
from halide_core.reference.scalar_ops import call_function

Array = npt.NDArray[Any]
_CHUNK = 1 << 22
_SAMPLE = 64
_TWO = (Intrinsic.POW, Intrinsic.ATAN2)
_GROWING = (
    Intrinsic.EXP, Intrinsic.LOG, Intrinsic.TANH, Intrinsic.SINH, Intrinsic.ASIN, Intrinsic.ATAN,
)  # fmt: skip
_OF_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}


@dataclass
class Found:
    """The findings about one function."""

    count: int = 0
    error: float = 0.0
    at: tuple[float, ...] = ()
    differ: int = 0
    falls: list[float] = field(default_factory=list)
    last: float = -np.inf

    def __str__(self) -> str:
        falls = f"falls {len(self.falls)} times: {self.falls[:3]}" if self.falls else "falls nowhere it was looked for"
        return f"{self.count} values, error {self.error:.4f} at {self.at}, {self.differ} differ, {falls}"


def _compiled(function: Intrinsic, lanes: int, bits: int) -> Callable[..., Array]:
    x = hl.Var("x")
    inputs = [hl.ImageParam(hl.Float(bits), 1) for _ in range(1 + (function in _TWO))]
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


def _drawn(draws: int, seed: int, bits: int) -> Iterator[tuple[Array, Array]]:
    """Half of them have bits at random, half are near 1 or 0."""
    rng = np.random.default_rng(seed)
    word, real = (np.uint32, np.float32) if bits == 32 else (np.uint64, np.float64)
    for _ in range(0, draws, _CHUNK):
        some = rng.integers(0, 1 << bits, (2, _CHUNK // 2), dtype=word).view(real)
        both = np.concatenate([some, rng.normal(0, 4, (2, _CHUNK // 2)).astype(real)], axis=1)
        yield both[0], both[1]


def _words(values: Array) -> npt.NDArray[Any]:
    """Bits, the same of every NaN."""
    word = np.uint32 if values.dtype == np.float32 else np.uint64
    return np.where(np.isnan(values), values.dtype.type(np.nan), values).view(word)


def _look(found: Found, function: Intrinsic, args: tuple[Array, ...], scalar: Array, lanes: Array) -> None:
    bits = 8 * scalar.dtype.itemsize
    finer = np.float64 if bits == 32 else np.longdouble
    exact = getattr(np, _OF_NUMPY.get(function.value, function.value))(*(a.astype(finer) for a in args))
    nearest = exact.astype(scalar.dtype)
    found.count += len(scalar)
    found.differ += int((_words(scalar) != _words(lanes)).sum())
    found.differ += int((np.isnan(scalar) != np.isnan(nearest)).sum())
    found.differ += int((np.isinf(exact) & (scalar != nearest)).sum())
    finite = np.isfinite(nearest) & np.isfinite(scalar)
    unit = np.spacing(np.abs(nearest[finite])).astype(finer)
    error = np.abs(scalar[finite].astype(finer) - exact[finite]) / unit
    if len(error) and error.max() > found.error:
        found.error = float(error.max())
        found.at = tuple(float(a[finite][error.argmax()]) for a in args)
    call, rng = call_function(function, Float(bits), Float(bits)), np.random.default_rng(found.count)
    for i in rng.integers(0, len(scalar), _SAMPLE):
        wanted = np.array([call(*(float(a[i]) for a in args))], scalar.dtype)
        found.differ += int(_words(wanted)[0] != _words(scalar[i : i + 1])[0])


def _look_for_falls(found: Found, x: Array, values: Array) -> None:
    numbers = ~np.isnan(values)
    grown = np.concatenate([[values.dtype.type(found.last)], values[numbers]])
    found.falls += [float(v) for v in x[numbers][np.flatnonzero(np.diff(grown) < 0)]]
    found.last = float(grown[-1])


def _try(function: Intrinsic, bits: int, draws: int, seed: int) -> Found:
    scalar, lanes, found = _compiled(function, 1, bits), _compiled(function, 512 // bits, bits), Found()
    drawn = bits == 64 or function in _TWO
    chunks: Iterator[tuple[Array, ...]] = _drawn(draws, seed, bits) if drawn else ((a,) for a in _every_float32())
    with np.errstate(all="ignore"):
        for chunk in chunks:
            args = chunk if function in _TWO else chunk[:1]
            values = scalar(*args)
            _look(found, function, args, values, lanes(*args))
            if function in _GROWING and not drawn:
                _look_for_falls(found, args[0], values)
    return found


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--bits", type=int, default=32, choices=(32, 64), help="of a float")
    parser.add_argument("--draws", type=int, default=10**8, help="of functions of two values, and of float64")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = options.functions or [f.value for f in Intrinsic if steps_of(f) is not None]
    for name in names:
        print(f"{name}: {_try(Intrinsic(name), options.bits, options.draws, options.seed)}", flush=True)


if __name__ == "__main__":
    main()
