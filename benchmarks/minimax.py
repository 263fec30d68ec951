"""Minimax polynomials: where the coefficients of ``halide_core/reference/elementary`` come from.

In: a function, an interval, the powers that may occur, and how much an error weighs. Out: coefficients, each rounded to
a float32 or float64 before the next are found, so that later ones make up for the rounding of earlier ones.

    python -m benchmarks.minimax      ->   exp: 0.4999999403953552, 0.1666652113199234, …; error 2**-28.3, and so on
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]
mp.prec = 160
_ROUNDS, _POINTS = 14, 16


@dataclass(frozen=True)
class Fit:
    """A sum of ``powers`` of x in [low, high] whose error, times ``weight``, is to be least."""

    function: Function
    low: mpf
    high: mpf
    powers: Sequence[int]
    weight: Function
    bits: int
    """Of the coefficients: 24 for float32, 53 for float64."""


def _least(rows: Sequence[Sequence[mpf]], right: Sequence[mpf], weights: Sequence[mpf]) -> list[mpf]:
    """Least squares by the normal equations: there are digits enough."""
    n = len(rows[0])
    normal, side = mp.matrix(n, n), mp.matrix(n, 1)
    for row, value, w in zip(rows, right, weights, strict=True):
        for i in range(n):
            scaled = w * row[i]
            side[i] += scaled * value
            for j in range(i, n):
                normal[i, j] += scaled * row[j]
    for i in range(n):
        for j in range(i):
            normal[i, j] = normal[j, i]
    return list(mp.lu_solve(normal, side))


def _lawson(rows: Sequence[Sequence[mpf]], right: Sequence[mpf]) -> list[mpf]:
    """The least greatest error, by least squares whose weights follow the errors (Lawson 1961)."""
    weights = [mpf(1) / len(rows)] * len(rows)
    best: tuple[mpf, list[mpf]] | None = None
    for _ in range(_ROUNDS):
        found = _least(rows, right, weights)
        errors = [abs(v - mp.fdot(row, found)) for row, v in zip(rows, right, strict=True)]
        if best is None or max(errors) < best[0]:
            best = (max(errors), found)
        weights = [w * e for w, e in zip(weights, errors, strict=True)]
        total = mp.fsum(weights)
        weights = [w / total for w in weights]
    assert best is not None
    return best[1]


def rounded(value: mpf, bits: int) -> float:
    """The nearest float32 or float64."""
    return float(np.float32(float(value))) if bits == 24 else float(value)


def minimax(fit: Fit) -> tuple[list[float], float]:
    """The coefficients, those of lower powers first, and the base-2 logarithm of the greatest error that they leave."""
    count = _POINTS * len(fit.powers)
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    points = [middle - half * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    weights = [fit.weight(x) for x in points]
    rest = [fit.function(x) * w for x, w in zip(points, weights, strict=True)]
    columns = [[w * x**p for x, w in zip(points, weights, strict=True)] for p in fit.powers]
    chosen: list[float] = []
    for i in range(len(fit.powers)):
        chosen.append(rounded(_lawson(list(zip(*columns[i:], strict=True)), rest)[0], fit.bits))
        rest = [v - chosen[i] * c for v, c in zip(rest, columns[i], strict=True)]
    return chosen, float(mp.log(max(map(abs, rest)), 2))


def _series(function: Function, powers: int, high: mpf, bits: int, *, first: mpf | None = None) -> Fit:
    """An odd function's quotient by x, or an even function, in s = x*x; after its first term, where that is given."""

    def of_square(s: mpf) -> mpf:
        return function(mp.sqrt(s))

    low = mpf(10) ** -10
    if first is None:
        return Fit(of_square, low, high**2, range(powers), lambda s: 1 / of_square(s), bits)
    return Fit(lambda s: (of_square(s) - first) / s, low, high**2, range(powers), lambda s: s / of_square(s), bits)


def fits() -> dict[str, Fit]:
    """Those of ``halide_core/reference/elementary``, each relative to the whole function."""
    half, slack, root = mp.log(2) / 2, mpf("1.001"), mp.sqrt(2)
    part = mp.pi / 4 * slack
    return {
        "exp": Fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2, -half * slack, half * slack, range(5), lambda r: r * r / mp.exp(r), 24
        ),
        "log": Fit(
            lambda f: (mp.log(1 + f) - f + f * f / 2) / f**3, 1 / root - 1, root - 1, range(8),
            lambda f: f**3 / mp.log(1 + f), 24,
        ),
        "tanh": _series(lambda x: mp.tanh(x) / x, 5, mpf("0.63"), 24, first=mpf(1)),
        "sin": _series(lambda x: mp.sin(x) / x, 3, part, 24, first=mpf(1)),
        "cos": Fit(
            lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2, mpf(10) ** -8, part**2, range(3),
            lambda s: s * s / mp.cos(mp.sqrt(s)), 24,
        ),
        "exp2 in float64": Fit(
            lambda r: mpf(2) ** r, -mpf("0.5005"), mpf("0.5005"), range(8), lambda r: mpf(2) ** -r, 53
        ),
        "exp2": Fit(
            lambda r: (mpf(2) ** r - 1) / r, -mpf("0.5001"), mpf("0.5001"), range(6), lambda r: r / mpf(2) ** r, 24
        ),
        "log2": Fit(
            lambda f: (mp.log(1 + f) - f + f * f / 2) / f**3 / mp.log(2), mpf("-0.0704"), mpf("0.0704"), range(5),
            lambda f: f * f * mp.log(2), 24,
        ),
        "sin in float64": _series(lambda x: mp.sin(x) / x, 5, part, 53),
        "cos in float64": _series(mp.cos, 5, part, 53),
        "atan in float64": _series(lambda x: mp.atan(x) / x, 8, mp.tan(mp.pi / 8) * slack, 53),
        "asin in float64": _series(lambda x: mp.asin(x) / x, 9, mpf("0.5001"), 53),
        "sinh in float64": _series(lambda x: mp.sinh(x) / x, 5, mpf(1), 53),
    }  # fmt: skip


if __name__ == "__main__":
    for name, fit in fits().items():
        found, error = minimax(fit)
        print(f"{name}: {', '.join(map(repr, found))}; error 2**{error:.1f}")
